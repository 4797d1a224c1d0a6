"""Fixtures for real runs on small trees."""

import sys
import time
from pathlib import Path

import pytest
from needs import need_bubblewrap
from quick import QUICK

from cooperbench_eval import BubblewrapSandbox
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running import LocalSandbox, TestRunner, TestSuite

pytest.register_assert_rewrite("sandbox_conformance")

PYTEST = ("python", "-m", "pytest", "-q")


@pytest.fixture(autouse=True)
def own_temporary_directory(tmp_path, monkeypatch):
    """Give each test its own temporary directory, to see what is left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def run_suite():
    """Return a function that runs a command, pytest by default, on a tree of files."""

    def run(files, command=PYTEST, *, sandbox=None, env=None, **options):
        # Other people's pytest plug-ins cost time and say nothing about us.
        variables = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | (env or {})
        base = Snapshot.from_files({path: text.encode() for path, text in files.items()})
        suite = TestSuite(command=command, env=variables, **options)
        quick = QUICK if command[:3] == PYTEST[:3] else LocalSandbox()
        return TestRunner(sandbox=sandbox or quick).run(base, Changes(), suite)

    return run


@pytest.fixture
def run_python(tmp_path):
    """Return a function that runs a Python script in the local sandbox."""
    tree, scratch = tmp_path / "tree", tmp_path / "scratch"
    tree.mkdir()
    scratch.mkdir()

    def run(script, *arguments, sandbox=None, env=None, timeout_seconds=20.0):
        return (sandbox or LocalSandbox()).run(
            (sys.executable, "-S", "-c", script, *arguments),
            tree=tree,
            scratch=scratch,
            env=env or {},
            timeout_seconds=timeout_seconds,
        )

    return run


@pytest.fixture
def bubblewrap():
    """Return the class of bubblewrap's sandbox, which works."""
    need_bubblewrap()
    return BubblewrapSandbox


@pytest.fixture
def survivors():
    """Return a function that lists the live processes started with a word."""

    def find(word, *, within_seconds=0.0):
        deadline = time.monotonic() + within_seconds
        while (found := _processes(word)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found

    return find


def _processes(word):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in arguments:
            found.append(int(folder.name))
    return found
