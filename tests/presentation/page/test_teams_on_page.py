"""Teams on the page, as a person sees them in Chromium."""

import pytest
from attrs import evolve
from generators import lists_of, team_reports
from hypothesis import HealthCheck, given, settings
from page_reports import BASE, CONFLICT, TEAM, broken_team, edited, made_team, pair

import cooperbench_eval as ce

NARROW = {"width": 360, "height": 700}


def test_a_team_is_unfolded_with_the_keyboard(open_page):
    """The folded line says what landed; Enter shows everything else."""
    page = open_page([TEAM])
    team = page.tab.locator("#team-1")
    assert team.inner_text() == "click/7: features 3, 1, 4 naive 2 of 3 · union 3 of 3"

    team.locator("> summary").focus()
    page.tab.keyboard.press("Enter")

    headings = page.texts("#team-1 h3")
    assert headings == [
        "Features",
        "Which features land together",
        "naive: 2 of 3 landed (3, 4)",
        "union: 3 of 3 landed (3, 1, 4)",
    ]
    assert page.texts("#team-1 > ul > li") == ["feature 1 conflicts with feature 3 in f.py"]


def test_the_matrix_says_who_conflicts_with_whom_and_why(open_page):
    """Each two features have one cell; a click on it shows the reason and the lost tests."""
    page = open_page([broken_team()])
    page.click("#team-1 > summary")

    cells = page.texts("#team-1 .matrix td")
    matrix = page.tab.locator("#team-1 .matrix")
    matrix.locator("summary", has_text="breaks tests").first.click()
    matrix.locator("summary", has_text="2 tests of feature 3").click()

    assert [" ".join(each.split()) for each in cells] == [
        "conflict naive land together union",
        "",
        "land together naive breaks tests union",
        "not known naive, union",
    ]
    reason = "union: feature 4 breaks 2 tests of feature 3\n2 tests of feature 3\nt::one\nt::two"
    assert reason in matrix.inner_text()
    assert page.texts("#team-1 h3")[3] == "union: 2 of 3 landed (3, 1)"
    assert "To blame: the merge broke feature 3." in page.text("#team-1")


def test_each_merge_shows_its_conflicts_and_its_diff(open_page):
    """Conflicts with all three versions; a diff that was shown already is not repeated."""
    page = open_page([TEAM])
    page.click("#team-1 > summary")
    table = page.tab.locator("table[aria-label='The merges of naive']")
    rows = [
        [cell.inner_text().strip() for cell in row.locator("th, td").all()]
        for row in table.locator("tbody tr").all()
    ]

    table.locator("summary", has_text="1 met, 1 left").click()
    table.locator("summary", has_text="diff").first.click()

    assert rows[0][:3] == ["feature 1 into feature 3", "conflicts", "1 met, 1 left"]
    assert rows[1][:3] == ["feature 4 into feature 3", "clean", "0 met, 0 left"]
    assert [each.inner_text() for each in table.locator("figcaption").all()] == [
        "base",
        "ours: feature 3",
        "theirs: feature 1",
    ]
    assert [each.inner_text() for each in table.locator("figure pre").all()] == [
        "5",
        "three",
        "one",
    ]
    assert "+<<<<<<< feature3\n+three\n+=======\n+one" in table.inner_text()


def test_a_diff_is_shown_once(open_page):
    """Another strategy with the same tree refers to it."""
    page = open_page([made_team({"f.py": edited(0, b"a\n")}, {"f.py": edited(9, b"b\n")})])
    page.click("#team-1 > summary")

    cells = page.texts("#team-1 table[aria-label='The merges of union'] td:last-child")

    assert cells == ["as after naive, feature 2 into feature 1"]


