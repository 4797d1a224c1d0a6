"""How the tests run the fenced blocks of the documentation.

Sybil reads a page; its blocks share a namespace and a current directory that is empty at
first. Every fence states its language:

- `python`: examples with `>>>` as in any doctest; otherwise part of a script, which is run.
- `sh`: commands on files that the page has made are run; see `shell` for the others.
- `toml`, `json`: read; a merge report in JSON also has to fit the schema.
- `text`: the output of the previous block.
- none: a picture, without anything that could be run.

A block with a `title` is a file: it is written, and a later block has to use it. Code that
a reader need not see is in a comment, `<!-- invisible-code-block: python`; it registers
resources to close on the stack `closing`.
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
from shell import run_shell
from sybil import Region, Sybil
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown import SkipParser
from sybil.parsers.markdown.lexers import DirectiveInHTMLCommentLexer, RawFencedCodeBlockLexer

import cooperbench_eval as ce
from cooperbench_eval.running.sandboxes.local import NEUTRAL_ENVIRONMENT

ROOT = Path(__file__).parents[2]
FLAGS = ELLIPSIS | NORMALIZE_WHITESPACE
FENCES = RawFencedCodeBlockLexer(re.compile(r"(?P<info>[^\n]*)\n"))
HIDDEN = DirectiveInHTMLCommentLexer("invisible-code-block", "python")
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


def run_hidden(example):
    """Run code that the reader does not see."""
    PythonEvaluator()(example)


def run_sh(example):
    """Run or check commands; keep what they print."""
    example.document.printed = run_shell(str(example.parsed), root=ROOT)


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
    for region, language, title in fences(document):
        source = region.parsed
        if language == "python" and source.startswith(">>>"):
            for each in examples(source, document.path):
                each.adjust(region, source)
                yield each
            continue
        if language is None:
            region.evaluator = refuse(region.lexemes["info"])
        else:
            region.evaluator = write_file(title) if title else RUNNERS[language]
        yield region


def parse_hidden(document):
    """Yield a region for each comment that holds code."""
    for region in HIDDEN(document):
        yield Region(region.start, region.end, region.lexemes["source"], run_hidden)


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
    parsers=[parse_fences, parse_hidden, SkipParser()],
    path=str(ROOT),
    pattern="*.md",
    setup=enter,
    teardown=leave,
)
