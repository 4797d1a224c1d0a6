"""Output of cargo and libtest, live and recorded."""

import pytest
import toys

from cooperbench_eval.running.readers.result_files import UnreadableResultError
from cooperbench_eval.running.results import TestStatus

CARGO_TEST = ("cargo", "test", "--offline")
RECORDED = toys.RECORDED / "cargo-1.95.txt"
GOOD = {
    "Cargo.toml": toys.RUST["Cargo.toml"],
    "src/lib.rs": 'pub fn f() {}\n#[test]\nfn in_lib() { println!("Tests: 999 passed") }\n',
    "tests/it.rs": "#[test]\nfn outside() { toy::f() }\n",
}


def header(name="toy", source="unittests src/lib.rs"):
    """Return the line in which cargo names a test program."""
    return f"     Running {source} (target/debug/deps/{name}-0123456789abcdef)"


def result(passed=0, failed=0, ignored=0, measured=0):
    """Return libtest's summary line."""
    verdict = "FAILED" if failed else "ok"
    counts = f"{passed} passed; {failed} failed; {ignored} ignored; {measured} measured"
    return f"test result: {verdict}. {counts}; 0 filtered out; finished in 0.00s"


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the lines of an output."""

    def read(*lines, exit_code=0):
        output = "\n".join(lines).encode()
        return toys.read("cargo", tmp_path, output=output, exit_code=exit_code)

    return read


# --- live -------------------------------------------------------------------


def test_every_outcome_has_its_status(run_suite):
    """Tests are named by program and source; a program that ends early is an error."""
    command = (*CARGO_TEST, "--no-fail-fast")

    found = run_suite(toys.RUST, command, framework="cargo", env=toys.rust_environment())

    assert toys.statuses(found.cases) == toys.RUST_CASES
    assert found.status is TestStatus.FAILED


def test_library_and_integration_tests_add_up(run_suite):
    """Each program has its own summary; the last one is not the total."""
    found = run_suite(GOOD, CARGO_TEST, framework="cargo", env=toys.rust_environment())

    assert found.status is TestStatus.PASSED
    assert toys.statuses(found.cases) == {
        "toy src/lib.rs::in_lib": "passed",
        "it tests/it.rs::outside": "passed",
    }


def test_code_that_does_not_compile_failed(run_suite):
    """The package is the case."""
    files = GOOD | {"src/lib.rs": "fn f( {\n"}

    found = run_suite(files, CARGO_TEST, framework="cargo", env=toys.rust_environment())

    assert found.status is TestStatus.FAILED
    assert toys.statuses(found.cases) == {"toy": "error"}


def test_code_that_ends_the_tests_early_does_not_pass(run_suite):
    """A test that exits with 0 stops the others, and cargo accepts it."""
    files = GOOD | {"tests/quit.rs": toys.RUST["tests/quit.rs"]}

    found = run_suite(files, CARGO_TEST, framework="cargo", env=toys.rust_environment())

    assert found.exit_code == 0
    assert found.status is TestStatus.INCONCLUSIVE


def test_dots_are_not_trusted(run_suite):
    """With `-q` no test is named, and a number is easily forged."""
    command = (*CARGO_TEST, "--lib", "-q")

    found = run_suite(GOOD, command, framework="cargo", env=toys.rust_environment())

    assert found.status is TestStatus.INCONCLUSIVE


# --- recorded and written ---------------------------------------------------


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_recorded_output_is_read(read, ending):
    """Summaries and tests that a failed test printed do not count."""
    lines = RECORDED.read_text(encoding="utf-8").split("\n")

    assert toys.statuses(read(*ending.join(lines).split("\n"), exit_code=101)) == toys.RUST_CASES


def test_a_failed_test_has_its_output_as_message(read):
    """The place of the panic included; other tests have none."""
    cases = {case.id: case for case in read(RECORDED.read_text(), exit_code=101)}

    message = cases["toy src/lib.rs::tests::fails"].message
    assert message.startswith("test tests::fake ... ok\n")
    assert "panicked at src/lib.rs:46:9:\nassertion `left == right` failed\n" in message
    other = cases["toy src/lib.rs::tests::does_not_panic"].message
    assert other == "note: test did not panic as expected at src/lib.rs:32:8"
    assert {case.message for case in cases.values() if case.status == "passed"} == {""}


def test_a_package_that_does_not_compile_has_the_errors_as_message(read):
    """Warnings before them are left out."""
    lines = ["warning: unused", "error[E0425]: cannot find value `x`", " --> src/lib.rs:3:5", ""]
    end = "error: could not compile `toy` (lib) due to 1 previous error; 1 warning emitted"

    (case,) = read(*lines, end, exit_code=101)

    assert case.message == "\n".join(["it could not be compiled", *lines[1:3]])


def test_colours_are_ignored(read):
    """`--color always` makes no difference."""
    ok = "\x1b[32mok\x1b(B\x1b[m"
    lines = ("running 1 test", f"test a ... {ok}", result(1).replace("ok", ok, 1))

    assert toys.statuses(read(*lines)) == {"a": "passed"}


def test_two_runs_in_one_log_add_up(read):
    """Cases of a harness that only counts are numbered across all its runs."""
    typst = header("tests", "tests/src/tests.rs")
    lines = (typst, "2 passed, 0 failed, 7 skipped", typst, "x", "3 passed, 1 failed, 0 skipped")

    found = list(toys.statuses(read(*lines, exit_code=101)).items())

    assert found[0] == ("tests tests/src/tests.rs passed #1", "passed")
    assert [list(dict(found).values()).count(s) for s in ("passed", "failed", "skipped")] == [
        5,
        1,
        7,
    ]


def test_a_count_without_libtest_must_be_the_last_line(read):
    """A similar line elsewhere in the output of a program without libtest does not count."""
    libtest = (header(), "running 1 test", "9 passed, 0 failed", "test a ... ok", result(1))

    assert toys.statuses(read(*libtest, "9 passed, 0 failed")) == {"toy src/lib.rs::a": "passed"}
    with pytest.raises(UnreadableResultError):
        read("9 passed, 0 failed, 0 skipped")


def test_a_failed_tests_output_does_not_name_programs(read):
    """Lines in its output that look like a program's are ignored."""
    found = read(
        "running 1 test",
        "test a ... FAILED",
        "running 1 test",
        "test b ... ok",
        result(1),
        result(0, 1),
        exit_code=101,
    )

    assert toys.statuses(found) == {"a": "failed"}


