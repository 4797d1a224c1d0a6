"""Commands that end before their framework ran anything."""

import pytest
import toys
from needs import need_program

from cooperbench_eval.running.results import TestStatus

GO = {"go.mod": "module m\n\ngo 1.18\n", "a_test.go": 'package m\nimport "testing"\n'}
NOWHERE = "/proc/nowhere"  # nobody can make a folder there


@pytest.mark.parametrize(
    ("framework", "command", "files", "env"),
    [
        ("go", ("go", "test", "./..."), GO, {"GOCACHE": NOWHERE}),
        ("go", ("go", "test", "./..."), GO, {"GOTMPDIR": NOWHERE}),
        ("go", ("go", "test", "./absent/..."), GO, {}),
        ("go", ("go", "test", "./..."), GO | {"go.mod": "nonsense\n"}, {}),
        ("cargo", ("cargo", "test", "--offline"), toys.RUST, {"CARGO_TARGET_DIR": NOWHERE}),
        ("cargo", ("cargo", "test", "--absent"), toys.RUST, {}),
        ("pytest", ("python", "-m", "pytest", "--absent"), {}, {}),
        ("pytest", ("python", "-m", "pytest", "absent.py"), {}, {}),
        ("pytest", ("python", "-m", "pytest"), {"conftest.py": "import absent\n"}, {}),
        ("unittest", ("python", "-m", "unittest", "--absent"), {}, {}),
        ("node", ("node", "--require", "./absent.js", "--test"), {}, {}),
        ("node", ("node", "--test", "absent.test.js"), {}, {}),
    ],
)
def test_a_command_that_ran_nothing_says_nothing_about_the_tree(
    run_suite, framework, command, files, env
):
    """Its exit status alone does not show that a test fails."""
    known = {"go": toys.go_environment, "cargo": toys.rust_environment}.get(framework, dict)()
    if framework in {"cargo", "go", "node"}:
        need_program(framework)

    result = run_suite(files, command, framework=framework, env=known | env, timeout_seconds=60)

    assert (result.status, result.cases) == (TestStatus.INCONCLUSIVE, ())
    assert result.exit_code
    assert "exit status" in result.reason
