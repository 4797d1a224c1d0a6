"""What a question shows besides its conflicts: the definitions that both sides touch and use."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, islice

from attrs import define, field

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.merging.conflicts import Conflict
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.languages.files import find_grammar
from cooperbench_eval.languages.model import CONSTRUCTORS, Definition, Source
from cooperbench_eval.languages.outline import Function, UnreadableError, functions
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.reading import read_source
from cooperbench_eval.languages.tree import StructureError
from cooperbench_eval.strategies.llm.questions import fenced
from cooperbench_eval.strategies.protocol import MergeInput
from cooperbench_eval.support.rendering.visible import visible

_MOST_BYTES = 500_000
"""Larger versions of a file are not read."""
_MOST_FILES = 200
"""How many of the files that a side touches are searched for changed functions."""
_MOST_DEFINITIONS = 4
"""How many definitions a question shows."""
_MOST_SHOWN = 2000
"""How many characters of a version of a definition are shown."""
_FIRST_LINES = 5
_LINES_NEAR = 3
"""How many lines before and after an edit are shown of a longer version."""
_MOST_CALLED = 8
"""How many functions that a side calls are shown."""
_MOST_HEAD = 200
"""How many characters of the head of such a function are shown."""
_MOST_HEAD_LINES = 10
_CALLED = re.compile(r"\b(\w++)\s*+\(")
_VERSIONS = ("base", "side A", "side B")

_Outline = Mapping[str, Function]
_Texts = tuple[bytes, bytes, bytes]


@define(slots=False, eq=False)
class Background:
    """The definitions that contain the conflicts of a merge, and the functions that a side changed.

    There are none for files in languages whose functions cannot be found.
    """

    _merge_input: MergeInput = field(repr=False)

    def of(self, path: str, conflicts: Collection[Conflict]) -> str:
        """Write what the question about some of a file's conflicts shows besides them."""
        merge = self._merge_input.merge
        texts = merge.versions_of(path)
        outlines = _outlines(path, texts)
        if not outlines:
            return ""
        all_of_file = [each for each in merge.conflicts if each.path == path and each.has_lines]
        places = zip(all_of_file, merge.lines_in(path), strict=False)
        ranges = [lines for conflict, lines in places if conflict in conflicts]
        names = dict.fromkeys(
            name
            for lines in ranges
            for outline, there in zip(outlines, lines, strict=True)
            for name in _touched(outline, there)
        )
        shown = list(islice(names, _MOST_DEFINITIONS))
        parts = [_definition(name, [each.get(name) for each in outlines]) for name in shown]
        known = {f"{path}: {name}" for name in shown}
        for i, name in ((1, "A"), (2, "B")):
            edit = [(conflict.ours if i == 1 else conflict.theirs) or b"" for conflict in conflicts]
            edit += [outlines[i][each].text for each in shown if each in outlines[i]]
            parts += self._called(name, _called_in(edit, texts[0]), known)
        return "".join(f"{part}\n" for part in parts)

    def _called(self, side: str, words: Collection[str], known: Collection[str]) -> Iterator[str]:
        """Yield which of the functions that a side calls were changed by the other side."""
        other = "B" if side == "A" else "A"
        changed = self._changed_by_theirs if side == "A" else self._changed_by_ours
        found = (
            head
            for word in words
            for where, head in changed.get(word, {}).items()
            if where not in known
        )
        lines = list(islice(dict.fromkeys(found), _MOST_CALLED))
        if lines:
            title = f"Functions that side {side} calls, as side {other} changed them"
            yield f"{title}:\n{fenced(lines)}\n"

    @cached_property
    def _changed_by_ours(self) -> Mapping[str, Mapping[str, str]]:
        return self._changed_by(self._merge_input.ours)

    @cached_property
    def _changed_by_theirs(self) -> Mapping[str, Mapping[str, str]]:
        return self._changed_by(self._merge_input.theirs)

    def _changed_by(self, side: Changes) -> Mapping[str, Mapping[str, str]]:
        """Return the functions that a side renames, removes or gives other parameters.

        The keys are the words with which the base calls them. Each value has what to show about
        such functions, by their files and names.
        """
        found: dict[str, dict[str, str]] = {}
        touched = ((path, grammar) for path in side if (grammar := find_grammar(path)))
        for path, grammar in islice(touched, _MOST_FILES):
            before, after = _read(self._merge_input.base.get(path)), _read(side[path])
            if before is None or after is None or before == after:
                continue
            for name, head in _changed_heads(grammar, before, after):
                shown = f"{visible(path, 100)}: {visible(head, _MOST_HEAD)}"
                found.setdefault(_word(name), {})[f"{path}: {name}"] = shown
        return found


def _read(entry: Entry | None) -> bytes | None:
    """Return the text of a file; `None` if it has none or is too large."""
    if entry is None or not entry.mode.is_regular:
        return None
    try:
        return entry.data if len(entry.data) <= _MOST_BYTES else None
    except RepositoryError:
        return None


