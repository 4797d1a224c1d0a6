"""Reads the JUnit XML that pytest writes, which `PYTEST_ADDOPTS` asks for.

Case ids are pytest's own, relative to its root directory. Expected failures are
distinguished from skips. A file that could not be collected is one case, named after the
file, with status `error`; a case whose tear-down failed is one `error`. A test that passes
with a skipped subtest counts as skipped, since the XML does not distinguish the two.

A command that starts pytest is one session. In a shell script, every session that ends
counts, except those that a test starts. If any other program starts pytest, only the
result of its last session is read.
"""

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import islice
from pathlib import Path, PurePosixPath

from attrs import frozen

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.protocol import (
    FinishedRun,
    Launch,
    NewTests,
    Reader,
    added_or_changed,
    remembered,
    selections,
    tests_by_file,
)
from cooperbench_eval.running.readers.pytest_selection import (
    DEFAULT_SETTINGS,
    Selection,
    Settings,
    parse_selection,
    pytest_arguments,
    settings_above,
)
from cooperbench_eval.running.readers.python_parts import (
    PASSED_ON,
    Definition,
    Function,
    bound_names,
    digest_of,
    parse_python,
    python_parts,
)
from cooperbench_eval.running.readers.result_files import (
    JUnitCase,
    UnreadableResultError,
    parse_junit,
    read_result_file,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus

_ANY_CLASS = "*::"
"""Stands in a name for the file and the class, if any class may inherit the function."""

_TEST_CASE = re.compile(
    r"(?:\w+\.)*(?:TestCase|IsolatedAsyncioTestCase|SimpleTestCase|TransactionTestCase"
    r"|LiveServerTestCase|AsyncTestCase)"
)
# Decorators that do not rename, multiply, hide or remove the function.
_HARMLESS_DECORATOR = re.compile(
    r"(?:pytest\.)?mark\.\w+(?:\(.*\))?"
    r"|(?:unittest\.)?(?:mock\.)?patch(?:\.(?:object|dict|multiple))?\(.*\)"
    r"|unittest\.(?:skip|skipIf|skipUnless)\(.*\)|unittest\.expectedFailure"
    r"|(?:hypothesis\.)?(?:given|settings|example|seed)\(.*\)"
    r"|(?:freezegun\.)?freeze_time\(.*\)|responses\.activate",
    re.DOTALL,
)
_EMPTY_PARAMETERS = re.compile(r".*\bmark\.parametrize\([^\[(]*(?:\[\]|\(\))\)")


def _added_python_tests(new: NewTests) -> tuple[str, ...]:
    """Name the functions as pytest does, `file::Class::function`, in the order of the files.

    A function is named if it is new or changed, and if pytest collects it both with the
    tree's settings and with the default ones. If the command selects by `-k`, ids, ignored
    files or deselected ids, it must surely be selected; nothing is named if the command or
    the settings select in another way. If the command is a script, only files with reported
    cases are searched, and each call in it must select the function. Ids begin at pytest's
    root directory, which is found from the run's own cases.
    """
    arguments = pytest_arguments(new.command)
    calls = _calls(new, arguments)
    if calls is None:
        return ()
    files = frozenset(case.id.partition("::")[0] for case in new.cases)
    names = []
    for path in new.paths:
        reported = _as_reported(path, files, new.after)
        text = new.versions(path)[1].decode(errors="replace")
        anywhere = arguments is not None and not calls[0].named
        for name in _collected(path, new, anywhere=anywhere):
            if arguments is None:
                is_run = reported in files and _is_kept(calls, path, name, text)
            else:
                is_run = _runs(calls[0], path, name, text)
            if is_run:
                names.append(f"{reported}::{name}")
    return tuple(names)


def _changed_python_tests(new: NewTests) -> tuple[str, ...]:
    """Name all tests that the patch adds or changes, whatever the command runs.

    The name of a file stands for all its tests, if it cannot be parsed, is itself a case
    or holds no Python. The tests of a class that is not collected itself are named
    `*::function`: any class may inherit them.
    """
    files = frozenset(case.id.partition("::")[0] for case in new.cases)
    python = [path for path in new.paths if path.endswith(".py")]
    names = [path for path in new.paths if path in files and path not in python]
    ids = {case.id for case in new.cases}
    for path, tests in tests_by_file(new, python_parts, python):
        reported = _as_reported(path, files, new.after)
        if tests is None or reported in ids:
            names.append(reported)
            continue
        settings = settings_above(PurePosixPath(path), new.after) or [DEFAULT_SETTINGS]
        names += [name for test in tests for name in _reported_names(test, reported, settings)]
    return tuple(names)


def _reported_names(test: str, file: str, settings: list[Settings]) -> Iterator[str]:
    owner, _, function = test.rpartition("::")
    if not function.startswith(("test", "runTest")) and not any(
        each.has_function(function) for each in settings
    ):
        return
    if not owner.startswith(PASSED_ON):
        yield f"{file}::{test}"
    elif not any(each.has_class(owner.removeprefix(PASSED_ON)) for each in settings):
        yield f"{_ANY_CLASS}{function}"


def _calls(new: NewTests, arguments: tuple[str, ...] | None) -> list[Selection] | None:
    """Return what the command, or each line of a script that starts pytest, selects."""
    if arguments is None and parse_selection((), new.env) != Selection():
        return None
    env = {} if arguments is None else new.env
    return selections(new, r"pytest|py\.test", arguments, partial(parse_selection, env=env))


def _runs(call: Selection, path: str, test: str, text: str) -> bool:
    is_named = call.is_above(path) or call.has_node(path, test)
    return is_named and call.keeps(path, test, text)


def _is_kept(calls: list[Selection], path: str, test: str, text: str) -> bool:
    """Whether every call of a script that may run a file selects a test of it."""
    named = [call for call in calls if call.may_name(path)]
    selected = (
        call.keeps(path, test, text)
        and (not call.nodes or call.has_node(path, test, anywhere=True))
        for call in named
    )
    return all(call.is_whole for call in calls) or (bool(named) and all(selected))


def _as_reported(path: str, files: frozenset[str], tree: Snapshot) -> str:
    """Return a file's path from pytest's root directory, which may be a folder above it.

    If the tree also has a file at a reported path, the report is about that file.
    """
    parts = path.split("/")
    for start in range(len(parts)):
        shorter = "/".join(parts[start:])
        if shorter in files and (start == 0 or tree.get(shorter) is None):
            return shorter
    return path


def _collected(path: str, new: NewTests, *, anywhere: bool) -> Iterator[str]:
    """Yield the names of the new or changed functions that the settings collect."""
    pure = PurePosixPath(path)
    settings = settings_above(pure, new.after)
    if settings is None or not all(
        each.has_file(pure, anywhere=anywhere) and not each.selects() for each in settings
    ):
        return
    before, after = map(_definitions, new.versions(path))
    for name in added_or_changed(before.functions, after.functions):
        owner, _, function = name.rpartition("::")
        if owner in after.cases or all(
            each.has_function(function) and (not owner or each.has_class(owner))
            for each in settings
        ):
            yield name


@frozen
class _Definitions:
    """The functions that pytest may collect, with digests, and the names of test cases."""

    functions: tuple[tuple[str, str], ...]
    cases: frozenset[str]


@remembered
def _definitions(data: bytes) -> _Definitions:
    body = parse_python(data) or []
    # Pytest collects these whatever their name.
    try:
        cases = {
            node.name for node in body if isinstance(node, ast.ClassDef) and _is_test_case(node)
        }
        return _Definitions(tuple(_functions(body, data)), frozenset(cases))
    except RecursionError:  # a decorator or base class may be nested deeply
        return _Definitions((), frozenset())


def _functions(body: list[ast.stmt], data: bytes) -> Iterator[tuple[str, str]]:
    rebound = frozenset(name for statement in body for name in bound_names(statement))
    if _uses_test_flag(body):
        return
    for node in _last_of_each_name(body):
        if isinstance(node, ast.ClassDef) and node.name not in rebound and _is_collected(node):
            for function in _test_functions(node.body, rebound):
                yield f"{node.name}::{function.name}", digest_of(function, data)
    for function in _test_functions(body, rebound):
        yield function.name, digest_of(function, data)


def _uses_test_flag(body: list[ast.stmt]) -> bool:
    """Whether a module or class uses `__test__`, with which it can hide its tests."""
    statements = (each for each in body if not isinstance(each, Definition))
    names = (node for each in statements for node in ast.walk(each) if isinstance(node, ast.Name))
    return any(name.id == "__test__" for name in names)


def _last_of_each_name(body: list[ast.stmt]) -> list[ast.stmt]:
    return list({node.name: node for node in body if isinstance(node, Definition)}.values())


def _test_functions(body: list[ast.stmt], rebound: frozenset[str]) -> Iterator[Function]:
    for node in _last_of_each_name(body):
        if (
            isinstance(node, Function)
            and node.name.startswith("test")
            and node.name not in rebound
            and _is_plain(node)
        ):
            yield node


def _is_plain(node: Definition) -> bool:
    decorators = [ast.unparse(each) for each in node.decorator_list]
    return all(
        _HARMLESS_DECORATOR.fullmatch(each) and not _EMPTY_PARAMETERS.fullmatch(each)
        for each in decorators
    )


def _is_test_case(node: ast.ClassDef) -> bool:
    return any(_TEST_CASE.fullmatch(ast.unparse(base)) for base in node.bases)


def _is_collected(node: ast.ClassDef) -> bool:
    """Whether pytest surely collects a class; an unknown base class may prevent it."""
    if not _is_plain(node) or _uses_test_flag(node.body):
        return False
    if _is_test_case(node):
        return len(node.bases) == 1 and not node.name.startswith("_")
    plain = not node.keywords and all(ast.unparse(base) == "object" for base in node.bases)
    functions = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    return plain and node.name.startswith("Test") and not {"__init__", "__new__"} & functions


_RESULT = "junit.xml"
# Inside a running test this expands to another name, so a pytest that a test starts does
# not count as a session of the suite.
_PIPE = "junit${PYTEST_CURRENT_TEST}.xml"
_GATHERED = "sessions.xml"
# The sessions of a script write to one pipe, one after the other. A process reads it up to
# a line that says that the script has ended, so it misses nothing. The pipe is always open
# at both ends: nothing blocks and nothing ends early. The empty line at the end is there
# because busybox's sed reads one line ahead.
_GATHER = """\
if command -v sed >/dev/null && mkfifo "$0" 2>/dev/null; then
  { LC_ALL=C sed -n '/^cooperbench-eval: end$/q;p' \
      >"${0%/*}/sessions.xml" 2>/dev/null; } <>"$0" &
  reader=$!
  exec 9<>"$0"
  "$@" 9<&-
  status=$?
  printf '\\ncooperbench-eval: end\\n\\n' >&9
  wait "$reader"
  [ "$status" -le 128 ] || kill -"$((status - 128))" $$ 2>/dev/null
  exit "$status"
fi
exec "$@"
"""
# Other programs are started directly: the sandbox reports a missing program, `sh` does not.
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
_NOTHING_COLLECTED = 5
_DEPTH_LIMIT = 64  # folders and classes above a test


def _launch(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    arguments = pytest_arguments(command)
    file = scratch / (_PIPE if _is_script(command) else _RESULT)
    # The old family names the file of each case; captured logs are not read.
    ours = (f"--junitxml={file}", "-o", "junit_family=xunit1", "-o", "junit_logging=no")
    options = " ".join(filter(None, (env.get("PYTEST_ADDOPTS"), shlex.join(ours))))
    env = {**env, "PYTEST_ADDOPTS": options}
    if _is_script(command):
        command = ("sh", "-c", _GATHER, str(file), *command)
    if arguments is None:
        return Launch(command=command, env=env)
    # If an option is given twice, the last one counts.
    end = len(command) - len(arguments)
    end += arguments.index("--") if "--" in arguments else len(arguments)
    return Launch(command=(*command[:end], *ours, *command[end:]), env=env)


def _read(run: FinishedRun) -> Iterable[TestCase]:
    elements = tuple(element for data in _sessions(run) for element in parse_junit(data))
    namer = _Namer(elements, run.tree)
    if any((each.classname, each.name) == ("pytest", "internal") for each in elements):
        raise UnreadableResultError("pytest met an internal error")
    # A case without a name began and was cut off when the session was stopped.
    return (
        case for element in elements if element.name for case in element.cases(namer.id_of(element))
    )


def _covers(case: TestCase, name: str) -> bool:
    """Whether *case* is the function *name* or one of its parameter sets.

    A name may also be that of a file, or stand for the function of any class. A file that
    cannot be collected, or that skips all its tests, is a case of each of its tests.
    """
    file, separator, function = case.id.partition("::")
    if not separator:
        is_whole = case.status in {TestCaseStatus.SKIPPED, TestCaseStatus.ERROR}
        return name == file or (is_whole and name.startswith(f"{file}::"))
    own = f"{file}::{function.partition('[')[0]}"
    if name.startswith(_ANY_CLASS):
        return own.endswith(name.removeprefix("*"))
    return name in {own, file}


def _is_script(command: tuple[str, ...]) -> bool:
    """Whether a shell, or a file of the tree, may start pytest more than once."""
    if pytest_arguments(command) is not None:
        return False
    program = PurePosixPath(command[0])
    return program.name in _SHELLS or ("/" in command[0] and not program.is_absolute())


def _sessions(run: FinishedRun) -> list[bytes]:
    """Return the result of each session of a run, or raise that there is none."""
    if not _is_script(run.command):
        return [read_result_file(run.scratch / _RESULT)]
    try:
        data = read_result_file(run.scratch / _GATHERED)
    except UnreadableResultError:
        # Without a pipe, each session overwrites the file of the one before.
        data = read_result_file(run.scratch / _PIPE)
    sessions = [text for text in re.split(rb"(?=<\?xml )", data) if text.strip()]
    if not sessions:
        raise UnreadableResultError("no result file was written")
    return sessions


class _Namer:
    """Turns pytest's `classname` and `name` back into the id they were made from.

    A class name is the file's path with dots, then the classes. The element's `file` is
    the path, except for an inherited test, where it is the file that defines the test. So
    the other elements and the tree are searched as well.
    """

    def __init__(self, elements: tuple[JUnitCase, ...], tree: Snapshot) -> None:
        self._reported = {_dotted(e.file): e.file for e in elements}
        self._tree = tree

    def id_of(self, element: JUnitCase) -> str:
        if not element.classname:
            return element.file or element.name
        own = {_dotted(element.file): element.file}
        for files in (own, self._reported, self._in_tree):
            if parts := _split(element.classname, files):
                return "::".join((*parts, element.name))
        return f"{element.classname}::{element.name}"

    @cached_property
    def _in_tree(self) -> dict[str, str]:
        return {_dotted(path): path for path in self._tree.paths()}


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _split(classname: str, files: Mapping[str, str]) -> list[str]:
    dots = [dot.start() for dot in islice(re.finditer(r"\.", classname), _DEPTH_LIMIT)]
    for end in (len(classname), *reversed(dots)):
        if file := files.get(classname[:end]):
            return [file, *filter(None, classname[end + 1 :].split("."))]
    return []


PYTEST_READER = Reader(
    launch=_launch,
    read=_read,
    required=_added_python_tests,
    added=_changed_python_tests,
    file_of=lambda case: case.id.partition("::")[0],
    covers=_covers,
    no_test_codes=frozenset({0, _NOTHING_COLLECTED}),
    result="JUnit file",
)
