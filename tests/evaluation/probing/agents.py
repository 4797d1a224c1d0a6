"""A repository with the branches and worktrees of agents."""

import hashlib
import subprocess
from pathlib import Path

from worktree_states import Worktree

APP = b"""\
import os


def load(path):
    with open(path) as file:
        return file.read()


class Store:
    def get(self, key):
        return self.values[key]

    def put(self, key, value):
        self.values[key] = value
"""


class Agents(Worktree):
    """A repository whose branches start from one commit."""

    def __init__(self, folder):
        super().__init__(folder)
        self.write({"app.py": APP, "notes.txt": b"notes\n"})
        self.commit("first")

    def write(self, files):
        """Write files; `None` removes one."""
        for name, data in files.items():
            path = self.folder / name
            if data is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)

    def commit(self, message="work"):
        """Commit everything; return the commit's id."""
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name, files, start="main"):
        """Make a branch with one commit, and go back to where it was."""
        self.git("checkout", "-q", "-b", name, start)
        self.write(files)
        found = self.commit(name)
        self.git("checkout", "-q", "main")
        return found

    def stored(self, *words, data):
        """Run git with some input; return the id that it prints."""
        done = subprocess.run(
            ("git", *words),
            cwd=self.folder,
            env=self.environment,
            input=data,
            check=True,
            capture_output=True,
        )
        return done.stdout.decode().strip()

    def worktree(self, name, files=None):
        """Make a linked worktree with uncommitted changes; return it."""
        folder = self.folder.parent / name
        self.git("worktree", "add", "-q", "-b", name, str(folder))
        tree = Agents.__new__(Agents)
        tree.folder, tree.environment = folder, self.environment
        tree.write(files or {})
        return tree


def edited(old, new):
    """Return the module with one part replaced."""
    assert old in APP
    return APP.replace(old, new)


def everything_in(folder):
    """Return what is on disk below a folder: names, kinds, times and contents."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        facts = path.lstat()
        is_file = path.is_file() and not path.is_symlink()
        digest = hashlib.sha256(path.read_bytes()).digest() if is_file else b""
        times = facts.st_mtime_ns, facts.st_ctime_ns
        found[str(path)] = (facts.st_mode, facts.st_size, *times, digest)
    return found
