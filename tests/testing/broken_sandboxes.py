"""Sandboxes that each break one law, by a mistake that an author might make."""

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
    """Runs commands as the local sandbox does, so it keeps the laws."""

    name: str = "wrapped"

    @property
    def identity(self):
        return self.name

    def run(self, command, *, tree, scratch, env, timeout_seconds):
        return ce.LocalSandbox().run(
            command, tree=tree, scratch=scratch, env=env, timeout_seconds=timeout_seconds
        )


class ChangesIdentity(Wrapped):
    """Has a new identity each time it is read."""

    @property
    def identity(self):
        return f"{self.name} {uuid.uuid4()}"


class ForgetsItsName(Wrapped):
    """Has an identity without its name: a digest."""

    @property
    def identity(self):
        return "0123abcd"


class HoldsAnOpenFile(Wrapped):
    """Cannot be pickled."""

    def __reduce__(self):
        raise pickle.PicklingError("cannot pickle an engine's connection")


class CutsArguments(Wrapped):
    """Drops all arguments after the first thousand."""

    def run(self, command, **options):
        return super().run(command[:1000], **options)


class InheritsTheEnvironment(Wrapped):
    """Passes on all variables of the caller."""

    def run(self, command, *, env, **options):
        return super().run(command, env=dict(os.environ) | dict(env), **options)


class ForgetsVariables(Wrapped):
    """Drops the variables whose value is 1."""

    def run(self, command, *, env, **options):
        return super().run(command, env={k: v for k, v in env.items() if v != "1"}, **options)


class LeavesInputOpen(Wrapped):
    """Gives the command a pipe as input, into which nothing is written."""

    def run(self, command, **options):
        if command[2] != "cat; echo end":
            return super().run(command, **options)
        script = f"sleep 60 | ({command[2]})"
        return super().run((*command[:2], script, *command[3:]), **options)


class KeepsScratchToItself(Wrapped):
    """Gives the command another scratch directory, and does not copy it back."""

    def run(self, command, *, scratch, **options):
        with tempfile.TemporaryDirectory() as other:
            words = [word.replace(str(scratch), other) for word in command]
            for file in scratch.iterdir():
                Path(other, file.name).write_bytes(file.read_bytes())
            return super().run(words, scratch=Path(other), **options)


class StartsElsewhere(Wrapped):
    """Starts the command in a folder inside the tree."""

    def run(self, command, *, tree, **options):
        (tree / "inside").mkdir()
        return super().run(command, tree=tree / "inside", **options)


class KnowsZeroAndOne(Wrapped):
    """Reports some exit statuses as 1."""

    def run(self, command, **options):
        execution = super().run(command, **options)
        status = execution.exit_code
        # Other laws use other statuses.
        return attrs.evolve(execution, exit_code=1 if status in {126, 255} else status)


class AnswersAsAShell(Wrapped):
    """Reports a missing command as exit status 127."""

    def run(self, command, **options):
        try:
            return super().run(command, **options)
        except TestRunError:
            return Execution(exit_code=127)


class BlamesItself(Wrapped):
    """Reports a missing command as its own failure."""

    def run(self, command, **options):
        try:
            return super().run(command, **options)
        except TestRunError as exc:
            raise ce.errors.SandboxError(str(exc)) from exc


class CutsTheMiddle(Wrapped):
    """Keeps only 300 bytes of any output."""

    def run(self, command, **options):
        execution = super().run(command, **options)
        kept = execution.output
        if len(kept) > 300:
            kept = kept[:150] + kept[-150:]
        return attrs.evolve(execution, output=kept)


class ShowsTabs(Wrapped):
    """Replaces tabs, and drops escape characters."""

    def run(self, command, **options):
        execution = super().run(command, **options)
        output = execution.output.replace(b"\t", b" ").replace(b"\x1b", b"")
        return attrs.evolve(execution, output=output)


class TellsNoTime(Wrapped):
    """Reports a negative duration if the deadline is far away."""

    def run(self, command, **options):
        execution = super().run(command, **options)
        seconds = -5.0 if options["timeout_seconds"] > 100 else execution.duration_seconds
        return attrs.evolve(execution, duration_seconds=seconds)


