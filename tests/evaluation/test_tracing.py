"""The code that the failures of lost tests lead to."""

import sys

import pytest
from needs import need_package
from quick import QUICK

import cooperbench_eval as ce
from cooperbench_eval.evaluation import tracing
from cooperbench_eval.evaluation.tracing import trace_failures
from cooperbench_eval.languages.outline import functions
from cooperbench_eval.reporting.rows import TraceKind

CODE = b'''\
"""Books."""

STYLES = {"text": 1}


class Book:
    """A book."""

    limit = 3

    def total(self):
        return sum(self.rows)

    @property
    def size(self):
        def inner():
            return 1
        return inner()


def render(book):
    return STYLES and write(book)


def write(book):
    return book.total()


def untouched():
    return 0
'''
BASE = ce.Snapshot.from_files({"src/book.py": CODE, "src/other.py": b"def other():\n    pass\n"})


def side(*edits, path="src/book.py", text=CODE):
    """Changes that replace texts in a file."""
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return ce.Changes({path: ce.Entry(text)})


ONE = side((b'{"text": 1}', b'{"text": 1, "json": 2}'))
TWO = side((b"sum(self.rows)", b"sum(self.rows) + 1"))
BOTH = side((b'{"text": 1}', b'{"text": 1, "json": 2}'), (b"(self.rows)", b"(self.rows) + 1"))


def traced(message, *, one=ONE, two=TWO, both=BOTH, base=BASE):
    """What one failure leads to, as kinds and names."""
    found = trace_failures(base, one, two, both, {"t::a": message})
    return [(each.kind.value, each.name) for each in found.functions]


@pytest.mark.parametrize(
    "message",
    [
        "src/book.py:12: AssertionError",
        'File "/tmp/x/src/book.py", line 12, in total',
        "    at total (file:///tmp/tree/src/book.py:12:5)",
        "book.py:12: got 3",
        "./src/book.py:12:9: undefined: rows",
        "thread 't' panicked at src/book.py:12:9:",
    ],
)
def test_a_traceback_leads_to_the_function_of_its_line(message):
    """As pytest, Python, Node, Go and Rust write it."""
    assert traced(message)[:1] == [("frame", "Book.total")]


def test_each_version_of_a_function_is_given():
    """The features are in the order of the report, whichever side is ours."""
    (function,) = trace_failures(BASE, ONE, TWO, BOTH, {"t::a": "src/book.py:12: no"}).functions

    assert function.line == 11
    assert (
        function.base
        == function.feature1
        == b"    def total(self):\n        return sum(self.rows)\n"
    )
    assert function.feature2 == function.merged != function.base
    assert function.tests == ("t::a",)


def test_the_message_leads_on_through_functions_that_nobody_changed():
    """`render` and `write` are in between; only what a feature changed is given."""
    assert traced(">       assert render(book) == 3") == [
        ("used", "STYLES"),
        ("used", "Book.total"),
    ]


def test_methods_of_classes_that_are_named_come_first():
    """Every class may have a method of that name."""
    text = b"".join(
        b"class %s:\n    def total(self):\n        return 1\n" % n for n in (b"A1", b"B1x")
    )
    both = ce.Changes({"a.py": ce.Entry(text)})

    found = traced("B1x().total()", one=both, two=ce.Changes({}), both=both)

    assert [name for _, name in found] == ["B1x.total", "B1x", "A1.total"]


def test_a_function_that_a_side_removes_is_found_by_its_name():
    """The merged file has neither its text nor a line of it."""
    gone = side((b"def untouched():\n    return 0\n", b""))

    trace = trace_failures(BASE, gone, TWO, gone, {"t::a": "NameError: name 'untouched'"})

    (function,) = trace.functions
    assert (function.name, function.line, function.merged) == ("untouched", None, None)
    assert function.base == function.feature2 == b"def untouched():\n    return 0\n"
    assert function.feature1 is None


def test_the_head_of_a_class_ends_before_its_first_method():
    """Its fields are code of their own."""
    fields = side((b"limit = 3", b"limit = 4"))

    trace = trace_failures(BASE, fields, TWO, fields, {"t::a": "Book is full"})

    assert trace.functions[0].name == "Book"
    assert trace.functions[0].feature1.endswith(b"    limit = 4\n\n")
    assert b"def total" not in trace.functions[0].feature1


def test_a_function_within_a_function_is_part_of_it():
    """A line of the inner one leads to the outer one."""
    inner = side((b"            return 1\n", b"            return 2\n"))

    assert traced("src/book.py:17: no", one=inner, both=inner) == [("frame", "Book.size")]


