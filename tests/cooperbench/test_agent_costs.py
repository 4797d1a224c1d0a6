"""What agents cost is read from the runner's records; what these lack is unknown, never zero."""

import importlib.util
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cooperbench_eval as ce
from cooperbench_eval.cooperbench.runlogs import Setting
from cooperbench_eval.cooperbench.runlogs.reading import read_agents
from cooperbench_eval.cooperbench.runlogs.run_folders import discover_run
from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.reporting.agent_costs import AgentRun, AgentUsage, total_agents

TOKENS = {
    "input_tokens": 1000,
    "output_tokens": 200,
    "cache_read_tokens": 0,
    "cache_write_tokens": 0,
}
UNKNOWN = AgentUsage()


def agent(number, cost=0.5, steps=10, tokens=TOKENS, **more):
    """An agent's part of a record, as versions since 0.0.9 write it."""
    head = {"feature_id": number, "status": "Submitted", "cost": cost, "steps": steps}
    return head | tokens | {"patch_lines": 4, "error": None} | more


def coop(*agents, messages=3, **more):
    """A record of agents that worked together."""
    named = {f"agent{place}": values for place, values in enumerate(agents, start=1)}
    total = sum(each.get("cost", 0) for each in agents if isinstance(each.get("cost", 0), float))
    return {
        "setting": "coop",
        "agents": named,
        "total_cost": total,
        "messages_sent": messages,
    } | more


def solo(**values):
    """A record of one agent for both features, which names no feature."""
    own = agent(1, **values)
    del own["feature_id"]
    return {"setting": "solo", "features": [1, 3], "agent": own, "total_cost": 0.5}


def conversation(*numbers):
    """Messages, each from the agent of a feature."""
    return [{"from": "agent1", "to": "agent2", "message": "hi", "feature_id": n} for n in numbers]


@pytest.fixture
def read(tmp_path):
    """Return a function that writes records into a folder and reads its agents."""

    def read(record, messages=None, *, setting=Setting.COOP, numbers=(1, 3), name="f1_f3"):
        folder = tmp_path / "run" / setting / "r_task" / "0" / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, values in (("result.json", record), ("conversation.json", messages)):
            text = values if isinstance(values, str) else json.dumps(values)
            if values is not None:
                (folder / file).write_text(text)
        return read_agents(folder, setting, numbers)

    return read


def test_each_agent_has_its_own_numbers(read):
    """They are found by the feature, not by the agent's name or place."""
    record = coop(agent(3, cost=0.25, steps=4), agent(1))

    one, three = read(record, conversation(1, 3, 3))

    assert one == AgentRun(
        features=[1],
        status="Submitted",
        usage=AgentUsage(cost_usd=0.5, steps=10, messages_sent=1, **TOKENS),
    )
    assert (three.features, three.usage.cost_usd, three.usage.steps) == ((3,), 0.25, 4)
    assert three.usage.messages_sent == 2
    assert read(record, numbers=(3, 1), messages=conversation(1, 3, 3)) == (three, one)


def test_the_first_versions_write_no_tokens(read):
    """Tokens are not known then; cost and steps are."""
    runs = read(coop(agent(1, tokens={}), agent(3, tokens={})))

    assert {run.usage.input_tokens for run in runs} == {None}
    assert {(run.usage.cost_usd, run.usage.steps) for run in runs} == {(0.5, 10)}
    assert {run.problem for run in runs} == {""}


def test_zeros_that_the_runner_makes_up_are_unknown(read):
    """A run that broke down, and an agent without prices or tokens, cost more than nothing."""
    broken = agent(1, cost=0, steps=0, tokens=dict.fromkeys(TOKENS, 0), status="Error")
    unpriced = agent(3, cost=0.0)

    one, three = read(coop(broken, unpriced, messages=0), [])

    assert one.usage == AgentUsage(messages_sent=0)
    assert (one.status, one.problem) == ("Error", "")
    assert (three.usage.cost_usd, three.usage.steps) == (None, 10)
    assert (three.usage.input_tokens, three.usage.cache_read_tokens) == (1000, 0)


