"""Agents' patches, found in both layouts of run logs."""

import json
import os
import sys

import pytest

import cooperbench_eval as ce
from cooperbench_eval.cooperbench.runlogs import PatchLocation, Setting
from cooperbench_eval.cooperbench.runlogs.pair_files import find_work
from cooperbench_eval.cooperbench.runlogs.reading import read_patch
from cooperbench_eval.cooperbench.runlogs.run_folders import discover_run

REPO = "pallets_click_task"
TOGETHER = [Setting.COOP, Setting.COOP_ABLATION, Setting.TEAM, Setting.PLAN_EXECUTE]


def patch_of(word):
    """Return a patch that differs from others."""
    return f"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+{word}\n".encode()


def write(folder, **patches):
    """Write patches into a folder, each named after its key and containing its word."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, word in patches.items():
        (folder / f"{name}.patch").write_bytes(patch_of(word))
    return folder


def find(logs_dir, setting=Setting.COOP, numbers=(1, 2), model="gpt-5", task_id=0, **options):
    """Find the patches of a pair; return the words they contain."""
    patches, _ = find_work(
        setting, REPO, task_id, numbers, model=model, logs_dir=logs_dir, **options
    )
    return tuple(patch.data.split(b"+")[-1].decode().strip() for patch in patches)


# --- the paper's layout ---------------------------------------------------------------


@pytest.mark.parametrize("setting", TOGETHER)
def test_two_agents_patches_lie_in_the_pairs_folder(tmp_path, setting):
    """Each file is named after its feature; patches come in the wanted order."""
    task = tmp_path / setting / REPO / "task0"
    write(task / "feature1_feature2", patch_gpt5_k1_feature1="one", patch_gpt5_k1_feature2="two")

    assert find(tmp_path, setting) == ("one", "two")
    assert find(tmp_path, setting, (2, 1)) == ("two", "one")


def test_single_agents_patches_lie_in_their_features_folders(tmp_path):
    """Two runs of one feature each make a pair."""
    task = tmp_path / "single" / REPO / "task0"
    write(task / "feature1", patch_gpt5_k1_feature1="one")
    write(task / "feature2", patch_gpt5_k1_feature2="two")

    assert find(tmp_path, Setting.SINGLE, (2, 1)) == ("two", "one")


@pytest.mark.parametrize("name", ["feature1_feature2", "feature2_feature1"])
@pytest.mark.parametrize("folder", ["feature1_feature2", "feature2_feature1"])
def test_a_solo_agents_patch_is_both_sides(tmp_path, folder, name):
    """In either order of features; the paper's pipeline sorts only the folder's name."""
    write(tmp_path / "solo" / REPO / "task0" / folder, **{f"patch_gpt5_k1_{name}": "both"})

    assert find(tmp_path, Setting.SOLO) == ("both", "both")
    assert find(tmp_path, Setting.SOLO, (2, 1)) == ("both", "both")


def test_a_pairs_folder_may_be_unsorted(tmp_path):
    """Both orders of the pair's numbers are found; they are not sorted as text."""
    task = tmp_path / "coop" / REPO / "task0"
    write(task / "feature10_feature9", patch_gpt5_k1_feature9="nine", patch_gpt5_k1_feature10="ten")

    assert find(tmp_path, numbers=(9, 10)) == ("nine", "ten")


def test_the_try_is_chosen_by_k(tmp_path):
    """Try 1 is not confused with try 11."""
    folder = tmp_path / "coop" / REPO / "task0" / "feature1_feature2"
    for k in (1, 11):
        write(folder, **{f"patch_gpt5_k{k}_feature{n}": f"k{k}" for n in (1, 2)})

    assert find(tmp_path, k=11) == ("k11", "k11")
    assert find(tmp_path) == ("k1", "k1")
    with pytest.raises(ce.errors.DatasetError, match="no patch"):
        find(tmp_path, k=2)


