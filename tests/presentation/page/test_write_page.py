"""The file of a page: written whole, with little memory, and safe to open."""

import json
import os
import resource
import socket
import stat
import tracemalloc
from html.parser import HTMLParser
from pathlib import Path

import pytest
from attrs import evolve
from generators import json_values
from hypothesis import given
from page_reports import CONFLICT, broken, edited, made, pair

import cooperbench_eval as ce
from cooperbench_eval.presentation.page.embedding import embed


class Elements(HTMLParser):
    """The start tags of a document, in order."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def as_held(digits):
    """Read an integer as JavaScript does, or as a string if JavaScript would round it."""
    return int(digits) if float(digits) == int(digits) and abs(int(digits)) < 2**53 else digits


@pytest.mark.parametrize("number", [2**53, 2**53 + 1, -(2**53) - 1, 2**200])
def test_an_integer_that_javascript_rounds_becomes_a_string(number):
    """Rounded, two different integers would look the same."""
    assert embed({"a": [(number, True, 2**53 - 1)]}) == (
        f'{{"a":[["{number}",true,9007199254740991]]}}'
    )


@given(json_values())
def test_values_come_back_from_a_script_element(value):
    """The JSON is ASCII without the characters that could end the element."""
    text = embed(value)

    assert json.loads(text) == json.loads(json.dumps(value), parse_int=as_held)
    assert text.isascii()
    assert not set("<>&") & set(text)


@pytest.mark.parametrize("text", ["</script>", "<!--", "-->", "\u2028", "\ud800", "\0", "\u202e"])
def test_texts_that_end_scripts_or_hide_are_escaped(text):
    """In values and in keys, and beside text that looks escaped already."""
    embedded = embed({text: f"\\u003c{text}"})

    assert text not in embedded
    assert json.loads(embedded) == {text: f"\\u003c{text}"}


def test_hostile_texts_add_no_element(tmp_path):
    """The document has the same elements as with harmless texts."""
    files = []
    for text in ("harmless", "</script><img src=x onerror=x>'\"<!--", "</title></style><b>&lt;"):
        report = evolve(broken(names=(text,)), repo_name=text, versions={text: text})
        attempts = [evolve(each, strategy=f"{each.strategy}{text}") for each in report.attempts]
        report = evolve(report, attempts=attempts)
        path = ce.write_page([report], tmp_path / "page.html", title=text)
        files.append(Elements(path.read_text(encoding="utf-8")).found)

    tags = [[(tag, sorted(given)) for tag, given in found] for found in files]
    assert tags[0] == tags[1] == tags[2]
    assert [given.get("id") for tag, given in files[1] if tag == "script"] == [
        *("pair-1", "index"),
        None,
    ]


def copied(report, task):
    """The same report with texts of its own."""
    return pair(task, of=report, diff=bytes(bytearray(report.diff)))


def test_reports_are_not_kept(tmp_path):
    """Only a row of each pair is kept, so many pairs with long texts take little memory."""
    sides = [b"".join(b"%d " % n + c * 90 + b"\n" for n in range(400)) for c in (b"x", b"y")]
    big = made(*(edited(5, side) for side in sides))
    ce.write_page(
        [big], tmp_path / "page.html"
    )  # loads modules first, so that their memory is not measured

    peaks, sizes = [], []
    for count in (1, 5):
        tracemalloc.start()
        try:
            path = ce.write_page((copied(big, n) for n in range(count)), tmp_path / "page.html")
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        sizes.append(path.stat().st_size)

    assert sizes[1] > sizes[0] + 400_000
    assert peaks[1] < peaks[0] + 150_000


def test_a_store_can_be_the_source(tmp_path):
    """Its reports are read one by one."""
    store = ce.ReportStore(tmp_path / "store")
    store.prepare()
    store.put("0" * 64, pair())

    path = ce.write_page(store, tmp_path / "new" / "page.html")

    assert "pair-1" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
def test_a_page_has_the_mode_of_new_files(tmp_path, mask):
    """The user's umask applies to pages too."""
    before = os.umask(mask)
    try:
        path = ce.write_page([], tmp_path / "page.html")
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def interrupted():
    """Give a report, and fail at the second one."""
    yield CONFLICT
    raise ce.errors.ReportError("is lost")


