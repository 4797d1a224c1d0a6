"""The public contract as code: checked by mypy, never run.

`mypy tests/typing_api.py` checks the types of every public name that users rely on. A
`type: ignore` comment marks a line that a type checker must reject; mypy in strict mode
complains about a comment that is not needed.
"""

import datetime as dt
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, assert_type

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.columns import Columns

import cooperbench_eval as ce


def trees() -> None:
    """Snapshots and changes."""
    base = ce.Snapshot.from_repo("path/to/repo", "d791537")
    assert_type(base, ce.Snapshot)
    assert_type(ce.Snapshot.from_dir(Path("folder")), ce.Snapshot)
    assert_type(ce.Snapshot.from_files({"a": b"1\n"}), ce.Snapshot)
    assert_type(
        ce.Snapshot.from_files({"a": ce.Entry(b"x", ce.models.FileMode.SYMLINK)}), ce.Snapshot
    )
    assert_type(base.get("a"), ce.Entry | None)
    assert_type(base.read("a"), bytes)
    assert_type(base.paths(), tuple[str, ...])

    ours = ce.Changes.between(base, base)
    assert_type(ours, ce.Changes)
    assert_type(ours.tree_id(base), str)
    assert_type(ours.diff(base), bytes)
    mapping: Mapping[str, ce.Entry | None] = ours
    assert_type(mapping["a"], ce.Entry | None)

    ce.Snapshot.from_files({"a": "text"})  # type: ignore[dict-item]


def patches(base: ce.Snapshot, data: bytes | str) -> None:
    """Patches and how they are placed."""
    patch = ce.Patch.parse(data)
    assert_type(patch, ce.Patch)
    assert_type(ce.Patch.read("feature.patch"), ce.Patch)

    result = ce.apply_patch(base, patch)
    assert_type(result, ce.ApplyResult)
    assert_type(result.status, ce.PatchStatus)
    assert_type(result.changes, ce.Changes)
    assert_type(result.hunks, tuple[ce.models.HunkPlacement, ...])
    assert_type(result.hunks[0].rung, ce.models.Rung | None)

    ce.apply_patch(base, data)


def merges(base: ce.Snapshot, ours: ce.Changes, theirs: ce.Changes) -> None:
    """Merging, by name and by object, and the score."""
    outcome = ce.merge(base, ours, theirs, strategy="naive")
    assert_type(outcome, ce.MergeOutcome)
    assert_type(ce.merge(base, ours, theirs, strategy=KeepOurs()), ce.MergeOutcome)
    assert_type(outcome.status, ce.MergeStatus)
    assert_type(outcome.conflicts, tuple[ce.Conflict, ...])
    assert_type(outcome.changes, ce.Changes)
    assert_type(outcome.diff(base), bytes)
    assert_type(outcome.tree_id(base), str)

    conflict = outcome.conflicts[0]
    assert_type(conflict.path, str)
    assert_type(conflict.kind, ce.ConflictKind)
    assert_type(conflict.base, bytes | None)
    assert_type(conflict.ours, bytes | None)
    assert_type(conflict.theirs, bytes | None)

    details = ce.ConflictScorer().score(outcome.conflicts)
    assert_type(details, ce.ConflictDetails)
    assert_type(details.conflict_sections, int)
    assert_type(details.conflict_lines, int)
    assert_type(details.avg_lines_per_conflict, float)
    assert_type(details.conflict_score, int)
    assert_type(details.severity, ce.models.Severity)

    ce.merge(base, ours, theirs, strategy=KeepOurs)  # type: ignore[arg-type]
    ce.merge(base, ours, theirs, "naive")  # type: ignore[call-arg]


class KeepOurs:
    """A plug-in, without a base class."""

    name = "keep-ours"

    def merge(self, merge_input: ce.MergeInput, /) -> ce.MergeOutcome:
        """Answer each conflict with our text, or leave it open if there is none."""
        assert_type(merge_input.base, ce.Snapshot)
        assert_type(merge_input.ours, ce.Changes)
        assert_type(merge_input.theirs, ce.Changes)
        assert_type(merge_input.conflicts, tuple[ce.Conflict, ...])
        assert_type(merge_input.ours_feature, ce.strategies.FeatureContext | None)
        return ce.resolve_conflicts(merge_input, lambda conflict: conflict.ours)


