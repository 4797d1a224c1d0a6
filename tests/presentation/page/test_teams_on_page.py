"""Teams on the page, as a person sees them in Chromium."""

import pytest
from attrs import evolve
from generators import lists_of, team_reports
from hypothesis import HealthCheck, given, settings
from page_reports import BASE, CONFLICT, TEAM, broken_team, edited, made_team, pair, run

import cooperbench_eval as ce

NARROW = {"width": 360, "height": 700}


def opened(page, place=0):
    """Open a team by its place in their table."""
    page.visit("#")
    page.tab.locator("#teams [data-pair]").nth(place).click()
    page.settle()
    return page


def rows_of(table):
    """Return the texts of a table's cells, row by row."""
    rows = table.locator("tbody tr").all()
    return [[each.inner_text().strip() for each in row.locator("th, td").all()] for row in rows]


def test_a_team_is_opened_with_the_keyboard(open_page):
    """Its row says what landed; Enter shows everything else, and the way back ends at the row."""
    page = open_page([TEAM], "#")
    rows = rows_of(page.tab.locator("table[aria-label=Teams]"))
    assert rows == [["click/7: features 3, 1, 4", "naive 2 of 3 · union 3 of 3"]]

    page.tab.locator("#teams [data-pair]").focus()
    page.tab.keyboard.press("Enter")
    page.settle()

    assert page.text("#pair-heading") == "click/7: features 3, 1, 4"
    assert page.texts("#pair h3") == [
        *("Features", "Which features land together", "Strategies"),
        *("Conflicts", "Patches", "Merges"),
    ]
    strategies = rows_of(
        page.tab.locator("table[aria-label='How the team ended under each strategy']")
    )
    assert [row[2].split("\n") for row in strategies] == [
        ["2 of 3 landed (3, 4)", "feature 1 conflicts with feature 3 in f.py"],
        ["3 of 3 landed (3, 1, 4)"],
    ]
    page.click("nav .back")
    assert page.tab.evaluate("document.activeElement.dataset.pair") == "click-7-3-1-4:k1"


def test_the_arrow_keys_move_from_team_to_team(open_page):
    """As in the table of pairs; an open team has links to those beside it."""
    page = open_page([TEAM, evolve(TEAM, task_id=8)])
    page.tab.locator("#teams [data-pair]").first.focus()
    page.tab.keyboard.press("ArrowDown")
    page.tab.keyboard.press("Enter")
    page.settle()

    assert page.text("#pair-heading").startswith("click/8")
    assert page.text("nav[aria-label=Teams]").split("\n") == [
        *("← All teams", "Previous", "2 of 2 found"),
    ]


def test_a_team_and_a_pair_of_the_same_features_have_their_own_addresses(open_page):
    """Each address opens what it is about, and keeps the filters of the pairs."""
    both = made_team({"f.py": edited(0, b"a\n")}, {"f.py": edited(9, b"b\n")})
    page = open_page([CONFLICT, both], "#strategy=union")

    link = page.tab.locator("#teams [data-pair]").get_attribute("href")
    assert link == "#click-7-1-2:k1~2&strategy=union"
    assert page.visit(link).text("#pair-heading") == "click/7: features 1, 2"
    assert page.visit("#pair=1").text("#pair-heading") == (
        "click/7: feature 1 merged into feature 2"
    )


def test_the_matrix_says_who_conflicts_with_whom_and_why(open_page):
    """Each two features have one cell; a click on it shows the reason and the lost tests."""
    page = opened(open_page([broken_team()]))

    matrix = page.tab.locator("table[aria-label='Which features land together']")
    cells = matrix.locator("td").all_inner_texts()
    matrix.locator("summary", has_text="breaks tests").first.click()
    page.settle()

    assert [" ".join(each.split()) for each in cells] == [
        "conflict naive land together union",
        "",
        "land together naive breaks tests union",
        "not known naive, union",
    ]
    reason = "union: feature 4 breaks 2 tests of feature 3\n2 of feature 3:\nt::one\nt::two"
    assert reason in matrix.inner_text()
    row = page.text(
        "table[aria-label='How the team ended under each strategy'] tbody tr:last-child"
    )
    assert "2 of 3 landed (3, 1)\nfeature 4 breaks 2 tests of feature 3" in row
    assert "✗ incorrect\tthe merge broke feature 3\t\n2 of feature 3:\nt::one\nt::two" in row
    assert "failed 0/2" in row
    assert row.count("passed 1/1") == 2


