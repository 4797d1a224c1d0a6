"""The page as a person sees it, in Chromium."""

import re

import pytest
from attrs import evolve
from generators import lists_of, reports
from hypothesis import HealthCheck, given, settings
from page_reports import CLEAN, CONFLICT, MISSING, broken, edited, made, pair, run

import cooperbench_eval as ce
from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.strategies.union import UnionStrategy

WHY = "Why, under union"

# --- the table of pairs ---


def test_a_click_on_a_number_shows_its_pairs(open_page):
    """The number of incorrect pairs leads to these pairs, with the names of lost tests."""
    page = open_page([pair(1), broken(2), pair(3, of=CLEAN)])

    page.click("#summary a[aria-label='1 pair incorrect under union']")

    assert page.text("#count") == "1 of 3 pairs"
    assert page.shown_pairs() == ["click/2"]
    assert page.signs("union") == ["✗ incorrect"]
    assert page.column(WHY) == ["broke feature 1: 1 test lost"]
    assert page.tab.evaluate("document.activeElement.innerText") == "Pairs"
    page.click("#pairs summary")
    assert page.column(WHY)[0].splitlines()[1:] == ["feature 1: 1 of 2 tests", "t::one"]


def test_lost_cases_are_grouped_by_test(open_page):
    """The first tests are shown at once, and all names after a click."""
    names = [f"t::many[{n}]" for n in range(7)] + [f"t::t{n}" for n in range(6)]
    page = open_page([broken(names=names, alone=(names, ("t::three",)))], "#strategy=union")

    page.click("#pairs summary")
    short = page.column(WHY)[0].splitlines()
    page.click("#pairs details details summary")

    assert short[1:4] == ["feature 1: all 13 tests", "t::many 7 cases", "t::t0"]
    assert short[-1] == "and 2 more, all 13 names"
    assert page.column(WHY)[0].splitlines()[-13:] == names


REPOS = [
    *[pair(task, repo_name="click", model="a") for task in (1, 2)],
    broken(2, repo_name="jinja", model="b"),
    pair(3, repo_name="jinja", of=CLEAN, model="b"),
    evolve(MISSING, task_id=4, repo_name="jinja"),
]


@pytest.mark.parametrize(
    ("choices", "rows"),
    [
        ({"repo": "jinja"}, ["jinja/2", "jinja/3", "jinja/4"]),
        ({"task": "jinja/2"}, ["jinja/2"]),
        ({"repo": "jinja", "task": "jinja/3"}, ["jinja/3"]),
        ({"strategy": "union", "verdict": "incorrect"}, ["jinja/2"]),
        ({"verdict": "unhandled"}, ["click/1", "click/2", "jinja/2"]),
        ({"verdict": "missing_input"}, ["jinja/4"]),
        ({"status": "clean"}, ["jinja/3"]),
        ({"task": "click/1", "repo": "jinja"}, ["jinja/2", "jinja/3", "jinja/4"]),
    ],
)
def test_filters_are_kept_in_the_address(open_page, choices, rows):
    """By repository, task, merge and result of a strategy; a link shows the same rows."""
    page = open_page(REPOS)

    page.choose(**choices)
    shown = page.shown_pairs()
    asked = page.tab.evaluate("location.hash")

    assert shown == rows
    assert open_page(REPOS, asked).shown_pairs() == rows


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("JINJA/2", ["jinja/2"]),
        ("t::one", ["jinja/2"]),
        ("f.py broke", ["jinja/2"]),
        ("feature 1 clean", ["jinja/3"]),
        ("nowhere", []),
        ("jinja/4 conflicts", []),
    ],
)
def test_pairs_are_found_by_words(open_page, words, rows):
    """Words are found in names of tests, files and models and in reasons, in any case."""
    page = open_page(REPOS)

    page.tab.get_by_label("Words").fill(words)
    page.tab.wait_for_url("**#*words=*")

    assert page.shown_pairs() == rows


