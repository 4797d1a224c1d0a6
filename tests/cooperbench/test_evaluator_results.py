"""The results of CooperBench's evaluator, in every shape that its versions have written."""

import json
import pickle

import pytest
from generators import evaluation_documents, json_values, random_bytes
from hypothesis import example, given

import cooperbench_eval as ce
from cooperbench_eval.cooperbench.runlogs import Setting

TIME = "2026-03-04T05:06:07.890123"


def side(**values):
    """Return a feature as 0.0.29 writes it if both patches were merged."""
    plain = {"passed": True, "exit_code": 0, "tests_passed": 5, "tests_failed": 0}
    return plain | {"test_output": "5 passed"} | values


NOT_RUN = side(passed=False, exit_code=None, tests_passed=0, tests_failed=0, test_output="")


def evaluation(**values):
    """Return a merged pair's evaluation as 0.0.29 writes it, with *values* replaced."""
    plain = {
        "repo": "r_task",
        "task_id": 0,
        "features": [3, 7],
        "setting": "coop",
        "apply_status": {"agent1": "applied", "agent2": "applied"},
        "merge": {"status": "clean", "strategy": "naive", "diff": "--- a/f\n"},
        "feature1": side(feature_id=3),
        "feature2": side(feature_id=7, passed=False, exit_code=1, tests_failed=2),
        "both_passed": False,
        "error": None,
        "evaluated_at": TIME,
    }
    return plain | values


def without(document, *keys):
    """Return a document without some of its keys."""
    return {key: value for key, value in document.items() if key not in keys}


def paper(naive=None, union=None, llm=None, status="clean", **values):
    """Return a merge report as the paper's pipeline writes it; verdicts by strategy."""
    sides = [{"number": 3, "tests_passed": None}, {"number": 7, "tests_passed": None}]
    for strategy, verdicts in (("naive", naive), ("union", union), ("llm", llm)):
        for shown, verdict in zip(sides, verdicts or (), strict=False):
            shown[f"{strategy}_merge_test_passed"] = verdict
            shown[f"{strategy}_merge_test_output"] = ""
    plain = {
        "metadata": {"generated_at": TIME, "repo_name": "r_task", "task_id": 0},
        "features": dict(zip(("feature1", "feature2"), sides, strict=True)),
        "merge_analysis": {"status": status, "conflict_score": 0, "severity": "NONE"},
    }
    return plain | values


@pytest.fixture
def read(tmp_path):
    """Return a function that writes a document into `eval.json` and reads it back."""

    def read(document):
        file = tmp_path / "eval.json"
        file.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
        return ce.runlogs.read_eval(str(file))

    return read


# --- shapes ---------------------------------------------------------------------------


def test_a_merged_pair_is_read_by_its_features_numbers(read, tmp_path):
    """It has the counts, the merge's status and strategy, and the time as written."""
    assert read(evaluation()) == ce.runlogs.CooperBenchResult(
        repo_name="r_task",
        task_id=0,
        features=(3, 7),
        setting=Setting.COOP,
        merge_status="clean",
        merge_strategy="naive",
        apply_status={"agent1": "applied", "agent2": "applied"},
        passed={3: True, 7: False},
        passed_tests={3: 5, 7: 5},
        failed_tests={3: 0, 7: 2},
        both_passed=False,
        error="",
        evaluated_at=TIME,
        path=tmp_path / "eval.json",
    )
    assert read(evaluation()).is_answer


def test_sides_of_identical_patches_have_another_shape(read):
    """They lack the feature's number, but their results are valid."""
    sides = {"feature1": without(side(output="x"), "test_output")}
    sides["feature2"] = sides["feature1"]
    merge = {"status": "identical", "strategy": "skip-merge-identical", "diff": ""}

    found = read(evaluation(**sides, merge=merge, both_passed=True))

    assert (found.merge_status, found.merge_strategy) == ("identical", "skip-merge-identical")
    assert found.passed == {3: True, 7: True}
    assert found.passed_tests == {3: 5, 7: 5}
    assert found.both_passed
    assert found.is_answer


