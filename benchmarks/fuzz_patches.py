r"""Feeds mutated diffs to the reader and the placer of patches, guided by coverage.

    pip install atheris
    python benchmarks/fuzz_patches.py [--seconds N] [--corpus DIR] [--seed N] [INPUT ...]

Bytes are a patch or raise `PatchError`. A patch is applied to a small fixed tree, with
the default policy and the most lenient one, and the resulting tree has an id. Printed and
read again, it is an equal patch. Anything else is a crash; its input is kept in the corpus
folder as `crash-…`, one that takes longer than 5 seconds as `timeout-…`.
Inputs named on the command line are run once each instead.
"""

import argparse
import random
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

try:
    import atheris
except ImportError:  # its arguments can still be parsed
    atheris = None

with atheris.instrument_imports(include=["cooperbench_eval"]) if atheris else nullcontext():
    from cooperbench_eval.errors import PatchError
    from cooperbench_eval.git.patching.apply import apply_patch
    from cooperbench_eval.git.patching.patch import Patch
    from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, Rung
    from cooperbench_eval.git.trees.diff_writing import binary_block
    from cooperbench_eval.git.trees.entries import Entry, FileMode
    from cooperbench_eval.git.trees.snapshot import Snapshot

NOTES = b"one\ntwo\nthree\n\nfour\nfour\n\tfive  six\nseven\neight\nnine\n"
FILES: dict[str, bytes | Entry] = {
    "notes.txt": NOTES,
    "older/notes.txt": NOTES.replace(b"nine", b"neun"),
    "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
    "tail.txt": b"one\ntwo",
    "empty": b"",
    "run.sh": Entry(b"#!/bin/sh\nexit 0\n", FileMode.EXECUTABLE),
    "link": Entry(b"notes.txt", FileMode.SYMLINK),
    "sub": Entry(b"1" * 40, FileMode.SUBMODULE),
    "lib/mod.py": b"def f():\n    return 1\n\n\ndef g():\n    return 2\n",
    "lib/data.bin": b"\0\1\2binary\0",
}
_BINARY = b"diff --git a/lib/data.bin b/lib/data.bin\nindex c94be36..c25b73e 100644\n"
SEEDS = (
    # text: changed, without its newline, with Windows line ends
    (
        b"diff --git a/notes.txt b/notes.txt\nindex 7db8895..b5d7f4c 100644\n"
        b"--- a/notes.txt\n+++ b/notes.txt\n@@ -2,3 +2,3 @@ one\n two\n-three\n+drei\n \n"
        b"@@ -8,3 +8,4 @@\n seven\n-eight\n+acht\n+extra\n nine\n"
    ),
    (
        b"diff --git a/tail.txt b/tail.txt\n--- a/tail.txt\n+++ b/tail.txt\n@@ -1,2 +1,3 @@\n"
        b" one\n-two\n\\ No newline at end of file\n+two\n+three\n\\ No newline at end of file\n"
    ),
    (
        b"--- crlf.txt\t2020-01-01 00:00:00\n+++ crlf.txt\t2020-01-02 00:00:00\n"
        b"@@ -1,3 +1,3 @@\r\n one\r\n-two\r\n+zwei\r\n three\r\n"
    ),
    # lines that are elsewhere, spaced otherwise, miscounted, only similar, changed since
    b"--- a/notes.txt\n+++ b/notes.txt\n@@ -3,3 +3,3 @@\n four\n-\tfive  six\n+6\n seven\n",
    b"--- a/notes.txt\n+++ b/notes.txt\n@@ -6,3 +6,3 @@\n four\n-  five six\n+6\n seven\n",
    b"--- a/notes.txt\n+++ b/notes.txt\n@@ -1,9 +1,2 @@\n one\n-two\n+zwei\n three\n\n",
    b"--- a/notes.txt\n+++ b/notes.txt\n@@ -2,2 +2,2 @@\n two\n-three\n+drei\n+neu\n \n",
    (
        b"--- a/notes.txt\n+++ b/notes.txt\n"
        b"@@ -6,5 +6,5 @@\n four\n \tfive 66\n seven\n-eight\n+acht\n nine\n"
    ),
    (
        b"diff --git a/notes.txt b/notes.txt\nindex 8262011..1234567 100644\n--- a/notes.txt\n"
        b"+++ b/notes.txt\n@@ -8,3 +8,4 @@\n seven\n eight\n neun\n+zehn\n"
    ),
    # added, deleted, renamed, copied; modes, links, submodules
    (
        b'diff --git "a/na\\tme \\303\\251" "b/na\\tme \\303\\251"\nnew file mode 100755\n'
        b'index 0000000..383ba0a\n--- /dev/null\n+++ "b/na\\tme \\303\\251"\t\n'
        b"@@ -0,0 +1 @@\n+tab\there\n"
    ),
    (
        b"diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69de29..0000000\n"
        b"diff --git a/tail.txt b/tail.txt\ndeleted file mode 100644\n"
        b"--- a/tail.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
        b"\\ No newline at end of file\n"
    ),
    (
        b"diff --git a/lib/mod.py b/lib/new.py\nsimilarity index 71%\nrename from lib/mod.py\n"
        b"rename to lib/new.py\nindex 0198bbd..dd5171f 100644\n--- a/lib/mod.py\n+++ b/lib/new.py\n"
        b"@@ -4,3 +4,3 @@ def f():\n \n def g():\n-    return 2\n+    return 3\n"
    ),
    (
        b"diff --git a/notes.txt b/copy.txt\nsimilarity index 100%\n"
        b"copy from notes.txt\ncopy to copy.txt\n"
    ),
    (
        b"diff --git a/run.sh b/run.sh\nold mode 100755\nnew mode 100644\n"
        b"diff --git a/link b/link\nindex d669de9..3c1d453 120000\n--- a/link\n+++ b/link\n"
        b"@@ -1 +1 @@\n-notes.txt\n\\ No newline at end of file\n"
        b"+crlf.txt\n\\ No newline at end of file\n"
    ),
    b"diff --git a/sub b/sub\nindex 1111111..2222222 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n"
    b"-Subproject commit %b\n+Subproject commit %b\n" % (b"1" * 40, b"2" * 40),
    # binary: in full, as a delta, not at all
    _BINARY + b"GIT binary patch\n" + binary_block("literal", b"\0\1\2binary\0more\0"),
    _BINARY + b"GIT binary patch\n" + binary_block("delta", b"\n\x0f\x90\n\5more\0"),
    _BINARY + b"Binary files a/lib/data.bin and b/lib/data.bin differ\n",
    # prose around, a mailer's signature below
    (
        b"From: a\nSubject: b\n---\n notes.txt | 2 +-\n\n--- a/notes.txt\n+++ b/notes.txt\n"
        b"@@ -1,2 +1,2 @@\n-one\n+eins\n two\n-- \n2.39.5\n"
    ),
)
"""Diffs of the files above, one for each thing that a diff can say."""

