"""How the tests run the fenced blocks of the documentation.

Sybil reads a page; its blocks share a namespace and a current directory that is empty at
first. Every fence states its language:

- `python`: examples with `>>>` as in any doctest; otherwise part of a script, which is run.
- `sh`: commands on files that the page has made are run; see `shell` for the others.
- `toml`, `json`: read; a merge report in JSON also has to fit the schema.
- `text`: the output of the previous block.
- none: a picture, without anything that could be run.

A block with a `title` is a file: it is written, and a later block has to use it.

Only what a reader sees is run. Where blocks need something of their surroundings, the page says
so: after "This section needs litellm", the blocks up to the end of that section need what
`NEEDS` has under this name, and "in a checkout of this project" gives the page the folder `docs`.
"""

import ast
import contextlib
import io
import json
import re
import shutil
import tempfile
import tomllib
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from unittest import mock

import jsonschema
import pytest
from needs import need_bubblewrap, need_engine, need_installed
from places import lay_benchmark
from scheduling import RUNS_LONG_TESTS
from shell import run_shell
from sybil import Sybil
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

import cooperbench_eval as ce
from cooperbench_eval.running.sandboxes.local import NEUTRAL_ENVIRONMENT

ROOT = Path(__file__).parents[2]
FLAGS = ELLIPSIS | NORMALIZE_WHITESPACE
FENCES = RawFencedCodeBlockLexer(re.compile(r"(?P<info>[^\n]*)\n"))
MARK = re.compile(
    r"^(?P<heading>#+) "
    r"|^This (?:page|section) needs (?P<need>[\w' ]+\w)"
    r"|\bin a checkout of this project\b",
    re.MULTILINE | re.IGNORECASE,
)
INFO = re.compile(r'(?P<language>\w*)(?: title="(?P<title>[\w./-]+)")?')
# The sample's base is a commit with a known id, so its pages are not ours to test.
NO_PAGES = ("docs/examples/sample/base/*", "docs/examples/sample/dataset/*")


def pages():
    """Return the README, the changelog and every page below `docs`."""
    found = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    return sorted(page for page in found if is_page(page))


def is_page(path):
    """Return whether a Markdown file is documentation."""
    within = path.relative_to(ROOT)
    return not any(within.match(each) or within.is_relative_to(each[:-2]) for each in NO_PAGES)


def run_python(example):
    """Run part of a script; keep its output for the next block."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        PythonEvaluator()(example)
    example.document.printed = printed.getvalue()


def run_sh(example):
    """Run or check commands; keep what they print."""
    example.document.printed = run_shell(
        str(example.parsed), root=ROOT, closing=example.namespace["closing"]
    )


def read_toml(example):
    """Read a piece of TOML."""
    tomllib.loads(example.parsed)


def read_json(example):
    """Read a piece of JSON; check a report against its schema."""
    found = json.loads(example.parsed)
    if isinstance(found, dict) and "merge_status" in found:
        kind = "team" if found.get("kind") == "team" else "pair"
        jsonschema.validate(found, ce.reporting.report_schema(kind))


def compare_output(example):
    """Compare a block of text with the output of the previous block."""
    printed = getattr(example.document, "printed", None)
    if printed is None:
        return "no block before this one prints: a picture's fence says no language"
    example.document.printed = None
    if OutputChecker().check_output(example.parsed, printed, FLAGS):
        return None
    return f"Expected:\n{example.parsed}Got:\n{printed}"


def look_at_picture(example):
    """Reject a picture that is code."""
    text = example.parsed
    for read in (ast.parse, tomllib.loads, json.loads):
        with contextlib.suppress(ValueError, SyntaxError):
            read(text)
            return f"{read.__module__} can read this: name its language"
    called = [line.split()[0] for line in text.splitlines() if line.strip()]
    programs = [word for word in called if shutil.which(word)]
    return f"commands, so name their language: {programs}" if programs else None


RUNNERS = {
    "python": run_python,
    "sh": run_sh,
    "toml": read_toml,
    "json": read_json,
    "text": compare_output,
    "": look_at_picture,
}


def write_file(title):
    """Return a function that writes a block to its file."""

    def write(example):
        if title.endswith(".py"):
            compile(example.parsed, title, "exec")
        path = Path(title)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(example.parsed, encoding="utf-8")

    return write


def refuse(info):
    """Return a function that fails for a fence without a handler."""
    return lambda _: f"nothing runs ```{info}"


def need_benchmark(namespace):
    """Lay out the benchmark's dataset, a run's logs and a task's image, or skip the block."""
    if not RUNS_LONG_TESTS:
        pytest.skip("building an image takes long: pytest -m long")
    need_engine()
    if "benchmark" not in namespace:
        namespace["benchmark"] = namespace["closing"].enter_context(lay_benchmark())


