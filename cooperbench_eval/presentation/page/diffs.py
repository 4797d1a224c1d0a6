"""The data of a git diff on the page: its files and hunks, with equal hunks kept once.

Most hunks of a merge are those of one of its sides, so a merge adds little to a page that has
both patches. The page's script finds the words that differ and colours the syntax.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.reader import read_name, split_names
from cooperbench_eval.presentation.page.embedding import Texts

_MOST_FILES = 200
_MOST_HUNKS = 200
_MOST_NOTES = 10
_MOST_NAME = 400
_FILE = re.compile(rb"^diff --git ", re.MULTILINE)
_HUNK = re.compile(
    rb"^@@ -[0-9]{1,9}(?:,[0-9]{1,9})? \+[0-9]{1,9}(?:,[0-9]{1,9})? @@", re.MULTILINE
)
_NOTES = re.compile(
    rb"^(?:new file|deleted file|old|new) mode [0-7]{1,6}$|^(?:rename|copy) (?:from|to) .{1,400}$"
    rb"|^GIT binary patch$|^Binary files .{0,800}$",
    re.MULTILINE,
)
_Json = dict[str, Any]


def diff_files(diff: bytes, texts: Texts) -> _Json:
    """Return the files of a git diff; the contents of its hunks are added to *texts*.

    Whatever *diff* is, this takes linear time. Text that is not a diff gives no files.
    """
    starts = [found.start() for found in _FILE.finditer(diff)]
    shown = [
        _file(diff[start:end], texts)
        for start, end in pairwise([*starts, len(diff)][: _MOST_FILES + 1])
    ]
    return {"files": shown, "more": len(starts) - len(shown)}


def _file(text: bytes, texts: Texts) -> _Json:
    """Return a file's names, what its head says, and its hunks with the numbers of their texts."""
    hunks = list(_HUNK.finditer(text))
    starts = [found.start() for found in hunks]
    head = text[: starts[0]] if starts else text
    old, new = _names(head)
    shown: list[list[Any]] = []
    ends = [*starts[1:], len(text)] if starts else []
    for found, end in zip(hunks[:_MOST_HUNKS], ends[:_MOST_HUNKS], strict=True):
        newline = text.find(b"\n", found.end(), end)
        body = text[newline + 1 : end] if newline >= 0 else b""
        shown.append([found[0].decode(), texts.number_of(body)])
    added, removed = _counts(text, starts)
    return {
        "path": _cut(new or old or "?"),
        "old": _cut(old) if old and new and old != new else None,
        "notes": [_cut(note) for note in _notes(head)][:_MOST_NOTES],
        "hunks": shown,
        "more": len(hunks) - len(shown),
        "added": added,
        "removed": removed,
    }


def _counts(text: bytes, starts: list[int]) -> tuple[int, int]:
    if not starts:
        return 0, 0
    body = text[starts[0] :]
    return body.count(b"\n+"), body.count(b"\n-")


def _names(head: bytes) -> tuple[str | None, str | None]:
    """Return the old and the new path; `None` for a file that is not there, or if unknown."""
    first, *rest = head.split(b"\n", 30)
    try:
        old, new = split_names(first.removeprefix(b"diff --git "))
        for line in rest:
            if line.startswith(b"--- "):
                old = read_name(line)
            elif line.startswith(b"+++ "):
                new = read_name(line)
    except (PatchError, ValueError):
        return None, first.decode("utf-8", "surrogateescape")
    return old, new


def _notes(head: bytes) -> Iterator[str]:
    for found in _NOTES.finditer(head):
        yield found[0].decode("utf-8", "surrogateescape")


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_NAME else f"{text[:_MOST_NAME]}…"