@pytest.mark.parametrize(
    ("model", "word"),
    [
        ("gpt-5", "gpt5"),
        ("GPT_5", "gpt5"),
        ("openai/gpt-5-2025-08-07", "gpt5"),
        ("anthropic/claude-sonnet-4.5", "claude"),
        ("Qwen/Qwen3-32B", "qwen"),
        ("Qwen/Qwen3-Coder-480B", "qwen_coder"),
        ("MiniMax-M2", "minimax"),
    ],
)
def test_a_model_is_found_by_its_familys_name(tmp_path, model, word):
    """The paper's pipeline writes such names; if several fit, the longest counts."""
    words = ["gpt5", "claude", "qwen", "qwen_coder", "minimax", "gemini"]
    write(
        tmp_path / "coop" / REPO / "task0" / "feature1_feature2",
        **{f"patch_{each}_k1_feature{n}": each for each in words for n in (1, 2)},
    )

    assert find(tmp_path, model=model) == (word, word)


def test_the_error_for_an_unknown_model_lists_the_known_ones(tmp_path):
    """Another model's patch is not used."""
    write(
        tmp_path / "coop" / REPO / "task0" / "feature1_feature2",
        **{
            f"patch_{word}_k1_feature{n}": "one"
            for word in ("claude", "gpt5", "qwen_coder")
            for n in (1, 2)
        },
    )

    for model in ("qwen3-32b", "gpt-5-mini", "gpt-4"):
        with pytest.raises(
            ce.errors.DatasetError, match=f"{model}.*there: claude, gpt5, qwen_coder"
        ):
            find(tmp_path, model=model)


def test_both_patches_are_of_one_model(tmp_path):
    """If a model has only one of the two, no other model's patch is added."""
    write(
        tmp_path / "coop" / REPO / "task0" / "feature1_feature2",
        patch_qwen_coder_k1_feature1="coder",
        patch_qwen_k1_feature1="one",
        patch_qwen_k1_feature2="two",
    )

    assert find(tmp_path, model="qwen3-32b") == ("one", "two")
    with pytest.raises(ce.errors.DatasetError, match="no patch of 'qwen_coder' for feature 2"):
        find(tmp_path, model="qwen3-coder")


@pytest.mark.parametrize("folder", ["feature1_feature2", "feature1_feature3"])
def test_one_patch_of_two_is_not_enough(tmp_path, folder):
    """A lost patch is an error, not an empty patch."""
    write(tmp_path / "coop" / REPO / "task0" / folder, patch_gpt5_k1_feature1="one")

    with pytest.raises(ce.errors.DatasetError, match="no patch"):
        find(tmp_path)


# --- today's layout -------------------------------------------------------------------


@pytest.mark.parametrize("setting", [*TOGETHER, Setting.SINGLE])
@pytest.mark.parametrize("pair", ["f1_f2", "f2_f1"])
def test_a_runs_patches_are_named_after_their_agents(tmp_path, setting, pair):
    """An agent has the number of its feature; the folder's name may be unsorted."""
    write(tmp_path / "my-run" / setting / REPO / "0" / pair, agent1="one", agent2="two")

    assert find(tmp_path, setting) == ("one", "two")
    assert find(tmp_path, setting, (2, 1), run_name="my-run") == ("two", "one")


def test_a_runs_solo_patch_is_both_sides(tmp_path):
    """One agent wrote both features."""
    write(tmp_path / "run" / "solo" / REPO / "0" / "f1_f2", solo="both", agent1="not this")

    assert find(tmp_path, Setting.SOLO) == ("both", "both")


@pytest.mark.parametrize(
    ("setting", "missing"), [(Setting.COOP, "agent2.patch"), (Setting.SOLO, "solo.patch")]
)
def test_a_missing_agents_file_is_named(tmp_path, setting, missing):
    """A lost patch is an error in this layout too."""
    folder = write(tmp_path / "run" / setting / REPO / "0" / "f1_f2", agent1="one")

    with pytest.raises(ce.errors.DatasetError) as caught:
        find(tmp_path, setting)

    assert caught.value.location == str(folder / missing)


