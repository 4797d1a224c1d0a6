"""What the site adds to the pages, and its rules for pages."""

import re
import textwrap
from pathlib import Path
from types import ModuleType

import griffe
import pytest
import site_hooks
from blocks import ROOT
from site_reference import SiteReference

import cooperbench_eval as ce

ENTRY = re.compile(r"^::: (\S+)$", re.MULTILINE)
WORD = re.compile(
    r"^- \*\*(?P<word>[^*]+)\*\*: (?P<meaning>.+?)(?: \((?P<names>`[^()]+`)\))?$", re.MULTILINE
)
REFERENCE = "".join(page.read_text() for page in sorted((ROOT / "docs/reference").glob("*.md")))
GLOSSARY = list(WORD.finditer((ROOT / "docs/glossary.md").read_text().replace("\n  ", " ")))
MODULES = {name: each for name in ce.__all__ if isinstance(each := getattr(ce, name), ModuleType)}
OBJECTS = {name: getattr(ce, name) for name in ce.__all__ if name not in MODULES}
PUBLIC = {f"cooperbench_eval.{name}": each for name, each in OBJECTS.items()} | {
    f"cooperbench_eval.{place}.{name}": getattr(module, name)
    for place, module in MODULES.items()
    for name in module.__all__
    if OBJECTS.get(name) is not getattr(module, name)
}


def test_each_public_name_has_one_entry_in_the_reference():
    """None is missing or duplicated, and removed names have no entry."""
    assert sorted(ENTRY.findall(REFERENCE)) == sorted(PUBLIC)


@pytest.mark.parametrize("name", MODULES)
def test_the_names_of_a_module_are_on_one_page(name):
    """The table of modules links to it."""
    pages = [
        page.name
        for page in (ROOT / "docs/reference").glob("*.md")
        if f"::: cooperbench_eval.{name}." in page.read_text()
    ]
    table = (ROOT / "docs/reference/modules.md").read_text()

    assert re.findall(rf"^- `ce\.{name}`: .*\]\((.+)\)$", table, re.MULTILINE) == pages