def test_the_reset_button_shows_all_pairs(open_page):
    """The chosen strategy stays."""
    page = open_page(REPOS, "#strategy=union&repo=jinja&verdict=incorrect&words=1")

    page.click("button[type=reset]")

    assert page.text("#count") == "5 pairs"
    assert page.tab.get_by_label("Words").input_value() == ""
    assert page.tab.locator("[name=strategy]").input_value() == "union"


def test_columns_sort_in_both_directions(open_page):
    """Numbers sort as numbers, missing values last, and screen readers get the direction."""
    scores = {2: 100, 3: 20}
    details = CONFLICT.conflict_details
    given_reports = [
        *[pair(t, conflict_details=evolve(details, conflict_score=scores[t])) for t in scores],
        evolve(MISSING, task_id=1),
    ]
    page = open_page(given_reports)
    button, names = (f"#pairs thead button:has-text({name!r})" for name in ("Score", "Pair"))

    before = page.shown_pairs()
    page.click(button)
    up = page.shown_pairs()
    said = page.tab.locator("th[aria-sort]").get_attribute("aria-sort")
    page.click(names)
    by_name = page.shown_pairs()
    page.click(button)
    page.click(button)

    one, two, three = (f"click/{task}" for task in (1, 2, 3))
    assert (before, up) == ([two, three, one], [three, two, one])
    assert by_name == page.shown_pairs() == [one, two, three]
    assert said == "ascending"
    assert page.tab.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    assert page.tab.evaluate("document.activeElement.innerText") == "Score ↓"


def test_pairs_have_the_order_of_their_reports(open_page):
    """This holds until a column is chosen; the links from pair to pair follow the order."""
    page = open_page([pair(9), broken(2), pair(10)])
    assert page.shown_pairs() == ["click/9", "click/2", "click/10"]

    page.visit("#pair=1").click("nav >> text=Next")

    assert page.text("#pair-heading").startswith("click/2:")


def test_every_strategy_has_a_column_of_signs(open_page):
    """A column sorts by its signs; the reason is that of the chosen strategy."""
    attempts = [*broken().attempts, evolve(pair().attempt("union"), strategy="third")]
    page = open_page([pair(1), broken(2, attempts=attempts), pair(3)], "#strategy=union")
    before = page.column(WHY)

    page.choose(strategy="third")
    page.click("#pairs thead button:text-is('third')")

    assert before == ["", "broke feature 1: 1 test lost", ""]
    assert page.shown_pairs() == ["click/2", "click/1", "click/3"]
    assert page.signs("union") == ["✗ incorrect", "✓ correct", "✓ correct"]
    assert page.signs("third") == ["✓ correct", "· not tried", "· not tried"]
    assert page.column("Why, under third") == ["", "", ""]


# --- missing answers ---


def test_a_run_without_pairs_says_so(open_page):
    """A page without reports is a valid page."""
    page = open_page([], title="Nothing yet")

    assert page.text("h1") == "Nothing yet"
    assert page.text("#count") == "There are no pairs."
    assert "No strategy was tried." in page.text("#summary")


def test_pairs_without_an_answer_say_why(open_page):
    """Not evaluated, a missing side, tests not run, and a report without strategies."""
    failure = ce.reporting.Failure(
        kind="worker_lost", problem="it died", error="builtins:OSError", tries=2
    )
    lost = evolve(MISSING, task_id=1, conflict_details=None, failure=failure)
    page = open_page(
        [
            lost,
            evolve(MISSING, task_id=2),
            evolve(CONFLICT, task_id=3, attempts=()),
            evolve(CONFLICT, task_id=4),
        ],
        "#strategy=union",
    )

    assert page.column("Git merge") == ["not evaluated", "missing input", "conflicts", "conflicts"]
    assert page.column(WHY) == [
        "worker lost: it died (builtins:OSError), tried 2 times",
        "no usable patch of feature 2",
        "",
        "",
    ]
    assert page.signs("union") == [
        "? unanswered",
        "∅ missing input",
        "· not tried",
        "○ merged, not tested",
    ]
    assert "1 worker lost" in page.text("#summary")
    assert "it died" in page.visit("#pair=1").text("#pair .facts")
    assert "empty" in page.visit("#pair=2").text("#pair")
    assert "No strategy was tried." in page.visit("#pair=3").text("#pair")


