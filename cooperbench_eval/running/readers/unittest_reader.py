"""Reads the JUnit XML that our own script makes unittest write.

Unittest itself only prints text. So `-m unittest` is replaced by a script that runs
unittest's own command line and writes the file at its end. If the command starts
something else, such as a script, the closing lines of each session are read from the
output. Any code can print such lines; their cases have numbers and no names.

Case ids are unittest's own, `module.Class.method`. A failure outside of a test has the
name that unittest gives it, such as `setUpClass (module.Class)`; a module that cannot be
imported is a case under its own name. Subtests are part of their test, which has the
status of the worst of them. An unexpected success counts as failed.
"""

import ast
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.protocol import (
    FinishedRun,
    Launch,
    NewTests,
    Reader,
    added_tests,
    contents_of,
    option_and_value,
    remembered_tests,
    tests_by_file,
)
from cooperbench_eval.running.readers.python_parts import (
    PASSED_ON,
    Function,
    digest_of,
    parse_python,
    python_parts,
)
from cooperbench_eval.running.readers.result_files import (
    UnreadableResultError,
    parse_junit,
    read_result_file,
    unnamed,
    whole_output,
)
from cooperbench_eval.running.results import BAD, TestCase, TestCaseStatus

# A line of hyphens, the number of tests, an empty line, the verdict.
_CLOSING = re.compile(
    r"(?m)^-{70}\r?\nRan (?P<ran>\d{1,9}) tests? in \d+\.\d+s\r?\n\r?\n"
    r"(?P<verdict>OK|FAILED|NO TESTS RAN)(?: \((?P<counts>[a-z]+(?: [a-z]+)?=\d{1,9}"
    r"(?:, [a-z]+(?: [a-z]+)?=\d{1,9})*)\))?\r?$"
)
_BEGUN = re.compile(r"(?m)^-{70}\r?\nRan \d+ tests? in ")
_KINDS = {
    "failures": TestCaseStatus.FAILED,
    "errors": TestCaseStatus.ERROR,
    "skipped": TestCaseStatus.SKIPPED,
    "expected failures": TestCaseStatus.XFAILED,
    "unexpected successes": TestCaseStatus.FAILED,
}


def _read_unittest_output(output: bytes) -> tuple[TestCase, ...]:
    """Return the cases of every session, which have numbers and no names.

    A test counts once for each of its subtests that failed, as it does in unittest.
    """
    text = whole_output(output)
    sessions = list(_CLOSING.finditer(text))
    if not sessions:
        raise UnreadableResultError("no session of unittest printed a result")
    if len(sessions) != len(_BEGUN.findall(text)):
        raise UnreadableResultError("a session of unittest printed no whole result")
    total: Counter[TestCaseStatus] = Counter()
    for session in sessions:
        total.update(_counts(session))
    return unnamed("unittest", total)


def _counts(session: re.Match[str]) -> Counter[TestCaseStatus]:
    found: Counter[TestCaseStatus] = Counter()
    for each in filter(None, (session["counts"] or "").split(", ")):
        kind, _, number = each.partition("=")
        if kind not in _KINDS:
            raise UnreadableResultError(f"unittest counts an unknown kind of result: {kind!r}")
        found[_KINDS[kind]] += int(number)
    if any(found[status] for status in BAD) != (session["verdict"] == "FAILED"):
        raise UnreadableResultError("unittest's verdict contradicts its counts")
    found[TestCaseStatus.PASSED] = max(0, int(session["ran"]) - found.total())
    return found


_ANY_CLASS = "*."
"""Stands in a name for the module and the class, if any class may inherit the method."""

_HARMLESS = frozenset(
    {
        *("-v", "-q", "-b", "-f", "-c", "--verbose", "--quiet", "--buffer", "--failfast"),
        *("--catch", "--locals"),
    }
)
_DISCOVERY_OPTIONS = {
    "-s": "start",
    "--start-directory": "start",
    "-p": "pattern",
    "--pattern": "pattern",
    "-t": "top",
    "--top-level-directory": "top",
}
_TEST_CASE = re.compile(r"(?:unittest\.)?(?:TestCase|IsolatedAsyncioTestCase)")


