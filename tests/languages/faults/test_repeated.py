"""A merged file has once what each side inserted once."""

import pytest
from needs import need_package

from cooperbench_eval.languages.faults.faults import find_fault

TWICE = "would have it twice"
FRAMES = {
    "a.py": ("def f(q):\n    q.start()\n", "    return q\n", "    {}\n"),
    "a.ts": ("function f(q: Q) {\n  q.start();\n", "  return q;\n}\n", "  {};\n"),
    "a.go": ("package p\n\nfunc f(q *Q) {\n\tq.start()\n", "\treturn\n}\n", "\t{}\n"),
    "a.rs": ("fn f(q: Q) {\n    q.start();\n", "    q.stop();\n}\n", "    {};\n"),
    "A.java": ("class A {\n  void f(Q q) {\n    q.start();\n", "  }\n}\n", "    {};\n"),
    "a.yml": ("on: push\nsteps:\n  - start: 1\n", "  - stop: 1\n", "  - {}: 1\n"),
    "a.md": ("# T\n\n- start\n", "\nEnd.\n", "- {}\n"),
    "codeowners": ("start\n", "end\n", "{}\n"),
}


def fault(path, frame, *texts):
    """Judge a file with each version's text in its frame; the base's is empty if not given."""
    if path.endswith((".ts", ".go", ".rs", ".java")):
        need_package("tree_sitter")
    texts = [frame.replace("@", each).encode() for each in ("", *texts)[-4:]]
    return find_fault(path, (texts[0], texts[1], texts[2]), texts[3])


@pytest.mark.parametrize("path", FRAMES)
@pytest.mark.parametrize(
    ("ours", "theirs", "merged", "is_fault"),
    [
        ("s a", "s b", "s a s b", True),
        ("s a", "b s", "s a b s", True),
        ("s a", "s s b", "s a s s b", True),
        ("s a", "s b", "s a b", False),
        ("s a", "s s b", "s a s b", False),
        ("s s a", "b", "s s a b", False),
    ],
)
def test_what_each_side_inserted_once_stands_once(path, ours, theirs, merged, is_fault):
    """What one side repeats on purpose may be repeated."""
    head, tail, line = FRAMES[path]
    texts = (
        "".join(line.format(f"q.{each}()") for each in calls.split())
        for calls in (ours, theirs, merged)
    )
    assert (TWICE in fault(path, head + "@" + tail, *texts)) is is_fault


F, G = (f"def {n}(x):\n    x.a()\n    {n}\n    return x\n\n\n" for n in "fg")
ALLOWED = {
    "the ends of two new functions": ("a.py", "@y = 1\n", F, G, F + G),
    "new sections with equal keys": (
        "a.cfg",
        "@[z]\nk = 1\n",
        "[a]\nk = 1\nv = 2\n\n",
        "[b]\nk = 1\nv = 2\n\n",
        "[a]\nk = 1\nv = 2\n\n[b]\nk = 1\nv = 2\n\n",
    ),
    "new entries with equal parts": (
        "a.yml",
        "jobs:\n@",
        "  a:\n    on: x\n",
        "  b:\n    on: x\n",
        "  a:\n    on: x\n  b:\n    on: x\n",
    ),
    "elements in new elements": (
        "a.html",
        "<ul>\n@</ul>\n",
        "<div>\n  <b>\n</div>\n",
        "<div>\n  <i>\n</div>\n",
        "<div>\n  <b>\n</div>\n<div>\n  <i>\n</div>\n",
    ),
    "a sentence of prose": (
        "a.md",
        "# T\n\n@",
        "See:\n\nx\n",
        "See:\n\ny\n",
        "See:\n\nx\n\nSee:\n\ny\n",
    ),
}


@pytest.mark.parametrize(
    ("path", "frame", "ours", "theirs", "merged"), ALLOWED.values(), ids=ALLOWED
)
def test_equal_parts_of_different_insertions_are_no_fault(path, frame, ours, theirs, merged):
    """Only whole statements and entries count."""
    assert fault(path, frame, ours, theirs, merged) == ""


NONE, BEFORE, BEHIND = ("", ""), ("s(1)\n", ""), ("", "s(1)\n")


@pytest.mark.parametrize("path", ["a.py", "a.txt"])
def test_statements_at_different_places_are_no_fault(path):
    """Unless nothing but statements of the same suite are between them."""

    def merged(between):
        base, ours, theirs = (f"{s}{between}{t}b()\n" for s, t in (NONE, BEFORE, BEHIND))
        return fault(path, "@", base, ours, theirs, f"s(1)\n{between}s(1)\nb()\n")

    assert merged("a()\n\n") == merged("if a:\n    b()\n") == ""
    assert merged("a()\n").endswith("would have it twice")


def test_two_versions_of_one_new_statement_are_a_fault():
    """They differ in a word or two, and what they do would be done twice."""
    body = "    for each in options.before:\n        run(each, {})\n        log(each)\n"
    written = "if options.before:\n" + body
    ours, theirs = written.format("1"), written.format("2")
    other = "if options.before:\n    stop()\n"

    assert "almost the same" in fault("a.py", "x = 1\n@", ours, theirs, ours + theirs)
    assert fault("a.py", "x = 1\n@", ours, other, ours + other) == ""


def test_an_annotation_that_both_sides_add_is_there_once():
    """Here, in Java; each of two methods may have it."""
    need_package("tree_sitter")
    frame = "class X {\n@  void f() {}\n}\n"
    texts = (
        "",
        "  @Deprecated\n  @Inject\n",
        "  @Deprecated\n  @Test\n",
        "  @Deprecated\n  @Inject\n  @Deprecated\n  @Test\n",
    )
    base, ours, theirs, merged = (frame.replace("@", each, 1).encode() for each in texts)

    assert "would have it twice" in find_fault("A.java", (base, ours, theirs), merged)