# --- one pair ---


def test_the_page_of_a_single_pair_opens_on_it(open_page):
    """Its table is a click away; a page of two pairs opens on the table."""
    page = open_page([evolve(pair(1), repo_name="a")])
    heading = page.text("#pair-heading")
    is_listed = page.tab.locator("#list").is_visible()
    page.click("nav >> text=All pairs")

    assert heading == "a/1: feature 1 merged into feature 2"
    assert not is_listed
    assert page.shown_pairs() == ["a/1"]
    assert open_page([pair(1), pair(2)]).tab.locator("#list").is_visible()


def test_a_clean_pair_has_no_conflicts(open_page):
    """In a word, not as numbers that are all zero."""
    page = open_page([pair(1, of=CLEAN), pair(2)], "#pair=1")

    assert page.texts("#pair .facts > div")[1] == "conflicts\nnone"
    assert "1 conflict section with 2 lines" in page.visit("#pair=2").text("#pair .facts")


def test_a_pair_shows_its_features_and_strategies(open_page):
    """Patches, test runs, failed cases with messages, blame, lost tests and failures."""
    attempt = CONFLICT.attempt("union")
    rows = [
        *pair(lost={"union": (("t::two",), ())}).attempts,
        evolve(attempt, strategy="down", status="failed", diff=None, failure="no power"),
    ]
    page = open_page([pair(attempts=rows, model="gpt", setting="coop", k=3)], "#pair=1")

    article = page.text("#pair")
    page.click("#pair summary:has-text('2 that did not pass')")

    assert page.text("h2#pair-heading") == "click/7: feature 1 merged into feature 2"
    assert page.text(".facts").splitlines()[:4] == [
        *("merge", "conflicts", "conflicts", "1 conflict section with 2 lines, score 24 (MEDIUM)")
    ]
    for words in ("gpt", "coop", "2026-01-31 12:00:00+00:00", "python 3."):
        assert words in page.text(".facts")
    assert "failed 0/2" in page.text("#pair table >> nth=0")
    assert "t::one failed\nbroke" in page.text("#pair table >> nth=0")
    union, down = page.texts("#pair table >> nth=1 >> tbody tr")[1:3]
    assert union.split("\t")[1:6] == [
        "resolved",
        "✗ incorrect",
        "the merge broke feature 1",
        "\n1 of feature 1:\nt::two\n",
        "failed 1/2\n1 that did not pass\n",
    ]
    assert "no power" in down
    assert "the strategy failed" in down
    assert "Conflicts" in article


def test_a_pair_shows_its_own_suites_warnings_and_hazards(open_page):
    """Joint tests and the repository's tests have columns; excused cases are named."""
    report = pair(of=CLEAN)
    hazard = ce.models.Hazard(
        kind="parse_error", path="f.py", line=3, message="torn", features=[1, 2]
    )
    attempt = evolve(
        report.attempts[0],
        feature1_tests=run(["t::two"], ["t::one"]),
        feature1_judgement=ce.models.Judgement(broken=(), preexisting=["t::one"]),
        joint_tests=run((), ["t::both"]),
        regression_tests=run(["t::old"]),
        hazards=[hazard],
    )
    side = evolve(report.feature1, joint_tests=run(["t::both"]), regression_tests=run(["t::old"]))
    judged = evolve(report, attempts=[attempt], feature1=side, judge="delta")
    page = open_page([judged], "#pair=1")

    page.click("#pair summary:has-text('What looks wrong in the merge of naive')")

    assert page.text("#pair .warnings").startswith("The joint tests pass on feature 1 without")
    tables = ("Each feature by itself", "How the pair ended under each strategy")
    features, strategies = (page.text(f"#pair table[aria-label='{each}']") for each in tables)
    for words in ("The joint tests alone", "The repository's tests alone"):
        assert words in features
    for words in ("Joint tests", "The repository's tests", "1 of both features together:"):
        assert words in strategies
    assert "failed 1/2, counts as passed\nfails on the base too: t::one" in strategies
    assert "f.py, line 3\ttorn" in page.text("#pair table[aria-label^=Hazards]")


