"""What the previous version wrote is read, and statistics of it are the same."""

import json
from pathlib import Path

import attrs

import cooperbench_eval as ce

FILE = Path(__file__).parent / "previous_version" / "one_pair.json"
WRITTEN = json.loads(FILE.read_text())


def test_stored_facts_are_read():
    """They are written again with the same keys in the same order."""
    facts = ce.analysis.PairFacts.from_dict(WRITTEN["facts"])

    assert json.dumps(facts.to_dict()) == json.dumps(WRITTEN["facts"])
    now = ce.analysis.facts_of(ce.MergeReport.from_dict(WRITTEN["report"]))
    assert attrs.evolve(facts, problem="feature 7 has no suite") == now  # said since then


def test_a_summary_of_them_is_the_same():
    """Counts, rates, tokens and costs agree to the last digit."""
    facts = ce.analysis.PairFacts.from_dict(WRITTEN["facts"])

    found = ce.summarize([facts]).to_dict()

    assert found.pop("problems") == {}
    # Since then, summaries also say what the agents' work cost, which the facts do not know.
    assert found.pop("agents")["cost_usd"]["count"] == 0
    for each in (*found["strategies"], *found["policies"]):
        assert each.pop("cost_per_correct")["pairs"] == 0
    # The policy of CooperBench's evaluator now has its name.
    assert json.dumps(found).replace("cooperbench-0.0.29", "upstream-0.0.29") == json.dumps(
        WRITTEN["summary"]
    )
    assert ce.to_records([facts], "attempts") == WRITTEN["attempts"]
