"""Reads git's settings of a repository. An adapter to pygit2."""

import os
from pathlib import Path

import pygit2
from pygit2.enums import ConfigLevel

__all__ = ["Settings"]


class Settings:
    """The settings that count in a repository."""

    def __init__(self, repository: pygit2.Repository) -> None:
        """Read the settings of *repository*."""
        self._config = repository.config

    def is_on(self, name: str, *, default: bool) -> bool:
        """Whether a setting is true; *default* if it is absent or of another kind."""
        try:
            return self._config.get_bool(name)
        except (KeyError, ValueError, pygit2.GitError):
            return default

    def word(self, name: str) -> str:
        """Return a setting in lower case, such as `true` or `input`; empty if it is absent."""
        try:
            return "true" if self._config.get_bool(name) else "false"
        except ValueError:
            return str(self._config[name]).lower()
        except (KeyError, pygit2.GitError):
            return ""

    def names(self) -> set[str]:
        """Return the names of all settings."""
        return {each.name for each in self._config}

    def files(self, name: str, usual: str) -> list[Path]:
        """Return the files that a setting names, or else the *usual* one of the user.

        A relative path is one below the top folder of the working tree.
        """
        try:
            named = self._config[name] or ""
        except (KeyError, ValueError, pygit2.GitError):
            return _in_places(ConfigLevel.XDG, usual)
        return [Path(os.path.expanduser(named))]  # noqa: PTH111 - a user may be absent

    def system_files(self, name: str) -> list[Path]:
        """Return the files of a name that count for all users."""
        return _in_places(ConfigLevel.SYSTEM, name)


def _in_places(level: ConfigLevel, name: str) -> list[Path]:
    folders = pygit2.settings.search_path[level].split(os.pathsep)
    return [Path(folder, name) for folder in folders if folder]
