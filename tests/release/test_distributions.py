"""The wheel and the sdist: complete, and the same bytes wherever they are built."""

import ast
import email
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME = f"cooperbench_eval-{PROJECT['version']}"
INFO = f"{NAME}.dist-info"

BUILD = """
import os, sys
os.umask(int(sys.argv[1], 8))
from hatchling.build import build_sdist, build_wheel
build_sdist(sys.argv[2])
build_wheel(sys.argv[2])
"""


def tracked():
    """List the files that belong to the project, ignoring others in the folder."""
    if not (ROOT / ".git").exists():  # in an unpacked sdist, which holds nothing else
        pytest.fail("wants a checkout: `nox` tests what a sdist holds")
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = done.stdout.decode().split("\0")
    return {name for name in names if name and (ROOT / name).is_file()}


def build(source, target, umask, **environment):
    """Build both from *source*; return their files by suffix."""
    target.mkdir()
    subprocess.run(
        [sys.executable, "-c", BUILD, umask, target],
        cwd=source,
        env=os.environ | {"PYTHONSAFEPATH": "1"} | environment,
        check=True,
        capture_output=True,
    )
    return {file.suffix: file for file in target.iterdir()}


def copy_of_files(folder, time):
    """Copy only the project's files, all with the modification time *time*."""
    for name in tracked():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, file)
        file.chmod((ROOT / name).stat().st_mode & 0o700 | 0o044)
        os.utime(file, (time, time))
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Build the wheel and the sdist of a clean copy."""
    folder = tmp_path_factory.mktemp("built")
    return build(copy_of_files(folder / "here", 1_000_000_000), folder / "dist", "022")


@pytest.fixture(scope="session")
def unpacked(built, tmp_path_factory):
    """Unpack the sdist."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(built[".gz"]) as archive:
        # Python 3.11.3 and older have no filters.
        options = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder, **options)  # noqa: S202 - we made it
    return folder / NAME


@pytest.fixture(scope="session")
def metadata(built):
    """Read the wheel's metadata."""
    with zipfile.ZipFile(built[".whl"]) as wheel:
        return email.message_from_string(wheel.read(f"{INFO}/METADATA").decode())


def digests(files):
    """Return a digest of each file's contents."""
    return {suffix: hashlib.sha256(file.read_bytes()).hexdigest() for suffix, file in files.items()}


@pytest.mark.long
def test_builds_at_different_places_and_times_are_identical(built, tmp_path):
    """Folder, clock, umask, locale and time zone have no influence."""
    elsewhere = copy_of_files(tmp_path / "else where", 1_700_000_000)

    again = build(
        elsewhere,
        tmp_path / "dist",
        "077",
        LC_ALL="C",
        TZ="Pacific/Kiritimati",
        PYTHONHASHSEED="7",
        HOME=str(tmp_path),
    )

    assert digests(again) == digests(built)


def test_the_sdist_builds_the_same_wheel_and_sdist(built, unpacked, tmp_path):
    """A checkout is not needed."""
    assert digests(build(unpacked, tmp_path / "dist", "022")) == digests(built)


def test_the_wheel_contains_the_package_and_its_metadata(built):
    """It has every file of the package with data and `py.typed`, the licence, and no more."""
    with zipfile.ZipFile(built[".whl"]) as wheel:
        names = set(wheel.namelist())
        licence = wheel.read(f"{INFO}/licenses/LICENSE")

    package = {name for name in tracked() if name.startswith("cooperbench_eval/")}
    papers = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    assert names == package | {f"{INFO}/{paper}" for paper in papers}
    assert {
        "cooperbench_eval/py.typed",
        "cooperbench_eval/strategies/llm/prompts/v1/question.txt",
        "cooperbench_eval/strategies/llm/prompts/v2/question.txt",
        "cooperbench_eval/reporting/merge_report.schema.json",
        "cooperbench_eval/reporting/team_report.schema.json",
        "cooperbench_eval/running/readers/node_results.mjs",
    } <= package
    assert licence == (ROOT / "LICENSE").read_bytes()


def test_the_sdist_contains_the_project(unpacked):
    """It includes tests, documentation, tools and CI, but not files that only git reads."""
    held = {str(file.relative_to(unpacked)) for file in unpacked.rglob("*") if file.is_file()}

    assert held == tracked() | {"PKG-INFO"}
    assert all((unpacked / name).read_bytes() == (ROOT / name).read_bytes() for name in tracked())


def test_nothing_in_the_distributions_names_a_person_or_a_machine(built):
    """Archives have no owner names."""
    with tarfile.open(built[".gz"]) as archive:
        owners = {(each.uid, each.gid, each.uname, each.gname) for each in archive}

    assert owners == {(0, 0, "", "")}


def test_the_metadata_says_what_an_index_shows(metadata):
    """It has name, summary, licence, authors, keywords, and the README in Markdown."""
    assert metadata["Name"] == "cooperbench-eval"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert metadata["Author"] == "The cooperbench_eval authors"
    assert metadata["Summary"]
    assert metadata["Keywords"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload() == (ROOT / "README.md").read_text(encoding="utf-8")
    assert "Typing :: Typed" in metadata.get_all("Classifier")


def test_every_python_that_nox_tests_is_a_classifier(metadata):
    """No other version is claimed."""
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    tested = ast.literal_eval(noxfile.partition("PYTHONS = ")[2].partition("\n")[0])

    prefix = "Programming Language :: Python :: 3."
    claimed = [each for each in metadata.get_all("Classifier") if each.startswith(prefix)]
    assert claimed == [f"Programming Language :: Python :: {version}" for version in tested]


def test_user_extras_contain_no_test_tools(metadata):
    """Only the extras for tests, site and development may name our tools."""
    tools = ("griffe", "jsonschema", "mypy", "nox", "ruff", "statsmodels")

    wanted = [each for each in metadata.get_all("Requires-Dist") if each.startswith(tools)]
    extras = {each.partition("extra == ")[2].strip("'") for each in wanted}
    assert extras == {"dev", "docs", "test", "test-all"}
