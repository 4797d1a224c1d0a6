"""Strategies that break one law each, as an author might by mistake."""

import ctypes
import logging
import os
import random
import signal
import threading
import time

import cooperbench_eval as ce


def resolved(given, answer):
    """Return the outcome with *answer* in each conflict between lines."""
    return ce.resolve_conflicts(given, lambda c: answer(c) if c.has_lines else None)


def both(conflict):
    """Return ours, then theirs."""
    return conflict.ours + conflict.theirs


class Strategy:
    """One that asks nothing of anybody and keeps the laws."""

    @property
    def name(self):
        """The name of its class."""
        return type(self).__name__

    def merge(self, given, /):
        """Answer with ours."""
        return resolved(given, lambda conflict: conflict.ours)


class ForgetsASide(Strategy):
    """Takes an empty side for nothing to do at all."""

    def merge(self, given, /):
        """Return the base where a side is empty."""
        if not given.ours or not given.theirs:
            return ce.MergeOutcome(changes=ce.Changes())
        return super().merge(given)


class AddsUp(Strategy):
    """Concatenates what both sides did without looking whether it is the same."""

    def merge(self, given, /):
        """Double what both wrote alike."""
        done = super().merge(given)
        if given.ours != given.theirs:
            return done
        twice = {path: e and ce.Entry(e.data * 2, e.mode) for path, e in given.ours.items()}
        return ce.MergeOutcome(changes=ce.Changes(twice))


class TakesOurFiles(Strategy):
    """Returns our side where no file is disputed."""

    def merge(self, given, /):
        """Forget theirs where the sides have no file in common."""
        if given.ours and given.theirs and given.ours.keys().isdisjoint(given.theirs):
            return ce.MergeOutcome(changes=given.ours)
        return super().merge(given)


class SignsFiles(Strategy):
    """Writes above and below a file that it resolved a conflict in it."""

    def merge(self, given, /):
        """Add two lines."""
        done = super().merge(given)
        entries = dict(done.changes)
        for conflict in {c.path: c for c in given.conflicts if c.has_lines}.values():
            entry = entries[conflict.path]
            line = b"# merged" + conflict.newline
            entries[conflict.path] = ce.Entry(line + entry.data + line, entry.mode)
        return ce.MergeOutcome(changes=ce.Changes(entries), conflicts=done.conflicts)


class TakesOneSideWhole(Strategy):
    """Answers a conflict with all of a side's file."""

    def merge(self, given, /):
        """Replace each conflicting file by ours."""
        done = super().merge(given)
        entries = dict(done.changes)
        for path in {conflict.path for conflict in given.conflicts if conflict.has_lines}:
            entries[path] = given.ours[path]
        return ce.MergeOutcome(changes=ce.Changes(entries), conflicts=done.conflicts)


class MakesAllExecutable(Strategy):
    """Writes files anew and forgets their mode."""

    def merge(self, given, /):
        """Make executable what it resolved."""
        done = super().merge(given)
        entries = dict(done.changes)
        for path in {conflict.path for conflict in given.conflicts if conflict.has_lines}:
            entries[path] = ce.Entry(entries[path].data, ce.FileMode.EXECUTABLE)
        return ce.MergeOutcome(changes=ce.Changes(entries), conflicts=done.conflicts)


class WritesIntoTheMerge(Strategy):
    """Works in what it was given, past what keeps it from that."""

    def merge(self, given, /):
        """Put the answers into the merge's own table."""
        done = super().merge(given)
        given.merge.changes._entries.update(done.changes)
        return done


class SetsAVariable(Strategy):
    """Leaves something in the environment."""

    def merge(self, given, /):
        """Note how often it was asked."""
        os.environ["ASKED"] = str(time.monotonic_ns())
        return super().merge(given)


class ReusesItsTable(Strategy):
    """Gives its one table away again and again."""

    def __init__(self):
        """Make the table."""
        self.changes = ce.Changes()

    def merge(self, given, /):
        """Change what it returned before."""
        done = super().merge(given)
        self.changes._entries.clear()
        self.changes._entries.update(done.changes)
        return ce.MergeOutcome(changes=self.changes, conflicts=done.conflicts)


class Counts(Strategy):
    """Numbers its answers."""

    def __init__(self):
        """Begin at nought."""
        self.number = 0

    def merge(self, given, /):
        """Answer with a number."""
        self.number += 1
        return resolved(given, lambda c: b"%d" % self.number + c.newline)


class ReadsTheClock(Strategy):
    """Dates its answers."""

    def merge(self, given, /):
        """Answer with the time."""
        return resolved(given, lambda c: b"%d" % time.time_ns() + c.newline)


class OrdersByHash(Strategy):
    """Joins lines in the order of a set, which is another in each process."""

    def merge(self, given, /):
        """Answer with the set of all lines."""
        return resolved(
            given, lambda c: b"".join(line + c.newline for line in set(both(c).splitlines()))
        )


