"""Writes files that appear complete or not at all."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """Yield a path for the contents, which replace *path* at the end unless an error is raised.

    A file that is created at this path has the mode of the user's new files, unlike one of the
    `tempfile` module. If *path* cannot be replaced, raise an `OSError`.
    """
    part = path.absolute().with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield part
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()
