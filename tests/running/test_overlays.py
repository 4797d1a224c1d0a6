"""Prepared directories that a command may change: nothing that it writes stays."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from cooperbench_eval.errors import ArgumentError, SandboxError, TestRunError
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.results import TestStatus
from cooperbench_eval.running.sandboxes import overlays, registry
from cooperbench_eval.running.sandboxes.overlays import as_caches

WAYS = ["overlay", "copy"]


@pytest.fixture(autouse=True)
def no_refusals(monkeypatch):
    """Forget which overlays other tests could not make."""
    monkeypatch.setattr(overlays, "_REFUSED", set())


@pytest.fixture
def prepared(tmp_path):
    """Return a prepared directory."""
    folder = tmp_path / "prepared, with: odd name"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "entry").write_text("good")
    (folder / "link").symlink_to("sub/entry")
    return folder


def contents(folder):
    """Return every file, with its time and rights."""
    found = sorted(folder.rglob("*"))
    return [(p, p.lstat().st_mtime_ns, p.lstat().st_mode, p.lstat().st_ino) for p in found]


@pytest.fixture
def run(bubblewrap, tmp_path, own_temporary_directory):
    """Return a function that runs a shell script, which leaves nothing behind."""
    tree, scratch = tmp_path / "tree", tmp_path / "scratch"
    for folder in (tree, scratch):
        folder.mkdir()

    def run(script, caches, *arguments, **options):
        sandbox = bubblewrap(writable_cache=caches, **options)
        execution = sandbox.run(
            ("sh", "-c", script, "sh", *map(str, arguments)),
            tree=tree,
            scratch=scratch,
            env={},
            timeout_seconds=30,
        )
        assert list(own_temporary_directory.iterdir()) == []
        return execution

    run.tree = tree
    return run


@pytest.fixture(params=WAYS)
def way(request, prepared):
    """Return how the private version is made."""
    if request.param == "copy":
        overlays._REFUSED.add(str(prepared))
    return request.param


SPOIL = """
cd "$1" && cat sub/entry && echo evil >sub/entry && echo evil >new && rm link && mkdir folder &&
mv sub moved && cat moved/entry && touch -d 1970-01-01 . && chmod 0 new && ls
"""


def test_what_a_command_writes_does_not_survive(run, prepared, way):
    """A poisoned cache is gone in the next run, and the directory is what it was."""
    before = contents(prepared)

    outputs = [run(SPOIL, [prepared], prepared).output for _ in range(2)]

    assert outputs == [b"goodevil\nfolder\nmoved\nnew\n"] * 2
    assert contents(prepared) == before
    assert bool(overlays._REFUSED) is (way == "copy")


def test_a_command_that_is_killed_leaves_nothing(bubblewrap, run, prepared, way):
    """This holds at the deadline too, and for a command that ends abruptly."""
    before = contents(prepared)

    run('echo evil >"$1/new"; kill -9 $$', [prepared], prepared)

    assert contents(prepared) == before


def test_the_directory_itself_cannot_be_reached_another_way(run, prepared):
    """All its other names are read-only, even if the machine's temporary folder is readable."""
    script = """
    echo evil >"$2/new"
    cd "$(dirname "$1")" && for place in $(find temporary -name lower -o -name upper); do
      echo "$place" && echo evil >"$place/new"
    done
    """
    before = contents(prepared)
    alias = prepared.parent / "alias"
    alias.symlink_to(prepared)

    execution = run(script, [prepared], prepared, alias, readable=[prepared.parent])

    assert contents(prepared) == before
    assert execution.output.count(b"/lower\n") == 1
    assert execution.output.count(b"Read-only file system") == 2


def test_a_directory_can_be_shown_in_the_tree(run, prepared, way):
    """An example is `node_modules`, which is not in the repository."""
    before = contents(prepared)
    script = "cd web/node_modules && cat sub/entry && mkdir .cache && echo x >.cache/y && ls -A"

    outputs = [run(script, {"web/node_modules": prepared}).output for _ in range(2)]

    assert outputs == [b"good.cache\nlink\nsub\n"] * 2
    assert contents(prepared) == before
    assert list((run.tree / "web" / "node_modules").iterdir()) == []


def test_a_directory_can_be_shown_at_another_path(run, prepared):
    """The path need not exist on the machine."""
    execution = run('cat "$1/sub/entry" && echo x >"$1/new"', {"/cache/go": prepared}, "/cache/go")

    assert (execution.exit_code, execution.output) == (0, b"good")


