"""Tests that lack something are skipped with the reason, and the run says how to install it."""

import os
import subprocess
import sys
from pathlib import Path

import needs
import pytest

FILES = {
    "test_programs.py": """
from needs import need_program

def test_that_needs_nothing(): pass
def test_that_needs_cargo(): need_program("cargo")
def test_that_needs_it_too(): need_program("cargo")
def test_that_needs_go(): need_program("go")
""",
    "test_package.py": "from needs import need_package\n\nneed_package('absent.part')\n",
    "test_other.py": "from needs import need_package\n\nneed_package('absent.part')\n",
}
LINE = (
    "Skipped for lack of absent (2 whole files; pip install '.[test-all]'); "
    "cargo (2 tests; apt install cargo); go (1 test; apt install golang-go)"
)


@pytest.fixture
def shim(tmp_path, monkeypatch):
    """Return a function that makes a program the only one on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(needs, "find_program", needs.find_program.__wrapped__)

    def make(name, script):
        file = folder / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    return make


@pytest.fixture
def run(tmp_path, shim):
    """Return a function that runs tests that need cargo, go and a package, with this cargo."""
    shim("cargo", "echo 'error: no toolchain is configured' >&2; exit 1")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def run(*options, **env):
        known = {each: value for each, value in os.environ.items() if each != needs.REQUIRES_ALL}
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-ra", "-p", "needs"),
                *("--rootdir", tmp_path, *options),
            ],
            cwd=tmp_path,
            env=known | {"PYTHONPATH": str(Path(needs.__file__).parent)} | env,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.splitlines()

    return run


@pytest.mark.parametrize(
    "options",
    [("-n", "0"), pytest.param(("-n", "2", "--dist", "loadfile"), marks=pytest.mark.long)],
)
def test_one_line_at_the_end_says_what_was_skipped(run, options):
    """It counts tests and files, also when they ran in other processes."""
    *_, line, result = run(*options)

    assert line == LINE
    assert "1 passed, 5 skipped" in result


def test_the_last_failures_can_be_run_again(run, tmp_path):
    """Files without a failure are skipped, and lack nothing."""
    (tmp_path / "test_failing.py").write_text("def test_that_fails(): assert False\n")
    run("-n", "0")

    *_, result = run("-n", "0", "--last-failed")

    assert "1 failed in" in result


def test_where_everything_is_required_nothing_is_skipped(run):
    """The reasons are those of the failures."""
    lines = run("-n", "0", "test_programs.py", **{needs.REQUIRES_ALL: "1"})

    assert "Failed: needs go: it is not installed" in "\n".join(lines)
    assert "needs cargo: it does not work: error: no toolchain is configured" in "\n".join(lines)
    assert "skipped" not in lines[-1]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo first; echo second >&2; exit 3", "it does not work: second"),
        ("exit 3", "it does not work: exit status 3"),
        ("exit 0", ""),
    ],
)
@pytest.mark.parametrize("name", ["go", "cargo", "node", "git", "npm", "cargo-nextest"])
def test_a_program_has_to_work(shim, name, script, reason):
    """Its last words are the reason."""
    for each in ("rustc", "cargo", name):
        shim(each, "exit 0" if each != name else script)

    path, found = needs.find_program(name)

    assert (Path(path).name, found) == (name, reason)


def test_a_cargo_without_a_linker_does_not_work(shim):
    """Its compiler fails, not the program itself."""
    shim("cargo", "exit 0")
    shim("rustc", "echo 'error: linker `cc` not found' >&2; exit 1")

    with pytest.raises((needs.Missing, pytest.fail.Exception), match="linker `cc` not found"):
        needs.need_program("cargo")


def test_an_engine_that_does_not_answer_is_missing(monkeypatch, tmp_path):
    """The client of Docker may be installed without it."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/socket")

    assert "no container engine answers" in needs.engine_problem.__wrapped__()


def test_a_package_that_is_broken_is_not_missing(tmp_path, monkeypatch):
    """An error in it is shown."""
    (tmp_path / "broken_package.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ZeroDivisionError):
        needs.need_package("broken_package")
