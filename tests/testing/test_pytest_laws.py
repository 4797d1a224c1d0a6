"""The base classes under pytest, as in the test suite of a plug-in."""

import os
import re
import subprocess
import sys

import pytest

from cooperbench_eval.testing import STRATEGY_LAWS, StrategyLaws

SUITE = '''
import pytest
import cooperbench_eval as ce
from cooperbench_eval.testing import StrategyLaws

class Numbers:
    name = "numbers"
    number = 0
    def merge(self, merge_input, /):
        """Differs for every input; the few random inputs need not have a conflict."""
        self.number += 1
        return ce.MergeOutcome(changes=ce.Changes({"number": ce.Entry(b"%d" % self.number)}))

class Laws(StrategyLaws):
    """Makes nothing yet, so there is nothing to collect."""
    examples = 6

class TestUnion(Laws):
    opt_out = {"symmetry": "ours comes first"}
    def make_strategy(self):
        return ce.get_strategy("union")

class NumbersKeepTheLaws(Laws):
    """Is collected whatever it is called."""
    @pytest.fixture(autouse=True)
    def make(self, tmp_path):
        self.made = Numbers()
    def make_strategy(self):
        return self.made
    def test_of_its_own(self):
        assert self.made.number == 0

class TestExcused(NumbersKeepTheLaws):
    opt_out = {"determinism": "it numbers its answers"}

class TestClass(Laws):
    def make_strategy(self):
        return Numbers

class Careless(Numbers):
    def merge(self, merge_input, /):
        raise LookupError("where")

class TestCareless(Laws):
    def make_strategy(self):
        return Careless()
'''


