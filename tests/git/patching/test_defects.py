"""Defects that arise if patches pass through text, a working tree or a shell."""

from pathlib import Path

import pygit2
import pytest

import cooperbench_eval as ce
from cooperbench_eval.errors import ArgumentError

FILES = {
    "f": b"1\n2\n3\n4\n5\n6\n7\n8\n9\n",
    "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
    "latin.txt": b"caf\xe9\nth\xe9\n",
}
BASE = ce.Snapshot.from_files(FILES)


def edit(base=BASE, **files):
    """Return the patch that writes contents into files; `__` stands for a slash."""
    entries = {path.replace("__", "/"): ce.Entry(data) for path, data in files.items()}
    return ce.Changes(entries).diff(base)


FIRST = edit(f=b"one\n2\n3\n4\n5\n6\n7\n8\n9\n")
UNTESTED = (None, None)
SECOND = edit(f=b"1\n2\n3\n4\n5\n6\n7\n8\nnine\n")


def evaluate(
    patch1, patch2, scripts=("true", "true"), *, base=BASE, tests=None, test_filter=None, **facts
):
    """Evaluate a pair; a shell script tests each feature, unless none is given."""
    features = [
        ce.Feature(
            number=number,
            patch=patch,
            tests=ce.TestSuite(
                command=("sh", "-c", script or ""),
                framework="exit",
                timeout_seconds=30,
                **(tests or {}),
            ),
        )
        for number, patch, script in zip((1, 2), (patch1, patch2), scripts, strict=True)
    ]
    pair = ce.FeaturePair(
        repo_name="r", task_id=0, base=base, feature1=features[0], feature2=features[1], **facts
    )
    runner = ce.TestRunner(sandbox=ce.LocalSandbox()) if scripts != UNTESTED else None
    return ce.Evaluator(strategies=["naive"], runner=runner, test_filter=test_filter).evaluate(pair)


def statuses(report):
    """Return the statuses of both patches and of the merge."""
    return (
        report.feature1.patch.status.value,
        report.feature2.patch.status.value,
        report.merge_status.value,
    )


GOOD = ("applied", "applied", "clean")


@pytest.fixture
def work_tree(tmp_path):
    """Return a function that commits files to a repository with a work tree."""

    def make(files):
        repository = pygit2.init_repository(tmp_path / "repository")
        for path, data in files.items():
            file = tmp_path / "repository" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            repository.index.add(path)
        repository.index.write()
        ann = pygit2.Signature("Ann", "ann@example.org", 1715000000)
        commit = repository.create_commit(
            "HEAD", ann, ann, "Base", repository.index.write_tree(), []
        )
        return repository, str(commit)

    return make


def state(folder):
    """Return every file below a folder with its contents."""
    return {p: p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}


# --- files that get lost ---


def test_a_binary_file_survives_the_merged_diff(git):
    """The diff of the merge gives git the tree that was tested."""
    logo = bytes(range(256)) * 4

    report = evaluate(edit(**{"logo.bin": logo}), SECOND, ("test -s logo.bin", "test -s logo.bin"))

    assert statuses(report) == GOOD
    assert report.attempt("naive").verdict is ce.Verdict.CORRECT
    entries = {path: BASE.get(path) for path in BASE.paths()}
    assert git.apply(entries, report.diff) == report.attempt("naive").tree_id
    after = ce.apply_patch(BASE, ce.Patch.parse(report.diff))
    assert after.changes["logo.bin"].data == logo


def test_a_file_that_gitignore_matches_is_not_dropped(work_tree):
    """A patch can add files that the repository ignores."""
    repository, commit = work_tree({**FILES, ".gitignore": b"lib/\n*.gen\n"})
    base = ce.Snapshot.from_repo(repository.path, commit)
    patch = edit(base, lib__x=b"1\n", **{"a.gen": b"2\n"})
    there = "test -f lib/x && test -f a.gen"

    report = evaluate(patch, SECOND, (there, "! test -f lib/x || " + there), base=base)

    assert statuses(report) == GOOD
    assert report.feature1.tests_passed
    assert report.attempt("naive").verdict is ce.Verdict.CORRECT
    assert b"+++ b/lib/x" in report.diff


