"""The rule `delta`, compared with its definition on random suites and runs."""

import attrs
from hypothesis import example, given
from hypothesis import strategies as st

import cooperbench_eval as ce
from cooperbench_eval.running.delta_judge import DeltaJudge
from cooperbench_eval.running.results import TestCase, TestResult, outcome_of

OLD = tuple(f"tests/test_old.py::test_{n}" for n in range(4))
NEW = ("tests/test_new.py::test_4", "tests/test_new.py::test_5")
BAD = {"failed", "error"}


def text_of(names, versions):
    """Return a test file with the named functions, each in a version."""
    bodies = zip(names, versions, strict=True)
    return "".join(
        f"def {name.rpartition('::')[2]}():\n    assert {version}\n\n" for name, version in bodies
    ).encode()


BASE = ce.Snapshot.from_files(
    {"tests/test_old.py": text_of(OLD, "1111"), "tests/test_other.py": b"def test_o():\n    pass\n"}
)
OTHER = "tests/test_other.py::test_o"
IDS = (*OLD, *NEW, OTHER)

statuses = st.sampled_from(["passed", "failed", "error", "skipped", "xfailed", None])
# How a case ends on the base, on the base without the suite's patch, with its feature alone,
# and in the run. Of most cases nothing is remarkable, so that each of the others decides the
# result.
stories = st.dictionaries(
    st.sampled_from(IDS), st.tuples(statuses, statuses, statuses, statuses), min_size=1, max_size=2
)


@attrs.frozen
class Patch:
    """A tests patch: the old tests it changes or removes, and whether it adds others."""

    changed: frozenset[str]
    removed: frozenset[str]
    adds: bool
    adds_data: bool

    @property
    def touched(self):
        """The tests that it adds or changes."""
        return (self.changed - self.removed) | (frozenset(NEW) if self.adds else frozenset())

    def suite(self):
        """Return a suite of pytest with this patch."""
        kept = [name for name in OLD if name not in self.removed]
        text = text_of(kept, ["2" if name in self.changed else "1" for name in kept])
        files = {"tests/test_old.py": text}
        if self.adds:
            files["tests/test_new.py"] = text_of(NEW, "11")
        if self.adds_data:
            files["tests/data.txt"] = b"1\n"
        changes = ce.Changes({path: ce.Entry(data) for path, data in files.items()})
        return ce.TestSuite(command=("pytest", "tests"), patch=changes.diff(BASE))


some = st.frozensets(st.sampled_from(OLD), max_size=2)
patches = st.builds(Patch, changed=some, removed=some, adds=st.booleans(), adds_data=st.booleans())


def result(ends):
    """Return the result of a run whose cases ended so."""
    cases = [TestCase(id=name, status=end) for name, end in ends.items() if end is not None]
    failed = any(case.status in BAD for case in cases)
    return TestResult(status="failed" if failed else "passed", cases=cases)


def is_broken(name, own, other, *, on_base, on_bare, alone, end):
    """Whether a case counts against the tree, by the definition of the rule.

    A test of the suite's own may be skipped only if it is never seen to pass.
    """
    passed_before = "passed" in {on_base[name], alone[name]}
    if name in own.touched:
        return end in BAD or (passed_before and end != "passed")
    if name in other.changed - other.removed:
        return False
    if on_base[name] == "passed" or (passed_before and on_base[name] not in BAD and end not in BAD):
        return end != "passed"
    only_adds_tests = not (own.changed or own.removed or own.adds_data)
    fails_before = (on_base if only_adds_tests and on_base[name] else on_bare)[name] in BAD
    return end in BAD and not (fails_before and on_base[name] in {*BAD, None})


NOTHING = Patch(changed=frozenset(), removed=frozenset(), adds=True, adds_data=False)


CHANGES = attrs.evolve(NOTHING, changed=frozenset(OLD[:1]))


@given(own=patches, other=patches, stories=stories, merged=st.booleans())
# The suite's data may be why a case of another file fails on the base.
@example(
    own=attrs.evolve(NOTHING, adds_data=True),
    other=NOTHING,
    stories={OTHER: ("failed", "passed", "passed", "failed")},
    merged=False,
)
@example(
    own=NOTHING,
    other=NOTHING,
    stories={OTHER: ("failed", "passed", "passed", "failed")},
    merged=False,
)
# A changed test passes on the base, or with its feature alone, and is skipped now.
@example(
    own=CHANGES,
    other=NOTHING,
    stories={OLD[0]: ("passed", "passed", "passed", "skipped")},
    merged=False,
)
@example(
    own=CHANGES,
    other=NOTHING,
    stories={OLD[0]: ("passed", "passed", "skipped", "skipped")},
    merged=True,
)
@example(
    own=CHANGES,
    other=NOTHING,
    stories={OLD[0]: ("failed", "failed", "passed", "skipped")},
    merged=True,
)
def test_a_run_counts_as_the_definition_says(own, other, stories, merged):
    """It passes if no case is broken and one passes; only excused cases decide nothing."""
    asked = []
    on_base, on_bare, alone, ends = (
        dict.fromkeys(IDS, "passed") | {name: each[n] for name, each in stories.items()}
        for n in range(4)
    )
    alone = alone if merged else dict.fromkeys(IDS)

    def bare():
        asked.append(1)
        return result(on_bare)

    judge = DeltaJudge(
        base=BASE,
        suite=own.suite(),
        others={other.suite(): [name for name in IDS if name not in other.removed]},
        on_base=result(on_base),
        on_bare_base=bare,
    )
    run = result(ends)
    judgement = judge.judge(run, result(alone) if merged else None)

    runs = {"on_base": on_base, "on_bare": on_bare, "alone": alone}
    broken = [n for n in IDS if is_broken(n, own, other, **runs, end=ends[n])]
    if broken:
        assert outcome_of(run, judgement) is False
        assert judgement.broken
    else:
        assert judgement.broken == ()
        passes = any(end == "passed" for end in ends.values())
        assert outcome_of(run, judgement) is (True if passes else None)
        bad = {name for name, end in ends.items() if end in BAD}
        assert bad <= {*judgement.preexisting, *judgement.foreign}
    assert len(asked) <= 1
    assert not asked or any(end in BAD for end in ends.values())


