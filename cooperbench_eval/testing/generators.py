r"""Generators of merges, for Hypothesis.

Texts are made of few lines that repeat, so that sides often change the same ones, and
bases are edited rather than drawn anew, so that sides often agree.
"""

from collections.abc import Callable, Mapping, Sequence

from cooperbench_eval.models import Entry, FileMode
from cooperbench_eval.snapshot import Changes, Snapshot
from cooperbench_eval.testing.cases import MergeCase

try:
    from hypothesis import strategies as st
except ImportError as exc:
    raise ImportError("hypothesis is missing: pip install 'cooperbench-eval[testing]'") from exc

__all__ = [
    "Edit",
    "Files",
    "Lines",
    "TextTriples",
    "Triple",
    "checked_files",
    "disjoint_cases",
    "edited_cases",
    "edits",
    "entries",
    "merge_cases",
    "odd_cases",
    "texts",
    "three_way_edits",
    "three_way_texts",
    "three_way_trees",
]

Lines = list[bytes]
Edit = Callable[[Lines], Lines]
Triple = tuple[bytes, bytes, bytes]
TextTriples = st.SearchStrategy[Triple]
Files = Mapping[str, Sequence[bytes] | TextTriples]

_SYMBOLS = (
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
# Each is a statement of its own, so that any of them together are a program.
_STATEMENTS = (
    b"import os\n",
    b"import sys\n",
    b"from m import a\n",
    b"from m import a, b\n",
    b"\n",
    b"x = 1\n",
    b"x = f(1, 2)\n",
    b"def f(a): return a\n",
    b"def f(a, b=None): return a\n",
    b"def g(): return f(x)\n",
    b"# note\n",
    b'print("a", "b")\n',
)


def texts(max_lines: int = 30, symbols: Sequence[bytes] = _SYMBOLS) -> st.SearchStrategy[Lines]:
    r"""Lines of a small alphabet, so that they repeat: ``[b"a\n", b"}\n", b"a\n"]``."""
    return st.builds(
        lambda most, numbers: [symbols[number % most] for number in numbers],
        st.integers(2, len(symbols)),
        st.binary(max_size=max_lines),
    )


def edits(symbols: Sequence[bytes] = _SYMBOLS) -> st.SearchStrategy[Edit]:
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


def three_way_texts(symbols: Sequence[bytes] = _SYMBOLS) -> TextTriples:
    """Base, ours and theirs: a text and two lists of edits to it.

    Some texts lack the last newline; some triples use CR LF throughout.
    """
    bases, changes = (
        texts(symbols=symbols),
        st.lists(edits(symbols), max_size=4),
    )

    @st.composite
    def triples(draw: st.DrawFn) -> Triple:
        base = draw(bases)
        sides = [base, base, base]
        for side in (1, 2):
            for edit in draw(changes):
                sides[side] = edit(sides[side])
        is_crlf = draw(_CRLF)
        finished = []
        for lines in sides:
            data = b"".join(lines)
            if is_crlf:
                data = _with_crlf(data)
            if draw(_FIFTHS) == 0:
                data = data.removesuffix(b"\n").removesuffix(b"\r")
            finished.append(data)
        base_data, ours, theirs = finished
        return base_data, ours, theirs

    return triples()


def _with_crlf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


_PATHS = ("a", "b", "d", "d/x", "d/x/z", "d/y", "b~A")


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    r"""A small file, link or submodule: ``Entry(b"one\ntwo\n")``."""
    mode = draw(st.sampled_from([*FileMode, FileMode.FILE, FileMode.FILE]))
    if mode is FileMode.SUBMODULE:
        return Entry(draw(st.sampled_from([b"1", b"2", b"3"])) * 40, mode)
    if mode is FileMode.SYMLINK:
        return Entry(draw(st.sampled_from([b"a", b"b", b"../c"])), mode)
    lines = draw(st.lists(st.sampled_from([b"one\n", b"two\n", b"\xe9\n", b"four"]), unique=True))
    nul = draw(st.sampled_from([b"", b"", b"", b"\0"]))
    return Entry(b"".join(lines) + nul, mode)


@st.composite
def _trees(draw: st.DrawFn, base: Snapshot | None = None) -> Snapshot:
    files: dict[str, Entry] = {}
    for path in draw(st.permutations(_PATHS)):
        old = base.get(path) if base else None
        entry = draw(st.sampled_from([old, old, None])) if old else None
        if entry is None and draw(st.booleans()):
            entry = draw(entries())
        is_clash = any(p.startswith(f"{path}/") or path.startswith(f"{p}/") for p in files)
        if entry is not None and not is_clash:
            files[path] = entry
    return Snapshot.from_files(files)


@st.composite
def three_way_trees(draw: st.DrawFn) -> tuple[Snapshot, Changes, Changes]:
    """A base tree and two sides, with every kind of entry; files may become folders."""
    base = draw(_trees())
    ours, theirs = draw(_trees(base)), draw(_trees(base))
    return base, Changes.between(base, ours), Changes.between(base, theirs)


@st.composite
def three_way_edits(draw: st.DrawFn) -> tuple[Snapshot, Changes, Changes]:
    """A base tree and two sides that edit its entries: nothing is made, moved or deleted."""
    base, *sides = draw(three_way_trees())
    ours, theirs = (
        Changes({path: entry for path, entry in side.items() if entry and base.get(path)})
        for side in sides
    )
    return base, ours, theirs


# --- cases for the laws of strategies ---


def checked_files(files: Files) -> Files:
    """Return *files* as they are, if they are what a check can make cases of.

    Raises:
        ValueError: Something is no lines of bytes, or no Hypothesis strategy that makes any.
    """
    for path, what in files.items():
        Changes({path: Entry(b"")})  # raises where the path may stand in no tree
        if isinstance(what, st.SearchStrategy):
            if what.is_empty:
                raise ValueError(f"files[{path!r}] makes nothing: {what!r:.80}")
            continue
        is_lines = isinstance(what, Sequence) and not isinstance(what, str | bytes)
        if not is_lines or len(what) < _FEWEST_LINES or not all(map(_is_line, what)):
            raise ValueError(
                f"files[{path!r}] must be two lines of bytes or more, each with its \\n, "
                "or a Hypothesis strategy of base, ours and theirs"
            )
    return files


def _checked_triples(path: str, triples: TextTriples) -> TextTriples:
    def checked(made: object) -> Triple:
        match made:
            case (bytes() as base, bytes() as ours, bytes() as theirs):
                return base, ours, theirs
        raise ValueError(
            f"files[{path!r}] must make tuples (base, ours, theirs) of bytes, not {made!r:.80}"
        )

    return triples.map(checked)


def _is_line(line: object) -> bool:
    return isinstance(line, bytes) and line.endswith(b"\n")


# Plain text: what is not is for the law of survival.
_WORDS = (b"a\n", b"b\n", b"c1\n", b"\n", b"}\n", b"  \n", b"=======\n", b"<<<<<<< ours\n")
_OWN_FILES: Files = {"code.py": _STATEMENTS, "folder/notes.txt": _WORDS, "more.txt": _WORDS}
_FEWEST_LINES = 2
_BOOLEANS = st.booleans()
_TWELFTHS = st.integers(0, 11)
_FATES = st.integers(0, 12 * 12 - 1)


_EDIT_LENGTH = 6


def _few_draws(symbols: Sequence[bytes]) -> TextTriples:
    """As `three_way_texts`, at a third of the price; each side edits at least once."""

    def triple(most: int, base: bytes, ours: bytes, theirs: bytes, flags: int) -> Triple:
        lines = [symbols[number % most] for number in base]
        versions = [lines, _edited(lines, ours, symbols), _edited(lines, theirs, symbols)]
        finished = []
        for number, version in enumerate(versions):
            data = b"".join(version)
            if flags & 3 == 3:  # noqa: PLR2004 - one in four
                data = _with_crlf(data)
            if flags >> (2 + 2 * number) & 3 == 3:  # noqa: PLR2004 - one in four
                data = data.removesuffix(b"\n").removesuffix(b"\r")
            finished.append(data)
        base_data, ours_data, theirs_data = finished
        return base_data, ours_data, theirs_data

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


def _triples(files: Files, *, fewest: int = 1) -> st.SearchStrategy[dict[str, Triple]]:
    """Contents of one or two files; where *files* has some, one of them is always there."""
    known = {
        path: _few_draws(tuple(what))
        if isinstance(what, Sequence)
        else _checked_triples(path, what)
        for path, what in {**_OWN_FILES, **files}.items()
    }
    firsts = st.sampled_from(sorted(files or known))
    more = st.lists(st.sampled_from(sorted(known)), min_size=fewest - 1, max_size=fewest)

    @st.composite
    def contents(draw: st.DrawFn) -> dict[str, Triple]:
        return {p: draw(known[p]) for p in dict.fromkeys((draw(firsts), *draw(more)))}

    return contents()


def _case(*versions: Mapping[str, Entry | None], is_described: bool = False) -> MergeCase:
    base, ours, theirs = (
        Snapshot.from_files({path: entry for path, entry in files.items() if entry is not None})
        for files in versions
    )
    return MergeCase(
        base=base,
        ours=Changes.between(base, ours),
        theirs=Changes.between(base, theirs),
        is_described=is_described,
    )


def merge_cases(files: Files) -> st.SearchStrategy[MergeCase]:
    """One or two files that both sides edit; at times one is new, deleted or executable."""
    triples = _triples(files)

    @st.composite
    def cases(draw: st.DrawFn) -> MergeCase:
        trees: list[dict[str, Entry | None]] = [{}, {}, {}]
        for path, versions in draw(triples).items():
            gone, executable = divmod(draw(_FATES), 12)
            for side, data in enumerate(versions):
                mode = FileMode.EXECUTABLE if side == executable else FileMode.FILE
                trees[side][path] = None if side == gone else Entry(data, mode)
        return _case(*trees, is_described=draw(_BOOLEANS))

    return cases()


def edited_cases(files: Files) -> st.SearchStrategy[MergeCase]:
    """One or two files that both sides edit, and nothing else."""

    def case(triples: dict[str, Triple], is_described: bool) -> MergeCase:
        trees = ({path: Entry(each[i]) for path, each in triples.items()} for i in range(3))
        return _case(*trees, is_described=is_described)

    return st.builds(case, _triples(files), _BOOLEANS)


def disjoint_cases(files: Files) -> st.SearchStrategy[MergeCase]:
    """Files of which each side changes some, and none both."""
    triples = _triples(files, fewest=2)

    @st.composite
    def cases(draw: st.DrawFn) -> MergeCase:
        changed = draw(triples)
        base: dict[str, Entry | None] = {path: Entry(each[0]) for path, each in changed.items()}
        sides = (dict(base), dict(base))
        adds = draw(_BOOLEANS)  # or deletes: both together might be renames
        turn = draw(_BOOLEANS)
        for number, (path, (_, data, _)) in enumerate(changed.items()):
            side = sides[(number + turn) % 2]
            if draw(_FIFTHS):
                side[path] = Entry(data)
            elif adds:
                side[f"new/{number}.txt"] = Entry(data)
            else:
                side[path] = None
        return _case(base, *sides, is_described=draw(_BOOLEANS))

    return cases()


_ODD_PATHS = ("plain.txt", "two words.txt", "caf\u00e9.txt", "caf\udce9.py", "\u00fc/code.py")
_ODD_KINDS = 2  # of five
_LATIN = (b"caf\xe9\n", b"na\xefve\n", b"\xfc = 1\n", b"a\n")
_UTF_16 = tuple(line.encode("utf-16-le") for line in ("a\n", "b\n", "\u20ac\n"))
_BINARY = (b"\0\1\2", b"\xff\xfe\0\n", b"PNG\r\n\x1a\n\0", b"\0")
_LONG = (b"x" * 3000 + b"\n", b"y" * 3000 + b"\n", b"\xf0\x9f\x92\xa9\n")


def _with_latin(data: bytes) -> bytes:
    return data.replace(b"\n", b" \xe9\n")


def odd_cases(files: Files) -> st.SearchStrategy[MergeCase]:
    """Binary, CR LF, Latin-1, UTF-16 and empty files, odd names, links, submodules."""
    kinds = [_few_draws(each) for each in (_LATIN, _SYMBOLS, _BINARY, _UTF_16, _LONG)]
    odd = st.tuples(st.sampled_from(_ODD_PATHS), st.one_of(kinds)).map(lambda row: dict([row]))
    plain, trees = _triples(files), three_way_trees()
    twists = st.sampled_from(
        [
            _with_crlf,
            _with_latin,
            lambda data: _with_crlf(_with_latin(data)),
            lambda data: data,
        ]
    )

    @st.composite
    def cases(draw: st.DrawFn) -> MergeCase:
        kind = draw(_FIFTHS)
        if kind == 0:
            base, ours, theirs = draw(trees)
            return MergeCase(base=base, ours=ours, theirs=theirs)
        triples = draw(odd if kind <= _ODD_KINDS else plain)
        twist, gone, empty = draw(twists), draw(_TWELFTHS), draw(_TWELFTHS)
        sides: list[dict[str, Entry | None]] = [{}, {}, {}]
        for path, versions in triples.items():
            for side, data in enumerate(versions):
                entry = Entry(b"" if side == empty else twist(data))
                sides[side][path] = None if side == gone else entry
        return _case(*sides)

    return cases()
