"""Finding the JavaScript tests that a patch adds."""

import pytest
import toys

from cooperbench_eval.running.results import TestCase, TestCaseStatus

TESTS = """\
import { quote } from './quote';
// it('commented', () => {});
/*
it('commented too', () => {});
*/
const text = `
it('in a text', () => {});
`;
describe('group', () => {
  beforeEach(() => { quote(/[/"'`{]/, 1 / 2); });
  it('plain', () => {
    expect(`${text}`).toBe("{");
  });
  afterEach(() => {/x{/.test(text); });
  describe.each([1])('each', () => {
    it('many', () => {});
  });
  if (quote) {
    it('sometimes', () => {});
  }
  it('behind it', () => {});
  it.each([1])('one of %i', () => {});
  it('with %s', () => {});
  it('it\\'s', () => {});
  it(`template`, () => {});
});
function define() {
  test('defined', () => {});
}
describe('other', function () {
  test("double quotes", async () => {});
});
test('top', () => {});
"""
NAMED = ("npx", "jest", "src/a.test.tsx")


def test_added_tests_are_required():
    """Only tests with literal titles, at the top or in groups, are found."""
    names = toys.required("jest", NAMED, {"src/a.test.tsx": TESTS, "src/b.test.tsx": TESTS})

    assert names == (
        "src/a.test.tsx > plain",
        "src/a.test.tsx > behind it",
        "src/a.test.tsx > double quotes",
        "src/a.test.tsx > top",
    )


def test_only_changed_tests_are_required():
    """A test that was in the file before is not required."""
    after = {"src/a.test.tsx": TESTS.replace('toBe("{")', 'toBe("}")')}

    names = toys.required("jest", NAMED, after, {"src/a.test.tsx": TESTS})

    assert names == ("src/a.test.tsx > plain",)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (("npx", "jest", "src"), TESTS),
        ((*NAMED, "-t", "absent"), TESTS),
        ((*NAMED, "-t", "^plain"), TESTS),
        ((*NAMED, "-t", "("), TESTS),
        ((*NAMED, "--testNamePattern=PLAIN"), TESTS),
        ((*NAMED, "--shard=1/2"), TESTS),
        (NAMED, TESTS + "it.only('x', () => {});\n"),
        (NAMED, TESTS + "fdescribe('x', () => {});\n"),
        (NAMED, TESTS + "it.skipIf(true)('x', () => {});\n"),
        (NAMED, "`" + TESTS.replace("`", "")),
        (NAMED, "}" + TESTS),
    ],
    ids=range(11),
)
def test_nothing_is_required_that_may_be_left_out(command, text):
    """The command or the file may leave tests out."""
    assert toys.required("jest", command, {"src/a.test.tsx": text}) == ()


def test_a_scripts_result_says_which_files_it_ran():
    """If nothing of a file was skipped, all of it should have run."""
    text = "test('top', () => {});\n"
    ran, skipped = (
        TestCase(id=f"src/a.test.tsx > {title}", status=status)
        for title, status in (("a", TestCaseStatus.PASSED), ("b", TestCaseStatus.SKIPPED))
    )

    def names(*cases):
        return toys.required("jest", ("./run.sh",), {"src/a.test.tsx": text}, cases=cases)

    assert names(ran) == ("src/a.test.tsx > top",)
    assert names(ran, skipped) == names() == ()


def test_a_case_covers_the_title_in_any_group():
    """The file must be the same."""
    covers = toys.FRAMEWORKS["vitest"].covers
    names = ("a.js > t", "a.js > g > t", "b.js > t", "a.js > t > u", "a.js > x t", "a.js")
    cases = [TestCase(id=name, status=TestCaseStatus.PASSED) for name in names]

    assert [covers(case, "a.js > t") for case in cases] == [True, True, False, False, False, False]


@pytest.mark.parametrize(
    ("framework", "options", "titles"),
    [
        ("jest", ["-t", "plain"], ["plain"]),
        ("jest", ["-t=in$|top$"], ["plain", "top"]),
        ("vitest", ["--testNamePattern", "o"], ["double quotes", "top"]),
        ("vitest", ["-t", "o", "-t", "top"], ["top"]),
        ("node", ["--test-name-pattern=plain"], []),
    ],
)
def test_titles_that_the_command_selects_are_required(framework, options, titles):
    """A group's title may match as well; node may leave out groups that do not match."""
    names = toys.required(framework, (*NAMED, *options), {"src/a.test.tsx": TESTS})

    assert names == tuple(f"src/a.test.tsx > {title}" for title in titles)


def test_a_filtered_file_ran_if_one_of_its_tests_did():
    """The tests that a pattern leaves out are reported as skipped."""
    files = {"src/a.test.tsx": "test('top', () => {});\n"}
    ran, skipped = (
        TestCase(id=f"src/a.test.tsx > {status}", status=status)
        for status in (TestCaseStatus.PASSED, TestCaseStatus.SKIPPED)
    )

    def names(framework, *cases):
        option = "--test-name-pattern=top" if framework == "node" else "-ttop"
        return toys.required(framework, ("./run.sh", option), files, cases=cases)

    for framework in ("jest", "vitest", "node"):
        assert names(framework, ran, skipped) == ("src/a.test.tsx > top",)
        assert names(framework, skipped) == names(framework) == ()