def test_a_run_that_is_not_complete_is_not_judged():
    """A timeout, a run on the base without cases, and a framework without names."""
    suite = ce.TestSuite(command=("pytest",))
    full = result(dict.fromkeys(IDS, "passed"))
    cut = attrs.evolve(full, status="timed_out")
    script = ce.TestSuite(command=("sh", "-c", "true"), framework="exit")

    assert DeltaJudge(base=BASE, suite=suite, on_base=full).judge(cut) is None
    assert DeltaJudge(base=BASE, suite=suite, on_base=cut).judge(full) is None
    assert DeltaJudge(base=BASE, suite=suite, on_base=None).judge(full) is None
    assert DeltaJudge(base=BASE, suite=script, on_base=full).judge(full) is None
    assert DeltaJudge(base=BASE, suite=suite, on_base=full).judge(full).broken == ()


def test_a_file_that_another_suite_touches_is_not_excused():
    """Only the tests that it changes are: neither the rest of the file nor the file itself."""
    text = b"test('one', () => { expect(1).toBe(1) })\ntest('two', () => {})\n"
    each = b"test.each([1])('n %i', n => {})\n"
    base = ce.Snapshot.from_files({"a.test.js": text, "b.test.js": text + each})
    edits = {
        "a.test.js": text.replace(b"(1)", b"(2)"),
        "b.test.js": text + each.replace(b"1", b"2"),
    }
    other = ce.TestSuite(
        command=("npx", "jest"),
        framework="jest",
        patch=ce.Changes({path: ce.Entry(data) for path, data in edits.items()}).diff(base),
    )
    names = ["a.test.js > one", "a.test.js > two", "b.test.js > n 1", "b.test.js > two"]
    judge = DeltaJudge(
        base=base,
        suite=ce.TestSuite(command=("npx", "jest"), framework="jest"),
        others={other: names},
        on_base=result(dict.fromkeys(names, "passed")),
    )

    judgement = judge.judge(result(dict.fromkeys(names, "failed")))
    whole = judge.judge(result(dict.fromkeys(names, "passed") | {"a.test.js": "error"}))

    assert judgement.foreign == ("a.test.js > one",)
    assert judgement.broken == tuple(names[1:])
    assert whole.broken == ("a.test.js",)


def test_cases_without_names_all_count():
    """Unittest's closing lines give only numbers."""
    suite = ce.TestSuite(command=("sh", "test.sh"), framework="unittest")
    on_base = result({"unittest failed #1": "failed", "unittest passed #1": "passed"})

    assert DeltaJudge(base=BASE, suite=suite, on_base=on_base).judge(on_base) is None


def test_a_parameter_that_the_feature_adds_does_not_replace_one_that_is_lost():
    """Alone, the feature has both; in the merged tree, one of them is missing."""
    suite = ce.TestSuite(command=("pytest", "tests"))
    base, alone, merged = (
        result({f"tests/test_other.py::test_o[{each}]": "passed" for each in parameters})
        for parameters in ("ab", "abc", "ac")
    )
    judge = DeltaJudge(base=BASE, suite=suite, on_base=base)

    assert judge.judge(merged).broken == ()
    assert judge.judge(merged, alone).broken == ("tests/test_other.py::test_o[b]",)


def test_a_test_that_another_suite_gives_a_fixture_is_left_to_it():
    """The test's own text is the same in both versions."""
    name = "tests/test_other.py::test_o"
    fixture = b"import pytest\n\n\n@pytest.fixture(autouse=True)\ndef ready():\n    pass\n\n\n"
    entry = ce.Entry(fixture + BASE.get("tests/test_other.py").data)
    patch = ce.Changes({"tests/test_other.py": entry}).diff(BASE)
    other = ce.TestSuite(command=("pytest", "tests"), patch=patch)
    judge = DeltaJudge(
        base=BASE,
        suite=ce.TestSuite(command=("pytest",)),
        others={other: [name]},
        on_base=result(dict.fromkeys(IDS, "passed")),
    )

    judgement = judge.judge(result(dict.fromkeys(IDS, "passed") | {name: "failed"}))

    assert (judgement.broken, judgement.foreign) == ((), (name,))
