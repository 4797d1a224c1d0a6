"""Merges the conflicting merges of real histories, and compares them with what people made.

    python benchmarks/real_merges.py --repo PATH [--repo PATH ...] [--limit N] [--jobs N]
        [--strategy NAME ...] [--show]
    python benchmarks/real_merges.py --repo PATH [--repo PATH ...] --read

Takes the merge commits with two parents whose merge has a conflict
between lines, up to --limit of each repository, the newest first among merges that are
evenly spread over its history. Each file with such a conflict is *equal* if the strategy
closed it as in the merge commit, byte for byte; *meaning* if it differs only in layout, or,
for data and Python, if the parsed values or syntax trees are equal; *other* if it differs
more; *open* if a conflict is left. An *other* result is not always wrong: people also take
one side, or change more.

A closed file is *invalid* if it does not parse although all three versions do, and has an
*invented* value if one of its numbers, versions, addresses, paths or quoted words is in no
version. JSON is read with `json`, TOML with `tomllib`, YAML with PyYAML, Python with `ast`,
other source with its grammar. The exit code is 1 if there is such a file.

With --read it merges nothing, but reads the source files of each repository's newest commit:
by language, how many are written again byte for byte, which others there are and why, and how
many regions their grammar does not know, with their share of the lines. The exit code is 1 if a
file is written differently.
"""

import argparse
import ast
import contextlib
import json
import re
import sys
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath

import pygit2
import yaml
from attrs import frozen

from cooperbench_eval import Changes, MergeOutcome, Snapshot, merge
from cooperbench_eval.errors import CooperBenchEvalError
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.languages.data import DataFormat, find_format, why_generated
from cooperbench_eval.languages.files import find_syntax_fault, opaque_regions
from cooperbench_eval.languages.reading import ending_of, read_trees
from cooperbench_eval.languages.tree import StructureError, render

STRATEGIES = ("structured", "cascade")
MOST_BYTES = 1_000_000
TRIED = 40
"""How many merges are tried for each one that should be found."""
CODE = {
    ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript",
    ".cjs": "JavaScript", ".jsx": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript",
    ".go": "Go", ".java": "Java", ".rs": "Rust", ".c": "C", ".h": "C and C++ headers",
    ".cc": "C++", ".cpp": "C++", ".cs": "C#", ".kt": "Kotlin", ".kts": "Kotlin", ".php": "PHP",
    ".rb": "Ruby", ".html": "HTML", ".css": "CSS", ".md": "prose", ".rst": "prose",
    ".txt": "prose",
}  # fmt: skip
VALUE = re.compile(
    rb"""
    \b[a-z][a-z+.-]*://[^\s"'<>()\[\]{}`,]+             # an address
    | (?<![\w)\]"'])(["'])[\w.:/@+~-]+\1(?![\w"'])      # a quoted word
    | (?<![\w.])v?\d+(?:[.:/-]\d+)*(?:[.-]?[a-zA-Z][\w.-]*)?  # a number, version or date
    """,
    re.VERBOSE,
)
COLUMNS = ("files", "closed", "equal", "meaning", "other", "invalid", "invented")


@frozen(kw_only=True)
class Row:
    """What a strategy made of a file.

    Attributes:
        commit: The merge commit.
        path: The file.
        kind: Its language or format.
        strategy: The strategy.
        ending: `equal`, `meaning`, `other` or `open`.
        fault: Why a closed file is invalid.
        invented: The values that no version has.
        reason: Why it is open.
    """

    commit: str
    path: str
    kind: str
    strategy: str
    ending: str
    fault: str = ""
    invented: str = ""
    reason: str = ""

    @property
    def counted(self) -> Iterator[str]:
        """The columns of the table in which the file counts."""
        yield "files"
        if self.ending != "open":
            yield "closed"
        yield self.ending
        if self.fault:
            yield "invalid"
        if self.invented:
            yield "invented"


def kind_of(path: str, source: bytes) -> str:
    """Return the language or format of a file."""
    if why_generated(path, source):
        return "lock"
    found = find_format(path, source)
    return found.value if found else CODE.get(PurePosixPath(path).suffix, "other")


