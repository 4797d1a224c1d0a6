"""Finds the test functions that a patch brings to a tree of Python files."""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath

from cooperbench_eval.models import Entry
from cooperbench_eval.running.readers.protocol import NewTests

__all__ = ["added_python_tests"]

_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")
# What leaves tests out, or says so in a file of its own.
_SELECTS = re.compile(
    r"-[^-]*[kmc].*|@.*|.*::.*"
    r"|--(?:deselect|ignore|ignore-glob|lf|last-failed|sw|stepwise|collect|co|config|rootdir).*"
)
_TAKES_VALUE = frozenset({"-p", "-o", "-n", "-r", "-W", "--tb", "--maxfail", "--timeout"})
_TEST_CASE = re.compile(r"(?:.*\.)?\w*TestCase")


def added_python_tests(new: NewTests) -> tuple[str, ...]:
    """Name the functions as pytest does, `file::Class::function`, in the files' order.

    Named is what stands in a file that pytest looks into by default, is called as
    it expects by default, and is new or changed. Nothing is named where the command
    selects among the tests; where it is a script, the files are those of which
    something ran.
    """
    places = _places(new)
    return tuple(
        f"{path}::{name}"
        for path in new.paths
        if _TEST_FILE.fullmatch(PurePosixPath(path).name)
        and any(PurePosixPath(path).is_relative_to(place) for place in places)
        for name in _changed(new.before.get(path), new.after.get(path))
    )


def _places(new: NewTests) -> list[str]:
    """Return the files and folders of which every test is run."""
    words = list(new.command)
    starts = [i for i, word in enumerate(words) if PurePosixPath(word).name in _PROGRAMS]
    if not starts:
        return sorted({case.id.partition("::")[0] for case in new.cases})
    places = []
    arguments = iter(words[starts[0] + 1 :])
    for word in arguments:
        if _SELECTS.fullmatch(word):
            return []
        if word in _TAKES_VALUE:
            next(arguments, None)
        elif not word.startswith("-"):
            places.append(word.removeprefix("./").rstrip("/"))
    return places or ["."]


_PROGRAMS = frozenset({"pytest", "py.test"})


def _changed(before: Entry | None, after: Entry | None) -> Iterator[str]:
    known = dict(_functions(before))
    for name, text in dict(_functions(after)).items():
        if known.get(name) != text:
            yield name


def _functions(entry: Entry | None) -> Iterator[tuple[str, str]]:
    """Yield each test function's name and text; none of a file that cannot be parsed."""
    if entry is None or not entry.mode.is_regular:
        return
    try:
        with warnings.catch_warnings():  # an odd escape is not for our host to hear of
            warnings.simplefilter("ignore")
            body = ast.parse(entry.data).body
    # Parsing deep or odd text may fail in each of these ways.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in body:
        if isinstance(node, ast.ClassDef) and _is_collected(node):
            for name, text in _test_functions(node.body):
                yield f"{node.name}::{name}", text
    yield from _test_functions(body)


def _test_functions(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_test(node):
            yield node.name, ast.dump(node)


def _is_test(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    fixture = any("fixture" in ast.unparse(each) for each in node.decorator_list)
    return node.name.startswith("test") and not fixture


def _is_collected(node: ast.ClassDef) -> bool:
    """Whether pytest looks into a class by default; an inherited name may hide it."""
    if any(_TEST_CASE.fullmatch(ast.unparse(base)) for base in node.bases):
        return not node.name.startswith("_")
    defined = {
        each.name if isinstance(each, ast.FunctionDef) else ast.unparse(each) for each in node.body
    }
    hidden = "__init__" in defined or any(text.startswith("__test__") for text in defined)
    return node.name.startswith("Test") and not hidden