def test_an_empty_patch_is_a_patch(tmp_path):
    """An agent may write nothing; that is a result."""
    folder = write(tmp_path / "run" / "coop" / REPO / "0" / "f1_f2", agent1="one")
    (folder / "agent2.patch").write_bytes(b"")

    patches = find_work(Setting.COOP, REPO, 0, (1, 2), model="m", logs_dir=tmp_path)[0]

    assert patches[1].files == ()


def test_several_runs_require_a_name(tmp_path):
    """The error lists the runs; a name selects one."""
    for run in ("a", "b"):
        write(tmp_path / run / "coop" / REPO / "0" / "f1_f2", agent1=f"{run}1", agent2=f"{run}2")

    with pytest.raises(ce.errors.DatasetError, match="a, b; pass run_name="):
        find(tmp_path)

    assert find(tmp_path, run_name="b") == ("b1", "b2")


@pytest.mark.parametrize("record", ["result.json", "config.json"])
def test_a_runs_model_selects_it(tmp_path, record):
    """The model may be in the record of the pair or of the run."""
    for run, model in (("a", "gpt-5"), ("b", "claude"), ("c", None)):
        pair = tmp_path / run / "coop" / REPO / "0" / "f1_f2"
        write(pair, agent1=f"{run}1", agent2=f"{run}2")
        place = pair if record == "result.json" else tmp_path / run
        (place / record).write_text(json.dumps({"model": model}))

    assert find(tmp_path, model="gpt-5") == ("a1", "a2")
    assert find(tmp_path, model="claude") == ("b1", "b2")
    with pytest.raises(ce.errors.DatasetError, match="a, b, c; pass run_name="):
        find(tmp_path, model="qwen")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"model": 5}', "null", "[" * 100_000])
def test_a_broken_record_names_no_model(tmp_path, text):
    """The broken record is ignored, and the run's other record is read."""
    for run, model in (("a", "gpt-5"), ("b", "claude")):
        pair = write(
            tmp_path / run / "coop" / REPO / "0" / "f1_f2", agent1=f"{run}1", agent2=f"{run}2"
        )
        (pair / "result.json").write_text(text)
        (tmp_path / run / "config.json").write_text(json.dumps({"model": model}))

    assert find(tmp_path, model="claude") == ("b1", "b2")


def test_two_runs_of_one_model_still_require_a_name(tmp_path):
    """The intended one cannot be known."""
    for run, model in (("a", "gpt-5"), ("b", "gpt-5"), ("c", "claude")):
        pair = write(tmp_path / run / "coop" / REPO / "0" / "f1_f2", agent1="1", agent2="2")
        (pair / "result.json").write_text(json.dumps({"model": model}))

    with pytest.raises(ce.errors.DatasetError, match="pair: a, b; pass"):
        find(tmp_path)


@pytest.mark.parametrize("run_name", [None, "run"])
def test_a_run_of_another_model_is_rejected(tmp_path, run_name):
    """Its patches would get a wrong name; case and punctuation do not matter."""
    pair = write(tmp_path / "run" / "coop" / REPO / "0" / "f1_f2", agent1="one", agent2="two")
    (pair / "result.json").write_text(json.dumps({"model": "GPT 5"}))

    assert find(tmp_path, model="gpt-5", run_name=run_name) == ("one", "two")
    with pytest.raises(ce.errors.DatasetError, match="is a run of model 'GPT 5', not 'claude'"):
        find(tmp_path, model="claude", run_name=run_name)


def test_a_run_has_no_second_try(tmp_path):
    """A second try is an error; the first one is not returned instead."""
    write(tmp_path / "run" / "coop" / REPO / "0" / "f1_f2", agent1="one", agent2="two")

    with pytest.raises(ce.errors.DatasetError, match="so k=2 is unknown"):
        find(tmp_path, k=2)


