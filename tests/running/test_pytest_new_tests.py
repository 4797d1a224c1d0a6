"""Finding the Python tests that a patch adds."""

import pytest
from _pytest.mark.expression import Expression
from hypothesis import given
from hypothesis import strategies as st

from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.running.readers.pytest_reader import PYTEST_READER
from cooperbench_eval.running.readers.pytest_selection import keyword_holds
from cooperbench_eval.running.results import TestCase

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


def required(after, command=PYTEST, path="t/test_a.py", before=None, cases=(), **more):
    """Return the tests that a patch to one file requires."""
    files = {} if before is None else {path: before}
    files |= more.pop("files", {})
    old = Snapshot.from_files({name: text.encode() for name, text in files.items()})
    new = old.overlay(Changes({path: Entry(after if isinstance(after, bytes) else after.encode())}))
    return PYTEST_READER.required(
        NewTests(before=old, after=new, paths=(path,), command=command, cases=cases, **more)
    )


def test_new_and_changed_functions_are_named():
    """Only functions that pytest surely collects by default are named."""
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
    """Pytest itself will report what is wrong with it."""
    assert required(text) == ()


@pytest.mark.parametrize("path", ["t/helper.py", "t/test_a.txt", "t/tests.py", "conftest.py"])
def test_only_files_that_pytest_looks_into_count(path):
    """The default names are used."""
    assert required("def test_a(): pass\n", path=path) == ()


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (("pytest",), True),
        (("/usr/bin/py.test", "-v", "-x", "--tb=short", "--maxfail=1"), True),
        (("timeout", "300", "python", "-m", "pytest", "t/test_a.py"), True),
        ((*PYTEST, "./t/", "-p", "no:cacheprovider"), True),
        ((*PYTEST, "-n", "2", "--tb", "short", "t"), True),
        ((*PYTEST, "--cov=src", "--color=yes", "--continue-on-collection-errors"), True),
        ((*PYTEST, "-pno:cacheprovider", "-Wignore::x", "-rsk", "-xvs"), True),
        ((*PYTEST, "--cov", "src", "--junitxml", "r.xml", "--cov", "-rm", "t"), True),
        ((*PYTEST, "-o", "log_cli=1", "--maxfail", "1", "--", "t"), True),
        (("uv", "run", "pytest", "-q"), True),
        ((*PYTEST, "-o", "addopts=-k a"), False),
        ((*PYTEST, "--cov", "-k", "b"), False),
        ((*PYTEST, "--cov", "-k", "a"), True),
        ((*PYTEST, "--lf"), False),
        ((*PYTEST, "-xm", "slow"), False),
        ((*PYTEST, "-p", "no:python"), False),
        (("sh", "-c", "echo", "pytest"), False),
        ((*PYTEST, "other"), False),
        ((*PYTEST, "t/test_b.py"), False),
        ((*PYTEST, "-k", "a and not slow"), True),
        ((*PYTEST, "-k", "TEST_A or b"), True),
        ((*PYTEST, "-k", "not a"), False),
        ((*PYTEST, "-k", "not pass"), False),
        ((*PYTEST, "-k", "pass"), False),
        ((*PYTEST, "-k", "(a"), False),
        ((*PYTEST, "-kb"), False),
        ((*PYTEST, "-ka"), True),
        ((*PYTEST, "-vk", "b"), False),
        ((*PYTEST, "t/test_a.py::test_a"), True),
        ((*PYTEST, "t/test_b.py", "t/test_a.py::test_a[x]", "-k", "a"), True),
        ((*PYTEST, "t/test_a.py::test"), False),
        ((*PYTEST, "--deselect", "t/test_a.py::test_b", "--ignore", "t/test_b.py"), True),
        ((*PYTEST, "--deselect=t/test_a.py::test_a[1]"), False),
        ((*PYTEST, "-m", "slow"), False),
        ((*PYTEST, "t/test_a.py::test_b"), False),
        ((*PYTEST, "--deselect", "t/test_a.py"), False),
        ((*PYTEST, "--ignore=t"), False),
        ((*PYTEST, "--collect-only"), False),
        ((*PYTEST, "-c", "other.ini"), False),
        ((*PYTEST, "@arguments"), False),
    ],
)
def test_only_tests_that_the_command_surely_runs_are_required(command, found):
    """One name too many would make an honest run inconclusive."""
    assert bool(required("def test_a(): pass\n", command)) is found


def test_if_a_script_hides_its_command_the_run_shows_the_files():
    """If some tests of a file ran, all of its new tests should have run."""
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
        ("t/test_a.py::test_a[a::b[1]]", True),
        ("test_a.py::test_a", False),
        ("t/test_a.py::test_ab", False),
        ("t/test_a.py::TestA::test_a", False),
        ("other/t/test_a.py::test_a", False),
        ("a.py::test_a", False),
    ],
)
def test_a_case_covers_its_function(case, covered):
    """Parameters do not matter; a function of the same name in another folder does not count."""
    found = PYTEST_READER.covers(TestCase(id=case, status="passed"), "t/test_a.py::test_a")

    assert found is covered


