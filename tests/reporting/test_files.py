"""The files of a report, under the base document's names."""

import datetime as dt
import os
import stat
import subprocess
import sys

import attrs
import pytest

import cooperbench_eval as ce

DIFF = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+\xe9\n"
CASES = ("passed", "passed", "failed", "error", "skipped", "xfailed")
RUN = ce.TestResult(
    status="failed",
    cases=[ce.models.TestCase(id=f"t{n}", status=status) for n, status in enumerate(CASES)],
    exit_code=1,
    duration_seconds=1.5,
    output="F..\nno \udcff\n",
    reason="because",
)


def make_report(**facts):
    """Return the report of a pair with a naive and a union row."""
    patch = ce.reporting.PatchReport(status="applied")
    row = {"implementation": "m:C", "status": "clean"}
    report = ce.MergeReport(
        repo_name="pallets_click_task",
        task_id=0,
        timestamp=dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
        feature1=ce.reporting.FeatureReport(number=3, patch=patch, tests=RUN),
        feature2=ce.reporting.FeatureReport(number=12, patch=patch),
        conflict_details=ce.ConflictScorer().score([]),
        diff=DIFF,
        attempts=[
            ce.Attempt(strategy="naive", diff=DIFF, **row),
            ce.Attempt(strategy="union", diff=b"union's\n", **row),
        ],
        model="gpt-5",
    )
    return attrs.evolve(report, **facts)


def names(folder):
    """List what is in a folder, hidden files included."""
    return sorted(path.name for path in folder.iterdir())


def test_the_files_have_the_base_documents_names(tmp_path):
    """Report, naive diff and a log for each feature, and a diff for each other strategy."""
    written = ce.write_report(make_report(k=2), tmp_path)

    expected = [
        "merge_diff_f3_into_f12_k2.diff",
        "merge_diff_f3_into_f12_k2_union.diff",
        "merge_report_f3_into_f12_k2.json",
        "test_result_gpt-5_pallets_click_task_task0_f12_k2.txt",
        "test_result_gpt-5_pallets_click_task_task0_f3_k2.txt",
    ]
    assert names(tmp_path) == expected
    assert list(written) == [tmp_path / name for name in expected]


def test_the_report_file_holds_the_report(tmp_path):
    """Reading it gives an equal report."""
    report = make_report()

    ce.write_report(report, tmp_path)

    text = (tmp_path / "merge_report_f3_into_f12_k1.json").read_bytes()
    assert text.decode() == report.to_json()
    assert ce.MergeReport.from_json(text) == report


def test_the_diffs_are_written_byte_for_byte(tmp_path):
    """The naive one is the report's, also where naive was not asked for."""
    report = make_report()
    union_alone = attrs.evolve(report, attempts=report.attempts[1:])

    for each in (report, union_alone):
        ce.write_report(each, tmp_path)

        assert (tmp_path / "merge_diff_f3_into_f12_k1.diff").read_bytes() == DIFF
        assert (tmp_path / "merge_diff_f3_into_f12_k1_union.diff").read_bytes() == b"union's\n"


def test_each_strategys_diff_has_a_file_of_its_own(tmp_path):
    """A `naive` that is not git's stands beside it; names that become one are numbered."""
    row = {"implementation": "m:C", "status": "clean"}
    names_ = ["naive", "my/own", "my own", "my_own"]
    rows = [ce.Attempt(strategy=name, diff=name.encode(), **row) for name in names_]

    ce.write_report(make_report(attempts=rows), tmp_path)

    diffs = {
        p.name.removeprefix("merge_diff_f3_into_f12_"): p.read_bytes()
        for p in tmp_path.iterdir()
        if p.suffix == ".diff"
    }
    assert diffs == {
        "k1.diff": DIFF,
        "k1_naive.diff": b"naive",
        "k1_my_own.diff": b"my/own",
        "k1_my_own_2.diff": b"my own",
        "k1_my_own_3.diff": b"my_own",
    }