def test_every_page_is_linked_from_the_first():
    """A reader of the repository can find them all."""
    first = (ROOT / "docs/index.md").read_text()
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").glob("**/*.md")}
    own = {page for page in pages if not page.startswith("examples/")} - {"index.md"}

    assert {page for page in own if f"]({page})" not in first} == set()


def test_the_glossary_is_in_order():
    """Words are sorted, and each occurs once."""
    words = [row["word"].lower() for row in GLOSSARY]

    assert len(words) > 50
    assert words == sorted(set(words))


def test_the_glossary_has_a_word_for_every_record():
    """Every public class except errors belongs to an entry."""
    told = {name for row in GLOSSARY for name in re.findall(r"`(\w+)`", row["names"] or "")}
    shown = {
        path.rpartition(".")[2]
        for path, each in PUBLIC.items()
        if isinstance(each, type) and not issubclass(each, Exception)
    }

    assert told == shown


@pytest.mark.parametrize(
    ("code", "identifier"),
    [
        ("MergeReport", "cooperbench_eval.MergeReport"),
        ("ce.merge", "cooperbench_eval.merge"),
        ("ce.Patch.parse(data)", "cooperbench_eval.Patch.parse"),
        ("ce.Evaluator(strategies=[\n1])", "cooperbench_eval.Evaluator"),
        ("Attempt.strategy", "cooperbench_eval.Attempt"),
        ("MergeReport.is_final", "cooperbench_eval.MergeReport.is_final"),
        ("cooperbench_eval.testing.check_strategy", "cooperbench_eval.testing.check_strategy"),
        ("ce.testing.check_strategy", "cooperbench_eval.testing.check_strategy"),
        ("Rate", "cooperbench_eval.analysis.Rate"),
        ("ce.analysis.Rate.low", "cooperbench_eval.analysis.Rate.low"),
        ("ce.running.TestRunner", "cooperbench_eval.TestRunner"),
    ],
)
def test_a_name_in_code_is_a_link(code, identifier):
    """A field links to its class, a method to its own entry."""
    found, unknown = site_hooks.link_names(f"<p>See <code>{code}</code>.</p>")

    assert found == f'<p>See <autoref identifier="{identifier}"><code>{code}</code></autoref>.</p>'
    assert not unknown


@pytest.mark.parametrize(
    "html",
    [
        "<code>merge.py</code>",
        "<code>git merge</code>",
        "<pre><code>merge</code></pre>",
        "<a href='x'><code>merge</code></a>",
        "<h2><code>merge</code></h2>",
        '<autoref identifier="x"><code>merge</code></autoref>',
        "merge",
        "<code>errors</code>",
        "<code>ce.errors</code>",
    ],
)
def test_no_other_text_is_a_link(html):
    """Files, commands, blocks, headings and existing links are unchanged."""
    assert site_hooks.link_names(html) == (html, [])


@pytest.mark.parametrize(
    "code",
    [
        "ce.nonesuch",
        "ce.Patch.nonesuch",
        "ce.check_strategy",
        "ce.errors.Patch",
        "ce.Rate",
        "ce.a b",
    ],
)
def test_an_unknown_name_is_reported(code):
    """A name that begins with `ce.` has to be public and in the right module."""
    assert site_hooks.link_names(f"<p><code>{code}</code></p>")[1] == [code]


def test_links_to_the_changelog_lead_to_its_page():
    """This holds for links from every page."""
    text = "[a](../CHANGELOG.md) [b](../../CHANGELOG.md#added) [c](../examples/x.md)"

    found = site_hooks.rewrite_links(text)

    assert found == "[a](changelog.md) [b](../changelog.md#added) [c](../examples/x.md)"


def test_the_format_page_has_a_table_of_each_record():
    """Each type in a table is a link to its own part of the page."""
    page = (ROOT / "docs/reference/report-format.md").read_text()

    shown = site_hooks.add_tables(page)

    parts = {name.lower() for name in re.findall(r"^### (\w+)$", shown, re.MULTILINE)}
    assert {"mergereport", "teamreport", "testresult", "verdict"} <= parts
    assert set(re.findall(r"\[\w+\]\(#(\w+)\)", shown)) <= parts
    assert "| `schema_version` | `1` | required | The version of this format. |" in shown
    assert site_hooks.add_tables("other\n") == "other\n"


def test_external_resources_of_a_page_are_reported():
    """A link is followed only on a click; scripts, styles, fonts and images load at once."""
    quiet = '<a href="https://a.org"></a><img src="b.png"><link href="c.css"><p src>url(d.png)'
    loud = [
        '<script src="https://a.org/a.js">',
        "<link rel=x href=//a.org/b.css>",
        "<style>@import 'https://a.org/c.css'",
        "src: url(http://a.org/d.woff)",
        '<img alt="x" src="https://a.org/e.png">',
    ]

    assert not list(site_hooks.find_loads(quiet))
    assert [len(list(site_hooks.find_loads(each))) for each in loud] == [1] * 5


@pytest.mark.parametrize(
    ("address", "is_good"),
    [
        ("https://example.org/a?b#c", True),
        ("http://example.org", False),
        ("https://example", False),
        ("https:///a", False),
        ("javascript:alert(1)", False),
        ("file:///etc/passwd", False),
    ],
)
def test_only_https_addresses_are_linked(address, is_good):
    """Without network access, addresses that cannot be right are reported."""
    found = list(site_hooks.find_bad_addresses(f'<p><a class="x" href="{address}">y</a>'))

    assert found == ([] if is_good else [address])


def visit(folder, source):
    """Load a module as the site does it."""
    (folder / "shown_on_site.py").write_text(textwrap.dedent(source))
    extensions = griffe.load_extensions(SiteReference)
    return griffe.load("shown_on_site", search_paths=[folder], extensions=extensions)


def test_a_record_is_shown_with_its_arguments(tmp_path, monkeypatch):
    """They are those that attrs generates: aliases, defaults, keyword-only arguments."""
    monkeypatch.syspath_prepend(tmp_path)
    source = """
        from enum import Enum

        from attrs import field, frozen

        class Colour(Enum):
            RED = 1

        class Shown: ...

        @frozen
        class Record(Shown):
            first: int
            second: tuple[str, ...] = field(kw_only=True, factory=tuple)
            third: Colour = Colour.RED
            _fourth: str = "x"
            fifth: int = field(init=False, default=5)
            """

    record = visit(tmp_path, source)["Record"]

    assert str(record.signature(name="Record")) == (
        "Record(first: int, third: Colour = Colour.RED, fourth: str = 'x', *,"
        " second: tuple[str, ...] = ...)"
    )
    assert record.bases == []


def test_what_is_converted_is_shown_as_it_is_accepted(tmp_path, monkeypatch):
    """Names of `Literal` types are spelled out, in records and functions."""
    monkeypatch.syspath_prepend(tmp_path)
    source = """
        from collections.abc import Iterable
        from typing import Literal

        from attrs import field, frozen

        Mode = Literal["fast", "slow"]

        def as_paths(given: Iterable[str]) -> tuple[str, ...]:
            return tuple(given)

        @frozen
        class Job:
            paths: tuple[str, ...] = field(converter=as_paths)
            mode: Mode = "fast"

        def run(job: Job, mode: "Mode | None" = None) -> Mode: ...
        """
    (tmp_path / "shown_values.py").write_text(textwrap.dedent(source))

    extensions = griffe.load_extensions(SiteReference)
    module = griffe.load("shown_values", search_paths=[tmp_path], extensions=extensions)

    assert str(module["Job"].signature(name="Job")) == (
        "Job(paths: Iterable[str], mode: Literal['fast', 'slow'] = 'fast')"
    )
    assert str(module["run"].parameters["mode"].annotation) == "Literal['fast', 'slow'] | None"
    assert str(module["run"].parameters["job"].annotation) == "Job"


def test_an_example_in_a_docstring_is_code(tmp_path):
    """This holds although its heading is in the singular."""
    function = visit(
        tmp_path,
        '''
        def double(x):
            """Double.

            Example:
                >>> double(2)
                4
            """
    ''',
    )["double"]

    kinds = [section.kind.value for section in function.docstring.parse("google")]

    assert kinds == ["text", "examples"]


def test_files_in_the_configuration_exist():
    """These are the style, icon and hooks of the site."""
    text = (ROOT / "mkdocs.yml").read_text()

    for name in re.findall(r"[\w/-]+\.(?:css|svg)", text):
        assert Path(ROOT, "docs", name).is_file()
    for name in re.findall(r"docs/tools/\w+\.py", text):
        assert Path(ROOT, name).is_file()
