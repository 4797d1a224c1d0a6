"""A suite loads no pytest plug-in of the program that starts it."""

import json
import os
import subprocess
import sys

import pytest
from needs import need_bubblewrap

RUN = """
import json, sys
import cooperbench_eval as ce

base = ce.Snapshot.from_files({"test_a.py": b'''
import sys
def test_no_plug_in():
    assert not {"of_the_path", "of_the_variable"} & set(sys.modules), sys.path
'''})
env = json.loads(sys.argv[2])
suite = ce.TestSuite(command=("python", "-m", "pytest", "-q", "-p", "no:cacheprovider"), env=env)
sandbox = {"local": ce.LocalSandbox, "bubblewrap": ce.BubblewrapSandbox}[sys.argv[1]]()
result = ce.TestRunner(sandbox=sandbox, cache=None).run(base, ce.Changes(), suite)
print(result.status.value)
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a suite in a program with two plug-ins, and returns its status.

    One is a distribution on `PYTHONPATH`, as packages of the caller's environment are. The
    other is in a variable.
    """
    metadata = tmp_path / "foreign-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[pytest11]\nforeign = of_the_path\n")
    for name in ("of_the_path", "of_the_variable"):
        (tmp_path / f"{name}.py").write_text("")
    caller = {
        "PYTHONPATH": str(tmp_path),
        "PYTEST_PLUGINS": "of_the_variable",
        "PYTEST_ADDOPTS": "-p of_the_variable",
    }

    def run(sandbox, **env):
        done = subprocess.run(
            [sys.executable, "-c", RUN, sandbox, json.dumps(env)],
            env=os.environ | caller,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not done.returncode, done.stderr
        return done.stdout.strip()

    run.caller = caller
    return run


@pytest.mark.parametrize("sandbox", ["local", pytest.param("bubblewrap", marks=pytest.mark.long)])
def test_a_suite_loads_no_plug_in_of_the_caller(run, sandbox):
    """The variables of the caller do not reach it, so only its own environment decides."""
    if sandbox == "bubblewrap":
        need_bubblewrap()

    assert run(sandbox) == "passed"


def test_a_suite_loads_the_plug_ins_that_it_names(run):
    """What it sets itself does reach it."""
    assert run("local", **run.caller) == "failed"
