"""Which tests a patch brings, as its text shows them."""

import pytest

from cooperbench_eval.models import Entry, TestCase
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.running.readers.python.pytest_reader import PytestReader
from cooperbench_eval.snapshot import Changes, Snapshot

BEFORE = """\
import pytest
def test_kept(): pass
def test_changed(): pass
class TestOld:
    def test_kept(self): pass
    def test_changed(self): pass
"""
AFTER = """\
import pytest
def test_kept(): pass   # moved, and with a comment
def test_changed(): assert 1
async def test_new(): pass
def helper(): pass
@pytest.fixture
def test_data(): pass
def testify(): pass
class TestOld:
    def test_kept(self): pass
    def test_changed(self): assert 1
class TestNew:
    def test_one(self): pass
    def check(self): pass
class Helper:
    def test_none(self): pass
class Case(unittest.TestCase):
    def test_two(self): pass
class _Base(TestCase):
    def test_none(self): pass
class TestMade:
    def __init__(self): pass
    def test_none(self): pass
class TestHidden:
    __test__ = False
    def test_none(self): pass
if True:
    def test_perhaps(): pass
"""
PYTEST = ("python", "-m", "pytest")


def required(after, command=PYTEST, path="t/test_a.py", before=None, cases=()):
    """Return what a patch that changes one file requires."""
    old = Snapshot.from_files({} if before is None else {path: before.encode()})
    new = old.overlay(Changes({path: Entry(after if isinstance(after, bytes) else after.encode())}))
    return PytestReader().required(
        NewTests(before=old, after=new, paths=(path,), command=command, cases=cases)
    )


def test_new_and_changed_functions_are_named():
    """Where pytest looks by default, and nothing that may not be collected."""
    assert required(AFTER, before=BEFORE) == (
        "t/test_a.py::TestOld::test_changed",
        "t/test_a.py::TestNew::test_one",
        "t/test_a.py::Case::test_two",
        "t/test_a.py::test_changed",
        "t/test_a.py::test_new",
        "t/test_a.py::testify",
    )


@pytest.mark.parametrize(
    "text",
    ["", "x = '\\d'", "def test_(:", b"\xff\0", "x = " + "(" * 3000, "def test_a" + "()" * 3],
)
def test_a_file_that_cannot_be_read_names_nothing(text):
    """Pytest will say what is wrong with it."""
    assert required(text) == ()


@pytest.mark.parametrize("path", ["t/helper.py", "t/test_a.txt", "t/tests.py", "conftest.py"])
def test_only_files_that_pytest_looks_into_count(path):
    """By their default names."""
    assert required("def test_a(): pass\n", path=path) == ()


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (("pytest",), True),
        (("/usr/bin/py.test", "-v", "-x", "--tb=short", "--maxfail=1"), True),
        (("timeout", "300", "python", "-m", "pytest", "t/test_a.py"), True),
        ((*PYTEST, "./t/", "-p", "no:cacheprovider"), True),
        ((*PYTEST, "-n", "2", "--tb", "short", "t"), True),
        ((*PYTEST, "other"), False),
        ((*PYTEST, "t/test_b.py"), False),
        ((*PYTEST, "-k", "a"), False),
        ((*PYTEST, "-ka"), False),
        ((*PYTEST, "-vk", "a"), False),
        ((*PYTEST, "-m", "slow"), False),
        ((*PYTEST, "t/test_a.py::test_b"), False),
        ((*PYTEST, "--deselect", "t/test_a.py"), False),
        ((*PYTEST, "--ignore=t"), False),
        ((*PYTEST, "--collect-only"), False),
        ((*PYTEST, "-c", "other.ini"), False),
        ((*PYTEST, "@arguments"), False),
    ],
)
def test_only_what_the_command_surely_runs_is_required(command, found):
    """A name too many would make an honest run inconclusive."""
    assert bool(required("def test_a(): pass\n", command)) is found


def test_of_a_script_that_hides_its_command_the_run_tells_the_files():
    """What runs of a file runs all of its new tests."""
    script = ("bash", "run.sh")
    other = TestCase(id="t/test_b.py::test", status="passed")
    same = TestCase(id="t/test_a.py::test_b", status="passed")

    found = [required("def test_a(): pass\n", script, cases=c) for c in [(), (other,), (same,)]]

    assert found == [(), (), ("t/test_a.py::test_a",)]


@pytest.mark.parametrize(
    ("case", "covered"),
    [
        ("t/test_a.py::test_a", True),
        ("t/test_a.py::test_a[1-x]", True),
        ("test_a.py::test_a", True),
        ("t/test_a.py::test_ab", False),
        ("t/test_a.py::TestA::test_a", False),
        ("other/t/test_a.py::test_a", False),
        ("a.py::test_a", False),
    ],
)
def test_a_case_covers_the_function_it_is_of(case, covered):
    """Whatever its parameters, and whether ids start at the root or below it."""
    found = PytestReader().covers(TestCase(id=case, status="passed"), "t/test_a.py::test_a")

    assert found is covered
