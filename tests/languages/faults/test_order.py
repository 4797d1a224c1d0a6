"""What both sides insert at one place may have to be in one order."""

import pytest
from needs import need_package

from cooperbench_eval.languages.faults.faults import find_fault

ORDER = "the order matters"
RUST = "fn f(x: u8) -> u8 {\n    match x {\n@        _ => 0,\n    }\n}\n"


def fault(path, frame, *texts):
    """Judge a file with each version's text in its frame."""
    if not path.endswith(".py"):
        need_package("tree_sitter")
    base, ours, theirs, merged = (frame.replace("@", each).encode() for each in texts)
    return find_fault(path, (base, ours, theirs), merged)


ALTERNATIVES = {
    "an arm": ("a.rs", RUST, "        2..=9 => 2,\n", "        3 => 3,\n"),
    "a branch": (
        "a.py",
        "def f(x):\n    if x < 0:\n        a()\n@",
        "    elif x > 3:\n        b()\n",
        "    elif x > 5:\n        c()\n",
    ),
    "a handler": (
        "a.py",
        "try:\n    a()\n@finally:\n    b()\n",
        "except Exception:\n    c()\n",
        "except ValueError:\n    d()\n",
    ),
}


@pytest.mark.parametrize(
    ("path", "frame", "general", "special"), ALTERNATIVES.values(), ids=ALTERNATIVES
)
def test_an_alternative_behind_one_that_takes_all_of_it_is_a_fault(path, frame, general, special):
    """Unless a version has both in that order."""
    for sides in ((general, special), (special, general)):
        assert "never be reached" in fault(path, frame, "", *sides, general + special)
        assert fault(path, frame, "", *sides, special + general) == ""
    assert fault(path, frame, general, general + special, general, general + special) == ""


CLASHES = {
    "a list that is emptied": ("    q.append(1)\n", "    q.clear()\n"),
    "a file that is closed": ("    q.write(1)\n", "    q.close()\n"),
    "a value that is taken out": ("    q.append(1)\n", "    x = q.pop()\n"),
    "one key": ("    q.pop('a')\n", "    q.setdefault('a', 1)\n"),
}
ALLOWED = {
    "other objects": ("    q.append(1)\n", "    r.clear()\n"),
    "other keys": ("    q.pop('a')\n", "    q.pop('b')\n"),
    "calls that add": ("    q.append(1)\n", "    q.extend(r)\n"),
}


@pytest.mark.parametrize(
    ("ours", "theirs", "is_fault"),
    [*((*pair, True) for pair in CLASHES.values()), *((*pair, False) for pair in ALLOWED.values())],
    ids=[*CLASHES, *ALLOWED],
)
def test_a_call_that_removes_what_the_other_side_adds_is_a_fault(ours, theirs, is_fault):
    """In either order."""
    frame = "def f(q, r):\n    q.start()\n@    return q\n"

    for merged in (ours + theirs, theirs + ours):
        assert (ORDER in fault("a.py", frame, "", ours, theirs, merged)) is is_fault


@pytest.mark.parametrize(
    ("path", "frame", "spread", "value"),
    [
        ("a.ts", "const x = {\n  a: 1,\n@};\n", "  ...y,\n", "  b: 2,\n"),
        ("a.py", "x = {\n    'a': 1,\n@}\n", "    **y,\n", "    'b': 2,\n"),
    ],
)
def test_a_value_beside_the_other_sides_spread_is_a_fault(path, frame, spread, value):
    """The later one replaces the earlier one."""
    assert ORDER in fault(path, frame, "", spread, value, spread + value)
    assert ORDER in fault(path, frame, "", value, spread, spread + value)
    assert fault(path, frame, spread, spread + value, spread, spread + value) == ""
