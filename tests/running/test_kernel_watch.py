"""The kernel's count of killed processes, for engines that do not report it."""

import os

import pytest

from cooperbench_eval.running.sandboxes.containers import kernel_watch
from cooperbench_eval.running.sandboxes.containers.kernel_watch import MemoryWatch

CONTAINER = "0123abcd"


@pytest.fixture
def watch(tmp_path, monkeypatch):
    """Return a function that watches a process whose groups are given."""

    def start(groups, files):
        for path, text in files.items():
            file = tmp_path / "groups" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        monkeypatch.setattr(kernel_watch, "_CGROUPS", tmp_path / "groups")
        own = f"/proc/{os.getpid()}/cgroup"
        monkeypatch.setattr(
            "pathlib.Path.read_text", lambda path, **_: groups if str(path) == own else None
        )
        return MemoryWatch(os.getpid(), CONTAINER)

    return start


@pytest.mark.parametrize(
    ("groups", "file"),
    [
        (
            f"9:memory:/x/{CONTAINER}\n0::/x/{CONTAINER}\n",
            f"memory/x/{CONTAINER}/memory.oom_control",
        ),
        (f"3:cpu,memory:/x/{CONTAINER}\n", f"memory/x/{CONTAINER}/memory.oom_control"),
        (f"0::/x/{CONTAINER}\n", f"x/{CONTAINER}/memory.events"),
    ],
)
def test_both_kinds_of_groups_are_read(watch, tmp_path, groups, file):
    """The last count stays when the group has disappeared."""
    watched = watch(groups, {file: "low 1\noom 5\noom_kill 0\n"})
    assert watched.kills() == 0

    with (tmp_path / "groups" / file).open("r+") as changed:
        changed.write("low 1\noom 5\noom_kill 2\n")
    assert watched.kills() == 2

    watched._file.close()
    watched._file = open("/proc/self/mem", "rb", buffering=0)  # noqa: PTH123, SIM115 - fails to be read
    assert watched.kills() == 2
    watched.close()


@pytest.mark.parametrize("groups", ["9:memory:/another\n0::/another\n", f"0::/x/{CONTAINER}\n", ""])
def test_a_process_of_another_machine_has_no_count(watch, groups):
    """Its number may belong to another process here, or its group may have no count."""
    watched = watch(groups, {"another/memory.events": "oom_kill 7\n"})

    assert watched.kills() == 0
    watched.close()


def test_a_process_that_has_ended_has_no_count():
    """That is not an error."""
    watched = MemoryWatch(0, CONTAINER)

    assert watched.kills() == 0
    watched.close()