def test_an_ignored_file_of_one_side_does_not_leak_into_the_other(work_tree):
    """Both sides may add it; equal contents agree, and different ones conflict."""
    repository, commit = work_tree({**FILES, ".gitignore": b"build/\n"})
    base = ce.Snapshot.from_repo(repository.path, commit)
    one, two = edit(base, build__x=b"1\n"), edit(base, build__x=b"2\n")
    alone = "test $(cat build/x) = 1", "test $(cat build/x) = 2"

    alike, differing = evaluate(one, one, base=base), evaluate(one, two, alone, base=base)

    assert statuses(alike) == GOOD
    assert statuses(differing) == ("applied", "applied", "conflicts")
    assert [conflict.kind for conflict in differing.conflicts] == ["add/add"]
    assert differing.feature1.tests_passed
    assert differing.feature2.tests_passed


# --- the caller's repository ---


def test_existing_branches_do_not_matter(work_tree):
    """Their names do not matter; nothing in the repository is created or moved."""
    repository, commit = work_tree(FILES)
    for name in ("agent1", "agent2", "merged", "feature1", "feature2"):
        repository.branches.create(name, repository[commit])
    before = state(repository.workdir)

    report = evaluate(FIRST, SECOND, UNTESTED, base=ce.Snapshot.from_repo(repository.path, commit))

    assert statuses(report) == GOOD
    assert report.diff == evaluate(FIRST, SECOND, UNTESTED).diff != b""
    assert state(repository.workdir) == before


def test_hooks_are_not_run(work_tree):
    """A hook that fails cannot make a merge look empty."""
    repository, commit = work_tree(FILES)
    for name in ("pre-commit", "pre-merge-commit", "post-checkout", "applypatch-msg"):
        hook = Path(repository.path, "hooks", name)
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\ntouch ../ran ran\nexit 1\n")
        hook.chmod(0o755)

    report = evaluate(FIRST, SECOND, UNTESTED, base=ce.Snapshot.from_repo(repository.path, commit))

    assert statuses(report) == GOOD
    assert b"+nine" in report.diff
    assert not list(Path(repository.workdir).parent.rglob("ran"))


CONFIGURATION = """\
[core]
	autocrlf = true
	attributesFile = %(folder)s/attributes
[diff]
	noprefix = true
	mnemonicPrefix = true
	external = /bin/false
	context = 0
	renames = copies
[diff "odd"]
	textconv = /bin/false
[merge]
	conflictStyle = diff3
	default = odd
[merge "odd"]
	driver = /bin/false
[apply]
	whitespace = error
"""


@pytest.mark.parametrize("place", ["repository", "global", "system"])
def test_no_git_configuration_changes_a_result(work_tree, tmp_path, monkeypatch, place):
    """Prefixes, filters, drivers and external diffs are the user's, not the benchmark's."""
    repository, commit = work_tree({**FILES, ".gitattributes": b"* text diff=odd merge=odd\n"})
    (tmp_path / "attributes").write_text("* merge=odd diff=odd eol=crlf\n")
    configuration = CONFIGURATION % {"folder": tmp_path}
    if place == "repository":
        with Path(repository.path, "config").open("a") as file:
            file.write(configuration)
    else:
        (tmp_path / "config").write_text(configuration)
        monkeypatch.setenv(f"GIT_CONFIG_{place.upper()}", str(tmp_path / "config"))

    report = evaluate(FIRST, SECOND, UNTESTED, base=ce.Snapshot.from_repo(repository.path, commit))

    assert statuses(report) == GOOD
    assert report.diff == evaluate(FIRST, SECOND, UNTESTED).diff
    assert report.diff.startswith(b"diff --git a/f b/f\n")


# --- patches that do not apply ---


