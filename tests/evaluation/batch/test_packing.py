"""A report as bytes: small, whole, and read back equal."""

import json

import attrs
import pytest
from generators import reports, team_reports
from hypothesis import given, settings
from hypothesis import strategies as st

import cooperbench_eval as ce
from cooperbench_eval.analysis.sources import facts_of
from cooperbench_eval.evaluation.batch import packing
from cooperbench_eval.evaluation.batch.packing import Parts, facts_in, pack, unpack

OUTPUT = "what it printed\n" * 5000
CASES = [ce.models.TestCase(id=f"test_{n}", status="passed") for n in range(500)]
RUN = ce.TestResult(status="passed", cases=CASES, output=OUTPUT)


def loud_report():
    """Return a report with much in it, in several places the same."""
    base = ce.Snapshot.from_files({"f": b"1\n" * 3000})
    one, two = (ce.Changes({"f": ce.Entry(n * 6000)}).diff(base) for n in (b"2\n", b"3\n"))
    pair = ce.FeaturePair(
        repo_name="r",
        task_id=0,
        base=base,
        feature1=ce.Feature(number=1, patch=one),
        feature2=ce.Feature(number=2, patch=two),
    )
    report = ce.Evaluator().evaluate(pair)
    feature = attrs.evolve(report.feature1, tests=RUN, base_tests=RUN)
    return attrs.evolve(report, feature1=feature)


@settings(max_examples=settings().max_examples // 2)  # each makes JSON three times
@given(reports() | team_reports())
def test_any_report_is_read_back_equal(report):
    """Its contents do not matter."""
    packed = pack(report)

    assert packed.unpack() == report
    assert packed.is_final == report.is_final
    assert facts_in(packed.head) == facts_of(report)


def test_large_texts_are_stored_once_outside_the_head():
    """The head stays small, and equal texts are one part."""
    packed = pack(loud_report())

    assert len(packed.head) < 8000
    assert sum(data == OUTPUT.encode() for data in packed.parts.values()) == 1
    assert max(map(len, packed.parts.values())) > 50_000


def test_teams_share_the_texts_of_their_features():
    """An output and a diff are one part in all teams and pairs that have them."""
    pair = loud_report()
    features = [attrs.evolve(pair.feature1, number=n) for n in (1, 2, 3)]
    run = ce.reporting.SuiteRun(suite="feature", feature=1, tests=RUN)
    step = ce.reporting.TeamStep(feature=2, into=[1], status="clean", diff=pair.diff)
    left_out = ce.reporting.LeftOut(number=3, reason="breaks", tests=[lost_cases()])
    attempt = ce.reporting.TeamAttempt(
        strategy="naive",
        implementation="m:C",
        status="clean",
        landed=[1, 2],
        left_out=[left_out],
        steps=[step],
        diff=pair.diff,
        tests=[run],
        landed_tests=[run],
    )
    given = {"repo_name": "r", "task_id": 0, "timestamp": pair.timestamp}
    team = ce.TeamReport(**given, features=features, merges=[step], attempts=[attempt])

    packed, of_pair = pack(team), pack(pair)

    assert packed.unpack() == team
    assert len(packed.head) < 9000
    assert sum(OUTPUT.encode() in data for data in packed.parts.values()) == 1
    assert {part for part in packed.parts.values() if len(part) > 50_000} <= set(
        of_pair.parts.values()
    )


def lost_cases():
    """Return many cases that fail."""
    return ce.reporting.BrokenTests(suite="feature", feature=1, tests=[case.id for case in CASES])


def test_a_report_of_short_texts_is_its_own_json():
    """Other programs can read it without the store."""
    base = ce.Snapshot.from_files({"f": b"1\n"})
    sides = [ce.Changes({"f": ce.Entry(b"%d\n" % n)}).diff(base) for n in (2, 3)]
    one, two = (ce.Feature(number=n, patch=side) for n, side in enumerate(sides))
    pair = ce.FeaturePair(repo_name="r", task_id=0, base=base, feature1=one, feature2=two)
    report = ce.Evaluator(strategies=["naive"]).evaluate(pair)

    packed = pack(report)

    assert packed.parts == {}
    assert ce.MergeReport.from_json(packed.head) == report


@pytest.mark.parametrize(
    "head",
    [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"facts": {}}', b'{"facts": 7}'],
    ids=["empty", "list", "dict", "no text", "deep", "no facts", "a number"],
)
def test_data_that_is_not_a_report_is_rejected(head):
    """The error is the one that readers expect."""
    with pytest.raises(ce.errors.ReportError):
        unpack(head, Parts({}.__getitem__))
    with pytest.raises(ce.errors.ReportError):
        facts_in(head)


def test_the_facts_come_first():
    """People who open the file see them."""
    head = pack(loud_report()).head

    assert head.startswith(b'{"facts":')
    assert json.loads(head)["schema_version"] == 1


def test_reports_that_are_read_together_share_their_parts():
    """Each part is read once, and equal cases are the same objects."""
    report = loud_report()
    packed, digests = pack(report), []

    def read(digest):
        digests.append(digest)
        return packed.parts[digest]

    parts = Parts(read)
    first, second = (unpack(packed.head, parts) for _ in range(2))

    assert first == second == report
    assert sorted(digests) == sorted(packed.parts)
    runs = [
        run for each in (first, second) for run in (each.feature1.tests, each.feature1.base_tests)
    ]
    assert len({id(run.cases) for run in runs}) == 1


def test_few_parts_are_kept_while_many_reports_are_read(monkeypatch):
    """A part that was dropped is read again."""
    monkeypatch.setattr(packing, "_KEPT_BYTES", 1000)
    packed = pack(loud_report())
    parts = Parts(packed.parts.__getitem__)

    for _ in range(3):
        assert unpack(packed.head, parts) == loud_report_at(packed)
        assert len(parts._kept) == 1
        assert [parts._kept._bytes] == [*parts._kept._sizes.values()]


def loud_report_at(packed):
    """Read a packed report by itself."""
    return packed.unpack()


@given(st.lists(reports(), min_size=1, max_size=3))
def test_sharing_parts_changes_no_report(found):
    """This holds whatever parts the reports have in common."""
    packed = [pack(each) for each in [*found, *found]]
    everything = {digest: data for each in packed for digest, data in each.parts.items()}
    parts = Parts(everything.__getitem__)

    assert [unpack(each.head, parts) for each in packed] == [*found, *found]
