"""Small stand-ins for things that pages use: a clone, the dataset, a run's logs.

Everything is in the current directory, which belongs to the page. The task has names of the
benchmark, a repository of one module, and four features that change one function each; the
first two add theirs at the same place, and the last one breaks the first in a clean merge.
"""

import json
import sysconfig
import tempfile
import venv
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree

import pygit2

import cooperbench_eval as ce

BASE = {
    "src/click/__init__.py": "def echo(text):\n    print(text)\n\n\nVERSION = 8\n",
    "tests/test_echo.py": (
        "import click\n\n\ndef test_echo(capsys):\n"
        "    click.echo('a')\n    assert capsys.readouterr().out == 'a\\n'\n"
    ),
    # Installed pytest plug-ins would cost time and have nothing to do with the page.
    "pytest.ini": "[pytest]\naddopts = --disable-plugin-autoload\n",
}
FEATURES = {
    1: ("VERSION", "def shout(text):\n    echo(text.upper())\n\n\nVERSION", "shout('a')", "A\n"),
    2: ("VERSION", "def twice(text):\n    echo(2 * text)\n\n\nVERSION", "twice('a')", "aa\n"),
    3: ("print(text)", "print(text, flush=True)", "echo('b')", "b\n"),
    4: ("print(text)", "print(text.lower())", "echo('B')", "b\n"),  # breaks feature 1
}
SCRIPT = "python -m pytest -q tests\n"


def lay_click(clone="click", tag="d791537"):
    """Write the repository, with a tag in place of the real commit's short id."""
    repository = pygit2.init_repository(clone, initial_head="main")
    for path, text in BASE.items():
        file = Path(clone, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    repository.index.add_all()
    tree = repository.index.write_tree()
    repository.index.write()
    author = pygit2.Signature("Ann", "ann@example.org", 0, 0)
    commit = repository.create_commit("HEAD", author, author, "8\n", tree, [])
    repository.references.create(f"refs/tags/{tag}", commit)
    return str(commit)


def patches(number, test=None):
    """Return a feature's patch and its tests' patch; *test* is another name for its test."""
    file, _, name = (test or f"tests/test_feature{number}.py::test_feature").partition("::")
    base = ce.Snapshot.from_files({path: text.encode() for path, text in BASE.items()})
    old, new, call, output = FEATURES[number]
    module = "src/click/__init__.py"
    check = f"click.{call}\n    assert capsys.readouterr().out == {output!r}\n"
    test = f"import click\n\n\ndef {name}(capsys):\n    {check}"
    texts = {module: BASE[module].replace(old, new), file: test}
    return tuple(
        ce.Changes({path: ce.Entry(text.encode())}).diff(base) for path, text in texts.items()
    )


def lay_task(
    repo_name="pallets_click_task",
    task_id=2068,
    *,
    numbers=(1, 2),
    clone="click",
    dataset="dataset",
    contents=None,
):
    """Write the dataset with one task, and the clone of its repository; return the task.

    *contents* says for a number which of the features to take, and its test's name, if not
    those of this number.
    """
    folder = Path(dataset, repo_name, f"task{task_id}")
    for number in numbers:
        feature, tests = patches(*(contents or {}).get(number, (number,)))
        place = folder / f"feature{number}"
        place.mkdir(parents=True)
        (place / "feature.patch").write_bytes(feature)
        (place / "tests.patch").write_bytes(tests)
        (place / "feature.md").write_text("Say it in another way.\n")
    (folder / "Dockerfile").write_text(f"FROM scratch\nRUN git checkout {lay_click(clone)}\n")
    (folder / "run_tests.sh").write_text(SCRIPT)
    return ce.Dataset(dataset).task(repo_name, task_id)


def lay_environment(folder):
    """Make a virtual environment that has the packages of this one."""
    venv.create(folder, symlinks=True)
    packages = sysconfig.get_path("purelib")
    inside = sysconfig.get_path("purelib", vars={"base": folder})
    Path(inside, "packages.pth").write_text(f"{packages}\n")


def lay_run(run="my-run", model="gpt-5", *, logs="logs"):
    """Write a run's logs: each agent's patch by feature, which is the gold patch."""
    handed_in = {number: patches(number)[0] for number in (1, 2)}
    names = "_".join(f"f{number}" for number in handed_in)
    folder = Path(logs, run, "coop", "pallets_click_task", "2068", names)
    folder.mkdir(parents=True)
    for number, patch in handed_in.items():
        (folder / f"agent{number}.patch").write_bytes(patch)
    (folder / "result.json").write_text(json.dumps({"model": model, "setting": "coop"}))


@contextmanager
def lay_benchmark(name="akhatua/cooperbench-pallets-click:task2068", clone="click"):
    """Lay out a task, a run and the task's image; yield the image's name."""
    import docker  # noqa: PLC0415 - an extra
    from container_images import import_root, task_root  # noqa: PLC0415 - needs pytest

    lay_task(dataset="CooperBench/dataset", clone=clone)
    lay_run(logs="CooperBench/logs")
    engine = docker.APIClient(**docker.utils.kwargs_from_env(), version="auto")
    with tempfile.TemporaryDirectory() as root:
        copytree(clone, Path(root, "workspace/repo"))
        settings = (*task_root(Path(root)), "ENV PYTHONPATH=/workspace/repo/src")
        made = import_root(engine, root, Path("root.tar"), settings, name)
    yield name
    engine.remove_image(made, force=True)
    engine.close()
