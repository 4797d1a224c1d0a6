"""Names that used to be at the top level still work there, with a warning."""

import importlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from public_api import record_file

import cooperbench_eval
from cooperbench_eval.moved import moved_names

# Every name that the top level had before most moved to other modules.
BEFORE = (record_file("x").parent / "names_before_0.2.txt").read_text(encoding="utf-8").split()
ROOT = Path(__file__).parents[1]
ABOUT_OLD_NAMES = {"test_moved.py", "typing_api.py", "modules.md", "test_site.py"}
RENAMED = {
    "PeerAgreement": "CooperBenchAgreement",
    "PeerDisagreement": "CooperBenchDisagreement",
    "PeerEval": "CooperBenchResult",
    "PeerRun": "CooperBenchRun",
    "compare_with_peer": "compare_with_cooperbench",
}
OLD = """
import cooperbench_eval as ce
ce.ReportError
from cooperbench_eval import PeerRun
print(PeerRun.__name__)
from cooperbench_eval import *
assert "ReportError" not in globals()
"""


def test_every_name_of_before_is_public_or_has_moved():
    """None was lost, and none is both."""
    assert len(BEFORE) == 190
    assert set(BEFORE) - set(cooperbench_eval.__all__) == set(moved_names())


@pytest.mark.parametrize("name", moved_names())
def test_an_old_name_gives_the_same_object_with_a_warning(name):
    """The warning is about the line that uses the name, and says where it is now."""
    module, _, new = moved_names()[name].partition(".")
    place = importlib.import_module(f"cooperbench_eval.{module}")
    old, now = f"cooperbench_eval.{name}", f"cooperbench_eval.{module}.{new}"

    with pytest.warns(DeprecationWarning, match=rf"^{old} is now {now}; .* version 0\.2$") as told:
        found = getattr(cooperbench_eval, name)

    assert found is getattr(place, new)
    assert new in place.__all__
    assert new == RENAMED.get(name, name)
    assert [Path(each.filename) for each in told] == [Path(__file__)]


def test_an_old_program_is_warned_at_its_own_lines(tmp_path):
    """This holds for attributes and for `from` imports; `*` only imports what is public now."""
    script = tmp_path / "old.py"
    script.write_text(OLD)

    done = subprocess.run([sys.executable, script], capture_output=True, check=True, text=True)

    assert done.stdout == "CooperBenchRun\n"
    places = [line for line in done.stderr.splitlines() if "DeprecationWarning" in line]
    assert [each.partition(" Deprecation")[0] for each in places] == [
        f"{script}:3:",
        f"{script}:4:",
    ]


def uses_of_old_names(text):
    """Yield the old names that a text uses as attributes of the library or imports from it."""
    imported = re.findall(r"from cooperbench_eval import (\([^)]*\)|[^\n]*)", text)
    words = {word for each in imported for word in re.findall(r"\w+", each)}
    words |= set(re.findall(r"\b(?:ce|cooperbench_eval)\.(\w+)", text))
    return words & moved_names().keys()


def test_our_own_programs_and_pages_use_no_old_name():
    """This holds for what the tests do not run, too: benchmarks, notebooks, prose."""
    own = [
        file
        for folder in ("benchmarks", "cooperbench_eval", "docs", "tests", "README.md")
        for file in [ROOT / folder, *(ROOT / folder).rglob("*")]
        if file.suffix in {".ipynb", ".md", ".py"} and file.name not in ABOUT_OLD_NAMES
    ]

    found = {str(file): names for file in own if (names := uses_of_old_names(file.read_text()))}

    assert len(own) > 500
    assert found == {}
    assert uses_of_old_names("from cooperbench_eval import (\n    Patch,\n    PeerRun,\n)") == {
        "PeerRun"
    }
    assert uses_of_old_names("x = ce.ReportError, ce.errors.PatchError") == {"ReportError"}


def test_a_present_name_gives_no_warning():
    """Neither the names nor the modules that hold the rest do."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in cooperbench_eval.__all__:
            assert getattr(cooperbench_eval, name) is not None


def test_a_name_that_never_existed_is_an_attribute_error():
    """It is not looked for among old names when it is private."""
    for name in ("nonesuch", "_nonesuch"):
        with pytest.raises(AttributeError, match=name):
            getattr(cooperbench_eval, name)


def test_the_policy_of_cooperbench_is_still_found_under_its_old_name():
    """It is not listed under this name. The warning is about the line of the caller."""
    policies = cooperbench_eval.analysis.POLICIES

    old, new = "upstream-0.0.29", "cooperbench-0.0.29"
    found = cooperbench_eval.summarize([], policies=new).policies

    with pytest.warns(DeprecationWarning, match=f"{old}' is now '{new}") as told:
        assert policies[old] is policies[new]
    with pytest.warns(DeprecationWarning, match=f"{old}' is now '{new}") as told_late:
        assert cooperbench_eval.summarize([], policies=old).policies == found
    with pytest.warns(DeprecationWarning, match=f"{old}' is now '{new}"):
        assert found[old] is found[new]

    assert list(found) == [new]
    assert old not in list(policies)
    assert {Path(each.filename) for each in (*told, *told_late)} == {Path(__file__)}


def test_a_disagreement_still_has_its_result_under_the_old_name():
    """The field was called `peer`."""
    judged = cooperbench_eval.analysis.PolicyVerdict(verdict="correct")
    found = cooperbench_eval.analysis.CooperBenchDisagreement(
        cooperbench="result", ours="report", judged=judged
    )

    with pytest.warns(
        DeprecationWarning, match="CooperBenchDisagreement.peer is now .coop"
    ) as told:
        assert found.peer == "result"

    assert Path(told[0].filename) == Path(__file__)