@pytest.mark.parametrize(
    "message",
    ["", "no.py:3: E", "src/other.py:1: E", "src/book.py:99999: E", "a" * 100_000, "\0:1\ud800"],
)
def test_a_message_without_a_lead_leads_nowhere(message):
    """Whatever it contains."""
    assert traced(message) == []


def test_functions_that_both_features_changed_come_last():
    """Also if the message names nothing."""
    one = side((b"(self.rows)", b"(self.rows) + 1"))
    two = side((b"    def total(self):\n", b"    def total(self):\n        # all\n"))

    assert traced("assert 1 == 2", one=one, two=two, both=one) == [("both", "Book.total")]
    assert traced("limit of Book.total", one=one, two=two, both=one) == [("named", "Book.total")]


def test_files_that_do_not_parse_have_no_functions():
    """A failure in them is still a failure."""
    bad = side((b"def write(book):", b"def write(book:"))

    assert traced("src/book.py:23: SyntaxError", one=bad, both=bad) == []


def test_what_is_too_much_is_counted():
    """At most twenty functions are given, and none that is longer than twenty thousand bytes."""
    many = b"".join(b"def name_%d():\n    return 0\n" % n for n in range(30))
    long = b"def name_long():\n" + b"    x = 1\n" * 3_000
    both = ce.Changes({"many.py": ce.Entry(many + long)})
    names = " ".join([*(f"name_{n}" for n in range(30)), "name_long"])

    trace = trace_failures(BASE, both, ce.Changes({}), both, {"t::a": names})

    assert (len(trace.functions), trace.left_out) == (20, 11)


@pytest.mark.parametrize(
    ("path", "before", "after", "message", "name"),
    [
        (
            "a.go",
            b"package a\n\nfunc (b *Book) Total() int {\n\treturn 1\n}\n",
            b"package a\n\nfunc (b *Book) Total() int {\n\treturn 2\n}\n",
            "    a.go:4: got 2",
            "Book.Total",
        ),
        (
            "src/a.ts",
            b"export class Book {\n  total() {\n    return 1;\n  }\n}\n",
            b"export class Book {\n  total() {\n    return 2;\n  }\n}\n",
            "at Book.total (/tmp/x/src/a.ts:3:5)",
            "Book.total",
        ),
        (
            "src/lib.rs",
            b"impl Book {\n    fn total(&self) -> u8 {\n        1\n    }\n}\n",
            b"impl Book {\n    fn total(&self) -> u8 {\n        2\n    }\n}\n",
            "panicked at src/lib.rs:3:9:",
            "Book.total",
        ),
    ],
    ids=["go", "typescript", "rust"],
)
def test_other_languages_have_functions_too(path, before, after, message, name):
    """Those whose grammars the extra `languages` installs."""
    need_package("tree_sitter")
    changed = ce.Changes({path: ce.Entry(after)})

    (function,) = trace_failures(
        ce.Snapshot.from_files({path: before}), changed, ce.Changes({}), changed, {"t": message}
    ).functions

    assert (function.kind, function.name) == (TraceKind.FRAME, name)
    assert (b"2" in function.feature1, b"1" in function.feature2) == (True, True)


