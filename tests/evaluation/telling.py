"""A runner whose suites say themselves when their cases pass; a real one would only be slower."""

import cooperbench_eval as ce


class Runner:
    """Runs suites whose commands are cases.

    - `has WORD` passes on trees with the word;
    - `without ONE OTHER` passes unless both words are in the tree;
    - `flaky` fails the first time on each tree;
    - `silent` and `silent WORD` end the run without a result, everywhere or on such trees;
    - `full` does so from the third run on, as if a disk were full by then;
    - `stutters` does so the first time on each tree with a feature;
    - `raises` cannot be started.

    Attributes:
        runs: How many runs there were.
    """

    def __init__(self):
        """Start with nothing run."""
        self.runs = 0

    def run(self, base, changes, suite, *, number=1):
        """Run a suite on the base with changes."""
        self.runs += 1
        tree = base.overlay(changes)
        text = b"".join(tree.read(path) for path in tree.paths() if path.endswith(".txt")).decode()
        cases = []
        for case in suite.command:
            match case.split():
                case ["raises"]:
                    raise OSError("there is no interpreter")
                case ["silent", *words]:
                    if all(word in text for word in words):
                        return ce.TestResult(status="inconclusive", reason="no result was written")
                    continue
                case ["full"]:
                    if self.runs > 2:
                        return ce.TestResult(status="setup_failed", reason="no space left")
                    continue
                case ["stutters"]:
                    if number == 1 and "word" in text:
                        return ce.TestResult(status="inconclusive", reason="no result was written")
                    continue
                case ["flaky"]:
                    passes = number > 1
                case ["has", word]:
                    passes = word in text
                case ["without", *words]:
                    passes = not all(word in text for word in words)
            status = "passed" if passes else "failed"
            cases.append(ce.models.TestCase(id=f"tests/t.py::{case}", status=status))
        failed = any(case.status == "failed" for case in cases)
        return ce.TestResult(
            status="failed" if failed else "passed", cases=cases, exit_code=int(failed)
        )
