"""Finding the Rust tests that a patch adds."""

import os
import subprocess

import pytest
import toys
from needs import need_program

from cooperbench_eval.running.readers.rust_tests import parse_cargo_arguments
from cooperbench_eval.running.results import TestCase, TestCaseStatus

TESTS = """\
#![allow(unused)]
//! #[test] fn in_comment() {}
const TEXT: &str = r#"
#[test]
fn in_text() {}
"#;
fn life<'a>(x: &'a str) -> char { '{' }

#[test]
fn plain() {}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "x")]
    fn panics() { panic!("x") }

    #[test]
    #[cfg(windows)]
    fn elsewhere() {}

    #[cfg(feature = "f")]
    mod more {
        #[test]
        fn optional() {}
    }
}
"""
MANIFEST = {"Cargo.toml": toys.RUST["Cargo.toml"]}


def test_added_tests_are_required():
    """Functions without a condition are found, at the top or in modules."""
    files = MANIFEST | {"src/lib.rs": TESTS, "src/other.rs": TESTS, "tests/it.rs": TESTS}

    names = toys.required("cargo", ("cargo", "test"), files)

    assert names == (
        "toy src/lib.rs::plain",
        "toy src/lib.rs::tests::panics",
        "it tests/it.rs::plain",
        "it tests/it.rs::tests::panics",
    )
    assert toys.required("nextest", ("cargo", "nextest", "run"), files) == (
        "toy plain",
        "toy tests::panics",
        "toy::it plain",
        "toy::it tests::panics",
    )


def test_only_changed_tests_are_required():
    """A test that was in the file before is not required."""
    before = MANIFEST | {"src/lib.rs": TESTS}
    after = MANIFEST | {"src/lib.rs": TESTS.replace("fn plain() {}", "fn plain() { }")}

    assert toys.required("cargo", ("cargo", "test"), after, before) == ("toy src/lib.rs::plain",)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (("cargo", "test", "absent"), {}),
        (("cargo", "test", "-p", "toy"), {}),
        (("cargo", "test", "--lib"), {}),
        (("cargo", "test", "--", "--skip", "n"), {}),
        (("cargo", "test", "--", "--exact", "panics"), {}),
        (("cargo", "test", "--", "--ignored"), {}),
        (("cargo", "test", "--bin", "toy"), {}),
        (("cargo", "nextest", "run", "-E", "all()"), {}),
        (("cargo", "build"), {}),
        (("./run.sh",), {}),
        (("cargo", "test"), {"Cargo.toml": "[workspace]\nmembers = ['a']\n"}),
        (("cargo", "test"), {"Cargo.toml": toys.RUST["Cargo.toml"] + "autotests = false\n"}),
        (("cargo", "test"), {"tests/it.rs": "#![cfg(windows)]\n" + TESTS}),
        (("cargo", "test"), {"tests/it.rs": "macro_rules! m { () => {} }\n" + TESTS}),
        (("cargo", "test"), {"tests/it.rs": "/* /* nested */ */\n" + TESTS}),
    ],
    ids=range(15),
)
def test_nothing_is_required_that_may_be_left_out(command, files):
    """The command, the manifest or the file may leave tests out."""
    assert toys.required("cargo", command, MANIFEST | {"tests/it.rs": TESTS} | files) == ()


def test_programs_are_named_as_by_cargo_and_nextest():
    """Program files have underscores; nextest's ids do not."""
    test = "#[test]\nfn a() {}\n"
    manifest = '[package]\nversion = "1.0.0"\nname = "my-toy"\n[badges]\nname = "other"\n'
    files = {"Cargo.toml": manifest, "src/main.rs": test, "tests/my-it.rs": test}

    assert toys.required("cargo", ("cargo", "test"), files) == (
        "my_toy src/main.rs::a",
        "my_it tests/my-it.rs::a",
    )
    assert toys.required("nextest", ("cargo", "nextest", "run"), files) == (
        "my-toy::bin/my-toy a",
        "my-toy::my-it a",
    )


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("cargo test --offline 2>&1 | tee log", True),
        ("cargo +nightly test; cargo fmt --check", True),
        ("cargo test plain; cargo test panics", False),
        ("cargo test -p toy", False),
        ("make test", True),
    ],
)
def test_a_scripts_result_says_which_programs_it_ran(script, found):
    """This does not hold if the script's text selects among the tests."""
    files = MANIFEST | {"src/lib.rs": TESTS, "tests/it.rs": TESTS, "run.sh": f"{script}\n"}
    case = TestCase(id="it tests/it.rs::old", status=TestCaseStatus.PASSED)
    expected = ("it tests/it.rs::plain", "it tests/it.rs::tests::panics") if found else ()

    for command in (("./run.sh",), ("sh", "-c", script)):
        assert toys.required("cargo", command, files, cases=[case]) == expected
        assert toys.required("cargo", command, files) == ()


