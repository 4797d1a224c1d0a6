"""Reads the output of `cargo test`, and the JUnit XML that `cargo nextest` writes.

Stable Rust's `cargo test` writes its results nowhere but in its output. Only whole lines of
cargo and of libtest are read. For each test program, the lines must agree with the summary,
name by name and in number. With `--quiet`, no test is named, so the results are not believed.

Case ids are `<program> <source>::<test>`, and `<package> doc::<test>` for documentation;
the program is left out if the log does not name it. A program that ended before its tests
did, and a package that does not compile, are one `error` each. Harnesses other than
libtest may end with a line such as `2 passed, 1 failed, 0 skipped`; their cases have
numbers and no names.

Code that prints such lines itself, in a program whose output is not captured, is
believed if its lines agree with each other.

For nextest, our own settings file asks for the XML, in the profile that the suite names or in
one that we define. If the tree's own settings write that profile's result elsewhere, they
prevail. Nextest takes our file only through a flag, which cannot be added to a script, so
a script's results cannot be read. Case ids are nextest's own, `<program id> <test>`. The XML
does not list ignored tests. A package that does not compile is one `error`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath

from attrs import field, mutable

from cooperbench_eval.running.readers.protocol import FinishedRun, Launch, Reader, option_and_value
from cooperbench_eval.running.readers.result_files import (
    UnreadableResultError,
    lengthened,
    parse_junit,
    read_result_file,
    shortened,
    unnamed,
    whole_output,
)
from cooperbench_eval.running.readers.rust_tests import (
    ANY_PROGRAM,
    added_rust_tests,
    changed_rust_tests,
    is_named,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus

_UNNAMED_PROGRAM = "a test program"

_COLOUR = re.compile(r"\x1b\[[0-9;]*m|\x1b\(B")
_HEADER = re.compile(
    r" +Running (?:(?:unittests )?(?P<source>\S.*) )?"
    r"\((?P<program>[^()]+)\)|   Doc-tests (?P<documented>\S+)"
)
_BEGIN = re.compile(r"running (\d+) tests?")
_LINE = re.compile(
    r"test (?P<name>.+?)(?P<panics> - should panic)? \.\.\. "
    r"(?P<end>ok|FAILED|ignored(?:, .*)?|bench: .*)(?: <\d+\.\d+s>)?"
)
_RESULT = re.compile(
    r"test result: (?P<verdict>ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; "
    r"(\d+) measured; \d+ filtered out(?:; finished in \S+)?"
)
# The summary of other harnesses that count as libtest does, such as typst's.
_OTHER_RESULT = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")
_NOT_COMPILED = re.compile(
    r"error: could not compile `([^`]+)`(?: \([^)]*\))?(?: due to .*|\.|; .*)?"
)
_COMPILER_ERROR = re.compile(r"error(?:\[E[0-9]{4}\])?: ")
_OUTPUT_OF = re.compile(r"---- (.+) stdout ----")
_DIGITS = 9
_ENDS = {
    "ok": TestCaseStatus.PASSED,
    "FAILED": TestCaseStatus.FAILED,
    "ignored": TestCaseStatus.SKIPPED,
    "bench": TestCaseStatus.PASSED,
}
_COUNTED = (TestCaseStatus.PASSED, TestCaseStatus.FAILED, TestCaseStatus.SKIPPED)


def _read(run: FinishedRun) -> tuple[TestCase, ...]:
    """Return the cases of every test program, and an error for each failed compilation."""
    targets = _targets(_lines(run.output))
    cases = tuple(case for target in targets for case in target.cases())
    failures = _compile_errors(run.output, run.exit_code)
    if not failures and not any(t.announced is not None or t.summary for t in targets):
        raise UnreadableResultError("no test program printed a result")
    return (*cases, *_unnamed(targets), *failures)


def _compile_errors(output: bytes, exit_code: int) -> tuple[TestCase, ...]:
    """Return a case for each package that cargo could not compile, with its name.

    There are none if cargo succeeded, because then a test printed the message.
    """
    if exit_code == 0:
        return ()
    cases: list[TestCase] = []
    errors = ""
    for line in _lines(output):
        if found := _NOT_COMPILED.fullmatch(line):
            message = shortened(f"it could not be compiled\n{errors}".strip())
            cases.append(TestCase(id=found[1], status=TestCaseStatus.ERROR, message=message))
        elif errors or _COMPILER_ERROR.match(line):
            errors = lengthened(errors, f"{line}\n")
    return tuple(cases)


def _lines(output: bytes) -> list[str]:
    return _COLOUR.sub("", whole_output(output)).replace("\r\n", "\n").split("\n")


@mutable
class _Target:
    """What a test program printed; a new one begins with each of libtest's `running N tests`.

    Attributes:
        label: The program's part of an id.
        announced: How many tests libtest announced; `None` for another harness.
        contradicted: Whether libtest's summary contradicts the tests.
        ended: Whether a summary agrees with the tests.
        summary: The counts that another harness printed.
    """

    label: str
    announced: int | None = None
    found: list[tuple[str, str]] = field(factory=list)
    messages: dict[str, str] = field(factory=dict)
    contradicted: bool = False
    ended: bool = False
    summary: tuple[int, ...] = ()
    _about: str = ""

    def take(self, line: str) -> None:
        if len(self.found) < (self.announced or 0) and (test := _LINE.fullmatch(line)):
            end = re.split("[,:]", test["end"])[0]
            self.found.append((test["name"], end))
            if end == "FAILED":
                self.messages[test["name"]] = ""
        elif result := _RESULT.fullmatch(line):
            # A failed test's own output may contain such a line. It counts only if
            # it agrees with the lines before it.
            self.ended = self._agrees(result)
            self.contradicted = not self.ended
        elif (about := _OUTPUT_OF.fullmatch(line)) and about[1] in self.messages:
            self._about = about[1]
        elif line == "failures:":
            self._about = ""
        elif self._about:
            self.messages[self._about] = lengthened(self.messages[self._about], f"{line}\n")

    def _agrees(self, result: re.Match[str]) -> bool:
        counts = Counter(end for _, end in self.found)
        expected = [counts[end] for end in ("ok", "FAILED", "ignored", "bench")]
        verdict = "FAILED" if counts["FAILED"] else "ok"
        return [_number(each) for each in result.groups()[1:]] == expected and (
            result["verdict"] == verdict and len(self.found) == self.announced
        )

    def cases(self) -> Iterator[TestCase]:
        if self.contradicted:
            raise UnreadableResultError("the summary of a test program contradicts its tests")
        for name, end in self.found:
            message = shortened(self.messages.get(name, "").strip())
            case_id = f"{self.label}::{name}" if self.label else name
            yield TestCase(id=case_id, status=_ENDS[end], message=message)
        if self.announced is not None and not self.ended:
            message = "its test program ended before its tests did"
            program = self.label or _UNNAMED_PROGRAM
            yield TestCase(id=program, status=TestCaseStatus.ERROR, message=message)


def _unnamed(targets: list[_Target]) -> tuple[TestCase, ...]:
    """Return the cases of which only the number is known, numbered across a program's runs."""
    counts: dict[str, Counter[TestCaseStatus]] = {}
    for target in targets:
        if target.summary and target.announced is None:
            found = dict(zip(_COUNTED, target.summary, strict=True))
            counts.setdefault(target.label, Counter()).update(found)
    return tuple(case for label, each in counts.items() for case in unnamed(label, each))


