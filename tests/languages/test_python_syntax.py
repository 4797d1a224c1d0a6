"""Tests that hostile Python is compiled with little work."""

from types import CodeType

import pytest

from cooperbench_eval.languages.readers import python_syntax
from cooperbench_eval.languages.readers.python_syntax import check_python
from cooperbench_eval.languages.tree import SyntaxFaultError

ALIKE = "\n    def f(self):\n        try: pass\n        except OSError as e: pass\n" * 1200
LAMBDAS = "".join(f"    x{i} = lambda: 0\n" for i in range(1200))


@pytest.mark.parametrize("members", [ALIKE, LAMBDAS])
def test_functions_that_differ_in_their_places_are_compiled_once(monkeypatch, members):
    made = []

    def compile_and_keep(*args, **kwargs):
        made.append(compile(*args, **kwargs))

    monkeypatch.setattr(python_syntax, "compile", compile_and_keep, raising=False)
    check_python(f"class A:\n{members}".encode())
    (suite,) = (each for each in made[-1].co_consts if isinstance(each, CodeType))
    assert sum(isinstance(each, CodeType) for each in suite.co_consts) == 1


@pytest.mark.parametrize("fault", ["return", "def f(a, a): pass", "def f(:"])
def test_faults_after_many_functions_have_the_right_line(fault):
    source = f"class A:\n{ALIKE}\n    {fault}\n"
    with pytest.raises(SyntaxFaultError) as caught:
        check_python(source.encode())
    assert caught.value.line == source.count("\n")
