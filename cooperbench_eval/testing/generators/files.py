"""Which files a strategy is asked about: plain ones, and those that its author names."""

from collections.abc import Mapping, Sequence

from cooperbench_eval.models import Entry
from cooperbench_eval.snapshot import Changes
from cooperbench_eval.testing.generators.hypothesis_strategies import st
from cooperbench_eval.testing.generators.texts import TextTriples, Triple, cheap_three_way_texts

__all__ = ["Files", "checked_files", "file_triples"]

Files = Mapping[str, Sequence[bytes] | TextTriples]

_FEWEST_LINES = 2
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
# Plain text: what is not is for the law of survival.
_WORDS = (b"a\n", b"b\n", b"c1\n", b"\n", b"}\n", b"  \n", b"=======\n", b"<<<<<<< ours\n")
_OWN_FILES: Files = {"code.py": _STATEMENTS, "folder/notes.txt": _WORDS, "more.txt": _WORDS}


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


def file_triples(files: Files, *, fewest: int = 1) -> st.SearchStrategy[dict[str, Triple]]:
    """Contents of one or two files; where *files* has some, one of them is always there."""
    known = {
        path: cheap_three_way_texts(tuple(what))
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
