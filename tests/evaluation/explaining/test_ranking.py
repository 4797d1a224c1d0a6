"""The order in which hunks are tried."""

import pytest

import cooperbench_eval as ce
from cooperbench_eval.evaluation.explaining.finding import names_in, names_of_tests, ranked
from cooperbench_eval.evaluation.explaining.splitting import SideHunk


def hunk(line, text, path="a.py", scope=b""):
    """A hunk with some text."""
    return SideHunk(path=path, line=line, text=text, scope=scope)


def test_hunks_that_share_names_with_the_tests_come_first():
    """A name that all hunks have counts less than one that few have."""
    hunks = [hunk(1, b"+value = other"), hunk(2, b"+value = limit"), hunk(3, b"+value = more")]

    found = ranked(hunks, [names_in(b"assert limit == value")])

    assert [each.line for each in found] == [2, 1, 3]


def test_the_definition_around_a_hunk_and_its_path_count_too():
    """The changed line itself need not name the function that it changes."""
    hunks = [hunk(1, b"+x"), hunk(2, b"+y", scope=b"def load(key):"), hunk(3, b"+z", "cache.py")]

    assert ranked(hunks, [names_in(b"load(1)")])[0].line == 2
    assert ranked(hunks, [names_in(b"cache.py:7: in get")])[0].line == 3


def test_documents_come_last():
    """They name everything and change no test."""
    hunks = [hunk(1, b"+limit limit", "README.md"), hunk(2, b"+x")]

    assert [each.line for each in ranked(hunks, [names_in(b"limit")])] == [2, 1]


@pytest.mark.parametrize("is_text", [True, False])
def test_the_names_of_a_lost_test_are_those_of_its_code(is_text):
    """Other tests of the suite, further away, do not matter."""
    code = [
        "def test_one():",
        "    assert alpha()",
        *["    pass"] * 40,
        "def test_two():",
        "    beta()",
    ]
    text = "".join(f"{line}\n" for line in code).encode()
    base, changes = ce.Snapshot.from_files({}), ce.Changes({"test_a.py": ce.Entry(text)})
    patch = changes.diff(base) if is_text else ce.Patch.of(changes)
    suite = ce.TestSuite(command=("pytest",), patch=patch)

    names = names_of_tests(suite, ["test_a.py::test_one[1-2]"], base)

    assert b"alpha" in names
    assert b"beta" not in names
