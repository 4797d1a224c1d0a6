"""What the tests of hosts share: a word to know processes by, and a temporary folder."""

import uuid

import pytest
from apartparts import live, until


@pytest.fixture
def word():
    """Return a word of one test's; in the end no process lives that was started with it."""
    word = f"word-{uuid.uuid4()}"
    yield word
    assert not live(word)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Return a temporary folder of the test's own, which is empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert until(lambda: not list(folder.iterdir()), within_seconds=2)
