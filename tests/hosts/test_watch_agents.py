"""The example that watches the worktrees of agents, with two agents that are processes."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from needs import need_program
from worktree_states import Worktree

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "watch_agents.py"
BEFORE = "def price():\n    return 1\n\n\ndef tax():\n    return 0\n"
AGENT = """
import pathlib, sys
for line in sys.stdin:  # each line is an edit: old text, new text
    old, new = line.rstrip("\\n").split("|")
    path = pathlib.Path("shop.py")
    path.write_text(path.read_text().replace(old, new))
    print("done", flush=True)
"""
SECONDS = 60


class Process:
    """A process of which lines are read with a deadline."""

    def __init__(self, *arguments, folder):
        self._process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def write(self, line):
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        assert self.read() == "done"

    def read(self):
        timer = threading.Timer(SECONDS, self._process.kill)
        timer.start()
        try:
            return self._process.stdout.readline().rstrip("\n")
        finally:
            timer.cancel()

    def stop(self):
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def start():
    """Return a function that starts a process, which ends with the test."""
    running = []

    def start(*arguments, folder):
        running.append(Process(*arguments, folder=folder))
        return running[-1]

    yield start
    for process in running:
        process.stop()


def test_a_line_says_when_two_running_agents_collide(tmp_path, start):
    """As soon as two processes have written edits that collide, a line names the place."""
    need_program("git")
    main = Worktree(tmp_path / "shop")
    (main.folder / "shop.py").write_text(BEFORE)
    main.git("add", "--all")
    main.git("commit", "-q", "-m", "1")
    trees = [main.linked(tmp_path / name) for name in ("ann", "bob")]
    ann, bob = (start("-c", AGENT, folder=tree.folder) for tree in trees)
    watcher = start(
        str(EXAMPLE), str(main.folder), *(str(tree.folder) for tree in trees), "--every", "0.05",
        folder=tmp_path,
    )  # fmt: skip

    ann.write("return 1|return 2")
    bob.write("return 0|return 7")
    bob.write("return 1|return 3")

    assert watcher.read() == "ann and bob: collide in shop.py (price)"

    bob.write("return 3|return 2")

    assert watcher.read() == "ann and bob no longer collide"

    trees[0].git("bisect", "start")

    assert watcher.read() == "ann: the worktree is in the middle of a bisection"


def test_worktrees_with_one_name_are_told_apart(tmp_path, start):
    """Lines name as much of a path as is needed, and a removed worktree does not end the watch."""
    need_program("git")
    main = Worktree(tmp_path / "shop")
    (main.folder / "shop.py").write_text(BEFORE)
    main.git("add", "--all")
    main.git("commit", "-q", "-m", "1")
    trees = []
    for number in (1, 2, 3):
        folder = tmp_path / str(number) / "agent"
        main.git("worktree", "add", "-q", "-b", f"branch-{number}", str(folder))
        (folder / "shop.py").write_text(BEFORE.replace("return 1", f"return {number + 1}"))
        trees.append(folder)
    watcher = start(
        str(EXAMPLE), str(main.folder), *map(str, trees), "--every", "0.05", folder=tmp_path
    )

    began = [watcher.read() for _ in range(3)]
    main.git("worktree", "remove", "--force", str(trees[0]))
    expected = {
        f"{trees[0]} was removed, and is not watched any more",
        "1/agent and 2/agent no longer collide",
        "1/agent and 3/agent no longer collide",
    }
    ended = set()
    while line := watcher.read():  # more lines may come while git removes the files
        ended.add(line)
        if expected <= ended:
            break

    assert began == [
        f"{one}/agent and {other}/agent: collide in shop.py (price)"
        for one, other in ((1, 2), (1, 3), (2, 3))
    ]
    assert expected <= ended


def test_a_wrong_worktree_ends_the_watch(tmp_path):
    """A folder that is not a worktree of the repository is an error."""
    need_program("git")
    main = Worktree(tmp_path / "shop")
    main.git("commit", "-q", "--allow-empty", "-m", "1")

    done = subprocess.run(
        [sys.executable, EXAMPLE, main.folder, tmp_path / "nowhere"],
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.returncode == 1
    assert "has no branch, tag, commit or worktree" in done.stderr
    assert not done.stdout