class Nameless:
    """Not a strategy: it has no name."""

    def merge(self, merge_input: ce.MergeInput, /) -> ce.MergeOutcome:
        """Merge like a strategy."""
        merge_input.tests  # type: ignore[attr-defined]  # noqa: B018 - strategies never see tests
        return ce.MergeOutcome(changes=merge_input.merge.changes)


def strategies() -> None:
    """The registry and the protocol."""
    strategy: ce.MergeStrategy = KeepOurs()
    assert_type(strategy.name, str)
    assert_type(ce.available_strategies(), tuple[str, ...])
    assert_type(ce.get_strategy("llm", model="gpt-5"), ce.MergeStrategy)

    ce.Evaluator(strategies=["naive", Nameless()])  # type: ignore[list-item]


class Canned:
    """A user's client, used instead of litellm."""

    def complete(self, request: ce.llm.ChatRequest) -> ce.llm.ChatReply:
        """Give the same answer every time except once."""
        if request.options.get("seed") == 1:
            raise ce.llm.ChatError(ce.llm.ChatFault.UNAVAILABLE, "closed")
        return ce.llm.ChatReply(text=request.messages[-1].text, cost_usd=0.1)


def models(outcome: ce.MergeOutcome) -> None:
    """The strategy that asks a model, and what it records about that."""
    client: ce.llm.ChatClient = Canned()
    strategy: ce.MergeStrategy = ce.LLMStrategy(
        "gpt-5", client=client, replay="auto", prompts="folder", budget_usd=0.5
    )
    ce.LLMStrategy("gpt-5", replay=ce.llm.Replay.LIVE, prompts=ce.llm.Prompts.built_in())
    ce.Evaluator(strategies=[strategy])
    assert_type(outcome.usage, tuple[ce.models.ModelUsage, ...])
    assert_type(outcome.usage[0].cost_usd, float | None)
    assert_type(outcome.ledger[0].attempts, int | None)
    ce.resolve_conflicts(merge_input(), lambda _: ce.strategies.Gone.GONE)

    ce.LLMStrategy("gpt-5", client=Nameless())  # type: ignore[arg-type]


def merge_input() -> ce.MergeInput:
    """Stand in for the input of a strategy."""
    raise NotImplementedError


def runs(base: ce.Snapshot, changes: ce.Changes, tests_patch: bytes) -> None:
    """Suites, runners and results."""
    suite = ce.TestSuite(
        command=("python", "-m", "pytest", "-q"),
        patch=tests_patch,
        framework="pytest",
        timeout_seconds=600,
        env={"PYTHONPATH": "src"},
    )
    sandbox: ce.Sandbox = ce.LocalSandbox()
    runner = ce.TestRunner(sandbox=sandbox)
    tests = runner.run(base, changes, suite)
    assert_type(tests, ce.TestResult)
    assert_type(tests.status, ce.TestStatus)
    assert_type(tests.passed, bool)
    assert_type(tests.passed_tests, int)
    assert_type(tests.failed_tests, int)
    assert_type(tests.total_tests, int)
    assert_type(tests.pass_rate, float)
    assert_type(tests.cases, tuple[ce.models.TestCase, ...])
    assert_type(tests.cases[0].status, ce.models.TestCaseStatus)
    assert_type(tests.output, str)


def pairs(base: ce.Snapshot, patch: bytes, suite: ce.TestSuite) -> ce.MergeReport:
    """A pair and its evaluator, with and without a runner."""
    pair = ce.FeaturePair(
        repo_name="click",
        task_id=2068,
        base=base,
        feature1=ce.Feature(number=1, patch=patch, tests=suite),
        feature2=ce.Feature(number=2, patch=ce.Patch.parse(patch)),
    )
    assert_type(pair.feature1.patch, ce.Patch)
    assert_type(pair.feature1.tests, ce.TestSuite | None)
    ce.Evaluator(strategies=["naive", "union", KeepOurs()], runner=None)
    evaluator = ce.Evaluator(strategies=["naive", "union"], runner=ce.TestRunner())
    assert_type(evaluator.strategies, tuple[ce.MergeStrategy, ...])
    return evaluator.evaluate(pair)