def test_a_pair_says_which_of_the_agents_test_files_were_dropped(open_page):
    """They are listed in the warnings and next to the patch."""
    report = pair(of=CLEAN)
    patch = evolve(report.feature1.patch, dropped_files=("test_a.py", "test_b.py"))
    changed = evolve(report, feature1=evolve(report.feature1, patch=patch))

    page = open_page([changed])

    assert "2 test files of the agents were dropped: test_a.py, test_b.py." in page.text(
        "#pair .warnings"
    )
    row = page.text("#pair table[aria-label='Each feature by itself']")
    assert "applied, 2 test files dropped\ntest files taken out of it:\ntest_a.py" in row


def test_each_conflict_shows_all_versions_side_by_side(open_page):
    """Base, both sides and each resolution; strategies that agree share a box."""
    ours, theirs = edited(5, b"a = 1\n"), edited(5, b"b = 2\n")
    of = made(ours, theirs, strategies=["naive", "union", "tokens", UnionStrategy(name="another")])
    page = open_page([pair(of=of)], "#pair=1")

    boxes = {
        box.locator("figcaption").inner_text(): box.locator("pre").inner_text()
        for box in page.tab.locator("figure").all()
    }

    assert page.text(".conflict h4") == "1. f.py, line 6: content"
    assert boxes == {
        "base": "5",
        "ours: feature 2": "a = 1",
        "theirs: feature 1": "b = 2",
        "union ✓ correct, another ✓ correct": "a = 1\nb = 2",
    }
    assert "naive ≠ unhandled, tokens ≠ unhandled left open" in page.text(".conflict")
    margins = page.tab.locator(".resolution .line").evaluate_all(
        "lines => lines.map(line => line.dataset.from)"
    )
    assert margins == ["2", "1"]


def test_a_resolution_of_several_conflicts_is_shown_once(open_page):
    """The second conflict says where it is."""
    text = b"def f():\n    a\n    b\n    c\n    d\n    e\n    f\n"
    ours = text.replace(b"a", b"a1").replace(b"f\n", b"f1\n")
    theirs = text.replace(b"a", b"a2").replace(b"f\n", b"f2\n")
    of = made(ours, theirs, base=text, strategies=[Whole()])
    page = open_page([evolve(of)], "#pair=1")

    assert "Resolves conflicts 1, 2 together." in page.text(".conflict >> nth=0")
    assert "resolved together with conflict 1, shown there" in page.text(".conflict >> nth=1")


class Whole:
    """A strategy that replaces the whole file with one line."""

    name = "whole"

    def merge(self, merge_input):
        return ce.MergeOutcome(
            changes=ce.Changes({"f.py": ce.Entry(b"pass\n")}),
            conflicts_met=len(merge_input.conflicts),
        )


def test_conflicts_of_whole_files_are_described(open_page):
    """A side that deleted the file, and a strategy that failed."""
    of = made(None, edited(5, b"theirs\n"))
    facts = {"status": "failed", "diff": None, "failure": "x", "replacements": ()}
    failed = evolve(of.attempt("union"), strategy="down", **facts)
    page = open_page([evolve(of, attempts=(*of.attempts, failed))], "#pair=1")

    assert page.text(".conflict h4") == "1. f.py: modify/delete"
    assert "no such file" in page.text(".version.ours")
    assert "down ≠ unhandled not known: the strategy failed" in page.text(".conflict")


