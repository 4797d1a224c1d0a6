"""Binary patches as git writes them, and how broken ones are refused."""

import base64
import hashlib
import zlib

import pytest

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.binary import BinaryChange, BinaryKind, apply_change, read_change
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import PatchStatus
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Snapshot

OLD = b"\0one two three\n"
NEW = b"\0one two three\nfour"
LITERAL = b"""\
diff --git a/logo b/logo
index 627fb1798c321511f0666431494abd52da81011d..55fb4f404bec5e89597b04a2c86539e22695851c 100644
GIT binary patch
literal 19
acmZR`&r4M(DbH6Z$tX%q<x0yhEdl^Pss_6N

literal 15
WcmZR`&r4M(DbH6Z$tX%q<pKaFZ3O=S

"""
DELETED = b"""\
diff --git a/logo b/logo
deleted file mode 100644
index 55fb4f404bec5e89597b04a2c86539e22695851c..0000000000000000000000000000000000000000
GIT binary patch
literal 0
HcmV?d00001

literal 19
acmZR`&r4M(DbH6Z$tX%q<x0yhEdl^Pss_6N

"""
ADDED = b"""\
diff --git a/new b/new
new file mode 100755
index 0000000000000000000000000000000000000000..f76dd238ade08917e6712764a16a22005a50573d
GIT binary patch
literal 1
IcmZPo000310RR91

literal 0
HcmV?d00001

"""
NOISE = b"\0" + b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(40))
DELTA = b"""\
diff --git a/d b/d
index c624d3b5891d4cbdc6c39f305012f34d1d32f0f1..ccd7771dc9bb041aac65957c8dbb720d23b5a384 100644
GIT binary patch
delta 19
acmZqVn!~eU4-<1<YWe01OomJwbQl3e;Rb{N

delta 33
rcmV++0N($c41o%;yaE)#``GkDcwaup>oW5Tkj)RzHdoWLzXCA=5?~Ly

"""

WITHOUT_IDS = DELTA[: DELTA.index(b"index")] + DELTA[DELTA.index(b"GIT") :]
IDS = LITERAL[LITERAL.index(b"index") : LITERAL.index(b"GIT")]
ABBREVIATED = LITERAL.replace(IDS, b"index 627fb17..55fb4f4 100644\n")


def applied(files, patch):
    """Return the entries after the patch, or why it was refused."""
    base = Snapshot.from_files(files)
    result = apply_patch(base, Patch.parse(patch))
    if result.status is PatchStatus.FAILED:
        return result.reason
    after = base.overlay(result.changes)
    return {path: after.get(path) for path in after.paths()}


def packed(data, *, kind=b"literal", size=None):
    """Return the lines of a block as git writes it."""
    squeezed = zlib.compress(data)
    lines = [b"%s %d\n" % (kind, len(data) if size is None else size)]
    for start in range(0, len(squeezed), 52):
        chunk = squeezed[start : start + 52]
        letter = bytes(
            [ord("A") - 1 + len(chunk) if len(chunk) <= 26 else ord("a") - 27 + len(chunk)]
        )
        lines.append(letter + base64.b85encode(chunk, pad=True) + b"\n")
    return [*lines, b"\n"]


@pytest.mark.parametrize(
    ("files", "patch", "expected"),
    [
        ({"logo": OLD}, LITERAL, {"logo": Entry(NEW)}),
        ({"logo": NEW}, DELETED, {}),
        ({}, ADDED, {"new": Entry(b"\0", FileMode.EXECUTABLE)}),
        ({"d": NOISE}, DELTA, {"d": Entry(NOISE[:700] + b"new" + NOISE[720:] + NOISE[:300])}),
        ({"logo": NEW}, DELETED + ADDED, {"new": Entry(b"\0", FileMode.EXECUTABLE)}),
        ({"logo": OLD}, LITERAL.rstrip(b"\n"), {"logo": Entry(NEW)}),
        ({"logo": OLD}, LITERAL.replace(b"\n", b"\r\n"), {"logo": Entry(NEW)}),
    ],
    ids=["literal", "deleted", "added", "delta", "two files", "end stripped", "in CRLF"],
)
def test_binary_files_are_patched(files, patch, expected):
    """What `git diff --binary` wrote gives the new contents, byte for byte."""
    assert applied(files, patch) == expected


@pytest.mark.parametrize(
    ("files", "patch", "reason"),
    [
        ({"logo": b"\0other"}, LITERAL, "not the one the patch was made from"),
        ({"logo": b"\0other"}, DELETED, "not the one the patch was made from"),
        ({"d": NOISE + b"\1"}, DELTA, "not the one the patch was made from"),
        ({"new": b"\0 other"}, ADDED, "already exists"),
        ({}, LITERAL, "no such file"),
        ({"logo": OLD}, LITERAL.replace(b"..55fb", b"..66fb"), "not those the patch names"),
        ({"d": NOISE}, WITHOUT_IDS, "does not name the binary contents by their full ids"),
        ({"logo": OLD}, ABBREVIATED, "does not name the binary contents by their full ids"),
    ],
)
def test_a_binary_patch_fits_only_what_it_was_made_from(files, patch, reason):
    """Binary contents have no context, so ids decide whether the patch fits."""
    assert reason in applied(files, patch)


