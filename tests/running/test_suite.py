"""The options that a suite accepts and rejects."""

import pickle

import attrs
import pytest

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.running import TestSuite

PATCH = b"--- /dev/null\n+++ b/test_x.py\n@@ -0,0 +1 @@\n+def test(): pass\n"


def test_defaults_are_pytest_no_patch_and_ten_minutes():
    """Only the command is required."""
    suite = TestSuite(command=["pytest"])

    assert suite.command == ("pytest",)
    assert suite.patch.files == ()
    assert (suite.framework, suite.timeout_seconds, dict(suite.env)) == ("pytest", 600.0, {})


@pytest.mark.parametrize("patch", [PATCH, PATCH.decode(), Patch.parse(PATCH)])
def test_patch_may_be_bytes_text_or_parsed(patch):
    """All three give the same suite."""
    suite = TestSuite(command=("pytest",), patch=patch)

    assert suite.patch == Patch.parse(PATCH)


def test_garbage_is_not_a_patch():
    """A patch that cannot be parsed is rejected when the suite is made."""
    with pytest.raises(PatchError):
        TestSuite(command=("pytest",), patch=b"--- a/x\n+++ b/x\n@@ nonsense @@\n")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"command": ()}, ValueError, "empty"),
        ({"command": "pytest -q"}, TypeError, "not one string; pass shlex.split\\('pytest -q'\\)"),
        ({"command": ("pytest", 1)}, TypeError, "not int: 1"),
        ({"command": ("a\0b",)}, ValueError, "NUL"),
        ({"framework": "nose"}, ValueError, "framework must be 'pytest', .*'nose'"),
        ({"timeout_seconds": 0}, ValueError, "positive"),
        ({"timeout_seconds": float("inf")}, ValueError, "finite"),
        ({"timeout_seconds": float("nan")}, ValueError, "finite"),
        ({"env": {"A=B": "1"}}, ValueError, "'A=B'"),
        ({"env": {"": "1"}}, ValueError, "variable"),
        ({"env": {"A": "\0"}}, ValueError, "NUL"),
    ],
)
def test_invalid_options_are_rejected_at_once(options, error, words):
    """An option that cannot work is rejected when the suite is made; the error names it."""
    with pytest.raises(error, match=words):
        TestSuite(**({"command": ("pytest",)} | options))


def test_suites_are_values():
    """A suite equals, hashes and pickles by its contents, whatever their order."""
    one = TestSuite(command=("pytest",), patch=PATCH, env={"A": "1", "B": "2"})
    two = TestSuite(command=["pytest"], patch=PATCH, env={"B": "2", "A": "1"})

    assert one == two
    assert hash(one) == hash(two)
    assert pickle.loads(pickle.dumps(one)) == two  # noqa: S301 - our own bytes
    assert attrs.evolve(one, env={"C": "3"}).env == {"C": "3"}


def test_later_changes_to_the_mapping_do_not_reach_the_suite():
    """A suite keeps its own variables, and returns them as a mapping that cannot be changed."""
    env = {"A": "1"}
    suite = TestSuite(command=("pytest",), env=env)

    env["A"] = "2"

    assert suite.env == {"A": "1"}
    with pytest.raises(TypeError):
        suite.env["A"] = "3"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("PYTHONPATH", "src", "/t/src"),
        ("PYTHONPATH", "src::/abs:lib/x", "/t/src:/abs:/t/lib/x"),
        ("PYTHONPATH", ".", "/t"),
        ("PYTHONPATH", "", ""),
        ("PATH", "bin:/usr/bin", "/t/bin:/usr/bin"),
        ("NODE_PATH", "lib", "/t/lib"),
        ("PATHS", "src", "src"),
        ("MODE", "a:b", "a:b"),
    ],
)
def test_relative_parts_of_path_variables_are_taken_from_the_tree(name, value, expected):
    """Variables that end with PATH are lists of paths; others stay unchanged."""
    suite = TestSuite(command=("pytest",), env={name: value})

    assert suite.environment_at("/t") == {name: expected}


def test_a_suite_without_a_patch_may_say_so():
    """`None` is an empty patch."""
    suite = TestSuite(command=("pytest",), patch=None)

    assert suite == TestSuite(command=("pytest",))
    assert suite.patch.files == ()
