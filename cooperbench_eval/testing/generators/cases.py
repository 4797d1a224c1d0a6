"""Generators of what a strategy is asked under a law."""

from collections.abc import Mapping

from cooperbench_eval.models import Entry, FileMode
from cooperbench_eval.snapshot import Changes, Snapshot
from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.generators.files import Files, file_triples
from cooperbench_eval.testing.generators.hypothesis_strategies import st
from cooperbench_eval.testing.generators.texts import (
    SYMBOLS,
    Triple,
    cheap_three_way_texts,
    with_crlf,
)
from cooperbench_eval.testing.generators.trees import three_way_trees

__all__ = ["disjoint_cases", "edited_cases", "merge_cases", "odd_cases"]

_BOOLEANS = st.booleans()
_FIFTHS = st.integers(0, 4)
_TWELFTHS = st.integers(0, 11)
_FATES = st.integers(0, 12 * 12 - 1)


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
    triples = file_triples(files)

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

    return st.builds(case, file_triples(files), _BOOLEANS)


def disjoint_cases(files: Files) -> st.SearchStrategy[MergeCase]:
    """Files of which each side changes some, and none both."""
    triples = file_triples(files, fewest=2)

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
    kinds = [cheap_three_way_texts(each) for each in (_LATIN, SYMBOLS, _BINARY, _UTF_16, _LONG)]
    odd = st.tuples(st.sampled_from(_ODD_PATHS), st.one_of(kinds)).map(lambda row: dict([row]))
    plain, trees = file_triples(files), three_way_trees()
    twists = st.sampled_from(
        [
            with_crlf,
            _with_latin,
            lambda data: with_crlf(_with_latin(data)),
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