def test_a_solo_agents_evaluation_has_no_merge_and_no_counts(read):
    """Missing facts are `None`."""
    sides = {
        "feature1": {"passed": False, "test_output": ""},
        "feature2": {"passed": True, "test_output": ""},
    }
    solo = evaluation(setting="solo", merge=None, **sides)

    found = read(without(solo, "apply_status"))

    assert found.setting is Setting.SOLO
    assert (found.merge_status, found.merge_strategy, found.apply_status) == (None, None, {})
    assert found.passed == {3: False, 7: True}
    assert found.passed_tests == found.failed_tests == {3: None, 7: None}
    assert found.is_answer


@pytest.mark.parametrize(
    ("setting", "merge", "status"),
    [
        ("coop", {"status": "clean", "strategy": None}, "clean"),
        ("coop", {"status": "union", "strategy": None}, "union"),
        ("coop", {"status": "null", "strategy": "null"}, None),
        ("team", None, None),
        ("solo", None, None),
    ],
)
def test_a_cloud_jobs_evaluation_has_no_counts_and_no_strategy(read, setting, merge, status):
    """The string "null" is read as no strategy."""
    sides = {f"feature{place}": {"passed": True, "test_output": ""} for place in (1, 2)}
    job = evaluation(setting=setting, merge=merge, both_passed=True, **sides)

    found = read(without(job, "apply_status"))

    assert (found.setting, found.merge_status, found.merge_strategy) == (setting, status, None)
    assert found.passed == {3: True, 7: True}
    assert found.passed_tests == {3: None, 7: None}
    assert found.is_answer


@pytest.mark.parametrize(
    ("status", "applied"), [("conflicts", "applied"), ("missing_input", "failed")]
)
def test_features_that_were_not_tested_did_not_fail(read, status, applied):
    """It writes "failed" without an exit status; its verdict on the pair stands."""
    applied = {"agent1": applied, "agent2": "applied"}
    merge = {"status": status, "strategy": "naive", "diff": ""}

    found = read(evaluation(merge=merge, apply_status=applied, feature1=NOT_RUN, feature2=NOT_RUN))

    assert found.passed == found.passed_tests == found.failed_tests == {3: None, 7: None}
    assert found.apply_status == applied
    assert found.both_passed is False
    assert found.is_answer


def test_a_conflict_may_pass_with_only_the_leads_patch(read):
    """Its tests were run then, and its strategy says on which patch."""
    merge = {"status": "conflicts", "strategy": "solo-agent1", "diff": ""}

    found = read(evaluation(merge=merge, feature1=side(), feature2=side(), both_passed=True))

    assert (found.merge_status, found.merge_strategy) == ("conflicts", "solo-agent1")
    assert found.passed == {3: True, 7: True}


def test_older_evaluations_lack_exit_status_and_counts(read):
    """Their conflicts were merged by union and tested."""
    sides = {f"feature{place}": {"passed": False, "test_output": ""} for place in (1, 2)}
    merge = {"status": "conflicts", "strategy": "union", "diff": ""}

    found = read(without(evaluation(merge=merge, **sides), "apply_status"))

    assert found.passed == {3: False, 7: False}
    assert found.merge_strategy == "union"


MERGED_ERROR = {
    "apply_status": {"agent1": "unknown", "agent2": "unknown"},
    "merge": {"status": "error", "strategy": None, "diff": ""},
    "feature1": NOT_RUN | {"feature_id": None},
    "feature2": NOT_RUN | {"feature_id": None},
}
OTHER_ERROR = {f"feature{place}": {"passed": False, "test_output": ""} for place in (1, 2)}


