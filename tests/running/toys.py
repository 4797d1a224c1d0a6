"""Reading results of small projects, and finding the programs that run them."""

import os
import subprocess
from pathlib import Path

from needs import need_program
from toys_compiled import GO, GO_CASES, NEXTEST_CASES, RUST, RUST_CASES
from toys_scripts import (
    JEST,
    JEST_CASES,
    NODE,
    NODE_CASES,
    UNITTEST,
    UNITTEST_CASES,
    VITEST,
    VITEST_CASES,
)

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS
from cooperbench_eval.running.readers.protocol import FinishedRun, NewTests

__all__ = [
    "FRAMEWORKS",
    "GO",
    "GO_CASES",
    "JEST",
    "JEST_CASES",
    "NEXTEST_CASES",
    "NODE",
    "NODE_CASES",
    "RECORDED",
    "RUST",
    "RUST_CASES",
    "UNITTEST",
    "UNITTEST_CASES",
    "VITEST",
    "VITEST_CASES",
    "added",
    "go_environment",
    "read",
    "required",
    "rust_environment",
    "statuses",
    "tree",
]

RECORDED = Path(__file__).with_name("recorded")


def tree(files):
    """Return texts by path as a tree."""
    return Snapshot.from_files({path: text.encode() for path, text in files.items()})


def read(framework, scratch, results=(), *, files=(), command=("command",), **run):
    """Return the cases that a reader finds in result files, by name, or in an output."""
    scratch.mkdir(exist_ok=True)
    for name, data in dict(results).items():
        # Some file systems wait for the disk if a file is truncated and rewritten.
        (scratch / name).unlink(missing_ok=True)
        (scratch / name).write_bytes(data)
    exit_code, output = run.get("exit_code", 0), run.get("output", b"")
    finished = FinishedRun(
        command=command,
        exit_code=exit_code,
        scratch=scratch,
        tree=tree(dict(files)),
        output=output,
    )
    return FRAMEWORKS[framework].read(finished)


def required(framework, command, after, before=(), cases=()):
    """Return the names that a reader requires if a patch adds or changes files."""
    return FRAMEWORKS[framework].required(_new_tests(command, after, before, cases))


def added(framework, after, before=(), cases=()):
    """Return the names that a reader finds in files that a patch adds or changes."""
    return FRAMEWORKS[framework].added(_new_tests(("command",), after, before, cases))


def _new_tests(command, after, before, cases):
    before = dict(before)
    changed = sorted(path for path, text in after.items() if before.get(path) != text)
    return NewTests(
        before=tree(before),
        after=tree(after),
        paths=tuple(changed),
        command=tuple(command),
        cases=tuple(cases),
    )


def statuses(cases):
    """Return the status of each case by its id; every id once."""
    found = {case.id: case.status.value for case in cases}
    assert len(found) == len(cases)
    return found


def go_environment():
    """Return variables with which Go finds earlier builds and does not use the network."""
    cache = subprocess.run(
        (need_program("go"), "env", "GOCACHE"), capture_output=True, text=True, check=True
    )
    return {"GOCACHE": cache.stdout.strip(), "GOFLAGS": "-mod=mod", "GOPROXY": "off"}


def rust_environment():
    """Return variables with which a toolchain in the home directory is found."""
    need_program("cargo")
    home = Path.home()
    folders = {"RUSTUP_HOME": home / ".rustup", "CARGO_HOME": home / ".cargo"}
    return {name: os.environ.get(name, str(path)) for name, path in folders.items()}
