"""Small projects in Go and Rust, and the status of each of their tests."""

GO = {
    "go.mod": "module example.com/toy\n\ngo 1.18\n",
    "good/good.go": "package good\n\nfunc Double(x int) int { return 2 * x }\n",
    "good/good_test.go": """\
package good

import (
	"fmt"
	"testing"
)

func TestDouble(t *testing.T) {
	fmt.Println("handler returned HTTP 500 error as expected")
	if Double(2) != 4 {
		t.Fatal("no")
	}
}

func TestTable(t *testing.T) {
	for _, n := range []string{"one", "two words", "a/b"} {
		t.Run(n, func(t *testing.T) { t.Run("in", func(t *testing.T) {}) })
	}
}

func TestSkipped(t *testing.T) { t.Skip("not now") }

func ExampleDouble() {
	fmt.Println(Double(2))
	// Output: 4
}

func FuzzDouble(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {})
}
""",
    "bad/bad_test.go": """\
package bad

import "testing"

func TestFine(t *testing.T) {}

func TestSub(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Run("bad", func(t *testing.T) { t.Error("why not") })
}

func TestOwn(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Error("own failure")
}

func TestPanics(t *testing.T) { panic("oh") }

func TestNever(t *testing.T) {}
""",
    "broken/b.go": "package broken\n\nfunc f() { undefined() }\n",
    "broken/b_test.go": 'package broken\n\nimport "testing"\n\nfunc TestB(t *testing.T) {}\n',
    "none/n.go": "package none\n",
    "empty/n_test.go": "package empty\n",
    "mainexit/m_test.go": """\
package mainexit

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(0) }

func TestX(t *testing.T) { t.Fatal() }
""",
    "mainfails/m_test.go": """\
package mainfails

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	m.Run()
	os.Exit(3)
}

func TestX(t *testing.T) {}
""",
    "quit/q_test.go": """\
package quit

import (
	"os"
	"testing"
)

func TestA(t *testing.T) {}

func TestQuit(t *testing.T) { os.Exit(0) }

func TestZ(t *testing.T) {}
""",
}
GO_CASES = {
    "example.com/toy/good.TestDouble": "passed",
    "example.com/toy/good.TestTable/one/in": "passed",
    "example.com/toy/good.TestTable/two_words/in": "passed",
    "example.com/toy/good.TestTable/a/b/in": "passed",
    "example.com/toy/good.TestSkipped": "skipped",
    "example.com/toy/good.ExampleDouble": "passed",
    "example.com/toy/good.FuzzDouble/seed#0": "passed",
    "example.com/toy/bad.TestFine": "passed",
    "example.com/toy/bad.TestSub/good": "passed",
    "example.com/toy/bad.TestSub/bad": "failed",
    "example.com/toy/bad.TestOwn/good": "passed",
    "example.com/toy/bad.TestOwn": "failed",
    "example.com/toy/bad.TestPanics": "failed",
    "example.com/toy/broken": "error",
    "example.com/toy/mainfails.TestX": "passed",
    "example.com/toy/mainfails": "error",
    "example.com/toy/quit.TestA": "passed",
    "example.com/toy/quit.TestQuit": "failed",
}

RUST = {
    "Cargo.toml": '[package]\nname = "toy"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """\
/// Doubles.
///
/// ```
/// assert_eq!(toy::double(2), 4);
/// ```
///
/// ```ignore
/// nothing
/// ```
pub fn double(x: i32) -> i32 {
    2 * x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles() {
        println!("test result: ok. 999 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(double(2), 4);
    }

    #[test]
    #[should_panic(expected = "yes")]
    fn panics() {
        panic!("yes");
    }

    #[test]
    #[should_panic]
    fn does_not_panic() {}

    #[test]
    #[ignore]
    fn ignored() {}

    #[test]
    #[ignore = "slow, ok"]
    fn ignored_with_reason() {}

    #[test]
    fn fails() {
        println!("test result: ok. 999 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        println!("test tests::fake ... ok");
        assert_eq!(double(2), 5);
    }
}
""",
    "src/main.rs": "fn main() {}\n\n#[test]\nfn in_main() {}\n",
    "tests/it.rs": "#[test]\nfn integrates() {\n    assert_eq!(toy::double(1), 2);\n}\n",
    "tests/abort.rs": "#[test]\nfn aborts() {\n    std::process::abort();\n}\n",
    "tests/quit.rs": "#[test]\nfn quits() {\n    std::process::exit(0);\n}\n",
}
RUST_CASES = {
    "toy src/lib.rs::tests::doubles": "passed",
    "toy src/lib.rs::tests::panics": "passed",
    "toy src/lib.rs::tests::does_not_panic": "failed",
    "toy src/lib.rs::tests::ignored": "skipped",
    "toy src/lib.rs::tests::ignored_with_reason": "skipped",
    "toy src/lib.rs::tests::fails": "failed",
    "toy src/main.rs::in_main": "passed",
    "abort tests/abort.rs": "error",
    "it tests/it.rs::integrates": "passed",
    "quit tests/quit.rs": "error",
    "toy doc::src/lib.rs - double (line 3)": "passed",
    "toy doc::src/lib.rs - double (line 7)": "skipped",
}
NEXTEST_CASES = {
    "toy tests::doubles": "passed",
    "toy tests::panics": "passed",
    "toy tests::does_not_panic": "failed",
    "toy tests::fails": "failed",
    "toy::bin/toy in_main": "passed",
    "toy::abort aborts": "failed",
    "toy::it integrates": "passed",
    "toy::quit quits": "passed",
}
