"""Fixtures of the tests of hosts: a word that identifies processes, a temporary folder."""

import os
import signal
import subprocess
import sys
import uuid

import pytest
from processparts import EXAMPLES, live, until


@pytest.fixture
def word():
    """Return a word of one test; at the end, no process with this argument may be alive."""
    word = f"word-{uuid.uuid4()}"
    yield word
    left = live(word)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Return a temporary folder of one test, which must be empty at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert until(lambda: not list(folder.iterdir()), within_seconds=2)


@pytest.fixture(scope="session")
def sample_repo(tmp_path_factory):
    """Build the repository of the sample task; return its path."""
    script = EXAMPLES / "sample" / "build_repo.py"
    folder = tmp_path_factory.mktemp("sample") / "pennybook"
    subprocess.run([sys.executable, script, folder], check=True, capture_output=True)
    return folder