def _added_unittest_tests(new: NewTests) -> tuple[str, ...]:
    """Name the methods `module.Class.method`, in the order of the files.

    A method is named if it is new or changed in a direct subclass of unittest's own
    classes, if the command names it, its class or its module or discovery finds its module,
    and if it matches one of the `-k` patterns. Nothing is named in a module that defines
    `load_tests`.
    """
    at = _place_of_module(new.command)
    if at is None:
        return ()
    arguments = new.command[at + 2 :]
    patterns, words = _patterns([word for word in arguments if word not in _HARMLESS])
    discovers = not words or arguments[0] == "discover"
    discovery = _discovery(words[1:]) if discovers else None
    if discovery is None and any(word.startswith("-") or word == "discover" for word in words):
        return ()

    def prefix(path: str) -> str:
        module = _module(path) if discovery is None else discovery(path, new.after)
        return f"{module}." if module else ""

    def keeps(path: str, test: str) -> bool:
        name = prefix(path) + test
        is_named = discovery is not None or _is_named(name, words)
        return is_named and (not patterns or any(fnmatchcase(name, each) for each in patterns))

    return added_tests(new, _methods, prefix, keeps)


def _is_named(name: str, words: Sequence[str]) -> bool:
    class_ = name.rpartition(".")[0]
    module = class_.rpartition(".")[0]
    return not {name, class_, module, f"{module.replace('.', '/')}.py"}.isdisjoint(words)


def _patterns(words: list[str]) -> tuple[list[str], list[str]]:
    patterns: list[str] = []
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        option, value = option_and_value(word, rest, {"-k"})
        if option != "-k":
            others.append(word)
        else:
            # Unittest looks for a pattern without a star anywhere in the name.
            patterns.append(value if "*" in value else f"*{value}*")
    return patterns, others


def _changed_unittest_tests(new: NewTests) -> tuple[str, ...]:
    """Name all methods that the patch adds or changes, whatever the command runs.

    The name of a module stands for all its tests, if it cannot be parsed or is itself a
    case. The methods of a class without base classes are named `*.method`: any class may
    inherit them.
    """
    ids = {case.id for case in new.cases}
    python = [path for path in new.paths if _module(path)]
    names = []
    for path, tests in tests_by_file(new, python_parts, python):
        module = _as_reported(_module(path), new)
        if tests is None or module in ids:
            names.append(module)
            continue
        for owner, _, method in (test.rpartition("::") for test in tests):
            if not owner or not method.startswith(("test", "runTest")):
                continue
            if owner.startswith(PASSED_ON):
                names.append(f"{_ANY_CLASS}{method}")
            else:
                names.append(f"{module}.{owner.replace('::', '.')}.{method}")
    return tuple(names)


def _as_reported(module: str, new: NewTests) -> str:
    """Return a module's name from the folder where discovery began, if a case shows it."""
    parts = module.split(".")
    for start in range(len(parts)):
        shorter = ".".join(parts[start:])
        if any(f"{case.id}.".startswith(f"{shorter}.") for case in new.cases):
            return shorter
    return module


def _discovery(words: Sequence[str]) -> Callable[[str, Snapshot], str] | None:
    """Return `_found` for the arguments after `discover`; `None` if they are not understood."""
    values: dict[str, str] = {}
    places = iter(("start", "pattern", "top"))
    rest = iter(words)
    for word in rest:
        if word.startswith("-"):
            option, value = option_and_value(word, rest, _DISCOVERY_OPTIONS)
            key = _DISCOVERY_OPTIONS.get(option)
        else:
            key, value = next(places, None), word
        if key is None:
            return None
        values[key] = value
    start = PurePosixPath(values.get("start", "."))
    top = PurePosixPath(values.get("top", start))
    # A dotted name is the name of a package, which may be anywhere.
    if ".." in start.parts or "." in start.name or not start.is_relative_to(top):
        return None
    pattern = values.get("pattern", "test*.py")
    return partial(_found, start=start, pattern=pattern, top=top)


