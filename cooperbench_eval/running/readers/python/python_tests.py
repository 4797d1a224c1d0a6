"""Finds the test functions that a patch brings to a tree of Python files."""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath

from cooperbench_eval.models import Entry
from cooperbench_eval.running.readers.added import added_or_changed, behind
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.running.readers.python.pytest_options import (
    parse_places,
    pytest_arguments,
    split_words,
)
from cooperbench_eval.running.readers.python.pytest_settings import settings_above
from cooperbench_eval.snapshot import Snapshot

__all__ = ["added_python_tests"]

_TEST_CASE = re.compile(
    r"(?:\w+\.)*(?:TestCase|IsolatedAsyncioTestCase|SimpleTestCase|TransactionTestCase"
    r"|LiveServerTestCase|AsyncTestCase)"
)
# Decorators that neither rename, multiply, hide nor remove what they stand on.
_HARMLESS_DECORATOR = re.compile(
    r"(?:pytest\.)?mark\.\w+(?:\(.*\))?"
    r"|(?:unittest\.)?(?:mock\.)?patch(?:\.(?:object|dict|multiple))?\(.*\)"
    r"|unittest\.(?:skip|skipIf|skipUnless)\(.*\)|unittest\.expectedFailure"
    r"|(?:hypothesis\.)?(?:given|settings|example|seed)\(.*\)"
    r"|(?:freezegun\.)?freeze_time\(.*\)|responses\.activate",
    re.DOTALL,
)
_EMPTY_PARAMETERS = re.compile(r".*\bmark\.parametrize\([^\[(]*(?:\[\]|\(\))\)")


def added_python_tests(new: NewTests) -> tuple[str, ...]:
    """Name the functions as pytest does, `file::Class::function`, in the files' order.

    Named is what stands in a file that pytest looks into, is called as it expects, by
    the tree's settings and by default, and is new or changed. Nothing is named where
    the command or the settings select among the tests; where it is a script, the
    files are those of which something ran. Ids begin at pytest's root directory,
    which the run's own cases tell.
    """
    arguments = pytest_arguments(new.command)
    if arguments is None and _script_selects(new):
        return ()
    places = parse_places(arguments or (), new.env)
    if places is None:
        return ()
    files = frozenset(case.id.partition("::")[0] for case in new.cases)
    names = []
    for path in new.paths:
        reported = _as_reported(path, files, new.after)
        if arguments is None:
            is_run = reported in files
        else:
            is_run = any(PurePosixPath(path).is_relative_to(each) for each in places or ["."])
        if is_run:
            anywhere = arguments is not None and not places
            names += [f"{reported}::{name}" for name in _collected(path, new, anywhere=anywhere)]
    return tuple(names)


def _script_selects(new: NewTests) -> bool:
    """Whether a line of a script that starts pytest says which tests it runs."""
    for text in behind(r"pytest|py\.test", new):
        words = split_words(text)
        # Where a test's name comes from elsewhere, nobody knows.
        if words is None or parse_places(words, {}) is None:
            return True
    return False


def _as_reported(path: str, files: frozenset[str], tree: Snapshot) -> str:
    """Return a file's path from pytest's root directory, which may be a folder above it.

    A namesake from another place, which the tree holds there, is not that file.
    """
    parts = path.split("/")
    for start in range(len(parts)):
        shorter = "/".join(parts[start:])
        if shorter in files and (start == 0 or tree.get(shorter) is None):
            return shorter
    return path


def _collected(path: str, new: NewTests, *, anywhere: bool) -> Iterator[str]:
    """Yield the names of the functions that settings let pass too."""
    pure = PurePosixPath(path)
    settings = settings_above(pure, new.after)
    if settings is None or not all(
        each.has_file(pure, anywhere=anywhere) and not each.selects() for each in settings
    ):
        return
    cases = _unittest_cases(new.after.get(path))
    for name in added_or_changed(path, new, _functions):
        owner, _, function = name.rpartition("::")
        if owner in cases or all(
            each.has_function(function) and (not owner or each.has_class(owner))
            for each in settings
        ):
            yield name


def _functions(entry: Entry | None) -> Iterator[tuple[str, str]]:
    """Yield each test function's name and text; none of a file that cannot be parsed."""
    body = _body(entry)
    rebound = _rebound(body)
    if any(ast.unparse(node).startswith("__test__") for node in body):
        return
    for node in _last_of_each_name(body):
        if isinstance(node, ast.ClassDef) and node.name not in rebound and _is_collected(node):
            for name, text in _test_functions(node.body, rebound):
                yield f"{node.name}::{name}", text
    yield from _test_functions(body, rebound)


def _body(entry: Entry | None) -> list[ast.stmt]:
    if entry is None or not entry.mode.is_regular:
        return []
    try:
        with warnings.catch_warnings():  # an odd escape is not for our host to hear of
            warnings.simplefilter("ignore")
            return ast.parse(entry.data).body
    # Parsing deep or odd text may fail in each of these ways.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


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


def _last_of_each_name(body: list[ast.stmt]) -> list[ast.stmt]:
    last = {
        node.name: node
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    return list(last.values())


def _test_functions(body: list[ast.stmt], rebound: frozenset[str]) -> Iterator[tuple[str, str]]:
    for node in _last_of_each_name(body):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name.startswith("test")
            and node.name not in rebound
            and _is_plain(node)
        ):
            yield node.name, ast.dump(node)


def _is_plain(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    decorators = [ast.unparse(each) for each in node.decorator_list]
    return all(
        _HARMLESS_DECORATOR.fullmatch(each) and not _EMPTY_PARAMETERS.fullmatch(each)
        for each in decorators
    )


def _is_test_case(node: ast.ClassDef) -> bool:
    return any(_TEST_CASE.fullmatch(ast.unparse(base)) for base in node.bases)


def _unittest_cases(entry: Entry | None) -> frozenset[str]:
    """Return the classes that pytest looks into whatever their name."""
    body = _body(entry)
    return frozenset(
        each.name for each in body if isinstance(each, ast.ClassDef) and _is_test_case(each)
    )


def _is_collected(node: ast.ClassDef) -> bool:
    """Whether pytest surely looks into a class; an unknown base may keep it from that."""
    defined = {
        each.name
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        else ast.unparse(each)
        for each in node.body
    }
    if not _is_plain(node) or any(text.startswith("__test__") for text in defined):
        return False
    if _is_test_case(node):
        return len(node.bases) == 1 and not node.name.startswith("_")
    plain = not node.keywords and all(ast.unparse(base) == "object" for base in node.bases)
    return plain and node.name.startswith("Test") and not {"__init__", "__new__"} & defined
