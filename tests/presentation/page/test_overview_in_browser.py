"""The table of pairs, its groups and its matrix of features, in Chromium."""

import os
import re
from pathlib import Path

import pytest
from attrs import evolve
from needs import lack
from page_reports import CLEAN, CONFLICT, MISSING, TEAM, broken, edited, made, pair, run

import cooperbench_eval as ce
from cooperbench_eval.analysis import Policy
from cooperbench_eval.presentation.page.index import SIGNS

LAPTOP = {"width": 1280, "height": 800}
SCREENS = [LAPTOP, {"width": 1920, "height": 1080}, {"width": 390, "height": 844}]
WHY = "Why, under union"
FAILURE = ce.reporting.Failure(kind="worker_lost", problem="it died", error="builtins:OSError")
LOST = evolve(MISSING, task_id=5, conflict_details=None, failure=FAILURE)


def numbered(report, first, second):
    """The report as that of two other features."""
    return evolve(
        report,
        feature1=evolve(report.feature1, number=first),
        feature2=evolve(report.feature2, number=second),
    )


MIXED = [
    pair(1, model="gpt-5", setting="coop"),
    broken(2, model="gpt-5", setting="coop"),
    pair(3, of=CLEAN, model="gpt-5", setting="solo"),
    evolve(MISSING, task_id=4, model="opus", setting="solo"),
    LOST,
    evolve(CONFLICT, task_id=6, attempts=()),
    evolve(CONFLICT, task_id=7),
]


# --- links ---


def test_a_link_to_a_pair_survives_another_order_and_more_pairs(open_page):
    """It also says which filters are set, and they do not matter to it."""
    page = open_page([pair(1), broken(2, model="gpt-5", setting="coop", k=3)], "#sort=-pair")
    page.click("#pairs tbody a >> nth=0")
    link = page.tab.evaluate("location.hash")
    title = page.text("#pair-heading")

    again = open_page([*MIXED, broken(2, model="gpt-5", setting="coop", k=3), pair(1)], link)

    assert link == "#click-2-1-2:gpt-5:coop:k3&sort=-pair"
    assert again.text("#pair-heading") == title


def test_reports_of_the_same_pair_have_links_of_their_own(open_page):
    """The later ones have a number."""
    page = open_page([pair(1), pair(1, diff=b"other")])

    links = page.tab.locator("#pairs tbody a").evaluate_all("all => all.map((a) => a.hash)")

    assert links == ["#click-1-1-2:k1", "#click-1-1-2:k1~2"]
    assert page.visit(links[1]).text("#pair-heading").startswith("click/1")


def test_a_link_to_a_pair_that_is_not_there_says_so(open_page):
    """All pairs are shown."""
    page = open_page([pair(1)], "#click-9-1-2:k1")

    assert page.text("#count").startswith('This run has no pair "click-9-1-2:k1".')
    assert page.shown_pairs() == ["click/1"]


# --- rows ---


def many_pairs(suffixes=("", "-two")):
    """Pairs of two strategies for each suffix, so many that they do not fit a screen."""
    for task in range(40):
        attempts = [
            evolve(attempt, strategy=f"{attempt.strategy}{suffix}")
            for attempt in (broken if task % 3 else pair)().attempts
            for suffix in suffixes
        ]
        name = f"a_repository_with_a_name_task{task // 20}"
        yield pair(1_000 + task, repo_name=name, attempts=attempts)


def test_at_least_ten_pairs_fit_a_screen(open_page):
    """With the whole summary of four strategies and two policies above them."""
    page = open_page(many_pairs(), context={"viewport": LAPTOP})

    rows = page.tab.locator("#pairs tbody tr")
    bottoms = rows.evaluate_all("all => all.map((row) => row.getBoundingClientRect().bottom)")
    page.tab.locator("#list-heading").scroll_into_view_if_needed()
    page.tab.evaluate("document.querySelector('#list-heading').scrollIntoView()")
    below = rows.evaluate_all("all => all.map((row) => row.getBoundingClientRect().bottom)")

    assert sum(bottom <= LAPTOP["height"] for bottom in bottoms) >= 10
    assert sum(bottom <= LAPTOP["height"] for bottom in below) >= 15