def test_markers_of_a_failed_three_way_are_never_committed(tmp_path):
    """A patch that conflicts with the current base is refused as a whole."""
    stale = ce.Snapshot.from_files({"f": FILES["f"].replace(b"2\n", b"two\n")})
    base = ce.Snapshot.from_files(
        {"f": FILES["f"].replace(b"2\n", b"zwei\n"), "old": stale.read("f")}
    )
    patch = edit(stale, f=stale.read("f").replace(b"two\n", b"TWO\n"))

    report = evaluate(patch, edit(base, g=b"1\n"), base=base)
    files = ce.write_report(report, tmp_path)

    assert statuses(report) == ("failed", "applied", "missing_input")
    assert "conflicts with changes made after" in report.feature1.patch.reason
    assert report.feature2.tests_passed
    assert not any(b"<<<<<<<" in file.read_bytes() for file in files)


@pytest.mark.parametrize("setting", ["solo", "coop", None])
def test_white_space_is_treated_the_same_everywhere(setting):
    """This covers an agent's patch and the benchmark's tests, alone and merged."""
    base = ce.Snapshot.from_files(
        {"f": FILES["f"], "g": b"x =  1\ny = 2\n", "t": b"x =  1\ny = 2\n"}
    )
    change = b"--- a/%b\n+++ b/%b\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = 3\n"

    report = evaluate(
        change % (b"g", b"g"),
        SECOND,
        ("grep 3 g && grep 3 t", "grep 3 t"),
        base=base,
        tests={"patch": change % (b"t", b"t")},
        setting=setting,
    )

    assert statuses(report) == GOOD
    assert [each.rung for each in report.feature1.patch.hunks] == [ce.models.Rung.WHITESPACE]
    assert report.attempt("naive").verdict is ce.Verdict.CORRECT
    assert b" x =  1\n" in report.diff


@pytest.mark.parametrize(
    "name",
    ["PATCH1_APPLIED", "MERGE_STATUS=clean", "SETUP_COMPLETE", "1 passed", "status: applied"],
)
def test_a_status_does_not_depend_on_file_names(name):
    """A patch that fails on an oddly named file is reported as failed."""
    patch = b"--- a/%b\t\n+++ b/%b\t\n@@ -1 +1 @@\n-not there\n+new\n" % (2 * (name.encode(),))

    report = evaluate(patch, SECOND, UNTESTED)

    assert statuses(report) == ("failed", "applied", "missing_input")
    assert report.feature1.patch.reason == f"{name}: there is no such file"


# --- bytes ---


@pytest.mark.parametrize(
    "line", [rb"echo 'it'\''s fine'", rb"echo \n %s $HOME `id` $(id)", b'echo "\\"', b"EOF", b"'"]
)
def test_shell_syntax_in_a_patch_is_kept(line):
    """Nothing is quoted, unquoted or expanded on the way."""
    report = evaluate(edit(**{"run.sh": line + b"\n"}), SECOND, UNTESTED)

    assert statuses(report) == GOOD
    assert b"\n+" + line + b"\n" in report.diff
    result = ce.apply_patch(BASE, ce.Patch.parse(report.diff))
    assert result.changes["run.sh"].data == line + b"\n"


def test_a_patch_of_a_file_with_crlf_applies(tmp_path):
    """The patch is read as bytes, so its lines are those of the file."""
    new = FILES["crlf.txt"].replace(b"two", b"zwei")
    (tmp_path / "x.patch").write_bytes(edit(**{"crlf.txt": new}))

    report = evaluate(ce.Patch.read(tmp_path / "x.patch"), SECOND, UNTESTED)

    assert statuses(report) == GOOD
    assert [each.rung for each in report.feature1.patch.hunks] == [ce.models.Rung.EXACT]
    assert b"-two\r\n+zwei\r\n" in report.diff


