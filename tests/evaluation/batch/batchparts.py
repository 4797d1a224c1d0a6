"""Pairs and strategies for tests of batches; workers import this module."""

import io
import os
import resource
import shutil
import signal
import time
from pathlib import Path

import cooperbench_eval as ce

BASE = ce.Snapshot.from_files({"f.py": b"".join(b"line %d\n" % i for i in range(12))})


class Terminal(io.StringIO):
    """A stream that says it is a terminal, to stand for `sys.stderr`."""

    def isatty(self):
        """Return `True`."""
        return True


def patch_at(line, text):
    """Make a patch that replaces one line of the base."""
    return ce.Changes(
        {
            "f.py": ce.Entry(
                b"".join(b"%s\n" % text if i == line else b"line %d\n" % i for i in range(12))
            )
        }
    ).diff(BASE)


def pair(number, *, clash=True, **facts):
    """Make one of many pairs: each has patches of its own."""
    first, second = (
        ce.Feature(number=n, patch=patch_at(5 if clash else 1 + 6 * n, b"%d of %d" % (n, number)))
        for n in (0, 1)
    )
    given = {"repo_name": "lines", "task_id": number, "base": BASE}
    return ce.FeaturePair(**given | {"feature1": first, "feature2": second} | facts)


def pairs(count, **facts):
    """Make many pairs, one half of them with a conflict."""
    return [pair(number, clash=number % 2 == 0, **facts) for number in range(count)]


def team(number, *, size=3, clash=True, **facts):
    """Make one of many teams; if they clash, the features 0 and 1 change the same line."""
    features = [
        ce.Feature(
            number=n, patch=patch_at(1 + 3 * (n - (clash and n == 1)), b"%d of %d" % (n, number))
        )
        for n in range(size)
    ]
    return ce.FeatureTeam(
        **{"repo_name": "lines", "task_id": number, "base": BASE, "features": features} | facts
    )


def plain(report):
    """Return what two evaluations of a pair or team have in common."""
    data = report.to_dict()
    del data["timestamp"]
    for attempt in data["attempts"]:
        for row in (attempt, *attempt.get("steps", ())):
            row.pop("duration_seconds", None)
    for step in data.get("merges", ()):
        del step["duration_seconds"]
    return data


def by_task(reports):
    """Return reports in the order of their tasks, without times."""
    return sorted(map(plain, reports), key=lambda data: data["task_id"])


class Ours:
    """A strategy that takes our side, and may do something to the process before."""

    name = "ours"

    def __init__(self, *, log=None, deadly=(), how="kill", seconds=0.0, once=None):
        """Note each pair in *log*; at the *deadly* ones end the process."""
        self.log = log
        self.deadly = deadly
        self.how = how
        self.seconds = seconds
        self.once = once

    def merge(self, merge_input, /):
        """Take our side, if still there."""
        text = merge_input.ours["f.py"].data
        number = int(text.partition(b" of ")[2].split(b"\n")[0])
        if self.log:
            with Path(self.log).open("a") as file:
                file.write(f"{number} {os.getpid()}\n")
        time.sleep(self.seconds)
        if number in self.deadly and not self._was_here(number):
            if self.how == "kill":
                os.kill(os.getpid(), 9)
            if self.how == "exit":
                raise SystemExit(3)
            raise ValueError(number) if self.how == "raise" else self.how(number)
        return ce.MergeOutcome(changes=merge_input.ours)

    def _was_here(self, number):
        """Whether it died at this pair before, where once is enough."""
        if self.once is None:
            return False
        try:
            Path(self.once, str(number)).touch(exist_ok=False)
        except FileExistsError:
            return True
        return False


def workers_by_pair(log):
    """Return the process that evaluated each pair."""
    return dict(map(int, line.split()) for line in Path(log).read_text().splitlines())


def noted(log):
    """Return the pairs that were evaluated, in order."""
    return [int(line.split()[0]) for line in Path(log).read_text().splitlines()]


def fill_disk(_):
    """Keep this process from writing long files from now on, as if the disk were full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))


def die_in_a_file(number):
    """Make this process die after it has written the first bytes of a file."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    fill_disk(number)


def delete_repository(folder, _):
    """Delete a repository that a batch is using."""
    shutil.rmtree(folder)