@pytest.mark.parametrize(
    "shape",
    [
        MERGED_ERROR,
        OTHER_ERROR | {"merge": {"status": "error", "strategy": None, "diff": ""}},
        OTHER_ERROR | {"setting": "solo", "merge": None},
        OTHER_ERROR | {"merge": {"status": None, "strategy": None}},
    ],
)
@pytest.mark.parametrize(
    ("error", "words"), [("no daemon", "no daemon"), (" ", "an error without a message")]
)
def test_an_evaluation_with_an_error_has_no_verdict(read, shape, error, words):
    """This holds whatever it says about the features, and without a message too."""
    found = read(evaluation(**shape, error=error))

    assert found.error == words
    assert not found.is_answer
    assert found.passed == found.passed_tests == {3: None, 7: None}
    assert found.both_passed is False


def test_a_failed_merge_is_an_error_even_without_a_message(read):
    """The merge's status is enough."""
    found = read(evaluation(**MERGED_ERROR))

    assert found.error
    assert not found.is_answer


# --- more than two agents -------------------------------------------------------------


@pytest.mark.parametrize("numbers", [(3, 7, 9), (3, 7, 9, 0)])
def test_only_the_first_two_of_several_features_were_tested(read, numbers):
    """The others are listed without results, so the file has no verdict on the team."""
    found = read(evaluation(features=numbers, feature2=side(feature_id=7), both_passed=True))

    assert found.features == numbers
    assert found.passed == {3: True, 7: True} | dict.fromkeys(numbers[2:])
    assert found.failed_tests == {3: 0, 7: 0} | dict.fromkeys(numbers[2:])
    assert found.both_passed is True
    assert not found.is_answer


@pytest.mark.parametrize(
    "shape",
    [
        {"setting": "solo", "merge": None, "apply_status": None, **OTHER_ERROR},
        {"merge": {"status": "clean", "strategy": None}, "apply_status": None, **OTHER_ERROR},
        MERGED_ERROR | {"error": "no daemon"},
    ],
    ids=["solo", "cloud", "error"],
)
def test_every_shape_of_a_pair_may_list_more_features(read, shape):
    """The runners write the same keys for any number of agents."""
    found = read(evaluation(features=[3, 7, 9], **shape))

    assert tuple(found.passed) == (3, 7, 9)
    assert found.passed[9] is None
    assert not found.is_answer


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"feature3": side(feature_id=9)}, "it has 'feature3'; no known format"),
        ({"all_passed": True, "groups": []}, "it has 'all_passed', 'groups'; no known format"),
        (
            {"apply_status": dict.fromkeys(["agent1", "agent2", "agent3"], "applied")},
            "it has 'agent3'; no known format",
        ),
        (
            {"merge": {"status": "clean", "strategy": "fold", "steps": []}},
            "it has 'steps'; no known format",
        ),
        ({"feature2": None}, "more than two features, but no feature2"),
        ({"feature1": None, "feature2": None}, "no feature1 and no feature2"),
    ],
)
def test_an_unknown_format_for_several_agents_is_rejected(read, values, problem):
    """It may test the other agents, so their results are not dropped silently."""
    with pytest.raises(ce.errors.ReportError, match=problem):
        read(evaluation(features=[3, 7, 9], **values))

    if values.keys() - {"feature1", "feature2"}:
        assert read(evaluation(**values)).features == (3, 7)


# --- the paper's pipeline -------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "strategy", "passed", "both_passed"),
    [
        ({"naive": (True, True)}, "naive", (True, True), True),
        ({"naive": (True, False)}, "naive", (True, False), False),
        ({"union": (True, True)}, "union", (True, True), True),
        ({"union": (True, True), "llm": (False, True)}, "union", (True, True), True),
        ({"union": (False, True), "llm": (True, True)}, "llm", (True, True), True),
        ({"union": (False, True), "llm": (True, False)}, "llm", (True, False), False),
        ({}, None, (None, None), None),
    ],
)
def test_a_papers_report_shows_the_strategy_that_passed(
    read, verdicts, strategy, passed, both_passed
):
    """If none passed, it shows the last that was tested; without any, no verdict."""
    status = "clean" if "naive" in verdicts else "conflicts"

    found = read(paper(**verdicts, status=status))

    assert (found.repo_name, found.task_id, found.features) == ("r_task", 0, (3, 7))
    assert (found.merge_status, found.merge_strategy) == (status, strategy)
    assert tuple(found.passed.values()) == passed
    assert found.both_passed is both_passed
    assert found.is_answer is (both_passed is not None)
    assert found.evaluated_at == TIME
    assert found.setting is None