@pytest.mark.parametrize("kind", ["link", "folder's link", "file"])
def test_the_tree_cannot_move_the_place(run, prepared, tmp_path, kind):
    """A hostile patch may put a link there, which must not make bubblewrap write elsewhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if kind == "file":
        (run.tree / "web").write_text("")
    elif kind == "link":
        (run.tree / "web").mkdir()
        (run.tree / "web" / "node_modules").symlink_to(elsewhere)
    else:
        (run.tree / "web").symlink_to(elsewhere)

    with pytest.raises(TestRunError, match="web/node_modules: the tree has a file or a link"):
        run("true", {"web/node_modules": prepared})

    assert list(elsewhere.iterdir()) == []


IN_THE_WAY = {
    "file": {"web/cache": Entry(b"x")},
    "link": {"web/cache": Entry(b"/root", mode=FileMode.SYMLINK)},
    "above": {"web": Entry(b"x")},
    "a folder before": {"web": Entry(b"x"), "web/own": None},
}


def judge_with_cache(sandbox, base, changes, *, patch=b""):
    """Run a command that only needs the prepared cache."""
    suite = TestSuite(command=("test", "-e", "web/cache/sub"), framework="exit", patch=patch)
    return TestRunner(sandbox=sandbox, retries=0).run(base, changes, suite)


@pytest.mark.parametrize("kind", IN_THE_WAY)
def test_a_tested_patch_that_takes_the_place_is_to_blame(bubblewrap, prepared, kind):
    """It gets a result, so it cannot remove its pair from the statistics."""
    sandbox = bubblewrap(writable_cache={"web/cache": prepared})
    base = Snapshot.from_files({"web/own": b""} if kind == "a folder before" else {"own": b""})

    result = judge_with_cache(sandbox, base, Changes(IN_THE_WAY[kind]))

    assert result.status is TestStatus.SETUP_FAILED
    assert "`writable_cache` web/cache: the tree has a file or a link there" in result.reason
    assert judge_with_cache(sandbox, base, Changes({"other": Entry(b"")})).passed


@pytest.mark.parametrize("whose", ["base", "changed base", "tests", "tests and patch"])
def test_a_place_that_is_taken_without_the_tested_patch_is_an_error(bubblewrap, prepared, whose):
    """The caller chose the place, and no patch could pass."""
    taken = {"web": Entry(b"x\n")}
    has_base = "base" in whose
    base = Snapshot.from_files({"web": b"old\n"} if has_base else {"own": b""})
    changes = Changes(taken if whose in {"changed base", "tests and patch"} else {})
    on = base.overlay(changes)
    patch = b"" if has_base else Changes({"web": Entry(b"y\n")}).diff(on)

    with pytest.raises(TestRunError, match="web/cache: the tree has a file") as caught:
        judge_with_cache(
            bubblewrap(writable_cache={"web/cache": prepared}), base, changes, patch=patch
        )

    assert caught.value.path == "web"


def test_a_missing_directory_is_named(run, tmp_path):
    """A retry would not help, so it is not the sandbox's failure."""
    with pytest.raises(TestRunError, match=r"`writable_cache` .*/none is not a dir") as caught:
        run("true", [tmp_path / "none"])

    assert not isinstance(caught.value, SandboxError)


def test_a_system_without_overlays_copies(run, prepared, monkeypatch):
    """The first run notices it; a copy may have at most 4 GiB."""
    real = overlays._SCRIPT.read_text().replace('b"overlay", merged', 'b"no-such", merged')
    script = prepared.parent / "overlay_mounts.py"
    script.write_text(real.replace('b"overlay", ctypes', 'b"no-such", ctypes'))
    monkeypatch.setattr(overlays, "_SCRIPT", script)
    before = contents(prepared)

    outputs = [run(SPOIL, [prepared], prepared).output for _ in range(2)]

    assert outputs == [b"goodevil\nfolder\nmoved\nnew\n"] * 2
    assert contents(prepared) == before
    assert str(prepared) in overlays._REFUSED
    monkeypatch.setattr(overlays, "_COPY_LIMIT_BYTES", 3)
    with pytest.raises(SandboxError, match="does not allow an overlay"):
        run("true", [prepared])


