"""Builds the repository of the sample task, with the same commit id everywhere.

The sample's base commit is kept as plain files in ``base/``. `build_repo` turns
them into a git repository with one commit. Author, date, message, file modes and
line endings are fixed, so the commit has the id that the task's Dockerfile names,
whatever the machine, its umask, its clock or its git configuration.

Run as a script, it takes the destination and prints the commit id::

    python docs/examples/sample/build_repo.py /tmp/pennybook
"""

from __future__ import annotations

import sys
from pathlib import Path

import pygit2
from pygit2.enums import FileMode

BASE = Path(__file__).resolve().parent / "base"
BRANCH = "main"
MESSAGE = "pennybook 0.3.0\n"
AUTHOR = pygit2.Signature("Sample Author", "sample@example.org", time=1_717_200_000, offset=0)

# What running the base's own tests or an editor may leave beside the sources.
_LEFTOVERS = frozenset(
    {"__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".DS_Store"}
)


def base_files() -> dict[str, bytes]:
    """Read the base tree.

    Returns:
        The content of each file by its path with ``/``, sorted, with LF line
        endings even where a checkout has turned them into CRLF.
    """
    files = {}
    for path in BASE.rglob("*"):
        parts = path.relative_to(BASE).parts
        is_leftover = path.suffix == ".pyc" or any(
            part in _LEFTOVERS or part.endswith(".egg-info") for part in parts
        )
        if path.is_file() and not is_leftover:
            files["/".join(parts)] = path.read_bytes().replace(b"\r\n", b"\n")
    return dict(sorted(files.items()))


def build_repo(destination: Path) -> str:
    """Create the sample repository, work tree included.

    Args:
        destination: A directory that is empty or does not exist yet.

    Returns:
        The id of the base commit, 40 hexadecimal digits.

    Raises:
        FileExistsError: The destination holds something already.
    """
    destination = Path(destination)
    destination.mkdir(parents=True, exist_ok=True)
    if any(destination.iterdir()):
        raise FileExistsError(f"not empty: {destination}")

    repository = pygit2.init_repository(str(destination), initial_head=BRANCH)
    repository.config["core.autocrlf"] = False  # else a user's setting would edit the work tree
    for path, content in base_files().items():
        file = destination / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        blob = repository.create_blob(content)
        repository.index.add(pygit2.IndexEntry(path, blob, FileMode.BLOB))
    tree = repository.index.write_tree()
    repository.index.write()
    commit = repository.create_commit(f"refs/heads/{BRANCH}", AUTHOR, AUTHOR, MESSAGE, tree, [])
    return str(commit)


if __name__ == "__main__":
    if len(sys.argv[1:]) != 1:
        sys.exit("usage: build_repo.py DESTINATION")
    print(build_repo(Path(sys.argv[1])))
