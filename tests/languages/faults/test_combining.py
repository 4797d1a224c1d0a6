"""A statement of a merged file is a version's, or combines both sides' edits of one."""

import pytest

from cooperbench_eval.languages.faults.combining import find_uncombined

BASE = "x = a(1)\ny = b(2)\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged", "problem"),
    [
        ("x = a(1)\n", "x = a(1, 3)\ny = b(2)\n", "x = a(1, 3)\n", ""),
        ("x = a(1)\n", "x = a(1)\nz\ny = b(2)\n", "x = a(1)\nz\ny = b(2)\n", "repeat or restore"),
        ("x = a(1)\n", "x = a(1)\ny = b(2, 3)\n", "x = a(1)\ny = b(2, 3)\n", "one side removes"),
        (
            "x = a(1) + 3\ny = b(2)\n",
            "x = c(a(1) + 3)\ny = b(2)\n",
            "x = c(a(1) + 3) + 3\ny = b(2)\n",
            "the merged file would have it twice",
        ),
        (
            "x = a(1) + 3 + c(4)\ny = b(2)\n",
            "x = a(1) + c(4) + 3 + 5\ny = b(2)\n",
            "x = a(1) + 3 + c(4) + c(4) + 3 + 5\ny = b(2)\n",
            "both sides insert 'c(4)'",
        ),
        (
            "x = a(1, 3)\ny = b(2)\n",
            "x = a(1, 4)\ny = b(2)\n",
            "x = a(1, 3)\nx = a(1, 4)\ny = b(2)\n",
            "both versions",
        ),
        (
            "x = a(1) + 3\ny = b(2)\n",
            "x = a(1)\nlog(x)\ny = b(2)\n",
            "x = a(1)\nlog(x) + 3\ny = b(2)\n",
            "'log(x) + 3', which no version has",
        ),
    ],
)
def test_what_the_edits_do_not_explain_is_found(ours, theirs, merged, problem):
    """Whichever side made which edit, also in a text that only counts can judge."""
    for sides in ((ours, theirs), (theirs, ours)):
        versions = [each.encode() for each in (BASE, *sides)]
        found = find_uncombined("a.py", (versions[0], versions[1], versions[2]), merged.encode())
        assert (problem in found) if problem else not found


def test_a_model_may_write_new_statements():
    """It may know better than both sides."""
    versions = BASE.encode(), BASE.replace("1", "3").encode(), BASE.replace("2", "4").encode()
    merged = b"x = a(3)\nlog(x)\ny = b(4)\n"

    problem = "the merged file would have 'log(x)', which no version has"

    assert find_uncombined("a.py", versions, merged) == problem
    assert find_uncombined("a.py", versions, merged, may_invent=True) == ""
