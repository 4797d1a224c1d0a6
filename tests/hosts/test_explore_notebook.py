"""The example notebook is executed, and its outputs match its text."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from needs import need_package
from processparts import EXAMPLES

pytestmark = pytest.mark.long

for package in ("ipykernel", "matplotlib", "nbclient", "pandas"):
    need_package(package)
nbformat = need_package("nbformat")

NOTEBOOK = EXAMPLES / "explore.ipynb"


def read():
    """Read the notebook as stored."""
    return nbformat.read(NOTEBOOK, nbformat.current_nbformat)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Execute it in a new process; return each cell's outputs by its id."""
    home = tmp_path_factory.mktemp("home")
    driver = Path(__file__).with_name("notebook_driver.py")
    done = subprocess.run(
        [sys.executable, driver, NOTEBOOK, home], capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    executed = nbformat.read(home / NOTEBOOK.name, nbformat.current_nbformat)
    return {cell.id: cell.outputs for cell in executed.cells if cell.cell_type == "code"}


@pytest.fixture
def shown(outputs):
    """Return a function that returns a cell's output."""

    def show(cell, kind="text/plain"):
        [output] = outputs[cell]
        return output.data[kind]

    return show


class _Words(HTMLParser):
    """Collects the words of a page."""

    def __init__(self):
        super().__init__()
        self.words = []

    def handle_data(self, data):
        self.words += data.split()


def words_of(html):
    """Return the words of a piece of HTML."""
    parser = _Words()
    parser.feed(html)
    return " ".join(parser.words)


def test_it_is_stored_without_outputs():
    """Its cells have distinct names that do not change."""
    cells = read().cells

    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    assert len({cell.id for cell in cells}) == len(cells)
    assert all(cell.id.isalpha() for cell in cells)


def test_every_cell_shows_one_thing_and_prints_nothing(outputs):
    """There is no warning, no progress bar, and nothing on either stream."""
    kinds = {cell: [output.output_type for output in found] for cell, found in outputs.items()}

    assert kinds == {cell: ["execute_result"] for cell in outputs}


def test_conflicts_are_counted_in_a_table(shown):
    """The table covers all 21 pairs, as git leaves them."""
    rows = (
        "feature2 2 3 4 5 6 7 feature1"
        " 1 80 0 0 0 0 0 2 0 0 0 0 0 0 3 0 0 120 0 0 0 4 0 0 0 64 62 60 5 0 0 0 0 38 36"
        " 6 0 0 0 0 0 164"
    )

    assert shown("pairs") == "21"
    assert shown("merge").split() == rows.split()
    assert shown("matrix", "image/png")


def test_verdicts_are_counted_in_a_table(shown):
    """Pairs are resolved by union, correct with both, or semantically broken."""
    rows = (
        "strategy naive union feature1 feature2"
        " 1 2 unhandled correct 5 correct correct 2 5 incorrect incorrect"
    )

    assert shown("test").split() == rows.split()


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("summary", "3 pairs"),
        ("await", "pennybook_task"),
        ("blame", "test_json_total_is_the_sum_of_all_entries"),
    ],
)
def test_results_are_shown_as_html(shown, cell, words):
    """These are a summary, an awaited report, and the blame."""
    assert words in words_of(shown(cell, "text/html"))
