"""Decides which files git ignores. Libgit2 reads some rules otherwise than git does.

The rules are those of git's documentation of `gitignore`. The last rule that matches decides; one
in a folder comes after those of the folders above it, and what is in an ignored folder is ignored.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from attrs import frozen

from cooperbench_eval.objects import encode_path, folders_above
from cooperbench_eval.refs.wildmatch import matcher

__all__ = ["IgnoreRules"]

_SPECIAL = re.compile(rb"[*?\[\\]")
_MARK = b"\xef\xbb\xbf"


@frozen(kw_only=True)
class _Rule:
    """One line of a file with rules.

    Attributes:
        is_match: Whether it matches a path below the folder of the file, or only a name.
        has_folders: Whether it matches a whole path.
        is_for_folders: Whether it applies to folders only.
        is_negated: Whether what it matches is not ignored.
        base: The length of the path to the file's folder, with a slash.
    """

    is_match: Callable[[bytes], bool]
    has_folders: bool
    is_for_folders: bool
    is_negated: bool
    base: int


class IgnoreRules:
    """The rules of a working tree."""

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        general: Iterable[bytes],
        *,
        is_case_ignored: bool = False,
    ) -> None:
        """Prepare to decide.

        Args:
            read: Returns the contents of a `.gitignore`, if any.
            general: The contents of the files for the whole working tree, the weakest first.
            is_case_ignored: Whether upper and lower case are the same.

        Example:
            >>> rules = IgnoreRules({".gitignore": b"build/", "a/.gitignore": b"*.o"}.get, ())
            >>> rules.has("build", is_folder=True), rules.has("build", is_folder=False)
            (True, False)
            >>> rules.has("build/x", is_folder=False), rules.has("a/b/c.o", is_folder=False)
            (True, True)
        """
        self._read = read
        self._is_case_ignored = is_case_ignored
        top = [rule for text in general for rule in self._parsed(text, "")]
        top.extend(self._parsed(read(".gitignore") or b"", ""))
        self._folders: dict[str, list[_Rule] | None] = {"": top}

    @property
    def may_match_the_top(self) -> bool:
        """Whether a rule matches the empty path of the top folder, which git never ignores."""
        return any(rule.is_match(b"") for rule in self._folders[""] or ())

    def has(self, path: str, *, is_folder: bool) -> bool:
        """Whether git ignores a path that it does not track."""
        for folder in folders_above(path):
            if folder not in self._folders:
                self._folders[folder] = self._rules_in(folder)
        return self._decide(path, is_folder=is_folder)

    def _rules_in(self, folder: str) -> list[_Rule] | None:
        """Return the rules for what is in a folder; `None` if all of it is ignored."""
        if self._decide(folder, is_folder=True):
            return None
        rules = self._folders[folder.rpartition("/")[0]] or []
        own = self._read(f"{folder}/.gitignore")
        return [*rules, *self._parsed(own, f"{folder}/")] if own else rules

    def _decide(self, path: str, *, is_folder: bool) -> bool:
        folder, _, name = path.rpartition("/")
        rules = self._folders[folder]
        if rules is None:
            return True
        whole, last = self._folded(encode_path(path)), self._folded(encode_path(name))
        for rule in reversed(rules):
            if rule.is_for_folders and not is_folder:
                continue
            if rule.is_match(whole[rule.base :] if rule.has_folders else last):
                return not rule.is_negated
        return False

    def _folded(self, text: bytes) -> bytes:
        return text.lower() if self._is_case_ignored else text

    def _parsed(self, text: bytes, base: str) -> Iterator[_Rule]:
        for line in text.removeprefix(_MARK).split(b"\n"):
            if line.startswith(b"#"):
                continue
            kept = line.removesuffix(b"\r").partition(b"\0")[0]
            pattern = self._folded(_without_spaces(kept))
            is_negated = pattern.startswith(b"!")
            pattern = pattern[is_negated:]
            is_for_folders = pattern.endswith(b"/")
            pattern = pattern.removesuffix(b"/")
            if pattern:
                has_folders = b"/" in pattern
                yield _Rule(
                    is_match=_matching(pattern, has_folders=has_folders),
                    has_folders=has_folders,
                    is_for_folders=is_for_folders,
                    is_negated=is_negated,
                    base=len(encode_path(base)),
                )


def _without_spaces(line: bytes) -> bytes:
    """Remove spaces at the end, except one that a backslash quotes."""
    kept = line.rstrip(b" ")
    backslashes = len(kept) - len(kept.rstrip(b"\\"))
    return line[: len(kept) + backslashes % 2]


def _matching(pattern: bytes, *, has_folders: bool) -> Callable[[bytes], bool]:
    """Return whether a path, or a name, matches a pattern."""
    pattern = pattern.removeprefix(b"/") if has_folders else pattern
    special = _SPECIAL.search(pattern)
    if special is None:
        return pattern.__eq__
    if not has_folders:
        rest = pattern[1:]
        is_suffix = pattern.startswith(b"*") and not _SPECIAL.search(rest)
        return (lambda name: name.endswith(rest)) if is_suffix else matcher(pattern)
    # Git compares what comes before the first special character, and then starts anew: so `**`
    # may follow it as if it were at the beginning.
    prefix, is_match = pattern[: special.start()], matcher(pattern[special.start() :])
    return lambda path: path.startswith(prefix) and is_match(path[len(prefix) :])
