"""Sandboxes that break one law each, as an author might by mistake."""

import os
import pickle
import re
import signal
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

import attrs

import cooperbench_eval as ce
from cooperbench_eval.errors import TestRunError
from cooperbench_eval.running import Execution


@attrs.frozen
class Wrapped:
    """Does as the local sandbox does, which keeps the laws."""

    name: str = "wrapped"

    @property
    def identity(self):
        """Return the name."""
        return self.name

    def run(self, command, *, tree, scratch, env, timeout_seconds):
        """Leave it to the local sandbox."""
        return ce.LocalSandbox().run(
            command, tree=tree, scratch=scratch, env=env, timeout_seconds=timeout_seconds
        )


class ChangesIdentity(Wrapped):
    """Is another each time it is asked."""

    @property
    def identity(self):
        """Return the name with something new."""
        return f"{self.name} {uuid.uuid4()}"


class ForgetsItsName(Wrapped):
    """Has an identity that says nothing of it."""

    @property
    def identity(self):
        """Return a digest."""
        return "0123abcd"


class HoldsAnOpenFile(Wrapped):
    """Does not go to other processes."""

    def __reduce__(self):
        raise pickle.PicklingError("cannot pickle an engine's connection")


class CutsArguments(Wrapped):
    """Puts arguments into one line that is too short for many."""

    def run(self, command, **options):
        """Keep a thousand."""
        return super().run(command[:1000], **options)


class InheritsTheEnvironment(Wrapped):
    """Passes all of the caller's variables on."""

    def run(self, command, *, env, **options):
        """Lay the variables over the caller's."""
        return super().run(command, env=dict(os.environ) | dict(env), **options)


class ForgetsVariables(Wrapped):
    """Does not pass on what it was given, but for what is odd."""

    def run(self, command, *, env, **options):
        """Leave plain variables out."""
        return super().run(command, env={k: v for k, v in env.items() if v != "1"}, **options)


class LeavesInputOpen(Wrapped):
    """Lets the command wait for somebody to type."""

    def run(self, command, **options):
        """Give it a pipe into which nobody writes."""
        if command[2] != "cat; echo end":
            return super().run(command, **options)
        script = f"sleep 60 | ({command[2]})"
        return super().run((*command[:2], script, *command[3:]), **options)


class KeepsScratchToItself(Wrapped):
    """Does not bring back what was written beside the tree."""

    def run(self, command, *, scratch, **options):
        """Give it another directory in the place of the scratch directory."""
        with tempfile.TemporaryDirectory() as other:
            words = [word.replace(str(scratch), other) for word in command]
            for file in scratch.iterdir():
                Path(other, file.name).write_bytes(file.read_bytes())
            return super().run(words, scratch=Path(other), **options)


class StartsElsewhere(Wrapped):
    """Starts where it finds it convenient."""

    def run(self, command, *, tree, **options):
        """Start in a folder inside of the tree."""
        (tree / "inside").mkdir()
        return super().run(command, tree=tree / "inside", **options)


class KnowsZeroAndOne(Wrapped):
    """Says whether it went well, and no more."""

    def run(self, command, **options):
        """Tell 1 for any status but 0."""
        execution = super().run(command, **options)
        status = execution.exit_code
        # What is told of daemons and deadlines has statuses of its own.
        return attrs.evolve(execution, exit_code=1 if status in {126, 255} else status)


class AnswersAsAShell(Wrapped):
    """Takes a command that is not there for one that failed."""

    def run(self, command, **options):
        """Tell 127 where nothing could be started."""
        try:
            return super().run(command, **options)
        except TestRunError:
            return Execution(exit_code=127)


class BlamesItself(Wrapped):
    """Takes a command that is not there for a failure of its own."""

    def run(self, command, **options):
        """Raise what is raised where an engine is down."""
        try:
            return super().run(command, **options)
        except TestRunError as exc:
            raise ce.SandboxError(str(exc)) from exc


class CutsTheMiddle(Wrapped):
    """Keeps the ends of any output."""

    def run(self, command, **options):
        """Keep 300 bytes."""
        execution = super().run(command, **options)
        kept = execution.output
        if len(kept) > 300:
            kept = kept[:150] + kept[-150:]
        return attrs.evolve(execution, output=kept)


class ShowsTabs(Wrapped):
    """Makes output fit for a terminal."""

    def run(self, command, **options):
        """Replace tabs, and drop what starts a colour."""
        execution = super().run(command, **options)
        output = execution.output.replace(b"\t", b" ").replace(b"\x1b", b"")
        return attrs.evolve(execution, output=output)


class TellsNoTime(Wrapped):
    """Subtracts the wrong way round where there is much time."""

    def run(self, command, **options):
        """Tell a time before the start."""
        execution = super().run(command, **options)
        seconds = -5.0 if options["timeout_seconds"] > 100 else execution.duration_seconds
        return attrs.evolve(execution, duration_seconds=seconds)


