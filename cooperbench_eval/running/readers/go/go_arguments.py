"""Reads which tests the arguments of `go test` select."""

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from cooperbench_eval.running.readers.command_line import option_and_value

__all__ = ["GoSelection", "parse_go_arguments"]

_FLAGS = frozenset({"v", "race", "cover", "json", "failfast", "a", "x", "trimpath", "short"})
_FLAGS_WITH_VALUE = frozenset(
    {
        *("count", "timeout", "p", "parallel", "shuffle", "cpu", "vet", "tags", "mod"),
        *("coverprofile", "covermode", "coverpkg", "ldflags", "gcflags", "run", "skip"),
    }
)
_NONE_RUN = frozenset({("count", "0"), ("p", "0"), ("parallel", "0")})
# Go's expressions have these, and Python's do not or mean something else.
_ONLY_IN_GO = re.compile(r"\[\[|\\[pPQEzC]|\(\?[^:]")


@frozen(kw_only=True)
class GoSelection:
    """What the arguments select.

    Attributes:
        packages: As they are named; none means the current folder.
        run: The expression for tests that run; `None` for all.
        skip: The expression for tests that are left out; `None` for none.
    """

    packages: tuple[str, ...] = ()
    run: str | None = None
    skip: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every test of the packages is selected."""
        return self.run is None and self.skip is None

    def keeps(self, function: str) -> bool:
        """Whether a function surely runs; its subtests may be left out."""
        runs = self.run is None or _matches(self.run, function) is True
        return runs and (self.skip is None or _matches(self.skip, function) is False)


def parse_go_arguments(arguments: Sequence[str]) -> GoSelection | None:
    """Parse the arguments; `None` if a flag may leave tests out in another way."""
    packages: list[str] = []
    chosen: dict[str, str] = {}
    rest = iter(arguments)
    for word in rest:
        if not word.startswith("-"):
            packages.append(word)
            continue
        # Go takes one hyphen or two.
        flag = word.removeprefix("-").removeprefix("-")
        name, value = option_and_value(flag, rest, _FLAGS_WITH_VALUE)
        if name in {"run", "skip"}:
            chosen[name] = value
        elif name in _FLAGS and value in {"", "true"}:
            continue
        elif name not in _FLAGS_WITH_VALUE or (name, value) in _NONE_RUN:
            return None
    return GoSelection(
        packages=tuple(packages), run=chosen.get("run"), skip=chosen.get("skip") or None
    )


def _matches(pattern: str, function: str) -> bool | None:
    """Whether a pattern's first parts match a function; `None` if that is unknown.

    Go splits a pattern at slashes, one part for each level of subtests. Since 1.20, it first
    splits it at `|`.
    """
    if _ONLY_IN_GO.search(pattern):
        return None
    older = [next(_split(pattern, "/"))]
    newer = [next(_split(each, "/")) for each in _split(pattern, "|")]
    try:
        found = {any(re.search(part, function) for part in parts) for parts in (older, newer)}
    except (re.error, RecursionError, OverflowError):
        return None
    return found.pop() if len(found) == 1 else None


def _split(pattern: str, sign: str) -> Iterator[str]:
    """Split at a sign that is not escaped, in brackets or in parentheses."""
    depth, start, in_class = 0, 0, False
    for found in re.finditer(r"\\.|.", pattern, re.DOTALL):
        letter = found[0]
        if letter == "[" and not in_class:
            in_class = True
        elif letter == "]":
            in_class = False
        elif not in_class:
            depth += (letter == "(") - (letter == ")")
            if letter == sign and depth == 0:
                yield pattern[start : found.start()]
                start = found.end()
    yield pattern[start:]