def test_long_texts_are_cut_and_say_so(open_page):
    """The file has at most the given number of bytes, and no character is cut in two."""
    of = made(edited(5, "é".encode() * 500 + b"\n"), edited(5, b"x" * 1_000_000 + b"\n"))
    page = open_page([of], "#pair=1", text_limit=101)

    assert page.text(".ours pre").split("\n") == ["é" * 50, "… 901 more bytes are left out"]
    assert page.text(".theirs pre").split("\n") == ["x" * 101, "… 999900 more bytes are left out"]


def test_links_lead_from_pair_to_pair_and_back(open_page):
    """They follow the filtered order and work by keyboard; the row left has the focus again."""
    page = open_page([pair(1), broken(2), pair(10)], "#sort=-pair")

    page.tab.locator("[data-pair='click-2-1-2:k1']").focus()
    page.tab.keyboard.press("Enter")
    page.settle()
    heading = page.tab.evaluate("document.activeElement.id")
    where = page.text("#pair nav[aria-label=Pairs]")
    page.click("nav >> text=Next")
    title = page.tab.title()
    page.click("nav >> text=All pairs")

    assert heading == "pair-heading"
    assert "2 of 3 found" in where
    assert title.startswith("click/1: feature 1 merged into feature 2")
    assert page.tab.evaluate("document.activeElement.dataset.pair") == "click-1-1-2:k1"
    assert page.shown_pairs() == ["click/10", "click/2", "click/1"]


# --- texts from outside ---

HOSTILE = [
    "<script>document.title='hacked'</script>",
    "</script><script>document.title='hacked'</script>",
    "<img src=http://example.org/x onerror=\"document.title='hacked'\">",
    "<!--<script>",
    "]]>--><svg/onload=alert(1)>",
    "&lt;b&gt;&amp;#x3c;",
    "\"'` onmouseover=alert(1) x='",
    "javascript:alert(1)",
    "${alert(1)} {{7*7}} $title",
    "__proto__",
]


def hostile(text):
    """A report with *text* in every place that can hold a text."""
    raw = text.encode("utf-8", "surrogatepass")
    path = "f.py"
    of = made(edited(5, raw + b"\n"), edited(5, b"x\n"), path=path)
    names = (text, f"{text} again")
    report = broken(of=of, names=(text,), alone=(names, names))
    attempts = [evolve(each, implementation=text, failure=text) for each in report.attempts]
    attempts.append(evolve(report.attempts[1], strategy=text))
    feature = evolve(
        report.feature1,
        patch=evolve(report.feature1.patch, reason=text, dropped_files=(text,)),
        base_tests=run((), names, reason=text, missing_tests=names),
    )
    conflicts = [evolve(each, path=text) for each in report.conflicts]
    changed = {
        "attempts": attempts,
        "feature1": feature,
        "conflicts": (*report.conflicts, *conflicts),
    }
    return evolve(
        report, repo_name=text, model=text, setting=text, versions={text: text}, **changed
    )


def test_hostile_texts_appear_as_text(open_page):
    """Markup, entities and scripts are shown literally; nothing runs or loads."""
    page = open_page([hostile(text) for text in HOSTILE], title=HOSTILE[0])
    shown = set()

    assert page.tab.title() == page.text("h1") == HOSTILE[0]
    assert sorted(page.shown_pairs()) == sorted(f"{text}/7" for text in HOSTILE)
    for number, text in enumerate(HOSTILE, start=1):
        article = page.visit(f"#pair={number}").text("#pair")
        shown.add(page.text(".version.ours pre >> nth=0").strip("\n"))
        assert article.count(text) > 10
        assert page.tab.locator("main :is(script, img, svg svg, iframe, b b)").count() == 0
    assert shown == set(HOSTILE)
    assert page.tab.evaluate("window.origin") == "null"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\u202eb\u2066".encode(), "aU+202EbU+2066"),
        (b"caf\xe9\xff", "cafE9FF"),
        (b"\x1b[31m\x01\r", "ESC[31mU+0001CR"),
        ("a\u200bb\u00a0c\u2028d\ufeff".encode(), "aU+200BbU+00A0cU+2028dU+FEFF"),
        ("\U000e0041\ufdd0".encode(), "U+E0041U+FDD0"),
        ("a\u034fb\ufe0fc\u3164d\U000e0100".encode(), "aU+034FbU+FE0FcU+3164dU+E0100"),
        ("ab\tc é 漢 😀".encode(), "ab\tc é 漢 😀"),
    ],
)
def test_hidden_characters_are_named(open_page, raw, shown):
    """Direction marks, controls, odd spaces, and bytes that are not UTF-8."""
    page = open_page([made(edited(5, raw + b"\n"), edited(5, b"x\n"))], "#pair=1")

    assert page.text(".version.ours pre") == shown