def test_a_feature_without_a_patch_and_a_team_without_a_strategy_are_described(open_page):
    """The reason stands in the list, in the table of features and in the matrix."""
    lone = evolve(TEAM, attempts=())
    page = open_page([made_team({"f.py": BASE}, {"f.py": edited(1, b"x\n")}), lone])
    page.click("#team-1 > summary")
    page.click("#team-2 > summary")

    assert page.texts("#team-1 ul > li")[0] == (
        "feature 1 has no usable patch (the patch is empty)"
    )
    assert page.texts("#team-1 .matrix td") == ["not known naive, union"]
    assert "No strategy was tried." in page.text("#team-2")


def test_pairs_and_teams_share_a_page(open_page):
    """The list of pairs is above; a pair in detail takes the place of the teams."""
    page = open_page([TEAM, CONFLICT, evolve(TEAM, task_id=8)])

    assert page.text("#count") == "1 pair"
    assert page.tab.locator("#teams > details").count() == 2
    assert "2 teams, listed below" in page.text("#summary")
    page.visit("#pair=1")
    assert page.tab.locator("#pair-heading").is_visible()
    assert not page.tab.locator("#teams").is_visible()
    page.visit("")
    assert page.tab.locator("#teams").is_visible()


def test_a_page_of_teams_only_has_no_list_of_pairs(open_page):
    """Nor their numbers; it has what landed by the size of the team."""
    page = open_page([TEAM])

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
    for each in page.tab.locator("#team-1 summary").all():
        each.evaluate("e => { e.parentElement.open = true; }")

    shown = page.text("#team-1")
    assert page.tab.title() == "teams"
    assert shown.count("<script>document.title='hacked'</script>\\u202e\\x1b<img") > 12
    assert "\\udcff" in shown
    assert page.tab.locator("main :is(script, img)").count() == 0
    assert page.tab.locator("#teams > details").count() == 1


def run_of(text):
    """A run with this text where a run can hold one."""
    case = ce.models.TestCase(id=text, status="failed", message=text)
    return ce.TestResult(status="failed", cases=[case], reason=text)


def test_long_texts_of_a_team_are_cut_and_say_so(open_page):
    """Each text by itself, and all of them together."""
    big = made_team({"f.py": b"x" * 5000 + b"\n"}, {"f.py": b"y" * 5000 + b"\n"})
    page = open_page([big], text_limit=100)
    page.click("#team-1 > summary")

    page.tab.locator("#team-1 td summary", has_text="met").first.click()
    figures = page.texts("#team-1 figure.ours pre")

    assert "… 4,901 more bytes are left out" in figures[0]
    assert page.texts("#team-1 td summary")[-1] == "diff"


def test_all_texts_of_a_team_together_are_limited(tmp_path):
    """To fifty times what one of them may have; the rest is counted."""
    step = TEAM.attempts[0].steps[0]
    clashes = [evolve(step.conflicts[0], ours=b"%04d" % n + b"x" * 96) for n in range(150)]
    row = evolve(TEAM.attempts[0], steps=[evolve(step, conflicts=clashes)])

    path = ce.write_page([evolve(TEAM, attempts=[row])], tmp_path / "p.html", text_limit=50)

    text = path.read_text(encoding="utf-8")
    assert "0000" + "x" * 46 + "<" in text
    assert text.count("x" * 46) < 50
    assert text.count("50 more bytes are left out") < text.count("100 more bytes are left out")


@pytest.mark.parametrize("viewport", [NARROW, {"width": 1280, "height": 900}])
def test_a_team_fits_the_window(open_page, viewport):
    """Wide tables and code scroll within their boxes, on a phone too."""
    report = broken_team(names=("t::" + "x" * 150, "t::b"))
    page = open_page([report], context={"viewport": viewport})

    for each in page.tab.locator("#team-1 summary").all():
        each.evaluate("e => { e.parentElement.open = true; }")

    assert page.tab.locator("#team-1 pre").count() > 2
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
    """Whatever reports hold, each team can be unfolded."""
    page = open_page(many)

    assert page.tab.locator("#teams > details").count() == len(many)
    for number in range(1, len(many) + 1):
        page.click(f"#team-{number} > summary")
        assert page.tab.locator(f"#team-{number} h3").first.is_visible()
