"""A real browser, and a function that opens pages in it."""

import itertools
import json
import re
import shutil

import pytest
from needs import lack, need_package

import cooperbench_eval as ce

# Chromium starts as root here and must not use the network for itself.
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)


# One browser for each file, not for the session: while Playwright runs, other users of
# asyncio in this process would find its event loop running.
@pytest.fixture(scope="module")
def browser():
    """Start Chromium, which Debian and some others call `chromium-browser`, or Chrome."""
    playwright = need_package("playwright.sync_api")  # loads a driver
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        lack("Chromium", "chromium is not installed")
    with playwright.sync_playwright() as driver:
        try:
            started = driver.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        except playwright.Error as exc:
            problem = f"{chromium} does not start: {exc.message.splitlines()[0]}"
        else:
            yield started
            return
    lack("Chromium", problem)


class Opened:
    """A page in the browser, and a record of what went wrong in it.

    Attributes:
        tab: The browser's tab.
        address: The page's address.
        requests: The addresses that were requested, the page itself included.
        complaints: Console messages, errors and dialogs.
    """

    def __init__(self, tab):
        self.tab = tab
        self.address = ""
        self.requests = []
        self.complaints = []
        tab.set_default_timeout(20_000)  # tests that run in parallel are slow
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("dialog", self._refuse)

    def _refuse(self, dialog):
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def show(self, path, asked=""):
        """Open a page."""
        self.address = path.as_uri()
        return self.visit(asked)

    def visit(self, asked=""):
        """Go to the page, with *asked* as the part of the address after the #.

        A test opens a pair by its place among the reports, as in `#pair=1`.
        """
        if found := re.fullmatch(r"#pair=(\d+)", asked):
            self.tab.goto(self.address)
            rows = json.loads(self.tab.locator("#index").text_content())["rows"]
            asked = f"#{rows[int(found[1]) - 1]['id']}"
        self.tab.goto(f"{self.address}{asked}")
        return self

    def settle(self):
        """Wait until the page has reacted, as a link acts a moment after the click."""
        self.tab.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(done)))")

    def click(self, selector):
        """Click an element."""
        self.tab.locator(selector).click()
        self.settle()

    def choose(self, **choices):
        """Set filters to values."""
        for name, value in choices.items():
            self.tab.locator(f"select[name={name}]").select_option(value)
            self.settle()

    def text(self, selector):
        """Return the visible text of an element."""
        return self.tab.locator(selector).inner_text()

    def texts(self, selector):
        """Return the visible text of each such element."""
        return self.tab.locator(selector).all_inner_texts()

    def column(self, name):
        """Return the cells under a head of the table of pairs."""
        heads = [head.split(" ↓")[0].split(" ↑")[0] for head in self.texts("#pairs thead th")]
        return self.texts(f"#pairs tbody tr > :nth-child({heads.index(name) + 1})")

    def signs(self, strategy):
        """Return each pair's sign under a strategy, with the words that a screen reader says."""
        return [cell.replace("\n", " ") for cell in self.column(strategy)]

    def shown_pairs(self):
        """Return the task of each pair in the table."""
        return [cell.rpartition(": ")[0] for cell in self.column("Pair")]

    def check(self):
        """Check that nothing but the page was loaded and nothing went wrong."""
        requests, complaints = set(self.requests), list(self.complaints)
        self.requests.clear()
        self.complaints.clear()
        assert all(url.startswith("file:///") for url in requests)
        assert {url.rpartition(".")[2].partition("#")[0] for url in requests} == {"html"}
        assert complaints == []


@pytest.fixture(scope="module")
def tab(browser):
    """Return the tab that most tests share."""
    return Opened(browser.new_page())


@pytest.fixture
def open_page(browser, tab, tmp_path):
    """Return a function that writes reports as a page and opens it in the browser.

    All tests share one tab, but a test that gives *context* gets its own.
    """
    opened, count = [], itertools.count()

    def write_and_open(reports, asked="", *, context=None, **options):
        path = ce.write_page(reports, tmp_path / f"{next(count)}.html", **options)
        is_own = context is not None
        page = Opened(browser.new_context(**context).new_page()) if is_own else tab
        opened.append(page)
        return page.show(path, asked)

    yield write_and_open
    for page in dict.fromkeys(opened):
        page.check()
        if page is not tab:
            page.tab.context.close()