def test_odd_names_do_no_harm(open_page):
    """Names with lone surrogates, with several lines, very long ones and empty ones."""
    names = ("half \ud800", "byte \udce9", "two\nlines", "long" * 1000, "")
    page = open_page([broken(names=names, alone=(names, ("t::three",)))], "#strategy=union")

    page.click("#pairs summary >> nth=0")
    assert page.column(WHY)[0].splitlines()[2:6] == [
        "half U+D800",
        "byte E9",
        "twoLFlines",
        "long" * 25 + "…" + "ong" + "long" * 24,
    ]
    assert "half U+D800" in page.visit("#pair=1").text("#pair")


def test_a_name_with_a_lone_surrogate_is_filtered_and_linked(open_page):
    """An address cannot hold one, and a name that looks like its escape stays different."""
    halves = ["x\udcff", r"x\udcff", r"x\\udcff"]
    attempts = [*broken().attempts, evolve(broken().attempt("union"), strategy=halves[0])]
    many = [broken(n, repo_name=each, attempts=attempts) for n, each in enumerate(halves)]
    page = open_page([*many, pair(3)])

    shown = []
    for place in (2, 3, 4):
        page.tab.locator("select[name=repo]").select_option(index=place)
        page.settle()
        before = page.shown_pairs()
        shown += [name.rpartition("/")[2] for name in before]
        assert page.visit(page.tab.evaluate("location.hash")).shown_pairs() == before
    page.visit()
    page.click("#summary tr:nth-child(3) a >> nth=0")

    assert sorted(shown) == ["0", "1", "2"]
    assert page.text("#count") == "3 of 4 pairs"
    assert "Why, under xFF" in page.text("#pairs thead")


def test_numbers_that_javascript_rounds_stay_different(open_page):
    """It rounds integers from 2**53 on."""
    page = open_page([pair(2**53), pair(2**53 + 1), pair(7)])

    page.click("#pairs thead button:has-text('Pair')")
    sorted_by_name = page.shown_pairs()
    page.choose(task=f"click/{2**53 + 1}")

    assert sorted_by_name == ["click/7", f"click/{2**53}", f"click/{2**53 + 1}"]
    assert page.shown_pairs() == [f"click/{2**53 + 1}"]
    assert str(2**53 + 1) in page.visit("#pair=2").text("#pair-heading")


@pytest.mark.parametrize("verdict", ["toString", "__proto__", "won"])
def test_an_unknown_result_in_the_address_is_ignored(open_page, verdict):
    """All pairs are shown."""
    page = open_page([pair(), broken()], f"#verdict={verdict}")

    assert page.text("#count") == "2 pairs"


def test_a_resolution_without_its_text_does_not_break_the_page(open_page):
    """A report can record that a text replaced a conflict, without the text."""
    report = pair(1)
    recorded = [ce.models.Replacement(kind="text", together=[0])]
    attempts = [evolve(each, replacements=recorded) for each in report.attempts]

    page = open_page([evolve(report, attempts=attempts)], "#pair=1")

    assert page.tab.locator("#pair-heading").is_visible()


