"""The order of what both sides insert, and which statements may leave a suite."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.strategies.structured.ordering import may_leave


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"return\n", True),
        (b"if a:\n    for b in c:\n        break\n", True),
        (b"raise a\n", True),
        (b"continue\n", True),
        (b"def f():\n    return 1\n", False),
        (b"class A:\n    def f(self):\n        return 1\n", False),
        (b"returns = 1\n", False),
        (b"# return\n", False),
    ],
)
def test_a_statement_may_leave_its_suite(source, expected):
    """By a `return`, `raise`, `break` or `continue` in it, but not in a function it defines."""
    (statement, *_) = read_versions("a.py", [source, b"\n"])[0].children

    assert may_leave(statement) is expected