def test_a_run_without_the_pair_is_skipped(tmp_path):
    """So are other files beside the runs, and other settings, tasks and repositories."""
    write(tmp_path / "a" / "team" / REPO / "0" / "f1_f2", agent1="no", agent2="no")
    write(tmp_path / "b" / "coop" / REPO / "1" / "f1_f2", agent1="no", agent2="no")
    write(tmp_path / "c" / "coop" / "other_task" / "0" / "f1_f2", agent1="no", agent2="no")
    write(tmp_path / "d" / "coop" / REPO / "0" / "f1_f3", agent1="no", agent3="no")
    (tmp_path / "summary.json").write_text("{}")

    with pytest.raises(ce.errors.DatasetError, match=f"'gpt-5'.* of coop/{REPO}, task 0"):
        find(tmp_path)

    write(tmp_path / "e" / "coop" / REPO / "0" / "f1_f2", agent1="one", agent2="two")
    assert find(tmp_path) == ("one", "two")


# --- where ----------------------------------------------------------------------------


def test_a_run_name_selects_todays_layout(tmp_path):
    """Without one, the paper's layout has precedence."""
    paper = tmp_path / "coop" / REPO / "task0" / "feature1_feature2"
    write(paper, patch_gpt5_k1_feature1="paper", patch_gpt5_k1_feature2="paper")
    write(tmp_path / "run" / "coop" / REPO / "0" / "f1_f2", agent1="run", agent2="run")

    assert find(tmp_path) == ("paper", "paper")
    assert find(tmp_path, run_name="run") == ("run", "run")


def test_logs_and_cache_have_separate_folders(tmp_path, monkeypatch):
    """`./logs`, and the benchmark's cache in the home directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for root, word in ((tmp_path / "logs", "log"), (tmp_path / "home/.cooperbench_cache", "cache")):
        write(root / "run" / "coop" / REPO / "0" / "f1_f2", agent1=word, agent2=word)

    assert find(None) == ("log", "log")
    assert find(None, location=PatchLocation.CACHE) == ("cache", "cache")


def test_the_error_for_a_missing_folder_names_the_argument(tmp_path):
    """That is `logs_dir`."""
    with pytest.raises(ce.errors.DatasetError, match=r"pass logs_dir=\.\.\.") as caught:
        find(tmp_path / "nowhere")

    assert caught.value.location == str(tmp_path / "nowhere")


def test_a_file_that_is_not_a_patch_gives_a_patch_that_fails(tmp_path):
    """The agent's file is a result; the reason names the file."""
    folder = write(tmp_path / "run" / "coop" / REPO / "0" / "f1_f2", agent1="one")
    (folder / "agent2.patch").write_text("I give up.")

    (_, patch), _ = find_work(Setting.COOP, REPO, 0, (1, 2), model="gpt-5", logs_dir=tmp_path)

    result = ce.apply_patch(ce.Snapshot.from_files({}), patch)
    assert result.status is ce.PatchStatus.FAILED
    assert result.reason == f"{folder / 'agent2.patch'}: holds no diff"


def test_a_patch_that_cannot_be_read_is_an_error(tmp_path):
    """It is not a result of the agent."""
    folder = write(tmp_path / "run" / "coop" / REPO / "0" / "f1_f2", agent1="one", agent2="two")
    (folder / "agent2.patch").unlink()
    (folder / "agent2.patch").symlink_to("/proc/self/mem")

    with pytest.raises(ce.errors.DatasetError, match=r"agent2\.patch: cannot be read"):
        find(tmp_path)

    os.mkfifo(tmp_path / "pipe")  # it would block
    with pytest.raises(ce.errors.DatasetError, match=r"pipe: cannot be read \(not a regular"):
        read_patch(tmp_path / "pipe")


def test_the_hub_needs_its_package(monkeypatch):
    """The error names the extra that installs it."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)

    with pytest.raises(ce.errors.DatasetError, match=r"install 'cooperbench-eval\[hf\]'") as caught:
        find(None, location=PatchLocation.HF)

    assert isinstance(caught.value.__cause__, ImportError)


HUB = """
from pathlib import Path

def snapshot_download(dataset, repo_type, allow_patterns):
    (Path(__file__).parent / "asked").write_text(f"{repo_type} {dataset} {allow_patterns}")
    %s
