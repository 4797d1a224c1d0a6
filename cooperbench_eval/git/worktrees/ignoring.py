"""Decides which files git ignores. Libgit2 reads some rules differently from git.

The rules are those of git's documentation of `gitignore`. The last rule that matches decides; one
in a folder comes after those of the folders above it, and what is in an ignored folder is ignored.
"""

from collections.abc import Callable, Iterable, Iterator

from cooperbench_eval.git.trees.objects import encode_path, folders_above
from cooperbench_eval.git.worktrees.patterns import PathPattern

__all__ = ["IgnoreRules"]


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
        self._folders: dict[str, list[PathPattern] | None] = {"": top}

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

    def _rules_in(self, folder: str) -> list[PathPattern] | None:
        """Return the rules for what is in a folder; `None` if all of it is ignored."""
        if self._decide(folder, is_folder=True):
            return None
        rules = self._folders[folder.rpartition("/")[0]] or []
        own = self._read(f"{folder}/.gitignore")
        return [*rules, *self._parsed(own, folder)] if own else rules

    def _decide(self, path: str, *, is_folder: bool) -> bool:
        rules = self._folders[path.rpartition("/")[0]]
        if rules is None:
            return True
        whole = encode_path(path)
        if self._is_case_ignored:
            whole = whole.lower()
        for rule in reversed(rules):
            if rule.matches(whole, is_folder=is_folder):
                return not rule.is_negated
        return False

    def _parsed(self, text: bytes, folder: str) -> Iterator[PathPattern]:
        for line in text.split(b"\n"):
            if line.startswith(b"#"):
                continue
            kept = line.removesuffix(b"\r").partition(b"\0")[0]
            pattern = _without_spaces(kept)
            if rule := PathPattern.read(pattern, folder, is_case_ignored=self._is_case_ignored):
                yield rule


def _without_spaces(line: bytes) -> bytes:
    """Remove spaces at the end, except one that a backslash quotes."""
    kept = line.rstrip(b" ")
    backslashes = len(kept) - len(kept.rstrip(b"\\"))
    return line[: len(kept) + backslashes % 2]
