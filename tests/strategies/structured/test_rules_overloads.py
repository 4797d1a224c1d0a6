"""Overloads of one function that both sides insert."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge


def merged(path, *versions):
    """Merge three versions of a file."""
    trees = read_versions(path, [each.encode() + b"\n" for each in versions])
    return render(TreeMerge().merge(*trees))[1:].decode()


LANGUAGES = {
    "a.ts": ("function f(a: T): void;\n", "function f(a: any) {\n  g(a);\n}"),
    "a.py": ("@t.overload\ndef f(a: T): ...\n", "def f(a):\n    g(a)"),
}


@pytest.mark.parametrize("path", LANGUAGES)
@pytest.mark.parametrize("before", [[], ["int"]], ids=["the first", "a further one"])
def test_overloads_of_both_sides_are_kept(path, before):
    """Each different one once, in front of the function."""
    overload, function = LANGUAGES[path]

    def written(*types):
        return "".join(overload.replace("T", each) for each in (*before, *types)) + function

    found = merged(path, written(), written("str", "bytes"), written("str", "bool"))
    assert found.replace("\n\n", "\n") == written("str", "bytes", "bool")


OTHERS = {
    "functions": ("a.py", "", "def f(a):\n    g(a)\n", "def f(a):\n    h(a)\n"),
    "another decorator": ("a.py", "", "@x\ndef f(a: int): ...\n", "@x\ndef f(a: str): ...\n"),
    "another parameter": (
        "a.ts",
        "@function f(a: any, b?: any, c?: any) {\n  g(a, b, c);\n}",
        "function f(a: string, b: string): void;\n",
        "function f(a: string, c: string): void;\n",
    ),
    "methods of an interface": (
        "a.ts",
        "interface R {\n  g(): void;\n@}",
        "  f(a: string): void;\n",
        "  f(a: number): void;\n",
    ),
}


@pytest.mark.parametrize(("path", "frame", "ours", "theirs"), OTHERS.values(), ids=OTHERS)
def test_other_functions_of_one_name_are_refused(path, frame, ours, theirs):
    """Only overloads may share it."""
    frame = frame or "k = 1\n\n\n@"
    with pytest.raises(DisagreementError):
        merged(path, *(frame.replace("@", each) for each in ("", ours, theirs)))
