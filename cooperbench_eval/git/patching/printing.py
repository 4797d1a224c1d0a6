"""Writes one file's part of a patch as a diff with the same meaning."""

from collections.abc import Iterator

from cooperbench_eval.git.patching.records import FileChange, FilePatch, Hunk
from cooperbench_eval.git.trees.gitdiff import binary_block, quote_path

__all__ = ["print_file"]


def print_file(file: FilePatch) -> bytes:
    """Return a file's change as a diff; reading the diff gives the same record."""
    return b"".join(_parts(file))


def _parts(file: FilePatch) -> Iterator[bytes]:
    if file.change is FileChange.ADD and file.old_path is not None:
        # Git's header cannot express an addition that may fill an existing empty file. This
        # line separates the names below from the diff above.
        yield b"diff\n"
    else:
        yield from _header(file)
    # Without a mode, only the names show that a file is added or deleted.
    mode = file.old_mode if file.change is FileChange.DELETE else file.new_mode
    if file.hunks or (file.change in {FileChange.ADD, FileChange.DELETE} and mode is None):
        yield b"--- " + _named(b"a/", file.old_path)
        yield b"+++ " + _named(b"b/", file.new_path)
    for hunk in file.hunks:
        yield from _hunk(hunk)
    if file.binary:
        yield b"GIT binary patch\n"
        yield binary_block(file.binary.kind.value, file.binary.data)
    elif file.lacks_contents:
        yield b"Binary files differ\n"


def _header(file: FilePatch) -> Iterator[bytes]:
    old = file.path if file.old_path is None else file.old_path
    yield b"diff --git %s %s\n" % (quote_path("a/", old), quote_path("b/", file.path))
    match file.change:
        case FileChange.ADD if file.new_mode:
            yield b"new file mode %06o\n" % file.new_mode
        case FileChange.DELETE if file.old_mode:
            yield b"deleted file mode %06o\n" % file.old_mode
        case FileChange.RENAME | FileChange.COPY:
            word = file.change.value.encode()
            yield word + b" from " + quote_path("", old) + b"\n"
            yield word + b" to " + quote_path("", file.path) + b"\n"
    if file.change not in {FileChange.ADD, FileChange.DELETE}:
        if file.old_mode:
            yield b"old mode %06o\n" % file.old_mode
        if file.new_mode:
            yield b"new mode %06o\n" % file.new_mode
    if file.old_id and file.new_id:
        yield f"index {file.old_id}..{file.new_id}\n".encode()


def _named(prefix: bytes, path: str | None) -> bytes:
    if path is None:
        return b"/dev/null\n"
    # A tab ends the name, so that trailing spaces belong to it.
    return quote_path(prefix.decode(), path) + b"\t\n"


def _hunk(hunk: Hunk) -> Iterator[bytes]:
    old, new = hunk.stated or (len(hunk.old), len(hunk.new))
    yield b"@@ -%d,%d +%d,%d @@%s" % (hunk.old_start, old, hunk.new_start, new, hunk.section)
    for line in hunk.lines + hunk.uncounted:
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