def test_a_binary_patch_without_contents_is_refused():
    """Without `--binary`, git leaves the contents out."""
    said = b"diff --git a/logo b/logo\n" + IDS

    for words in (b"Binary files a/logo and b/logo differ\n", b"Files a/logo and b/logo differ\n"):
        patch = Patch.parse(said + words)

        assert patch.files[0].lacks_contents
        assert "does not contain the binary contents" in applied({"logo": OLD}, patch)


def test_a_block_of_many_lines_is_read():
    """Each line holds at most 52 bytes and names its length with a letter."""
    data = NOISE * 3
    lines = packed(data)

    change, at = read_change(lines, 0)

    assert change == BinaryChange(kind=BinaryKind.LITERAL, data=data)
    assert at == len(lines)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "has no contents"),
        ([b"literally 5\n"], "has no contents"),
        ([b"literal 1234567890123\n"], "has no contents"),
        ([b"literal 268435457\n", b"\n"], "claims 268435457 bytes"),
        ([b"literal 5\n", b"\n"], "does not have its stated length"),
        ([b"literal 5\n", b"!cmZ\n"], "states no valid length"),
        ([b"literal 5\n", "é\n".encode()], "states no valid length"),
        ([b"literal 5\n", b'A"""""\n'], "not base 85"),
        ([b"literal 5\n", b"A~~~~~\n"], "not base 85"),
        ([b"literal 5\n", b"Z00000\n"], "wrong length"),
        ([b"literal 5\n", b"A0000000000\n"], "wrong length"),
        ([b"literal 5\n", b"D00000\n", b"\n"], "does not inflate"),
        (packed(b"12345", size=4), "does not have its stated length"),
        (packed(b"12345", size=6), "does not have its stated length"),
        (packed(b"\0" * 10**6, size=10), "does not have its stated length"),
        ([*packed(NOISE)[:5], b"\n"], "does not have its stated length"),
        ([*packed(b"12345")[:-1], b"literal 5\n"], "wrong length|known length|base 85"),
    ],
)
def test_a_broken_block_is_refused(lines, words):
    """Nothing in it is trusted before it is checked, and memory is bounded."""
    with pytest.raises(PatchError, match=words) as caught:
        read_change(lines, 0)

    assert caught.value.line


def test_a_block_whose_check_sum_is_cut_off_is_refused():
    """All bytes are present, but nothing proves that they are correct."""
    squeezed = zlib.compress(b"12345")[:-4]
    line = bytes([ord("A") - 1 + len(squeezed)]) + base64.b85encode(squeezed, pad=True)

    with pytest.raises(PatchError, match="stated length"):
        read_change([b"literal 5\n", line + b"\n", b"\n"], 0)


# Old length, new length, then copies (0x80 and up) and insertions.
@pytest.mark.parametrize(
    ("delta", "new"),
    [
        (b"\x03\x00", b""),
        (b"\x03\x03\x90\x03", b"abc"),
        (b"\x03\x02\x91\x01\x02", b"bc"),
        (b"\x03\x02\x02xy", b"xy"),
        (b"\x03\x04\x01x\x90\x03", b"xabc"),
        (b"\x03\x06\x90\x03\x90\x03", b"abcabc"),
    ],
)
def test_deltas_copy_and_insert(delta, new):
    """A copy has an offset and a length; omitted bytes are zero."""
    assert apply_change(BinaryChange(kind=BinaryKind.DELTA, data=delta), b"abc") == new


def test_a_copy_without_length_is_of_64_kilobytes():
    """Git saves two bytes this way."""
    old = bytes(0x10000)
    size = b"\x80\x80\x04"

    assert apply_change(BinaryChange(kind=BinaryKind.DELTA, data=size * 2 + b"\x80"), old) == old


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        (b"", "ends too early"),
        (b"\x03", "ends too early"),
        (b"\xff" * 20, "made from other contents"),
        (b"\x04\x00", "made from other contents"),
        (b"\x03\x01", "does not give its stated length"),
        (b"\x03\x01\x02xy", "does not give its stated length"),
        (b"\x03\x05\x05xy", "does not give its stated length"),
        (b"\x03\x03\x00", "reserved instruction"),
        (b"\x03\x03\x90", "ends too early"),
        (b"\x03\x03\x90\x04", "copies from beyond"),
        (b"\x03\x03\x91\x03\x01", "copies from beyond"),
        (b"\x03\xff\xff\xff\xff\x7f\x90\x03", "claims"),
    ],
)
def test_a_broken_delta_is_refused(delta, words):
    """A delta never reads beyond its source or produces more than it claims."""
    with pytest.raises(PatchError, match=words):
        apply_change(BinaryChange(kind=BinaryKind.DELTA, data=delta), b"abc")


def test_a_delta_that_repeats_itself_stops_at_its_size():
    """A few bytes cannot ask for gigabytes."""
    greedy = b"\x03\x03" + b"\x90\x03" * 10**6

    with pytest.raises(PatchError, match="does not give its stated length"):
        apply_change(BinaryChange(kind=BinaryKind.DELTA, data=greedy), b"abc")
