"""Reads which titles a command of jest, vitest or node selects."""

import re
from collections.abc import Sequence

from cooperbench_eval.running.readers.command_line import option_and_value

__all__ = ["surely_matches", "title_patterns"]

_PATTERNS = frozenset({"-t", "--testNamePattern", "--test-name-pattern"})
_OTHER_FILTER = re.compile(
    r"-t|--testN|--test-(?:name|skip|only|shard)|--tags|--shard|--changed|--only|--list|--find"
)
# The title is only the end of the text that is searched, and Python reads some signs otherwise.
_UNSURE = re.compile(r"\^|\(\?[^:]|\[\]|^/|\\[a-zA-Z](?<![dDwWsSbnrtv])")


def title_patterns(command: Sequence[str]) -> tuple[str, ...] | None:
    """Return the expressions of a command; `None` if it selects in another way."""
    found = []
    words = iter(command)
    for word in words:
        option, value = option_and_value(word, words, _PATTERNS)
        if option in _PATTERNS:
            found.append(value.removeprefix("="))
        elif _OTHER_FILTER.match(word):
            return None
    return tuple(found)


def surely_matches(patterns: Sequence[str], title: str) -> bool:
    """Whether a title matches each expression, whatever groups it is in."""
    try:
        return all(
            not _UNSURE.search(pattern) and re.search(pattern, title) for pattern in patterns
        )
    except (re.error, RecursionError, OverflowError):
        return False