UNPRIVILEGED = """
import sys
from pathlib import Path
from cooperbench_eval import BubblewrapSandbox
from cooperbench_eval.running.sandboxes import overlays

prepared, tree, scratch = map(Path, sys.argv[1:])
sandbox = BubblewrapSandbox(writable_cache=[prepared])
command = ("sh", "-c", 'cd "$0"; cat sub/entry; echo evil >sub/entry', str(prepared))
for _ in range(2):
    execution = sandbox.run(command, tree=tree, scratch=scratch, env={}, timeout_seconds=30)
    print(execution.output, overlays._REFUSED)
"""


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root")
def test_without_the_right_to_mount_a_user_namespace_has_it(bubblewrap, prepared, tmp_path):
    """An ordinary user, or root in a container, can make overlays too."""
    places = [prepared, tmp_path / "tree", tmp_path / "scratch"]
    for folder in places[1:]:
        folder.mkdir()
    rights = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")

    done = subprocess.run(
        (*rights, sys.executable, "-c", UNPRIVILEGED, *map(str, places)),
        check=True,
        capture_output=True,
        text=True,
    )

    assert done.stdout.splitlines() == ["b'good' set()"] * 2
    assert (prepared / "sub" / "entry").read_text() == "good"


def test_parallel_runs_do_not_see_each_other(bubblewrap, prepared):
    """The overlays of one directory are independent."""
    script = f'cd "{prepared}"; ls; echo evil >new'
    suite = TestSuite(command=("sh", "-c", script), framework="exit")
    runner = TestRunner(sandbox=bubblewrap(writable_cache=[prepared]), repeats=3)

    result = runner.run(Snapshot.from_files({"a": b""}), Changes(), suite)

    assert result.output == "link\nsub\n"
    assert len(result.repeats) == 3


def test_the_command_starts_as_without_a_cache(run, prepared, monkeypatch):
    """It has default signals, no further descriptors, variables or capabilities."""
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    script = """
    grep -E '^(Sig(Ign|Blk)|Cap|NoNewPrivs)' /proc/self/status; env | grep -v = | sort
    for fd in $(seq 0 99); do [ -e /proc/$$/fd/$fd ] && echo "fd $fd"; done
    env | cut -d= -f1 | sort; echo $$; id
    """

    assert run(script, [prepared]).output == run(script, []).output


def test_limits_still_hold(run, prepared):
    """The program that mounts the overlays does not count as a process of the command."""
    assert run("sleep 0.2; true", [prepared], processes=2).exit_code == 0
    assert "more processes" in run("sleep 5 & sleep 5 & wait", [prepared], processes=2).reason


# --- the option -------------------------------------------------------------------------


def test_the_option_is_a_list_or_a_mapping(monkeypatch, tmp_path):
    """Relative directories are the caller's; relative places are below the tree."""
    monkeypatch.chdir(tmp_path)

    assert as_caches(["a", Path("/b")]) == ((f"{tmp_path}/a", f"{tmp_path}/a"), ("/b", "/b"))
    assert as_caches({"./x//y": "a", "/z/": "/b"}) == (("x/y", f"{tmp_path}/a"), ("/z", "/b"))
    assert as_caches(as_caches({"x": "a"})) == as_caches({"x": "a"})
    with pytest.raises(ArgumentError, match="writable_cache must be a list"):
        as_caches("/cache")
    for place in ("..", "a/../../b", "", "."):
        with pytest.raises(ArgumentError, match=r"writable_cache has .* not below the tree"):
            as_caches({place: "/b"})


def test_it_is_in_the_identity(bubblewrap, prepared):
    """With the last change of the directory."""
    sandboxes = [bubblewrap(), bubblewrap(writable_cache=[prepared])]
    sandboxes += [bubblewrap(writable_cache={"a": prepared})]
    identities = [each.identity for each in sandboxes]
    os.utime(prepared, ns=(1, 1))
    identities.append(sandboxes[1].identity)

    assert len(set(identities)) == 4
    assert attrs.evolve(sandboxes[2], processes=9).writable_cache == (("a", str(prepared)),)


def test_the_default_sandbox_takes_it_with_its_limits(bubblewrap, prepared, monkeypatch):
    """Without bubblewrap, the local sandbox would let commands change the directory itself."""
    sandbox = registry.default_sandbox(writable_cache=[prepared])

    assert sandbox.writable_cache == ((str(prepared), str(prepared)),)
    assert sandbox.processes
    monkeypatch.setattr(registry, "bubblewrap_problem", lambda: "no namespaces")
    assert registry.default_sandbox().name == "local"
    with pytest.raises(SandboxError, match=r"writable_cache needs bubblewrap.*no namespaces"):
        registry.default_sandbox(writable_cache=[prepared])