"""


@pytest.fixture
def install_hub(tmp_path, monkeypatch):
    """Return a function that installs a hub client with the given download function."""

    def install(download):
        (tmp_path / "huggingface_hub.py").write_text(HUB % download)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "huggingface_hub", raising=False)

    yield install
    sys.modules.pop("huggingface_hub", None)


def test_the_hub_has_the_papers_layout(tmp_path, install_hub):
    """Only the task's patches are downloaded."""
    folder = tmp_path / "hub" / "coop" / REPO / "task0" / "feature1_feature2"
    write(folder, patch_gpt5_k1_feature1="one", patch_gpt5_k1_feature2="two")
    install_hub(f"return {str(tmp_path / 'hub')!r}")

    assert find(None, location=PatchLocation.HF) == ("one", "two")
    asked = (tmp_path / "asked").read_text()
    assert asked == f"dataset CodeConflict/experiments ['coop/{REPO}/task0/*/patch_*.patch']"


@pytest.mark.parametrize(
    ("download", "words"),
    [
        ("raise OSError('no network')", "cannot be downloaded from the hub .*no network"),
        ("return str(Path(__file__).parent)", "is not among the public results"),
    ],
)
def test_a_failing_download_is_one_of_our_errors(install_hub, download, words):
    """No error of the client escapes."""
    install_hub(download)

    with pytest.raises(ce.errors.DatasetError, match=words):
        find(None, location=PatchLocation.HF)


# --- words ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "argument", "known"),
    [
        (Setting, "setting", "single, solo, coop, coop_ablation, team, plan_execute"),
        (PatchLocation, "patch_location", "logs, cache, hf, gold"),
    ],
)
def test_a_value_must_be_a_known_one(kind, argument, known):
    """The error names the argument and its values."""
    assert [kind.of(member.value) for member in kind] == list(kind)

    with pytest.raises(ce.errors.DatasetError) as caught:
        kind.of("Coop")

    assert caught.value.location == argument
    assert caught.value.problem == f"'Coop' is unknown; known: {known}"


# --- every pair of a run ------------------------------------------------------------------


def discover(logs_dir, run_name="run"):
    """Return the identifying facts of a run's pairs, in order."""
    return [
        (str(pair.setting), pair.repo_name, pair.task_id, pair.numbers)
        for pair in discover_run(logs_dir, run_name)
    ]


def words(pair):
    """Return the words that a pair's patches hold; none for an empty patch."""
    return tuple(patch.data.split(b"+")[-1].decode().strip() for patch in pair.patches())


def test_a_runs_pairs_are_sorted(tmp_path):
    """Numbers are not compared as text; task 0 is valid, repositories have any name."""
    run = tmp_path / "run"
    write(run / "team" / "a_task" / "0" / "f1_f2", agent1="one")
    for task, pair in (("10", "f1_f2"), ("9", "f1_f10"), ("9", "f1_f9"), ("0", "f3_f4")):
        write(run / "coop" / "b_task" / task / pair, agent1="one")
    write(run / "coop" / "plain" / "0" / "f1_f2", agent1="one")
    write(run / "solo" / "a_task" / "0" / "f1_f2", solo="both")

    assert discover(tmp_path) == [
        ("coop", "b_task", 0, (3, 4)),
        ("coop", "b_task", 9, (1, 9)),
        ("coop", "b_task", 9, (1, 10)),
        ("coop", "b_task", 10, (1, 2)),
        ("coop", "plain", 0, (1, 2)),
        ("solo", "a_task", 0, (1, 2)),
        ("team", "a_task", 0, (1, 2)),
    ]


def test_every_two_of_several_agents_are_a_pair(tmp_path):
    """Each pair has its own two patches."""
    folder = tmp_path / "run" / "coop" / REPO / "1" / "f1_f2_f3"
    write(folder, agent1="one", agent2="two", agent3="three")

    pairs = list(discover_run(tmp_path, "run"))

    assert [pair.numbers for pair in pairs] == [(1, 2), (1, 3), (2, 3)]
    assert [words(pair) for pair in pairs] == [("one", "two"), ("one", "three"), ("two", "three")]
    assert {pair.directory for pair in pairs} == {folder}