@pytest.mark.parametrize("screen", SCREENS, ids=lambda each: str(each["width"]))
def test_no_name_is_cut_and_the_page_does_not_scroll_sideways(open_page, screen):
    """Tasks of one repository differ only in their numbers, which every name shows."""
    many = many_pairs(["", "-two", "-three", "-four"])
    page = open_page(many, "#by=task", context={"viewport": screen})
    cut = """() => [...document.querySelectorAll("#pairs th, #pairs td, #groups th, #groups td")]
        .filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.innerText)"""

    assert page.tab.evaluate("document.documentElement.scrollWidth") <= screen["width"]
    assert page.tab.evaluate(cut) == []
    assert page.shown_pairs()[0] == "a_repository_with_a_name_task0/1000"


def test_a_phone_shows_rates_signs_and_reasons_without_scrolling(open_page):
    """A row of the list is a block, in which each sign has the name of its strategy."""
    page = open_page(MIXED, "#strategy=union", context={"viewport": SCREENS[2]})
    needed = "#summary thead th:nth-child(-n + 4), #pairs tbody :is(th, td:not(:empty))"

    sides = page.tab.locator(needed).evaluate_all(
        "all => all.map((e) => [e.getBoundingClientRect().left, e.getBoundingClientRect().right])"
    )
    said = page.tab.locator("#pairs tbody .sign").evaluate_all(
        "all => all.map((e) => getComputedStyle(e, '::before').content)"
    )

    assert page.texts("#summary thead th")[:3] == ["strategy", "rate", "interval"]
    assert all(left >= 0 and right <= SCREENS[2]["width"] for left, right in sides)
    assert "no usable patch of feature 2" in page.column(WHY)
    assert [re.findall("naive|union", each) for each in said] == [["naive"], ["union"]] * len(MIXED)


def test_signs_do_not_depend_on_colour(open_page):
    """Every way to end has a symbol of its own, and words for screen readers."""
    page = open_page(MIXED)
    signs = page.signs("union")

    assert signs == [
        "✓ correct",
        "✗ incorrect",
        "✓ correct",
        "∅ missing input",
        "? unanswered",
        "· not tried",
        "○ merged, not tested",
    ]
    assert page.signs("naive")[0] == "≠ unhandled"
    page.click("#summary summary")
    legend = page.text("#summary dl")
    assert all(sign in legend for sign in [*signs, "≠ unhandled"])


def test_a_pair_that_could_not_be_evaluated_says_why_in_its_row(open_page):
    """The reason is there under every strategy, without a click."""
    page = open_page(MIXED)

    for strategy in ("union", "naive"):
        page.choose(strategy=strategy)
        why = page.column(f"Why, under {strategy}")
        assert why[4] == "worker lost: it died (builtins:OSError)"


NO_PYTEST = "pytest is not installed for /envs/bare/bin/python"


def untestable(task=7):
    """A clean pair whose tests cannot run, with or without the features."""
    stopped = run(status="infrastructure_error", reason=NO_PYTEST)
    features = [
        evolve(each, tests=stopped, base_tests=stopped) for each in (CLEAN.feature1, CLEAN.feature2)
    ]
    attempts = [
        evolve(each, feature1_tests=stopped, feature2_tests=stopped) for each in CLEAN.attempts
    ]
    facts = {"feature1": features[0], "feature2": features[1], "attempts": attempts}
    return evolve(CLEAN, task_id=task, **facts)


def test_the_page_says_at_its_top_why_tests_cannot_run(open_page):
    """The reason with the number of its pairs, and again in the row of each."""
    page = open_page([untestable(1), untestable(2), pair(3, of=CLEAN)])

    assert f"2 pairs without a result: {NO_PYTEST}" in page.texts("#summary > p")
    first, second, fine = page.column("Why, under naive")
    assert first.startswith(NO_PYTEST)
    assert second.startswith(NO_PYTEST)
    assert fine == ""


