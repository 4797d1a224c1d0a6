"""Patches that forge a verdict end as failed or inconclusive, never as passed.

Each is tried in every sandbox: in bubblewrap by default, elsewhere with the long tests.
"""

import pytest
import toys
from container_images import engine, go_image, import_image, python_image  # noqa: F401 - fixtures
from forgeries import (
    AUTOLOADING_SUITE,
    BASE,
    BEFORE_THEY_ARE_READ,
    EXIT,
    FORGE_RESULT,
    GOOD_SUMS,
    IN_STEERING_FILES,
    IN_THE_PRODUCT,
    STEERED_SUITE,
    SUITE,
    SUMS,
    SUMS_SUITE,
    TESTS,
    changes_of,
    steering_of,
)
from needs import need_program

from cooperbench_eval import ContainerSandbox
from cooperbench_eval.git.patching.path_kinds import files_that_name_a_framework
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running import LocalSandbox, ResultCache, TestRunner, TestSuite
from cooperbench_eval.running.results import TestStatus


@pytest.fixture(
    params=[
        "bubblewrap",
        pytest.param("local", marks=pytest.mark.long),
        pytest.param("container", marks=pytest.mark.long),
    ]
)
def sandbox(request):
    """Return each sandbox."""
    if request.param == "local":
        return LocalSandbox()
    if request.param == "container":
        return ContainerSandbox(image=request.getfixturevalue("python_image"), pull=False)
    return request.getfixturevalue("bubblewrap")()


@pytest.fixture
def run(sandbox):
    """Return a function that runs a suite on the base with a patch's files."""

    def run(files, suite=SUITE, base=BASE, runner=None, **options):
        runner = runner or TestRunner(sandbox=sandbox, **options)
        return runner.run(base, changes_of(files), suite)

    return run


@pytest.fixture(scope="module")
def kept():
    """Return a cache of results; a patch that has no effect leaves the base, which runs once."""
    return ResultCache()


def mostly_long(names, usual):
    """Return parameters for all names; only the usual ones are in the default run."""
    assert usual <= set(names)
    return [n if n in usual else pytest.param(n, marks=pytest.mark.long) for n in names]


def steered(name):
    """Return the suite that a forgery tries to deceive; loading plug-ins is slow."""
    return AUTOLOADING_SUITE if "plug-in in" in name or "installed" in name else STEERED_SUITE


_USUAL_STEERING = {
    "a conftest that prints and exits",
    "a sitecustomize that exits",
    "settings with a plug-in",
    "an installed plug-in",
    "a plug-in in a folder with capitals",
    "a plug-in in an egg",
    "a sitecustomize in an archive",
    "a link in place of an import root",
    "a package in place of the conftest",
    "a module in place of pytest",
}


@pytest.mark.parametrize("name", mostly_long(IN_STEERING_FILES, _USUAL_STEERING))
def test_files_that_control_the_run_have_no_effect(name, run, kept):
    """The base's version of them is restored, and the report names them."""
    result = run(IN_STEERING_FILES[name], steered(name), cache=kept)

    assert result.status is TestStatus.FAILED
    assert {case.id: case.status.value for case in result.cases} == {
        "tests/test_import.py::test_import": "passed",
        "tests/test_new.py::test_new": "failed",
        "tests/test_old.py::test_old": "passed",
    }
    assert set(result.restored_files) == steering_of(IN_STEERING_FILES[name])


_STEERED = ("flips", "deselects", "collects nothing", "plug-in", "archive", "link", "the conftest")


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [n for n in IN_STEERING_FILES if any(word in n for word in _STEERED)]
)
def test_these_would_pass_without_our_checks(name):
    """With the patch's own files, and without required tests, the forgery succeeds."""
    runner = TestRunner(control_files="keep", require_new_tests=False)

    result = runner.run(BASE, changes_of(IN_STEERING_FILES[name]), steered(name))

    assert result.status is TestStatus.PASSED


@pytest.mark.parametrize("name", IN_THE_PRODUCT)
def test_code_under_test_cannot_pass_by_itself(name, run):
    """It can change pytest, in whose process it runs, but not the list of required tests."""
    product = "def answer(): return 0\n" + IN_THE_PRODUCT[name]

    result = run({"src/product.py": product})

    assert result.status in {TestStatus.FAILED, TestStatus.INCONCLUSIVE}
    assert not result.restored_files


