"""File names as diffs write them."""

import pytest
from patch_texts import CHANGE, git_diff, only_file

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.patch import Patch


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (b"a/x", b"b/x", "x"),
        (b"a/a/x", b"b/a/x", "a/x"),
        (b"a/b c b/x", b"b/b c b/x", "b c b/x"),
        (b"a/b/x", b"b/b/x", "b/x"),
        (b"i/src/x", b"w/src/x", "src/x"),
        (b"c/src/x", b"i/src/x", "src/x"),
        (b"o/src/x", b"w/src/x", "src/x"),
        (b"1/src/x", b"2/src/x", "src/x"),
        (b"src/x", b"src/x", "src/x"),
        (b"x", b"x", "x"),
        (b'"a/caf\\303\\251"', b'"b/caf\\303\\251"', "café"),
        (b'"a/caf\\351"', b'"b/caf\\351"', "caf\udce9"),
        (
            b'"a/\\"q\\" \\\\ \\t\\n\\a\\b\\v\\f\\r"',
            b'"b/\\"q\\" \\\\ \\t\\n\\a\\b\\v\\f\\r"',
            None,
        ),
        ("a/café".encode(), "b/café".encode(), "café"),
    ],
)
def test_names_lose_their_prefix_and_quotes(old, new, path):
    """Prefixes are default, mnemonic or absent; names are plain or quoted as in C."""
    path = '"q" \\ \t\n\a\b\v\f\r' if path is None else path

    file = only_file(git_diff(old, new))

    assert (file.old_path, file.new_path) == (path, path)
    modes = b"old mode 100644\nnew mode 100755\n"
    assert only_file(b"diff --git %b %b\n%b" % (old, new, modes)).paths == (path,)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (b"x y\t", "x y"),
        (b"x \t", "x "),
        (b'"\\303\\251 y"\t', "é y"),
        (b"x\t2024-05-06 07:08:09.000000000 +0200", "x"),
        (b"x  ", "x"),
        (b"x\r", "x"),
    ],
    ids=["tab", "space and tab", "quotes and tab", "date", "spaces alone", "CR"],
)
def test_text_after_a_name_is_not_part_of_it(name, path):
    """Git writes a tab after a name with a space; `diff` adds a date."""
    prefixed = [name.replace(b'"', b'"%b/' % side, 1) for side in (b"a", b"b")]
    if not name.startswith(b'"'):
        prefixed = [side + b"/" + name for side in (b"a", b"b")]

    assert only_file(b"--- %b\n+++ %b\n" % tuple(prefixed) + CHANGE).path == path


def test_only_one_name_may_be_quoted():
    """A file may be renamed to or from an odd name."""
    quoted = b'"b/\\303\\251"'
    out = b"diff --git a/x %b\nrename from x\nrename to %b\n" % (quoted, b'"\\303\\251"')
    back = b'diff --git "a/\\303\\251" b/x\nrename from "\\303\\251"\nrename to x\n'

    assert only_file(out).paths == ("x", "é")
    assert only_file(back).paths == ("é", "x")
    with pytest.raises(PatchError, match="names no file"):
        only_file(b"diff --git a/x %b\nold mode 100644\nnew mode 100755\n" % quoted)


def test_a_long_line_of_names_takes_linear_time():
    """A line of a megabyte is read quickly."""
    for name in (b"x " * 500_000 + b'"', b'"' + b"\\\\ " * 400_000, b'"a" ' * 250_000 + b'"'):
        with pytest.raises(PatchError):
            Patch.parse(b"diff --git " + name + b"\n")