def test_a_byte_that_is_not_utf_8_is_kept(tmp_path):
    """It survives from the patch to the written diff; the report stays valid JSON."""
    new = FILES["latin.txt"].replace(b"th\xe9", b"caf\xe9 cr\xe8me")
    (tmp_path / "x.patch").write_bytes(edit(**{"latin.txt": new}))

    report = evaluate(ce.Patch.read(tmp_path / "x.patch"), SECOND, UNTESTED)
    written = {file.suffix: file.read_bytes() for file in ce.write_report(report, tmp_path / "out")}

    assert statuses(report) == GOOD
    assert b"+caf\xe9 cr\xe8me\n" in written[".diff"]
    assert ce.MergeReport.from_json(written[".json"].decode()).diff == report.diff


@pytest.mark.parametrize("text", ["x" * 5000, "there\nit is", "--- a/there", "diff --git a/x b/x"])
def test_text_that_is_not_a_diff_is_a_patch_that_fails(text):
    """An agent may write anything, and a diff may be cut off."""
    with pytest.raises(ce.PatchError, match=r"diff|ends"):
        ce.Patch.parse(text)
    assert statuses(evaluate(text, SECOND, UNTESTED)) == ("failed", "applied", "missing_input")
    assert ce.apply_patch(BASE, text).status == "failed"


@pytest.mark.parametrize("text", ["x" * 315, "there", "./there\n", "/etc/hostname"])
def test_a_single_line_of_text_is_refused_as_a_patch(tmp_path, monkeypatch, text):
    """It is most likely the name of a file, which is never read; the error says what to pass."""
    monkeypatch.chdir(tmp_path)
    Path("there").write_bytes(FIRST)

    for call in (
        lambda: evaluate(text, SECOND, UNTESTED),
        lambda: ce.apply_patch(BASE, text),
        lambda: ce.TestSuite(command=["true"], patch=text),
    ):
        with pytest.raises(ArgumentError, match=r"patch is not a diff: .*pass Path\(...\) or"):
            call()
    assert statuses(evaluate(text.encode(), SECOND, UNTESTED))[0] == "failed"
    with pytest.raises(ce.PatchError, match="holds no diff"):
        ce.Patch.parse(text)


# --- the agents' own tests ---


@pytest.mark.parametrize(
    "path",
    [
        "src/jinja2/tests.py",
        "django/test/client.py",
        "src/spec/loader.py",
        "tools/test_runner",
        "src/test_utils.py",
    ],
)
def test_product_code_with_test_in_its_name_is_merged(path):
    """Its name is judged by its parts."""
    report = evaluate(edit(**{path: b"1\n"}), SECOND, (f"test -f {path}", "true"))

    assert statuses(report) == GOOD
    assert report.feature1.patch.dropped_files == ()
    assert report.attempt("naive").feature1_tests.passed


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "Tests/helper.py",
        "foo_spec.rb",
        "FooTests.swift",
        "tests.rs",
        "src/lib_tests.rs",
        "a dir/test_foo.py",
        "a/caf\xe9_test.go",
    ],
)
@pytest.mark.parametrize("has_header", [True, False])
def test_a_test_file_is_dropped_however_its_name_is_written(path, has_header):
    """Names may be quoted or contain spaces, and the diff may lack git's own line."""
    patch = edit(**{path: b"1\n"})
    plain = patch[patch.index(b"--- /dev/null") :]

    drops = ce.patching.TestFileFilter()
    first = FIRST + (patch if has_header else plain)
    report = evaluate(first, SECOND, UNTESTED, test_filter=drops)

    assert statuses(report) == GOOD
    assert report.feature1.patch.dropped_files == (path,)
    assert report.diff == evaluate(FIRST, SECOND, UNTESTED).diff


def test_moving_a_source_file_among_the_tests_still_removes_it():
    """The move does not count as a test file."""
    move = b"diff --git a/f b/tests/f\nrename from f\nrename to tests/f\n"

    report = evaluate(move, edit(g=b"1\n"), ("! test -e f && test -f tests/f", "true"))

    assert statuses(report) == GOOD
    assert report.attempt("naive").feature1_tests.passed


def test_only_the_report_is_written(tmp_path, monkeypatch):
    """There is no checkout, patch file or log."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    evaluate(FIRST, SECOND)

    assert not list(tmp_path.iterdir())
