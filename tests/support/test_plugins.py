"""Plug-ins that are installed, broken or removed while the program runs."""

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from needs import lack

import cooperbench_eval as ce
from cooperbench_eval.support import plugins

GROUP = "cooperbench_eval.strategies"
SOURCE = """
class Mine:
    name = "mine"

    def merge(self, merge_input):
        raise NotImplementedError
"""


def files_of(name, module, points="mine = {module}:Mine"):
    """Return the files of a distribution that registers one strategy."""
    return {
        f"{module}.py": SOURCE,
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n",
        f"{name}-1.0.dist-info/entry_points.txt": f"[{GROUP}]\n{points.format(module=module)}\n",
    }


def put(folder, files):
    """Write files below a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder on `sys.path` that has not changed for an hour."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name in [name for name in sys.modules if name.startswith("plugged_")]:
        del sys.modules[name]


@pytest.fixture
def settled(monkeypatch):
    """Return a function after which all folders count as unchanged for a long time."""

    def settle():
        later = time.time_ns() + 3_600_000_000_000
        monkeypatch.setattr(plugins.time, "time_ns", lambda: later)

    return settle


@pytest.fixture
def scans(monkeypatch):
    """Return a list that gets an item for each scan of all distributions."""
    found = []
    read = plugins._Installed.read
    monkeypatch.setattr(plugins._Installed, "read", lambda state: (found.append(1), read(state))[1])
    return found


def test_entry_points_are_read_once(place, settled, scans):
    """Names, strategies, evaluators and cascades use one scan as long as nothing changes."""
    settled()

    ce.available_strategies()
    ce.Evaluator(strategies=["naive", "union"])
    ce.cascade("structured", "tokens", "union")
    ce.running.available_sandboxes()

    assert len(scans) <= 1


def test_what_is_installed_is_seen_at_once(place, settled):
    """A program that already used a strategy finds the new one."""
    settled()
    ce.get_strategy("naive")

    put(place, files_of("new_plugin", "plugged_new"))

    assert "mine" in ce.available_strategies()
    assert ce.get_strategy("mine").name == "mine"


def test_what_is_removed_is_unknown_at_once(place, settled):
    """The error is the same as for a name that was never registered."""
    put(place, files_of("old_plugin", "plugged_old"))
    settled()
    assert ce.get_strategy("mine").name == "mine"

    shutil.rmtree(place / "old_plugin-1.0.dist-info")

    assert "mine" not in ce.available_strategies()
    with pytest.raises(ce.errors.UnknownStrategyError, match="mine"):
        ce.get_strategy("mine")


def test_what_is_broken_is_an_error_at_once(place, settled):
    """A new version whose module cannot be imported replaces a working one."""
    put(place, files_of("tired_plugin", "plugged_tired"))
    settled()
    ce.get_strategy("mine")

    shutil.rmtree(place / "tired_plugin-1.0.dist-info")
    broken = {"plugged_gone.py": "import nothing_here"}
    put(place, files_of("tired_plugin", "plugged_gone") | broken)

    with pytest.raises(ce.errors.StrategyLoadError, match="nothing_here"):
        ce.get_strategy("mine")


def test_an_installation_within_one_tick_of_the_clock_is_seen(place, monkeypatch):
    """The folder then has the same times before and after, as on a coarse file system."""
    real, now = os.stat, time.time_ns()

    def coarse(path, **options):
        found = real(path, **options)
        times = SimpleNamespace(st_mtime_ns=now, st_ctime_ns=now, st_mtime=now / 1e9)
        times.st_ino, times.st_size, times.st_mode = found.st_ino, 1, found.st_mode
        return times if path == str(place) else found

    with monkeypatch.context() as patched:
        patched.setattr(plugins.os, "stat", coarse)
        ce.get_strategy("naive")
        put(place, files_of("quick_plugin", "plugged_quick"))

        assert "mine" in ce.available_strategies()
    assert ce.get_strategy("mine").name == "mine"


def test_an_installation_that_restores_the_time_of_the_folder_is_seen(place, settled):
    """Programs that unpack archives or copy folders restore it."""
    settled()
    before = place.stat()
    ce.get_strategy("naive")

    put(place, files_of("restored_plugin", "plugged_restored"))
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert ce.get_strategy("mine").name == "mine"


def test_names_are_listed_if_the_times_are_from_a_moment_ago(place, monkeypatch):
    """The times alone are enough if no folder changed within the last two seconds."""
    times = [each.stat() for each in map(Path, sys.path) if each.exists()]
    newest = max(max(each.st_mtime_ns, each.st_ctime_ns) for each in times)

    found = []
    for later in (0, 1_900_000_000, 2_100_000_000):
        monkeypatch.setattr(plugins.time, "time_ns", lambda later=later: newest + later)
        state = plugins._state()
        found.append(any(each[-1] is not None for each in state[:-1]))

    assert found == [True, True, False]


def test_another_path_has_other_plug_ins(place, settled, tmp_path, monkeypatch):
    """A folder that is added to `sys.path`, or created there, is searched."""
    monkeypatch.syspath_prepend(tmp_path / "later")
    put(tmp_path / "elsewhere", files_of("other_plugin", "plugged_other"))
    settled()
    ce.get_strategy("naive")

    with monkeypatch.context() as patched:
        patched.setattr(sys, "path", [str(tmp_path / "elsewhere"), *sys.path])
        assert "mine" in ce.available_strategies()
    assert "mine" not in ce.available_strategies()
    (tmp_path / "elsewhere").rename(tmp_path / "later")

    assert ce.get_strategy("mine").name == "mine"


def test_the_working_directory_may_be_on_the_path(settled, tmp_path, monkeypatch):
    """An empty item of `sys.path` means the current directory."""
    put(tmp_path / "there", files_of("there_plugin", "plugged_there"))
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    settled()

    found = []
    for folder in ("here", "there", "here"):
        monkeypatch.chdir(tmp_path / folder)
        found.append("mine" in ce.available_strategies())

    assert found == [False, True, False]


def test_an_archive_on_the_path_is_read_again_if_it_changes(settled, tmp_path, monkeypatch):
    """For example, a wheel may be on the path."""
    archive = tmp_path / "plugin.whl"
    monkeypatch.syspath_prepend(archive)
    settled()
    assert "mine" not in ce.available_strategies()

    with zipfile.ZipFile(archive, "w") as wheel:
        for name, text in files_of("zipped_plugin", "plugged_zipped").items():
            wheel.writestr(name, text)

    assert ce.get_strategy("mine").name == "mine"


@pytest.mark.long
def test_a_plug_in_is_installed_and_removed_by_pip(tmp_path):
    """A running program sees each step, and its names and errors agree."""
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
        if not shutil.which("uv"):
            lack("pip", "neither pip nor uv is installed")
        pip = ["uv", "pip"]
    wheel = tmp_path / "piped_plugin-1.0-py3-none-any.whl"
    files = files_of("piped_plugin", "plugged_piped")
    record = "piped_plugin-1.0.dist-info/RECORD"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {**files, record: "".join(f"{n},,\n" for n in (*files, record))}.items():
            archive.writestr(name, text)
    site = tmp_path / "site"
    program = f"""
import sys
import cooperbench_eval as ce
sys.path.append({str(site)!r})
for _ in sys.stdin:
    try:
        print(ce.get_strategy("mine").name, "mine" in ce.available_strategies(), flush=True)
    except ce.errors.UnknownStrategyError as exc:
        print(type(exc).__name__, "mine" in exc.available, flush=True)
"""
    steps = [
        ([*pip, "install", "-q", "--no-index", "--no-deps", "--target", str(site), str(wheel)]),
        ([sys.executable, "-c", f"import shutil; shutil.rmtree({str(site)!r})"]),
    ]

    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        answers = []
        for step in ([], *steps):
            if step:
                subprocess.run(step, check=True, capture_output=True)
            running.stdin.write("now\n")
            running.stdin.flush()
            answers.append(running.stdout.readline().strip())
        running.stdin.close()

    assert answers == ["UnknownStrategyError False", "mine True", "UnknownStrategyError False"]
