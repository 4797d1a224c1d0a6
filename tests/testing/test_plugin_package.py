"""A plug-in package: the one among the examples, and the one that a page has its reader write."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "sorted-imports"
PAGE = (DOCS / "how-to" / "write-a-strategy.md").read_text(encoding="utf-8")
MOST_LINES = 29

USE = """
import importlib.metadata
import cooperbench_eval as ce
import sorted_imports
from cooperbench_eval.testing import check_strategy

assert "sorted-imports" in ce.available_strategies()
group = importlib.metadata.entry_points(group="cooperbench_eval.strategies")
point = group["sorted-imports"]
print(point.dist.name, point.dist.version)
print(sorted_imports.__file__)
strategy = ce.get_strategy("sorted-imports")
assert type(strategy) is sorted_imports.SortedImports
base = ce.Snapshot.from_files({"a.py": b"x = 1\\n"})
sides = [ce.Changes({"a.py": ce.Entry(b"import %s\\nx = 1\\n" % m)}) for m in (b"os", b"re")]
one, two = (ce.Feature(number=n, patch=s.diff(base)) for n, s in enumerate(sides, start=1))
pair = ce.FeaturePair(repo_name="r", task_id=1, base=base, feature1=one, feature2=two)
report = ce.Evaluator(strategies=["naive", "sorted-imports"]).evaluate(pair)
print([(row.strategy, row.status.value, row.implementation) for row in report.attempts])
lines = [b"import os\\n", b"import re\\n", b"import sys\\n", b"x = 1\\n"]
results = check_strategy("sorted-imports", files={"a.py": lines}, examples=15)
print([str(each.status) for each in results])
"""


class Environment:
    """A fresh environment that sees what this one has, but for what is installed in it."""

    def __init__(self, folder):
        """Make it in a folder; without pip of its own, which would take seconds."""
        venv.EnvBuilder(symlinks=True).create(folder)
        self.programs = Path(folder, "bin")
        self.packages = Path(next(Path(folder, "lib").glob("python*")), "site-packages")
        outer = sysconfig.get_path("purelib")
        (self.packages / "outer.pth").write_text(f"import site; site.addsitedir({outer!r})\n")
        pip = self.programs / "pip"
        pip.write_text(f'#!/bin/sh\nexec "{self.programs}/python" -m pip "$@"\n')
        pip.chmod(0o755)

    def run(self, *command, cwd):
        """Run a program in it; return what it prints."""
        done = subprocess.run(
            command,
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            env={
                "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
                "HOME": os.environ.get("HOME", "/"),
                # Nothing is fetched: what packages need is seen through the .pth file.
                "PIP_NO_INDEX": "1",
                "PIP_NO_DEPS": "1",
                "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say that there is none
                "PIP_NO_CACHE_DIR": "1",
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def environment(tmp_path):
    """Return a fresh environment."""
    return Environment(tmp_path / "environment")


def test_the_example_package_is_built_installed_found_and_used(environment, tmp_path):
    """From its wheel, by its name; it keeps the laws, and its own tests pass beside it."""
    source, dist, away = (tmp_path / name for name in ("source", "dist", "away"))
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("__pycache__"))
    away.mkdir()
    build = f"from hatchling.build import build_wheel; build_wheel({str(dist)!r})"
    subprocess.run((sys.executable, "-c", build), cwd=source, check=True, capture_output=True)
    (wheel,) = dist.glob("*.whl")

    environment.run("pip", "install", str(wheel), cwd=away)
    printed = environment.run("python", "-c", USE, cwd=away).splitlines()
    tested = environment.run("python", "-m", "pytest", "-q", "tests", cwd=source)

    assert wheel.name == "cooperbench_eval_sorted_imports-0.1.0-py3-none-any.whl"
    assert printed[0] == "cooperbench-eval-sorted-imports 0.1.0"
    assert printed[1] == str(environment.packages / "sorted_imports" / "__init__.py")
    assert (environment.packages / "sorted_imports" / "py.typed").is_file()
    assert printed[2] == str(
        [
            ("naive", "conflicts", "cooperbench_eval.strategies.naive:NaiveStrategy"),
            ("sorted-imports", "resolved", "sorted_imports:SortedImports"),
        ]
    )
    kept = [*["held"] * 7, "opted_out", "held", "held"]  # it does not say that it is symmetric
    assert printed[3] == str(kept)
    assert re.search(r"^16 passed in ", tested, re.MULTILINE)


SHADOW = """
import warnings
import cooperbench_eval as ce
from cooperbench_eval.testing import check_strategy

with warnings.catch_warnings():
    warnings.simplefilter("error")
    names = ce.available_strategies()
    print(names.count("naive"), names.count("mine"), ce.get_strategy("mine").name)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print([type(each).__module__ for each in ce.Evaluator().strategies])
    print(type(ce.get_strategy("naive")).__module__)
    check_strategy("naive", examples=1, deadline_seconds=None)
print(len(caught), caught[0].message)
"""


def test_an_installed_package_cannot_take_the_name_of_a_built_in_strategy(environment, tmp_path):
    """A warning names it, its other strategies work, and so do default evaluators."""
    (tmp_path / "taker.py").write_text("class Mine:\n    name = 'mine'\n    merge = print\n")
    (tmp_path / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['hatchling']\nbuild-backend = 'hatchling.build'\n"
        "[project]\nname = 'taker'\nversion = '1.5'\n"
        "[project.entry-points.'cooperbench_eval.strategies']\n"
        "naive = 'taker:Mine'\nmine = 'taker:Mine'\n"
    )
    environment.run("pip", "install", ".", cwd=tmp_path)

    printed = environment.run("python", "-c", SHADOW, cwd=environment.packages).splitlines()

    ours = [f"cooperbench_eval.strategies.{name}" for name in ("naive", "union")]
    refused = "merge strategy 'naive' is built in, so the one of taker 1.5 is ignored"
    assert printed == [
        "1 1 mine",
        str(ours),
        ours[0],
        f"3 {refused}; register it under another name",
    ]


def blocks(page):
    """Yield the language, the title and the text of each block."""
    pattern = r'^```(\w+)(?: title="(.*?)")?\n(.*?)^```$'
    return re.findall(pattern, page, re.DOTALL | re.MULTILINE)


def test_the_page_goes_from_an_empty_folder_to_an_evaluation(environment, tmp_path):
    """Its files are written, its commands run, and they show what it says."""
    folder = tmp_path / "empty"
    folder.mkdir()
    section = PAGE.partition("## From an empty folder")[2].partition("\n## ")[0]
    files, printed, shown = {}, [], []

    for language, title, text in blocks(section):
        if title:
            files[title] = text
            (folder / title).write_text(text)
        elif language == "sh":
            printed.append(environment.run("bash", "-euc", text, cwd=folder))
        else:
            shown.append(text)

    assert list(files) == ["sorted_imports.py", "pyproject.toml", "use.py"]
    lines = [line for text in files.values() for line in text.splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES
    assert all(len(line) <= 100 for line in lines)
    assert len(printed) == 2
    (expected,) = shown
    assert OutputChecker().check_output(expected, printed[1], ELLIPSIS), printed[1]
    assert expected.count("...") < 10


def test_the_page_lists_the_laws():
    """Each has the sentence that results show."""
    from cooperbench_eval.testing import STRATEGY_LAWS  # noqa: PLC0415 - Hypothesis is slow

    rows = re.findall(r"^- `(\w+)`: (.*)$", PAGE, re.MULTILINE)

    assert rows == [(law.name, law.asks) for law in STRATEGY_LAWS]