def test_a_papers_report_gets_its_setting_from_the_folder(tmp_path):
    """The report itself does not name it."""
    folder = tmp_path / "coop_ablation" / "r_task" / "task0" / "feature3_feature7"
    folder.mkdir(parents=True)
    file = folder / "gpt5_r_task_task0_merge_report_f3_into_f7_k1.json"
    file.write_text(json.dumps(paper(naive=(True, True))))

    assert ce.runlogs.read_eval(file).setting is Setting.COOP_ABLATION


@pytest.mark.parametrize(
    ("message", "words"), [("no image", "no image"), (None, "an error without a message")]
)
def test_a_papers_error_has_no_verdict(read, message, words):
    """The paper's pipeline writes errors as objects."""
    found = read(paper(naive=(False, False), error={"message": message, "timestamp": TIME}))

    assert found.error == words
    assert not found.is_answer


def test_a_papers_solo_result_is_read(read):
    """It has the two verdicts and their sum, and no time."""
    found = read(
        {
            "task_name": "r_task",
            "task_id": 0,
            "feature1_id": 3,
            "feature2_id": 7,
            "k": 1,
            "feature1_test_passed": True,
            "feature1_test_output": "",
            "feature2_test_passed": False,
            "feature2_test_output": "",
            "both_tests_passed": False,
            "duration": 1.5,
        }
    )

    assert (found.repo_name, found.task_id, found.features) == ("r_task", 0, (3, 7))
    assert found.setting is Setting.SOLO
    assert found.passed == {3: True, 7: False}
    assert (found.both_passed, found.evaluated_at) == (False, "")
    assert found.is_answer


# --- locations --------------------------------------------------------------------------


def put(folder, document, result=None):
    """Write an evaluation, and the agents' record if given, into a pair's folder."""
    folder.mkdir(parents=True)
    text = document if isinstance(document, str) else json.dumps(document)
    (folder / "eval.json").write_text(text)
    if result is not None:
        (folder / "result.json").write_text(json.dumps(result))
    return folder / "eval.json"


def test_a_team_is_recognized_by_its_folder(tmp_path, monkeypatch):
    """The evaluation calls it `coop`; a relative path works too."""
    file = put(tmp_path / "run" / "team" / "r_task" / "0" / "f3_f7", evaluation())

    assert ce.runlogs.read_eval(file).setting is Setting.TEAM
    assert ce.runlogs.read_evals(tmp_path, "run").evals[0].setting is Setting.TEAM
    monkeypatch.chdir(file.parent)
    assert ce.runlogs.read_eval("eval.json").setting is Setting.TEAM


@pytest.mark.parametrize("run", ["run", "team"])
@pytest.mark.parametrize(
    ("result", "setting"),
    [({"setting": "solo"}, "solo"), ({"setting": "swarm"}, "coop"), ([], "coop"), (None, "coop")],
)
def test_without_a_setting_folder_the_agents_record_decides(tmp_path, run, result, setting):
    """A run may be named like a setting; that folder then holds the run's record."""
    file = put(tmp_path / run / "r_task" / "0" / "f3_f7", evaluation(), result)
    (tmp_path / run / "config.json").write_text("{}")

    assert ce.runlogs.read_eval(file).setting == setting
    assert ce.runlogs.read_evals(tmp_path, run).evals[0].setting == setting


def test_an_unknown_setting_is_none(read):
    """It is not guessed."""
    assert read(without(evaluation(), "setting")).setting is None


