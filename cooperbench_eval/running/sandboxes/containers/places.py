"""Where the folders of a run are in a container, and the same paths in words of a command."""

import os
import re
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import Self

from attrs import frozen

__all__ = ["Places"]

_REST = r"""([^\s:;,="']*)"""
"""Matches the rest of a path after its folder."""


@frozen(kw_only=True)
class Places:
    r"""The tree and the scratch directory, on the host and in the container.

    Attributes:
        tree: The tree's path on the host, as words of a command have it.
        scratch: The scratch directory's path there.
        tree_at: The tree's path in the container.
        scratch_at: The scratch directory's path there.

    Example:
        >>> from pathlib import PureWindowsPath as Windows
        >>> places = Places.of(Windows(r"C:\T\tree-1"), Windows(r"C:\T\run-1"))
        >>> places.translate(r"--junitxml=C:\T\run-1\out\junit.xml")
        '--junitxml=/cooperbench/scratch/out/junit.xml'
        >>> places.translate(r"C:\T\tree-1/src:C:\T\tree-1/lib")
        '/cooperbench/tree/src:/cooperbench/tree/lib'
    """

    tree: str
    scratch: str
    tree_at: str
    scratch_at: str

    @classmethod
    def of(
        cls,
        tree: Path | PureWindowsPath,
        scratch: Path | PureWindowsPath,
        tree_at: str | None = None,
    ) -> Self:
        """Choose the paths in the container: those of the host, unless it is Windows."""
        is_windows = os.name == "nt" or isinstance(tree, PureWindowsPath)
        usual = ("/cooperbench/tree", "/cooperbench/scratch")
        places = usual if is_windows else (str(tree), str(scratch))
        return cls(
            tree=str(tree),
            scratch=str(scratch),
            tree_at=tree_at or places[0],
            scratch_at=places[1],
        )

    def translate(self, word: str) -> str:
        """Return *word* with the container's paths in place of the host's."""
        for folder, place in ((self.tree, self.tree_at), (self.scratch, self.scratch_at)):
            if "\\" in folder:
                word = re.sub(re.escape(folder) + _REST, partial(_placed, place), word)
            else:
                word = word.replace(folder, place)
        return word


def _placed(place: str, found: re.Match[str]) -> str:
    return place + found[1].replace("\\", "/")
