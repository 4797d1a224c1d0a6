"""Files have the attributes that the git program finds."""

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import need_program
from rule_patterns import FILES, PATTERNS, as_bytes
from worktree_states import Worktree

from cooperbench_eval.git.worktrees.attributes import Attributes

STATES = (
    "text", "-text", "!text", "text=auto", "eol=lf", "eol=", "binary", "-binary", "!binary",
    "own", "-own", "own=x", "more", "crlf=input", "a.b_c-D", "-eol=x", "!own=x", "text=é\udce9",
    "filter=x=y",
)  # fmt: skip
WRONG = ("--text", "=x", "-", "!", "te*t", "!-x", "é", '"text"')
MACROS = ("[attr]own", "[attr]more", "[attr]binary", "[attr]text", "[attr]", "[attr]-x", "[attr]a*")
QUOTED = (
    '"a"',
    '"b/c"',
    '"\\141"',
    '"\\303\\251"',
    '"a\\\\\\\\"',
    '"\\t"',
    '"*"x',
    '"',
    '"a',
    '"\\8"',
)


def quoted(pattern):
    """Return a pattern in quotation marks."""
    inner = pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f'"{inner}"'


BLANKS = st.sampled_from([" ", " ", "\t", "  ", " \r "])
SAID = st.lists(st.sampled_from(STATES * 3 + WRONG), max_size=3)
FIRST = PATTERNS | PATTERNS.map(quoted) | st.sampled_from(MACROS * 2 + QUOTED)
LINES = st.tuples(st.sampled_from(["", "", "", " ", "\t", "#"]), FIRST, BLANKS, SAID, BLANKS).map(
    lambda parts: f"{parts[0]}{parts[1]}{parts[2]}{parts[4].join(parts[3])}"
)
TEXTS = st.lists(LINES | st.just("* " + "x" * 2046), max_size=4).map("\n".join)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Return a working tree with files in folders."""
    need_program("git")
    tree = Worktree(tmp_path_factory.mktemp("attributes") / "w")
    for name in FILES:
        path = tree.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    tree.git("config", "core.attributesFile", ".git/own")
    return tree


def attributes_in_git(tree):
    """Return the attributes that git finds for each file."""
    done = subprocess.run(
        ("git", "check-attr", "--all", "--stdin", "-z"),
        cwd=tree.folder,
        env=tree.environment,
        input=b"".join(as_bytes(path) + b"\0" for path in FILES),
        capture_output=True,
        check=True,
    )
    fields = [os.fsdecode(each) for each in done.stdout.split(b"\0")[:-1]]
    found = {path: {} for path in FILES}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        found[path][name] = {"set": True, "unset": False}.get(value, value)
    return found


@pytest.mark.parametrize("is_case_ignored", [False, True])
@given(cases=st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), min_size=4, max_size=4))
def test_every_file_has_the_attributes_that_git_finds(is_case_ignored, tree, cases):
    """Rules, macros and invalid lines count from the same places, in the same order."""
    tree.git("config", "core.ignorecase", str(is_case_ignored).lower())
    (tree.folder / ".git/info").mkdir(exist_ok=True)
    for case in cases:
        users, own, top, inner = map(as_bytes, case)
        places = {
            ".git/own": users, ".git/info/attributes": own,
            ".gitattributes": top, "b/.gitattributes": inner,
        }  # fmt: skip
        for name, text in places.items():
            (tree.folder / name).write_bytes(text)
        attributes = Attributes(places.get, [users], own, is_case_ignored=is_case_ignored)

        assert {path: attributes.of(path) for path in FILES} == attributes_in_git(tree)


def test_a_long_chain_of_macros_is_followed():
    """Neither a chain nor a circle of macros is a problem."""
    chain = [f"[attr]m{i} m{i + 1}" for i in range(5000)]
    text = "\n".join([*chain, "[attr]m5000 m0 text", "* m0"]).encode()

    found = Attributes({".gitattributes": text}.get).of("a")

    assert len(found) == 5002
    assert found["text"] is True