def test_the_top_says_why_the_tests_of_teams_cannot_run(open_page):
    """As it does for pairs."""
    stopped = run(status="infrastructure_error", reason=NO_PYTEST)
    features = [evolve(each, tests=stopped, base_tests=stopped) for each in TEAM.features]
    page = open_page([evolve(TEAM, features=features)])

    assert f"1 team without a result: {NO_PYTEST}" in page.texts("#summary > p")


def test_a_problem_does_not_hide_lost_tests(open_page):
    """The tests of one feature cannot run, and the merge loses tests of the other."""
    stopped = run(status="infrastructure_error", reason=NO_PYTEST)
    report = broken(1)
    feature = evolve(report.feature2, tests=stopped, base_tests=stopped)
    page = open_page([evolve(report, feature2=feature)], "#strategy=union")

    lines = page.column(WHY)[0].splitlines()
    assert lines == [NO_PYTEST, "broke feature 1: 1 test lost"]


def test_the_page_opens_on_naive(open_page):
    """It says most to a reader; a run without it opens on its first strategy."""
    others = [pair().attempt("union"), evolve(pair().attempt("union"), strategy="third")]
    naive, other = [], []
    for seen, reports in ((naive, [pair(1)]), (other, [pair(1, attempts=others)])):
        page = open_page(reports)
        seen.append(page.tab.locator("[name=strategy]").input_value())
        seen.append(page.texts("#pairs thead th")[-1])

    assert naive == ["naive", "Why, under naive"]
    assert other == ["union", "Why, under union"]


# --- groups ---


def test_pairs_are_grouped_by_what_they_have(open_page):
    """A group's share counts the pairs with an answer, and its name leads to its pairs."""
    page = open_page(MIXED, "#by=model")

    rows = [" ".join(row.split()) for row in page.texts("#groups tbody tr")]
    page.click("#groups a:text-is('not known')")

    assert rows == [
        "gpt-5 3 1 of 3 2 of 3 1 of 3",
        "opus 1 0 of 1 0 of 1 0 of 1",
        "not known 3 0 of 1 (2 unanswered) none answered 0 of 2 (1 unanswered)",
    ]
    assert page.shown_pairs() == ["click/5", "click/6", "click/7"]
    assert not page.tab.locator("#groups").is_visible()
    assert page.tab.evaluate("document.activeElement.id") == "list-heading"


def test_groups_are_those_of_a_summary(open_page):
    """For each of the names by which `summarize` groups, the counts are the same."""
    by = {"repo_name": "repo", "merge_status": "status"}
    names = ("repo_name", "task", "model", "setting", "language", "k", "merge_status", "severity")
    go = made(edited(5, b"ours\n"), edited(5, b"theirs\n"), path="f.go")
    reports = [*MIXED, pair(8, of=go, repo_name="jinja", k=2, model="opus")]
    page = open_page(reports)

    for name in names:
        summary = ce.summarize(reports, by=name)
        groups = [group.pairs for group in summary.groups.values()]
        page.visit(f"#by={by.get(name, name)}")
        assert sorted(map(int, page.texts("#groups tbody td:nth-child(2)"))) == sorted(groups)


# --- honest bars ---


def test_the_unanswered_share_of_a_bar_is_grey(open_page):
    """A bar stands for all pairs, so one answered pair of seven never fills it."""
    page = open_page(MIXED)
    bars = """(row) => Object.fromEntries([...row.querySelectorAll("rect")].map((rect) =>
        [rect.className.baseVal, Math.round(rect.width.baseVal.value)]))"""

    rows = page.tab.locator("#summary tbody tr").all()
    naive, union, strict = (row.evaluate(bars) for row in rows)

    assert union == {"correct": 69, "incorrect": 34, "missing_input": 34, "not_run": 103}
    assert naive["not_run"] == 69
    assert strict["not_run"] == 34
    colours = page.tab.evaluate(
        "[...document.querySelectorAll('rect.not_run')].map((e) => getComputedStyle(e).fill)"
    )
    red, green, blue = (int(part) for part in colours[0].strip("rgb()").split(","))
    assert max(red, green, blue) - min(red, green, blue) < 15


