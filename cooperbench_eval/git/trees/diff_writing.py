"""Renders the change of one entry as `git diff` does."""

import base64
import re
import zlib

from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.objects import encode_path

_SPECIAL = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')
_NAMED = dict(zip(b'\a\b\t\n\v\f\r"\\', b'abtnvfr"\\', strict=True))


def quote_path(prefix: str, path: str) -> bytes:
    """Return a path with its prefix, quoted as in git's diff headers."""
    raw = prefix.encode() + encode_path(path)
    quoted = _SPECIAL.sub(_escape, raw)
    return raw if quoted == raw else b'"%s"' % quoted


def _escape(found: re.Match[bytes]) -> bytes:
    byte = found[0][0]
    return b"\\%c" % _NAMED[byte] if byte in _NAMED else b"\\%03o" % byte


def _render(path: str, old: Entry | None, new: Entry | None) -> bytes:
    zero = "0" * 40
    old_name, new_name = quote_path("a/", path), quote_path("b/", path)
    head = [b"diff --git %s %s" % (old_name, new_name)]
    if old is None and new is not None:
        head.append(b"new file mode %o" % new.mode)
    elif new is None and old is not None:
        head.append(b"deleted file mode %o" % old.mode)
    elif old and new and old.mode != new.mode:
        head += [b"old mode %o" % old.mode, b"new mode %o" % new.mode]
    if old and new and old.id == new.id:
        return b"\n".join(head) + b"\n"
    before, after = diff_text(old), diff_text(new)
    ids = f"index {old.id if old else zero}..{new.id if new else zero}"
    if old and new and old.mode == new.mode:
        ids += f" {old.mode:o}"
    head.append(ids.encode())
    if b"\0" in before or b"\0" in after:
        blocks = binary_block("literal", after) + binary_block("literal", before)
        return b"\n".join([*head, b"GIT binary patch", blocks])
    from cooperbench_eval.git.trees.repository import unified_hunks  # noqa: PLC0415 - loads libgit2

    hunks = unified_hunks(before, after)
    if hunks:
        head.append(b"--- " + (old_name + _tab(path) if old else b"/dev/null"))
        head.append(b"+++ " + (new_name + _tab(path) if new else b"/dev/null"))
    return b"\n".join(head) + b"\n" + hunks


def _tab(path: str) -> bytes:
    # Git ends a name that contains a space with a tab, so that it cannot be read as a date.
    return b"\t" if " " in path else b""


def diff_text(entry: Entry | None) -> bytes:
    """Return what a diff shows of an entry: a file's contents, or a line for a submodule."""
    if entry is None:
        return b""
    if entry.mode is FileMode.SUBMODULE:
        return b"Subproject commit %s\n" % entry.data
    return entry.data


def binary_block(kind: str, data: bytes) -> bytes:
    """Encode one side of a binary patch: lines of at most 52 bytes in base 85.

    The *kind* is `literal` for contents, `delta` for git's instructions.
    """
    packed = zlib.compress(data)
    lines = [b"%s %d" % (kind.encode(), len(data))]
    for start in range(0, len(packed), 52):
        chunk = packed[start : start + 52]
        size = len(chunk)
        letter = (ord("A") - 1 + size) if size <= 26 else (ord("a") - 27 + size)  # noqa: PLR2004
        lines.append(bytes([letter]) + base64.b85encode(chunk, pad=True))
    return b"\n".join(lines) + b"\n\n"


def render_change(path: str, old: Entry | None, new: Entry | None) -> bytes:
    """Return the git diff from *old* to *new*; empty if they are equal.

    It has full object ids and full binary contents, so `git apply` accepts it. As in git,
    a change of kind is a deletion and a creation.
    """
    if old == new:
        return b""
    if old and new and old.mode != new.mode and not (old.mode.is_regular and new.mode.is_regular):
        return _render(path, old, None) + _render(path, None, new)
    return _render(path, old, new)
