"""A repository for the tests of probes."""

import pytest
from agents import Agents
from needs import need_program


@pytest.fixture
def agents(tmp_path):
    """Return a repository with one commit."""
    need_program("git")
    return Agents(tmp_path / "repo")