def reports(report: ce.MergeReport) -> None:
    """What a report contains, and how it is saved."""
    assert_type(report.merge_status, ce.reporting.PairStatus)
    assert_type(report.conflict_score, int | None)
    assert_type(report.conflict_details, ce.ConflictDetails | None)
    assert_type(report.timestamp, dt.datetime)
    assert_type(report.feature1.tests_passed, bool | None)
    assert_type(report.feature1.test_output, str)
    assert_type(report.attempts, tuple[ce.Attempt, ...])
    assert_type(report.attempt("union").verdict, ce.Verdict)
    assert_type(report.attempt("union").feature1_tests, ce.TestResult | None)
    assert_type(report.to_dict(), dict[str, Any])
    assert_type(report.to_json(), str)
    assert_type(ce.MergeReport.from_json(report.to_json()), ce.MergeReport)
    assert_type(ce.write_report(report, "out/"), tuple[Path, ...])

    report.k = 2  # type: ignore[misc]


def planned_command() -> ce.MergeReport:
    """The benchmark's planned command as a function."""
    return ce.evaluate(
        setting="coop",
        repo_name="pallets_click_task",
        task_id=2068,
        feature1_id=1,
        feature2_id=2,
        model="gpt-5",
        patch_location="logs",
        dataset_dir="dataset",
        repo_dir=Path("click"),
    )


def texts_and_enums(logs: Path, base: ce.Snapshot, reports: list[ce.MergeReport]) -> None:
    """Arguments with few values are checked; their enums are accepted too."""
    ce.evaluate("coop", "r", 1, 1, 2, "m", "gold", dataset_dir="d", judge="delta")
    coop, gold = ce.runlogs.Setting.COOP, ce.runlogs.PatchLocation.GOLD
    ce.evaluate(coop, "r", 1, 1, 2, "m", gold, dataset_dir="d", judge=ce.models.JudgeRule.DELTA)
    ce.evaluate_run(logs, "run", dataset_dir="d", setting="solo")
    ce.TestSuite(command=("go", "test"), framework="go")
    ce.summarize(reports, by="model")
    ce.to_records(reports, "left_out")

    ce.evaluate("coöp", "r", 1, 1, 2, "m", dataset_dir="d")  # type: ignore[arg-type]
    ce.evaluate("coop", "r", 1, 1, 2, "m", "golden", dataset_dir="d")  # type: ignore[arg-type]
    ce.TestSuite(command=("go", "test"), framework="golang")  # type: ignore[arg-type]
    ce.summarize(reports, by="models")  # type: ignore[arg-type]
    ce.to_records(reports, "left-out")  # type: ignore[arg-type]
    ce.land(base, [], order="any")  # type: ignore[arg-type]


async def awaited(evaluator: ce.Evaluator, pair: ce.FeaturePair) -> None:
    """The asynchronous functions take the same arguments as the others."""
    assert_type(await evaluator.aevaluate(pair), ce.MergeReport)
    assert_type(await ce.aevaluate(pair, evaluator=evaluator), ce.MergeReport)
    asked = await ce.aevaluate("coop", "r", 1, 1, 2, "m", dataset_dir="dataset", run_tests=False)
    assert_type(asked, ce.MergeReport)

    await ce.aevaluate(pair)  # type: ignore[call-overload]
    await ce.aevaluate("coop", "r", 1, 1, 2, "m", dataset_dir="d", runs=1)  # type: ignore[call-overload]


