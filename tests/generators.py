"""Generators of test data; the only test file that imports Hypothesis's."""

from collections.abc import Callable

from hypothesis import strategies as st

__all__ = ["edits", "texts", "three_way_texts"]

Lines = list[bytes]
Edit = Callable[[Lines], Lines]

_SYMBOLS = [
    b"a\n",
    b"b\n",
    b"c1\n",
    b"\n",
    b"}\n",
    b"  \n",
    b"\xe9\n",
    b"=======\n",
    b"<<<<<<< ours\n",
    b"d\r\n",
    b"\r\n",
    b"e\rf\n",
]


@st.composite
def texts(draw: st.DrawFn, max_lines: int = 30) -> Lines:
    """Lines of a small alphabet, so that they repeat: ``[b"a\\n", b"}\\n", b"a\\n"]``."""
    symbols = draw(st.integers(2, len(_SYMBOLS)))
    return draw(st.lists(st.sampled_from(_SYMBOLS[:symbols]), max_size=max_lines))


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    """A function that inserts, deletes, replaces, moves or duplicates some lines."""
    kind = draw(st.sampled_from(["insert", "delete", "replace", "move", "copy"]))
    start, size, target = (draw(st.integers(0, 30)) for _ in range(3))
    new = draw(st.lists(st.sampled_from(_SYMBOLS), min_size=1, max_size=4))

    def edit(lines: Lines) -> Lines:
        first = min(start, len(lines))
        last = min(first + size % 6, len(lines))
        block, rest = lines[first:last], lines[:first] + lines[last:]
        match kind:
            case "insert":
                return lines[:first] + new + lines[first:]
            case "delete":
                return rest
            case "replace":
                return lines[:first] + new + lines[last:]
            case "move":
                return rest[:target] + block + rest[target:]
            case _:
                return lines[:target] + block + lines[target:]

    return edit


@st.composite
def three_way_texts(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """Base, ours and theirs: a text and two lists of edits to it.

    Some texts lack the last newline; some triples use CR LF throughout.
    """
    base = draw(texts())
    sides = [base, base, base]
    for side in (1, 2):
        for edit in draw(st.lists(edits(), max_size=5)):
            sides[side] = edit(sides[side])
    is_crlf = draw(st.sampled_from([False, False, False, True]))
    finished = []
    for lines in sides:
        data = b"".join(lines)
        if is_crlf:
            data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        if draw(st.integers(0, 4)) == 0:
            data = data.removesuffix(b"\n").removesuffix(b"\r")
        finished.append(data)
    base_data, ours, theirs = finished
    return base_data, ours, theirs
