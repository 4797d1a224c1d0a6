"""Patches that forge a verdict end as failed or inconclusive, never as passed.

Each replaces an agent's patch: the code under test returns the wrong answer, and other
files or code of the patch try to make the benchmark's test pass anyway.
"""

import pytest

from cooperbench_eval.models import Entry, TestStatus
from cooperbench_eval.running import TestRunner, TestSuite, files_that_name_a_framework
from cooperbench_eval.snapshot import Changes, Snapshot

BASE = Snapshot.from_files(
    {
        "src/product.py": b"def answer(): return 0\n",
        "tests/test_old.py": b"def test_old(): pass\n",
        "tests/test_import.py": b"import product\ndef test_import(): pass\n",
        "conftest.py": b"# the project's own\n",
        "run_tests.sh": b"exec python -m pytest -q\n",
    }
)
TESTS = Changes(
    {"tests/test_new.py": Entry(b"import product\ndef test_new(): assert product.answer() == 42\n")}
).diff(BASE)
SUITE = TestSuite(
    command=("python", "-m", "pytest", "-q"),
    patch=TESTS,
    env={"PYTHONPATH": "src:.", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    timeout_seconds=30,
)
FLIP = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome = "passed"
"""
DESELECT = """
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if "new" not in item.name]
"""
PRINT = "print('Tests: 999 passed\\n===== 999 passed in 0.01s =====')\n"
EXIT = PRINT + "import os\nos._exit(0)\n"
FORGE_RESULT = """
import os, re
path = re.search(r"--junitxml=(\\S+)", os.environ["PYTEST_ADDOPTS"])[1].strip("'")
with open(path, "w") as file:
    file.write('<testsuites><testsuite><testcase classname="tests.test_old" name="test_old"/>'
               '</testsuite></testsuites>')
os._exit(0)
"""
SKIP = "import pytest\npytest.skip('not today', allow_module_level=True)\n"

IN_STEERING_FILES = {
    "a conftest that prints and exits": {"conftest.py": EXIT},
    "a conftest that flips outcomes": {"conftest.py": FLIP},
    "a conftest that deselects": {"tests/conftest.py": DESELECT},
    "a conftest that collects nothing": {
        "conftest.py": "collect_ignore_glob = ['tests/test_new*']\n"
    },
    "a sitecustomize that exits": {"sitecustomize.py": EXIT},
    "a usercustomize that exits": {"src/usercustomize.py": EXIT},
    "an ini file that deselects": {
        "pytest.ini": "[pytest]\naddopts = --deselect=tests/test_new.py\n"
    },
    "an ini file with a plug-in": {"pytest.ini": "[pytest]\naddopts = -p evil\n", "evil.py": FLIP},
    "settings with a plug-in": {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p evil'\n",
        "evil.py": FLIP,
    },
    "settings that look elsewhere": {
        "pytest.toml": "[pytest]\npython_files = ['nothing_*.py']\n",
        "tox.ini": "[pytest]\npython_files = nothing_*.py\n",
    },
    "an installed plug-in": {
        "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
        "evil-1.0.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
        "evil.py": FLIP,
    },
    "a sitecustomize that is a package": {"src/sitecustomize/__init__.py": EXIT},
    "a package in place of the new test": {
        "tests/test_new/__init__.py": "import os\n__file__ = os.path.dirname(__file__) + '.py'\n"
        "def test_new(): pass\n"
    },
    "a module in place of pytest": {"pytest.py": EXIT},
    "a package in place of pytest's": {"src/_pytest/__init__.py": EXIT},
    "a module in place of the standard library's": {"src/xml.py": EXIT, "argparse.py": EXIT},
}
IN_THE_PRODUCT = {
    "prints a summary": PRINT,
    "prints and exits": EXIT,
    "exits at the end": "import atexit, os\natexit.register(os._exit, 0)\n",
    "writes a result with the old test and exits": FORGE_RESULT,
    "skips the test": SKIP,
    "raises a skip": "import unittest\ndef answer(): raise unittest.SkipTest('not today')\n",
    "expects to fail": "import pytest\ndef answer(): pytest.xfail('not today')\n",
    "rewrites the test before it is read": (
        "import os\n"
        "tests = os.path.join(os.path.dirname(__file__), '..', 'tests', 'test_new.py')\n"
        "with open(tests, 'w') as file: file.write('def test_new(): pass\\n')\n"
    ),
    "replaces the result before": FORGE_RESULT.replace("os._exit(0)", ""),
    "leaves a process that writes it later": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(0.3)\n"
        + "\n".join("    " + line for line in FORGE_RESULT.splitlines())
        + "\n"
    ),
}


WITH_PLUGINS = TestSuite(
    command=SUITE.command,
    patch=TESTS,
    env=dict(SUITE.env) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""},
    timeout_seconds=30,
)


def run(files, suite=SUITE, runner=None):
    """Run the suite on the base with a patch's files."""
    if any(path.startswith("evil-1.0") for path in files):
        suite = WITH_PLUGINS
    changes = Changes({path: Entry(text.encode()) for path, text in files.items()})
    return (runner or TestRunner()).run(BASE, changes, suite)


