"""Measures the layout of the package: its size, and how many files a call passes through.

    python benchmarks/layout.py

Prints the modules, the lines that are not blank, the records (attrs classes) and the entries
at the top of the package. Then it makes three calls, notes whose functions run, in all threads,
and prints the number of files for each call. With `--files` it also names them. Each call is
made once before that, so that what runs only during imports does not count.
"""

import argparse
import ast
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import cooperbench_eval as ce

_PACKAGE: Final = Path(ce.__file__).parent
_RECORD_DECORATORS: Final = {"frozen", "define", "mutable"}

_BASE: Final = {"greet.py": b"def greet():\n    return 'hello'\n"}
_CONFLICT: Final = (b"def greet():\n    return 'hi'\n", b"def greet():\n    return 'hey'\n")
_APART: Final = ({"one.py": b"ONE = 1\n"}, {"two.py": b"TWO = 2\n"})
_TEST: Final = b"from greet import greet\n\n\ndef test_greet():\n    assert greet() == 'hello'\n"


def main() -> None:
    """Print the sizes, then the files of each call."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--files", action="store_true", help="name the files of each call")
    names_files = parser.parse_args().files

    modules = [file.read_text(encoding="utf-8") for file in sorted(_PACKAGE.rglob("*.py"))]
    lines = sum(bool(line.strip()) for text in modules for line in text.splitlines())
    entries = [each.name for each in _PACKAGE.iterdir() if each.name != "__pycache__"]
    print(f"modules           {len(modules):>6}")
    print(f"non-blank lines   {lines:>6}")
    print(f"lines a module    {lines / len(modules):>6.0f}")
    print(f"records           {sum(map(count_records, modules)):>6}")
    print(f"entries at top    {len(entries):>6}")
    for name, call in CALLS.items():
        files = files_of(call)
        print(f"{name:<40} {len(files):>4} files")
        if names_files:
            print(*(f"    {each}" for each in files), sep="\n")


def count_records(text: str) -> int:
    """Return the number of attrs classes in a module."""
    classes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef))
    return sum(any(map(_makes_record, each.decorator_list)) for each in classes)


def _makes_record(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(named).rpartition(".")[2] in _RECORD_DECORATORS


def files_of(call: Callable[[], object]) -> list[str]:
    """Return the files of the package whose functions run in a call, sorted."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    call()  # what runs only while modules are imported does not count
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    paths = {Path(code.co_filename) for code in codes}
    return sorted(str(each.relative_to(_PACKAGE)) for each in paths if _PACKAGE in each.parents)


def _patches(*trees: dict[str, bytes]) -> list[bytes]:
    base = ce.Snapshot.from_files(_BASE)
    sides = (ce.Snapshot.from_files(_BASE | tree) for tree in trees)
    return [ce.Changes.between(base, side).diff(base) for side in sides]


def evaluate_a_conflict() -> None:
    """Evaluate a pair that changes one line in two ways, and write its report."""
    one, two = _patches(*({"greet.py": text} for text in _CONFLICT))
    pair = ce.FeaturePair(
        repo_name="greetings",
        task_id=1,
        base=ce.Snapshot.from_files(_BASE),
        feature1=ce.Feature(number=1, patch=one),
        feature2=ce.Feature(number=2, patch=two),
    )
    report = ce.Evaluator(strategies=["naive", "union"]).evaluate(pair)
    with tempfile.TemporaryDirectory() as folder:
        ce.write_report(report, folder)


def land_two_patches() -> None:
    """Plan how two patches land, without tests."""
    ce.land(ce.Snapshot.from_files(_BASE), _patches(*_APART))


def run_a_suite() -> None:
    """Run a suite that brings its tests as a patch."""
    (tests,) = _patches({"test_greet.py": _TEST})
    suite = ce.TestSuite(command=("python", "-m", "pytest", "-q"), patch=tests, framework="pytest")
    runner = ce.TestRunner(sandbox=ce.LocalSandbox())
    runner.run(ce.Snapshot.from_files(_BASE), ce.Changes({}), suite)


CALLS: Final = {
    "evaluate and write a two-line conflict": evaluate_a_conflict,
    "land two patches": land_two_patches,
    "run one suite": run_a_suite,
}

if __name__ == "__main__":
    main()
