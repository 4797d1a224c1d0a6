"""Runs unittest's own command line and writes the results as JUnit XML.

It is started in place of `-m unittest`, with the result's path before the other
arguments. It must work in any Python from 3.8 on, without this library.
"""

from __future__ import annotations

import os
import sys
import time
import unittest
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MESSAGE_LIMIT = 2_000


class _Result(unittest.TextTestResult):
    """Also records which tests ran, and how long each took."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.started: dict[str, float] = {}
        self.spent: dict[str, float] = {}

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's name
        self.started[_name(test)] = time.perf_counter()
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's name
        super().stopTest(test)
        now = time.perf_counter()
        self.spent[_name(test)] = now - self.started.get(_name(test), now)


def _name(test: Any) -> str:
    """Return the id of a test; for a subtest, the id of its test."""
    test = getattr(test, "test_case", test)
    name = str(test.id())
    # Unittest puts this before a module that cannot be imported, or a name not found.
    return name.replace("unittest.loader._FailedTest.", "")


def _outcomes(result: _Result) -> Iterator[tuple[str, str, str, str]]:
    """Yield the id, element, kind and message of each outcome except a pass."""
    for test, text in result.failures:
        yield _name(test), "failure", "", _message(test, text)
    for test, text in result.errors:
        yield _name(test), "error", "", _message(test, text)
    for test, text in result.skipped:
        yield _name(test), "skipped", "", text
    for test, text in result.expectedFailures:
        yield _name(test), "skipped", "unittest.xfail", text
    for test in result.unexpectedSuccesses:
        yield _name(test), "failure", "", "it passed and was expected to fail"


def _message(test: Any, text: str) -> str:
    # For a subtest, the message says which one it is.
    return f"{test}\n{text}" if hasattr(test, "test_case") else text


def _plain(text: str) -> str:
    """Return a text as an attribute's value; characters that XML forbids are escaped."""
    fit = (
        each if each in "\t\n\r" or (each >= " " and not "\ud7ff" < each < "\ue000") else repr(each)
        for each in text
    )
    return quoteattr("".join(fit).replace("\ufffe", "").replace("\uffff", ""))


def _elements(result: _Result) -> Iterator[str]:
    found: dict[str, list[str]] = {name: [] for name in result.started}
    ended = set(result.spent)
    for name, element, kind, message in _outcomes(result):
        outcomes = found.setdefault(name, [])
        ended.add(name)
        text = _plain(message[-_MESSAGE_LIMIT:])
        outcomes.append(f"<{element} type={_plain(kind)} message={text}/>")
    yield "<testsuites><testsuite>"
    for name, outcomes in found.items():
        children = "".join(outcomes if name in ended else ['<error message="it did not end"/>'])
        seconds = result.spent.get(name, 0.0)
        yield f'<testcase name={_plain(name)} time="{seconds:.6f}">{children}</testcase>'
    yield "</testsuite></testsuites>"


def _write(path: str, lines: Iterable[str]) -> None:
    # Written completely or not at all: a run that was cut off must not look like a short one.
    with open(path + ".new", "w", encoding="utf-8") as file:  # noqa: PTH123 - no more modules
        file.write("\n".join(lines))
    os.replace(path + ".new", path)  # noqa: PTH105


def main() -> None:
    """Run `python -m unittest`, then write the result."""
    path = sys.argv[1]
    # As with `-m`, modules are imported from the current folder, not from this file's.
    if sys.path[0] == os.path.dirname(os.path.abspath(__file__)):  # noqa: PTH100, PTH120
        sys.path[0] = os.getcwd()  # noqa: PTH109
    sys.argv[:2] = [f"{os.path.basename(sys.executable)} -m unittest"]  # noqa: PTH119

    class Runner(unittest.TextTestRunner):
        resultclass = _Result

        def run(self, test: Any) -> Any:
            result = super().run(test)
            _write(path, _elements(result))  # type: ignore[arg-type]
            return result

    unittest.main(module=None, testRunner=Runner)


if __name__ == "__main__":
    main()
