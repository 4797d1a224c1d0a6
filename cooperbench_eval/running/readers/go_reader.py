"""Reads the events that `go test -json` prints.

A plain `go test` gets the flag `-json`. Any other command, such as a script, gets it
through `GOFLAGS`, so a `go list` or `go env` in the script prints JSON too. The
command's whole standard output goes to a file; lines that are not events are skipped.

Case ids are `<import path>.<test>`, followed by `/<subtest>` for a subtest. Subtests
count and their parents do not, unless a parent fails by itself. A test that began and
did not end is an `error`. A package that does not build, or that fails without a failing
test, is an `error` under its import path. Benchmarks count as tests.

The output of tests and the framework's own lines share one channel. Before Go 1.20,
code that prints such lines can add tests that never ran.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from attrs import evolve, field, frozen, mutable

from cooperbench_eval.git.trees.objects import folders_above
from cooperbench_eval.running.readers.go_tests import METHOD, added_go_tests, changed_go_tests
from cooperbench_eval.running.readers.protocol import FinishedRun, Launch, Reader
from cooperbench_eval.running.readers.result_files import (
    CASE_LIMIT,
    ID_LIMIT,
    UnreadableResultError,
    as_record,
    clean,
    lengthened,
    parse_json,
    read_result_file,
    shortened,
)
from cooperbench_eval.running.results import BAD, TestCase, TestCaseStatus

_RESULT = "go.jsonl"
_ENDS = {
    "pass": TestCaseStatus.PASSED,
    "fail": TestCaseStatus.FAILED,
    "skip": TestCaseStatus.SKIPPED,
    "bench": TestCaseStatus.PASSED,
}
# Before Go 1.24 a package that does not build is named in a line of plain text.
_NOT_BUILT = re.compile(rb"FAIL\t(\S+) \[(build|setup) failed\]\r?")
_TESTS_PER_CASE = 2
_LINES_PER_CASE = 10
_DEPTH_LIMIT = 100
_ASKED = frozenset({"-json", "--json", "-json=true"})
_BUILD = "build-output"
_COMPILED = re.compile(rb"# (\S+)(?: \[.*\])?")
_MOST_BUILDS = 100
_FRAME = re.compile(r"\s*(?:=== |--- (?:PASS|FAIL|SKIP): )")


def _launch(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    at = _place_of_test(command)
    if at is None:
        flags = " ".join(filter(None, (env.get("GOFLAGS"), "-json")))
        env = {**env, "GOFLAGS": flags}
    elif not _ASKED.intersection(command):
        command = (*command[: at + 1], "-json", *command[at + 1 :])
    stdout = scratch / _RESULT
    redirected = ("sh", "-c", 'exec "$@" >"$0"', str(stdout), *command)
    return Launch(command=redirected, env=env, stdout=stdout)


def _read(run: FinishedRun) -> Iterator[TestCase]:
    packages: dict[str, dict[str, _Test]] = {}  # the package itself has an empty name
    builds = _builds_of(run.output)
    tests = 0
    for event in _events(read_result_file(run.scratch / _RESULT)):
        if event.action == _BUILD:
            if len(builds) <= _MOST_BUILDS:
                builds[event.package] = lengthened(builds.get(event.package, ""), event.output)
            continue
        package = packages.setdefault(event.package, {"": _Test()})
        tests += event.test not in package
        package.setdefault(event.test, _Test()).take(event)
        # Tests with subtests are tests and not cases.
        if max(tests, len(packages)) > _TESTS_PER_CASE * CASE_LIMIT:
            raise UnreadableResultError("go test reported too many tests")
    if not packages:
        raise UnreadableResultError("go test reported nothing")
    # If a package does not build because another one does not, only that one has errors.
    everything = shortened("".join(builds.values()))
    for name, package in packages.items():
        yield from _cases(name, package, builds.get(name, everything))


def _builds_of(output: bytes) -> dict[str, str]:
    """Return what the compiler wrote about each package; from Go 1.24 on, events have it."""
    found: dict[str, str] = {}
    name = ""
    for line in output.split(b"\n"):
        if heading := _COMPILED.fullmatch(line):
            name = heading[1].decode(errors="backslashreplace")
        elif name and len(found) <= _MOST_BUILDS:
            text = line.decode(errors="backslashreplace")
            found[name] = lengthened(found.get(name, ""), f"{text}\n")
    return found


def _covers(case: TestCase, name: str) -> bool:
    """Whether *case* is the function *name*, or a subtest of it.

    A name may also stand for a method in any test. A package that does not build is a case
    of each of its tests.
    """
    package, is_method, method = name.partition(f".{METHOD}")
    if is_method:
        covered = case.id.startswith(f"{package}.") and f"/{method}/" in f"{case.id}/"
    else:
        covered = case.id == name or case.id.startswith(f"{name}/")
        package = name.rpartition(".")[0]
    return covered or (case.status is TestCaseStatus.ERROR and case.id == package)


# A package without tests is a success.
GO_READER = Reader(
    launch=_launch, read=_read, required=added_go_tests, added=changed_go_tests, covers=_covers
)


def _place_of_test(command: tuple[str, ...]) -> int | None:
    """Return the position of `test` in a `go test`; `None` if the command is another one."""
    for at in range(1, len(command)):
        if command[at] == "test" and PurePosixPath(command[at - 1]).name == "go":
            return at
    return None


@frozen
class _Event:
    action: str = field(alias="Action")
    package: str = field(alias="Package")
    test: str = field(default="", alias="Test")
    seconds: float = field(default=0.0, alias="Elapsed")
    output: str = field(default="", alias="Output")


def _events(data: bytes) -> Iterator[_Event]:
    if data.count(b"\n") > _LINES_PER_CASE * CASE_LIMIT:
        raise UnreadableResultError("go test printed too many lines")
    for line in data.split(b"\n"):
        if line.startswith(b"{"):
            fields = parse_json(line)
            # Without these keys, the line is about a build (its package then reports a
            # failure) or comes from another command of a script.
            if "Action" in fields and "Package" in fields:
                yield _event(fields)
            elif fields.get("Action") == _BUILD and "ImportPath" in fields:
                path = as_record(fields["ImportPath"], str).partition(" ")[0]
                yield _event(fields | {"Package": path})
        elif found := _NOT_BUILT.fullmatch(line):
            package = found[1].decode(errors="backslashreplace")
            yield _Event("output", package, Output=line.decode(errors="backslashreplace"))
            yield _Event("fail", package)


def _event(fields: object) -> _Event:
    event = as_record(fields, _Event)
    is_long = len(event.package) + len(event.test) > ID_LIMIT
    if is_long or event.test.count("/") > _DEPTH_LIMIT:
        raise UnreadableResultError("go test reported a name that is too long or too deep")
    return event


@mutable
class _Test:
    """What the events say about a test, or about a package itself."""

    status: TestCaseStatus = TestCaseStatus.ERROR
    has_ended: bool = False
    seconds: float = 0.0
    output: str = ""

    def take(self, event: _Event) -> None:
        if event.action == "output":
            if not _FRAME.match(event.output):
                self.output = lengthened(self.output, event.output)
        elif event.action in {"run", "start"}:
            self.has_ended = False
        elif end := _ENDS.get(event.action):
            # If one of several runs of a test failed, the test failed.
            if self.status is not TestCaseStatus.FAILED:
                self.status = end
            self.has_ended = True
            self.seconds += event.seconds

    def case(self, case_id: str) -> TestCase:
        status = self.status if self.has_ended else TestCaseStatus.ERROR
        message = self.output if status is not TestCaseStatus.PASSED else ""
        text = clean(message.strip())
        return TestCase(id=case_id, status=status, duration_seconds=self.seconds, message=text)


def _cases(package: str, tests: Mapping[str, _Test], build: str) -> Iterator[TestCase]:
    """Yield the cases of a package; *build* is what the compiler wrote if it failed."""
    cases = {name: test.case(f"{package}.{name}") for name, test in tests.items() if name}
    bad = {name for name, case in cases.items() if case.status in BAD}
    parents = {above for name in cases for above in folders_above(name)}
    # A subtest's failure is not the parent's own.
    blameless = {above for name in bad for above in folders_above(name)}
    for name, case in cases.items():
        if name not in parents or (name in bad and name not in blameless):
            yield case
    own = tests[""].case(package)
    if own.status in BAD and not bad:
        if own.message.endswith(("[build failed]", "[setup failed]")):
            own = evolve(own, message=clean(f"{own.message}\n{build}".strip()))
        yield evolve(own, status=TestCaseStatus.ERROR)