def test_one_agent_for_both_features_counts_once(read):
    """Each feature has the same run, and the pair's total is that of one."""
    runs = read(solo(), setting=Setting.SOLO)

    assert runs[0] == runs[1]
    assert runs[0].features == (1, 3)
    assert total_agents(runs) == AgentUsage(cost_usd=0.5, steps=10, **TOKENS)


def test_two_agents_with_equal_numbers_count_twice(read):
    """Only an agent that made several features counts once for them."""
    total = total_agents(read(coop(agent(1), agent(3)), conversation(1, 3, 3)))

    assert (total.cost_usd, total.steps, total.messages_sent) == (1.0, 20, 3)


def test_messages_may_be_known_only_together(read):
    """Without the conversation, the record still has their number, for all agents."""
    pair = read(coop(agent(1), agent(3)))
    assert {run.usage.messages_sent for run in pair} == {None}
    assert total_agents(pair).messages_sent == 3

    of_three = read(coop(agent(1), agent(2), agent(3)), name="f1_f2_f3")
    assert total_agents(of_three).messages_sent is None


def test_a_number_that_one_agent_lacks_is_not_known_for_the_pair(read):
    """A sum over the others would be too small."""
    total = total_agents(read(coop(agent(1, cost=0), agent(3))))

    assert (total.cost_usd, total.steps) == (None, 20)
    assert total_agents([AgentRun(features=[1], usage=AgentUsage(steps=1)), None]) == UNKNOWN
    assert total_agents([]) == UNKNOWN


@pytest.mark.parametrize("setting", [Setting.TEAM, Setting.PLAN_EXECUTE, Setting.COOP_ABLATION])
def test_other_settings_have_the_same_keys(read, setting):
    """A team's record has more of them."""
    lead = agent(1, team_role="lead")
    record = coop(lead, agent(3), setting=str(setting), lead_agent="agent1", metrics={"a": 1})

    one, three = read(record, conversation(1, 1, 3), setting=setting)

    assert (one.usage.messages_sent, three.usage.messages_sent) == (2, 1)
    assert one.problem == three.problem == ""


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ("", "result.json: is not JSON ("),
        ('{"agents": {"agent1": {"feature_id": 1, "co', "result.json: is not JSON ("),
        ("[" * 100_000, "result.json: is not JSON ("),
        ("[]", "result.json: it is not an object"),
        ("{}", "result.json: it is not an object"),
        ('{"cost": 1}', "result.json: it has no object under 'agents'"),
        ('{"agents": [1]}', "result.json: it has no object under 'agents'"),
        ('{"agents": {}}', "result.json: it has no agent of feature 1"),
        ('{"agents": {"agent1": 5}}', "result.json: the agent 'agent1' has no feature_id"),
        (json.dumps(coop(agent(1), agent(1))), "two agents have the feature_id 1"),
        (json.dumps(coop(agent(1), agent(3, cost="0.5"))), "cost is '0.5', not an amount"),
        (json.dumps(coop(agent(1), agent(3, cost=True))), "cost is True, not an amount"),
        (json.dumps(coop(agent(1), agent(3, cost=-1))), "cost is -1, not an amount"),
        (json.dumps(coop(agent(1), agent(3, cost=float("nan")))), "cost is nan"),
        (json.dumps(coop(agent(1), agent(3))).replace("0.5", "1e999"), "cost is inf"),
        (json.dumps(coop(agent(1), agent(3, steps=2.5))), "steps is 2.5, not a count"),
        (json.dumps(coop(agent(1), agent(3), messages="3")), "messages_sent is '3', not a count"),
        (json.dumps(coop(agent(1), agent(3), messages=10**400)), "messages_sent is 1000"),
        (json.dumps(coop(agent(1), agent(3), setting="weird")), "the setting 'weird' is unknown"),
        (json.dumps(coop(agent(1), agent(3), setting=["x"])), "the setting list is unknown"),
        (
            json.dumps(coop(agent(1), agent(3), total_cost=50.0)),
            "total_cost is 50.0, but the agents' costs are 1",
        ),
        (
            json.dumps(coop(agent(1), agent(3), agent(9))),
            "it has an agent of feature 9, which the folder does not name",
        ),
    ],
)
def test_a_record_that_no_version_writes_is_reported(read, record, problem):
    """The run says what is wrong and in which file; nothing is taken for zero."""
    runs = read(record)

    assert [run.features for run in runs] == [(1,), (3,)]
    assert {run.problem for run in runs} == {runs[0].problem}
    assert problem in runs[0].problem
    assert len(runs[0].problem) < 500
    assert all(0 not in (run.usage.cost_usd, run.usage.steps) for run in runs)


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ("[{", "conversation.json: is not JSON"),
        ('{"a": 1}', "conversation.json: it is not a list of messages with a feature_id"),
        ('[{"from": "agent1"}]', "conversation.json: it is not a list of messages"),
        (conversation(1), "conversation.json: it has 1 messages, but result.json says 3"),
        (conversation(1, 1, 9), "it has messages of feature 9, which the folder lacks"),
    ],
)
def test_an_unfamiliar_conversation_is_reported(read, messages, problem):
    """Who sent how much is not known; the sum is."""
    runs = read(coop(agent(1), agent(3)), messages)

    assert problem in runs[0].problem
    assert {run.usage.messages_sent for run in runs} == {None}
    assert total_agents(runs).messages_sent == 3


