"""A small dataset, the repository of its task, and agents' run logs."""

import json
import sys

import pygit2

import cooperbench_eval as ce

BASE = {"f.py": b"a = 0\n\n\n\n\nb = 0\n", "README": b"numbers\n"}
TEST = "import f\n\nassert f.{name} == {value}\n"
DOCKERFILE = "FROM scratch\nRUN git checkout {commit}\n"


def code(**values):
    """A patch that gives `a` or `b` another value."""
    text = BASE["f.py"]
    for name, value in values.items():
        text = text.replace(f"{name} = 0".encode(), f"{name} = {value}".encode())
    return ce.Changes({"f.py": ce.Entry(text)}).diff(ce.Snapshot.from_files(BASE))


def tests_of(number, name, value):
    """A tests patch that wants such a value."""
    text = TEST.format(name=name, value=value).encode()
    changes = ce.Changes({f"tests/test_{number}.py": ce.Entry(text)})
    return changes.diff(ce.Snapshot.from_files(BASE))


GOLD = {1: {"a": 1}, 2: {"b": 2}, 3: {"a": 3}}
"""Features 1 and 3 want different things of one line."""


def make_repository(folder):
    """Write the base as a commit; return its id."""
    repository = pygit2.init_repository(folder, bare=True)
    tree = repository.TreeBuilder()
    for name, data in BASE.items():
        tree.insert(name, repository.create_blob(data), pygit2.enums.FileMode.BLOB)
    author = pygit2.Signature("Ann", "ann@example.org", 0, 0)
    return str(repository.create_commit("HEAD", author, author, "", tree.write(), []))


def make_task(dataset, commit, repo_name="numbers_task", task_id=0):
    """Write a task of three features."""
    folder = dataset / repo_name / f"task{task_id}"
    for number, values in GOLD.items():
        feature = folder / f"feature{number}"
        feature.mkdir(parents=True)
        ((name, value),) = values.items()
        (feature / "feature.patch").write_bytes(code(**values))
        (feature / "tests.patch").write_bytes(tests_of(number, name, value))
        (feature / "feature.md").write_text(f"Make {name} {value}.\n")
    (folder / "Dockerfile").write_text(DOCKERFILE.format(commit=commit))
    (folder / "run_tests.sh").write_text("python -m pytest -q tests\n")
    return ce.Dataset(dataset).task(repo_name, task_id)


def make_run(logs, patches, *, run="run", setting="coop", repo_name="numbers_task", task_id=0):
    """Write a folder of a run: what each agent handed in, by feature, `None` for nothing."""
    folder = "_".join(f"f{number}" for number in patches)
    pair = logs / run / setting / repo_name / str(task_id) / folder
    pair.mkdir(parents=True)
    for number, patch in patches.items():
        if patch is not None:
            name = "solo" if setting == "solo" else f"agent{number}"
            (pair / f"{name}.patch").write_bytes(patch)
    (pair / "result.json").write_text(json.dumps({"model": "gpt-5", "setting": setting}))
    return pair


def with_runner():
    """An evaluator that runs tests, without a sandbox."""
    return ce.Evaluator(runner=ce.TestRunner(sandbox="local"))


def suite_of(task, number):
    """A feature's tests: scripts, run by a Python that starts fast."""
    script = f"for test in tests/*.py; do {sys.executable} -S $test || exit 1; done"
    env = {"PYTHONPATH": "."}
    return task.suite(number, command=("sh", "-c", script), framework="exit", env=env)