def _number(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise UnreadableResultError("the result counts an impossible number of tests")
    return int(digits)


def _targets(lines: list[str]) -> list[_Target]:
    targets = [_Target("")]
    for line in lines:
        last = targets[-1]
        if header := _HEADER.fullmatch(line):
            targets.append(_Target(_label(header)))
        elif last.announced is not None and not last.ended:
            last.take(line)
        elif begin := _BEGIN.fullmatch(line):
            if last.announced is not None:
                targets.append(_Target(last.label))
            targets[-1].announced = _number(begin[1])
        elif last.label and (found := _OTHER_RESULT.fullmatch(line)):
            last.summary = tuple(_number(each or "0") for each in found.groups())
    return targets


def _label(header: re.Match[str]) -> str:
    if header["documented"]:
        return f"{header['documented']} doc"
    # The program's file name ends with a hash, which is not part of the id.
    program = header["program"].rpartition("/")[2].rpartition("-")
    return " ".join(filter(None, (program[0] or program[2], header["source"])))


def _launch(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    del scratch
    return Launch(command=command, env={"CARGO_TERM_COLOR": "never", **env})


def _covers(case: TestCase, name: str) -> bool:
    """Whether *case* is the function *name*; its id may name the program in part or not at all.

    A program that broke off is a case of each of its tests, and a package that does not
    compile is a case of every test.
    """
    label, _, test = name.partition("::")
    if case.status is TestCaseStatus.ERROR and "::" not in case.id:
        return case.id in {label, _UNNAMED_PROGRAM} or " " not in case.id
    ids: tuple[str, ...] = (name,)
    if not name.startswith(ANY_PROGRAM):
        ids = (name, f"{label.partition(' ')[0]}::{test}", test)
    # A suite that names its required tests may leave out the program.
    return any(is_named(case.id, each) for each in ids) or case.id.endswith(f" {name}")


def _program(path: str, package: str) -> str:
    name = PurePosixPath(path).stem if path.startswith("tests/") else package
    return f"{name.replace('-', '_')} {path}::"


CARGO_READER = Reader(
    launch=_launch,
    read=_read,
    required=partial(added_rust_tests, program=_program),
    added=partial(changed_rust_tests, program=_program),
    covers=_covers,
)


_RESULT_FILE = "nextest.xml"
_SETTINGS = "nextest.toml"
_PROFILE = "cooperbench-eval"
_PROFILE_OPTIONS = frozenset({"-P", "--profile"})
_NO_TESTS = 4


def _launch_nextest(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    at = _end_of_options(command)
    if at is None:
        return Launch(command=command, env=env)
    named = _profile(command[:at]) or env.get("NEXTEST_PROFILE")
    asks: tuple[str, ...] = ("--tool-config-file", f"{_PROFILE}:{scratch / _SETTINGS}")
    if not named:
        asks = (*asks, "--profile", _PROFILE)
    # A string of JSON is also a string of TOML.
    path = json.dumps(str(scratch / _RESULT_FILE))
    settings = f"[profile.{named or _PROFILE}.junit]\npath = {path}\n"
    (scratch / _SETTINGS).write_text(settings, encoding="utf-8")
    return Launch(
        command=(*command[:at], *asks, *command[at:]),
        env={"CARGO_TERM_COLOR": "never", **env},
    )


def _read_nextest(run: FinishedRun) -> Iterable[TestCase]:
    if failures := _compile_errors(run.output, run.exit_code):
        return failures
    try:
        data = read_result_file(run.scratch / _RESULT_FILE)
    except UnreadableResultError:
        if run.exit_code == _NO_TESTS and _end_of_options(run.command) is not None:
            return ()
        raise
    return (
        case
        for element in parse_junit(data)
        for case in element.cases(f"{element.classname} {element.name}".strip())
    )


def _covers_in_nextest(case: TestCase, name: str) -> bool:
    """Whether *case* is the function *name*; a package that does not compile covers all."""
    if case.status is TestCaseStatus.ERROR and " " not in case.id:
        return True
    is_anywhere = name.startswith(ANY_PROGRAM)
    return is_named(case.id.rpartition(" ")[2] if is_anywhere else case.id, name)


def _nextest_program(path: str, package: str) -> str:
    """Return nextest's id of the program that a file is compiled into."""
    if path.startswith("tests/"):
        return f"{package}::{PurePosixPath(path).stem} "
    return f"{package}::bin/{package} " if path == "src/main.rs" else f"{package} "


def _end_of_options(command: tuple[str, ...]) -> int | None:
    """Return where options end in a `cargo nextest run`; `None` if the command is another one."""
    words = list(command)
    for at in range(len(words) - 1):
        if PurePosixPath(words[at]).name in {"nextest", "cargo-nextest"} and "run" in words[at:]:
            return words.index("--") if "--" in words else len(words)
    return None


def _profile(words: tuple[str, ...]) -> str:
    rest = iter(words)
    options = (option_and_value(word, rest, _PROFILE_OPTIONS) for word in rest)
    return next((value for option, value in options if option in _PROFILE_OPTIONS), "")


NEXTEST_READER = Reader(
    launch=_launch_nextest,
    read=_read_nextest,
    required=partial(added_rust_tests, program=_nextest_program),
    added=partial(changed_rust_tests, program=_nextest_program),
    covers=_covers_in_nextest,
    no_test_codes=frozenset({0, _NO_TESTS}),
    result="JUnit file",
)
