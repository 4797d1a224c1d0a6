"""What tests need of the machine: programs, packages, a container engine.

A test that lacks something raises `Missing`, which skips it with the reason, and the run ends
with one line that says what was missing and how to install it. With the variable
`COOPERBENCH_EVAL_REQUIRE_ALL`, as in CI, such a test fails instead.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from cooperbench_eval.errors import SandboxError

REQUIRES_ALL = "COOPERBENCH_EVAL_REQUIRE_ALL"
PROBE_SECONDS = 60
PACKAGES = "pip install '.[test-all]'"
"""How to install the Python packages that some tests need."""
INSTALL = {
    "axe-core": "npm install axe-core, and set COOPERBENCH_EVAL_NODE_MODULES to node_modules",
    "bubblewrap": "apt install bubblewrap",
    "busybox": "apt install busybox-static",
    "cargo": "apt install cargo",
    "cargo-nextest": "cargo install cargo-nextest",
    "Chromium": "apt install chromium",
    "a container engine": "apt install podman, and set DOCKER_HOST to its socket",
    "gcc": "apt install gcc",
    "git": "apt install git",
    "go": "apt install golang-go",
    "jest and vitest": (
        "npm install jest vitest, and set COOPERBENCH_EVAL_NODE_MODULES to node_modules"
    ),
    "mount": "apt install mount",
    "node": "apt install nodejs",
    "npm": "apt install npm",
    "setpriv": "apt install util-linux",
    "the superuser": "run the tests as root, for example in a container",
}
"""How to install the other things that tests need, by name."""
WITHOUT_PRIVILEGES = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
"""Starts a program as the superuser who may read only what the modes of files allow."""


class Missing(pytest.skip.Exception):
    """A test cannot run, because the machine lacks something.

    Attributes:
        name: What is missing: a Python package, or a name in `INSTALL`.
        reason: Why it cannot be used.
    """

    def __init__(self, name, reason):
        super().__init__(f"needs {name}: {reason}", allow_module_level=True)
        self.name = name
        self.reason = reason


def lack(name, reason):
    """Skip the test that needs *name*; where everything is required, fail it."""
    if os.environ.get(REQUIRES_ALL):
        pytest.fail(f"needs {name}: {reason}")
    raise Missing(name, reason)


def need_package(name):
    """Import and return a Python package that only some tests need."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as exc:
        lack_package(exc)


def lack_package(error):
    """Skip the test that a missing package keeps from importing something."""
    package, *_ = error.name.split(".")
    if package == "cooperbench_eval":
        raise error
    lack(package, "it is not installed")


def need_installed(name):
    """Require a Python package without importing it."""
    if importlib.util.find_spec(name) is None:
        lack(name, "it is not installed")


def need_program(name):
    """Return the path of a program that is installed and works."""
    path, problem = find_program(name)
    if problem:
        lack(name, problem)
    return path


def need_bubblewrap():
    """Require that bubblewrap can make a sandbox here."""
    from cooperbench_eval.running.sandboxes.bubblewrap import bubblewrap_problem  # noqa: PLC0415

    if problem := bubblewrap_problem():
        lack("bubblewrap", problem)


def need_engine():
    """Require that a container engine answers at `DOCKER_HOST`."""
    if problem := engine_problem():
        lack("a container engine", problem)


@cache
def engine_problem():
    """Return why there is no container engine; empty if one answers."""
    if not os.environ.get("DOCKER_HOST"):
        return "DOCKER_HOST is not set"
    from cooperbench_eval.running.sandboxes.containers.engine import connect  # noqa: PLC0415

    try:
        with connect(None):
            return ""
    except SandboxError as exc:
        return str(exc)


@cache
def find_program(name):
    """Return a program's path, and why it cannot be used; empty if it works.

    A program that is installed may still fail: rustup's `cargo` without a toolchain, a compiler
    without a linker, a `node` that is too old for its own test runner.
    """
    path = shutil.which(name)
    if path is None:
        return "", "it is not installed"
    with tempfile.TemporaryDirectory() as folder:
        for command in probes(name, Path(folder)):
            try:
                done = subprocess.run(
                    command,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=PROBE_SECONDS,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as exc:
                return path, f"it does not work: {exc}"
            if done.returncode:
                said = (done.stderr or done.stdout).decode(errors="replace").strip()
                last = said.splitlines()[-1:] or [f"exit status {done.returncode}"]
                return path, f"it does not work: {last[0]:.200}"
    return path, ""


def probes(name, folder):
    """Return commands that succeed if a program can do what the tests ask of it."""
    match name:
        case "cargo":
            (folder / "a.rs").write_text("fn main() {}\n")
            return ("cargo", "--version"), ("rustc", "-o", "a", "a.rs")
        case "cargo-nextest":
            return *probes("cargo", folder), ("cargo-nextest", "nextest", "--version")
        case "go":  # some systems package the standard library separately
            return ("go", "version"), ("go", "list", "testing")
        case "node":
            (folder / "a.test.js").write_text("require('node:test')('a', () => {});\n")
            reporter = ("--test-reporter=spec", "--test-reporter-destination=stdout")
            return (("node", *reporter, "--test", "a.test.js"),)
    return (ONE_PROBE.get(name, (name, "--version")),)


ONE_PROBE = {
    "busybox": ("busybox", "--list"),
    # The checkout may belong to somebody else.
    "setpriv": (*WITHOUT_PRIVILEGES, sys.executable, "-c", "import cooperbench_eval"),
}


# --- the line at the end of a run ---------------------------------------------------------------


def report_missing(config):
    """Let the hooks below see the tests of every folder, which those of a `conftest.py` do not."""
    if not config.pluginmanager.has_plugin("needs"):
        config.pluginmanager.register(sys.modules[__name__], "needs")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call):
    """Note in a report what its test lacked; xdist passes the note to the main process."""
    report = yield
    note_missing(report, call, __file__)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Note the same for a file that is skipped as a whole."""
    report = yield
    # xdist takes reports of the same place for the same report.
    # A plug-in may skip a file without a call, as `--last-failed` does.
    note_missing(report, getattr(report, "call", None), str(collector.path))
    return report


def note_missing(report, call, path):
    """Note what was missing, with a place that tests which lack the same thing share."""
    if call and call.excinfo is not None and isinstance(call.excinfo.value, Missing):
        report.missing = call.excinfo.value.name
        report.longrepr = (path, 0, f"Skipped: {call.excinfo.value}")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    """Say in one line what was skipped and how to install what it needs."""
    yield
    if line := summarize_missing(terminalreporter.stats.get("skipped", ())):
        terminalreporter.write_line(line)


def summarize_missing(reports):
    """Return the line for the reports of skipped tests and files; empty if nothing was missing."""
    tests, files, names = Counter(), Counter(), {}
    for report in reports:
        if name := getattr(report, "missing", None):
            how = INSTALL.get(name, PACKAGES)
            names.setdefault(how, set()).add(name)
            (tests if isinstance(report, pytest.TestReport) else files)[how] += 1
    found = []
    for how, lacking in names.items():
        counts = {"test": tests[how], "whole file": files[how]}
        count = " and ".join(
            f"{number} {unit}{'s' if number > 1 else ''}"
            for unit, number in counts.items()
            if number
        )
        found.append(f"{', '.join(sorted(lacking))} ({count}; {how})")
    return f"Skipped for lack of {'; '.join(sorted(found))}" if found else ""