class Pretends(Strategy):
    """Says that nothing is open, and leaves the markers."""

    def merge(self, given, /):
        """Return git's merge without its conflicts."""
        left = [conflict for conflict in given.conflicts if not conflict.has_lines]
        return ce.MergeOutcome(changes=given.merge.changes, conflicts=left)


class Apologises(Strategy):
    """Resolves all, and says that all is open."""

    def merge(self, given, /):
        """Answer with ours and take it back."""
        return ce.MergeOutcome(changes=super().merge(given).changes, conflicts=given.conflicts)


class CallsItselfSymmetric(Strategy):
    """Says that the sides do not matter, and puts ours first."""

    is_symmetric = True

    def merge(self, given, /):
        """Answer with ours, then theirs."""
        return resolved(given, lambda c: both(c) if c.ours and c.theirs else None)


class KnowsUtf8Alone(Strategy):
    """Decodes what may be any bytes."""

    def merge(self, given, /):
        """Answer with ours as text."""
        return resolved(given, lambda c: c.ours.decode("utf-8", "replace").encode())


class RaisesOnLatin1(Strategy):
    """Decodes strictly what may be any bytes."""

    def merge(self, given, /):
        """Answer with ours as text."""
        return resolved(given, lambda c: c.ours.decode().encode())


class KnowsLinefeedAlone(Strategy):
    """Ends lines as it is used to."""

    def merge(self, given, /):
        """Answer with our lines, ended anew."""
        return resolved(
            given, lambda c: b"".join(line + b"\n" for line in c.ours.splitlines()) + c.newline
        )


class NamesFilesInAscii(Strategy):
    """Cannot name every path."""

    def merge(self, given, /):
        """Look at the paths as text."""
        [path.encode("ascii") for path in given.merge.changes]
        return super().merge(given)


class Raises(Strategy):
    """Raises where there is a conflict."""

    def merge(self, given, /):
        """Divide by nought."""
        return resolved(given, lambda _: 1 / 0)


class Exits(Strategy):
    """Leaves the program, whatever it is asked."""

    def merge(self, _given, /):
        """Exit as programs do."""
        raise SystemExit(3)


class Dies(Strategy):
    """Ends its process where there is a conflict."""

    def merge(self, given, /):
        """Exit without a word."""
        return resolved(given, lambda _: os._exit(3))


class LoopsOnce(Strategy):
    """Does not come back from the first conflict that it meets."""

    def __init__(self, note):
        """Take the path of a file that says to other processes that it did."""
        self.note = note

    def merge(self, given, /):
        """Answer each conflict by a call of which no interpreter can be stopped."""
        return resolved(given, self.answer)

    def answer(self, conflict):
        """Keep the interpreter to itself, or answer with ours."""
        if not self.note.exists():
            self.note.touch()
            ctypes.PyDLL(None).sleep(60)
        return conflict.ours


class SaysThatItFailed(Strategy):
    """Has no key."""

    def merge(self, given, /):
        """Say so."""
        return ce.MergeOutcome(changes=given.ours, failure="no key")


class WaitsForAService(Strategy):
    """Asks a service that is not there."""

    asked = 0

    def merge(self, given, /):
        """Say that it was the service."""
        self.asked += 1
        return ce.MergeOutcome(changes=given.ours, failure="no answer", service_failed=True)


class LeavesAllOpen(Strategy):
    """Resolves nothing."""

    def merge(self, given, /):
        """Return the three-way merge."""
        return resolved(given, lambda _: None)


class DropsVersions(Strategy):
    """Drops lines that name a version, in one file that it knows."""

    def merge(self, given, /):
        """Look at one path alone."""
        done = super().merge(given)
        entry = done.changes.get("pins.txt")
        if not given.conflicts or entry is None:
            return done
        kept = [x for x in entry.data.splitlines(keepends=True) if not x.startswith(b"pinned")]
        changes = ce.Changes({**done.changes, "pins.txt": ce.Entry(b"".join(kept))})
        return ce.MergeOutcome(changes=changes, conflicts=done.conflicts)


class Shuffles(Strategy):
    """Draws from the generator that others draw from."""

    def merge(self, given, /):
        """Draw, and make no use of it."""
        random.random()  # noqa: S311 - no secret
        return super().merge(given)


class HandlesSignals(Strategy):
    """Takes a signal for itself."""

    def merge(self, given, /):
        """Ignore who asks to end."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return super().merge(given)


class SetsUpLogging(Strategy):
    """Sets logging up, as a program does."""

    def merge(self, given, /):
        """Add a handler."""
        logging.getLogger().addHandler(logging.NullHandler())
        return super().merge(given)


class LeavesAThread(Strategy):
    """Starts a thread and does not wait for it."""

    def merge(self, given, /):
        """Have it sleep."""
        threading.Thread(target=time.sleep, args=(60,), name="busy", daemon=True).start()
        return super().merge(given)
