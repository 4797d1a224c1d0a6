"""A fake runner: the commands of its suites say when cases pass. A real one would be slower."""

import attrs

import cooperbench_eval as ce


class Runner:
    """Runs suites whose commands are cases.

    - `has WORD` passes on trees with the word;
    - `without ONE OTHER` passes unless both words are in the tree;
    - `flaky` fails the first time on each tree with a feature;
    - `silent` ends each run without a result, and `silent WORD` those on trees with the word;
    - `full` gives no result from the third run on, as if the disk were full by then;
    - `stutters` gives no result the first time on each tree with a feature;
    - `sinks` fails in the third run, and gives no result after it;
    - `wavers` fails the first time on trees with one feature, and always on those with both;
    - `hangs` times out in each run, and `hangs WORD` on trees with the word;
    - `dawdles` times out the first time on each tree with a feature;
    - `none` collects nothing;
    - `raises` cannot be started.

    Files named `conftest.py` are reported as reset.

    Attributes:
        runs: How many runs there were.
    """

    def __init__(self):
        """Start with nothing run."""
        self.runs = 0

    def run(self, base, changes, suite, *, number=1):
        """Run a suite on the base with changes."""
        self.runs += 1
        result = self._result(base.overlay(changes), suite, number)
        steering = [path for path in changes if path.endswith("conftest.py")]
        return attrs.evolve(result, restored_files=steering)

    def _result(self, tree, suite, number):
        text = b"".join(tree.read(path) for path in tree.paths() if path.endswith(".txt")).decode()
        for case in suite.command:
            if reason := self.silence(case, text, number):
                return ce.TestResult(status="inconclusive", reason=reason)
        if any(hangs(case, text, number) for case in suite.command):
            return ce.TestResult(status="timed_out", reason="it did not end within 1 seconds")
        cases = [
            ce.models.TestCase(
                id=f"tests/t.py::{case}",
                status="passed" if passes(case, text, number) else "failed",
            )
            for case in suite.command
            if case.split()[0] in {"has", "without", "flaky", "wavers"}
            or (case == "sinks" and self.runs == 3)
        ]
        if not cases:
            return ce.TestResult(status="no_tests", reason="no test was collected")
        failed = any(case.status == "failed" for case in cases)
        return ce.TestResult(
            status="failed" if failed else "passed", cases=cases, exit_code=int(failed)
        )

    def silence(self, case, text, number):
        """Return why a case ends the run without a result; empty if it does not."""
        match case.split():
            case ["raises"]:
                raise OSError("there is no interpreter")
            case ["silent", *words] if all(word in text for word in words):
                return "no result was written"
            case ["stutters"] if number == 1 and "word" in text:
                return "no result was written"
            case ["full"] if self.runs > 2:
                return "no space left"
            case ["sinks"] if self.runs > 3:
                return "no space left"
        return ""


def hangs(case, text, number):
    """Whether a case runs until the deadline."""
    match case.split():
        case ["hangs", *words]:
            return all(word in text for word in words)
        case ["dawdles"]:
            return number == 1 and "word" in text
    return False


def passes(case, text, number):
    """Whether a case passes on a tree."""
    match case.split():
        case ["has", word]:
            return word in text
        case ["without", *words]:
            return not all(word in text for word in words)
        case ["wavers"] if "word1" in text and "word2" in text:
            return False
        case ["sinks"]:
            return False
    return number > 1 or "word" not in text
