"""Groups open conflicts into questions, and writes them with the prompts."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from attrs import field, frozen

from cooperbench_eval.git.merging.conflicts import Conflict
from cooperbench_eval.strategies.llm.prompts import Prompts
from cooperbench_eval.support.rendering.visible import visible

_DEFINITION = re.compile(
    r"\s*(?:export\s+|default\s+|pub(?:\([^)]*\))?\s+|async\s+|unsafe\s+|abstract\s+|static\s+)*"
    r"(?:def|class|fn|func|function|impl|struct|enum|trait|interface|type|mod|namespace)\b"
)
_LANGUAGES = {
    ".py": "Python",
    ".pyi": "Python",
    ".js": "JavaScript",
    ".jsx": "JavaScript",
    ".mjs": "JavaScript",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".go": "Go",
    ".rs": "Rust",
    ".md": "Markdown",
    ".toml": "TOML",
    ".json": "JSON",
    ".yml": "YAML",
    ".yaml": "YAML",
}
_MOST_SHOWN = 2000
"""How many characters of each side's file a choice shows."""
_REFUSED = "A merge by structure leaves it open:"
_MOST_REASON = 600
"""How many characters of the reason are shown."""


@frozen(kw_only=True)
class Place:
    """A conflict and its position in the file.

    Attributes:
        lines: The file's lines, with the lines of ours for each conflict.
        refusal: Why a merge by structure leaves the conflict open; empty if that is not known.
    """

    conflict: Conflict
    lines: Sequence[str] = field(default=(), repr=False)
    start: int = 0
    end: int = 0
    refusal: str = field(default="", repr=False)

    def around(self, number: int) -> tuple[Sequence[str], Sequence[str]]:
        """Return up to *number* lines before the conflict, and after it."""
        return (
            self.lines[max(self.start - number, 0) : self.start],
            self.lines[self.end : self.end + number],
        )

    @property
    def headers(self) -> tuple[str, ...]:
        """The lines that the conflict is indented under, outermost first."""
        return tuple(self.lines[at].strip() for at in reversed(list(self._above())))

    @property
    def definition(self) -> int | None:
        """The index of the line that begins the innermost enclosing definition."""
        return next((at for at in self._above() if _DEFINITION.match(self.lines[at])), None)

    def _above(self) -> Iterator[int]:
        """Yield the indices of the lines that the conflict is indented under, innermost first."""
        depth = _indent_of(self.conflict)
        for at in range(self.start - 1, -1, -1):
            if not depth:
                return
            line = self.lines[at]
            if line.strip() and _indent(line) < depth:
                yield at
                depth = _indent(line)


@frozen(kw_only=True)
class Question:
    """Conflicts of a file that are asked about together, in order.

    Attributes:
        is_choice: Whether the model must choose a side, because the conflict
            is about the file as a whole.
        definitions: What to show before the conflicts: definitions that both sides touch and use.
    """

    path: str
    places: tuple[Place, ...] = field(converter=tuple[Place, ...])
    is_choice: bool = False
    definitions: str = field(default="", repr=False)

    def text(self, prompts: Prompts, features: str, context_lines: int) -> str:
        """Write the question."""
        language = _LANGUAGES.get(PurePosixPath(self.path).suffix, "text")
        common = {"path": self.path, "language": language, "features": features}
        if self.is_choice:
            conflict = self.places[0].conflict
            return prompts.fill(
                "choice",
                **common,
                kind=conflict.kind.value,
                ours=_side(conflict.ours),
                theirs=_side(conflict.theirs),
            )
        excerpts = [
            _excerpt(prompts, number, place, context_lines)
            for number, place in enumerate(self.places, start=1)
        ]
        return prompts.fill(
            "question", **common, definitions=self.definitions, excerpts="\n".join(excerpts)
        )


def ask_about(path: str, places: Sequence[Place], *, whole_lines: int) -> Iterator[Question]:
    """Group a file's open conflicts by definition; up to *whole_lines* lines are one group."""
    is_small = bool(places) and len(places[0].lines) <= whole_lines
    groups: dict[tuple[str, int], list[Place]] = {}
    for i, place in enumerate(places):
        if is_small:
            key = ("file", 0)
        elif (definition := place.definition) is not None:
            key = ("definition", definition)
        else:
            key = ("place", i)
        groups.setdefault(key, []).append(place)
    for group in groups.values():
        yield Question(path=path, places=group)


def _excerpt(prompts: Prompts, number: int, place: Place, context_lines: int) -> str:
    conflict = place.conflict
    before, behind = place.around(context_lines)
    return prompts.fill(
        "excerpt",
        number=number,
        line=conflict.line,
        definition=f", inside of: {' / '.join(place.headers)}" if place.headers else "",
        refusal=f"\n{_REFUSED} {visible(place.refusal, _MOST_REASON)}" if place.refusal else "",
        before=fenced(before),
        base=fenced(lines_of(conflict.base)),
        ours=fenced(lines_of(conflict.ours)),
        theirs=fenced(lines_of(conflict.theirs)),
        behind=fenced(behind),
    )


def lines_of(text: bytes | None) -> tuple[str, ...]:
    """Return the lines of a text without their line ends."""
    if not text:
        return ()
    return tuple(text.decode("utf-8").replace("\r\n", "\n").removesuffix("\n").split("\n"))


def fenced(lines: Iterable[str]) -> str:
    """Put lines into a fence that is longer than any run of backticks in them."""
    shown = list(lines)
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence, *shown, fence])


def _side(text: bytes | None) -> str:
    if text is None:
        return "the file is deleted"
    shown = text.decode("utf-8", "backslashreplace")
    cut = shown[:_MOST_SHOWN]
    more = f" (the first {_MOST_SHOWN:,} characters)" if len(cut) < len(shown) else ""
    return f"the file is kept as{more}\n{fenced(cut.splitlines())}"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _indent_of(conflict: Conflict) -> int:
    lines = [*lines_of(conflict.ours), *lines_of(conflict.theirs)]
    return min((_indent(line) for line in lines if line.strip()), default=0)
