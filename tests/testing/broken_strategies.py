"""Strategies that each break one law, by a mistake that an author might make."""

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
    """Resolves each conflict with ours, and keeps the laws."""

    @property
    def name(self):
        return type(self).__name__

    def merge(self, given, /):
        return resolved(given, lambda conflict: conflict.ours)


class ForgetsASide(Strategy):
    """Returns the base if one side is empty."""

    def merge(self, given, /):
        if not given.ours or not given.theirs:
            return ce.MergeOutcome(changes=ce.Changes())
        return super().merge(given)


class AddsUp(Strategy):
    """Writes contents twice if both sides made the same change."""

    def merge(self, given, /):
        done = super().merge(given)
        if given.ours != given.theirs:
            return done
        twice = {path: e and ce.Entry(e.data * 2, e.mode) for path, e in given.ours.items()}
        return ce.MergeOutcome(changes=ce.Changes(twice))


class TakesOurFiles(Strategy):
    """Returns only ours if the sides changed different files."""

    def merge(self, given, /):
        if given.ours and given.theirs and given.ours.keys().isdisjoint(given.theirs):
            return ce.MergeOutcome(changes=given.ours)
        return super().merge(given)


class SignsFiles(Strategy):
    """Adds a line at the start and the end of each file with a conflict."""

    may_invent = True

    def merge(self, given, /):
        done = super().merge(given)
        entries = dict(done.changes)
        for conflict in {c.path: c for c in given.conflicts if c.has_lines}.values():
            entry = entries[conflict.path]
            line = b"# merged" + conflict.newline
            entries[conflict.path] = ce.Entry(line + entry.data + line, entry.mode)
        return ce.MergeOutcome(changes=ce.Changes(entries), conflicts=done.conflicts)


class TakesOneSideWhole(Strategy):
    """Replaces each file with a conflict by our version."""

    def merge(self, given, /):
        done = super().merge(given)
        entries = dict(done.changes)
        for path in {conflict.path for conflict in given.conflicts if conflict.has_lines}:
            entries[path] = given.ours[path]
        return ce.MergeOutcome(changes=ce.Changes(entries), conflicts=done.conflicts)


class MakesAllExecutable(Strategy):
    """Makes each file with a conflict executable."""

    def merge(self, given, /):
        done = super().merge(given)
        entries = dict(done.changes)
        for path in {conflict.path for conflict in given.conflicts if conflict.has_lines}:
            entries[path] = ce.Entry(entries[path].data, ce.models.FileMode.EXECUTABLE)
        return ce.MergeOutcome(changes=ce.Changes(entries), conflicts=done.conflicts)


class WritesIntoTheMerge(Strategy):
    """Changes its input through a private attribute."""

    def merge(self, given, /):
        done = super().merge(given)
        given.merge.changes._entries.update(done.changes)
        return done


class SetsAVariable(Strategy):
    """Sets an environment variable."""

    def merge(self, given, /):
        os.environ["ASKED"] = str(time.monotonic_ns())
        return super().merge(given)


class ReusesItsTable(Strategy):
    """Returns the same object each time, and changes it."""

    def __init__(self):
        self.changes = ce.Changes()

    def merge(self, given, /):
        done = super().merge(given)
        self.changes._entries.clear()
        self.changes._entries.update(done.changes)
        return ce.MergeOutcome(changes=self.changes, conflicts=done.conflicts)


class Counts(Strategy):
    """Resolves conflicts with a counter."""

    may_invent = True

    def __init__(self):
        self.number = 0

    def merge(self, given, /):
        self.number += 1
        return resolved(given, lambda c: b"%d" % self.number + c.newline)


class ReadsTheClock(Strategy):
    """Resolves conflicts with the time."""

    may_invent = True

    def merge(self, given, /):
        return resolved(given, lambda c: b"%d" % time.time_ns() + c.newline)


class OrdersByHash(Strategy):
    """Joins lines in the order of a set, which differs between processes."""

    def merge(self, given, /):
        return resolved(
            given, lambda c: b"".join(line + c.newline for line in set(both(c).splitlines()))
        )


class Pretends(Strategy):
    """Reports no open conflict, but leaves the markers."""

    def merge(self, given, /):
        left = [conflict for conflict in given.conflicts if not conflict.has_lines]
        return ce.MergeOutcome(changes=given.merge.changes, conflicts=left)