def test_the_tests_of_what_landed_are_folded(open_page):
    """Those of each suite, with the cases that did not pass."""
    runs = [
        ce.reporting.SuiteRun(suite="feature", feature=3, tests=run(("t::a",))),
        ce.reporting.SuiteRun(suite="regression", tests=run((), ("t::b",))),
    ]
    row = evolve(TEAM.attempts[0], landed_tests=runs)
    page = opened(open_page([evolve(TEAM, attempts=[row])]))

    table = page.tab.locator("table[aria-label='How the team ended under each strategy']")
    table.locator("summary", has_text="Tests of what landed").click()
    page.settle()

    assert "tests of feature 3: passed 1/1\ntests of the repository: failed 0/1" in (
        table.inner_text()
    )


def test_each_merge_shows_its_conflicts_and_its_diff(open_page):
    """The merges in their order, the conflicts with all three versions, and the trees."""
    page = opened(open_page([TEAM]))

    assert rows_of(page.tab.locator("table[aria-label='The merges of naive']")) == [
        ["feature 1 into feature 3", "conflicts", "1 met, 1 left"],
        ["feature 4 into feature 3", "clean", "0 met, 0 left"],
    ]
    assert page.texts("#pair .conflict h4") == [
        "1. f.py, line 6: content (naive, feature 1 into feature 3)"
    ]
    assert page.texts("#pair .conflict figcaption") == [
        "base",
        "ours: feature 3",
        "theirs: feature 1",
    ]
    assert page.texts("#pair .conflict figure pre") == ["5", "three", "one"]
    first = page.tab.locator("#pair .diff", has_text="Merge of naive, feature 1 into feature 3")
    assert "<<<<<<< feature3\nthree\n=======\none" in first.inner_text()


def test_a_failed_merge_says_why(open_page):
    """Below its status."""
    step = evolve(TEAM.attempts[0].steps[0], status="failed", failure="out of luck", diff=None)
    row = evolve(TEAM.attempts[0], steps=[step])
    page = opened(open_page([evolve(TEAM, attempts=[row])]))

    [cells] = rows_of(page.tab.locator("table[aria-label='The merges of naive']"))

    assert cells[1] == "failed\nout of luck"


def test_a_diff_is_shown_once(open_page):
    """With all the merges that gave this tree."""
    both = made_team({"f.py": edited(0, b"a\n")}, {"f.py": edited(9, b"b\n")})
    page = opened(open_page([both]))

    merges = [each for each in page.texts("#pair .diff h4") if each.startswith("Merge")]

    assert merges == ["Merge of naive, feature 2 into feature 1, union, feature 2 into feature 1"]


def test_a_team_shows_its_hazards(open_page):
    """Hazards are listed for each strategy, as for a pair."""
    team = made_team({"f.py": edited(0, b"a\n")}, {"f.py": edited(9, b"b\n")})
    hazard = ce.models.Hazard(
        kind="parse_error", path="f.py", line=3, message="torn", features=[1, 2]
    )
    attempts = [evolve(team.attempts[0], hazards=[hazard]), *team.attempts[1:]]
    page = opened(open_page([evolve(team, attempts=attempts)]))

    page.click("#pair summary:has-text('What looks wrong in the merge of naive')")

    assert "f.py, line 3\ttorn" in page.text("#pair table[aria-label^=Hazards]")


def test_a_feature_without_a_patch_and_a_team_without_a_strategy_are_described(open_page):
    """The reason stands in the row of the strategy, and the matrix has no answer."""
    lone = evolve(TEAM, attempts=())
    page = open_page([made_team({"f.py": BASE}, {"f.py": edited(1, b"x\n")}), lone])
    opened(page)

    strategies = page.text("table[aria-label='How the team ended under each strategy']")
    assert strategies.count("feature 1 has no usable patch (the patch is empty)") == 2
    assert page.texts("table[aria-label='Which features land together'] td") == [
        "not known naive, union"
    ]
    page.click("nav .back")
    opened(page, 1)
    assert "No strategy was tried." in page.text("#pair")


def test_pairs_and_teams_share_a_page(open_page):
    """The list of pairs is above; a pair in detail takes the place of the teams."""
    page = open_page([TEAM, CONFLICT, evolve(TEAM, task_id=8)])

    assert page.text("#count") == "1 pair"
    assert page.tab.locator("#teams [data-pair]").count() == 2
    assert "2 teams, listed below" in page.text("#summary")
    page.visit("#pair=1")
    assert page.tab.locator("#pair-heading").is_visible()
    assert not page.tab.locator("#teams").is_visible()
    page.visit("")
    assert page.tab.locator("#teams").is_visible()


def test_a_page_of_teams_only_has_no_list_of_pairs(open_page):
    """Nor their numbers; it has what landed by the size of the team."""
    page = open_page([TEAM], "#")

    assert page.tab.title() == page.text("h1") == "Merged teams"
    assert not page.tab.locator("#list").is_visible()
    assert "pair" not in page.text("#summary")
    rows = page.texts("table[aria-label='What landed, by the size of the team'] tbody tr")
    assert [row.split("\t") for row in rows] == [
        ["3", "naive", "1", "66.7%", "0"],
        ["3", "union", "1", "100.0%", "0"],
    ]