def datasets() -> None:
    """Tasks, their pairs and subsets."""
    task = ce.Dataset("dataset").task("pallets_click_task", 2068)
    assert_type(task, ce.Task)
    assert_type(ce.Dataset("dataset").tasks(), tuple[ce.Task, ...])
    assert_type(task.pairs, tuple[tuple[int, int], ...])
    assert_type(task.suite(1, command=(sys.executable, "-m", "pytest")), ce.TestSuite)
    assert_type(task.pair(1, 2, repo_dir="click", patches={1: b"", 2: None}), ce.FeaturePair)
    assert_type(task.team(3, 2, 1, patches=lambda task, _: task.directory), ce.FeatureTeam)
    told = ce.Dataset("dataset", repo_dirs={"pallets_click_task": "click"})
    every = told.all_pairs(subset="lite", suite_of=lambda task, n: task.suite(n, framework="exit"))
    assert_type(next(every), ce.FeaturePair)
    assert_type(ce.evaluate_many(every, evaluator=ce.Evaluator()), Iterator[ce.MergeReport])
    assert_type(next(task.all_teams(3)), ce.FeatureTeam)
    assert_type(ce.Dataset("d").subset("lite"), tuple[tuple[ce.Task, tuple[int, int]], ...])


def sweeps(task: ce.Task, teams: bool) -> None:
    """The batches of the benchmark: reports of pairs, or of teams."""
    assert_type(ce.gold_matrix(task, repo_dir="click"), Iterator[ce.MergeReport])
    assert_type(ce.gold_teams(task, size=3, repo_dir="click"), Iterator[ce.TeamReport])
    ce.gold_teams(task)  # type: ignore[call-arg]

    run = ce.evaluate_run("logs", "run", dataset_dir="dataset", setting="coop", store="results")
    assert_type(run, Iterator[ce.MergeReport])
    of_teams = ce.evaluate_run("logs", "run", dataset_dir="dataset", teams=True, task_id=0)
    assert_type(of_teams, Iterator[ce.TeamReport])
    either = ce.evaluate_run("logs", "run", dataset_dir="dataset", teams=teams)
    assert_type(either, Iterator[ce.MergeReport | ce.TeamReport])
    ce.evaluate_run("logs", "run", dataset_dir="dataset", team=True)  # type: ignore[call-overload]


def results_of_cooperbench(evaluation: ce.runlogs.CooperBenchResult) -> None:
    """The results of CooperBench's evaluator."""
    assert_type(ce.runlogs.read_eval(Path("eval.json")), ce.runlogs.CooperBenchResult)
    assert_type(ce.runlogs.read_evals("logs", "run"), ce.runlogs.CooperBenchRun)
    assert_type(
        ce.runlogs.read_evals("logs", "run").evals, tuple[ce.runlogs.CooperBenchResult, ...]
    )
    assert_type(ce.runlogs.read_evals("logs", "run").unreadable, tuple[ce.errors.ReportError, ...])
    assert_type(evaluation.features, tuple[int, ...])
    assert_type(evaluation.setting, ce.runlogs.Setting | None)
    assert_type(evaluation.merge_status, str | None)
    assert_type(evaluation.apply_status, Mapping[str, str])
    assert_type(evaluation.passed, Mapping[int, bool | None])
    assert_type(evaluation.passed_tests, Mapping[int, int | None])
    assert_type(evaluation.both_passed, bool | None)
    assert_type(evaluation.is_answer, bool)

    evaluation.passed[1] = True  # type: ignore[index]


def batches(pairs: list[ce.FeaturePair], teams: list[ce.FeatureTeam]) -> None:
    """Pairs, teams, and both together."""
    evaluator = ce.Evaluator()
    assert_type(ce.evaluate_many(pairs, evaluator=evaluator), Iterator[ce.MergeReport])
    assert_type(ce.evaluate_many(iter(teams), evaluator=evaluator), Iterator[ce.TeamReport])
    assert_type(
        ce.evaluate_many([*pairs, *teams], evaluator=evaluator),
        Iterator[ce.MergeReport | ce.TeamReport],
    )
    for report in ce.evaluate_many(teams, evaluator=evaluator):
        assert_type(ce.analysis.facts_of(report), ce.analysis.TeamFacts)
    assert_type(next(iter(ce.ReportStore("store"))), ce.MergeReport | ce.TeamReport)
    ce.evaluate_many(["pair"], evaluator=evaluator)  # type: ignore[list-item]


