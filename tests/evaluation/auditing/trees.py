"""Small trees for the tests of provenance and audits."""

from cooperbench_eval import Changes, Entry, Snapshot


def text(*lines):
    """Return lines as the bytes of a file."""
    return "".join(f"{line}\n" for line in lines).encode()


def numbered(*numbers):
    """Return a text of lines such as `line 1`."""
    return text(*(f"line {number}" for number in numbers))


def trees(base, *others):
    """Return a base, and each other tree as changes of it; files are texts, entries or gone."""
    changes = [
        Changes(
            {
                path: entry if entry is None or isinstance(entry, Entry) else Entry(entry)
                for path, entry in each.items()
            }
        )
        for each in others
    ]
    return Snapshot.from_files(base), *changes


NESTED_MARKERS = b"<<<<<<<<", b"========", b">>>>>>>>"
"""How the markers begin that git leaves where it merges renamed files with conflicts first."""
