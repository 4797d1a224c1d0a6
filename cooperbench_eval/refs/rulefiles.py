"""Finds the files that say what git ignores and which attributes files have."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pygit2
from attrs import frozen
from pygit2.enums import ConfigLevel

from cooperbench_eval.objects import encode_path
from cooperbench_eval.refs.attributes import Attributes
from cooperbench_eval.refs.contents import contents_of
from cooperbench_eval.refs.ignoring import IgnoreRules
from cooperbench_eval.refs.index import entry_of, id_of, is_left_alone, is_skipped
from cooperbench_eval.refs.settings import Settings, in_places

__all__ = ["RuleFiles"]

_MARK = b"\xef\xbb\xbf"


@frozen(kw_only=True)
class RuleFiles:
    """The files with rules for a working tree.

    Attributes:
        repository: The repository, whose index may have what the working tree lacks.
        folder: The top folder of the working tree.
        common: The folder of the repository.
        settings: The settings.
    """

    repository: pygit2.Repository
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
        files = in_places(ConfigLevel.SYSTEM, "gitattributes")
        files += self.settings.files("core.attributesFile", "attributes")
        own = b"".join(self._contents([self.common / "info/attributes"]))
        return Attributes(
            self._attribute_file,
            self._contents(files),
            own,
            is_case_ignored=self._is_case_ignored,
        )

    def stored(self, path: str) -> bytes | None:
        """Return the contents that the index has at a path."""
        entry = entry_of(self.repository.index, encode_path(path))
        if entry is None:
            return None
        try:
            _, data, *_ = self.repository.read(id_of(entry))
        except (KeyError, ValueError, pygit2.GitError):
            return None
        return bytes(data)

    @property
    def _is_case_ignored(self) -> bool:
        return self.settings.is_on("core.ignorecase", default=False)

    def _ignore_file(self, path: str) -> bytes | None:
        """Return a `.gitignore`; one that sparse checkout left out counts too."""
        with suppress(OSError):
            return contents_of(f"{self.folder}/{path}").removeprefix(_MARK)
        entry = entry_of(self.repository.index, encode_path(path))
        return self.stored(path) if entry is not None and is_skipped(entry) else None

    def _attribute_file(self, path: str) -> bytes | None:
        """Return a `.gitattributes`; if git does not look at its path, that of the index counts.

        Git adds a deletion, or a link in the place of the file, before it adds other files.
        """
        with suppress(OSError):
            return contents_of(f"{self.folder}/{path}").removeprefix(_MARK)
        entry = entry_of(self.repository.index, encode_path(path))
        return self.stored(path) if entry is not None and is_left_alone(entry) else None

    def _contents(self, files: Iterable[Path]) -> Iterator[bytes]:
        for file in files:
            with suppress(OSError):
                yield (self.folder / file).read_bytes().removeprefix(_MARK)