def test_a_script_may_run_nextest():
    """Its programs are recognised by nextest's own ids."""
    files = MANIFEST | {"src/lib.rs": TESTS, "tests/it.rs": TESTS}
    case = TestCase(id="toy old", status=TestCaseStatus.PASSED)
    command = ("sh", "-c", "cargo nextest run")

    names = toys.required("nextest", command, files, cases=[case])

    assert names == ("toy plain", "toy tests::panics")


@pytest.mark.parametrize(
    ("case", "covered"),
    [
        ("toy src/lib.rs::tests::plain", True),
        ("toy::tests::plain", True),
        ("tests::plain", True),
        ("toy src/lib.rs::plain", False),
        ("toy src/main.rs::tests::plain", False),
        ("other src/lib.rs::tests::plain", False),
        ("toy src/lib.rs::more::tests::plain", False),
    ],
)
def test_a_case_covers_the_function_of_its_program_and_modules(case, covered):
    """A function of the same name elsewhere does not count."""
    covers = toys.FRAMEWORKS["cargo"].covers
    case = TestCase(id=case, status=TestCaseStatus.PASSED)

    assert covers(case, "toy src/lib.rs::tests::plain") is covered


def test_a_name_without_its_program_is_enough():
    """A person who lists required tests may leave out the program."""
    case = TestCase(id="toy src/lib.rs::tests::plain", status=TestCaseStatus.PASSED)

    assert toys.FRAMEWORKS["cargo"].covers(case, "src/lib.rs::tests::plain")


def test_nextest_names_a_test_exactly():
    """A name has the program and the modules."""
    covers = toys.FRAMEWORKS["nextest"].covers
    case = TestCase(id="toy::it tests::plain", status=TestCaseStatus.PASSED)

    assert covers(case, "toy::it tests::plain")
    assert not covers(case, "toy tests::plain")
    assert not covers(case, "toy::it plain")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], {"plain", "tests::panics"}),
        (["pla"], {"plain"}),
        (["tests::", "--", "--nocapture"], {"tests::panics"}),
        (["--", "plain", "tests", "--skip", "panics"], {"plain"}),
        (["--", "--exact", "plain", "panics"], {"plain"}),
        (["--test", "it", "--", "--test-threads", "1"], {"plain", "tests::panics"}),
        (["--test=other"], set()),
    ],
)
def test_names_that_the_command_selects_are_required(arguments, found):
    """A filter is a part of the path of modules and function."""
    files = MANIFEST | {"tests/it.rs": TESTS}

    names = toys.required("cargo", ("cargo", "test", *arguments), files)
    scripted = toys.required(
        "cargo",
        ("sh", "-c", f"cargo test {' '.join(arguments)}"),
        files,
        cases=[TestCase(id="it tests/it.rs::x", status="passed")],
    )

    assert set(names) == set(scripted) == {f"it tests/it.rs::{name}" for name in found}


def test_filters_select_as_in_cargo(tmp_path):
    """The tests that a program lists with the same filters are those that are named."""
    need = need_program("cargo")
    for path, text in (MANIFEST | {"src/lib.rs": "", "tests/it.rs": TESTS}).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    env = os.environ | toys.rust_environment()

    for filters in (["plain"], ["n"], ["--exact", "plain"], ["n", "--skip", "tests::p"]):
        selection = parse_cargo_arguments(["--", *filters])
        command = (need, "test", "--offline", "-q", "--test", "it", "--", "--list", *filters)
        run = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
        )
        listed = {
            line.removesuffix(": test") for line in run.stdout.splitlines() if ": test" in line
        }
        known = {"plain", "tests::panics"}
        assert {name for name in known if selection.keeps("tests/it.rs", name)} == listed & known