def meaning(path: str, source: bytes) -> object:
    """Return what a file means, as a value that equals that of another layout.

    Raises:
        ValueError: It is not valid.
        SyntaxError: It is not valid Python.
    """
    match find_format(path, source):
        case DataFormat.JSON | DataFormat.NOTEBOOK:
            with contextlib.suppress(ValueError):
                return json.loads(source.decode(), object_pairs_hook=_object)
        case DataFormat.TOML:
            return tomllib.loads(source.decode())
        case DataFormat.YAML:
            return _yaml(source)
    if path.endswith((".py", ".pyi")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(source))
    if fault := find_syntax_fault(path, source):
        raise ValueError(fault.problem)
    return source.split()


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _yaml(source: bytes) -> object:
    try:
        return [_plain(each) for each in yaml.compose_all(source, Loader=yaml.CSafeLoader)]
    except yaml.YAMLError as exc:
        raise ValueError(" ".join(str(exc).split())) from exc


def _plain(node: yaml.Node) -> object:
    """Return a node of YAML as a value in which aliases are not resolved twice."""
    if isinstance(node, yaml.MappingNode):
        return _object([(repr(_plain(key)), _plain(value)) for key, value in node.value])
    if isinstance(node, yaml.SequenceNode):
        return [_plain(each) for each in node.value]
    return node.value


def fault_of(path: str, source: bytes) -> str:
    """Return why a file is not valid; empty if it is."""
    try:
        meaning(path, source)
    except (ValueError, SyntaxError, RecursionError) as exc:
        return str(exc)[:100] or "not valid"
    return ""


def values_in(source: bytes) -> set[bytes]:
    """Return the values in a text."""
    return {found[0] for found in VALUE.finditer(source)}


