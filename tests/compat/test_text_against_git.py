"""The same texts through the git binary: the results are equal, byte for byte."""

import io
import itertools
import os
import random
import subprocess
import zlib

import pytest
from generators import three_way_texts
from hypothesis import HealthCheck, Phase, given, settings

from cooperbench_eval.git.merging.line_diff import (
    DiffAlgorithm,
    diff_as_shown,
    diff_lines,
    split_lines,
)
from cooperbench_eval.git.merging.text_merge import Answer, TextConflict, merge_text

STYLES = pytest.mark.parametrize("style", ["merge", "diff3"])


def shown(merged, style, **options):
    """Return a merged text in one of git's styles; only `diff3` shows the base."""
    base = options.pop("base").encode()
    if style == "merge":
        return merged.render(**options)
    lines = []
    for chunk in merged.chunks:
        if isinstance(chunk, TextConflict):
            of_base = closed(chunk.base, chunk.newline)
            size, end = options.get("marker_size", 7), chunk.newline
            head = b"<" * size + b" " + options["ours"].encode() + end
            middle = b"|" * size + b" " + base + end + of_base + b"=" * size + end
            tail = b">" * size + b" " + options["theirs"].encode() + end
            sides = closed(chunk.ours, end), closed(chunk.theirs, end)
            lines += [head, sides[0], middle, sides[1], tail]
        else:
            lines.append(chunk)
    return b"".join(lines)


def closed(lines, newline):
    """Add the newline that the last line may lack."""
    return lines + newline if lines and not lines.endswith(b"\n") else lines


