"""A merge repeats no key of a version in a file without a grammar."""

import pytest

from cooperbench_eval.languages.faults.keys import find_repeated_key
from cooperbench_eval.languages.faults.texts import find_text_fault


def fault(path, base, ours, theirs, joined=None):
    """Judge what joins both sides' new lines, each given as the text after that of the base."""
    versions = [(base + new).encode() for new in ("", ours, theirs)]
    merged = (base + ours + theirs if joined is None else joined).encode()
    return find_repeated_key(path, versions, merged)


REPEATED = {
    "a setting": (".env", "A=1\n", "B=x\n", "B=y\n"),
    "a setting with a word before it": ("a.sh", "export A=1\n", "export B=x\n", "export B=y\n"),
    "a quoted key": ("a.json5", "{\n  a: 1,\n", "  b: x,\n", '  "b": y,\n'),
    "a section": ("a.ini", "[a]\nx = 1\n", "[b]\ny = 1\n", "[b]\nz = 2\n"),
    "a setting of a section": ("a.ini", "[a]\nx = 1\n", "y = a\n", "y = b\n"),
    "a requirement": ("go.mod", "require (\n\ta v1\n", "\tb v1\n", "\tb v2 // x\n"),
    "a version": ("Gemfile", "gem 'a', '1'\n", "gem 'b', '1.0'\n", "gem 'b', '2.0'\n"),
    "an option": ("Gemfile", "gem 'a'\n", "gem 'b'\n", "gem 'b', require: false\n"),
    "a switch": ("CMakeLists.txt", "set(A ON)\n", "set(B ON)\n", "set(B OFF)\n"),
    "an element": ("pom.xml", "<a>\n", "  <v>1</v>\n", "  <v>2</v>\n"),
    "an entry": (
        "pom.xml",
        "<d>\n  <g>a</g>\n  <v>1</v>\n</d>\n",
        "<d>\n  <g>b</g>\n  <v>1</v>\n</d>\n",
        "<d>\n  <g>b</g>\n  <v>2</v>\n</d>\n",
    ),
    "a block": ("a.css", "a {\n  b: c;\n}\n", ".d {\n  e: f;\n}\n", ".d {\n  g: h;\n}\n"),
    "a table": (
        "a.sql",
        "CREATE TABLE a (i int);\n",
        "CREATE TABLE b (i int);\n",
        "CREATE TABLE b (j text);\n",
    ),
    "an instruction": ("Dockerfile", "FROM a\nRUN b\n", "CMD c\n", "CMD d\n"),
    "a link": ("a.md", "x\n\n[a]: y\n", "[b]: y\n", "[b]: z\n"),
    "a footnote": ("a.rst", ".. [1] x\n", ".. [2] y\n", ".. [2] z\n"),
    "a number": ("a.md", "1. a\n", "2. b\n", "2. c\n"),
    "a heading": ("a.md", "# T\n", "## 1.1\n\nx\n", "## 1.1 (today)\n\ny\n"),
    "front matter": ("a.md", "---\n", "a: b\n", "a: c\n", "---\na: b\na: c\n---\n"),
}


@pytest.mark.parametrize("texts", REPEATED.values(), ids=REPEATED)
def test_a_key_of_both_sides_is_not_repeated(texts):
    """The two lines are versions of one; each side alone has no fault."""
    path, base, ours, theirs, *_ = texts

    assert "own version" in fault(*texts)
    assert not fault(path, base, ours, theirs, base + ours)
    assert not fault(path, base, ours, theirs, base + theirs)


def test_a_key_without_its_values_is_not_quoted():
    """The reason has a line of the file instead."""
    problem = fault("a.cfg", "- a 1 x\n", "- tool 1.2 fast\n", "- tool 1.3 fast\n")

    assert problem == "both sides insert their own version of '- tool 1.2 fast'"