def test_each_kind_of_line_is_read(read):
    """Panics, reasons, benchmarks, times and long runs are all read."""
    found = read(
        header(),
        "running 5 tests",
        "test slow has been running for over 60 seconds",
        "test a - should panic ... ok",
        "test b ... ignored, takes ... ok",
        "test c ... bench:         100 ns/iter (+/- 5)",
        "test d ... ok <0.012s>",
        "test src/lib.rs - f (line 3) - compile fail ... FAILED",
        result(2, 1, 1, 1),
        exit_code=101,
    )

    assert [(case.id.partition("::")[2], case.status.value) for case in found] == [
        ("a", "passed"),
        ("b", "skipped"),
        ("c", "passed"),
        ("d", "passed"),
        ("src/lib.rs - f (line 3) - compile fail", "failed"),
    ]


def test_tests_of_one_name_in_two_programs_are_distinct(read):
    """The id contains the program and its source, but not the hash."""
    one = ("running 1 test", "test a ... ok", result(1))
    found = read(header(), *one, header("toy", "unittests src/main.rs"), *one, header("it"), *one)

    assert len(found) == 3


def test_compile_errors_in_a_successful_run_are_ignored(read):
    """Cargo prints such a line itself only if it fails."""
    error = "error: could not compile `x` (lib test) due to 1 previous error; 2 warnings emitted"
    good = ("running 1 test", error, "test a ... ok", result(1))

    assert toys.statuses(read(*good)) == {"a": "passed"}
    assert toys.statuses(read(error, exit_code=101)) == {"x": "error"}


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("Tests: 999 passed",),
        ("test a ... ok",),
        (result(1),),
        ("running 1 test", result(1)),
        ("running 1 test", ".", result(1)),
        ("running 1 test", "test a ... ok", result(2)),
        ("running 1 test", "test a ... FAILED", result(1)),
        ("running 2 tests", "test a ... ok", result(1)),
        ("running 1 test", "test a ... ok", result(1).replace("ok", "FAILED")),
        ("running 1 test", "test a ... ok", "[... 5 bytes cut ...]", result(1)),
        ("running 99999999999 tests", "test a ... ok", result(1)),
        (header(), "999999999 passed, 0 failed, 0 skipped"),
    ],
    ids=range(13),
)
def test_contradictory_output_is_provisionalable(read, lines):
    """Summaries without lines, lines without summaries, and wrong totals are refused."""
    with pytest.raises(UnreadableResultError):
        read(*lines)