def test_only_policies_that_can_be_answered_are_shown(open_page):
    """Paper needs a model, and the lead alone was not tested; a given policy is always shown."""
    page = open_page(MIXED)
    rows = page.texts("#summary tbody th")
    page.click("#summary summary")
    legend = page.text("#summary dl")
    page.click("#summary a[aria-label='4 pairs unhandled under [strict]']")
    found = page.shown_pairs()
    own = Policy(name="mine", strategies=["llm"])

    assert rows == ["naive", "union", "[strict]"]
    for words in ("[paper] is left out", "not tried: llm", "[cooperbench-0.0.29] is left out"):
        assert words in legend
    assert found == ["click/1", "click/2", "click/6", "click/7"]
    assert set(page.signs("[strict]")) == {"≠ unhandled"}
    assert open_page(MIXED, policies=own).texts("#summary tbody th")[2:] == ["[mine]"]


# --- the features of a task ---


def test_the_features_of_a_task_are_shown_by_two(open_page):
    """Each strategy has a matrix; a cell leads to its pair or says how many are correct."""
    reports = [
        numbered(pair(1), 1, 2),
        numbered(broken(1), 1, 10),
        numbered(pair(1), 2, 10),
        numbered(evolve(pair(1), k=2), 1, 2),
        numbered(evolve(broken(1), k=2), 2, 10),
        numbered(evolve(broken(1), k=3), 2, 10),
        pair(2),
    ]
    page = open_page(reports)
    hidden = not page.tab.locator("#matrices").is_visible()
    page.choose(task="click/1")

    union = page.tab.locator("#matrices table").nth(1)
    rows = union.locator("tr").all_inner_texts()
    said = union.locator("a").evaluate_all("all => all.map((a) => a.ariaLabel)")
    union.locator("a").nth(1).click()

    assert hidden
    assert [[cell.strip() for cell in row.split("\t")] for row in rows] == [
        ["into →", "2", "10"],
        ["1", "✓", "✗"],
        ["2", "", "1/3"],
    ]
    assert said == [
        "1 into 2: correct, 2 reports",
        "1 into 10: incorrect",
        "2 into 10: 1 of 3 correct, 3 reports",
    ]
    assert page.text("#pair-heading") == "click/1: feature 1 merged into feature 10"


def test_hostile_names_are_texts_in_groups_matrices_and_policies(open_page):
    """No element is made of them, and the links of groups and cells lead to their pairs."""
    name = "</script><img src=x onerror=\"document.title='hacked'\">&=#%\u202e"
    attempts = [evolve(each, strategy=f"{each.strategy}{name}") for each in pair().attempts]
    facts = {"repo_name": name, "model": name, "setting": name, "attempts": attempts}
    reports = [numbered(pair(1, **facts), 1, each) for each in (2, 3)]
    policy = Policy(name=name, strategies=[attempts[1].strategy])
    page = open_page([*reports, pair(2)], "#by=repo", policies=policy)

    group = page.texts("#groups tbody th")[0]
    page.click("#groups tbody a >> nth=0")
    page.click("#matrices summary")
    cell = page.tab.locator("#matrices a").first.get_attribute("aria-label")
    page.tab.locator("#matrices a").first.click()

    assert group == name.replace("\u202e", "U+202E")
    assert cell.startswith("1 into 2: ")
    assert page.text("#pair-heading").endswith("/1: feature 1 merged into feature 2")
    assert page.tab.locator("main :is(script, img)").count() == 0
    assert page.tab.evaluate("document.title") != "hacked"


# --- keyboard ---


def focused(page):
    """Return the element with the focus, in one word."""
    return page.tab.evaluate(
        "(({ activeElement: e }) => e.dataset.pair ?? e.ariaLabel ?? e.name ?? e.id)(document)"
    )


def press(page, *keys):
    """Press keys, and wait until the page has reacted."""
    for key in keys:
        page.tab.keyboard.press(key)
        page.settle()


