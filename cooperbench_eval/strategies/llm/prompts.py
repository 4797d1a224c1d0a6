"""Prompt templates, which are read from files and have a version."""

import hashlib
from functools import cache
from importlib import resources
from pathlib import Path
from string import Template

from attrs import field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.support.arguments import checked, checked_fields

_NAMES = ("system", "question", "excerpt", "choice", "retry")
_NEEDED = {
    "question": {"excerpts"},
    "excerpt": {"ours", "theirs"},
    "choice": {"ours", "theirs"},
}
_BUILT_IN = ("v2", "v1")
"""The folders of the library's own prompts, the newest first; it has only what it changes."""


@frozen(kw_only=True, field_transformer=checked_fields)
class Prompts:
    """The texts that a model is asked with, as `string.Template` templates.

    Attributes:
        version: A name and a digest of the texts, for reports.
        system: The system message.
        question: Asks about conflicts of a file.
        excerpt: Shows one conflict in a question.
        choice: Asks which side to take in a conflict about a file as a whole.
        retry: Says why the last answer was rejected.
    """

    version: str
    system: str = field(repr=False)
    question: str = field(repr=False)
    excerpt: str = field(repr=False)
    choice: str = field(repr=False)
    retry: str = field(repr=False)

    def __attrs_post_init__(self) -> None:
        """Reject templates that do not show the conflict."""
        for name, needed in _NEEDED.items():
            if missing := needed - set(Template(getattr(self, name)).get_identifiers()):
                raise ArgumentError(name, f"has no ${min(missing)}")

    @classmethod
    @cache
    def built_in(cls) -> "Prompts":
        """Return the library's own prompts."""
        folders = [resources.files(__package__) / "prompts" / each for each in _BUILT_IN]
        files = {name: [folder / f"{name}.txt" for folder in folders] for name in _NAMES}
        texts = {
            name: next(file for file in found if file.is_file()).read_text(encoding="utf-8")
            for name, found in files.items()
        }
        return cls(version=_version(_BUILT_IN[0], texts), **texts)

    @classmethod
    @checked
    def read(cls, directory: str | Path) -> "Prompts":
        """Read the prompts of a directory; the library's own replace missing ones.

        Raises:
            ArgumentError: The directory has no prompt, or a prompt does not show the conflict.
            OSError: A prompt cannot be read.
        """
        own = cls.built_in()
        folder = Path(directory)
        files = {name: folder / f"{name}.txt" for name in _NAMES}
        found = {name: file for name, file in files.items() if file.exists()}
        if not found:
            wanted = " or ".join(f"{name}.txt" for name in _NAMES)
            raise ArgumentError("directory", f"has no {wanted}: {folder}")
        texts = {name: getattr(own, name) for name in _NAMES}
        texts |= {name: file.read_text(encoding="utf-8") for name, file in found.items()}
        return cls(version=_version(folder.resolve().name, texts), **texts)

    @checked
    def fill(self, name: str, **values: object) -> str:
        """Fill the template called *name*; unknown placeholders stay as they are."""
        if name not in _NAMES:
            raise ArgumentError("name", f"must be one of {', '.join(_NAMES)}, not {name!r:.80}")
        return Template(getattr(self, name)).safe_substitute(values)


def _version(name: str, texts: dict[str, str]) -> str:
    joined = "\0".join(texts[each] for each in _NAMES)
    return f"{name} {hashlib.sha256(joined.encode()).hexdigest()[:12]}"
