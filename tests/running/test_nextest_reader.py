"""Results of cargo-nextest: recorded and, if it is installed, live."""

import pytest
import toys
from needs import need_program

from cooperbench_eval.running.readers.cargo_reader import NEXTEST_READER
from cooperbench_eval.running.readers.result_files import UnreadableResultError
from cooperbench_eval.running.results import TestStatus

RUN = ("cargo", "nextest", "run", "--offline", "--no-fail-fast")
ELSEWHERE = {".config/nextest.toml": '[profile.default.junit]\npath = "own.xml"\n[profile.ci]\n'}


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a result's bytes."""

    def read(data=None, **run):
        results = {} if data is None else {"nextest.xml": data}
        return toys.read("nextest", tmp_path, results, command=RUN, **run)

    return read


@pytest.mark.parametrize("options", [(), ("-P", "ci")])
def test_every_outcome_has_its_status(run_suite, options):
    """This holds for any profile, even if the tree's settings move the result file."""
    need_program("cargo-nextest")
    env = toys.rust_environment()

    result = run_suite(toys.RUST | ELSEWHERE, (*RUN, *options), framework="nextest", env=env)

    assert toys.statuses(result.cases) == toys.NEXTEST_CASES
    assert result.status is TestStatus.FAILED


def test_a_recorded_result_is_read(read):
    """Ids are nextest's own: those of the program and of the test."""
    cases = read((toys.RECORDED / "nextest-0.9.148.xml").read_bytes(), exit_code=100)

    assert toys.statuses(cases) == toys.NEXTEST_CASES
    messages = {case.id: case.message for case in cases}
    assert "assertion `left == right` failed" in messages["toy tests::fails"]
    assert messages["toy::it integrates"] == ""


def test_a_flaky_test_passed(read):
    """A test that failed first and passed on a retry did not fail."""
    cases = read(
        b'<testsuites><testsuite name="toy"><testcase name="t" classname="toy">'
        b'<flakyFailure type="test failure"/></testcase></testsuite></testsuites>'
    )

    assert toys.statuses(cases) == {"toy t": "passed"}


def test_a_run_without_tests_is_recognized_by_its_exit_status(read):
    """Nextest writes no file then; any other status without a file is a failed run."""
    assert read(exit_code=4) == ()
    with pytest.raises(UnreadableResultError):
        read(exit_code=0)


def test_code_that_does_not_compile_is_an_error(read):
    """Nextest writes no file then either; cargo's output shows the reason."""
    cases = read(
        output=b"error: could not compile `toy` (lib) due to 1 previous error\n", exit_code=101
    )

    assert toys.statuses(cases) == {"toy": "error"}


@pytest.mark.parametrize(
    ("command", "env", "profile", "asked"),
    [
        (RUN, {}, "cooperbench-eval", True),
        (("cargo", "nextest", "run", "-P", "ci"), {}, "ci", False),
        (("cargo", "nextest", "run", "-Pci"), {}, "ci", False),
        (("cargo-nextest", "nextest", "run", "--profile=ci"), {}, "ci", False),
        (RUN, {"NEXTEST_PROFILE": "ci"}, "ci", False),
    ],
)
def test_the_file_is_requested_in_the_profile_in_use(tmp_path, command, env, profile, asked):
    """It is the suite's profile, or else one of ours, which nothing overrides."""
    launch = NEXTEST_READER.launch((*command, "--", "--skip", "x"), env, tmp_path)

    settings = (tmp_path / "nextest.toml").read_text(encoding="utf-8")
    assert settings.startswith(f"[profile.{profile}.junit]\npath = ")
    assert launch.command[-3:] == ("--", "--skip", "x")
    flag = launch.command.index("--tool-config-file")
    assert launch.command[flag + 1] == f"cooperbench-eval:{tmp_path / 'nextest.toml'}"
    assert ("--profile" in launch.command[flag:]) is asked


def test_a_script_is_unchanged(tmp_path):
    """Nextest accepts its settings only as a flag."""
    launch = NEXTEST_READER.launch(("./run.sh", "run"), {}, tmp_path)

    assert launch.command == ("./run.sh", "run")
