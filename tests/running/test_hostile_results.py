"""Hostile results, fed to every reader."""

import time
from functools import partial

import pytest
import toys
from generators import random_bytes, splices
from hypothesis import given

from cooperbench_eval.running.readers.frameworks import FRAMEWORKS
from cooperbench_eval.running.readers.result_files import (
    UnreadableResultError,
    parse_json,
    read_sessions,
    tree_path,
)

RESULTS = {
    "pytest": "junit.xml",
    "unittest": "unittest.xml",
    "go": "go.jsonl",
    "nextest": "nextest.xml",
    "jest": "jest-1.json",
    "vitest": "vitest-1.json",
    "node": "node-1.jsonl",
}
"""The result file of each framework; other frameworks are read from the output."""

UNITTEST = ("python", "-m", "unittest")
XML = (
    b'<testsuites><testsuite name="s"><testcase classname="a.B" name="t" time="0.1" file="a.py">'
    b'<skipped type="unittest.xfail" message="m">text</skipped></testcase></testsuite></testsuites>'
)
OUTPUT = b"-" * 70 + b"\nRan 3 tests in 0.001s\n\nFAILED (failures=1, skipped=1)\n"
SAMPLES = {
    "exit": [b"x"],
    "pytest": [XML],
    "unittest": [XML],
    "unittest script": [OUTPUT * 2],
    "go": [(toys.RECORDED / f"go-{v}.jsonl").read_bytes() for v in ("1.19", "1.27")],
    "cargo": [(toys.RECORDED / "cargo-1.95.txt").read_bytes()],
    "nextest": [(toys.RECORDED / "nextest-0.9.148.xml").read_bytes()],
    "jest": [(toys.RECORDED / f"jest-{v}.json").read_bytes() for v in (29, 30)],
    "vitest": [(toys.RECORDED / f"vitest-{v}.json").read_bytes() for v in (2, 3)],
    "node": [(toys.RECORDED / "node-20.jsonl").read_bytes()],
}
EVERY = pytest.mark.parametrize("kind", SAMPLES)


@pytest.fixture(scope="module")
def read_any(tmp_path_factory):
    """Return a function that reads bytes as the result of a framework."""
    scratch = tmp_path_factory.mktemp("scratch")

    def read(kind, data, exit_code=1):
        framework, _, script = kind.partition(" ")
        result = None if script else RESULTS.get(framework)
        return toys.read(
            framework,
            scratch,
            {} if result is None else {result: data},
            command=("./run.sh",) if script else UNITTEST,
            exit_code=exit_code,
            output=b"" if result else data,
        )

    return read


def trusted(read, data):
    """Return the cases of a result; none if it is not trusted."""
    try:
        cases = read(data)
    except UnreadableResultError:
        return ()
    for case in cases:
        (case.id + case.message).encode()
        assert len(case.message) <= 2_000
        assert 0 <= case.duration_seconds < float("inf")
    assert len({case.id for case in cases}) == len(cases)
    return cases


def test_every_reader_is_tried():
    """A new framework needs a sample."""
    assert {kind.partition(" ")[0] for kind in SAMPLES} == set(FRAMEWORKS)


@EVERY
def test_samples_are_trusted(read_any, kind):
    """The samples that other tests damage are valid results."""
    assert all(trusted(partial(read_any, kind), sample) for sample in SAMPLES[kind])


@EVERY
@given(splices())
def test_a_damaged_result_is_read_or_refused(read_any, kind, splice):
    """Only one kind of error is raised, and cases have valid, distinct ids."""
    for sample in SAMPLES[kind]:
        trusted(partial(read_any, kind), splice(sample))


@EVERY
@given(random_bytes())
def test_random_bytes_are_read_or_refused(read_any, kind, data):
    """The exit status does not matter."""
    for exit_code in (-9, 0, 1, 4, 5):
        trusted(partial(read_any, kind, exit_code=exit_code), data)


MANY = 20_000
LONG = {
    "one long line": b"a" * 4_000_000,
    "opening brackets": b"[" * 4_000_000,
    "empty objects": b"[" + b"{}," * 3_000_000 + b"{}]",
    "short lines": b"{}\n" * MANY,
    "events": b'{"Action":"pass","Package":"p","Test":"T"}\n' * MANY,
    "tests": b"test a ... " * MANY,
    "spaces": b" " * 4_000_000 + b"Running",
    "announcements": b"running 1 test\n" * MANY,
    "sessions": OUTPUT * 10_000,
    "hyphens": b"-" * 4_000_000,
    "digits": b"Ran " + b"9" * 4_000_000,
    "elements": b"<testsuites>" + b'<testcase name="n"/>' * MANY + b"</testsuites>",
    "deep names": b'{"Action":"pass","Package":"p","Test":"%s"}\n' % (b"a/" * 99) * 10_000,
}


@pytest.mark.parametrize("data", LONG.values(), ids=LONG)
def test_a_long_result_is_read_quickly(read_any, data):
    """Every reader reads or refuses up to a few megabytes in less than a second."""
    for kind in SAMPLES:
        started = time.process_time()
        trusted(partial(read_any, kind), data)
        assert time.process_time() - started < 1.0, kind


@pytest.mark.parametrize("seconds", ["-1", "1e999", "1e300", "true", '"1"', "null", "[]"])
def test_an_invalid_duration_counts_as_zero(read_any, seconds):
    """An invalid duration is not a number or far too large."""
    event = f'{{"Action":"pass","Package":"p","Test":"T","Elapsed":{seconds}}}'

    (case, _) = read_any("go", event.encode())

    assert case.duration_seconds == 0.0


def test_too_many_values_are_not_read():
    """They would take far more memory than their text."""
    with pytest.raises(UnreadableResultError, match="too many values"):
        parse_json(b"[" + b"{}," * 3_000_000 + b"{}]")


def test_results_of_sessions_are_bounded_together(tmp_path):
    """The size limit applies to all the files together."""
    for number in range(3):
        with (tmp_path / f"a-{number}.json").open("wb") as file:
            file.truncate(30 << 20)

    with pytest.raises(UnreadableResultError, match="too large together"):
        read_sessions(tmp_path, "a-", ".json")
    with pytest.raises(UnreadableResultError, match="no result file was written"):
        read_sessions(tmp_path, "b-", ".json")
    with pytest.raises(UnreadableResultError, match="cannot be read"):
        read_sessions(tmp_path / "gone", "a-", ".json")


def test_a_file_outside_of_the_tree_is_identified_by_its_name():
    """Ids therefore do not depend on the place of a run."""
    tree = toys.tree({"a/b.js": ""})

    paths = ("/any/where/a/b.js", "a/b.js", "/any/dist/b.js", "/", "")

    assert [tree_path(path, tree) for path in paths] == ["a/b.js", "a/b.js", "b.js", "/", ""]
