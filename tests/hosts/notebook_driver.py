"""Executes a notebook in its folder, with a temporary home, and writes it with its outputs."""

import os
import sys
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from matplotlib import font_manager
from nbclient import NotebookClient

PLACES = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "TMPDIR")


def main():
    """Execute the notebook that the arguments name."""
    font_manager.get_font_names()  # on a new machine it says that it is looking for fonts
    file, home = map(Path, sys.argv[1:])
    for place in PLACES:
        os.environ[place] = str(home / place.lower())
        (home / place.lower()).mkdir()
    manager = AsyncKernelManager(
        kernel_name="python3", transport="ipc", connection_file=str(home / "kernel.json")
    )
    manager.kernel_spec.argv[0] = sys.executable  # another Python's may stand before ours
    notebook = nbformat.read(file, nbformat.current_nbformat)
    options = {"timeout": 120, "resources": {"metadata": {"path": file.parent}}}
    NotebookClient(notebook, km=manager, **options).execute()
    nbformat.write(notebook, home / file.name)


if __name__ == "__main__":
    main()
