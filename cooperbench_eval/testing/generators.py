"""Generators of merges, and the search for the smallest one that breaks a law: Hypothesis.

Texts consist of few lines that repeat, so that both sides often change the same lines.
Sides are edited copies of the base, so that they often agree.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeVar
from unittest import SkipTest

from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.laws import BrokenError, Counterexample, UncheckedError

try:
    from hypothesis import Phase, Verbosity, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample
except ImportError as exc:
    raise ImportError("hypothesis is missing: pip install 'cooperbench-eval[testing]'") from exc


Lines = list[bytes]
Triple = tuple[bytes, bytes, bytes]
Triples = dict[str, Triple]
TextTriples = st.SearchStrategy[Triple]
Files = Mapping[str, Sequence[bytes] | TextTriples]

# --- texts ------------------------------------------------------------------------------

# Lines that are valid in any text, conflict markers included.
_WORDS = (b"a\n", b"b\n", b"c1\n", b"\n", b"}\n", b"  \n", b"=======\n", b"<<<<<<< ours\n")
SYMBOLS = (*_WORDS, b"\xe9\n", b"d\r\n", b"\r\n", b"e\rf\n")
_EDIT_NUMBERS = 8
_QUARTER = 64  # of the numbers below 256

# Hypothesis mixes constants of the loaded modules into what it draws. The same seed would
# then give other cases in another program. Modules have no constants of these characters.
_FIRST_CHARACTER = 0xE000
_CHARACTERS = st.characters(min_codepoint=_FIRST_CHARACTER, max_codepoint=_FIRST_CHARACTER + 255)


def _numbers(fewest: int, most: int) -> st.SearchStrategy[list[int]]:
    """Numbers below 256, in one draw, because many small draws take three times as long."""
    texts = st.text(_CHARACTERS, min_size=fewest, max_size=most)
    return texts.map(lambda text: [ord(character) - _FIRST_CHARACTER for character in text])


def three_way_texts(
    symbols: Sequence[bytes] = SYMBOLS,
    *,
    max_lines: int = 20,
    min_edits: int = 1,
    max_edits: int = 3,
) -> TextTriples:
    """Base, ours and theirs: a text of lines among *symbols*, and two edited copies.

    Some texts lack the last newline; some triples use CR LF throughout.
    """

    def triple(most: int, text: list[int], one: list[int], two: list[int]) -> Triple:
        lines = [symbols[number % most] for number in text]
        versions = (lines, edited(lines, one), edited(lines, two))
        base, ours, theirs = (
            _joined(version, is_crlf=two[-2] < _QUARTER, lacks_newline=flag < _QUARTER)
            for version, flag in zip(versions, (two[-1], one[0], two[0]), strict=True)
        )
        return base, ours, theirs

    def edited(lines: Lines, numbers: list[int]) -> Lines:
        count = min_edits + numbers[1] % (max_edits - min_edits + 1)
        for at in range(2, 2 + count * _EDIT_NUMBERS, _EDIT_NUMBERS):
            lines = _edit(lines, numbers[at : at + _EDIT_NUMBERS], symbols)
        return lines

    size = 2 + max_edits * _EDIT_NUMBERS
    # Hypothesis often repeats a draw of the same size. Equal edits would have no conflict.
    edits = (_numbers(size, size), _numbers(size + 2, size + 2))
    return st.builds(triple, st.integers(2, len(symbols)), _numbers(0, max_lines), *edits)


def _edit(lines: Lines, numbers: list[int], symbols: Sequence[bytes]) -> Lines:
    kind, start, size, target, *new = numbers
    added = [symbols[number % len(symbols)] for number in new[: 1 + size // 6 % 4]]
    first, target = min(start % 32, len(lines)), target % 32
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


def _joined(lines: Lines, *, is_crlf: bool, lacks_newline: bool) -> bytes:
    data = b"".join(lines)
    if is_crlf:
        data = _with_crlf(data)
    return data.removesuffix(b"\n").removesuffix(b"\r") if lacks_newline else data


def _with_crlf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


# --- trees ------------------------------------------------------------------------------

_PATHS = ("a", "b", "d", "d/x", "d/x/z", "d/y", "b~A")


@st.composite
def _entries(draw: st.DrawFn) -> Entry:
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
            entry = draw(_entries())
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


# --- files ------------------------------------------------------------------------------

_FEWEST_LINES = 2
# Each line is a statement of its own, so that any selection is a valid program.
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
_OWN_FILES: Files = {"code.py": _STATEMENTS, "folder/notes.txt": _WORDS, "more.txt": _WORDS}


def checked_files(files: Files) -> Files:
    """Return *files* unchanged; raise `ValueError` if no cases can be made of them."""
    for path, source in files.items():
        Changes({path: Entry(b"")})  # raises if no tree can hold this path
        if isinstance(source, st.SearchStrategy):
            if source.is_empty:
                raise ValueError(f"files[{path!r}] is a strategy without examples: {source!r:.80}")
            continue
        is_lines = isinstance(source, Sequence) and not isinstance(source, str | bytes)
        if (
            not is_lines
            or len(source) < _FEWEST_LINES
            or not all(isinstance(line, bytes) and line.endswith(b"\n") for line in source)
        ):
            raise ValueError(
                f"files[{path!r}] must be two lines of bytes or more, each with its \\n, "
                "or a Hypothesis strategy of base, ours and theirs"
            )
    return files


def _triples_of(path: str, source: Sequence[bytes] | TextTriples) -> TextTriples:
    if isinstance(source, Sequence):
        return three_way_texts(tuple(source))

    def checked(made: object) -> Triple:
        match made:
            case (bytes() as base, bytes() as ours, bytes() as theirs):
                return base, ours, theirs
        raise ValueError(
            f"files[{path!r}] must make tuples (base, ours, theirs) of bytes, not {made!r:.80}"
        )

    return source.map(checked)


def file_triples(files: Files) -> st.SearchStrategy[Triples]:
    """Contents of one or two files; one of them is in *files*, unless *files* is empty."""
    known = {path: _triples_of(path, each) for path, each in {**_OWN_FILES, **files}.items()}
    firsts = st.sampled_from(sorted(files or known))
    more = st.lists(st.sampled_from(sorted(known)), max_size=1)

    @st.composite
    def contents(draw: st.DrawFn) -> Triples:
        return {p: draw(known[p]) for p in dict.fromkeys((draw(firsts), *draw(more)))}

    return contents()


# --- cases ------------------------------------------------------------------------------

_BOOLEANS = st.booleans()
_FIFTHS = st.integers(0, 4)
_TWELFTHS = st.integers(0, 11)
_NO_VERSION = 3
Tree = dict[str, Entry | None]


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


@st.composite
def merge_cases(
    draw: st.DrawFn,
    triples: st.SearchStrategy[Triples],
    *,
    unusual: st.SearchStrategy[int] = _TWELFTHS,
) -> MergeCase:
    """One or two files that both sides edit; some are new, deleted or executable.

    *unusual* are the versions that are missing or executable: 0, 1 and 2, or none.
    """
    trees: list[Tree] = [{}, {}, {}]
    for path, versions in draw(triples).items():
        gone, executable = draw(unusual), draw(unusual)
        for side, data in enumerate(versions):
            mode = FileMode.EXECUTABLE if side == executable else FileMode.FILE
            trees[side][path] = None if side == gone else Entry(data, mode)
    return _case(*trees, is_described=draw(_BOOLEANS))


def edited_cases(triples: st.SearchStrategy[Triples]) -> st.SearchStrategy[MergeCase]:
    """One or two files that both sides edit, and no other change."""
    return merge_cases(triples, unusual=st.just(_NO_VERSION))


@st.composite
def disjoint_cases(draw: st.DrawFn, triples: st.SearchStrategy[Triples]) -> MergeCase:
    """Some files that only ours changes, and others that only theirs changes."""
    changed = draw(triples.filter(lambda files: len(files) > 1))
    base: Tree = {path: Entry(each[0]) for path, each in changed.items()}
    sides = (dict(base), dict(base))
    adds = draw(_BOOLEANS)  # or deletes: an addition and a deletion might be a rename
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


_ODD_PATHS = ("plain.txt", "two words.txt", "caf\u00e9.txt", "caf\udce9.py", "\u00fc/code.py")
_ODD_KINDS = 2  # of five
_ODD_LINES = (
    (b"caf\xe9\n", b"na\xefve\n", b"\xfc = 1\n", b"a\n"),
    SYMBOLS,
    (b"\0\1\2", b"\xff\xfe\0\n", b"PNG\r\n\x1a\n\0", b"\0"),
    tuple(line.encode("utf-16-le") for line in ("a\n", "b\n", "\u20ac\n")),
    (b"x" * 3000 + b"\n", b"y" * 3000 + b"\n", b"\xf0\x9f\x92\xa9\n"),
)


_ODD_TEXTS = st.one_of([three_way_texts(lines) for lines in _ODD_LINES])
_ODD_FILES = st.tuples(st.sampled_from(_ODD_PATHS), _ODD_TEXTS).map(lambda row: dict([row]))
_TREES = three_way_trees()


@st.composite
def odd_cases(draw: st.DrawFn, triples: st.SearchStrategy[Triples]) -> MergeCase:
    """Binary, CR LF, Latin-1, UTF-16 and empty files, odd names, links, submodules."""
    kind = draw(_FIFTHS)
    if kind == 0:
        base, ours, theirs = draw(_TREES)
        return MergeCase(base=base, ours=ours, theirs=theirs)
    files = draw(_ODD_FILES if kind <= _ODD_KINDS else triples)
    has_crlf, has_latin = draw(_BOOLEANS), draw(_BOOLEANS)
    gone, empty = draw(_TWELFTHS), draw(_TWELFTHS)

    def entry(side: int, data: bytes) -> Entry | None:
        twisted = data.replace(b"\n", b" \xe9\n") if has_latin else data
        twisted = _with_crlf(twisted) if has_crlf else twisted
        return None if side == gone else Entry(b"" if side == empty else twisted)

    return _case(*({path: entry(n, row[n]) for path, row in files.items()} for n in range(3)))


# --- the search -------------------------------------------------------------------------

CaseT = TypeVar("CaseT")


def find_broken(
    check: Callable[[CaseT], None],
    cases: st.SearchStrategy[CaseT],
    *,
    examples: int | None,
    seed: int | None,
    profile_key: str = "",
) -> Counterexample | None:
    """Return how *check* breaks in the smallest case found, or `None` if it never does.

    The first `UncheckedError` ends the search, and is raised if nothing was found before.
    With *examples* or *seed* `None`, Hypothesis's current profile decides. With a
    *profile_key*, its verbosity and its database apply too, and failures are stored under
    this key. Its deadline never applies, because a merge may take its time.
    """
    found: list[Counterexample] = []

    def is_broken(case: CaseT) -> bool:
        try:
            check(case)
        except BrokenError as exc:
            found.append(exc.counterexample)
            return True
        except UncheckedError as exc:
            raise SkipTest(str(exc)) from exc  # Hypothesis does not look for a smaller case
        return False

    random = None if seed is None else Random(seed)  # noqa: S311 - not a secret
    try:
        find(
            cases,
            is_broken,
            settings=_settings(examples, uses_profile=bool(profile_key)),
            random=random,
            database_key=profile_key.encode(),
        )
    except NoSuchExample:
        return None
    # Hypothesis raises if a strategy breaks a law in one try and not in the next; the
    # caller's own generators may raise anything.
    except (Exception, BaseExceptionGroup) as exc:
        if found:
            return min(found, key=lambda each: len(each.given))
        if isinstance(exc.__cause__, UncheckedError):
            raise exc.__cause__ from None
        raise
    return found[-1]  # Hypothesis ends with the smallest


def _settings(examples: int | None, *, uses_profile: bool) -> settings:
    # The phase `explain` would explain the kit's own code.
    phases = tuple(set(settings().phases) - {Phase.explain})
    options: dict[str, Any] = {"deadline": None, "phases": phases}
    if examples is not None:
        options["max_examples"] = examples
    if not uses_profile:
        options["database"] = None
        options["phases"] = (Phase.generate, Phase.shrink)
        options["verbosity"] = Verbosity.quiet
    return settings(**options)
