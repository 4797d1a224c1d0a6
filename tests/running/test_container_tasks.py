"""A task image like the benchmark's is used unchanged: script, repository and Python."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from container_images import (  # noqa: F401 - fixtures
    REPOSITORY,
    add_busybox,
    engine,
    import_image,
    task_image,
)

import cooperbench_eval as ce
from cooperbench_eval.errors import RepositoryError, TestRunError
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.results import TestStatus
from cooperbench_eval.running.sandboxes.containers import images
from cooperbench_eval.running.sandboxes.containers.images import repository_from_image
from cooperbench_eval.running.sandboxes.containers.sandbox import ContainerSandbox

pytestmark = pytest.mark.long

FEATURE = b"""\
--- a/double.py
+++ b/double.py
@@ -1,2 +1,4 @@
 def double(x):
     return 2 * x
+def triple(x):
+    return 3 * x
"""
TESTS = b"""\
--- /dev/null
+++ b/tests/test_triple.py
@@ -0,0 +1,3 @@
+from double import triple
+
+def test_triple(): assert triple(2) == 6
"""
USELESS = b"""\
--- /dev/null
+++ b/README
@@ -0,0 +1 @@
+Here would be a feature.
"""
COMMAND = ("bash", "/usr/local/bin/runner.sh", "tests.patch", "feature.patch")


@pytest.fixture
def sandbox(task_image):  # noqa: F811
    """Return the sandbox of the toy task."""
    return ContainerSandbox.for_task("toy_repo_task", 7, registry="localhost", prefix="bench")


@pytest.fixture
def base(task_image, tmp_path):  # noqa: F811
    """Return the base commit from the image."""
    return Snapshot.from_repo(repository_from_image(task_image, tmp_path / "kept"), "HEAD")


@pytest.fixture
def run(sandbox, base):
    """Return a function that runs the task's script on a feature's patch."""

    def run(feature):
        suite = TestSuite(command=COMMAND, patch=TESTS, delivery="patches", timeout_seconds=60)
        changes = apply_patch(base, Patch.parse(feature)).changes
        return TestRunner(sandbox=sandbox, cache=None).run(base, changes, suite)

    return run


def test_an_images_name_is_formed_as_in_the_benchmark():
    """Only a final `_task` is removed; other underscores become dashes."""
    assert images.task_image("pallets_click_task", 2068) == (
        "akhatua/cooperbench-pallets-click:task2068"
    )
    assert images.task_image("celery_task_queue_task", 0, registry="here:5000/us", prefix="cb") == (
        "here:5000/us/cb-celery-task-queue:task0"
    )
    assert images.task_image("dspy", "8394", registry="") == "cooperbench-dspy:task8394"


def test_a_tasks_sandbox_has_the_paths_that_its_image_expects():
    """Patches are in `/patches`, the command starts in the repository."""
    sandbox = ContainerSandbox.for_task("dspy_task", 8394, network=True, workdir="/elsewhere")

    assert sandbox == ContainerSandbox(
        image="akhatua/cooperbench-dspy:task8394",
        tree_at="/patches",
        workdir="/elsewhere",
        own_home=False,
        network=True,
    )


def test_the_base_is_copied_out_of_the_image(base):
    """The commit has the files of the image's working tree."""
    found = {path: base.read(path).decode() for path in base.paths()}

    assert found == REPOSITORY


def test_a_feature_passes_with_the_images_own_script(run):
    """The script gets the patches, and the counts of pytest's result file come back."""
    result = run(FEATURE)

    assert result.status is TestStatus.PASSED, result.output
    assert {case.id for case in result.cases} == {
        "tests/test_double.py::test_double",
        "tests/test_triple.py::test_triple",
    }
    assert result.sandbox == "container"
    assert "sha256:" in result.sandbox_identity


def test_a_missing_feature_fails_with_the_images_own_script(run):
    """Without the feature, the added test is an error, and the run fails."""
    result = run(USELESS)

    assert result.status is TestStatus.FAILED, result.output


def test_a_run_cannot_affect_the_next(run):
    """Defect 23: a feature that rewrites the script and git changes no other run."""
    spoiler = (
        FEATURE.replace(b"@@ -1,2 +1,4 @@", b"@@ -1,2 +1,8 @@")
        + b"""\
+import pathlib
+for path in ("/usr/local/bin/runner.sh", "/usr/bin/git"):
+    pathlib.Path(path).write_text("#!/bin/sh\\necho 999 passed\\n")
+print(pathlib.Path("/usr/bin/git").read_text())
"""
    )

    spoilt = run(spoiler)
    missing = run(USELESS)
    present = run(FEATURE)

    assert spoilt.status is TestStatus.PASSED, spoilt.output
    assert missing.status is TestStatus.FAILED
    assert present.status is TestStatus.PASSED


