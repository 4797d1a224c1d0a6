"""Comments that both sides changed."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge


def merged(path, *versions):
    """Merge three versions of a file."""
    trees = read_versions(path, [each.encode() + b"\n" for each in versions])
    return render(TreeMerge().merge(*trees))[1:].decode()


LANGUAGES = {
    "a.go": ("//", "package a\n\n@\nfunc get() {\n\tf()\n}"),
    "a.ts": ("//", "@\nfunction get() {\n  f();\n}"),
    "a.rs": ("///", "@\nfn get() {\n    f();\n}"),
    "a.py": ("#", "@\ndef get():\n    f()"),
}
KEPT = {
    "different words": (
        ["gets a thing by name"],
        ["gets a small thing by name"],
        ["gets a thing by name or id"],
        ["gets a small thing by name or id"],
    ),
    "different lines": (
        ["gets a thing", "of somebody"],
        ["gets one thing", "of somebody"],
        ["gets a thing", "of somebody else"],
        ["gets one thing", "of somebody else"],
    ),
    "a line and words": (
        ["gets a thing"],
        ["gets a thing", "in time"],
        ["gets a new thing"],
        ["gets a new thing", "in time"],
    ),
}


@pytest.mark.parametrize("path", LANGUAGES)
@pytest.mark.parametrize("versions", KEPT.values(), ids=KEPT)
def test_comments_are_merged_by_lines_and_words(path, versions):
    """Before a function and inside of it."""
    sign, frame = LANGUAGES[path]
    *texts, expected = ("\n".join(f"{sign} {line}" for line in lines) for lines in versions)
    found = merged(path, *(frame.replace("@", text) for text in texts))
    assert found == frame.replace("@", expected)


def test_lines_keep_their_indentation_and_empty_lines():
    """Those of the side that has the line."""
    frame = "package a\n\nfunc get() {\n\tf()\n\n\t@\n\tg()\n}"
    versions = "// does g", "// does g well\n\t// and fast", "// now does g"
    found = merged("a.go", *(frame.replace("@", each) for each in versions))
    assert found == frame.replace("@", "// now does g well\n\t// and fast")


BLOCK = "/**\n * Gets a thing.\n *\n * @param a the thing\n */\nfunction get(a) {\n  f(a);\n}"


def test_a_block_is_merged_by_its_lines():
    """And stays one comment."""
    ours = BLOCK.replace("Gets a", "Quickly gets a")
    theirs = BLOCK.replace("the thing\n", "the thing\n * @returns nothing\n")
    expected = ours.replace("the thing\n", "the thing\n * @returns nothing\n")
    assert merged("a.ts", BLOCK, ours, theirs) == expected


REFUSED = {
    "the same word": ("a.ts", "// a b c", "// a x c", "// a y c"),
    "for a tool": ("a.ts", "// eslint-disable a, b", "// eslint-disable a, b, c", "// eslint a, b"),
    "for the compiler": ("a.go", "//go:build a", "//go:build a && b", "//go:build a && c"),
    "another kind": ("a.ts", "/* a b c */", "// a x b c", "/* a b c y */"),
}


@pytest.mark.parametrize(("path", "base", "ours", "theirs"), REFUSED.values(), ids=REFUSED)
def test_other_comments_are_refused(path, base, ours, theirs):
    """A tool reads it, not people."""
    code = "\n\npackage a" if path == "a.go" else "\nf()"
    with pytest.raises(DisagreementError):
        merged(path, base + code, ours + code, theirs + code)


def test_a_comment_and_its_statement_are_merged_apart():
    """Both sides add to both."""
    base = "package a\n\nfunc get() {\n\t// does f\n\tf()\n}"
    ours = base.replace("does f", "does f and g").replace("f()\n}", "f()\n\tg()\n}")
    theirs = base.replace("does f", "quickly does f").replace("f()\n}", "f()\n\th()\n}")
    expected = base.replace("does f", "quickly does f and g")
    assert merged("a.go", base, ours, theirs) == expected.replace("f()\n}", "f()\n\tg()\n\th()\n}")
