"""Measures every pair of the sample task with the git program, and prints a table.

The table in ``README.md`` is this script's output. It is made without
`cooperbench_eval`, so that the library's own answers can be held against it.
Needs ``git`` 2.38 or newer, ``pygit2`` and ``pytest``::

    python docs/examples/sample/check_pairs.py
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree as ET

from build_repo import build_repo

TASK = Path(__file__).resolve().parent / "dataset" / "pennybook_task" / "task1"
FEATURES = sorted(int(path.name.removeprefix("feature")) for path in TASK.glob("feature*"))
TEST_FILES = re.findall(r"tests/\S+", (TASK / "runner.sh").read_text(encoding="utf-8"))

# Neither the caller's git configuration nor their pytest options may change the table.
_ENV = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PYTEST_"))}
_ENV |= {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONPATH": "src",
}
for _role in ("AUTHOR", "COMMITTER"):
    _ENV |= {f"GIT_{_role}_NAME": "Sample", f"GIT_{_role}_EMAIL": "sample@example.org"}


def git(tree: Path, *arguments: str, may_fail: bool = False) -> subprocess.CompletedProcess[str]:
    """Run git in *tree*; a failure raises unless it *may_fail*."""
    return subprocess.run(  # noqa: S603  our own arguments
        ["git", "-C", str(tree), *arguments],  # noqa: S607  the caller's git
        check=not may_fail,
        capture_output=True,
        text=True,
        env=_ENV,
    )


def gold(feature: int, name: str) -> str:
    """The path of a feature's ``feature.patch`` or ``tests.patch``."""
    return str(TASK / f"feature{feature}" / f"{name}.patch")


def measure_conflicts(repo: Path, pair: tuple[int, int]) -> tuple[int, int]:
    """Merge feature 1 into feature 2; count conflict sections and disputed lines."""
    first, second = pair
    merged = git(
        repo, "merge-tree", "--write-tree", "--name-only", f"f{second}", f"f{first}", may_fail=True
    )
    if merged.returncode == 0:
        return 0, 0
    tree, *rest = merged.stdout.splitlines()
    sections = lines = 0
    for path in itertools.takewhile(bool, rest):
        inside = False
        for line in git(repo, "show", f"{tree}:{path}").stdout.splitlines():
            if line.startswith("<<<<<<< "):
                inside, sections = True, sections + 1
            elif line.startswith(">>>>>>> "):
                inside = False
            elif inside and line != "=======":
                lines += 1
    return sections, lines


def run_tests(tree: Path, feature: int) -> str:
    """Add the tests of *feature* to a clean work tree, and run what ``runner.sh`` runs."""
    git(tree, "apply", gold(feature, "tests"))
    log = tree / "junit.xml"
    command = [sys.executable, "-m", "pytest", *TEST_FILES, "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(  # noqa: S603  our own arguments
        [*command, f"--junitxml={log}"], check=False, capture_output=True, cwd=tree, env=_ENV
    )
    cases = list(ET.parse(log).iter("testcase"))  # noqa: S314  we asked for this file
    passed = sum(len(case) == 0 for case in cases)
    git(tree, "reset", "-q", "--hard")
    git(tree, "clean", "-qfdx")
    if done.returncode > 1:
        return "fail, nothing ran"
    return f"{'pass' if done.returncode == 0 else 'fail'} {passed}/{len(cases)}"


def check_feature(repo: Path, work: Path, feature: int) -> str:
    """A row of the first table: the feature's tests without and with its gold patch."""
    tree = work / f"solo{feature}"
    git(work, "clone", "-q", str(repo), str(tree))
    without = run_tests(tree, feature)
    git(tree, "checkout", "-q", f"origin/f{feature}")
    return f"| {feature} | {without} | {run_tests(tree, feature)} |"


def check_pair(repo: Path, work: Path, pair: tuple[int, int]) -> str:
    """A row of the second table: the pair's merge, its score and both features' tests."""
    first, second = pair
    sections, lines = measure_conflicts(repo, pair)
    tree = work / f"pair{first}_{second}"
    git(work, "clone", "-q", "-b", f"f{second}", str(repo), str(tree))
    (tree / ".git" / "info" / "attributes").write_text("* merge=union\n", encoding="utf-8")
    git(tree, "merge", "-q", "--no-edit", f"origin/f{first}")
    results = [run_tests(tree, feature) for feature in pair]
    good = all(result.startswith("pass") for result in results)
    verdict = "clean" if sections == 0 else "conflicts"
    measured = [verdict, sections, lines, 20 * sections + 2 * lines]
    cells = [f"{first}, {second}", *measured, "correct" if good else "incorrect", *results]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Build the repository, one branch for each feature, and print both tables."""
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor() as pool:
        work = Path(directory)
        repo = work / "pennybook"
        commit = build_repo(repo)
        for feature in FEATURES:
            git(repo, "checkout", "-q", "-b", f"f{feature}", commit)
            git(repo, "apply", "--index", gold(feature, "feature"))
            git(repo, "commit", "-q", "-m", f"feature {feature}")
        git(repo, "checkout", "-q", "main")
        pairs = list(itertools.combinations(FEATURES, 2))

        print("| feature | its tests at the base | with its gold patch |\n| ---: | --- | --- |")
        for row in pool.map(lambda feature: check_feature(repo, work, feature), FEATURES):
            print(row)
        print("\n| pair | naive | sections | lines | score | union | tests of 1st | tests of 2nd |")
        print("| --- | --- | ---: | ---: | ---: | --- | --- | --- |")
        for row in pool.map(lambda pair: check_pair(repo, work, pair), pairs):
            print(row)
        shutil.rmtree(repo / ".git", ignore_errors=True)  # read-only objects stop Windows' clean-up


if __name__ == "__main__":
    main()