@pytest.fixture(scope="module")
def one_runner():
    """Return a shared runner; a patch that has no effect leaves the base, which runs only once."""
    return TestRunner()


@pytest.mark.parametrize("name", IN_STEERING_FILES)
def test_files_that_control_the_run_have_no_effect(name, one_runner):
    """The base's version of them is restored, and the report names them."""
    result = run(IN_STEERING_FILES[name], runner=one_runner)

    assert result.status is TestStatus.FAILED
    assert {case.id: case.status.value for case in result.cases} == {
        "tests/test_import.py::test_import": "passed",
        "tests/test_new.py::test_new": "failed",
        "tests/test_old.py::test_old": "passed",
    }
    assert set(result.restored_files) == IN_STEERING_FILES[name].keys() - {"evil.py"}


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "a conftest that flips outcomes",
        "a conftest that deselects",
        "a conftest that collects nothing",
        "an ini file that deselects",
        "an ini file with a plug-in",
        "settings with a plug-in",
        "an installed plug-in",
    ],
)
def test_these_would_pass_without_our_checks(name):
    """With the patch's own files, and without required tests, the forgery succeeds."""
    runner = TestRunner(control_files="keep", require_new_tests=False)

    assert run(IN_STEERING_FILES[name], runner=runner).status is TestStatus.PASSED


@pytest.mark.parametrize("name", IN_THE_PRODUCT)
def test_code_under_test_cannot_pass_by_itself(name):
    """It can change pytest, in whose process it runs, but not the list of required tests."""
    product = "def answer(): return 0\n" + IN_THE_PRODUCT[name]

    result = run({"src/product.py": product})

    assert result.status in {TestStatus.FAILED, TestStatus.INCONCLUSIVE}
    assert not result.restored_files


def test_an_overwritten_script_is_restored_for_the_next_run():
    """A file that a run overwrites is restored after the run."""
    script = ("sh", "run_tests.sh")
    suite = TestSuite(command=script, patch=TESTS, env=dict(SUITE.env), timeout_seconds=30)
    runner = TestRunner(cache=None)
    evil = "open('run_tests.sh', 'w').write('exit 0')\nopen('src/product.py', 'w').write('')\n"

    first = run({"src/product.py": "def answer(): return 0\n" + evil}, suite, runner)
    second = run({}, suite, runner)

    assert first.status is second.status is TestStatus.FAILED
    assert sorted(case.status for case in second.cases) == ["failed", "passed", "passed"]


def test_a_script_that_runs_the_tests_comes_from_the_base():
    """A patch to the script is removed, like a patch to any file that controls the run."""
    suite = TestSuite(
        command=("sh", "run_tests.sh"), patch=TESTS, env=dict(SUITE.env), timeout_seconds=30
    )

    result = run({"run_tests.sh": "exec python -m pytest -q tests/test_old.py\n"}, suite)

    assert (result.status, result.restored_files) == (TestStatus.FAILED, ("run_tests.sh",))


