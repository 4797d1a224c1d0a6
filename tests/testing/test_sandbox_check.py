"""The check finds sandboxes that break a law, shows how, and cleans up after them."""

import os
import re
import time
from pathlib import Path

import broken_sandboxes as broken
import pytest

import cooperbench_eval as ce
from cooperbench_eval.testing import SANDBOX_LAWS, SandboxLaws, check_sandbox
from cooperbench_eval.testing.sandbox_bench import sandbox_bench
from cooperbench_eval.testing.sandbox_check import check_sandbox_law

LAWS = {law.name: law for law in SANDBOX_LAWS}

# Which sandbox breaks each law, and a part of its counterexample.
CULPRITS = [
    ("protocol", broken.ChangesIdentity, "the same again"),
    ("protocol", broken.ForgetsItsName, "an identity that begins with the name 'wrapped'"),
    ("protocol", broken.HoldsAnOpenFile, "cannot pickle an engine's connection"),
    ("arguments", broken.CutsArguments, "10,001 arguments"),
    ("environment", broken.InheritsTheEnvironment, "the caller's variable"),
    ("environment", broken.ForgetsVariables, "the variable MINE=1"),
    ("input", broken.LeavesInputOpen, "timed out"),
    ("files", broken.KeepsScratchToItself, "from the caller"),
    ("files", broken.StartsElsewhere, "No such file"),
    ("exit_status", broken.KnowsZeroAndOne, "exit status 126 and nothing else"),
    ("cannot_start", broken.AnswersAsAShell, "exit status 127"),
    ("cannot_start", broken.BlamesItself, "the failure of the sandbox"),
    ("output", broken.CutsTheMiddle, "(48,9"),
    ("output", broken.ShowsTabs, r"\t\x1b[1m"),
    ("deadline", broken.TellsNoTime, "-5.000 seconds"),
    ("files", broken.MarksTheTree, r".marker\n"),
    ("output", broken.DecodesOutput, r"\xef\xbf\xbd"),
    ("large_output", broken.KeepsTheHead, "the first lines and the last ones"),
    ("large_output", broken.KeepsItAll, "60,000,010 bytes of output"),
    ("deadline", broken.HidesTheDeadline, "exit_code=137"),
    ("deadline", broken.Plain, "processes of the command are left"),
    ("nothing_left", broken.Plain, "processes of the command are left"),
    ("nothing_left", broken.LeavesAFile, "left in the temporary directory"),
    ("killed_caller", broken.Plain, "processes of the command are left"),
    ("no_streams", broken.NeverReturns, "it did not end"),
    ("many_at_once", broken.MixesRuns, "exit status 0 and b'"),
    ("many_at_once", broken.Plain, "processes of the command are left"),
    ("many_at_once", broken.LeavesAFile, "left in the temporary directory"),
    ("network", broken.Wrapped, "only lo"),
    ("other_files", broken.Wrapped, "a file beside the tree was read"),
    ("other_processes", broken.Wrapped, "only its own few"),
    ("other_processes", broken.HidesProcesses, "a process of the machine was killed"),
    ("clean_start", broken.Wrapped, "output b'/"),
]

# These take a second or more, because a law waits that long or reads much.
LONG = {
    "input-LeavesInputOpen",
    "large_output-KeepsTheHead",
    "deadline-TellsNoTime",
    "deadline-HidesTheDeadline",
}

# Folders of the machine that a law writes to if the sandbox does not isolate.
SHARED = [Path(name) for name in ("/", "/tmp", "/var/tmp", "/dev/shm")]  # noqa: S108 - looked into


@pytest.fixture
def check(monkeypatch):
    """Return a function that checks one law of a sandbox, and looks for leftovers."""

    def check(name, sandbox, *, slack_seconds=4.0):
        if isinstance(sandbox, broken.NeverReturns):
            monkeypatch.setattr("cooperbench_eval.testing.sandbox_laws._CALLER_SECONDS", 0.3)
        with sandbox_bench(
            sandbox,
            slack_seconds=slack_seconds,
            patience_seconds=0.3,
            parallel_runs=6,
            parallel_width=6,
        ) as bench:
            result = check_sandbox_law(bench, LAWS[name])
            word = bench.word
        assert not any(word.encode() in each for each in command_lines())
        assert not any((folder / word).exists() for folder in SHARED)
        return result

    return check


def command_lines():
    """Yield the command line of each live process except this one."""
    for folder in Path("/proc").glob("[0-9]*"):
        if folder.name != str(os.getpid()):
            try:
                yield (folder / "cmdline").read_bytes()
            except OSError:
                continue


def culprits():
    """Yield the parameters of the test, and mark the long ones."""
    for name, kind, words in CULPRITS:
        test = f"{name}-{kind.__name__}"
        marks = [pytest.mark.long] if test in LONG else []
        yield pytest.param(name, kind, words, id=test, marks=marks)


@pytest.mark.parametrize(("name", "kind", "words"), [*culprits()])
def test_a_broken_law_is_found(check, name, kind, words):
    """The counterexample shows the script, the result and what was expected."""
    result = check(name, kind())

    shown = str(result)
    assert result.status == "broken"
    assert words in shown
    assert result.law.asks in shown
    assert len(shown) < 3000


@pytest.mark.long
def test_a_late_end_is_found(check):
    """The end comes later than the slack allows."""
    result = check("deadline", broken.IgnoresTheDeadline(), slack_seconds=0.5)

    assert result.status == "broken"
    assert "it took " in result.counterexample.came


def test_every_law_is_broken_by_some_sandbox():
    """No law is without a test."""
    assert {name for name, *_ in CULPRITS} == LAWS.keys()


