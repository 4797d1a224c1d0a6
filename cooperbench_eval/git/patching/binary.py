"""Binary patches: git's base-85 lines, whole contents or a delta.

Git's `gitformat-pack` describes the deltas and RFC 1924 the alphabet. Sizes come from
the patch, which is untrusted, so each is checked before use.
"""

import base64
import re
import zlib
from enum import StrEnum
from io import BytesIO

from attrs import field, frozen

from cooperbench_eval.errors import PatchError

MOST_BYTES = 256 * 1024 * 1024
_LENGTHS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # from 1 to 52
_BLOCK = re.compile(rb"(literal|delta) (\d{1,12})\r?\n")


class BinaryKind(StrEnum):
    """The format in which a binary patch has the new contents."""

    LITERAL = "literal"
    """The whole contents."""
    DELTA = "delta"
    """Copies from the old contents, and insertions."""


@frozen(kw_only=True)
class BinaryChange:
    """The new side of a binary file.

    Attributes:
        data: The contents or the delta, decompressed.
    """

    kind: BinaryKind
    data: bytes = field(repr=False)


def read_change(lines: list[bytes], at: int, room: int = MOST_BYTES) -> tuple[BinaryChange, int]:
    """Read the forward block at line index *at* and skip the reverse block after it.

    The block may contain *room* bytes. Return the change, and the index of the first line after it.

    Raises:
        PatchError: The block is malformed, or inflates beyond its stated size.
    """
    change, at = _read_block(lines, at, room)
    if at < len(lines) and _BLOCK.fullmatch(lines[at]):
        _, at = _read_block(lines, at, room)
    return change, at


def _read_block(lines: list[bytes], at: int, room: int) -> tuple[BinaryChange, int]:
    header = _BLOCK.fullmatch(lines[at]) if at < len(lines) else None
    if not header:
        raise PatchError("the binary patch has no contents", None, at + 1)
    size = int(header.group(2))
    if size > room:
        raise PatchError(f"the binary patch claims {size} bytes", None, at + 1)
    packed = bytearray()
    at += 1
    while at < len(lines) and lines[at].strip():
        packed += _decode_line(lines[at].rstrip(b"\r\n"), at)
        at += 1
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(bytes(packed), size + 1)
    except zlib.error as exc:
        raise PatchError(f"the binary patch does not inflate ({exc})", None, at) from exc
    if len(data) != size or not inflater.eof:
        raise PatchError("the binary patch does not have its stated length", None, at)
    kind = BinaryKind(header.group(1).decode("ascii"))
    return BinaryChange(kind=kind, data=data), at + 1


def _decode_line(line: bytes, at: int) -> bytes:
    size = _LENGTHS.find(line[:1]) + 1
    if not size:
        raise PatchError("a line of the binary patch states no valid length", None, at + 1)
    try:
        chunk = base64.b85decode(line[1:])
    except ValueError as exc:
        raise PatchError("the binary patch is not base 85", None, at + 1) from exc
    if not size <= len(chunk) < size + 4:
        raise PatchError("a line of the binary patch has the wrong length", None, at + 1)
    return chunk[:size]


def apply_change(change: BinaryChange, old: bytes) -> bytes:
    """Return the new contents, or raise `PatchError` if a delta does not fit *old*."""
    if change.kind is BinaryKind.LITERAL:
        return change.data
    return _apply_delta(BytesIO(change.data), old)


def _apply_delta(delta: BytesIO, old: bytes) -> bytes:
    if _read_size(delta) != len(old):
        raise PatchError("the binary delta was made from other contents")
    size = _read_size(delta)
    if size > MOST_BYTES:
        raise PatchError(f"the binary delta claims {size} bytes")
    new = bytearray()
    while len(new) <= size and (code := delta.read(1)):
        new += _read_piece(code[0], delta, old)
    if len(new) != size:
        raise PatchError("the binary delta does not give its stated length")
    return bytes(new)


def _read_byte(delta: BytesIO) -> int:
    byte = delta.read(1)
    if not byte:
        raise PatchError("the binary delta ends too early")
    return byte[0]


def _read_size(delta: BytesIO) -> int:
    value = shift = 0
    while True:
        byte = _read_byte(delta)
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80 or shift > 63:  # noqa: PLR2004 - sizes are 64 bits wide
            return value


def _read_piece(code: int, delta: BytesIO, old: bytes) -> bytes:
    if code == 0:
        raise PatchError("the binary delta has a reserved instruction")
    if not code & 0x80:
        return delta.read(code)
    offset = sum(_read_byte(delta) << (8 * i) for i in range(4) if code & (1 << i))
    size = sum(_read_byte(delta) << (8 * i) for i in range(3) if code & (0x10 << i)) or 0x10000
    if offset + size > len(old):
        raise PatchError("the binary delta copies from beyond the end of the old contents")
    return old[offset : offset + size]