def run_pytest(folder, source, *options, config=""):
    """Run pytest on a module in a folder of its own; return its output."""
    (folder / "test_plugin.py").write_text(source)
    (folder / "pytest.ini").write_text(f"[pytest]\n{config}\n")
    done = subprocess.run(
        (sys.executable, "-m", "pytest", "-v", "-ra", "-p", "no:cacheprovider", *options),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """Return pytest's output for the suite, with strict settings."""
    strict = "python_classes = *\nxfail_strict = true\nfilterwarnings = error"
    chosen = "TestUnion or determinism or own or TestClass or TestCareless"
    return run_pytest(tmp_path_factory.mktemp("suite"), SUITE, "-k", chosen, config=strict)


@pytest.mark.long
def test_each_law_is_a_test(output):
    """Under the name of the law, in the order of the laws."""
    found = re.findall(r"::TestUnion::test_law\[(\w+)\] (\w+)", output)

    assert found == [
        (law.name, "XPASS" if law.name == "symmetry" else "PASSED") for law in STRATEGY_LAWS
    ]


def test_classes_without_a_strategy_are_not_collected(output):
    """Neither the imported base class nor an intermediate class is."""
    classes = set(re.findall(r"test_plugin.py::(\w+)::", output))

    made = {"TestUnion", "NumbersKeepTheLaws", "TestExcused", "TestClass", "TestCareless"}
    assert classes == made


def test_a_mistake_that_breaks_every_law_is_shown_once(output):
    """So is an object that is not a strategy; the other tests name the first law."""
    failures = output.partition("short test summary")[0]
    count = len(STRATEGY_LAWS)

    line = SUITE.splitlines().index('        raise LookupError("where")') + 1
    where = f"(test_plugin.py, line {line}, in merge)"

    assert failures.count(f"LookupError('where') {where}") == 1
    # The law of swapped sides does not apply.
    again = f"the same mistake as in the law identity: LookupError {where}"
    assert failures.count(again) == count - 2
    assert failures.count("is a class; pass an instance, as Numbers()") == 1
    assert failures.count("the same mistake as in the law identity\n") == count - 1


def test_a_broken_law_fails_with_its_counterexample(output):
    """There is no traceback through the kit. Fixtures may help to make the strategy."""
    assert "::NumbersKeepTheLaws::test_law[determinism] FAILED" in output
    assert "::NumbersKeepTheLaws::test_of_its_own PASSED" in output
    head = r"_ NumbersKeepTheLaws.test_law\[determinism\] _+\n"
    shown = re.search(head + r"(.*?)\n___", output, re.DOTALL)[1]
    assert "determinism: broken" in shown
    assert all(f"\n  {word} " in shown for word in ("given", "came", "wanted"))
    assert "Error" not in shown


def test_an_opt_out_is_listed_with_its_reason(output):
    """It is expected to fail, and never skipped."""
    reasons = re.findall(r"^XFAIL test_plugin.py::(.*)$", output, re.MULTILINE)

    assert reasons == ["TestExcused::test_law[determinism] - it numbers its answers"]
    assert "TestUnion::test_law[symmetry] - ours comes first" in output
    assert " skipped" not in output


def test_a_class_instead_of_a_strategy_is_an_error(output):
    """The error says what to pass."""
    assert "::TestClass::test_law[identity] FAILED" in output
    assert "is a class; pass an instance, as Numbers()\n___" in output


def test_hypothesis_settings_are_the_users(tmp_path):
    """The profile sets the number of examples and the verbosity."""
    source = """
import hypothesis
import cooperbench_eval as ce
from cooperbench_eval.testing import StrategyLaws

hypothesis.settings.register_profile("few", max_examples=3, verbosity=hypothesis.Verbosity.verbose)
hypothesis.settings.load_profile("few")
ASKED = []

class Counting:
    name = "counting"
    def merge(self, merge_input, /):
        ASKED.append(merge_input.ours)
        return ce.get_strategy("naive").merge(merge_input)

class TestCounting(StrategyLaws):
    def make_strategy(self):
        return Counting()

class TestFewer(TestCounting):
    examples = 1

def test_how_often():
    print("asked", len(ASKED))
"""

    output = run_pytest(tmp_path, source, "-s", "-k", "markers or often")

    assert "asked 4\n" in output
    assert "MergeCase(" in output
    assert "2 passed" not in output
    assert "3 passed" in output


SANDBOXES = """
import attrs
import cooperbench_eval as ce
from cooperbench_eval.testing import SandboxLaws

class Loud:
    name = identity = "loud"
    def run(self, command, **options):
        execution = ce.LocalSandbox().run(command, **options)
        return attrs.evolve(execution, output=execution.output.upper())

class TestLoud(SandboxLaws):
    opt_out = {"files": "it is loud"}
    def make_sandbox(self):
        return Loud()

class TestIsolating(SandboxLaws):
    isolates = True
    def make_sandbox(self):
        return ce.LocalSandbox()
    def leftovers(self):
        return ["a container"]

class TestName(SandboxLaws):
    def make_sandbox(self):
        return "nonsense"
"""


def test_sandboxes_have_a_class_too(tmp_path):
    """It has opt-outs, the laws of isolation, and a list of other leftovers."""
    chosen = "files or input or nothing_left"

    output = run_pytest(tmp_path, SANDBOXES, "-k", chosen, config="filterwarnings = error")

    found = dict(re.findall(r"::(\w+::test_law\[\w+\]) (\w+)", output))
    assert found == {
        "TestLoud::test_law[input]": "FAILED",
        "TestLoud::test_law[files]": "XFAIL",
        "TestLoud::test_law[nothing_left]": "FAILED",
        "TestIsolating::test_law[input]": "PASSED",
        "TestIsolating::test_law[files]": "PASSED",
        "TestIsolating::test_law[nothing_left]": "FAILED",
        "TestIsolating::test_law[other_files]": "FAILED",
        **{f"TestName::test_law[{name}]": "FAILED" for name in ("input", "files", "nothing_left")},
    }
    assert "XFAIL test_plugin.py::TestLoud::test_law[files] - it is loud" in output
    assert "output b'END\\n'" in output
    assert "left behind: ['a container']" in output
    assert "no sandbox is called 'nonsense'" in output


@pytest.mark.parametrize(
    ("opt_out", "words"),
    [({"idendity": "typo"}, "no law is called 'idendity'"), ({"identity": ""}, "say why")],
)
def test_an_opt_out_that_says_nothing_is_refused(opt_out, words):
    """The error is raised when the class is made."""
    with pytest.raises(ValueError, match=words):
        type("TestMine", (StrategyLaws,), {"opt_out": opt_out})