@pytest.mark.long
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lists_of(reports()))
def test_any_reports_make_a_page(open_page, many):
    """Whatever reports hold, the table is there and each pair opens."""
    page = open_page(many, "#")

    assert page.tab.locator("#pairs tbody tr").count() == len(many)
    for number in range(1, len(many) + 1):
        page.visit(f"#pair={number}")
        assert page.tab.locator("#pair-heading").is_visible()


def test_the_page_may_load_and_run_nothing_else(open_page):
    """The browser refuses markup made of text, other scripts, styles and requests."""
    page = open_page([pair()])

    tried = page.tab.evaluate(
        """async () => {
            const tried = [];
            try { document.body.innerHTML = "<b>x</b>"; } catch (e) { tried.push(e.name); }
            try { await fetch("http://example.org/"); } catch (e) { tried.push(e.name); }
            const style = document.createElement("style");
            style.textContent = "body { display: none }";
            document.head.append(style);
            return [...tried, getComputedStyle(document.body).display];
        }"""
    )

    assert tried == ["TypeError", "TypeError", "block"]
    assert all("Content Security Policy" in each or "Trusted" in each for each in page.complaints)
    assert set(page.requests) == {page.address}
    page.complaints.clear()


# --- accessibility and size ---


def test_the_summary_needs_no_script(open_page):
    """The page says that scripts are turned off."""
    page = open_page([broken()], context={"java_script_enabled": False})

    assert "scripts" in page.text("noscript")
    assert "union\t\n\t0.0%" in page.text("#summary table")
    assert not page.tab.locator("#list").is_visible()


def test_every_control_has_a_label(open_page):
    """Tables have headers, and no level of heading is left out."""
    page = open_page(REPOS)
    nameless = """() => [...document.querySelectorAll(
        "input, select, button, a, table, [role=region], [role=group], [tabindex='0']")]
        .filter((e) => e.checkVisibility())
        .filter((e) => !(e.ariaLabel || e.hasAttribute("aria-labelledby") ||
            (e.matches("input, select") ? e.labels.length : e.innerText.trim())))
        .filter((e) => e.id !== "pairs").map((e) => e.outerHTML)"""

    levels = []
    for asked in ("", "#pair=1"):
        page.visit(asked)
        assert page.tab.evaluate(nameless) == []
        found = page.tab.locator("h1, h2, h3, h4").all()
        levels += [int(each.evaluate("e => e.tagName[1]")) for each in found if each.is_visible()]

    assert levels == [1, 2, 1, 2, 3, 3, 3, 4, 3, 4, 4, 3, 4, 4]
    assert page.tab.locator("html").get_attribute("lang") == "en"


def test_the_page_follows_the_colour_scheme_and_prints(open_page):
    """It is dark if the reader prefers that, and has no controls on paper."""
    page = open_page([pair()], "#", context={})
    colour = "getComputedStyle(document.body).backgroundColor"

    light = page.tab.evaluate(colour)
    page.tab.emulate_media(color_scheme="dark")
    dark = page.tab.evaluate(colour)
    page.tab.emulate_media(media="print")

    assert light != dark
    assert not page.tab.locator("#filters").is_visible()
    assert page.tab.locator("#pairs").is_visible()


def test_a_narrow_window_does_not_scroll_sideways(open_page):
    """Wide tables and code scroll within their boxes."""
    page = open_page([broken(names=("t::" + "x" * 150,))], context={"viewport": NARROW})

    for asked in ("", "#pair=1"):
        page.visit(asked)
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


NARROW = {"width": 360, "height": 700}
LONG = (
    "def %s(): return some_function('a long string of words', an_argument=1, another_argument=2)\n"
)
# The texts in which a line ends within a word.
BROKEN_WORDS = """all => all.filter((element) => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
        const tops = [...node.data].map((_, at) => {
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            return range.getBoundingClientRect().top;
        });
        if ([...node.data].some((_, at) => tops[at] > tops[at - 1] + 3 &&
            /^[a-z]{2}$/i.test(node.data.slice(at - 1, at + 1)))) return true;
    }
    return false;
}).map((element) => element.innerText)"""


