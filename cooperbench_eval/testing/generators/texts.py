"""Generators of the three versions of one text."""

from collections.abc import Callable, Sequence

from cooperbench_eval.testing.generators.hypothesis_strategies import st

__all__ = [
    "SYMBOLS",
    "Edit",
    "Lines",
    "TextTriples",
    "Triple",
    "cheap_three_way_texts",
    "edits",
    "texts",
    "three_way_texts",
    "with_crlf",
]

Lines = list[bytes]
Edit = Callable[[Lines], Lines]
Triple = tuple[bytes, bytes, bytes]
TextTriples = st.SearchStrategy[Triple]

SYMBOLS = (
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
)


def texts(max_lines: int = 30, symbols: Sequence[bytes] = SYMBOLS) -> st.SearchStrategy[Lines]:
    r"""Lines of a small alphabet, so that they repeat: ``[b"a\n", b"}\n", b"a\n"]``."""
    return st.builds(
        lambda most, numbers: [symbols[number % most] for number in numbers],
        st.integers(2, len(symbols)),
        st.binary(max_size=max_lines),
    )


def edits(symbols: Sequence[bytes] = SYMBOLS) -> st.SearchStrategy[Edit]:
    """A function that inserts, deletes, replaces, moves or duplicates some lines."""
    return st.builds(lambda numbers: _edit(numbers, symbols), st.binary(min_size=5, max_size=8))


def _edit(numbers: bytes, symbols: Sequence[bytes]) -> Edit:
    kind, start, size, target, *new = numbers
    target %= 32
    added = [symbols[number % len(symbols)] for number in new]

    def edit(lines: Lines) -> Lines:
        first = min(start % 32, len(lines))
        last = min(first + size % 6, len(lines))
        block, rest = lines[first:last], lines[:first] + lines[last:]
        match kind % 5:
            case 0:
                return lines[:first] + added + lines[first:]
            case 1:
                return rest
            case 2:
                return lines[:first] + added + lines[last:]
            case 3:
                return rest[:target] + block + rest[target:]
            case _:
                return lines[:target] + block + lines[target:]

    return edit


_CRLF = st.sampled_from([False, False, False, True])
_FIFTHS = st.integers(0, 4)


def three_way_texts(symbols: Sequence[bytes] = SYMBOLS) -> TextTriples:
    """Base, ours and theirs: a text and two lists of edits to it.

    Some texts lack the last newline; some triples use CR LF throughout.
    """
    bases, changes = texts(symbols=symbols), st.lists(edits(symbols), max_size=4)

    @st.composite
    def triples(draw: st.DrawFn) -> Triple:
        versions = [draw(bases)] * 3
        for side in (1, 2):
            for edit in draw(changes):
                versions[side] = edit(versions[side])
        is_crlf = draw(_CRLF)
        base, ours, theirs = (
            _joined(lines, is_crlf=is_crlf, lacks_newline=draw(_FIFTHS) == 0) for lines in versions
        )
        return base, ours, theirs

    return triples()


def _joined(lines: Lines, *, is_crlf: bool, lacks_newline: bool) -> bytes:
    """Return the text, perhaps with CR LF, perhaps without its last newline."""
    data = b"".join(lines)
    if is_crlf:
        data = with_crlf(data)
    return data.removesuffix(b"\n").removesuffix(b"\r") if lacks_newline else data


def with_crlf(data: bytes) -> bytes:
    """End all lines with CR LF."""
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


_EDIT_LENGTH = 6
_TWO_BITS = 3  # both set: a chance of one in four


def cheap_three_way_texts(symbols: Sequence[bytes]) -> TextTriples:
    """As `three_way_texts`, at a third of the price; each side edits at least once."""

    def triple(most: int, numbers: bytes, one: bytes, two: bytes, flags: int) -> Triple:
        lines = [symbols[number % most] for number in numbers]
        versions = [lines, _edited(lines, one, symbols), _edited(lines, two, symbols)]
        chances = [flags >> shift & _TWO_BITS == _TWO_BITS for shift in (0, 2, 4, 6)]
        base, ours, theirs = (
            _joined(version, is_crlf=chances[0], lacks_newline=lacks_newline)
            for version, lacks_newline in zip(versions, chances[1:], strict=True)
        )
        return base, ours, theirs

    edits_of_side = st.binary(min_size=_EDIT_LENGTH, max_size=3 * _EDIT_LENGTH)
    return st.builds(
        triple,
        st.integers(2, len(symbols)),
        st.binary(max_size=20),
        edits_of_side,
        edits_of_side,
        st.integers(0, 255),
    )


def _edited(lines: Lines, numbers: bytes, symbols: Sequence[bytes]) -> Lines:
    for at in range(0, len(numbers) - _EDIT_LENGTH + 1, _EDIT_LENGTH):
        lines = _edit(numbers[at : at + _EDIT_LENGTH], symbols)(lines)
    return lines