BASE = Snapshot.from_files(FILES)
POLICIES = (
    ApplyPolicy(),
    ApplyPolicy(rungs=Rung, partial=True, least_similarity=0.51),
)
WORDS = sorted({line for seed in SEEDS for line in seed.splitlines(keepends=True)})
"""Lines that a mutation may put in."""


def check(data: bytes) -> None:
    """Read, apply, print and read again; raise if something must not happen."""
    try:
        patch = Patch.parse(data)
    except PatchError:
        return
    for policy in POLICIES:
        result = apply_patch(BASE, patch, policy)
        result.changes.tree_id(BASE)
    written = bytes(patch)
    try:
        again = Patch.parse(written)
    except PatchError as exc:
        raise AssertionError(f"cannot be read again: {written!r}") from exc
    if again != patch:
        raise AssertionError(f"{patch!r} was written as {written!r} and read as {again!r}")


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change, drop, move, repeat or insert a line, or let libFuzzer change bytes."""
    chance = random.Random(seed)  # noqa: S311 - reproducible data, not a secret
    lines = data.splitlines(keepends=True)
    if not lines or chance.random() < 0.4:  # noqa: PLR2004 - a share found by trying
        mutated: bytes = atheris.Mutate(data, max_size)
        return mutated
    for _ in range(chance.randint(1, 3)):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines) + 1)
        match chance.randrange(5):
            case 0:
                lines.insert(other, chance.choice(WORDS))
            case 1:
                lines[at] = chance.choice((b" ", b"+", b"-", b"")) + lines[at][1:]
            case 2:
                lines.insert(other, lines[at])
            case 3:
                lines[at:other] = chance.choice(SEEDS).splitlines(keepends=True)
            case _ if len(lines) > 1:
                lines.insert(min(other, len(lines) - 1), lines.pop(at))
    return b"".join(lines)[:max_size]


def main() -> None:
    """Run libFuzzer, which ends the process: with 0 if nothing crashed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0, help="0 is another one each time")
    parser.add_argument("--corpus", type=Path, help="kept and grown; else a new folder")
    parser.add_argument("inputs", nargs="*", type=Path, metavar="INPUT")
    options = parser.parse_args()
    if atheris is None:
        parser.error("needs the package atheris (pip install atheris): not installed here")
    corpus = options.corpus or Path(tempfile.mkdtemp(prefix="fuzz_patches."))
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS):
        (corpus / f"seed-{number:02}").write_bytes(seed)
    limits = [
        f"-max_total_time={options.seconds}",
        f"-seed={options.seed}",
        f"-artifact_prefix={corpus}/",
        "-max_len=4096",
        "-timeout=5",
        "-print_final_stats=1",
    ]
    what = list(map(str, options.inputs or [corpus]))
    atheris.Setup([sys.argv[0], *limits, *what], check, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