def test_a_folder_may_be_one_team(tmp_path):
    """It has a patch of each agent, in the folder's order; a pair is a team of two."""
    task = tmp_path / "run" / "coop" / REPO / "1"
    write(task / "f3_f1_f10_f2", agent1="one", agent3="three", agent10="ten")
    write(task / "f1_f2", agent1="first", agent2="second")
    write(tmp_path / "run" / "solo" / REPO / "1" / "f1_f2_f3", solo="all")

    pair, team, solo = discover_run(tmp_path, "run", teams=True)

    assert (pair.numbers, words(pair)) == ((1, 2), ("first", "second"))
    assert (team.numbers, words(team)) == ((3, 1, 10, 2), ("three", "one", "ten", ""))
    assert (solo.numbers, words(solo)) == ((1, 2, 3), ("all", "all", "all"))


@pytest.mark.parametrize(
    ("name", "agents", "expected"),
    [
        ("f1_f3", (1, 2), ("agent 1", "agent 2")),
        ("f1_f3", (1, 3), ("agent 1", "agent 3")),
        ("f3_f5", (1, 2), ("agent 1", "agent 2")),
        ("f2_f1", (1, 2), ("agent 2", "agent 1")),
        ("f2_f1_f5", (1, 2, 3), ("agent 1", "agent 2", "agent 3")),
        ("f2_f1_f5", (1, 2, 5), ("agent 2", "agent 1", "agent 5")),
        ("f1_f3", (2,), ("", "agent 2")),
        ("f1_f3", (1,), ("agent 1", "")),
    ],
)
def test_patches_may_be_named_by_agent_or_by_feature(tmp_path, name, agents, expected):
    """A number that is no feature of the folder is that of an agent."""
    patches = {f"agent{number}": f"agent {number}" for number in agents}
    write(tmp_path / "run" / "coop" / REPO / "1" / name, **patches)

    (team,) = discover_run(tmp_path, "run", teams=True)

    assert words(team) == expected


def test_a_discovered_pair_keeps_the_folders_order(tmp_path):
    """The first feature is merged into the second."""
    write(tmp_path / "run" / "coop" / REPO / "1" / "f2_f1", agent1="one", agent2="two")

    (pair,) = discover_run(tmp_path, "run")

    assert pair.numbers == (2, 1)
    assert words(pair) == ("two", "one")


def test_a_solo_agents_pair_has_one_patch_twice(tmp_path):
    """Other files do not matter."""
    folder = tmp_path / "run" / "solo" / REPO / "1" / "f1_f2"
    write(folder, solo="both", agent1="not this")

    (pair,) = discover_run(tmp_path, "run")

    assert words(pair) == ("both", "both")


@pytest.mark.parametrize("setting", ["coop", "solo"])
def test_an_agent_without_a_file_handed_in_nothing(tmp_path, setting):
    """Its patch is empty and applies."""
    folder = tmp_path / "run" / setting / REPO / "1" / "f1_f2"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text("{}")

    (pair,) = discover_run(tmp_path, "run")

    for patch in pair.patches():
        assert patch.files == ()
        assert ce.apply_patch(ce.Snapshot.from_files({}), patch).status is ce.PatchStatus.EMPTY


def test_a_discovered_file_that_is_not_a_patch_fails(tmp_path):
    """It is the agent's result; a file that cannot be read is an error."""
    folder = write(tmp_path / "run" / "coop" / REPO / "1" / "f1_f2", agent1="one")
    (folder / "agent2.patch").write_bytes(b"\xff no patch")

    (pair,) = discover_run(tmp_path, "run")

    _, patch = pair.patches()
    assert ce.apply_patch(ce.Snapshot.from_files({}), patch).status is ce.PatchStatus.FAILED
    (folder / "agent2.patch").unlink()
    (folder / "agent2.patch").mkdir()
    with pytest.raises(ce.errors.DatasetError, match=r"agent2\.patch: cannot be read"):
        pair.patches()


