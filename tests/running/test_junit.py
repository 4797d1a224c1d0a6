"""Malicious JUnit XML."""

import pytest

from cooperbench_eval.running.readers.result_files import UnreadableResultError, parse_junit
from cooperbench_eval.running.results import TestCaseStatus

BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuites><testcase name="&b;"/></testsuites>"""


def test_cases_and_their_outcomes_are_read_in_order():
    """A case without an outcome passed; a case may have several outcomes."""
    cases = parse_junit(
        b"<testsuites><testsuite>"
        b'<testcase classname="a.b" name="one" file="a/b.py" time="0.25"/>'
        b'<testcase classname="a.b" name="two"><properties><error/></properties>'
        b'<failure message="m"><error message="x"/>text</failure><error message="n"/></testcase>'
        b"</testsuite></testsuites>"
    )

    one, two = cases
    assert (one.classname, one.name, one.file, one.duration_seconds) == (
        ("a.b", "one", "a/b.py", 0.25)
    )
    assert one.outcomes == ()
    assert [(o.status, o.message) for o in two.outcomes] == [
        (TestCaseStatus.FAILED, "m\ntext"),
        (TestCaseStatus.ERROR, "n"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"999 passed",
        b"<testsuites>",
        b"<testsuites></testsuite>",
        b"<html/>",
        BOMB,
        b'<?xml version="1.0" encoding="utf-99"?><testsuites/>',
        b'<?xml version="1.0" encoding="gb2312"?><testsuites/>',
        b"<testsuites>" * 5000 + b"</testsuites>" * 5000,
        b"<testsuites>\xff</testsuites>",
        b"<testsuites>\0</testsuites>",
    ],
    ids=range(11),
)
def test_xml_that_is_not_plain_junit_is_provisionalable(data):
    """Broken, foreign, bomb-like and very deep XML raises one kind of error."""
    with pytest.raises(UnreadableResultError):
        parse_junit(data)


@pytest.mark.parametrize("time", ["nan", "inf", "-1", "soon", ""])
def test_an_invalid_duration_counts_as_zero(time):
    """An invalid duration is not a number or below zero."""
    (case,) = parse_junit(f'<testsuite><testcase name="x" time="{time}"/></testsuite>'.encode())

    assert case.duration_seconds == 0.0


def test_long_messages_are_cut():
    """A message of a megabyte is cut to two thousand characters."""
    text = b"<testsuite><testcase><error message='m'>" + b"x\n" * 500_000
    (case,) = parse_junit(text + b"</error></testcase></testsuite>")

    assert len(case.outcomes[0].message) == 2000
