"""Results that are too large to be read, or that would become too large."""

import time

import pytest
import toys

from cooperbench_eval.running.readers.result_files import (
    CASE_LIMIT,
    ID_LIMIT,
    MESSAGE_LIMIT,
    UnreadableResultError,
    bounded,
)
from cooperbench_eval.running.results import TestCase

LONG = pytest.mark.long
MANY = 210_000  # go and node report groups as well, so that half of these may be cases
NODE = '{"name":"%s","nesting":%d,"file":"f","failure":"","message":"","passed":true}\n'
JEST = (
    '{"numPassedTests":%d,"numFailedTests":0,"testResults":[{"name":"%s","status":"",'
    '"assertionResults":[%s]}]}'
)
COMMANDS = {
    "pytest": ("pytest",),
    "unittest": ("python", "-m", "unittest"),
    "nextest": ("cargo", "nextest", "run"),
}


def junit(body):
    """Return a JUnit file."""
    return f"<testsuites><testsuite>{body}</testsuite></testsuites>"


def jest(count, path="f.test.js"):
    """Return a result of jest with passed tests."""
    tests = (f'{{"status":"passed","title":"t{n}","ancestorTitles":[]}}' for n in range(count))
    return JEST % (count, path, ",".join(tests))


def many(line):
    """Return a line many times, each with its number."""
    return "".join(line.replace("#", str(number)) for number in range(MANY))


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a result's text."""

    def read(framework, name, text):
        command = COMMANDS.get(framework, ("run",))
        return toys.read(framework, tmp_path, {name: text.encode()}, command=command)

    return read


TOO_MANY = {
    "pytest cases": ("junit.xml", lambda: junit(many('<testcase name="t#"/>'))),
    "pytest outcomes": (
        "junit.xml",
        lambda: junit(f'<testcase name="t">{many("<error/>")}</testcase>'),
    ),
    "pytest elements": ("junit.xml", lambda: junit("<x/>" * (5 * MANY))),
    "unittest cases": ("unittest.xml", lambda: junit(many('<testcase name="t#"/>'))),
    "nextest cases": ("nextest.xml", lambda: junit(many('<testcase name="t#"/>'))),
    "go tests": ("go.jsonl", lambda: many('{"Action":"run","Package":"p","Test":"T#"}\n')),
    "go packages": ("go.jsonl", lambda: many('{"Action":"start","Package":"p#"}\n')),
    "go lines": ("go.jsonl", lambda: many("x\n") * 5),
    "jest cases": ("jest-1.json", lambda: jest(CASE_LIMIT + 1)),
    "vitest values": ("vitest-1.json", lambda: "[" + "{}," * (10 * MANY) + "0]"),
    "node events": ("node-1.jsonl", lambda: many(NODE % ("t#", 0)) + '{"end":true}\n'),
}
QUICK = ("pytest outcomes", "go lines", "vitest values", "node events")


@pytest.mark.parametrize(
    "kind", [each if each in QUICK else pytest.param(each, marks=LONG) for each in TOO_MANY]
)
def test_a_result_with_too_many_parts_is_given_up_soon(read, kind):
    """Neither its parts nor its cases fill the memory of the host."""
    name, text = TOO_MANY[kind]
    began = time.process_time()

    with pytest.raises(UnreadableResultError, match=r"more than|too (?:many|often)"):
        read(kind.split()[0], name, text())

    assert time.process_time() - began < 10


def _nested(count, depth, name):
    """Return events of tests below many groups with one name."""
    tests = "".join(NODE % (f"t{n}", depth) for n in range(count))
    groups = "".join(NODE % (name, nesting) for nesting in reversed(range(depth)))
    return tests + groups + '{"end":true}\n'


@pytest.mark.parametrize(
    ("framework", "name", "text"),
    [
        ("jest", "jest-1.json", jest(400, "f" * 1_000_000)),
        ("jest", "jest-1.json", jest(400, "f/" * 100_000)),
        ("node", "node-1.jsonl", _nested(400, 190, "g" * 10_000)),
        ("pytest", "junit.xml", junit(f'<testcase classname="{"a." * 100_000}" name="t"/>')),
    ],
    ids=["long path", "deep path", "long groups", "deep class"],
)
def test_names_that_many_cases_share_are_cut(read, framework, name, text):
    """One long name in the file would be copied into the id of each case."""
    began = time.process_time()

    cases = read(framework, name, text)

    # Without the limits, these take minutes or hold hundreds of megabytes.
    assert all(len(case.id) <= ID_LIMIT for case in cases)
    assert time.process_time() - began < 5


def test_texts_may_not_grow_beyond_the_size_of_a_file(read):
    """Names that are cut are still long if there are many cases."""
    with pytest.raises(UnreadableResultError, match="too long"):
        read("jest", "jest-1.json", jest(17_000, "f" * 10_000))


def test_long_ids_and_messages_are_cut():
    """What remains still identifies the case."""
    case = TestCase(id="i" * 10_000, status="failed", message="m" * 10_000)

    (cut,) = bounded([case])

    assert (len(cut.id), len(cut.message)) == (ID_LIMIT, MESSAGE_LIMIT)
    assert (cut.id + cut.message)[ID_LIMIT - 1 :][:2] == "im"


@pytest.mark.parametrize("size", [1_999, 2_000, 2_001, 19_999, 300_000])
def test_a_long_message_keeps_its_beginning_and_its_end(read, size):
    """The end of a traceback is the place where the test failed."""
    text = "first line\n" + "x" * (size - 20) + "a.py:7: E"
    element = f'<testcase name="t"><failure message="">{text}</failure></testcase>'

    (case,) = read("pytest", "junit.xml", junit(element))

    assert case.message.startswith("first line\n")
    assert case.message.endswith("a.py:7: E")
    assert ("[... cut ...]" in case.message) == (size > MESSAGE_LIMIT)
    assert len(case.message) == min(size, MESSAGE_LIMIT)


@LONG
def test_a_result_of_the_greatest_size_is_read(read):
    """The limit is far above the number of cases of real suites."""
    cases = read(
        "pytest", "junit.xml", junit("".join(f'<testcase name="t{n}"/>' for n in range(CASE_LIMIT)))
    )

    assert len(cases) == CASE_LIMIT