def test_a_bracket_in_a_folders_name_is_not_a_parameter():
    """Parameters come after the function."""
    case = TestCase(id="a[b]/test_a.py::test_a[1]", status="passed")

    assert PYTEST_READER.covers(case, "a[b]/test_a.py::test_a")


@pytest.mark.parametrize(
    ("status", "covered"), [("skipped", True), ("error", True), ("failed", False)]
)
def test_a_file_that_skips_itself_or_cannot_be_collected_covers_its_functions(status, covered):
    """With `pytest.importorskip` or a syntax error, the file is the only case."""
    case = TestCase(id="t/test_a.py", status=status)

    assert PYTEST_READER.covers(case, "t/test_a.py::test_a") is covered
    assert not PYTEST_READER.covers(case, "t/test_a.pyx::test_a")


def test_ids_begin_at_pytests_root_directory():
    """The cases show which folder that is; another file of the same name does not count."""
    text = "def test_a(): pass\n"
    case = TestCase(id="test_a.py::test_b", status="passed")

    assert required(text, cases=(case,)) == ("test_a.py::test_a",)
    assert required(text, cases=(case,), files={"test_a.py": text}) == ("t/test_a.py::test_a",)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"pytest.ini": "[pytest]\naddopts = -q --strict-markers\n"}, True),
        ({"pytest.ini": "[pytest]\naddopts = -m 'not slow'\n"}, False),
        ({"pytest.ini": "[pytest]\naddopts = -k'a\n"}, False),
        ({"t/pytest.ini": "[pytest]\naddopts = -kb\n"}, False),
        ({"other/pytest.ini": "[pytest]\naddopts = -kb\n"}, True),
        ({"tox.ini": "[pytest]\npython_files = test_*.py tests.py\n"}, True),
        ({"tox.ini": "[pytest]\npython_files = check_*.py\n"}, False),
        ({"setup.cfg": "[tool:pytest]\ntestpaths = t\n"}, True),
        ({"setup.cfg": "[tool:pytest]\ntestpaths = other\n    more\n"}, False),
        ({"setup.cfg": "[metadata]\nname = x\n"}, True),
        ({"setup.cfg": "no section\n"}, False),
        ({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['-m', 'not slow']\n"}, False),
        ({"pyproject.toml": "[tool.pytest.ini_options]\npython_functions = 'check_*'\n"}, False),
        ({"pyproject.toml": "[tool.pytest.ini_options]\npython_functions = 'test_*'\n"}, True),
        ({"pyproject.toml": "[tool.pytest.ini_options]\nnorecursedirs = 't'\n"}, False),
        ({"pyproject.toml": "[tool.pytest]\ntestpaths = ['u', 't']\n"}, True),
        ({"pyproject.toml": "[tool.pytest.ini_options\n"}, False),
        ({"conftest.py": "collect_ignore = ['t']\n"}, False),
        ({"conftest.py": "import pytest\n"}, True),
    ],
)
def test_settings_of_the_tree_may_leave_tests_out(files, found):
    """Tests that they deselect, rename or ignore are not required."""
    assert bool(required("def test_a(): pass\n", files=files)) is found


def test_settings_may_leave_out_classes():
    """Classes of unittest are an exception: pytest collects them under any name."""
    text = (
        "class TestA:\n    def test_a(self): pass\n"
        "class TestB(unittest.TestCase):\n    def test_b(self): pass\n"
    )
    files = {"pytest.ini": "[pytest]\npython_classes = Check\n"}

    assert required(text, files=files) == ("t/test_a.py::TestB::test_b",)


def test_testpaths_do_not_matter_if_the_command_names_a_path():
    """Pytest ignores the setting then."""
    files = {"pytest.ini": "[pytest]\ntestpaths = other\n"}

    assert required("def test_a(): pass\n", (*PYTEST, "t"), files=files) != ()


@pytest.mark.parametrize("options", ["-k b", "-q -m slow", "'"])
def test_options_of_the_environment_select_too(options):
    """They work as if they were part of the command."""
    assert required("def test_a(): pass\n", env={"PYTEST_ADDOPTS": options}) == ()
    assert required("def test_a(): pass\n", env={"PYTEST_ADDOPTS": "-q"}) != ()


@pytest.mark.parametrize(
    "folder", ["build", "dist", "venv", "node_modules", ".hidden", "a.egg", "_darcs", "CVS"]
)
def test_folders_that_pytest_leaves_out_are_left_out(folder):
    """This concerns the default settings."""
    assert required("def test_a(): pass\n", path=f"{folder}/t/test_a.py") == ()