def test_a_pair_without_a_merge_has_no_diff(tmp_path):
    """Report and logs are written all the same, and a strategy that failed has no diff either."""
    failed = ce.Attempt(strategy="llm", implementation="m:C", status="failed", failure="no key")

    ce.write_report(make_report(conflict_details=None, diff=None, attempts=[]), tmp_path / "none")
    ce.write_report(make_report(attempts=[failed]), tmp_path / "failed")

    assert len(names(tmp_path / "none")) == 3
    assert not [name for name in names(tmp_path / "none") if name.endswith(".diff")]
    assert [name for name in names(tmp_path / "failed") if name.endswith(".diff")] == [
        "merge_diff_f3_into_f12_k1.diff"
    ]


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (None, "unnamed"),
        ("", "unnamed"),
        ("vendor/model-1.5", "vendor_model-1.5"),
        ("../../etc", ".._.._etc"),
        ("a b\nc", "a_b_c"),
        ("modèle", "mod_le"),
    ],
)
def test_a_models_name_stays_inside_of_a_file_name(tmp_path, model, word):
    """No file appears outside of the directory."""
    folder = tmp_path / "out"

    ce.write_report(make_report(model=model), folder)

    assert f"test_result_{word}_pallets_click_task_task0_f3_k1.txt" in names(folder)
    assert names(tmp_path) == ["out"]


def test_a_strategys_name_stays_inside_of_a_file_name(tmp_path):
    """As a model's does."""
    row = ce.Attempt(strategy="my/own", implementation="m:C", status="clean", diff=b"d")

    ce.write_report(make_report(attempts=[row]), tmp_path)

    assert "merge_diff_f3_into_f12_k1_my_own.diff" in names(tmp_path)


def test_the_log_of_a_run_has_its_facts_and_its_output(tmp_path):
    """In the words of the report; bytes that no file can hold are shown as escapes."""
    ce.write_report(make_report(), tmp_path)

    log = (tmp_path / "test_result_gpt-5_pallets_click_task_task0_f3_k1.txt").read_bytes()
    assert log.decode().splitlines() == [
        "feature 3",
        "patch: applied",
        "tests: failed (because)",
        "cases: 2 passed, 1 failed, 1 errors, 1 skipped, 1 expected failures",
        "pass rate: 0.5000",
        "exit status: 1",
        "seconds: 1.500",
        "",
        "F..",
        "no \\udcff",
    ]


@pytest.mark.parametrize(
    ("status", "reason", "lines"),
    [
        ("applied", "", ["feature 12", "patch: applied", "tests: not run"]),
        ("failed", "f: no", ["feature 12", "patch: failed", "reason: f: no", "tests: not run"]),
    ],
)
def test_the_log_without_a_run_says_so(tmp_path, status, reason, lines):
    """And why, where the patch is the reason."""
    patch = ce.reporting.PatchReport(status=status, reason=reason)

    ce.write_report(
        make_report(feature2=ce.reporting.FeatureReport(number=12, patch=patch)), tmp_path
    )

    log = tmp_path / "test_result_gpt-5_pallets_click_task_task0_f12_k1.txt"
    assert log.read_text().splitlines() == lines


def test_a_missing_directory_is_made(tmp_path):
    """Directories above it too; a path may be a `str`."""
    folder = tmp_path / "a" / "b"

    written = ce.write_report(make_report(), str(folder))

    assert [path.name for path in written] == names(folder)
    assert len(written) == 5


@pytest.mark.parametrize("mask", [0o002, 0o022, 0o027, 0o077])
def test_files_have_the_mode_of_new_files(tmp_path, mask):
    """The user's umask applies to them."""
    before = os.umask(mask)
    try:
        written = ce.write_report(make_report(), tmp_path)
    finally:
        os.umask(before)

    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o666 & ~mask}


def test_writing_again_replaces_the_files(tmp_path):
    """Neither doubled nor mixed, and nothing else in the directory is touched."""
    (tmp_path / "mine.txt").write_text("mine")
    ce.write_report(make_report(), tmp_path)
    before = names(tmp_path)

    ce.write_report(make_report(diff=b"new\n", attempts=()), tmp_path)

    assert names(tmp_path) == before
    assert (tmp_path / "merge_diff_f3_into_f12_k1.diff").read_bytes() == b"new\n"
    assert (tmp_path / "mine.txt").read_text() == "mine"


# --- what goes wrong ------------------------------------------------------------------


@pytest.mark.parametrize("below", ["", "out", "out/deeper"])
def test_a_file_in_the_directorys_place_is_an_error(tmp_path, below):
    """Nothing is written, and the file stays as it is."""
    file = tmp_path / "file"
    file.write_text("mine")

    with pytest.raises(ce.errors.ReportError) as caught:
        ce.write_report(make_report(), file / below)

    assert caught.value.location == str(file / below)
    assert isinstance(caught.value.__cause__, OSError)
    assert file.read_text() == "mine"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("place", range(5))