def test_the_keyboard_alone_is_sufficient(open_page):
    """Tab reaches every control, Enter acts, arrows walk the rows, and the back key returns."""
    page = open_page([pair(1), broken(2), pair(3)])
    page.tab.evaluate("document.body.focus()")
    reached = []
    for _ in range(40):
        press(page, "Tab")
        reached.append(focused(page))
        if reached[-1] == "click-1-1-2:k1":
            break
    outline = page.tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    press(page, "ArrowDown", "ArrowDown", "ArrowUp")
    row = focused(page)
    press(page, "Enter")
    opened = focused(page), page.tab.evaluate("location.hash")
    page.tab.go_back()
    page.settle()

    controls = ["strategy", "verdict", "task", "words", "by"]
    assert [each for each in reached if each in controls] == controls
    assert reached.index("words") < reached.index("click-1-1-2:k1")
    assert outline == "solid"
    assert row == "click-2-1-2:k1"
    assert opened == ("pair-heading", "#click-2-1-2:k1")
    assert focused(page) == "click-2-1-2:k1"


def test_a_matrix_is_one_stop_and_arrows_walk_its_cells(open_page):
    """Arrows step over empty cells and stop at the border."""
    cells = [(1, 2), (1, 3), (1, 4), (2, 4)]
    page = open_page([numbered(pair(1), *each) for each in cells], "#task=click/1")
    page.tab.locator("#matrices a").first.focus()
    walked = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"):
        press(page, key)
        walked.append(focused(page).partition(":")[0])
    stops = page.tab.locator("#matrices a[tabindex='0']").count()

    assert walked == ["1 into 3", "1 into 4", "1 into 4", "2 into 4", "2 into 4"]
    assert stops == 2


def test_the_last_row_has_the_focus_again(open_page):
    """Also if it is beyond the rows that are shown at first."""
    page = open_page((pair(n) for n in range(230)), "#click-229-1-2:k1")

    page.click("nav >> text=All pairs")

    assert focused(page) == "click-229-1-2:k1"
    assert page.tab.locator("#pairs tbody tr").count() == 230


# --- accessibility ---


def axe():
    """Return the source of axe-core, which checks a page for accessibility."""
    folder = os.environ.get("COOPERBENCH_EVAL_NODE_MODULES")
    script = Path(folder or "", "axe-core", "axe.min.js")
    if not folder or not script.is_file():
        lack("axe-core", "it is not in the folder COOPERBENCH_EVAL_NODE_MODULES")
    return script.read_text(encoding="utf-8")


RUN_AXE = """async (rules) => {
    for (const each of document.querySelectorAll("details")) each.open = true;
    await new Promise((done) => setTimeout(done, 50));
    const { violations } = await axe.run(document, { runOnly: rules });
    return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]);
}"""
CONTRASTS = """() => {
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => numbers(colour).slice(0, 3)
        .map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
    const below = (e) => {
        const colour = getComputedStyle(e).backgroundColor;
        return numbers(colour)[3] === 0 ? below(e.parentElement) : colour;
    };
    return [...document.querySelectorAll(".result")].map((e) => {
        const pair = [light(getComputedStyle(e).color), light(below(e))].sort((a, b) => b - a);
        return [e.className, (pair[0] + 0.05) / (pair[1] + 0.05)];
    });
}"""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_signs_have_contrast(open_page, scheme):
    """Axe skips them as symbols; WCAG AA asks for 4.5 to 1, also in a row under the pointer."""
    page = open_page(MIXED, context={"color_scheme": scheme})
    page.tab.locator("#pairs tbody tr").first.hover()

    found = page.tab.evaluate(CONTRASTS)

    assert {kind.split()[1] for kind, _ in found} == set(SIGNS)
    assert min(ratio for _, ratio in found) >= 4.5


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page, scheme):
    """Contrast, names, roles and landmarks, in both colour schemes and on a phone."""
    source = axe()
    context = {"color_scheme": scheme, "viewport": SCREENS[2], "bypass_csp": True}
    page = open_page(MIXED, context=context)

    for asked in ("#by=model&policy=strict", "#task=click%2F2", "#pair=1", "#pair=2", "#pair=5"):
        page.tab.goto("about:blank")
        page.visit(asked)
        page.tab.evaluate(source)
        assert page.tab.evaluate(RUN_AXE, RULES) == []
