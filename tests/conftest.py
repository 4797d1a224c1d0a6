"""Shared by tests of several folders: Hypothesis profiles, git, a repository."""

import importlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from needs import need_installed, need_program
from scheduling import (  # noqa: F401 - hooks
    pytest_collection,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_runtest_logreport,
    pytest_sessionfinish,
    pytest_xdist_make_scheduler,
)
from server import ModelServer

from cooperbench_eval.git.trees.entries import FileMode

# Tests start hundreds of processes that import the library. Bytecode is written so that it
# is compiled once, even if the shell's environment forbids it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A script's background job ignores this signal, and so would every program that a test starts
# in order to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first two profiles test the same examples at each run. The others make new ones, and print
# how to repeat a failure.
RANDOM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("default", RANDOM, max_examples=30, derandomize=True, print_blob=False)
settings.register_profile("brief", settings.get_profile("default"), max_examples=10)
settings.register_profile("full", RANDOM, max_examples=50)
settings.register_profile("thorough", RANDOM, max_examples=50_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
# Otherwise some examples contain constants of those modules of the project that were imported
# before, which depends on the test files that the same process ran.
providers._get_local_constants = lambda: providers._local_constants


class Git:
    """A bare repository and the git binary, without any user's configuration."""

    def __init__(self, folder):
        self.path = str(folder)
        self._index = str(Path(folder) / "index")
        self._environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            "HOME": self.path,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_DIR": self.path,
            "GIT_INDEX_FILE": self._index,
        }
        for role in ("AUTHOR", "COMMITTER"):
            self._environment[f"GIT_{role}_NAME"] = "Ann"
            self._environment[f"GIT_{role}_EMAIL"] = "ann@example.org"
            self._environment[f"GIT_{role}_DATE"] = "2024-05-06T07:08:09Z"
        self.run("init", "-q", "--bare")
        self._repository = pygit2.Repository(self.path)

    def run(self, *arguments, data=b"", fails=False, **environment):
        """Run git; return what it prints, or `None` if it fails where failure is allowed."""
        done = subprocess.run(
            ("git", *arguments),
            input=data,
            capture_output=True,
            check=False,
            env=self._environment | environment,
            cwd=environment.get("GIT_WORK_TREE", self.path),
        )
        if done.returncode and fails:
            return None
        assert not done.returncode, done.stderr
        return done.stdout

    def _fill_index(self, files):
        Path(self._index).unlink(missing_ok=True)
        Path(f"{self._index}.lock").unlink(missing_ok=True)  # of a git that crashed
        index = pygit2.Index(self._index)
        for path, entry in files.items():
            if entry.mode is FileMode.SUBMODULE:
                object_id = pygit2.Oid(hex=entry.data.decode())
            else:
                object_id = self._repository.create_blob(entry.data)
            index.add(pygit2.IndexEntry(path, object_id, pygit2.enums.FileMode(int(entry.mode))))
        index.write()
        return index

    def _index_tree(self):
        return str(pygit2.Index(self._index).write_tree(self._repository))

    def tree(self, files):
        """Store a tree of entries; return its id."""
        return str(self._fill_index(files).write_tree(self._repository))

    def write_tree(self, files):
        """Return the tree id that the git binary gives the same entries."""
        self._fill_index(files)
        return self.run("write-tree", "--missing-ok").decode().strip()

    def commit(self, tree_id, message="A change", *options):
        """Store a commit; return its id."""
        return self.run("commit-tree", tree_id, "-m", message, *options).decode().strip()

    def apply(self, files, patch, *options):
        """Apply a patch to entries in the index; return the tree's id, or `None` if refused."""
        self._fill_index(files)
        arguments = ("apply", "--cached", "--allow-empty", *options)
        with tempfile.TemporaryDirectory() as folder:  # --3way checks files out
            done = self.run(*arguments, data=patch, fails=True, GIT_WORK_TREE=folder)
        return None if done is None else self._index_tree()

    def apply_in_work_tree(self, files, patch, folder):
        """Apply a patch to checked-out entries and their index; return the tree's id."""
        place = {"GIT_WORK_TREE": str(folder)}
        self._fill_index(files)
        self.run("checkout-index", "-a", "-q", "-u", **place)
        self.run("apply", "--index", "--allow-empty", data=patch, **place)
        return self._index_tree()


@pytest.fixture(scope="session")
def git(tmp_path_factory):
    """Return git in an empty bare repository."""
    need_program("git")
    return Git(tmp_path_factory.mktemp("git"))


@pytest.fixture
def model_server():
    """Return a scripted model that listens on loopback, for requests by litellm."""
    need_installed("litellm")
    server = ModelServer()
    yield server
    if not server.stopping.is_set():
        server.stop()


@pytest.fixture
def install_plugins(tmp_path, monkeypatch):
    """Return a function that puts a distribution with plug-ins on the path."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)

    def install(group, distribution, version, module, source, **points):
        info = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        head = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        (info / "METADATA").write_text(head)
        lines = [f"{name} = {module}:{attribute}" for name, attribute in points.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
        (tmp_path / f"{module}.py").write_text(source)
        importlib.invalidate_caches()

    yield install
    for name in set(sys.modules) - known:
        del sys.modules[name]
