"""Finds the files that say what git ignores and which attributes files have."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from cooperbench_eval.git.worktrees.attributes import Attributes
from cooperbench_eval.git.worktrees.contents import contents_of
from cooperbench_eval.git.worktrees.ignoring import IgnoreRules
from cooperbench_eval.git.worktrees.index import IndexFiles
from cooperbench_eval.git.worktrees.settings import Settings

__all__ = ["RuleFiles"]

_MARK = b"\xef\xbb\xbf"


@frozen(kw_only=True)
class RuleFiles:
    """The files with rules for a working tree.

    Attributes:
        index: The files in the index, which may have what the working tree lacks.
        folder: The top folder of the working tree.
        common: The folder of the repository.
        settings: The settings.
    """

    index: IndexFiles
    folder: Path
    common: Path
    settings: Settings

    def ignore_rules(self) -> IgnoreRules:
        """Return the rules that say what is ignored."""
        files = self.settings.files("core.excludesFile", "ignore")
        general = [*self._contents(files), *self._contents([self.common / "info/exclude"])]
        return IgnoreRules(self._ignore_file, general, is_case_ignored=self._is_case_ignored)

    def attributes(self) -> Attributes:
        """Return what says which attributes files have."""
        files = self.settings.system_files("gitattributes")
        files += self.settings.files("core.attributesFile", "attributes")
        own = b"".join(self._contents([self.common / "info/attributes"]))
        return Attributes(
            self._attribute_file,
            self._contents(files),
            own,
            is_case_ignored=self._is_case_ignored,
        )

    @property
    def _is_case_ignored(self) -> bool:
        return self.settings.is_on("core.ignorecase", default=False)

    def _ignore_file(self, path: str) -> bytes | None:
        """Return a `.gitignore`; one that sparse checkout left out counts too."""
        with suppress(OSError):
            return contents_of(f"{self.folder}/{path}").removeprefix(_MARK)
        return self.index.contents(path) if self.index.is_skipped(path) else None

    def _attribute_file(self, path: str) -> bytes | None:
        """Return a `.gitattributes`; if git does not look at its path, that of the index counts.

        Git adds a deletion, or a link in the place of the file, before it adds other files.
        """
        with suppress(OSError):
            return contents_of(f"{self.folder}/{path}").removeprefix(_MARK)
        return self.index.contents(path) if self.index.is_left_alone(path) else None

    def _contents(self, files: Iterable[Path]) -> Iterator[bytes]:
        for file in files:
            with suppress(OSError):
                yield (self.folder / file).read_bytes().removeprefix(_MARK)