def need_packages(*names):
    """Return a function that skips a block if one of these packages is not installed."""

    def need(_):
        for name in names:
            need_installed(name)

    return need


NEEDS = {
    # `shell` has something in the place of these.
    "Slurm": lambda _: None,
    "a model server": lambda _: None,
    "a network": lambda _: None,
    # The others have to be here.
    "bubblewrap": lambda _: need_bubblewrap(),
    "Dask": need_packages("distributed"),
    "litellm": need_packages("litellm"),
    "matplotlib": need_packages("matplotlib"),
    "pandas and polars": need_packages("pandas", "polars"),
    "rich": need_packages("rich"),
    "the benchmark's images": need_benchmark,
}


def enter_checkout(_):
    """Give the page the documentation of this project."""
    if not Path("docs").exists():
        Path("docs").symlink_to(ROOT / "docs")


def find_needs(document):
    """Return what blocks need: from where, to where, and the function that sees to it."""
    within = [(region.start, region.end) for region in FENCES(document)]
    found, level = [], 0
    for match in MARK.finditer(document.text):
        start = match.start()
        if any(begin <= start < end for begin, end in within):
            continue
        if match["heading"]:
            level = len(match["heading"])
            found = [
                (begin, min(end, start) if depth >= level else end, depth, see_to)
                for begin, end, depth, see_to in found
            ]
        else:
            see_to = NEEDS[match["need"]] if match["need"] else enter_checkout
            depth = level if match["need"] else 0
            found.append((start, document.end, depth, see_to))
    return [(begin, end, see_to) for begin, end, _, see_to in found]


def after_needs(needs, evaluate):
    """Return a function that sees to what an example needs before it evaluates it."""

    def see_to_and_evaluate(example):
        for need in needs:
            need(example.namespace)
        return evaluate(example)

    return see_to_and_evaluate if needs else evaluate


def fences(document):
    """Yield each fence of a document with its language and its title."""
    for region in FENCES(document):
        info = region.lexemes["info"].strip()
        match = INFO.fullmatch(info)
        known = match and match["language"] in RUNNERS
        region.parsed = region.lexemes["source"]
        yield region, match["language"] if known else None, match and match["title"]


def parse_fences(document):
    """Yield a region for each fence, or one for each example in it."""
    examples = DocTestStringParser(DocTestEvaluator(FLAGS))
    marks = find_needs(document)
    for region, language, title in fences(document):
        source = region.parsed
        needs = [see_to for begin, end, see_to in marks if begin <= region.start < end]
        if language == "python" and source.startswith(">>>"):
            for each in examples(source, document.path):
                each.adjust(region, source)
                each.evaluator = after_needs(needs, each.evaluator)
                yield each
            continue
        if language is None:
            region.evaluator = refuse(region.lexemes["info"])
        else:
            run = write_file(title) if title else RUNNERS[language]
            region.evaluator = after_needs(needs, run)
        yield region


def enter(namespace):
    """Begin a page in an empty directory, with a stack of resources to close after it."""
    namespace["closing"] = closing = contextlib.ExitStack()
    folder = closing.enter_context(tempfile.TemporaryDirectory())
    closing.enter_context(contextlib.chdir(folder))
    # A reader has few plug-ins of pytest; those of our tests take most of a small run's time.
    few = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    closing.enter_context(mock.patch.dict(NEUTRAL_ENVIRONMENT, few))


def leave(namespace):
    """Close what the page opened, and return to the previous directory."""
    with namespace["closing"]:
        namespace.clear()


SYBIL = Sybil(
    parsers=[parse_fences],
    path=str(ROOT),
    pattern="*.md",
    setup=enter,
    teardown=leave,
)