def test_one_file_that_cannot_be_written_keeps_the_others_away(tmp_path, place):
    """Whichever of the five it is; older files stay whole, and no part is left over."""
    ce.write_report(make_report(diff=b"old\n"), tmp_path)
    blocked = tmp_path / names(tmp_path)[place]
    blocked.unlink()
    blocked.mkdir()
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}

    with pytest.raises(ce.errors.ReportError):
        ce.write_report(make_report(diff=b"new\n"), tmp_path)

    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert list(blocked.iterdir()) == []


def test_a_full_disk_leaves_no_file(tmp_path):
    """The partly written file is removed as well."""
    script = """
import resource, sys
import cooperbench_eval as ce
report = ce.MergeReport.from_json(sys.stdin.read())
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    ce.write_report(report, sys.argv[1])
except ce.errors.ReportError as error:
    print(error.problem)
"""
    report = make_report(diff=b"x" * 10_000)

    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path],
        input=report.to_json(),
        capture_output=True,
        check=True,
        text=True,
    )

    assert "too large" in done.stdout
    assert names(tmp_path) == []


def test_a_name_too_long_for_a_file_is_an_error(tmp_path):
    """No file is left."""
    with pytest.raises(ce.errors.ReportError, match="too long"):
        ce.write_report(make_report(model="m" * 300), tmp_path)

    assert names(tmp_path) == []


# --- teams -----------------------------------------------------------------------


def make_team(numbers=(3, 12, 1), **facts):
    """Return the report of a team of which only the first two features land."""
    patch = ce.reporting.PatchReport(status="applied")
    landed = {"implementation": "m:C", "status": "conflicts", "landed": numbers[:2]}
    left_out = [ce.reporting.LeftOut(number=number, reason="conflict") for number in numbers[2:]]
    report = ce.TeamReport(
        repo_name="pallets_click_task",
        task_id=0,
        timestamp=dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
        features=[ce.reporting.FeatureReport(number=n, patch=patch, tests=RUN) for n in numbers],
        attempts=[
            ce.reporting.TeamAttempt(strategy="naive", diff=DIFF, left_out=left_out, **landed),
            ce.reporting.TeamAttempt(strategy="a/b", diff=b"one\n", left_out=left_out, **landed),
            ce.reporting.TeamAttempt(strategy="a b", diff=b"two\n", left_out=left_out, **landed),
            ce.reporting.TeamAttempt(strategy="none", left_out=left_out, **landed),
        ],
        model="gpt-5",
    )
    return attrs.evolve(report, **facts)


def test_the_files_of_a_team_name_its_features_in_their_order(tmp_path):
    """Report, a diff of what landed for each strategy, and a log for each feature."""
    report = make_team(k=2)

    written = ce.write_report(report, tmp_path)

    expected = [
        "team_diff_f3_f12_f1_k2_a_b.diff",
        "team_diff_f3_f12_f1_k2_a_b_2.diff",
        "team_diff_f3_f12_f1_k2_naive.diff",
        "team_report_f3_f12_f1_k2.json",
        "test_result_gpt-5_pallets_click_task_task0_f12_k2.txt",
        "test_result_gpt-5_pallets_click_task_task0_f1_k2.txt",
        "test_result_gpt-5_pallets_click_task_task0_f3_k2.txt",
    ]
    assert names(tmp_path) == sorted(expected)
    assert list(written) == [tmp_path / name for name in sorted(expected)]
    data = (tmp_path / "team_report_f3_f12_f1_k2.json").read_bytes()
    assert ce.TeamReport.from_json(data) == report
    diffs = [(tmp_path / name).read_bytes() for name in expected[:3]]
    assert diffs == [b"one\n", b"two\n", DIFF]
    assert "1 failed" in (tmp_path / expected[4]).read_text(errors="replace")


def test_teams_in_several_orders_and_pairs_share_a_folder(tmp_path):
    """Only the logs of the same features have one name."""
    reports = [make_team(), make_team((12, 3, 1)), make_team((3, 121)), make_report()]

    for report in reports:
        ce.write_report(report, tmp_path)

    kept = [name for name in names(tmp_path) if name.endswith(".json")]
    assert len(kept) == len(reports)


def test_a_team_of_too_many_features_for_a_file_name_is_an_error(tmp_path):
    """Nothing is written."""
    with pytest.raises(ce.errors.ReportError, match="cannot be written to"):
        ce.write_report(make_team(tuple(range(1000, 1100))), tmp_path / "new")

    assert not names(tmp_path / "new")