@pytest.mark.parametrize("width", [360, 900, 1400])
def test_code_is_not_cut_and_names_end_lines_only_between_words(open_page, width):
    """A resolution has the width of all versions, and long lines are wrapped."""
    sides = [edited(5, (LONG % side).encode()) for side in ("ours", "theirs")]
    union = UnionStrategy(name="a_strategy_with_quite_a_long_name")
    of = made(*sides, path="a_package/a_module_for_things.py", strategies=["naive", union])
    many = [pair(n, of=of, repo_name="a_repository_with_a_long_name") for n in (1, 2)]
    page = open_page(many, context={"viewport": {"width": width, "height": 800}})
    names = page.tab.locator("#summary th, #pairs th")

    listed = names.evaluate_all(BROKEN_WORDS)
    page.visit("#pair=1")
    shown = page.tab.locator("#pair :is(th, td, h4, h5, summary, figcaption)")
    cut = page.tab.locator("#pair pre").evaluate_all(
        "all => all.filter((pre) => pre.scrollWidth > pre.clientWidth).map((pre) => pre.ariaLabel)"
    )
    width_left = page.tab.locator("figure.resolution").evaluate(
        "box => box.parentElement.clientWidth - box.offsetWidth"
    )

    assert (listed, shown.evaluate_all(BROKEN_WORDS), cut, width_left) == ([], [], [], 0)


LOST = broken(of=CLEAN)


@pytest.mark.long
def test_five_thousand_pairs_open_and_filter(open_page):
    """The first rows are shown at once, and more on request."""
    page = open_page(evolve(LOST if n % 5 == 0 else CLEAN, task_id=n) for n in range(5_000))

    count, rows = page.text("#count"), page.tab.locator("#pairs tbody tr")
    first = rows.count()
    page.click("#more >> text=Show 200 more")
    second = rows.count()
    page.choose(strategy="union", verdict="incorrect")
    found = page.text("#count")
    page.click("#more >> text=Show all 1000")

    assert (count, first, second) == ("5000 pairs", 200, 400)
    assert (found, rows.count()) == ("1000 of 5000 pairs", 1000)
    assert re.match("click/4321", page.visit("#pair=4322").text("#pair-heading"))


# --- why a merge lost tests ---


def an_explanation(report, *texts, **facts):
    """Explain the loss of a test by hunks with these texts, of which feature 2 has the last."""
    hunks = [
        ce.reporting.ExplainedHunk(feature=feature, path="f.py", line=5, text=text, role="breaks")
        for feature, text in zip((1, 2), texts, strict=True)
    ]
    finding = ce.reporting.Finding(
        suite="feature1", tests=["t::one"], status="explained", hunks=hunks, is_minimal=True
    )
    pair_id = PairId.of(report)
    return ce.Explanation(strategy="union", pair=pair_id, budget=9, findings=[finding], **facts)


def test_the_hunks_that_broke_a_merge_are_shown_with_its_pair(open_page):
    """Their lines are texts, also if they look like markup, and other pairs show none."""
    reports = [broken(1), broken(2)]
    explanation = an_explanation(reports[1], "-a\n+<b>\u202e\n", "+c\n")

    page = open_page(reports, "#pair=2", explanations=[explanation])
    rows = page.texts("[aria-label='Hunks that take part'] tbody tr")
    headings = page.texts("#pair h4")
    other = open_page(reports, "#pair=1", explanations=[explanation]).texts("#pair h3")

    assert "union: found why the merge lost tests" in headings
    assert rows == [
        "feature 1\tf.py:5 breaks the lost tests\t\n-a\n+<b>U+202E\n",
        "feature 2\tf.py:5 breaks the lost tests\t\n+c\n",
    ]
    assert other == ["Lost tests", "Features", "Strategies", "Conflicts", "Patches", "Merges"]