@pytest.mark.parametrize(
    ("kind", "words"),
    [(broken.SetsAVariable, "['LEAKED'] changed"), (broken.ChangesFolder, "the caller is in /")],
)
def test_a_change_of_the_caller_is_found(check, kind, words):
    """Afterwards the caller is as it was before."""
    before, folder = dict(os.environ), Path.cwd()

    result = check("environment", kind())

    assert words in str(result)
    assert (dict(os.environ), Path.cwd()) == (before, folder)


@pytest.mark.parametrize("name", ["protocol", "no_streams"])
def test_a_sandbox_that_a_script_defines_goes_to_other_processes(check, name):
    """Its class is pickled by value."""

    class Mine(ce.LocalSandbox):
        """Unknown to other processes."""

    assert check(name, Mine()).status == "held"


def test_a_shell_that_becomes_its_last_program_is_found(check):
    """Bash and busybox replace themselves by the last program; all processes are found anyway."""

    class InBash(ce.LocalSandbox):
        """Whose `sh` is bash."""

        def run(self, command, **options):
            """Replace the shell, which goes on at once."""
            script = command[2].replace("; do sleep 0.02;", "; do :;")
            return super().run(("bash", "-c", script, *command[3:]), **options)

    assert check("killed_caller", InBash()).status == "held"


@pytest.mark.parametrize("name", ["no_streams", "killed_caller"])
def test_a_sandbox_that_cannot_be_loaded_elsewhere_breaks_no_law(check, name):
    """Its law cannot be checked."""
    result = check(name, broken.LoadsOnlyHere())

    assert (result.status, result.counterexample) == ("not_checked", None)


@pytest.mark.parametrize("wrong", [{"deadline_seconds": 0}, {"parallel_runs": 0}])
def test_arguments_must_be_positive(wrong):
    """Otherwise it would look like a fault of the sandbox."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        check_sandbox("local", **wrong)


@pytest.mark.parametrize(
    "kind", [kind for name, kind, _ in CULPRITS if name in {"output", "files", "environment"}]
)
@pytest.mark.parametrize(
    "name", ["protocol", pytest.param("exit_status", marks=pytest.mark.long), "nothing_left"]
)
def test_other_laws_still_hold(check, kind, name):
    """A mistake only breaks the law about it."""
    assert check(name, kind()).status == "held"


def test_a_sandbox_that_keeps_the_laws_passes(tmp_path, monkeypatch):
    """Without a claim to isolate, the laws of isolation are opted out of."""
    laws = [LAWS[name] for name in ("protocol", "files", "nothing_left", "network")]
    monkeypatch.setattr("cooperbench_eval.testing.sandbox_check.SANDBOX_LAWS", laws)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    results = check_sandbox("local")

    assert [result.status.value for result in results] == ["held", "held", "held", "opted_out"]
    assert results[-1].reason == "the sandbox does not claim to isolate"
    assert str(results[0]) == "protocol: held in 1 case"
    assert list(tmp_path.iterdir()) == []


# --- what a sandbox may do to the check ---------------------------------------------------------


@pytest.fixture
def few_laws(monkeypatch):
    """Check only one quick law, and one of isolation."""
    monkeypatch.setattr(
        "cooperbench_eval.testing.sandbox_check.SANDBOX_LAWS", (LAWS["input"], LAWS["network"])
    )


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        (broken.RaisesAnything, "broken", "it raised ZeroDivisionError()"),
        (broken.ReturnsBytes, "broken", "it returned b'end\\n'"),
        (broken.NeverReturns, "broken", "no answer within 0.5 seconds"),
        (broken.IsDown, "not_checked", "no engine answers"),
    ],
)
def test_an_unexpected_behaviour_becomes_a_result(few_laws, kind, status, words):
    """Nothing is raised, and the check does not hang."""
    started = time.monotonic()

    result, _ = check_sandbox(kind(), deadline_seconds=0.5)

    assert time.monotonic() - started < 10
    assert (result.status, result.is_ok) == (status, False)
    assert words in str(result)


def test_an_opt_out_keeps_its_reason(few_laws):
    """The law is checked anyway."""
    reasons = {"input": "people type", "network": "tests fetch"}

    typed, fetched = check_sandbox(broken.ReturnsBytes(), opt_out=reasons)

    assert typed.is_ok
    assert (typed.reason, fetched.reason) == ("people type", "tests fetch")
    assert "it returned b'end" in typed.counterexample.came


@pytest.mark.parametrize(
    ("opt_out", "words"), [({"inputs": "typo"}, "no law is called"), ({"input": ""}, "say why")]
)
def test_an_opt_out_names_a_law_and_a_reason(opt_out, words):
    """This holds for the function and for the class."""
    with pytest.raises(ValueError, match=words):
        check_sandbox("local", opt_out=opt_out)
    with pytest.raises(ValueError, match=words):
        type("TestMine", (SandboxLaws,), {"opt_out": opt_out})


@pytest.mark.parametrize("candidate", [None, broken.Wrapped, object()])
def test_an_object_that_is_not_a_sandbox_is_refused(candidate):
    """No law is checked then."""
    with pytest.raises(ce.errors.SandboxLoadError, match="pass an instance"):
        check_sandbox(candidate)


def test_the_page_lists_the_laws():
    """Each has the sentence that results show."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-sandbox.md"

    rows = re.findall(r"^- `(\w+)`: (.*)$", page.read_text(), re.MULTILINE)

    assert rows == [(law.name, law.asks) for law in SANDBOX_LAWS]


def test_other_leftovers_break_a_law(check):
    """The caller lists them, for example containers."""
    with sandbox_bench(broken.Wrapped(), leftovers=lambda: ["container 1"]) as bench:
        result = check_sandbox_law(bench, LAWS["nothing_left"])

    assert result.counterexample.came == "left behind: ['container 1']"
