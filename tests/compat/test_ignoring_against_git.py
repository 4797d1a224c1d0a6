"""Ignore rules decide as those of the git program."""

import os
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from needs import need_program
from rule_patterns import FILES, PATTERNS, as_bytes
from worktree_states import Worktree

from cooperbench_eval.git.worktrees.ignoring import IgnoreRules

RULES = st.lists(PATTERNS, max_size=3).map("\n".join)


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
@example(
    cases=[("[A-X].log\nb/d", "[[:upper:]]", "\\K", "[X].LOG"), ("c.[D]", "C.D/\\k", "", "X.*")]
)
@given(cases=st.lists(st.tuples(RULES, RULES, RULES, RULES), min_size=8, max_size=8))
def test_every_path_is_ignored_as_by_git(is_case_ignored, tree, cases):
    """Files, folders and links are ignored by the same rules from the same places."""
    tree.git("config", "core.ignorecase", str(is_case_ignored).lower())
    tree.git("config", "core.excludesFile", ".git/own")
    (tree.folder / ".git/info").mkdir(exist_ok=True)
    paths = [
        os.path.relpath(os.path.join(folder, name), tree.folder)  # noqa: PTH118 - as strings
        for folder, folders, files in os.walk(tree.folder)
        if ".git" not in folder.split("/")
        for name in (*folders, *files)
        if name != ".git"
    ]
    for case in cases:
        user, repository, top, inner = map(as_bytes, case)
        places = {
            ".git/own": user, ".git/info/exclude": repository,
            ".gitignore": top, "b/.gitignore": inner,
        }  # fmt: skip
        for name, text in places.items():
            (tree.folder / name).write_bytes(text)
        own = IgnoreRules(places.get, (user, repository), is_case_ignored=is_case_ignored)

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