_USUAL_CHANGES = {
    "new tests, with their size and times",
    "an old test, restored at exit",
    "data, for good",
}


@pytest.mark.parametrize("name", mostly_long(BEFORE_THEY_ARE_READ, _USUAL_CHANGES))
def test_files_that_the_run_changes_are_detected(name, run):
    """The result names one of them, even if they are restored with their times."""
    file, product = BEFORE_THEY_ARE_READ[name]

    result = run({"src/product.py": product}, SUMS_SUITE, SUMS)

    assert result.status is TestStatus.INCONCLUSIVE
    assert result.reason.startswith("the run changed tests/")
    assert file in result.reason
    assert result.cases


def test_tests_that_change_no_test_are_believed(run):
    """They may write other files, even next to the tests."""
    writes = "import pathlib\n(pathlib.Path('tests') / 'made.txt').write_text('new')\n"

    assert run({"src/product.py": GOOD_SUMS + writes}, SUMS_SUITE, SUMS).passed


def test_an_overwritten_script_is_restored_for_the_next_run(run, sandbox):
    """A file that a run overwrites is restored after the run."""
    script = ("sh", "run_tests.sh")
    suite = TestSuite(command=script, patch=TESTS, env=dict(SUITE.env), timeout_seconds=30)
    runner = TestRunner(sandbox=sandbox, cache=None)
    evil = "open('run_tests.sh', 'w').write('exit 0')\nopen('src/product.py', 'w').write('')\n"

    wrong = "def answer(): return 0\n" + evil
    first = run({"src/product.py": wrong}, suite, runner=runner)
    second = run({}, suite, runner=runner)

    assert first.status is second.status is TestStatus.FAILED
    assert sorted(case.status for case in second.cases) == ["failed", "passed", "passed"]


def test_a_script_that_runs_the_tests_comes_from_the_base(run):
    """A patch to the script is removed, like a patch to any file that controls the run."""
    suite = TestSuite(
        command=("sh", "run_tests.sh"), patch=TESTS, env=dict(SUITE.env), timeout_seconds=30
    )

    result = run({"run_tests.sh": "exec python -m pytest -q tests/test_old.py\n"}, suite)

    assert (result.status, result.restored_files) == (TestStatus.FAILED, ("run_tests.sh",))


def test_a_tree_that_hides_a_test_from_its_framework_is_detected(run):
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
    hiding = "def load_tests(loader, tests, pattern): return tests.__class__()\n"

    honest = run({}, suite, base)
    forged = run({"pkg/__init__.py": hiding}, suite, base)

    assert honest.status is TestStatus.FAILED
    assert forged.status is TestStatus.INCONCLUSIVE
    assert forged.missing_tests == ("pkg.test_new.New.test_new",)


def test_a_word_in_data_does_not_excuse_a_skip(run):
    """Only the test's own file, and files that control it, may provide for a skip."""
    data = Changes.between(
        BASE, BASE.overlay(Changes({"tests/data.txt": Entry(b"never skip a test\n")}))
    )
    patch = TESTS + data.diff(BASE)
    suite = TestSuite(command=SUITE.command, patch=patch, env=dict(SUITE.env), timeout_seconds=30)
    skipping = "import unittest\ndef answer(): raise unittest.SkipTest('not today')\n"

    assert run({"src/product.py": skipping}, suite).status is TestStatus.INCONCLUSIVE


def test_a_test_may_declare_a_skip_or_an_expected_failure(run):
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


def test_a_process_that_stays_does_not_edit_the_next_run(run, sandbox):
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
    runner = TestRunner(sandbox=sandbox, cache=None)

    assert run({"src/product.py": evil}, runner=runner).status is not TestStatus.PASSED
    assert run({}, runner=runner).status is TestStatus.FAILED


def test_an_honest_patch_passes(run):
    """With or without a controlling file; files of the tests patch itself stay."""
    good = {"src/product.py": "def answer(): return 42\n"}

    assert run(good).status is TestStatus.PASSED
    assert run(good | {"conftest.py": EXIT}).status is TestStatus.PASSED


