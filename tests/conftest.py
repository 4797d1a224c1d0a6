"""What tests of more than one folder share: Hypothesis profiles, git, a repository."""

import gc
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, settings
from server import ModelServer

from cooperbench_eval.models import FileMode

# Hundreds of processes that tests start import the library: it is compiled once, whatever
# the shell says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

settings.register_profile("full", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", settings.get_profile("full"), max_examples=40)
settings.register_profile("brief", settings.get_profile("full"), max_examples=10)
settings.register_profile("ci", settings.get_profile("full"), derandomize=True)
settings.register_profile("thorough", settings.get_profile("full"), max_examples=50_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

LONG = (
    "test_container_conformance.py",
    "test_forgery.py",
    "test_survival.py",
    "test_container.py",
    "test_sample_task.py",
    "test_plugin_package.py",
    "test_strategy_check.py",
    "test_executors.py",
    "test_explore_notebook.py",
    "test_distributions.py",
    "test_container_tasks.py",
    "run-tests.md",
    "tutorial.md",
)
"""Files that take long for the number of their tests; those that wait for an engine apart."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with the files that take long: one that came last would leave processes idle."""
    sizes = Counter(item.path for item in items)
    ranks = {name: rank for rank, name in enumerate(LONG)}
    items.sort(
        key=lambda item: (ranks.get(item.path.name, len(LONG)), -sizes[item.path], str(item.path))
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Have the collector of garbage look less often, and never at thousands of tests.

    It takes a fourth of the time of what makes many small objects, as Hypothesis does.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 50, 50)


ASKS_A_MODEL = (
    "tests/llm/test_litellm_client.py",
    "tests/strategies/test_llm.py",
    "docs/how-to/use-a-model.md",
)
"""Files that import litellm, which takes seconds in each process that does."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Have one process run all files that import litellm, and whichever is free each other."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - where its hook is called

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return ASKS_A_MODEL[0] if file in ASKS_A_MODEL else file

    return Scheduling(config, log)


class Git:
    """A bare repository and the git binary, without anybody's configuration."""

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
        """Run git; return what it prints, or `None` where it fails and may."""
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
        """Apply a patch to entries in the index; return the tree's id, `None` if refused."""
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
    """Return git in an empty bare repository; without the binary skip, but fail in CI."""
    if not shutil.which("git") and not os.environ.get("CI"):
        pytest.skip("git is not installed")
    return Git(tmp_path_factory.mktemp("git"))


@pytest.fixture
def model_server():
    """Return a scripted model that listens on loopback."""
    server = ModelServer()
    yield server
    if not server.stopping.is_set():
        server.stop()


@pytest.fixture
def install_plugins(tmp_path, monkeypatch):
    """Return a function that lays a distribution with plug-ins on the path."""
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
