"""Finds the test functions that a patch adds to Python files that pytest runs."""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from attrs import frozen

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.added import added_or_changed, contents_of
from cooperbench_eval.running.readers.command_line import arguments_in_script, split_words
from cooperbench_eval.running.readers.parts import remembered, tests_by_file
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.running.readers.python.pytest_options import (
    Selection,
    parse_selection,
    pytest_arguments,
)
from cooperbench_eval.running.readers.python.pytest_settings import (
    DEFAULT_SETTINGS,
    Settings,
    settings_above,
)
from cooperbench_eval.running.readers.python.python_parts import PASSED_ON, digest_of, python_parts
from cooperbench_eval.running.readers.python.python_source import statements_of

__all__ = ["ANY_CLASS", "added_python_tests", "changed_python_tests"]

ANY_CLASS = "*::"
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
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITION = _Function | ast.ClassDef
_EMPTY_PARAMETERS = re.compile(r".*\bmark\.parametrize\([^\[(]*(?:\[\]|\(\))\)")


def added_python_tests(new: NewTests) -> tuple[str, ...]:
    """Name the functions as pytest does, `file::Class::function`, in the order of the files.

    A function is named if it is new or changed, and if pytest collects it both with the
    tree's settings and with the default ones. If the command selects by `-k`, ids, ignored
    files or deselected ids, it must surely be selected; nothing is named if the command or
    the settings select in another way. If the command is a script, only files with reported
    cases are searched, and each call in it must select the function. Ids begin at pytest's
    root directory, which is found from the run's own cases.
    """
    arguments = pytest_arguments(new.command)
    calls = _script_calls(new) if arguments is None else [parse_selection(arguments, new.env)]
    files = frozenset(case.id.partition("::")[0] for case in new.cases)
    names = []
    for path in new.paths:
        reported = _as_reported(path, files, new.after)
        text = contents_of(new.after.get(path)).decode(errors="replace")
        anywhere = arguments is not None and not any(c is None or c.named for c in calls)
        for name in _collected(path, new, anywhere=anywhere):
            if arguments is None:
                is_run = reported in files and _is_kept(calls, path, name, text)
            else:
                is_run = any(call is not None and _runs(call, path, name, text) for call in calls)
            if is_run:
                names.append(f"{reported}::{name}")
    return tuple(names)


def changed_python_tests(new: NewTests) -> tuple[str, ...]:
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
        yield f"{ANY_CLASS}{function}"


def _script_calls(new: NewTests) -> list[Selection | None]:
    """Return what the lines of a script that start pytest select; `None` if that is unknown."""
    calls = []
    for text in arguments_in_script(r"pytest|py\.test", new):
        words = split_words(text)
        # Words that cannot be split may name anything.
        calls.append(None if words is None else parse_selection(words, {}))
    more = parse_selection((), new.env)
    return calls if more == Selection() else [None]


def _runs(call: Selection, path: str, test: str, text: str) -> bool:
    is_named = call.is_above(path) or call.has_node(path, test)
    return is_named and call.keeps(path, test, text)


def _is_kept(calls: list[Selection | None], path: str, test: str, text: str) -> bool:
    """Whether every call of a script that may run a file selects a test of it."""
    if all(call is not None and call.is_whole for call in calls):
        return True
    known = [call for call in calls if call is not None]
    named = [call for call in known if call.may_name(path)]
    return (
        len(known) == len(calls)
        and bool(named)
        and all(
            call.keeps(path, test, text)
            and (not call.nodes or call.has_node(path, test, anywhere=True))
            for call in named
        )
    )


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
    after = _file(contents_of(new.after.get(path)))
    before = _file(contents_of(new.before.get(path)))
    for name in added_or_changed(before.functions, after.functions):
        owner, _, function = name.rpartition("::")
        if owner in after.cases or all(
            each.has_function(function) and (not owner or each.has_class(owner))
            for each in settings
        ):
            yield name


@frozen
class _File:
    """The functions that pytest may collect, with digests, and the names of test cases."""

    functions: tuple[tuple[str, str], ...]
    cases: frozenset[str]


@remembered
def _file(data: bytes) -> _File:
    body = statements_of(data)
    # Pytest collects these whatever their name.
    try:
        cases = {
            node.name for node in body if isinstance(node, ast.ClassDef) and _is_test_case(node)
        }
        return _File(tuple(_functions(body, data)), frozenset(cases))
    except RecursionError:  # a decorator or base class may be nested deeply
        return _File((), frozenset())


def _functions(body: list[ast.stmt], data: bytes) -> Iterator[tuple[str, str]]:
    rebound = _rebound(body)
    if _uses_test_flag(body):
        return
    for node in _last_of_each_name(body):
        if isinstance(node, ast.ClassDef) and node.name not in rebound and _is_collected(node):
            for function in _test_functions(node.body, rebound):
                yield f"{node.name}::{function.name}", digest_of(function, data)
    for function in _test_functions(body, rebound):
        yield function.name, digest_of(function, data)


def _rebound(body: list[ast.stmt]) -> frozenset[str]:
    """Return the names that are assigned to, deleted or imported anywhere in a file."""
    names = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                names.add(node.id)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names |= {each.asname or each.name for each in node.names}
    return frozenset(names)


def _uses_test_flag(body: list[ast.stmt]) -> bool:
    """Whether a module or class uses `__test__`, with which it can hide its tests."""
    statements = (each for each in body if not isinstance(each, _DEFINITION))
    names = (node for each in statements for node in ast.walk(each) if isinstance(node, ast.Name))
    return any(name.id == "__test__" for name in names)


def _last_of_each_name(body: list[ast.stmt]) -> list[ast.stmt]:
    return list({node.name: node for node in body if isinstance(node, _DEFINITION)}.values())


def _test_functions(body: list[ast.stmt], rebound: frozenset[str]) -> Iterator[_Function]:
    for node in _last_of_each_name(body):
        if (
            isinstance(node, _Function)
            and node.name.startswith("test")
            and node.name not in rebound
            and _is_plain(node)
        ):
            yield node


def _is_plain(node: _DEFINITION) -> bool:
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