@pytest.mark.parametrize(
    ("reports", "error"),
    [
        (interrupted(), ce.errors.ReportError),
        ([CONFLICT, ce.analysis.facts_of(CONFLICT)], ce.errors.AnalysisError),
        ([CONFLICT, 3], TypeError),
        ("results/", TypeError),
        (CONFLICT, TypeError),
    ],
)
def test_a_page_is_written_whole_or_not_at_all(tmp_path, reports, error):
    """After an error the old file is still there, and no unfinished file is left."""
    path = tmp_path / "page.html"
    path.write_text("before")

    with pytest.raises(error):
        ce.write_page(reports, path)

    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text() == "before"


def test_a_page_is_replaced_and_not_overwritten(tmp_path):
    """A process that has the old file open can still read it."""
    path = tmp_path / "page.html"
    path.write_text("before")
    (tmp_path / "kept").hardlink_to(path)

    ce.write_page([CONFLICT], path)

    assert (tmp_path / "kept").read_text() == "before"
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_full_disk_leaves_no_unfinished_file(tmp_path):
    """The system's error is raised as ours, and what was written is removed."""
    path = tmp_path / "page.html"
    size = ce.write_page([CONFLICT] * 40, path).stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (size - 10_000, limits[1]))
    try:
        with pytest.raises(ce.errors.ReportError, match="cannot be written"):
            ce.write_page([CONFLICT] * 40, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert path.stat().st_size == size


def test_a_path_that_cannot_be_written_is_an_error(tmp_path):
    """Such as a folder, or a path below a file."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "page.html"):
        with pytest.raises(ce.errors.ReportError, match="cannot be written") as caught:
            ce.write_page([CONFLICT], place)

        assert caught.value.location == str(place)


def test_only_regular_files_are_replaced(tmp_path, monkeypatch):
    """Another process may use the other end of a pipe, socket or device."""
    os.mkfifo(tmp_path / "pipe")
    # Its name would be too long from elsewhere.
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for place in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/null")):
            with pytest.raises(ce.errors.ReportError, match="pipe, socket or device") as caught:
                ce.write_page([CONFLICT], place)

            assert caught.value.location == str(place)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["pipe", "socket"]


@pytest.mark.parametrize("name", ["a\0b", "half \ud800", "\0/page.html"])
def test_an_impossible_file_name_is_an_error(tmp_path, name):
    """The error shows the odd characters of the name."""
    with pytest.raises(ce.errors.ReportError, match="no file can have this name") as caught:
        ce.write_page([CONFLICT], f"{tmp_path}/{name}")

    assert caught.value.location.isprintable()


def test_an_error_of_the_source_passes_through(tmp_path):
    """An `OSError` of the source of reports is not reported as an error of the page."""

    def many():
        yield CONFLICT
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        ce.write_page(many(), tmp_path / "page.html")


def test_a_negative_limit_is_refused(tmp_path):
    """The error comes before anything is read or written."""
    with pytest.raises(ValueError, match="text_limit must be 0 or more, not -1"):
        ce.write_page([], tmp_path / "page.html", text_limit=-1)


def test_very_long_names_are_cut(tmp_path):
    """This holds for every kind of name that the page shows."""
    name = "n" * 100_000
    report = broken(names=(name,), alone=((name,), (name,)), repo_name="r", model=name)
    attempts = [evolve(each, implementation=name, failure=name) for each in report.attempts]
    conflicts = [evolve(each, path=name) for each in report.conflicts]
    report = evolve(report, attempts=attempts, conflicts=conflicts, versions={name: name})

    path = ce.write_page([report], tmp_path / "page.html", title=name)

    text = path.read_text(encoding="utf-8")
    (data,) = [line for line in text.splitlines() if 'id="pair-1"' in line]
    assert len(data) < 60_000


def test_the_data_of_a_pair_is_bounded(tmp_path):
    """However many conflicts the pair has and however long they are."""
    lines = [b"%d\n" % n for n in range(12 * 300)]
    sides = [
        b"".join(
            b"%b%d\n" % (side * 500, n) if n % 12 == 5 else lines[n] for n in range(len(lines))
        )
        for side in (b"a", b"b")
    ]
    report = made(*sides, base=b"".join(lines))

    path = ce.write_page([report], tmp_path / "page.html", text_limit=400)

    text = path.read_text(encoding="utf-8")
    (data,) = [line for line in text.splitlines() if 'id="pair-1"' in line]
    assert len(report.conflicts) == 300
    assert '"more_conflicts":100' in data
    assert 20_000 < len(data) < 120_000