def test_a_solo_record_without_its_agent_is_reported(read):
    """A record of two agents in a solo agent's folder is one."""
    one, _ = read(coop(agent(1), agent(3)), setting=Setting.SOLO)

    assert one.problem == "result.json: it has no object under 'agent'"
    assert one.usage == UNKNOWN


def test_without_a_record_nothing_is_known_and_nothing_wrong(read, tmp_path):
    """As in the paper's layout, whose folders have other names."""
    assert read(None) == (None, None)
    paper = tmp_path / "feature1_feature3"
    paper.mkdir()
    (paper / "result.json").write_text("{")
    assert read_agents(paper, Setting.COOP, (1, 3)) == (None, None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_reading_a_record_ends_whatever_it_is(read, tmp_path):
    """A pipe would block, and a huge file would fill the memory."""
    read(None)
    folder = tmp_path / "run/coop/r_task/0/f1_f3"
    os.mkfifo(folder / "result.json")
    assert "not a regular file" in read_agents(folder, Setting.COOP, (1, 3))[0].problem

    (folder / "result.json").unlink()
    with (folder / "result.json").open("wb") as file:
        file.truncate(1 << 40)
    assert "more than 8,388,608 bytes" in read_agents(folder, Setting.COOP, (1, 3))[0].problem
    assert [each.setting for each in discover_run(tmp_path, "run")] == ["coop"]


@given(
    record=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["agents", "agent", "agent1", "feature_id", "cost", "steps", *TOKENS]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_any_record_gives_a_run(record, tmp_path_factory):
    """Whatever JSON stands there, reading it raises nothing and makes up no zero."""
    folder = tmp_path_factory.mktemp("run") / "f1_f3"
    folder.mkdir()
    (folder / "result.json").write_text(json.dumps(record))

    for setting in (Setting.COOP, Setting.SOLO):
        for run in read_agents(folder, setting, (1, 3)):
            assert run.usage.cost_usd != 0
            assert run.usage.steps != 0


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 10**16, "1", True])
def test_usage_is_an_amount(value):
    """A record that callers make is checked like any other."""
    with pytest.raises(ArgumentError, match="cost_usd"):
        AgentUsage(cost_usd=value)


