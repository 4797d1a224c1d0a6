"""Result files that hostile code may have written."""

import os

import pytest

from cooperbench_eval.running.readers.result_files import UnreadableResultError, read_result_file


def test_a_plain_file_is_read(tmp_path):
    """Its bytes are returned."""
    file = tmp_path / "result"
    file.write_bytes(b"\xff\n")

    assert read_result_file(file) == b"\xff\n"


def test_a_missing_file_is_an_error(tmp_path):
    """The error says that nothing was written."""
    with pytest.raises(UnreadableResultError, match="no result file was written"):
        read_result_file(tmp_path / "result")


def test_a_link_is_not_followed(tmp_path):
    """The file that a link points at is not read, even if it is a good result."""
    (tmp_path / "other").write_text("<testsuites/>")
    (tmp_path / "result").symlink_to("other")

    with pytest.raises(UnreadableResultError, match="cannot be read"):
        read_result_file(tmp_path / "result")


def test_a_pipe_does_not_block(tmp_path):
    """A pipe is refused at once, since it is not a plain file."""
    os.mkfifo(tmp_path / "result")

    with pytest.raises(UnreadableResultError, match="not a plain file"):
        read_result_file(tmp_path / "result")


def test_a_giant_file_is_not_read(tmp_path):
    """A file larger than 64 MiB is refused."""
    with (tmp_path / "result").open("wb") as file:
        file.truncate((64 << 20) + 1)

    with pytest.raises(UnreadableResultError, match="larger than"):
        read_result_file(tmp_path / "result")
