"""The programming language that a change is mostly written in.

The adapter to Pygments. Only its table of file names is used: no lexer runs. Lexers of
other distributions are ignored, so that a file name means the same language everywhere.
"""

from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath

from cooperbench_eval.git.patching.path_kinds import PathKind, classify_path

_DIALECTS = {"TSX": "TypeScript", "JSX": "JavaScript"}
_UNKNOWN_TO_PYGMENTS = {".cts": "TypeScript", ".mts": "TypeScript"}
_MAGIC = frozenset("*?[")
# Text and data that accompany code. One of these is a pair's language only if the pair
# changes nothing else.
_NO_CODE = frozenset(
    {
        "INI",
        "JSON",
        "Markdown",
        "Properties",
        "TOML",
        "Text only",
        "XML",
        "YAML",
        "reStructuredText",
    }
)


def find_language(paths: Iterable[str]) -> str:
    """Name the language of most of *paths*, as Pygments names it; empty if no path shows one.

    The product's own code decides. If there is none, other code (tests, settings) does,
    and then data and prose. A tie goes to the first name in the alphabet.
    """
    ranks: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
    for path in set(paths):
        language, rank = _ranked(path)
        if language:
            ranks[rank][language] += 1
    for found in ranks:
        if found:
            return min(found, key=lambda name: (-found[name], name))
    return ""


@lru_cache(maxsize=8192)
def _ranked(path: str) -> tuple[str, int]:
    language = language_of_path(path)
    if language in _NO_CODE:
        return language, 2
    return language, int(classify_path(path) is not PathKind.CODE)


def language_of_path(path: str) -> str:
    """Name the language of one file by its name; empty if the name shows none."""
    pure = PurePosixPath(path)
    return _language_of_name(f"name{pure.suffix}" if pure.suffix else pure.name)


@lru_cache(maxsize=1024)
def _language_of_name(name: str) -> str:
    from pygments.lexers import find_lexer_class, get_all_lexers  # noqa: PLC0415

    found = [
        language
        for language, _, patterns, _ in get_all_lexers(plugins=False)
        if any(_matches(name, pattern) for pattern in patterns)
    ]
    if not found:
        return _UNKNOWN_TO_PYGMENTS.get(PurePosixPath(name).suffix, "")
    if len(found) > 1:  # `*.h`, `*.sql`: take the one that Pygments prefers
        priorities = {each: getattr(find_lexer_class(each), "priority", 0.0) for each in found}
        found.sort(key=lambda each: (-priorities[each], each))
    return _DIALECTS.get(found[0], found[0])


def _matches(name: str, pattern: str) -> bool:
    """Whether a file's name fits; nearly all patterns are a star and an ending."""
    ending = pattern.removeprefix("*")
    if not _MAGIC.isdisjoint(ending):
        return fnmatchcase(name, pattern)  # compiles an expression
    return name == pattern or (ending != pattern and name.endswith(ending))