def test_hostile_texts_of_a_team_appear_as_text(open_page):
    """Markup and hidden characters are shown literally; nothing runs or loads."""
    text = "</details><script>document.title='hacked'</script>\u202e\x1b<img src=http://a/b>"
    step = TEAM.attempts[0].steps[0]
    clash = evolve(step.conflicts[0], path=text, ours=text.encode() + b"\xff\n")
    bad = evolve(step, failure=text, conflicts=(clash,), diff=text.encode())
    lost = ce.reporting.BrokenTests(suite="joint", tests=[text])
    gone = ce.reporting.LeftOut(
        number=1, reason="breaks", features=[3], files=[text], tests=[lost], problem=text
    )
    row = evolve(TEAM.attempts[0], strategy=text, left_out=(gone,), steps=(bad,))
    patch = evolve(TEAM.features[0].patch, reason=text)
    feature = evolve(TEAM.features[0], patch=patch, tests=run_of(text))
    report = evolve(
        TEAM,
        repo_name=text,
        model=text,
        setting=text,
        base_commit=text,
        features=(feature, *TEAM.features[1:]),
        attempts=[row],
    )

    page = open_page([report], title="teams")
    listed = page.text("#teams")
    opened(page)
    unfold_all(page)

    shown, markup = page.text("#pair"), "<script>document.title='hacked'</script>"
    assert page.tab.title().endswith(" teams")
    assert listed.count(markup) == 4  # what landed by size, and its title, model and landed
    assert shown.count(f"{markup}U+202EESC<img") > 12
    assert f"{markup}\\u202e\\x1b<img" in shown  # why it was left out
    assert "FF" in shown
    assert page.tab.locator("main :is(script, img)").count() == 0
    assert page.tab.locator("#teams [data-pair]").count() == 1


def unfold_all(page):
    """Unfold what is folded, also within it."""
    while page.tab.locator("#pair details:not([open])").count():
        page.tab.evaluate(
            "document.querySelectorAll('#pair details').forEach((e) => { e.open = true })"
        )
        page.settle()


def run_of(text):
    """A run with this text where a run can hold one."""
    case = ce.models.TestCase(id=text, status="failed", message=text)
    return ce.TestResult(status="failed", cases=[case], reason=text)


def test_long_texts_of_a_team_are_cut_and_say_so(open_page):
    """Each text by itself, and all of them together."""
    big = made_team({"f.py": b"x" * 5000 + b"\n"}, {"f.py": b"y" * 5000 + b"\n"})
    page = opened(open_page([big], text_limit=100))

    assert "… 4901 more bytes are left out" in page.texts("#pair figure.ours pre")[0]
    assert "more bytes are left out" in page.texts("#pair .diff")[-1]


def test_all_texts_of_a_team_together_are_limited(tmp_path):
    """To fifty times what one of them may have; the rest is counted."""
    step = TEAM.attempts[0].steps[0]
    clashes = [evolve(step.conflicts[0], ours=b"%04d" % n + b"x" * 96) for n in range(150)]
    row = evolve(TEAM.attempts[0], steps=[evolve(step, conflicts=clashes)])

    path = ce.write_page([evolve(TEAM, attempts=[row])], tmp_path / "p.html", text_limit=50)

    text = path.read_text(encoding="utf-8")
    (data,) = [line for line in text.splitlines() if 'id="team-1"' in line]
    assert '["0000' + "x" * 46 + '",50]' in data
    assert data.count("x" * 46) < 50
    assert data.count('",50]') < data.count('["",100]')


@pytest.mark.parametrize("viewport", [NARROW, {"width": 1280, "height": 900}])
def test_a_team_fits_the_window(open_page, viewport):
    """Wide tables and code scroll within their boxes, on a phone too."""
    report = broken_team(names=("t::" + "x" * 150, "t::b"))
    page = open_page([report], context={"viewport": viewport})
    listed = page.tab.evaluate("document.documentElement.scrollWidth")
    opened(page)
    unfold_all(page)

    assert listed <= viewport["width"]
    assert page.tab.locator("#pair pre").count() > 2
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_a_page_of_pairs_has_nothing_about_teams(tmp_path):
    """Neither a section nor a style."""
    text = ce.write_page([pair()], tmp_path / "pairs.html").read_text(encoding="utf-8")

    assert ".team" not in text
    assert "teams" not in text
    assert "<main>" in text


@pytest.mark.long
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lists_of(team_reports()))
def test_any_teams_make_a_page(open_page, many):
    """Whatever reports hold, each team can be opened."""
    page = open_page(many)

    assert page.tab.locator("#teams [data-pair]").count() == len(many)
    for place in range(len(many)):
        page.visit("")
        assert opened(page, place).tab.locator("#pair h3").first.is_visible()