class MarksTheTree(Wrapped):
    """Leaves a file of its own where the command starts."""

    def run(self, command, *, tree, **options):
        """Write it before the command."""
        (tree / ".marker").write_text("mine")
        return super().run(command, tree=tree, **options)


class SetsAVariable(Wrapped):
    """Changes its caller's environment."""

    def run(self, command, **options):
        """Set one."""
        os.environ["LEAKED"] = "1"
        return super().run(command, **options)


class ChangesFolder(Wrapped):
    """Goes where the command is to go."""

    def run(self, command, *, tree, **options):
        """Leave its caller there."""
        os.chdir(tree)
        return super().run(command, tree=tree, **options)


class LoadsHereAlone(Wrapped):
    """Pickles, and raises in any other process that loads it."""

    def __reduce__(self):
        return load_in, (os.getpid(),)


def load_in(process):
    """Return one in *process* alone."""
    if os.getpid() != process:
        raise OSError("no engine here")
    return LoadsHereAlone()


class DecodesOutput(Wrapped):
    """Takes what is printed for UTF-8."""

    def run(self, command, **options):
        """Replace what it cannot decode."""
        execution = super().run(command, **options)
        if b"\x80" not in execution.output:
            return execution
        return attrs.evolve(execution, output=execution.output.decode(errors="replace").encode())


class KeepsTheHead(Wrapped):
    """Cuts long output at its end."""

    def run(self, command, **options):
        """Keep the first megabyte."""
        execution = super().run(command, **options)
        return attrs.evolve(execution, output=execution.output[:1_000_000])


class KeepsItAll(Wrapped):
    """Keeps the whole of long output in memory."""

    def run(self, command, **options):
        """Read as much as there is."""
        if "yes" not in command[2] or "head" not in command[2]:
            return super().run(command, **options)
        script = command[2].replace("500000000", "60000000")
        done = subprocess.run(("sh", "-c", script), capture_output=True, check=False)
        return Execution(exit_code=0, output=done.stdout, duration_seconds=1)


class IgnoresTheDeadline(Wrapped):
    """Is late."""

    def run(self, command, *, timeout_seconds, **options):
        """Give it more time than there is."""
        return super().run(command, timeout_seconds=timeout_seconds + 1, **options)


class HidesTheDeadline(Wrapped):
    """Kills at the deadline and tells an exit status."""

    def run(self, command, **options):
        """Tell 137, as a shell would."""
        execution = super().run(command, **options)
        is_late = execution.timed_out and "daemon" in command[2]
        return attrs.evolve(execution, exit_code=137, timed_out=False) if is_late else execution


@attrs.frozen
class Plain(Wrapped):
    """Starts a process and waits for it, as anybody would at first."""

    name: str = "plain"

    def run(self, command, *, tree, scratch, env, timeout_seconds):
        """Kill the process itself at the deadline, and nobody else."""
        variables = {"PATH": os.environ["PATH"], "HOME": str(tree), "TMPDIR": str(scratch)}
        started = time.monotonic()
        with tempfile.TemporaryFile() as output:
            with subprocess.Popen(
                command,
                cwd=tree,
                env=variables | dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            ) as process:
                late = False
                try:
                    process.wait(min(timeout_seconds, 1e6))
                except subprocess.TimeoutExpired:
                    late = True
                    process.kill()
            output.seek(0)
            return Execution(
                exit_code=None if late else process.returncode,
                timed_out=late,
                duration_seconds=time.monotonic() - started,
                output=output.read(),
            )


class LeavesAFile(Wrapped):
    """Keeps a log of each run in the temporary directory."""

    def run(self, command, **options):
        """Write one."""
        tempfile.mkstemp()
        return super().run(command, **options)


@attrs.frozen
class MixesRuns(Wrapped):
    """Keeps the output of a run where another one finds it."""

    name: str = "mixed"
    last: list = attrs.field(factory=list, eq=False)

    def run(self, command, **options):
        """Tell the latest output of anybody."""
        execution = super().run(command, **options)
        self.last.append(execution.output)
        time.sleep(0.05)
        return attrs.evolve(execution, output=self.last[-1])


class RaisesAnything(Wrapped):
    """Lets whatever goes wrong in it through."""

    def run(self, _command, **_options):
        """Divide by nought."""
        raise ZeroDivisionError


class ReturnsBytes(Wrapped):
    """Returns what was printed."""

    def run(self, command, **options):
        """Return bytes."""
        return super().run(command, **options).output


class IsDown(Wrapped):
    """Its engine is not running."""

    def run(self, _command, **_options):
        """Say so."""
        raise ce.SandboxError("no engine answers")


class NeverReturns(Wrapped):
    """Waits for an engine for ever."""

    def run(self, _command, **_options):
        """Sleep."""
        time.sleep(3600)


class HidesProcesses(Wrapped):
    """Shows its command no process of the machine, and has it kill any."""

    def run(self, command, **_options):
        """Kill what the script names."""
        (pid,) = map(int, re.findall(r"kill -9 (\d+)", command[2]))
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return Execution(exit_code=0, output=b"3\n")