@pytest.mark.parametrize(
    "text",
    [
        "@parameterized.expand([1])\ndef test_a(): pass\n",
        "@wrapped\ndef test_a(): pass\n",
        "@pytest.mark.parametrize('n', [])\ndef test_a(n): pass\n",
        "def test_a(): pass\ndel test_a\n",
        "def test_a(): pass\ntest_a = None\n",
        "def test_a(): pass\nfrom other import test_a\n",
        "def test_a(): pass\n@pytest.fixture\ndef test_a(): pass\n",
        "def test_a(): pass\n__test__ = False\n",
        "class TestA(Base):\n    def test_a(self): pass\n",
        "class TestA(Base, unittest.TestCase):\n    def test_a(self): pass\n",
        "class TestA(metaclass=Meta):\n    def test_a(self): pass\n",
        "@parameterized_class('n', [])\nclass TestA(TestCase):\n    def test_a(self): pass\n",
        "class TestA(TestCase):\n    __test__ = False\n    def test_a(self): pass\n",
        "class TestA:\n    def test_a(self): pass\ndel TestA\n",
        "class TestA:\n    def test_a(self): pass\n    test_a = None\n",
        "class TestA:\n    def __new__(cls): pass\n    def test_a(self): pass\n",
    ],
)
def test_functions_that_may_not_be_collected_are_not_required(text):
    """They are renamed, removed, hidden, without parameters, or have an unknown base class."""
    assert required(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.parametrize('n', [1, 2])\ndef test_a(n): pass\n",
        "@pytest.mark.parametrize(('n', 'm'), [(1, [])], ids=[])\ndef test_a(n, m): pass\n",
        "@pytest.mark.parametrize('n', range(3))\n@pytest.mark.slow\ndef test_a(n): pass\n",
        "@mock.patch('a.b')\n@patch.object(a, 'b')\ndef test_a(x, y): pass\n",
        "@pytest.mark.slow\nclass TestA(object):\n    def test_a(self): pass\n",
        "class ATest(django.test.TestCase):\n    def test_a(self): pass\n",
    ],
)
def test_known_decorators_and_bases_keep_a_test(text):
    """They do not rename or remove it."""
    assert len(required(text)) == 1


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("python -m pytest -q\n", True),
        ("pytest $FILES\n", True),
        ("python -m pytest \\\n  -k new\n", False),
        ("pytest t/test_a.py::test_b && echo ok\n", False),
        ("pytest -m slow; true\n", False),
    ],
)
def test_a_script_that_selects_requires_nothing(script, found):
    """The selection is found in the text of the command and of the tree's scripts."""
    case = TestCase(id="t/test_a.py::test_b", status="passed")
    text, files = "def test_a(): pass\n", {"run.sh": script}

    assert bool(required(text, ("sh", "./run.sh"), cases=(case,), files=files)) is found
    assert bool(required(text, ("sh", "-c", script), cases=(case,))) is found


def test_a_deep_expression_does_not_stop_the_search():
    """Expressions too deep for Python's stack may be in the data of a test file."""
    data = "DATA = " + "+".join(["1"] * 500) + "\n"

    assert required(data + "def test_a(): pass\n") == ("t/test_a.py::test_a",)


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("pytest t/test_a.py -k new", True),
        ("cd t && pytest test_a.py::test_new", True),
        ("pytest -k 'new or old' t", True),
        ("pytest -k new; pytest -k new t/test_a.py", True),
        ("pytest t/test_a.py -k old", False),
        ("pytest t/test_a.py -k new; pytest -k old", False),
        ("pytest t/test_a.py -k new; pytest t/test_b.py -k old", True),
        ("pytest t/test_b.py -k new", False),
        ("pytest -k $1", False),
        ("pytest $1 -k new; pytest -k old $2", False),
        ("pytest -m new", False),
    ],
)
def test_each_call_of_a_script_must_select_a_test(script, found):
    """Any of them may have run the file that is reported."""
    cases = [TestCase(id="t/test_a.py::test_x", status="passed")]

    names = required("def test_new(): pass\n", ("sh", "-c", script), cases=cases)

    assert names == (("t/test_a.py::test_new",) if found else ())


NAMES = ("test_one", "TestTwo", "test_file.py")
WORDS = st.sampled_from(["one", "TWO", "file", "absent", "test_one", "or_", "not1"])
EXPRESSIONS = st.recursive(
    WORDS,
    lambda inner: st.one_of(
        inner.map("not {}".format),
        inner.map("({})".format),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_keywords_are_evaluated_as_pytest_does(expression):
    """A word that is nowhere in the file matches nothing."""

    def matches(word, /, **_):
        return any(word.lower() in name.lower() for name in NAMES)

    assert keyword_holds(expression, NAMES, "\n".join(NAMES)) is Expression.compile(
        expression
    ).evaluate(matches)


@given(EXPRESSIONS, st.dictionaries(WORDS, st.booleans()))
def test_a_keyword_is_unknown_if_it_may_be_a_mark(expression, marks):
    """A known value holds whatever the unknown words turn out to be."""
    found = keyword_holds(expression, (), "one TWO file absent test_one")

    def matches(word, /, **_):
        return word in "one TWO file absent test_one" and marks.get(word, False)

    assert found in {None, Expression.compile(expression).evaluate(matches)}


@pytest.mark.parametrize("expression", ["", "a b", "(a", "a)", "not", "a or", "a & b", "(" * 9000])
def test_an_expression_that_is_not_understood_is_unknown(expression):
    """Pytest will refuse it, or understands more than we do."""
    assert keyword_holds(expression, ("a", "b"), "") is None