@pytest.mark.parametrize(
    ("record", "names", "setting"),
    [
        ('{"setting": "team"}', ["agent1"], "team"),
        ('{"setting": "coop"}', ["solo"], "coop"),
        ('{"setting": null}', ["solo"], "solo"),
        ('{"setting": "swarm"}', ["agent1"], "coop"),
        ("[" * 100_000, ["agent1"], "coop"),
        (None, ["solo"], "solo"),
        (None, ["agent1", "agent2"], "coop"),
    ],
)
def test_without_setting_folders_the_record_has_the_setting(tmp_path, record, names, setting):
    """Without a record, a solo agent's patch decides."""
    folder = write(tmp_path / "run" / REPO / "0" / "f1_f2", **dict.fromkeys(names, "one"))
    if record is not None:
        (folder / "result.json").write_text(record)

    assert discover(tmp_path) == [(setting, REPO, 0, (1, 2))]


@pytest.mark.parametrize("level", ["coop", ""])
def test_a_discovered_pair_names_its_model(tmp_path, level):
    """The pair's record has precedence over the run's; both may be missing."""
    for pair in ("f1_f2", "f1_f3"):
        write(tmp_path / "run" / level / REPO / "0" / pair, agent1="one")
    assert {pair.model for pair in discover_run(tmp_path, "run")} == {None}

    (tmp_path / "run" / "config.json").write_text('{"model": "gpt-5"}')
    own = tmp_path / "run" / level / REPO / "0" / "f1_f3" / "result.json"
    own.write_text('{"model": "claude"}')

    assert [pair.model for pair in discover_run(tmp_path, "run")] == ["gpt-5", "claude"]


@pytest.mark.parametrize(
    "path",
    [
        "coop/r_task/1/f1",
        "coop/r_task/1/f1_f1",
        "coop/r_task/1/f1_x2",
        "coop/r_task/1/f01_f2",
        "coop/r_task/1/f1_f\u0662",
        "coop/r_task/1/features_1_2",
        "coop/r_task/task1/f1_f2",
        "coop/r_task/01/f1_f2",
        "coop/r_task/-1/f1_f2",
        "swarm/r_task/1/f1_f2",
        "coop/feature1_feature2",
    ],
)
def test_other_folders_are_skipped(tmp_path, path):
    """A run with only such folders has no pair."""
    write(tmp_path / "run" / path, agent1="one", agent2="two", solo="both")

    with pytest.raises(
        ce.errors.DatasetError, match="has no file that a pair or team of agents wrote"
    ):
        discover(tmp_path)

    write(tmp_path / "run" / "coop" / REPO / "1" / "f1_f2", agent1="one")
    (tmp_path / "run" / "coop" / REPO / "1" / "f1_f3").write_text("no folder")
    assert discover(tmp_path) == [("coop", REPO, 1, (1, 2))]


def test_an_unknown_setting_is_named_if_there_is_no_other(tmp_path):
    """It may be the one of a later version."""
    write(tmp_path / "run" / "swarm" / REPO / "1" / "f1_f2", agent1="one", agent2="two")

    with pytest.raises(
        ce.errors.DatasetError, match=r"unknown settings: swarm \(known: coop, coop_"
    ):
        discover(tmp_path)


def test_a_folder_without_a_record_or_patch_is_skipped(tmp_path):
    """A conversation is not enough; an empty patch is."""
    for pair, name in (("f1_f2", "conversation.json"), ("f1_f3", "agent3.patch")):
        folder = tmp_path / "run" / "coop" / REPO / "1" / pair
        folder.mkdir(parents=True)
        (folder / name).write_text("")

    assert discover(tmp_path) == [("coop", REPO, 1, (1, 3))]


@pytest.mark.parametrize("run_name", ["nonesuch", "a_file", "r" * 300])
def test_a_missing_run_is_named(tmp_path, run_name):
    """The error is raised at once, not with the first pair."""
    (tmp_path / "a_file").write_text("")

    with pytest.raises(ce.errors.DatasetError, match="cannot be read") as caught:
        discover_run(tmp_path, run_name)

    assert caught.value.location == str(tmp_path / run_name)
