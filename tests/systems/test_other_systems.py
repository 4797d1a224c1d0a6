"""What needs no test runs works on macOS and Windows, as far as these can be simulated."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SAMPLE = HERE.parents[1] / "docs/examples/sample"
sys.path[:0] = [str(HERE), str(HERE.parent / "running"), str(SAMPLE)]

import elsewhere  # noqa: E402 - beside this file
from build_repo import build_repo  # noqa: E402
from container_images import engine, import_image, python_image  # noqa: E402, F401 - fixtures

SYSTEMS = {"darwin": "macOS", "win32": "Windows"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A bare repository, a copy of its tree, and the repository of the sample task."""
    folder = tmp_path_factory.mktemp("systems").resolve()
    for path, data in elsewhere.BASE.items():
        file = folder / "tree" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    git = ("git", f"--git-dir={folder}/repo", f"--work-tree={folder}/tree")
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init",), ("add", "-A"), (*author, "commit", "-m", "base")):
        subprocess.run((*git, *words), check=True, capture_output=True)
    (folder / "tmp").mkdir()
    build_repo(folder / "pennybook")
    return folder


def environment(system, folder):
    """Return the variables with which Python simulates a system."""
    return {
        **os.environ,
        "SIMULATED_SYSTEM": system,
        "SIMULATED_FOLDER": str(folder),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONPATH": str(HERE / "simulated"),
    }


def run(script, *words, system="", folder, **more):
    """Run a Python script on a simulated system; return its standard output."""
    env = environment(system, folder) | more
    done = subprocess.run(
        (sys.executable, *script, *words), env=env, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    sys.stderr.write(done.stderr.decode())
    return done.stdout.decode()


def found(folder, *parts, system, **more):
    """Return what `elsewhere.py` finds on a system."""
    script = (str(HERE / "elsewhere.py"),)
    lines = run(script, str(folder), *parts, system=system, folder=folder, **more).splitlines()
    return [json.loads(line) for line in lines]


def expected(folder, *parts):
    """Return what `elsewhere.py` finds on this system, in this process."""
    return [json.loads(json.dumps(each, default=str)) for each in elsewhere.facts(folder, parts)]


@pytest.fixture
def clean(folder):
    """Remove what an earlier run kept, because a store would be read and not written."""
    yield
    for each in folder.iterdir():
        if each.name not in {"repo", "tree", "tmp", "pennybook"}:
            subprocess.run(("rm", "-rf", each), check=True)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_simulation_removes_what_the_system_lacks(folder, system):
    """The package sees neither the modules nor the functions, and the rest of Python does."""
    code = """
import os, sys
assert sys.platform == os.environ["SIMULATED_SYSTEM"], sys.platform
assert not hasattr(os, "pidfd_open") and not hasattr(os, "sched_getaffinity")
assert not os.path.exists("/proc/self") and not os.path.lexists("/sys")
try:
    open("/proc/self/stat")
except FileNotFoundError:
    pass
from pathlib import Path
assert not Path("/proc").exists()
folder = Path(os.environ["SIMULATED_FOLDER"])
assert (folder / "TREE" / "readme.MD").read_bytes() == (folder / "tree/README.md").read_bytes()
if sys.platform == "win32":
    assert os.name == "nt" and str(folder / "a").endswith("\\\\a") and not hasattr(os, "fork")
    try:
        import fcntl
    except ModuleNotFoundError:
        sys.exit()
    raise AssertionError(fcntl)
"""
    run(("-c", code), system=system, folder=folder)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.usefixtures("clean")
def test_the_results_are_those_of_linux(folder, system):
    """Merges, plans, reports, stores, summaries, pages, trees and datasets are the same."""
    parts = ("merges", "trees", "dataset", "threads")

    there = found(folder, *parts, system=system)

    (folder / "results.sqlite").unlink()
    subprocess.run(("rm", "-rf", folder / "threads"), check=True)
    assert there == expected(folder, *parts)


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.usefixtures("clean")
def test_processes_and_figures_work(folder, system):
    """Workers are started anew, `aevaluate` has a process, and all modules can be imported.

    On Windows, two scripts cannot; only the sandboxes of this machine start them.
    """
    parts = ("processes", "awaited", "figures")
    scripts = ["running.processes.supervisor", "running.sandboxes.overlay_mounts"]

    there = found(folder, *parts, "walk", system=system)

    failing = [fact[0] for part, fact in there if part == "walk"]
    assert failing == [f"cooperbench_eval.{each}" for each in scripts if system == "win32"]
    subprocess.run(("rm", "-rf", folder / "processes"), check=True)
    assert [fact for fact in there if fact[0] != "walk"] == expected(folder, *parts)


@pytest.mark.long
def test_the_watchdog_of_windows_removes_containers(folder, engine, python_image):  # noqa: F811
    """It gets the names through a pipe, as Windows can neither fork nor pass a socket on."""
    code = f"""
import time
from cooperbench_eval.running.sandboxes.containers.engine import connect
from cooperbench_eval.running.sandboxes.containers.run import container
with connect(None) as engine:
    with container(engine, {python_image!r}, host={{}}, entrypoint=["x"]) as (_, number):
        print(number, flush=True)
        time.sleep(60)
"""
    process = subprocess.Popen(
        (sys.executable, "-c", code), env=environment("win32", folder), stdout=subprocess.PIPE
    )
    with process:
        container = process.stdout.readline().decode().strip()
        assert engine.inspect_container(container)
        process.kill()

    enough = time.monotonic() + 60
    while container in {each["Id"] for each in engine.containers(all=True)}:
        assert time.monotonic() < enough
        time.sleep(0.2)


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS)
def test_tests_run_in_containers(folder, python_image, system):  # noqa: F811
    """The host's side writes the tree, translates paths, and reads the results."""
    run, program = (
        fact for _, fact in found(folder, "tested", system=system, SIMULATED_IMAGE=python_image)
    )

    assert run[:2] == ["passed", ""], run
    assert [name.partition("::")[2] for name, _ in run[2]] == [
        *("test_area", "test_length", "test_odd_names", "test_place", "test_program"),
    ]
    assert program == ["passed", "ran\n", ""]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.usefixtures("clean")
def test_what_the_system_cannot_do_is_said(folder, system):
    """Sandboxes that need Linux name containers; a tree that cannot be written names the path."""
    name = SYSTEMS[system]

    facts = [fact for _, fact in found(folder, "refusals", system=system)]

    assert all(
        f"needs Linux, and this system is {name}; run the tests in containers" in fact
        and "ContainerSandbox" in fact
        for fact in facts[:5]
    )
    assert facts[5] == ["container", True]
    assert facts[6][1] == (system == "darwin")
    trees, runs = facts[7:12], facts[12:]
    assert "two names for one file" in trees[0]
    for problem in trees[1:]:
        assert ("is not a file's name on Windows" in problem) == (system == "win32")
    assert [status for status, _ in runs[:2]] == ["infrastructure_error", "passed"]
    assert "is the same file as 'SRC/text.py'" in runs[0][1]
    assert runs[2][0] == ("infrastructure_error" if system == "win32" else "passed")