def test_a_report_tells_where_the_tests_that_a_clean_merge_lost_lead():
    """With real runs; strategies with the same tree and failures have the same trace."""
    text = b"def rate():\n    return 1\n\n\ndef cost(x):\n    return x\n"
    base = ce.Snapshot.from_files({"src/book.py": text})
    edits = (b"def cost(x):\n    return x\n", b"def cost(x):\n    return x * rate()\n")
    one = side(edits, text=text)
    two = side((b"return 1", b"return 2"), text=text)
    test = b"from book import cost\n\n\ndef test_cost():\n    assert cost(3) == 3\n"
    suite = ce.TestSuite(
        command=(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_1.py"),
        patch=ce.Changes({"test_1.py": ce.Entry(test)}).diff(ce.Snapshot.from_files({})),
        env={"PYTHONPATH": "src", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    pair = ce.FeaturePair(
        repo_name="books",
        task_id=1,
        base=base,
        feature1=ce.Feature(number=4, patch=one.diff(base), tests=suite),
        feature2=ce.Feature(number=2, patch=two.diff(base)),
    )

    report = ce.Evaluator(runner=ce.TestRunner(sandbox=QUICK)).evaluate(pair)

    naive, union = report.attempts
    assert naive.status == "clean"
    assert naive.trace == union.trace
    assert [(each.kind.value, each.name) for each in naive.trace.functions] == [
        ("named", "cost"),
        ("used", "rate"),
    ]
    assert naive.trace.functions[0].tests == ("test_1.py::test_cost",)
    assert ce.MergeReport.from_json(report.to_json()) == report
    assert report.feature1.patch.diff == one.diff(base)
    assert report.feature2.patch.diff == two.diff(base)


def chain(count, more=b""):
    """Functions of which each uses the next one."""
    lines = (b"def name_%d():\n    return name_%d()\n" % (n, n + 1) for n in range(count))
    return ce.Changes({"chain.py": ce.Entry(b"".join(lines) + more)})


def work(code, failures):
    """How many lines of the search run, and what it finds."""
    lines = 0

    def count(frame, event, _what):
        nonlocal lines
        lines += event == "line"
        return count if frame.f_code.co_filename == tracing.__file__ else None

    before = sys.gettrace()
    sys.settrace(count)
    try:
        found = trace_failures(BASE, code, ce.Changes({}), code, failures)
    finally:
        sys.settrace(before)
    return lines, found


def test_many_failures_with_the_same_lead_are_followed_only_a_few_times():
    """One failure in a large file is cheap, so two hundred must not take the evaluator's time."""
    all_names = b", ".join(b"name_%d" % n for n in range(300))
    code = chain(300, b"def hub():\n    return %s\n" % all_names)

    few, first = work(code, {f"t{n}": "no hub" for n in range(10)})
    many, all_ = work(code, {f"t{n}": "no hub" for n in range(200)})

    assert many < 1.5 * few
    assert first == all_


def test_a_step_looks_only_at_the_words_of_the_functions_before_it():
    """However many other functions there are."""
    failures = {f"t{n}": f"name_{n}" for n in range(100)}

    def of_search(code):
        return work(code, failures)[0] - work(code, {})[0]

    assert of_search(chain(2_000)) < 2 * of_search(chain(250))


def test_equal_texts_are_read_once_and_too_much_is_left_out(monkeypatch):
    """The smallest files are read; each file that is not counts as left out."""
    read = []

    def remembering(path, source):
        read.append(source)
        return functions(path, source)

    monkeypatch.setattr(tracing, "functions", remembering)
    large = {f"{n}.py": ce.Entry(b"#" * 400_000 + b"%d\n" % n) for n in range(9)}
    equal = {f"copy_{n}.py": ce.Entry(b"def found():\n    return 1\n") for n in range(9)}
    both = ce.Changes({**large, **equal, "data.json": ce.Entry(b"{}")})

    trace = trace_failures(BASE, both, ce.Changes({}), both, {"t::a": "found"})

    assert len(trace.functions) == 9
    assert sum(len(source) for source in read if source) < 2_000_000
    assert trace.left_out == 5


def test_files_with_too_many_functions_are_left_out():
    """Those of all versions count: here of feature 1 and of the merge."""
    text = b"name=0\n" + b"".join(b"n%d=0\n" % n for n in range(9_000))
    both = ce.Changes({f"{n}.py": ce.Entry(text) for n in range(4)})

    trace = trace_failures(BASE, both, ce.Changes({}), both, {"t::a": "name"})

    assert [each.path for each in trace.functions] == ["0.py", "1.py"]
    assert trace.left_out == 2


def test_a_file_whose_names_repeat_a_long_text_has_no_functions():
    """Each method's name has that of its class, so a small file may have huge names."""
    methods = b"".join(b"    def m%d(self): pass\n" % n for n in range(2_000))
    long = b"class C%s:\n" % (b"c" * 2_000) + methods
    both = ce.Changes({"long.py": ce.Entry(long)})

    assert traced("m1 m1999 long.py:3: no", one=both, two=ce.Changes({}), both=both) == []


def test_both_ends_of_a_long_message_are_read():
    """What went wrong may come first or last."""
    noise = " x.py:1: no" * 5_000

    found = traced(f"Book.total {noise} src/book.py:22: no")

    assert found[:1] == [("named", "Book.total")]
    assert traced("render " + noise) == traced("render")
    assert ("used", "Book.total") in traced(noise + "\nsrc/book.py:26: no")


def test_the_innermost_places_of_a_long_traceback_are_looked_at():
    """A place that repeats counts once, as in endless recursion."""
    frames = "".join(f"src/other.py:{n}: in f\n" for n in range(10, 600))

    assert traced("src/book.py:12: in f\n" + frames) == []
    assert traced(frames + "src/book.py:12: in f\n" * 300)[:1] == [("frame", "Book.total")]
    assert traced("src/book.py:12: no\n" + "src/other.py:1: no\n" * 300)[:1] == [
        ("frame", "Book.total")
    ]