def _outlines(path: str, texts: _Texts) -> list[_Outline]:
    if find_grammar(path) is None or max(map(len, texts)) > _MOST_BYTES:
        return []
    try:
        return [functions(path, text) for text in texts]
    except UnreadableError:
        return []


def _touched(outline: _Outline, lines: range) -> Iterator[str]:
    """Yield the definitions of which some lines, but not all, are in a range.

    A range without lines is in a definition if it is between two of its lines.
    """
    for name, each in outline.items():
        start, stop = each.first - 1, each.last
        is_whole = lines.start <= start and stop <= lines.stop
        if lines.start < stop and start < lines.stop and not is_whole:
            yield name


def _definition(name: str, versions: Sequence[Function | None]) -> str:
    """Write a definition as it is in the base and on both sides."""
    title = f"Definition of {visible(name, 100)}"
    texts = [None if each is None else _lines_of(each.text) for each in versions]
    shared = frozenset[str].intersection(*(frozenset(each) for each in texts if each is not None))
    parts = []
    for i, (version, lines) in enumerate(zip(_VERSIONS, texts, strict=True)):
        if lines is None:
            parts.append(f"{title}, {version}: it is not there.")
        elif i and lines == texts[0]:
            parts.append(f"{title}, {version}: as in the base.")
        else:
            parts.append(f"{title}, {version}:\n{fenced(_shortened(lines, shared))}")
    return "\n".join(parts) + "\n"


def _lines_of(text: bytes) -> list[str]:
    shown = text.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    return shown.removesuffix("\n").split("\n")


def _shortened(lines: list[str], shared: Collection[str]) -> list[str]:
    """Return the lines of a version of a definition, without some of them if it is too long.

    The first lines stay, and those near a line that is not *shared* by all versions. If they are
    too long as well, their middle is left out.
    """
    if len("\n".join(lines)) <= _MOST_SHOWN:
        return lines
    edited = (i for i, line in enumerate(lines) if line not in shared)
    near = (range(i - _LINES_NEAR, i + _LINES_NEAR + 1) for i in edited)
    kept = frozenset(range(_FIRST_LINES)).union(*near)
    found: list[str] = []
    for is_kept, group in groupby(range(len(lines)), kept.__contains__):
        numbers = list(group)
        left_out = f"[{len(numbers):,} lines are left out here]"
        found += [lines[i] for i in numbers] if is_kept else [left_out]
    return _without_middle("\n".join(found)).split("\n")


def _without_middle(text: str) -> str:
    if len(text) <= _MOST_SHOWN:
        return text
    half = _MOST_SHOWN // 2
    head = text[:half].rpartition("\n")[0] or text[:half]
    tail = text[-half:].partition("\n")[2] or text[-half:]
    left = len(text) - len(head) - len(tail)
    return f"{head}\n[{left:,} characters are left out here]\n{tail}"


def _called_in(texts: Sequence[bytes], base: bytes) -> list[str]:
    """Return the words that are called in lines that the base does not have."""
    known = frozenset(base.splitlines())
    lines = (line for text in texts for line in text.splitlines() if line not in known)
    shown = b"\n".join(lines).decode("utf-8", "replace")
    return list(dict.fromkeys(_CALLED.findall(shown)))


def _changed_heads(grammar: Grammar, base: bytes, side: bytes) -> Iterator[tuple[str, str]]:
    """Yield the base's functions that a side renames, removes or gives other parameters."""
    try:
        before, after = (read_source(grammar, text) for text in (base, side))
    except StructureError:
        return
    lines = side.decode("utf-8", "replace").split("\n")
    for name, (old, *others) in before.by_name.items():
        now = after.by_name.get(name, [])
        if not old.is_function or others or len(now) > 1 or _are_called_alike(old, *now):
            continue
        new = now[0] if now else _renamed(old, before, after)
        if new is None:
            yield name, f"{name} is gone"
        else:
            yield name, f"{'' if now else f'{name} is now '}{_head(lines, new.line)}"


def _are_called_alike(old: Definition, new: Definition | None = None) -> bool:
    """Whether a function is not known to have other parameters now."""
    if new is None:
        return False
    return old.signature is None or new.signature in (None, old.signature)


def _renamed(old: Definition, before: Source, after: Source) -> Definition | None:
    """Return the new function with the body of one that is gone."""
    for each in after.definitions:
        if old.body and each.body == old.body and each.name not in before.by_name:
            return each
    return None


def _head(lines: Sequence[str], line: int) -> str:
    """Return the lines of a function from its name to the end of its parameters, as one."""
    head = ""
    for each in lines[line - 1 : line - 1 + _MOST_HEAD_LINES]:
        head += each[:_MOST_SHOWN] + " "
        if head.count("(") <= head.count(")"):
            break
    return " ".join(head.split())


def _word(name: str) -> str:
    """Return the word with which a function is called: that of the class for a constructor."""
    *scopes, last = name.split(".")
    return scopes[-1] if scopes and last in CONSTRUCTORS else last
