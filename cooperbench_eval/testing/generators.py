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


@st.composite
def three_way_texts(draw: st.DrawFn, symbols: Sequence[bytes] = _SYMBOLS) -> Triple:
    """Base, ours and theirs: a text and two lists of edits to it.

    Some texts lack the last newline; some triples use CR LF throughout.
    """
    base = draw(texts(symbols=symbols))
    sides = [base, base, base]
    for side in (1, 2):
        for edit in draw(st.lists(edits(symbols), max_size=4)):
            sides[side] = edit(sides[side])
    is_crlf = draw(st.sampled_from([False, False, False, True]))
    finished = []
    for lines in sides:
        data = b"".join(lines)
        if is_crlf:
            data = _with_crlf(data)
        if draw(st.integers(0, 4)) == 0:
            data = data.removesuffix(b"\n").removesuffix(b"\r")
        finished.append(data)
    base_data, ours, theirs = finished
    return base_data, ours, theirs


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
        ValueError: Something is no lines of bytes, or no Hypothesis strategy.
    """
    for path, what in files.items():
        Changes({path: Entry(b"")})  # raises where the path may stand in no tree
        if isinstance(what, st.SearchStrategy):
            continue
        is_lines = isinstance(what, Sequence) and not isinstance(what, str | bytes)
        if not is_lines or len(what) < _FEWEST_LINES or not all(map(_is_line, what)):
            raise ValueError(
                f"files[{path!r}] must be two lines of bytes or more, each with its \\n, "
                "or a Hypothesis strategy of base, ours and theirs"
            )
    return files


def _is_line(line: object) -> bool:
    return isinstance(line, bytes) and line.endswith(b"\n")


_OWN_FILES: Files = {
    "code.py": _STATEMENTS,
    "folder/notes.txt": _SYMBOLS,
    "more.txt": _SYMBOLS,
}
_MOST_FILES = 2
_FEWEST_LINES = 2


def _triples(files: Files) -> st.SearchStrategy[dict[str, Triple]]:
    """Contents by path; where *files* has some, one of them is always there."""
    known = {
        path: three_way_texts(symbols=tuple(what)) if isinstance(what, Sequence) else what
        for path, what in {**_OWN_FILES, **files}.items()
    }

    @st.composite
    def draw_files(draw: st.DrawFn) -> dict[str, Triple]:
        first = draw(st.sampled_from(sorted(files or known)))
        more = draw(st.lists(st.sampled_from(sorted(known)), max_size=_MOST_FILES - 1))
        return {path: draw(known[path]) for path in dict.fromkeys((first, *more))}

    return draw_files()


def _case(*, described: bool, **versions: Mapping[str, Entry | None]) -> MergeCase:
    base, ours, theirs = (
        Snapshot.from_files({p: e for p, e in versions[side].items() if e is not None})
        for side in ("base", "ours", "theirs")
    )
    return MergeCase(
        base=base,
        ours=Changes.between(base, ours),
        theirs=Changes.between(base, theirs),
        is_described=described,
    )


@st.composite
def merge_cases(draw: st.DrawFn, files: Files) -> MergeCase:
    """One or two files that both sides edit; at times one is new, deleted or executable."""
    trees: list[dict[str, Entry | None]] = [{}, {}, {}]
    for path, texts_of_path in draw(_triples(files)).items():
        fate = draw(st.integers(0, 11))  # 0: nothing of the kind
        for side, data in enumerate(texts_of_path):
            is_gone = fate == side + 9
            mode = FileMode.EXECUTABLE if fate == 8 and side == 1 else FileMode.FILE  # noqa: PLR2004 - ours
            trees[side][path] = None if is_gone else Entry(data, mode)
    base, ours, theirs = trees
    return _case(described=draw(st.booleans()), base=base, ours=ours, theirs=theirs)


@st.composite
def edited_cases(draw: st.DrawFn, files: Files) -> MergeCase:
    """One or two files that both sides edit, and nothing else."""
    triples = draw(_triples(files))
    base, ours, theirs = (
        {path: Entry(each[side]) for path, each in triples.items()} for side in range(3)
    )
    return _case(described=draw(st.booleans()), base=base, ours=ours, theirs=theirs)


@st.composite
def disjoint_cases(draw: st.DrawFn, files: Files) -> MergeCase:
    """Files of which each side changes some, and none both."""
    triples = draw(_triples(files))
    base = {path: Entry(each[0]) for path, each in triples.items()}
    sides: tuple[dict[str, Entry | None], dict[str, Entry | None]] = (dict(base), dict(base))
    # Deletions beside additions might be renames.
    adds = draw(st.booleans())
    for number, (path, (_, data, _)) in enumerate(triples.items()):
        side = sides[draw(st.integers(0, 1))]
        if draw(st.integers(0, 3)):
            side[path] = Entry(data)
        elif adds:
            side[f"new/{number}.txt"] = Entry(data)
        else:
            side[path] = None
    return _case(described=draw(st.booleans()), base=base, ours=sides[0], theirs=sides[1])


_ODD_PATHS = ("plain.txt", "code.py", "two words.txt", "caf\u00e9.txt", "caf\udce9.py")
_LATIN = (b"caf\xe9\n", b"na\xefve\n", b"\xfc = 1\n", b"a\n")
_UTF_16 = tuple(line.encode("utf-16-le") for line in ("a\n", "b\n", "\u20ac\n"))
_BINARY = (b"\0\1\2", b"\xff\xfe\0\n", b"PNG\r\n\x1a\n\0", b"\0")
_LONG = (b"x" * 3000 + b"\n", b"y" * 3000 + b"\n", b"\xf0\x9f\x92\xa9\n")
_ALPHABETS = (_LATIN, _SYMBOLS, _STATEMENTS, _BINARY, _UTF_16, _LONG)


def _with_latin(data: bytes) -> bytes:
    return data.replace(b"\n", b" \xe9\n")


_TWISTS = (_with_crlf, _with_latin, lambda data: _with_crlf(_with_latin(data)))


@st.composite
def _odd_triples(draw: st.DrawFn) -> Triple:
    """Versions of a file of one odd kind, or of no lines at all."""
    triple = draw(three_way_texts(symbols=draw(st.sampled_from(_ALPHABETS))))
    match draw(st.integers(0, 5)):
        case 0:
            base, ours, theirs = map(_with_crlf, triple)
            return base, ours, theirs
        case 1:
            empty = draw(st.integers(0, 2))
            base, ours, theirs = (b"" if i == empty else data for i, data in enumerate(triple))
            return base, ours, theirs
        case _:
            return triple


@st.composite
def odd_cases(draw: st.DrawFn, files: Files) -> MergeCase:
    """Binary, CR LF, Latin-1, UTF-16 and empty files, odd names, links, submodules."""
    kind = draw(st.integers(0, 4))
    if kind == 0:
        base, ours, theirs = draw(three_way_trees())
        return MergeCase(base=base, ours=ours, theirs=theirs)
    if kind == 1:  # what a strategy looks at, in another coding
        twist = draw(st.sampled_from(_TWISTS))
        triples = {
            path: (twist(base), twist(ours), twist(theirs))
            for path, (base, ours, theirs) in draw(_triples(files)).items()
        }
    else:
        triples = {draw(st.sampled_from(_ODD_PATHS)): draw(_odd_triples())}
    gone = draw(st.integers(0, 11))
    base_files, our_files, their_files = (
        {path: None if i == gone else Entry(data[i]) for path, data in triples.items()}
        for i in range(3)
    )
    return _case(described=False, base=base_files, ours=our_files, theirs=their_files)
