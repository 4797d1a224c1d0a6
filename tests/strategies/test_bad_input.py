"""Whatever the versions of a file contain: bounded time, a reason, and nothing lost."""

import time
from collections import Counter

import pytest

import cooperbench_eval as ce

SECONDS = 20
"""Far more processor time than any case takes; a busy machine counts for little in it."""

LINE = b"x = f(a)\n"
"""Ours changes `f`, theirs changes `a`: such edits can be merged."""

MANY = 20_000
CASES = {
    "a bracket that is not closed": b"def f(:\n" + LINE,
    "a string that is not closed": b's = """\n' + LINE,
    "5 MB": LINE + b"y = some(name, 12)\n\n" * 250_000,
    "a long line": b"z = [" + b"1234567, " * 2 * MANY + b"]\n" + LINE,
    "an edited long line": b"z = [" + b"1234567, " * MANY + b"f(a)]\n",
    "lines that are equal": b"f(1)\n" * MANY + LINE + b"f(1)\n" * MANY,
    "lines that are similar": b"".join(b"v%d = f(%d)\n" % (i, i % 7) for i in range(MANY)) + LINE,
    "brackets": b"y = " + b"(" * 10_000 + b"1" + b")" * 10_000 + b"\n" + LINE,
    "edited brackets": b"y = " + b"(" * 10_000 + b"f(a)" + b")" * 10_000 + b"\n",
    "brackets that are not closed": b"y = " + b"(" * 10_000 + b"\n" + LINE,
    "a long function": b"def g(a):\n"
    + b"    h(a)\n" * MANY
    + b"    "
    + LINE
    + b"    h(a)\n" * MANY,
    "a long function of assignments": (
        b"def g(a):\n"
        + b"".join(b"    v%d = h(%d, a)\n" % (i, i) for i in range(MANY // 2))
        + b"    "
        + LINE
    ),
    "2,000 suites": b"".join(b" " * i + b"if a:\n" for i in range(2000)) + b" " * 2000 + LINE,
    "suites that the compiler accepts": (
        b"".join(b" " * i + b"while a:\n" for i in range(19)) + b" " * 19 + LINE
    ),
    "functions in functions": (
        b"".join(b" " * i + b"def f%d(a):\n" % i for i in range(19))
        + b"".join(b" " * 19 + b"v%d = a\n" % i for i in range(MANY // 4))
        + b" " * 19
        + LINE
    ),
    "blocks": b"if (a) {\n" * 2000 + LINE + b"}\n" * 2000,
    "a chain of elif": b"if a: b\n" + b"elif c: d\n" * 3000 + b"else:\n    " + LINE,
    "a chain of else if": b"if (a) b()\n"
    + b"else if (c) d()\n" * 3000
    + b"else {\n"
    + LINE
    + b"}\n",
    "a long sum": b"y = " + b"1 + " * 5000 + b"f(a)\n",
    "a long string": b's = """\n' + b"word " * 80_000 + b'\n"""\n' + LINE,
    "many functions": b"def g(a):\n    return a\n\n\n" * 5000 + LINE,
    "many classes": b"".join(b"class C%d:\n    def f(self): pass\n" % i for i in range(5000))
    + LINE,
    "mixed indentation": b"if a:\n\ty = 1\n        " + LINE,
    "tabs": b"if a:\n\ty = 1\n\t" + LINE,
    "CRLF": b"y = 1\r\n" + LINE.replace(b"\n", b"\r\n") + b"z = 2\r\n",
    "some CRLF": b"y = 1\r\n" + LINE + b"z = 2\r\n",
    "CR": b"y = 1\r" + LINE.replace(b"\n", b"\r"),
    "a byte order mark": b"\xef\xbb\xbf" + LINE,
    "Latin-1": b"s = '\xe9\xff'\n" + LINE,
    "declared Latin-1": b"# -*- coding: latin-1 -*-\ns = '\xe9\xff'\n" + LINE,
    "UTF-16": ("\ufeff" + LINE.decode()).encode("utf-16"),
    "a NUL byte": b"s = '\0'\n" + LINE,
    "control characters": b"s = '\x1f\x1d\v'\n" + LINE,
    "form feeds": b"\f\ny = 1\n\f" + LINE,
    "lone surrogates": b"s = '\xed\xa0\x80'\n" + LINE,
}


def versions_of(base):
    """Return base, ours and theirs."""
    if base.startswith(b"\xff\xfe"):
        text = base.decode("utf-16")
        return base, *(text.replace(*e).encode("utf-16") for e in (("f(", "g("), ("a)", "b)")))
    place = base.index(b"f(a)")
    ours, theirs = (base[:place] + new + base[place + len(b"f(a)") :] for new in (b"g(a)", b"f(b)"))
    return base, ours, theirs


def merge(path, versions, strategy):
    """Merge the versions of a file."""
    base, ours, theirs = (ce.Entry(each) for each in versions)
    tree = ce.Snapshot.from_files({path: base.data})
    return ce.merge(tree, *(ce.Changes({path: each}) for each in (ours, theirs)), strategy=strategy)


@pytest.mark.long
@pytest.mark.parametrize("suffix", ["py", "go", "txt"])
@pytest.mark.parametrize("case", CASES)
def test_bad_input_takes_bounded_time_and_loses_nothing(case, suffix):
    """A conflict that stays open has a reason, and the file keeps what both sides kept.

    The cascade runs all resolvers, each on what the one before it declines.
    """
    path, versions = f"a.{suffix}", versions_of(CASES[case])
    started = time.process_time()

    outcome = merge(path, versions, "cascade")

    assert time.process_time() - started < SECONDS
    assert all(row.reason for row in outcome.ledger if row.is_open)
    merged = Counter(outcome.changes[path].data.splitlines())
    base, ours, theirs = (Counter(version.splitlines()) for version in versions)
    assert base - (base - ours) - (base - theirs) <= merged


@pytest.mark.parametrize("suffix", ["py", "js", "tsx", "go", "rs"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("strategy", ["structured", "tokens", "cascade"])
def test_line_ends_and_a_byte_order_mark_are_kept(strategy, mark, newline, suffix):
    """Edits of one line by both sides are merged, and nothing else changes."""
    base, ours, theirs, merged = (
        mark + text.replace(b"\n", newline) for text in (SOURCES[suffix] % words for words in WORDS)
    )

    outcome = merge(f"a.{suffix}", (base, ours, theirs), strategy)

    assert outcome.changes[f"a.{suffix}"].data == merged
    assert not outcome.conflicts


SOURCES = {
    "py": b"y = 1\nx = %b(%b, c)\n",
    "js": b"y = 1\nx = %b(%b, c)\n",
    "tsx": b"y = 1\nx = %b(%b, c)\n",
    "go": b"package a\n\nvar x = %b(%b, c)\n",
    "rs": b"static X: u8 = %b(%b, c);\n",
}
WORDS = ((b"f", b"a"), (b"g", b"a"), (b"f", b"b"), (b"g", b"b"))


INSERTED = {
    "statements on one object": ("a.c", "int f(int x)\n{\n", "\tadd(x, {});\n", "}\n"),
    "rows of an initializer": ("a.c", "int x[] = {\n", "\t{ {}, 1 },\n", "};\n"),
    "equal conditions": ("a.c", "int f(int x)\n{\n", "\tif (x) {}(x);\n", "}\n"),
    "properties": ("a.css", ".a {\n", "  color: {};\n", "}\n"),
}


@pytest.mark.parametrize("case", INSERTED)
def test_what_both_sides_insert_at_one_place_takes_bounded_time(case):
    path, head, line, tail = INSERTED[case]
    versions = [
        "".join((head, *(line.replace("{}", f"{name}{i}") for i in range(count)), tail)).encode()
        for name, count in (("", 0), ("a", 5000), ("b", 5000))
    ]
    started = time.process_time()

    outcome = merge(path, versions, "structured")

    assert time.process_time() - started < 3
    assert "both sides insert too much at one place" in outcome.ledger[0].reason