def merges_of(repo: pygit2.Repository, limit: int) -> Sequence[tuple[str, str, str, str]]:
    """Return merge commits with their base and parents, evenly spread over the history."""
    first, *heads = (repo.references[name].peel(pygit2.Commit).id for name in repo.references)
    walk = repo.walk(first, pygit2.enums.SortMode.TIME)
    for head in heads:
        walk.push(head)
    found = []
    for commit in walk:
        if len(commit.parents) == 2:  # noqa: PLR2004 - an octopus has more
            ours, theirs = (parent.id for parent in commit.parents)
            base = repo.merge_base(ours, theirs)
            if base and base not in {ours, theirs}:
                found.append((str(commit.id), str(base), str(ours), str(theirs)))
    count = min(len(found), limit * TRIED)
    return [found[i * len(found) // count] for i in range(count)]


def look_at(path: Path, limit: int, strategies: Sequence[str]) -> tuple[int, list[Row]]:
    """Merge the conflicting merges of a repository; return their number and the files' rows."""
    rows: list[Row] = []
    merges = 0
    for commit, *ids in merges_of(pygit2.Repository(str(path)), limit):
        if merges == limit:
            break
        with contextlib.suppress(CooperBenchEvalError, KeyError):
            made, *trees = (Snapshot.from_repo(path, each) for each in (commit, *ids))
            found = list(_rows(commit, made, trees, strategies))
            merges += bool(found)
            rows += found
    return merges, rows


def _rows(
    commit: str, made: Snapshot, trees: Sequence[Snapshot], strategies: Sequence[str]
) -> Iterator[Row]:
    base, ours, theirs = trees
    sides = Changes.between(base, ours), Changes.between(base, theirs)
    if not sides[0].keys() & sides[1].keys():
        return
    conflicting = merge_changes(base, *sides)
    paths = {each.path for each in conflicting.conflicts if each.has_lines}
    if not paths:
        return
    outcomes = {name: merge(base, *sides, strategy=name) for name in strategies}
    for path in sorted(paths):
        versions = conflicting.versions_of(path)  # a side may have it under another name
        if max(map(len, versions)) <= MOST_BYTES:
            person = _text(made, path) if made.get(path) else None
            look = partial(_row, commit=commit, path=path, versions=versions, person=person)
            for name, outcome in outcomes.items():
                yield look(
                    strategy=name, outcome=outcome, text=_text(base.overlay(outcome.changes), path)
                )


def _text(tree: Snapshot, path: str) -> bytes:
    entry = tree.get(path)
    return entry.data if entry else b""


def _row(
    *,
    commit: str,
    path: str,
    versions: Sequence[bytes],
    person: bytes | None,
    strategy: str,
    outcome: MergeOutcome,
    text: bytes,
) -> Row:
    row = partial(
        Row, commit=commit, path=path, kind=kind_of(path, max(versions, key=len)), strategy=strategy
    )
    if any(each.path == path for each in outcome.conflicts):
        reasons = [each.reason for each in outcome.ledger if each.is_open and each.path == path]
        return row(ending="open", reason=next(iter(reasons), ""))
    if person == text:
        return row(ending="equal")
    fault = fault_of(path, text)
    is_same = person is not None and (
        person.split() == text.split()
        or (
            not fault
            and not fault_of(path, person)
            and meaning(path, person) == meaning(path, text)
        )
    )
    invented = values_in(text).difference(*map(values_in, versions))
    is_damaged = fault and not any(fault_of(path, each) for each in versions if each)
    return row(
        ending="meaning" if is_same else "other",
        fault=fault if is_damaged else "",
        invented=b" ".join(sorted(invented)).decode("utf-8", "replace"),
    )


def print_table(rows: Sequence[Row], strategies: Sequence[str]) -> None:
    """Print the counts of each strategy by kind of file."""
    for name in strategies:
        counts = Counter(
            (kind, column)
            for row in rows
            if row.strategy == name
            for column in row.counted
            for kind in (row.kind, "all")
        )
        print(f"\n{name:<14}" + "".join(f"{column:>9}" for column in COLUMNS))
        for kind in [*sorted({kind for kind, _ in counts} - {"all"}), "all"]:
            print(f"{kind:<14}" + "".join(f"{counts[kind, each]:>9}" for each in COLUMNS))


def print_readings(repos: Sequence[Path]) -> bool:
    """Print how many files of the newest commits are read; return whether all are kept."""
    counts: dict[str, Counter[str]] = {}
    reasons: dict[str, Counter[str]] = {}
    for path, source in chain.from_iterable(map(newest_files, repos)):
        if not source.strip():
            continue
        kind = CODE[PurePosixPath(path).suffix]
        found = counts.setdefault(kind, Counter())
        found["files"] += 1
        try:
            tree, _ = read_trees(path, [source, b"\n"])  # what versions share is not read
            regions = opaque_regions(path, source)
        except StructureError as exc:
            reasons.setdefault(kind, Counter())[re.sub(r" \(.*| \d+$", "", str(exc))] += 1
            continue
        text = source.replace(b"\r\n", b"\n") if ending_of(source) == b"\r\n" else source
        is_kept = render(tree) == b"\n" + text.removesuffix(b"\n")
        found["kept" if is_kept else "CHANGED"] += 1
        found["regions"] += len(regions)
        found["unread"] += sum(stop - start for start, stop in regions)
        found["bytes"] += len(source)
    print(f"{'':<20}{'files':>7}{'kept':>7}{'changed':>8}{'regions':>9}{'unread':>8}")
    for kind, found in sorted(counts.items()):
        share = 100 * found["unread"] / max(found["bytes"], 1)
        columns = f"{found['files']:>7}{found['kept']:>7}{found['CHANGED']:>8}"
        print(f"{kind:<20}{columns}{found['regions']:>9}{share:>7.2f}%")
        for reason, number in reasons.get(kind, Counter()).most_common():
            print(f"{'':<20}{number:>7} {reason}")
    return not any(found["CHANGED"] for found in counts.values())


def newest_files(repo: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the paths and texts of the source files of a repository's newest commit."""
    snapshot = Snapshot.from_repo(repo, "HEAD")
    for path in snapshot.paths():
        if CODE.get(PurePosixPath(path).suffix, "prose") != "prose":
            yield path, snapshot.read(path)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repo", type=Path, action="append", required=True)
    parser.add_argument("--limit", type=int, default=30, help="merges of each repository")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--strategy", action="append", help="may be repeated")
    parser.add_argument("--show", action="store_true", help="print every file")
    parser.add_argument("--read", action="store_true", help="only read the newest files")
    options = parser.parse_args()
    if options.read:
        sys.exit(not print_readings(options.repo))
    strategies = tuple(options.strategy or STRATEGIES)
    look = partial(look_at, limit=options.limit, strategies=strategies)
    rows: list[Row] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for repo, (merges, found) in zip(options.repo, pool.map(look, options.repo), strict=True):
            print(f"{repo}: {merges} merges, {len(found) // len(strategies)} files", flush=True)
            rows += found
    for row in rows:
        if row.fault or row.invented or options.show:
            about = " ".join(filter(None, (row.fault, row.invented, row.reason)))
            print(f"{row.commit[:10]} {row.path} {row.strategy} {row.ending} {about}")
    print_table(rows, strategies)
    sys.exit(any(row.fault or row.invented for row in rows))


if __name__ == "__main__":
    main()