def test_a_report_carries_what_its_agents_cost():
    """Its rows, JSON, facts, reward and warnings have it; the key in a store does not."""
    base = ce.Snapshot.from_files({"a": b"1\n", "b": b"1\n"})
    diff = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-1\n+2\n"
    broken = "result.json: cost is 'x', not an amount"
    one, two = (
        ce.Feature(
            number=number,
            patch=diff.format(name),
            agent=AgentRun(
                features=[number],
                usage=AgentUsage(cost_usd=0.25 * number, steps=7),
                problem=broken if number == 2 else "",
            ),
        )
        for number, name in ((1, "a"), (2, "b"))
    )
    pair = ce.FeaturePair(repo_name="r", task_id=0, base=base, feature1=one, feature2=two)
    team = ce.FeatureTeam(repo_name="r", task_id=0, base=base, features=[two, one])

    for report in (ce.Evaluator().evaluate(pair), ce.Evaluator().evaluate_team(team)):
        total = {"cost_usd": 0.75, "steps": 14}
        assert report.agent_usage == AgentUsage(**total)
        data = report.to_dict()
        assert data["agent_usage"] == dict.fromkeys(data["agent_usage"]) | total
        assert type(report).from_json(report.to_json()).agent_usage == report.agent_usage
        assert ce.analysis.facts_of(report).agent_usage == report.agent_usage
        assert report.warnings == (f"What the agents' work cost is not fully known: {broken}.",)

        data["agent_usage"]["steps"] = 15
        with pytest.raises(ce.errors.ReportError, match=r"agent_usage\.steps: is 15, but 14"):
            type(report).from_dict(data)


def made_pair(agent=None):
    """A pair of two clean patches, of which the first one's agent may be known."""
    base = ce.Snapshot.from_files({"a": b"1\n", "b": b"1\n"})
    diff = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-1\n+2\n"
    one = ce.Feature(number=1, patch=diff.format("a"), agent=agent)
    two = ce.Feature(number=2, patch=diff.format("b"))
    return ce.FeaturePair(repo_name="r", task_id=0, base=base, feature1=one, feature2=two)


def test_a_stored_report_is_found_again_and_gets_what_is_known_now(tmp_path):
    """Costs are in no key, so a store outlives them, and its reports are not wrong about them."""
    [before] = ce.evaluate_many([made_pair()], evaluator=ce.Evaluator(), store=tmp_path)
    run = AgentRun(features=[1], usage=AgentUsage(cost_usd=0.5))

    [after] = ce.evaluate_many([made_pair(run)], evaluator=ce.Evaluator(), store=tmp_path)
    [again] = ce.evaluate_many([made_pair()], evaluator=ce.Evaluator(), store=tmp_path)

    assert before.timestamp == after.timestamp == again.timestamp
    assert (before.feature1.agent, after.feature1.agent, again.feature1.agent) == (None, run, None)


@pytest.mark.parametrize("teams", [False, True])
def test_a_runs_reports_have_what_its_agents_cost(tmp_path, teams):
    """From the records in its folders, pair by pair or team by team."""
    sample = Path(__file__).parents[2] / "docs" / "examples" / "sample"
    spec = importlib.util.spec_from_file_location("sample_builder", sample / "build_repo.py")
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    builder.build_repo(tmp_path / "pennybook")
    records = {"coop": coop(agent(1), agent(3, cost=0.25)), "solo": solo()}
    for setting, record in records.items():
        folder = tmp_path / "logs/run" / setting / "pennybook_task/1/f1_f3"
        folder.mkdir(parents=True)
        (folder / "result.json").write_text(json.dumps(record))
        for name in ("agent1", "agent3", "solo"):
            (folder / f"{name}.patch").write_text("")

    options = {"dataset_dir": sample / "dataset", "repo_dirs": tmp_path}
    found = ce.evaluate_run(
        tmp_path / "logs", "run", **options, evaluator=ce.Evaluator(), teams=teams
    )

    costs = {each.setting: each.agent_usage.cost_usd for each in found}
    assert costs == {"coop": 0.75, "solo": 0.5}
    one = ce.evaluate(
        *("coop", "pennybook_task", 1, 1, 3, "gpt-5"),
        dataset_dir=sample / "dataset",
        repo_dir=tmp_path / "pennybook",
        logs_dir=tmp_path / "logs",
        run_tests=False,
    )
    assert (one.agent_usage.cost_usd, one.agent_usage.messages_sent) == (0.75, 3)