def test_required_tests_can_be_named_or_waived(run):
    """The caller may know better than the patch shows."""
    good = {"src/product.py": "def answer(): return 42\n"}
    named = TestSuite(
        command=SUITE.command,
        patch=TESTS,
        env=dict(SUITE.env),
        required=["tests/test_new.py::other"],
    )
    forged = {"src/product.py": "def answer(): return 0\n" + FORGE_RESULT}

    missing, waived = run(good, named), run(forged, require_new_tests=False)

    assert missing.status is TestStatus.INCONCLUSIVE
    assert missing.missing_tests == ("tests/test_new.py::other",)
    assert "tests/test_new.py::other" in missing.reason
    assert waived.status is TestStatus.PASSED


def test_an_unpreventable_forgery_leaves_a_trace(run):
    """Code that knows the new test's name can write a whole result; the report hints at it."""
    forged = FORGE_RESULT.replace("test_old", "test_new")
    files = {"src/product.py": forged}

    result = run(files)

    assert result.status is TestStatus.PASSED  # the threat model says so
    assert files_that_name_a_framework(BASE, changes_of(files)) == ("src/product.py",)


def test_a_run_that_failed_also_lists_the_required_tests_that_did_not_run(run):
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


# --- runs that select other tests, or nothing ---------------------------------


@pytest.mark.parametrize(
    "command",
    mostly_long(
        [
            ("python", "-m", "pytest", "-k", "old"),
            ("python", "-m", "pytest", "tests/test_old.py"),
            ("python", "-m", "pytest", "tests/test_old.py::test_old"),
            ("sh", "-c", "python -m pytest tests/test_old.py"),
        ],
        {("python", "-m", "pytest", "-k", "old")},
    ),
    ids=" ".join,
)
def test_a_run_of_other_tests_is_inconclusive(command, run):
    """A passing run of old tests says nothing about the feature."""
    result = run({}, TestSuite(command=command, patch=TESTS, env=dict(SUITE.env)))

    assert result.status is TestStatus.INCONCLUSIVE
    assert result.missing_tests == ("tests/test_new.py::test_new",)


@pytest.mark.parametrize(
    "words",
    mostly_long([("--absent",), ("absent.py",), ("-p", "absent")], {("absent.py",)}),
    ids=" ".join,
)
def test_a_command_that_runs_nothing_is_inconclusive(words, run):
    """Its exit status does not mean that a test failed."""
    command = (*SUITE.command, *words)
    result = run({}, TestSuite(command=command, patch=TESTS, env=dict(SUITE.env)))

    assert (result.status, result.cases) == (TestStatus.INCONCLUSIVE, ())


@pytest.fixture
def go_sandbox(sandbox, request):
    """Return each sandbox, with Go in it."""
    need_program("go")
    if sandbox.name == "container":
        return ContainerSandbox(image=request.getfixturevalue("go_image"), pull=False)
    return sandbox


@pytest.mark.long
@pytest.mark.parametrize(
    ("head", "words", "env", "says"),
    [
        (
            "//go:build go1.999\n\n",
            (),
            {},
            "none of the tests that the tests patch adds or changes ran",
        ),
        ("", ("-run", "Old"), {}, "none of the tests that the tests patch adds or changes ran"),
        ("", (), {"GOCACHE": "/proc/nowhere"}, "exit status"),
    ],
)
def test_go_files_that_do_not_run_are_noticed(head, words, env, says, go_sandbox):
    """A constraint or a pattern leaves them out, or Go cannot write its cache."""
    test = 'package m\n\nimport "testing"\n\nfunc Test{0}(t *testing.T) {{ {1} }}\n'
    base = toys.tree({"go.mod": "module m\n\ngo 1.18\n", "a_test.go": test.format("Old", "")})
    new = head + test.format("New", "t.Fail()")
    suite = TestSuite(
        command=("go", "test", *words, "./..."),
        patch=changes_of({"b_test.go": new}).diff(base),
        framework="go",
        env={"GOPROXY": "off", "CGO_ENABLED": "0", "GOFLAGS": "-vet=off"} | env,
    )

    result = TestRunner(sandbox=go_sandbox).run(base, Changes(), suite)

    assert result.status is TestStatus.INCONCLUSIVE, result.output
    assert says in result.reason
