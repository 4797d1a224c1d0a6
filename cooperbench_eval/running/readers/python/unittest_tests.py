"""Finds the test methods that a patch brings to files that unittest runs."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from cooperbench_eval.models import Entry
from cooperbench_eval.running.readers.protocol import NewTests
from cooperbench_eval.snapshot import Snapshot

__all__ = ["added_unittest_tests"]

_TEST_FILE = re.compile(r"test\w*\.py")
_HARMLESS = frozenset({"-v", "-q", "-b", "-f", "--verbose", "--quiet", "--buffer", "--failfast"})
_TEST_CASE = re.compile(r"(?:unittest\.)?(?:TestCase|IsolatedAsyncioTestCase)")


def added_unittest_tests(new: NewTests, arguments: Sequence[str]) -> tuple[str, ...]:
    """Name the methods `module.Class.method`, in the order of the files.

    Named is what is new or changed in a direct subclass of unittest's own classes,
    in a module that *arguments* name, or in one that plain discovery finds.
    Nothing is named where a module loads its tests in its own way.
    """
    words = [word for word in arguments if word not in _HARMLESS]
    if any(word.startswith("-") for word in words):
        return ()
    return tuple(
        f"{module}.{name}"
        for path in new.paths
        if (module := _module(path)) and _is_run(path, module, words, new.after)
        for name in _changed(new.before.get(path), new.after.get(path))
    )


def _module(path: str) -> str:
    parts = path.removesuffix(".py").split("/")
    is_module = path.endswith(".py") and all(part.isidentifier() for part in parts)
    return ".".join(parts) if is_module else ""


def _is_run(path: str, module: str, words: list[str], tree: Snapshot) -> bool:
    if words in ([], ["discover"], ["discover", "."]):
        pure = PurePosixPath(path)
        packages = [str(each / "__init__.py") for each in pure.parents if each.name]
        own_way = any(b"load_tests" in _data(tree.get(each)) for each in packages)
        found = all(tree.get(each) is not None for each in packages) and not own_way
        return found and _TEST_FILE.fullmatch(pure.name) is not None
    return module in words or path in words


def _changed(before: Entry | None, after: Entry | None) -> Iterator[str]:
    known = dict(_methods(before))
    for name, text in dict(_methods(after)).items():
        if known.get(name) != text:
            yield name


def _methods(entry: Entry | None) -> Iterator[tuple[str, str]]:
    data = _data(entry)
    try:
        body = ast.parse(data).body
    # Parsing deep or odd text may fail in each of these ways.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    if any(isinstance(each, ast.FunctionDef) and each.name == "load_tests" for each in body):
        return
    for each in body:
        if isinstance(each, ast.ClassDef) and _is_collected(each):
            for function in each.body:
                if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and (
                    function.name.startswith("test") and _keeps_name(function)
                ):
                    yield f"{each.name}.{function.name}", ast.dump(function)


def _is_collected(node: ast.ClassDef) -> bool:
    plain = not node.decorator_list and not node.keywords
    return plain and any(_TEST_CASE.fullmatch(ast.unparse(base)) for base in node.bases)


def _keeps_name(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether no decorator may rename, multiply or remove the method."""
    return all(
        ast.unparse(each).startswith(("unittest.", "mock.", "patch"))
        for each in node.decorator_list
    )


def _data(entry: Entry | None) -> bytes:
    return entry.data if entry is not None and entry.mode.is_regular else b""
