"""The options `python`, `setup` and `readable` of everything that evaluates a dataset's tasks."""

import venv
from concurrent.futures import ThreadPoolExecutor

import pytest
from needs import need_bubblewrap
from sweepparts import code, make_repository, make_run, make_task

import cooperbench_eval as ce
from cooperbench_eval.errors import DatasetError

CHECK = ("python", "-c", "import os, sys; sys.exit(not (os.path.exists('made') and sys.argv[1:]))")


@pytest.fixture
def threads():
    """Where pairs are evaluated; processes would take longer to start."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture
def ways(tmp_path, threads):
    """Return functions that evaluate the task's pairs or teams, each with given options."""
    repo, dataset, logs = (tmp_path / name for name in ("repo.git", "dataset", "logs"))
    task = make_task(dataset, make_repository(repo))
    make_run(logs, {1: code(a=1), 2: code(b=2)})

    def suite_of(task, number):
        return task.suite(number, command=(*CHECK, "suite_of"), framework="exit")

    def evaluate(**options):
        pair = ("coop", "numbers_task", 0, 1, 2, "m", "gold")
        options |= {"dataset_dir": dataset, "repo_dir": repo, "framework": "exit"}
        return [ce.evaluate(*pair, command=(*CHECK, "command"), **options)]

    sweep = {"suite_of": suite_of, "executor": threads}
    return {
        "evaluate": evaluate,
        "gold_matrix": lambda **options: ce.gold_matrix(task, repo_dir=repo, **sweep, **options),
        "gold_teams": lambda **options: ce.gold_teams(
            task, size=3, repo_dir=repo, **sweep, **options
        ),
        "evaluate_run": lambda **options: ce.evaluate_run(
            logs, "run", dataset_dir=dataset, repo_dirs=repo, **sweep, **options
        ),
    }


WAYS = ["evaluate", "gold_matrix", "gold_teams", "evaluate_run"]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_evaluate_takes_an_interpreter_and_a_set_up(ways, way, tmp_path):
    """Both apply to each suite, also to one that the caller's own function returns."""
    venv.create(tmp_path / "venv", symlinks=True)
    options = {"python": tmp_path / "venv", "setup": iter([["touch", "made"], ["true"]])}

    (report, *_) = ways[way](**options)

    for feature in getattr(report, "features", None) or (report.feature1, report.feature2):
        assert feature.tests.passed, feature.tests
        assert feature.tests.command[0] == str(tmp_path / "venv" / "bin" / "python")


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_evaluate_takes_readable_paths(ways, way, bubblewrap_works):
    """A path that does not exist is named in each result, so it has reached the sandbox."""
    (report, *_) = ways[way](readable=["/no/such/path"])

    assert "`readable` /no/such/path does not exist" in report.problem


@pytest.mark.parametrize(
    ("option", "value"), [("python", None), ("setup", ("true",)), ("readable", ("/opt",))]
)
@pytest.mark.parametrize("way", WAYS[:2])
def test_an_image_has_its_own_programs(ways, way, option, value, tmp_path):
    """So the three options are refused, by name, instead of being ignored."""
    if option == "python":
        venv.create(tmp_path / "venv", symlinks=True)
        value = tmp_path / "venv"

    with pytest.raises(DatasetError, match=f"{option}: cannot be combined with in_image=True"):
        list(ways[way](in_image=True, **{option: value}))


@pytest.fixture
def bubblewrap_works():
    """Require that the default sandbox hides files."""
    need_bubblewrap()
