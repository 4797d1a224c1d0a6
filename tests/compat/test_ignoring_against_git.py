"""Ignore rules decide as those of the git program."""

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import need_program
from worktree_states import Worktree

from cooperbench_eval.refs.ignoring import IgnoreRules

FILES = (
    "a", "b/c", "b/x.log", "b/d/x.log", "b/d/e/k", "x.log", "x.log ", "k", "X.LOG", "c.d/k",
    "[", "]a", "a-b", "é", "a\\", "#k", "!k", "d/a", "b/d/e/a/b/k", "tab\t", "1", "\udce9",
)  # fmt: skip
PIECES = (
    "a", "b", "c", "d", "e", "k", "x", ".log", "*", "**", "?", "/", "/", "**/", "/**", "\\", "\\/",
    "[a-c]", "[!a]", "[^b]", "[]a]", "[", "]", "[[:alpha:]]", "[[:digit:]x]", "[[:no:]]", "[a-]",
    "[\\]]", "[[:]", "[b-\\d]", "[/]", " ", "\t", "#", "!", "é", "\udce9", "\r", "\0", "-", "X",
)  # fmt: skip
PATTERNS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "", "", "!", "/", "#"]),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
    st.sampled_from(["", "", "/", " ", "\\ "]),
)
RULES = st.lists(PATTERNS, max_size=4).map("\n".join)


def as_bytes(text):
    return text.encode("utf-8", "surrogateescape")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Return a working tree with files, folders and links."""
    need_program("git")
    tree = Worktree(tmp_path_factory.mktemp("ignoring") / "w")
    for name in FILES:
        path = tree.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    (tree.folder / "link").symlink_to("b")
    (tree.folder / "b/link.log").symlink_to("nowhere")
    return tree


def check_ignored(tree, paths):
    """Return whether git ignores each path."""
    done = subprocess.run(
        ("git", "check-ignore", "--no-index", "--stdin", "-z", "-v", "--non-matching"),
        cwd=tree.folder,
        env=tree.environment,
        input=b"".join(as_bytes(path) + b"\0" for path in paths),
        capture_output=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    fields = done.stdout.split(b"\0")[:-1]
    patterns, found = fields[2::4], fields[3::4]
    assert found == [as_bytes(path) for path in paths]
    return [bool(each) and not each.startswith(b"!") for each in patterns]


@pytest.mark.parametrize("is_case_ignored", [False, True])
@given(texts=st.tuples(RULES, RULES, RULES, RULES))
def test_every_path_is_ignored_as_by_git(is_case_ignored, tree, texts):
    """Files, folders and links are ignored by the same rules from the same places."""
    tree.git("config", "core.ignorecase", str(is_case_ignored).lower())
    tree.git("config", "core.excludesFile", ".git/own")
    top, inner, repository, user = texts
    places = {".gitignore": top, "b/.gitignore": inner}
    rules = {name: as_bytes(text) for name, text in places.items()}
    general = [as_bytes(user), as_bytes(repository)]
    for name, text in (
        *rules.items(), (".git/own", general[0]), (".git/info/exclude", general[1])
    ):  # fmt: skip
        (tree.folder / name).parent.mkdir(exist_ok=True)
        (tree.folder / name).write_bytes(text)
    paths = [
        os.path.relpath(os.path.join(folder, name), tree.folder)  # noqa: PTH118 - as strings
        for folder, folders, files in os.walk(tree.folder)
        if ".git" not in folder.split("/")
        for name in (*folders, *files)
        if name != ".git"
    ]
    own = IgnoreRules(rules.get, general, is_case_ignored=is_case_ignored)

    found = {path: own.has(path, is_folder=is_folder(tree, path)) for path in paths}

    assert found == dict(zip(paths, check_ignored(tree, paths), strict=True))


def is_folder(tree, path):
    full = tree.folder / path
    return full.is_dir() and not full.is_symlink()


def test_no_pattern_takes_long():
    """A pattern with many stars takes time proportional to the length of the name."""
    text = b"*a" * 200 + b"/" + b"**/a" * 200 + b"b"
    rules = IgnoreRules({".gitignore": text}.get, ())

    assert not rules.has("a" * 255 + "/a" * 2000, is_folder=False)