def analyses(reports: list[ce.MergeReport], facts: list[ce.analysis.PairFacts]) -> None:
    """Many reports, or their facts."""
    summary = ce.summarize(reports, by=("repo_name", "k"), policies=["paper"], gold=facts)
    assert_type(summary, ce.analysis.Summary)
    assert_type(ce.summarize(iter(facts), by=lambda pair: pair.k > 1), ce.analysis.Summary)
    assert_type(summary.strategies["naive"].correct, ce.analysis.Rate)
    assert_type(summary.strategies["naive"].effort_reduction(2), float | None)
    assert_type(summary.comparisons["naive", "union"], ce.analysis.Comparison)
    assert_type(summary.conflict_score, ce.analysis.Distribution)
    assert_type(ce.compare(reports, facts, "naive"), ce.analysis.Comparison)
    assert_type(ce.analysis.POLICIES["paper"].judge(reports[0]), ce.analysis.PolicyVerdict)
    assert_type(ce.analysis.facts_of(reports[0]), ce.analysis.PairFacts)
    assert_type(ce.to_records(reports, "tests"), list[dict[str, Any]])

    ce.analysis.POLICIES["paper"] = ce.analysis.Policy(name="paper", strategies=["naive"])  # type: ignore[index]


def looks(reports: list[ce.MergeReport], summary: ce.analysis.Summary, axes: Axes) -> None:
    """Pages and printed reports."""
    assert_type(ce.plots.plot_matrix(reports, task="click/1", strategy="union"), Figure)
    assert_type(ce.plots.plot_verdicts(summary, ax=axes), Figure)
    assert_type(ce.plots.plot_effort(summary, up_to=20), Figure)
    assert_type(ce.plots.plot_teams(reports, confidence=0.9), Figure)
    assert_type(
        ce.plots.plot_tries(reports, ["strict", ce.analysis.POLICIES["paper"]], tries=3), Figure
    )
    assert_type(ce.analysis.solved_within(reports, "naive").within, tuple[ce.analysis.Rate, ...])
    for shown in (reports[0], summary, ce.analysis.Rate(1, 2)):
        assert_type(shown._repr_html_(), str)
    Columns([reports[0], summary])


def errors() -> None:
    """One `except` catches all; facts are attributes."""
    try:
        planned_command()
    except (ce.PatchError, ce.errors.ReportError) as error:
        assert_type(error, ce.PatchError | ce.errors.ReportError)
        value_error: ValueError = error
        raise value_error from error
    except ce.errors.UnknownStrategyError as error:
        assert_type(error.available, tuple[str, ...])
        lookup_error: LookupError = error
        raise lookup_error from error
    except ce.CooperBenchEvalError:
        raise


def plans(base: ce.Snapshot, suite: ce.TestSuite, feature: ce.Feature) -> None:
    """Landing plans."""
    plan = ce.land(base, [b"diff", "diff", ce.Patch.parse(b""), ce.Changes(), feature])
    assert_type(plan, ce.LandingPlan)
    ce.land(base, [feature], suites={2: suite}, joint=suite, strategy="naive", order="search")
    ce.land(base, [feature], order=[1], budget=0, runner=ce.TestRunner(), judge="absolute")
    ce.land(base, [3])  # type: ignore[list-item]
    assert_type(plan.landed, tuple[int, ...])
    assert_type(plan.order, tuple[int, ...])
    assert_type(plan.left_out, tuple[ce.reporting.LeftOut, ...])
    assert_type(plan.pairs[1, 2], ce.reporting.PairOutcome)
    assert_type(plan.minimal_conflicts, tuple[tuple[int, ...], ...])
    assert_type(plan.order_dependent, tuple[ce.reporting.OrderDependence, ...])
    assert_type(plan.changes, ce.Changes)
    assert_type(plan.diff(base), bytes)
    assert_type(ce.LandingPlan.from_json(plan.to_json()), ce.LandingPlan)
