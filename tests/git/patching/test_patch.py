"""A patch as a value: its sources, and equality."""

import pytest
from patch_texts import BINARY, DIFF, PLAIN, RENAME

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.patch import Patch


@pytest.mark.parametrize("data", [None, 1, ["--- a/x"], object()])
def test_a_patch_of_another_type_is_refused(data):
    """It is the caller's mistake, not a malformed patch."""
    with pytest.raises(TypeError, match="data must be bytes, "):
        Patch.parse(data)


def test_files_are_in_the_order_of_the_text():
    """One file may occur twice; paths are sorted and unique."""
    data = DIFF + RENAME + BINARY + PLAIN

    patch = Patch.parse(data)

    assert [file.path for file in patch.files] == ["x", "y", "l", "x"]
    assert patch.paths == ("l", "x", "y")
    assert patch.data == data


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\t\n", ""])
def test_blank_text_is_an_empty_patch(data):
    """An agent may change nothing."""
    assert Patch.parse(data).files == ()


def test_a_patch_may_be_bytes_text_or_parsed(tmp_path):
    """All are the same patch; a file is read as bytes."""
    data = DIFF.replace(b"new", b"n\xe9w\r")
    (tmp_path / "x.diff").write_bytes(data)
    patch = Patch.parse(data)

    assert Patch.parse(patch) is patch
    assert Patch.parse(bytearray(data)) == patch
    assert Patch.parse(data.decode("utf-8", "surrogateescape")) == patch
    assert Patch.read(tmp_path / "x.diff") == patch


def test_equality_ignores_the_text_of_a_patch():
    """Prose makes no difference; changes to files do."""
    assert Patch.parse(b"Dear all,\n" + DIFF + b"-- \nAnn\n") == Patch.parse(DIFF)
    assert Patch.parse(DIFF) != Patch.parse(PLAIN)


def test_some_files_of_a_patch_are_a_patch():
    """It has no text, because the original text describes more files."""
    patch = Patch.parse(DIFF + RENAME)

    some = patch.select(patch.files[1:])

    assert (some.paths, some.data) == (("x", "y"), b"")


def test_a_file_that_cannot_be_read_is_not_a_patch(tmp_path):
    """The error names the file."""
    with pytest.raises(PatchError, match="No such file") as caught:
        Patch.read(tmp_path / "none.diff")

    assert caught.value.origin == str(tmp_path / "none.diff")