class Apologises(Strategy):
    """Resolves all conflicts, but reports them as open."""

    def merge(self, given, /):
        return ce.MergeOutcome(changes=super().merge(given).changes, conflicts=given.conflicts)


class CallsItselfSymmetric(Strategy):
    """Declares `is_symmetric`, but puts ours first."""

    is_symmetric = True

    def merge(self, given, /):
        return resolved(given, lambda c: both(c) if c.ours and c.theirs else None)


class WritesANumber(Strategy):
    """Adds a number that neither side has."""

    def merge(self, given, /):
        return resolved(given, lambda c: both(c) + b"# 2 versions" + c.newline)


class KnowsOnlyUtf8(Strategy):
    """Decodes lines as UTF-8 and replaces other bytes."""

    def merge(self, given, /):
        return resolved(given, lambda c: c.ours.decode("utf-8", "replace").encode())


class RaisesOnLatin1(Strategy):
    """Decodes lines as UTF-8 and raises for other bytes."""

    def merge(self, given, /):
        return resolved(given, lambda c: c.ours.decode().encode())


class KnowsOnlyLineFeeds(Strategy):
    """Ends every line with a line feed."""

    def merge(self, given, /):
        return resolved(
            given, lambda c: b"".join(line + b"\n" for line in c.ours.splitlines()) + c.newline
        )


class NamesFilesInAscii(Strategy):
    """Raises for paths that are not ASCII."""

    def merge(self, given, /):
        [path.encode("ascii") for path in given.merge.changes]
        return super().merge(given)


class Raises(Strategy):
    """Raises if there is a conflict."""

    def merge(self, given, /):
        return resolved(given, lambda _: 1 / 0)


class Exits(Strategy):
    """Raises `SystemExit` for every input."""

    def merge(self, _given, /):
        raise SystemExit(3)


class Dies(Strategy):
    """Ends its process if there is a conflict."""

    def merge(self, given, /):
        return resolved(given, lambda _: os._exit(3))


class LoopsOnce(Strategy):
    """Hangs at its first conflict, in a call that holds the interpreter."""

    def __init__(self, note):
        self.note = note

    def merge(self, given, /):
        return resolved(given, self.answer)

    def answer(self, conflict):
        if not self.note.exists():
            self.note.touch()
            ctypes.PyDLL(None).sleep(60)
        return conflict.ours


class ReportsAFailure(Strategy):
    """Reports a failure."""

    def merge(self, given, /):
        return ce.MergeOutcome(changes=given.ours, failure="no key")


class WaitsForAService(Strategy):
    """Reports a failure of a service."""

    asked = 0

    def merge(self, given, /):
        self.asked += 1
        return ce.MergeOutcome(changes=given.ours, failure="no answer", service_failed=True)


class LeavesAllOpen(Strategy):
    """Leaves every conflict open."""

    def merge(self, given, /):
        return resolved(given, lambda _: None)


class DropsVersions(Strategy):
    """Drops lines of one particular file."""

    def merge(self, given, /):
        done = super().merge(given)
        entry = done.changes.get("pins.txt")
        if not given.conflicts or entry is None:
            return done
        kept = [x for x in entry.data.splitlines(keepends=True) if not x.startswith(b"pinned")]
        changes = ce.Changes({**done.changes, "pins.txt": ce.Entry(b"".join(kept))})
        return ce.MergeOutcome(changes=changes, conflicts=done.conflicts)


class Shuffles(Strategy):
    """Changes the state of the module `random`."""

    def merge(self, given, /):
        random.random()  # noqa: S311 - no secret
        return super().merge(given)


class HandlesSignals(Strategy):
    """Installs a signal handler."""

    def merge(self, given, /):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return super().merge(given)


class SetsUpLogging(Strategy):
    """Adds a handler to the root logger."""

    def merge(self, given, /):
        logging.getLogger().addHandler(logging.NullHandler())
        return super().merge(given)


class LeavesAThread(Strategy):
    """Leaves a thread running."""

    def merge(self, given, /):
        threading.Thread(target=time.sleep, args=(60,), name="busy", daemon=True).start()
        return super().merge(given)
