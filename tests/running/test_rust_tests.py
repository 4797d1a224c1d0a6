"""Which tests of Rust a patch is found to bring."""

import pytest
import toys

from cooperbench_eval.models import TestCase, TestCaseStatus

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
    """Functions that stand in modules alone, without a condition."""
    files = MANIFEST | {"src/lib.rs": TESTS, "src/other.rs": TESTS, "tests/it.rs": TESTS}

    names = toys.required("cargo", ("cargo", "test"), files)

    expected = [
        f"{path}::{name}" for path in ("src/lib.rs", "tests/it.rs") for name in ("plain", "panics")
    ]
    assert list(names) == expected
    assert toys.required("nextest", ("cargo", "nextest", "run"), files) == names


def test_only_what_changed_is_required():
    """A test that the file already held is not among those that the patch brings."""
    before = MANIFEST | {"src/lib.rs": TESTS}
    after = MANIFEST | {"src/lib.rs": TESTS.replace("fn plain() {}", "fn plain() { }")}

    assert toys.required("cargo", ("cargo", "test"), after, before) == ("src/lib.rs::plain",)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (("cargo", "test", "plain"), {}),
        (("cargo", "test", "-p", "toy"), {}),
        (("cargo", "test", "--lib"), {}),
        (("cargo", "test", "--", "--skip", "plain"), {}),
        (("cargo", "build"), {}),
        (("./run.sh",), {}),
        (("cargo", "test"), {"Cargo.toml": "[workspace]\nmembers = ['a']\n"}),
        (("cargo", "test"), {"Cargo.toml": toys.RUST["Cargo.toml"] + "autotests = false\n"}),
        (("cargo", "test"), {"tests/it.rs": "#![cfg(windows)]\n" + TESTS}),
        (("cargo", "test"), {"tests/it.rs": "macro_rules! m { () => {} }\n" + TESTS}),
        (("cargo", "test"), {"tests/it.rs": "/* /* nested */ */\n" + TESTS}),
    ],
    ids=range(11),
)
def test_nothing_is_required_where_it_may_be_left_out(command, files):
    """By the command, by the manifest or by the file."""
    assert toys.required("cargo", command, MANIFEST | {"tests/it.rs": TESTS} | files) == ()


def test_a_case_covers_the_function_of_its_name():
    """Whatever program and modules it is in."""
    covers = toys.FRAMEWORKS["cargo"].covers
    case = TestCase(id="toy src/lib.rs::tests::plain", status=TestCaseStatus.PASSED)

    assert covers(case, "src/lib.rs::plain")
    assert not covers(case, "src/lib.rs::tests")
    assert toys.FRAMEWORKS["nextest"].covers(
        TestCase(id="toy plain", status=TestCaseStatus.PASSED), "src/lib.rs::plain"
    )