def _found(
    path: str, tree: Snapshot, *, start: PurePosixPath, pattern: str, top: PurePosixPath
) -> str:
    """Return the module that discovery loads from a file; empty if it may not find the file.

    Unittest looks below *start*; names of modules are relative to *top*.
    """
    pure = PurePosixPath(path)
    if not pure.is_relative_to(start) or not fnmatchcase(pure.name, pattern):
        return ""
    between = [each for each in pure.parents if each.is_relative_to(top)]
    for folder in between:
        entry = tree.get(str(folder / "__init__.py"))
        if b"load_tests" in contents_of(entry) or (entry is None and folder != top):
            return ""
    return _module(str(pure.relative_to(top)))


def _module(path: str) -> str:
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    is_module = path.endswith(".py") and all(part.isidentifier() for part in parts)
    return ".".join(parts) if is_module else ""


@remembered_tests
def _methods(data: bytes) -> Iterator[tuple[str, str]]:
    body = parse_python(data) or []
    if any(isinstance(each, ast.FunctionDef) and each.name == "load_tests" for each in body):
        return
    for each in body:
        if isinstance(each, ast.ClassDef) and _is_collected(each):
            for function in each.body:
                if isinstance(function, Function) and (
                    function.name.startswith("test") and _keeps_name(function)
                ):
                    yield f"{each.name}.{function.name}", digest_of(function, data)


def _is_collected(node: ast.ClassDef) -> bool:
    plain = not node.decorator_list and not node.keywords
    return plain and any(_TEST_CASE.fullmatch(ast.unparse(base)) for base in node.bases)


def _keeps_name(node: Function) -> bool:
    """Whether no decorator may rename, multiply or remove the method."""
    return all(
        ast.unparse(each).startswith(("unittest.", "mock.", "patch"))
        for each in node.decorator_list
    )


_SCRIPT = Path(__file__).with_name("unittest_script.py")
_RESULT = "unittest.xml"
_NO_TESTS = 5  # from Python 3.12 on
_PLACE = re.compile(r"\w+ \((.+)\)")  # of a failed `setUpClass`, for example
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")


def _launch(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    at = _place_of_module(command)
    if at is not None:
        script = scratch / _SCRIPT.name
        shutil.copyfile(_SCRIPT, script)
        command = (*command[:at], str(script), str(scratch / _RESULT), *command[at + 2 :])
    return Launch(command=command, env=env)


def _read(run: FinishedRun) -> Iterable[TestCase]:
    if _place_of_module(run.command) is None:
        return _read_unittest_output(run.output)
    elements = parse_junit(read_result_file(run.scratch / _RESULT))
    return (case for element in elements for case in element.cases(element.name))


def _place_of_module(command: tuple[str, ...]) -> int | None:
    """Return the position of `-m unittest` after a Python and its own options, if any."""
    for at in range(len(command)):
        if _PYTHON.fullmatch(PurePosixPath(command[at]).name):
            arguments = iter(range(at + 1, len(command) - 1))
            for place in arguments:
                if command[place : place + 2] == ("-m", "unittest"):
                    return place
                if command[place] in {"-W", "-X"}:
                    next(arguments, None)
                elif not re.fullmatch(r"-[bBdEIOPqsSuvxWX].*", command[place]):
                    break
    return None


def _covers(case: TestCase, name: str) -> bool:
    """Whether *case* is the method *name*, or the failure of its class or module.

    A name may also be that of a module, or stand for the method of any class.
    """
    if name.startswith(_ANY_CLASS):
        return case.id.endswith(name.removeprefix("*"))
    if case.status is TestCaseStatus.ERROR:
        place = _PLACE.fullmatch(case.id)
        if name.startswith(f"{place[1] if place else case.id}."):
            return True
    return f"{case.id}.".startswith(f"{name}.")


UNITTEST_READER = Reader(
    launch=_launch,
    read=_read,
    required=_added_unittest_tests,
    added=_changed_unittest_tests,
    covers=_covers,
    no_test_codes=frozenset({0, _NO_TESTS}),
)