def test_a_tree_that_hides_a_test_from_its_framework_is_detected():
    """The required tests are also looked up in the base, where the agent changed nothing."""
    base = Snapshot.from_files(
        {
            "pkg/__init__.py": b"",
            "test_old.py": b"import unittest\n"
            b"class Old(unittest.TestCase):\n    def test_old(self): pass\n",
        }
    )
    text = b"import unittest\nclass New(unittest.TestCase):\n    def test_new(self): self.fail()\n"
    suite = TestSuite(
        command=("python", "-m", "unittest"),
        patch=Changes({"pkg/test_new.py": Entry(text)}).diff(base),
        framework="unittest",
        timeout_seconds=30,
    )
    hiding = b"def load_tests(loader, tests, pattern): return tests.__class__()\n"
    runner = TestRunner()

    honest = runner.run(base, Changes(), suite)
    forged = runner.run(base, Changes({"pkg/__init__.py": Entry(hiding)}), suite)

    assert honest.status is TestStatus.FAILED
    assert forged.status is TestStatus.INCONCLUSIVE
    assert forged.missing_tests == ("pkg.test_new.New.test_new",)


def test_a_word_in_data_does_not_excuse_a_skip():
    """Only the test's own file, and files that control it, may provide for a skip."""
    data = Changes.between(
        BASE, BASE.overlay(Changes({"tests/data.txt": Entry(b"never skip a test\n")}))
    )
    patch = TESTS + data.diff(BASE)
    suite = TestSuite(command=SUITE.command, patch=patch, env=dict(SUITE.env), timeout_seconds=30)
    skipping = "import unittest\ndef answer(): raise unittest.SkipTest('not today')\n"

    assert run({"src/product.py": skipping}, suite).status is TestStatus.INCONCLUSIVE


def test_a_test_may_declare_a_skip_or_an_expected_failure():
    """The benchmark's own file declares it."""
    text = b"""\
import pytest
@pytest.mark.skip
def test_later(): pass
@pytest.mark.xfail
def test_bug(): assert 0
"""
    patch = Changes({"tests/test_more.py": Entry(text)}).diff(BASE)
    suite = TestSuite(command=SUITE.command, patch=patch, env=dict(SUITE.env), timeout_seconds=30)

    assert run({}, suite).status is TestStatus.PASSED


def test_a_process_that_stays_does_not_edit_the_next_run():
    """It is killed together with the run that started it."""
    evil = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            open(__file__, "w").write("def answer(): return 42\\n")
            time.sleep(0.01)
    os._exit(0)
def answer(): return 0
"""
    runner = TestRunner(cache=None)

    assert run({"src/product.py": evil}, runner=runner).status is not TestStatus.PASSED
    assert run({}, runner=runner).status is TestStatus.FAILED


def test_an_honest_patch_passes():
    """With or without a controlling file; files of the tests patch itself stay."""
    good = {"src/product.py": "def answer(): return 42\n"}

    assert run(good).status is TestStatus.PASSED
    assert run(good | {"conftest.py": EXIT}).status is TestStatus.PASSED


def test_required_tests_can_be_named_or_waived():
    """The caller may know better than the patch shows."""
    good = {"src/product.py": "def answer(): return 42\n"}
    named = TestSuite(
        command=SUITE.command,
        patch=TESTS,
        env=dict(SUITE.env),
        required=["tests/test_new.py::other"],
    )
    forged = {"src/product.py": "def answer(): return 0\n" + FORGE_RESULT}

    missing, waived = run(good, named), run(forged, runner=TestRunner(require_new_tests=False))

    assert missing.status is TestStatus.INCONCLUSIVE
    assert missing.missing_tests == ("tests/test_new.py::other",)
    assert "tests/test_new.py::other" in missing.reason
    assert waived.status is TestStatus.PASSED


def test_an_unpreventable_forgery_leaves_a_trace():
    """Code that knows the new test's name can write a whole result; the report hints at it."""
    forged = FORGE_RESULT.replace("test_old", "test_new")
    changes = Changes({"src/product.py": Entry(forged.encode())})

    result = TestRunner().run(BASE, changes, SUITE)

    assert result.status is TestStatus.PASSED  # the threat model says so
    assert files_that_name_a_framework(BASE, changes) == ("src/product.py",)


def test_a_run_that_failed_also_lists_the_required_tests_that_did_not_run():
    """Its status stays; whoever excuses the failure must know what was not tested."""
    named = TestSuite(
        command=SUITE.command,
        patch=TESTS,
        env=dict(SUITE.env),
        required=["tests/test_new.py::other"],
    )

    failed = run({"src/product.py": "def answer(): return 0\n"}, named)

    assert failed.status is TestStatus.FAILED
    assert failed.missing_tests == ("tests/test_new.py::other",)
