"""Trees for the tests of hazards."""

import pytest

import cooperbench_eval as ce
from cooperbench_eval.languages.hazards.finding import find_hazards


def changes_of(files):
    """Changes from texts by path; `None` deletes a file."""
    return ce.Changes(
        {path: text if text is None else ce.Entry(text.encode()) for path, text in files.items()}
    )


@pytest.fixture(scope="session")
def hazards_of():
    """Find the hazards of a merge; feature 2 is ours, and feature 1 theirs.

    Without *merged*, the sides are merged as git does, which must be clean.
    """

    def find(base, ours, theirs, merged=None, features=(2, 1)):
        tree = ce.Snapshot.from_files({path: text.encode() for path, text in base.items()})
        sides = changes_of(ours), changes_of(theirs)
        if merged is None:
            outcome = ce.merge(tree, *sides)
            assert outcome.status is ce.MergeStatus.CLEAN
            result = outcome.changes
        else:
            result = changes_of(merged)
        return find_hazards(tree, dict(zip(features, sides, strict=True)), result)

    return find