def test_a_broken_file_does_not_hide_others(tmp_path):
    """It yields an error that names it; unrelated files are skipped."""
    run = tmp_path / "run" / "coop" / "r_task"
    put(run / "0" / "f1_f2", evaluation(features=[1, 2], feature1=NOT_RUN, feature2=NOT_RUN))
    cut = put(run / "0" / "f1_f3", json.dumps(evaluation())[:90])
    empty = put(run / "0" / "f1_f4", "")
    put(run / "1" / "f3_f7", evaluation(task_id=1))
    put(run / "1" / "feature3", evaluation())
    (run / "1" / "f1_f2").mkdir()

    found = ce.runlogs.read_evals(str(tmp_path), "run")

    assert [(each.task_id, each.features) for each in found.evals] == [(0, (1, 2)), (1, (3, 7))]
    assert [error.location for error in found.unreadable] == [str(cut), str(empty)]
    assert all("is not JSON" in error.problem for error in found.unreadable)
    assert pickle.loads(pickle.dumps(found)).evals == found.evals  # noqa: S301 - our own


def test_the_runs_summary_is_not_read(tmp_path):
    """It covers only the last evaluation, not all that the run contains."""
    for task in (0, 1):
        put(tmp_path / "run" / "coop" / "r_task" / str(task) / "f3_f7", evaluation(task_id=task))
    results = [{"run": "r_task/1/3,7", "status": "fail"}]
    summary = {"run_name": "run", "total_runs": 1, "passed": 0, "failed": 1, "results": results}
    (tmp_path / "run" / "eval_summary.json").write_text(json.dumps(summary))

    assert len(ce.runlogs.read_evals(tmp_path, "run").evals) == 2


def test_a_run_that_was_not_evaluated_has_no_evaluations(tmp_path):
    """A missing run is an error."""
    (tmp_path / "run").mkdir()

    assert ce.runlogs.read_evals(tmp_path, "run") == ce.runlogs.CooperBenchRun(
        evals=(), unreadable=()
    )
    with pytest.raises(ce.errors.DatasetError, match="cannot be read"):
        ce.runlogs.read_evals(tmp_path, "nonesuch")