ALLOWED = {
    "different keys": (".env", "A=1\n", "B=1\n", "C=1\n"),
    "a key in two sections": ("a.ini", "[a]\nx = 1\n", "[b]\ny = 1\n", "[c]\ny = 2\n"),
    "a key in two blocks": ("a.css", "", ".a {\n  c: d;\n}\n", ".b {\n  c: e;\n}\n"),
    "what the base repeats": ("Dockerfile", "RUN a\nRUN b\n", "RUN c\n", "RUN d\n"),
    "what each side repeats": ("Dockerfile", "RUN a\n", "RUN c\n", "RUN d\n"),
    "an addition to a variable": ("Makefile", "A := 1\n", "F += x\n", "G += x\n"),
    "closing lines": ("a.sh", "", "if a; then\n  b\nfi\n", "if c; then\n  d\nfi\n"),
    "comments": ("a.cfg", "x = 1\n", "# see a\ny = 1\n", "# see b\nz = 1\n"),
    "words": (".gitignore", "a/\n", "b/\n", "c/\n"),
    "different definitions": ("a.md", "x\n", "[a]: y\n", "[b]: y\n"),
    "equal numbers": ("a.md", "1. a\n1. b\n", "1. c\n", "1. d\n"),
    "numbers of two lists": ("a.md", "x\n", "1. a\n\ny\n\n", "1. b\n"),
    "sentences": ("a.md", "x\n", "See a.\n", "See b.\n"),
    "arguments": ("wscript", "", "f(lib='a', b=1)\n", "f(lib='c', b=1)\n"),
    "calls": ("wscript", "", "f(\n  a,\n)\n", "f(\n  b,\n)\n"),
    "tags": ("a.html", "<p>\n", "<b>\n  c\n</b>\n", "<b>\n  d\n</b>\n"),
    "source": ("a.py", "", "x = 1\n", "x = 2\n"),
}


@pytest.mark.parametrize("texts", ALLOWED.values(), ids=ALLOWED)
def test_what_may_be_repeated_is_no_fault(texts):
    """Other lines may begin alike."""
    assert not fault(*texts)


def test_the_rows_of_a_table_stay_equally_long():
    """One side adds a column, the other a row; a table that was uneven may stay so."""
    base = b"| a |\n|---|\n| 1 |\n"
    wide = b"| a | b |\n|---|---|\n| 1 | 2 |\n"
    versions = base, wide, base + b"| 3 |\n"

    assert "'| 3 |'" in find_repeated_key("a.md", versions, wide + b"| 3 |\n")
    assert not find_repeated_key("a.md", versions, wide + b"| 3 | a\\|b |\n")
    assert "'2,c'" in find_repeated_key("a.csv", [b"a,b\n1,b\n"] * 3, b"a,b,d\n1,b,e\n2,c\n")
    uneven = wide + b"| 3 |\n"
    assert not find_repeated_key("a.md", (base, wide, uneven), uneven)


def test_two_new_files_are_not_joined():
    """Only sets of words are; source and data have rules of their own."""
    script = b"", b"#!/bin/sh\nrun a\n", b"#!/bin/sh\nrun b\n"
    words = b"", b"# x\na/\n", b"b/\n"

    def fault_of(path, texts, merged, **options):
        return find_text_fault(path, texts, merged, **{"may_invent": False, **options})

    joined = script[1] + b"run b\n"
    assert "both sides add the file" in fault_of("a.sh", script, joined)
    assert not fault_of("a.sh", script, joined, may_invent=True)
    assert not fault_of("a.sh", script, script[2])
    assert not fault_of("a.sh", (b"x\n", *script[1:]), joined)
    assert not fault_of("a.py", script, joined)
    assert not fault_of(".gitignore", words, b"# x\na/\nb/\n")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "right", "wrong"),
    [
        (b"a\n", b"a\r\nb\r\n", b"a\nc\n", b"a\r\nb\r\nc\r\n", b"a\r\nb\r\nc\n"),
        (b"a\r\n", b"a\nb\n", b"a\r\nc\r\n", b"a\nb\nc\n", b"a\r\nb\r\nc\r\n"),
        (b"a\r\n", b"a\r\nb\r\n", b"a\r\nc\r\n", b"a\r\nb\r\nc\r\n", b"a\r\nb\nc\r\n"),
    ],
)
def test_lines_end_as_a_side_made_them_end(base, ours, theirs, right, wrong):
    """If one side changed the line ending, all lines get it."""
    versions = base, ours, theirs

    assert not find_text_fault("a.cfg", versions, right, may_invent=False)
    assert "end" in find_text_fault("a.cfg", versions, wrong, may_invent=False)
    assert not find_text_fault("a.cfg", (base + b"x\r\ny\n", ours, theirs), wrong, may_invent=False)