@pytest.fixture(scope="module")
def git(tmp_path_factory):
    """Run git in an empty bare repository, without any configuration."""
    directory = tmp_path_factory.mktemp("git")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C",
    }

    def run(*arguments, data=b"", allowed=(0,)):
        done = subprocess.run(
            ["git", "-c", "merge.renames=false", *arguments],
            input=data,
            cwd=directory,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert done.returncode in allowed, done.stderr
        return done.stdout

    run("init", "--quiet", "--bare")
    return run


def generated(count):
    """Draw *count* triples from Hypothesis; they are compared in one batch."""
    triples = []

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(three_way_texts())
    def draw(texts):
        triples.append(texts)

    draw()
    return triples


def repetitive(count, seed):
    """Longer texts, with some lines too frequent for the histogram algorithm."""
    generator = random.Random(seed)  # noqa: S311
    triples = []
    for _ in range(count):
        symbols = generator.choice([2, 3, 10, 100])
        frequent = generator.choice([0.2, 0.7, 0.95])

        def line(symbols=symbols, frequent=frequent):
            rare = generator.random() > frequent
            return b"%d\n" % generator.randrange(symbols * 20 if rare else symbols)

        base = [line() for _ in range(generator.randrange(400))]
        triple = [base]
        for _ in range(2):
            side = list(base)
            for _ in range(generator.randrange(12)):
                start = generator.randint(0, len(side))
                end = start + generator.randrange(8)
                block = side[start:end]
                if generator.random() < 0.5:
                    side[start:end] = [line() for _ in range(generator.randrange(6))]
                target = generator.randint(0, len(side))
                if generator.random() < 0.3:
                    side[target:target] = block
            triple.append(side)
        triples.append(tuple(b"".join(lines) for lines in triple))
    return triples


@pytest.fixture(scope="module")
def triples():
    """Base, ours and theirs of many kinds; the profile sets how many, except small ones."""
    count = max(800, settings().max_examples)
    return generated(count) + repetitive(400 + count // 5, seed=1)


def batched(triples):
    """Yield the triples in parts, because git's time is quadratic in files per folder."""
    for start in range(0, len(triples), 1500):
        yield triples[start : start + 1500]


def commit(git, versions):
    """Commit trees of numbered files; each branch but the first starts at the first."""
    stream = []
    for number, (branch, texts) in enumerate(versions.items(), start=1):
        stream.append(b"commit refs/heads/%s\nmark :%d\n" % (branch, number))
        stream.append(b"committer a <a@b.c> 1 +0000\ndata 0\n")
        stream.append(b"deleteall\n" if number == 1 else b"from :1\ndeleteall\n")
        for name, data in [*enumerate(texts), ("kept", b"kept")]:
            if data is not None:
                path = str(name).encode()
                stream.append(b"M 644 inline %s\ndata %d\n%s\n" % (path, len(data), data))
    git("fast-import", "--quiet", "--force", data=b"".join(stream))


def read(git, tree, count):
    """Read the numbered files of a tree."""
    out = git("cat-file", "--batch", data=b"".join(b"%s:%d\n" % (tree, i) for i in range(count)))
    stream, texts = io.BytesIO(out), []
    for _ in range(count):
        size = int(stream.readline().split()[2])
        texts.append(stream.read(size))
        stream.read(1)
    return texts


@STYLES
@pytest.mark.parametrize("has_base", [True, False], ids=["modified", "added"])
def test_merges_like_git_merge(git, triples, style, has_base):
    """The merged bytes and the verdict are those of `git merge`, in each style."""
    for part in batched(triples):
        compare_with_git_merge(git, part, style, has_base)


def compare_with_git_merge(git, triples, style, has_base):
    bases = [base if has_base else None for base, _, _ in triples]
    commit(
        git,
        {
            b"base": bases,
            b"ours": [ours for _, ours, _ in triples],
            b"theirs": [theirs for _, _, theirs in triples],
        },
    )
    label = git("rev-parse", "--short", "base").decode().strip()

    out = git(
        *("-c", f"merge.conflictStyle={style}", "merge-tree", "--write-tree", "-z"),
        *("--name-only", "--no-messages", "ours", "theirs"),
        allowed=(0, 1),
    )

    tree, *conflicted = out.split(b"\0")
    unsettled = {int(path) for path in conflicted if path}
    for i, expected in enumerate(read(git, tree, len(triples))):
        texts = (bases[i] or b"", *triples[i][1:])
        merged = merge_text(*texts, refine=style == "merge")
        found = shown(merged, style, ours="ours", base=label, theirs="theirs")
        assert found == expected, texts
        assert bool(merged.conflicts) == (i in unsettled), texts


def test_merges_like_git_merge_file(git, triples, tmp_path):
    """With the Myers diff, unrefined results equal those of `git merge-file --diff3`."""
    paths = [tmp_path / name for name in ("ours", "base", "theirs")]
    for base, ours, theirs in triples[::10]:
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)

        expected = git(
            *("merge-file", "-p", "-q", "-L", "A", "-L", "B", "-L", "C", "--marker-size=9"),
            *("--diff3", *paths),
            allowed=range(128),
        )

        merged = merge_text(base, ours, theirs, refine=False, algorithm=DiffAlgorithm.MYERS)
        found = shown(merged, "diff3", marker_size=9, ours="A", base="B", theirs="C")
        assert found == expected, (base, ours, theirs)


ADDED = [b"1", b"1\r\n", b"1\r\n2", b"1\r\n2\r\n", b"1\n2"]


@pytest.mark.parametrize("added", [*itertools.permutations(ADDED, 2)])
def test_additions_of_both_sides_are_concatenated_as_by_git(git, tmp_path, added):
    """A last line without a line end gets LF, even among CR LF lines."""
    ours, theirs = added[0], added[1].translate(bytes.maketrans(b"12", b"34"))
    paths = [tmp_path / name for name in ("ours", "base", "theirs")]
    for path, data in zip(paths, (ours, b"", theirs), strict=True):
        path.write_bytes(data)

    merged = merge_text(b"", ours, theirs)
    answers = [Answer(range(i, i + 1), each.union()) for i, each in enumerate(merged.conflicts)]
    assert merged.replace(answers).render() == git("merge-file", "-p", "--union", *paths)


@pytest.mark.parametrize("algorithm", DiffAlgorithm)
def test_diffs_like_git_diff(git, triples, algorithm):
    """The changed lines and their places are those of `git diff`."""
    for part in batched(triples):
        compare_with_git_diff(git, part, algorithm)


INDENTS = [b"", b"  ", b"    ", b"\t", b" \t  ", b"        ", b" " * 210]


def indented(text):
    """Indent each line by its contents, so that equal lines stay equal; some become blank."""
    return b"".join(
        INDENTS[number] + line.rstrip(b"\r\n")[:1] + b"\n"
        if (number := zlib.crc32(line) % 10) < len(INDENTS)
        else b" " * (number - len(INDENTS)) + b"\n"
        for line in split_lines(text)
    )


def test_diffs_by_indentation_like_git_diff(git, triples):
    """With the indent heuristic, the places of changed lines are those of plain `git diff`."""
    rows = [tuple(map(indented, texts)) for texts in triples]
    for part in batched(rows):
        compare_with_git_diff(git, part, DiffAlgorithm.MYERS, by_indent=True)


def compare_with_git_diff(git, triples, algorithm, *, by_indent=False):
    old = [base for base, _, _ in triples]
    new = [ours for _, ours, _ in triples]
    commit(git, {b"old": old, b"new": new})

    # One line of context: without any, git sets common ends aside before it diffs.
    shown = git(
        *("diff-tree", "-p", "-U1", "--text", "--full-index"),
        "--indent-heuristic" if by_indent else "--no-indent-heuristic",
        *(f"--diff-algorithm={algorithm}", "--no-prefix", "old", "new"),
    )

    expected = {}
    for part in (b"\n" + shown).split(b"\ndiff --git ")[1:]:
        header, at, hunks = part.partition(b"\n@@ ")
        expected[int(header.split()[0])] = changed_lines(at + hunks)
    for i, (a, b) in enumerate(zip(old, new, strict=True)):
        lines = split_lines(a), split_lines(b)
        changes = diff_as_shown(*lines) if by_indent else diff_lines(*lines, algorithm=algorithm)
        removed = {n for change in changes for n in range(change.a_start, change.a_end)}
        added = {n for change in changes for n in range(change.b_start, change.b_end)}
        assert (removed, added) == expected.get(i, (set(), set())), (a, b)


def changed_lines(hunks):
    """Return the numbers of removed and added lines in a unified diff."""
    removed, added = set(), set()
    a = b = a_left = b_left = 0
    for line in hunks.split(b"\n"):
        if not a_left and not b_left:
            if line.startswith(b"@@ "):
                (a, a_left), (b, b_left) = map(span, line.split()[1:3])
        elif line.startswith(b"-"):
            removed.add(a)
            a, a_left = a + 1, a_left - 1
        elif line.startswith(b"+"):
            added.add(b)
            b, b_left = b + 1, b_left - 1
        elif line.startswith(b" "):
            a, b, a_left, b_left = a + 1, b + 1, a_left - 1, b_left - 1
    return removed, added


def span(text):
    """Read ``-3,2`` as the line counted from 0, and the number of lines."""
    start, _, size = text[1:].partition(b",")
    size = int(size or 1)
    return int(start) - (size > 0), size
