"""A statement that one side moved out of the header of another, or into it."""

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import render
from cooperbench_eval.strategies.structured.merge import TreeMerge


def merge(path, base, ours, theirs):
    """Merge three versions of a file."""
    trees = read_versions(path, [each.encode() for each in (base, ours, theirs)])
    return render(TreeMerge().merge(*trees)).decode()[1:] + "\n"


def go(*lines):
    """Write a Go function of some lines."""
    return "".join(f"{each}\n" for each in ("func f() {", *(f"\t{each}" for each in lines), "}"))


JOINED = go("if item := find(key); item != nil {", "\tuse(item)", "}")
PREPARED = (
    "if item != nil {",
    "\tif cache != nil {",
    "\t\tname := cache.Name(key)",
    "\t\tcache.Put(name, item)",
    "\t}",
    "\tif tracer != nil {",
    "\t\tname := tracer.Name(key)",
    "\t\ttracer.Enter(name)",
    "\t}",
)
ALONE = go("item := find(key)", "if item != nil {", "\tcheck(item, key)", "\tuse(item)", "}")
LOGGED = go("if item := find(key); item != nil {", "\tuse(item)", "\tlog(key)", "}")
BOTH = go(
    "item := find(key)", "if item != nil {", "\tcheck(item, key)", "\tuse(item)", "\tlog(key)", "}"
)


def test_a_block_is_edited_by_one_side_while_the_other_shortens_its_header_in_go():
    """The edit is made in the block that has the shorter header now."""
    assert merge("a.go", JOINED, ALONE, LOGGED) == BOTH
    assert merge("a.go", JOINED, LOGGED, ALONE) == BOTH


def test_the_block_is_found_though_little_of_it_was_there_before():
    """The other side's statement goes before the statement that it was put before."""
    ours = go("item := find(key)", *PREPARED, "\tuse(item)", "}")
    theirs = go("if item := find(key); item != nil {", "\tnew(item)", "\tuse(item)", "}")
    both = go("item := find(key)", *PREPARED, "\tnew(item)", "\tuse(item)", "}")

    assert merge("a.go", JOINED, ours, theirs) == both


def test_one_side_may_put_a_statement_into_a_header():
    """The edits inside the block are made in either form."""
    base = go("item := find(key)", "if item != nil {", "\tuse(item)", "}")
    check, log = "\tcheck(item, key)", "\tlog(key)"
    joined = go("if item := find(key); item != nil {", check, "\tuse(item)", log, "}")

    assert merge("a.go", base, BOTH, JOINED) in {BOTH, joined}
    assert merge("a.go", base, JOINED, BOTH) in {BOTH, joined}


def test_a_switch_has_such_a_header_too():
    """The cases are merged."""
    base = go("switch n := count(key); n {", "case 0:", "\tnone()", "}")
    ours = go("n := count(key)", "switch n {", "case 0:", "\tnone(key, n)", "}")
    theirs = go("switch n := count(key); n {", "case 0:", "\tnone()", "default:", "\tsome()", "}")
    lines = ("case 0:", "\tnone(key, n)", "default:", "\tsome()", "}")

    assert merge("a.go", base, ours, theirs) == go("n := count(key)", "switch n {", *lines)