def test_a_pair_is_evaluated_with_only_the_image(sandbox, base, tmp_path, monkeypatch):
    """Without a clone or command: base, script and packages are the image's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    task = tmp_path / "dataset/toy_repo_task/task7"
    for number, patch in ((1, FEATURE), (2, USELESS)):
        folder = task / f"feature{number}"
        folder.mkdir(parents=True)
        (folder / "feature.patch").write_bytes(patch)
        (folder / "tests.patch").write_bytes(TESTS)
    (task / "Dockerfile").write_text(f"RUN git checkout {base.commit_id}\n")
    (task / "runner.sh").write_text("python -m pytest -v tests\n")

    report = ce.evaluate(
        *("coop", "toy_repo_task", 7, 1, 2, "m", "gold"),
        dataset_dir=tmp_path / "dataset",
        strategies=["naive"],
        runner=TestRunner(sandbox=sandbox),
        in_image=True,
        timeout_seconds=60,
    )

    assert (report.feature1.tests_passed, report.feature2.tests_passed) == (True, False)
    assert report.attempt("naive").verdict is ce.Verdict.CORRECT
    assert report.feature1.passes_on_base is False
    assert report.blame("naive").features == (2,)
    assert list((tmp_path / "cache/cooperbench_eval/bases").iterdir())


# --- the repository inside ----------------------------------------------------


def test_the_repository_is_copied_once(task_image, tmp_path, monkeypatch):  # noqa: F811
    """Later and concurrent calls find it, and create no container."""
    with ThreadPoolExecutor(3) as pool:
        first = list(
            pool.map(lambda _: repository_from_image(task_image, tmp_path / "kept"), range(3))
        )
    monkeypatch.setattr(images, "container", None)

    again = repository_from_image(task_image, tmp_path / "kept")

    assert {*first, again} == set((tmp_path / "kept").iterdir())


def test_only_history_is_copied(import_image, tmp_path):  # noqa: F811
    """Hooks, configuration, links, borrowed objects and the working tree are not."""
    root = tmp_path / "root"
    repository = root / "code"
    repository.mkdir(parents=True)
    add_busybox(root)
    git(repository, "init", "-q")
    (repository / "a").write_text("a")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "a")
    inside = repository / ".git"
    (inside / "hooks/post-checkout").write_text("#!/bin/sh\ntouch /tmp/harm\n")
    (inside / "config").write_text("[include]\n\tpath = /etc/passwd\n[core]\n\tworktree = /\n")
    (inside / "objects/info/alternates").write_text("/elsewhere/objects\n")
    (inside / "commondir").write_text("/\n")
    (inside / "refs/heads/link").symlink_to("/etc/passwd")

    kept = repository_from_image(import_image(root), tmp_path / "kept", path="/code/")

    files = {path.relative_to(kept) for path in kept.rglob("*") if not path.is_dir()}
    others = {f for f in files if f.parts[0] not in {"objects", "refs"}}
    assert {str(each) for each in others} == {"HEAD", "config"}
    assert not any("info" in f.parts or (kept / f).is_symlink() for f in files)
    assert "include" not in (kept / "config").read_text()
    assert Snapshot.from_repo(kept, "HEAD").read("a") == b"a"


def test_a_path_without_a_repository_is_an_error(import_image, tmp_path):  # noqa: F811
    """The folder may be missing, a file, a link or without a history."""
    root = tmp_path / "root"
    for name in ("file", "link", "folder/.git", "none"):
        (root / name).mkdir(parents=True)
    (root / "file/.git").write_text("gitdir: /elsewhere\n")
    (root / "link/.git").symlink_to("/folder/.git")
    (root / "folder/.git/config").write_text("")
    image = import_image(root)

    for name in ("file", "link", "folder", "none", "no-such"):
        with pytest.raises(RepositoryError, match="no git repository"):
            repository_from_image(image, tmp_path / "kept", path=f"/{name}")

    assert list((tmp_path / "kept").iterdir()) == []


def test_a_repository_too_large_is_an_error(task_image, tmp_path, monkeypatch):  # noqa: F811
    """No part of it is kept."""
    monkeypatch.setattr(images, "_MOST_FILES", 3)

    with pytest.raises(RepositoryError, match="larger than"):
        repository_from_image(task_image, tmp_path / "kept")

    assert list((tmp_path / "kept").iterdir()) == []


def test_a_place_that_cannot_be_written_is_an_error(task_image, tmp_path):  # noqa: F811
    """There is a file where the repositories should be."""
    (tmp_path / "kept").write_text("")

    with pytest.raises(RepositoryError, match="cannot be written"):
        repository_from_image(task_image, tmp_path / "kept")


def test_a_missing_image_is_not_a_repository_error(engine, tmp_path):  # noqa: F811
    """The error is the same as for running tests in the image."""
    with pytest.raises(TestRunError, match="no image"):
        repository_from_image("localhost/no-such:1", tmp_path / "kept", pull=False)


def git(folder, *command):
    """Run git without the settings of any user."""
    who = ("-c", "user.name=toy", "-c", "user.email=toy@localhost")
    subprocess.run(["git", *who, *command], cwd=folder, check=True)