# --- errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe\xfd", "is not JSON"),
        (b'{"repo": "r_task", "task_', "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"task_id": ' + b"9" * 5000 + b"}", "is not JSON"),
        ([], "not a JSON object"),
        ({}, r"required field missing @ \$\.features"),
        (without(evaluation(), "repo"), r"required field missing @ \$\.repo"),
        (evaluation(repo=""), "Length of 'repo' must be >= 1"),
        (without(evaluation(), "task_id"), r"required field missing @ \$\.task_id"),
        (without(evaluation(), "both_passed"), r"required field missing @ \$\.both_passed"),
        (evaluation(task_id=True), r"expected a whole number.* @ \$\.task_id"),
        (evaluation(task_id=-1), "'task_id' must be >= 0: -1"),
        (evaluation(task_id="0"), r"expected a whole number.* @ \$\.task_id"),
        (evaluation(task_id=0.0), r"expected a whole number.* @ \$\.task_id"),
        (evaluation(features={"3": 7}), r"expected a list.* @ \$\.features"),
        (evaluation(features=[3, 3]), r"features are \(3, 3\), not two or more different"),
        (evaluation(features=[3]), r"features are \(3,\), not two or more"),
        (evaluation(features=[3, -7]), r"features are \(3, -7\), not two or more"),
        (evaluation(features=[3, False]), r"expected a whole number.* @ \$\.features\[1\]"),
        (evaluation(setting="swarm"), r"'swarm' is not a valid Setting @ \$\.setting"),
        (evaluation(setting=3), r"expected a text, found 3 @ \$\.setting"),
        (evaluation(merge=[]), r"expected an object.* @ \$\.merge"),
        (evaluation(merge={"status": 3}), r"expected a text.* @ \$\.merge\.status"),
        (
            evaluation(apply_status={"agent1": None}),
            r"expected a text.* @ \$\.apply_status\['agent1'\]",
        ),
        (evaluation(feature1="passed"), r"expected an object, found 'passed' @ \$\.feature1"),
        (evaluation(feature1=side(passed=1)), r"expected true or false.* @ \$\.feature1\.passed"),
        (
            evaluation(feature2=side(tests_passed=2.5)),
            r"expected a whole.* @ \$\.feature2\.tests_passed",
        ),
        (
            evaluation(feature2=side(tests_failed=-1)),
            "'tests_failed' must be >= 0: -1",
        ),
        (
            evaluation(feature2=side(exit_code="0")),
            r"expected a whole number.* @ \$\.feature2\.exit_code",
        ),
        (evaluation(feature2=side(feature_id=3)), r"feature2\.feature_id is 3, not 7"),
        (evaluation(both_passed="yes"), r"expected true or false.* @ \$\.both_passed"),
        (evaluation(error=["no daemon"]), r"expected a text.* @ \$\.error"),
        (evaluation(evaluated_at=0), r"expected a text.* @ \$\.evaluated_at"),
        (paper(metadata=None), r"@ \$\.metadata"),
        (paper(metadata={}), r"required field missing @ \$\.metadata\.repo_name"),
        (paper(features={"feature1": {"number": 3}}), r"missing @ \$\.features\.feature2"),
        (
            paper(features={f"feature{n}": {"number": n} for n in (1, 2, 3)}),
            "it has 'feature3'; no known format has results of more than two features",
        ),
        (
            paper(naive=("yes", True)),
            r"true or false.* @ \$\.features\.feature1\.naive_merge_test_passed",
        ),
    ],
)
def test_a_file_that_is_not_an_evaluation_is_an_error(read, tmp_path, document, problem):
    """The error names the file and the key, and nothing is guessed."""
    with pytest.raises(ce.errors.ReportError, match=problem) as caught:
        read(document)

    assert caught.value.location == str(tmp_path / "eval.json")


def test_a_negative_exit_status_is_accepted(read):
    """A killed process has one."""
    assert read(evaluation(feature1=side(exit_code=-9, passed=False))).passed[3] is False


def test_a_missing_file_is_named(tmp_path):
    """The error is one of ours."""
    for path in (tmp_path / "nonesuch.json", tmp_path):
        with pytest.raises(ce.errors.ReportError, match="cannot be read"):
            ce.runlogs.read_eval(path)


def attempt(read, document):
    """Return what is read, or `None` if our error rejects it."""
    try:
        return read(document)
    except ce.errors.ReportError:
        return None


@pytest.fixture(scope="module")
def read_any(tmp_path_factory):
    """Return a function like `read`, for many documents in turn."""
    file = tmp_path_factory.mktemp("evals") / "eval.json"

    def read_any(document):
        file.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
        return ce.runlogs.read_eval(file)

    return read_any


@given(document=evaluation_documents())
@example(document=evaluation())
@example(document=paper(naive=(True, True)))
def test_a_document_is_read_or_rejected(read_any, document):
    """Every feature read has values of the right types, and an error has no verdict."""
    found = attempt(read_any, document)

    if found is not None:
        for values, kind in (
            (found.passed, bool),
            (found.passed_tests, int),
            (found.failed_tests, int),
        ):
            assert tuple(values) == found.features
            assert all(value is None or isinstance(value, kind) for value in values.values())
        assert not (found.error and found.is_answer)
        assert {None, *found.passed.values()} == {None} or not found.error


@given(value=json_values())
def test_any_json_is_rejected_with_our_error(read_any, value):
    """Only an evaluation is read as one."""
    assert attempt(read_any, value) is None


@given(data=random_bytes())
def test_any_bytes_are_rejected_with_our_error(read_any, data):
    """The bytes may or may not be JSON."""
    assert attempt(read_any, data) is None
