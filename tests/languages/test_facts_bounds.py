"""Tests that the facts of hostile Python are found with little work."""

import symtable
from types import CodeType

import pytest

from cooperbench_eval.languages.python import facts as pythonfacts
from cooperbench_eval.languages.python.facts import Facts, cut
from cooperbench_eval.languages.tree import SyntaxFaultError

ALIKE = "\n    def f(self):\n        try: pass\n        except OSError as e: pass\n" * 1200
LAMBDAS = "".join(f"    x{i} = lambda: 0\n" for i in range(1200))


def test_inner_scopes_are_not_searched_for_each_name(monkeypatch):
    monkeypatch.delattr(symtable.SymbolTable, "lookup")
    facts = Facts.of(["class A:\n    x = y\n    def f(self):\n        global z; z = len\n"])
    assert facts.defined == {"A", "f"}
    assert facts.used == {"y", "len"}
    assert facts.bound == {"A", "z"}
    assert facts.members == {"x", "f"}


@pytest.mark.parametrize("members", [ALIKE, LAMBDAS])
def test_functions_that_differ_in_their_places_are_compiled_once(monkeypatch, members):
    made = []

    def compile_and_keep(*args, **kwargs):
        made.append(compile(*args, **kwargs))

    monkeypatch.setattr(pythonfacts, "compile", compile_and_keep, raising=False)
    cut(f"class A:\n{members}".encode())
    (suite,) = (each for each in made[-1].co_consts if isinstance(each, CodeType))
    assert sum(isinstance(each, CodeType) for each in suite.co_consts) == 1


@pytest.mark.parametrize("fault", ["return", "def f(a, a): pass", "def f(:"])
def test_faults_after_many_functions_have_the_right_line(fault):
    source = f"class A:\n{ALIKE}\n    {fault}\n"
    with pytest.raises(SyntaxFaultError) as caught:
        cut(source.encode())
    assert caught.value.line == source.count("\n")