class MarksTheTree(Wrapped):
    """Writes a file of its own into the tree."""

    def run(self, command, *, tree, **options):
        (tree / ".marker").write_text("mine")
        return super().run(command, tree=tree, **options)


class SetsAVariable(Wrapped):
    """Changes its caller's environment."""

    def run(self, command, **options):
        os.environ["LEAKED"] = "1"
        return super().run(command, **options)


class ChangesFolder(Wrapped):
    """Changes the folder of its caller."""

    def run(self, command, *, tree, **options):
        os.chdir(tree)
        return super().run(command, tree=tree, **options)


class LoadsOnlyHere(Wrapped):
    """Can be pickled, but raises when another process loads it."""

    def __reduce__(self):
        return load_in, (os.getpid(),)


def load_in(process):
    """Return a sandbox, but only in *process*."""
    if os.getpid() != process:
        raise OSError("no engine here")
    return LoadsOnlyHere()


class DecodesOutput(Wrapped):
    """Decodes output as UTF-8 and replaces other bytes."""

    def run(self, command, **options):
        execution = super().run(command, **options)
        if b"\x80" not in execution.output:
            return execution
        return attrs.evolve(execution, output=execution.output.decode(errors="replace").encode())


class KeepsTheHead(Wrapped):
    """Cuts long output at its end."""

    def run(self, command, **options):
        execution = super().run(command, **options)
        return attrs.evolve(execution, output=execution.output[:1_000_000])


class KeepsItAll(Wrapped):
    """Keeps the whole of long output in memory."""

    def run(self, command, **options):
        if "yes" not in command[2] or "head" not in command[2]:
            return super().run(command, **options)
        script = command[2].replace("200000000", "60000000")
        done = subprocess.run(("sh", "-c", script), capture_output=True, check=False)
        return Execution(exit_code=0, output=done.stdout, duration_seconds=1)


class IgnoresTheDeadline(Wrapped):
    """Ends commands one second after their deadline."""

    def run(self, command, *, timeout_seconds, **options):
        return super().run(command, timeout_seconds=timeout_seconds + 1, **options)


class HidesTheDeadline(Wrapped):
    """Reports exit status 137 instead of a timeout."""

    def run(self, command, **options):
        execution = super().run(command, **options)
        is_late = execution.timed_out and "daemon" in command[2]
        return attrs.evolve(execution, exit_code=137, timed_out=False) if is_late else execution


@attrs.frozen
class Plain(Wrapped):
    """Starts a process, and kills only that process at the deadline."""

    name: str = "plain"

    def run(self, command, *, tree, scratch, env, timeout_seconds):
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
    """Leaves a file in the temporary directory after each run."""

    def run(self, command, **options):
        tempfile.mkstemp()
        return super().run(command, **options)


@attrs.frozen
class MixesRuns(Wrapped):
    """Reports the output of whichever run ended last."""

    name: str = "mixed"
    last: list = attrs.field(factory=list, eq=False)

    def run(self, command, **options):
        execution = super().run(command, **options)
        self.last.append(execution.output)
        time.sleep(0.05)
        return attrs.evolve(execution, output=self.last[-1])


class RaisesAnything(Wrapped):
    """Raises an error that the protocol does not allow."""

    def run(self, _command, **_options):
        raise ZeroDivisionError


class ReturnsBytes(Wrapped):
    """Returns the output instead of an execution."""

    def run(self, command, **options):
        return super().run(command, **options).output


class IsDown(Wrapped):
    """Fails because its engine is not running."""

    def run(self, _command, **_options):
        raise ce.errors.SandboxError("no engine answers")


class NeverReturns(Wrapped):
    """Waits forever."""

    def run(self, _command, **_options):
        time.sleep(3600)


class HidesProcesses(Wrapped):
    """Hides the machine's processes from the command, but lets it kill them."""

    def run(self, command, **_options):
        (pid,) = map(int, re.findall(r"kill -9 (\d+)", command[2]))
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return Execution(exit_code=0, output=b"3\n")
