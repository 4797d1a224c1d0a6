"""Code in the fences of a Markdown document is merged and judged as code."""

import pytest

import cooperbench_eval as ce
from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import render

TEXT = """# Report

Read this.
```ts
export interface State {
    mount: boolean;
    // (unknown)
    watch: boolean;
}
export function run(a: number): void {
    begin(a);
    end(a);
}
```

~~~
no language
~~~
```python
def f():
    return 1
```
"""


def merge(base, ours, theirs, strategy="structured"):
    """Merge three versions of a document; return `None` if a conflict is left."""
    tree, *sides = (
        ce.Snapshot.from_files({"a.md": each.encode()}) for each in (base, ours, theirs)
    )
    outcome = ce.merge(tree, *(ce.Changes.between(tree, side) for side in sides), strategy=strategy)
    return None if outcome.conflicts else outcome.changes["a.md"].data.decode()


def field(text, line):
    """Add a field to the interface."""
    return text.replace("    // (unknown)", f"    {line}\n    // (unknown)")


def test_members_of_both_sides_are_kept_in_fenced_code():
    """Both insert at one place; other edits of the document are merged, too."""
    ours, theirs = field(TEXT, "one: number;"), field(TEXT, "two: string;")
    theirs = theirs.replace("Read this.", "Read all of this.").replace("return 1", "return 2")
    expected = theirs.replace("    two", "    one: number;\n    two")
    assert merge(TEXT, ours, theirs) == expected
    assert merge(TEXT, ours, theirs, "cascade") == expected


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (field(TEXT, "one: number;"), field(TEXT, "one: string;")),
        (TEXT.replace("begin(a)", "begin(1)"), TEXT.replace("begin(a)", "begin(2)")),
        (
            TEXT.replace("    end(a);", "    return a;\n    end(a);"),
            TEXT.replace("    end(a);", "    return;\n    end(a);"),
        ),
    ],
)
@pytest.mark.parametrize("strategy", ["structured", "cascade"])
def test_fenced_code_is_judged_as_code(ours, theirs, strategy):
    """A name is not declared twice, no value changed twice, and nothing follows a `return`."""
    assert merge(TEXT, ours, theirs, strategy) is None


@pytest.mark.parametrize("fence", ["```", "```what", "```ts no code"])
def test_other_fenced_text_is_merged_as_a_document(fence):
    """No language is named, it is not known, or the text cannot be read in it."""
    base = TEXT.replace("```ts", fence)
    base = base.replace("export function", "export ... function") if " no" in fence else base
    assert merge(base, field(base, "one: number;"), field(base, "two: string;")) is None


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "```ts\na;\n```\n",
        "\n```ts\na;\n```\n\n\n```ts\nb;\n```\n\n\n",
        "```ts\na;\n```\n```ts\n\n  b;\n\n```\nend\n",
        "````ts\na;\n```\nb;\n````\n",
        "```ts\na;\n",
        "```ts\n```\n",
        "text\n\n\n```ts\na;\n```\n- one\n- two\n",
    ],
)
def test_a_document_with_fenced_code_is_read_without_losing_a_byte(text):
    """Also if fences follow each other, begin or end the document, or are not closed."""
    for other in (text, text.replace("a;", "a(1);"), text.replace("b;", "b; c;")):
        versions = [each.encode() for each in (text, text, other)]
        trees = read_versions("a.md", versions)
        assert [render(tree)[1:] + b"\n" for tree in trees] == versions


def test_a_side_may_also_add_a_fence():
    """The conflict is merged on its own, since it is not known which fence is which."""
    more = "```ts\na;\n```\n"
    ours, theirs = field(TEXT, "one: number;"), field(TEXT, "two: string;")
    assert merge(TEXT, ours + more, theirs) == merge(TEXT, ours, theirs) + more
    assert merge(TEXT, ours + more, field(TEXT, "one: string;")) is None


def test_a_reason_has_the_line_of_the_document():
    """The judge's, too."""
    ours, theirs = field(TEXT, "one: number;"), field(TEXT, "one: string;")
    tree, *sides = (
        ce.Snapshot.from_files({"a.md": each.encode()}) for each in (TEXT, ours, theirs)
    )
    changes = [ce.Changes.between(tree, side) for side in sides]
    rows = [row for row in ce.merge(tree, *changes, strategy="structured").ledger if row.is_open]
    assert all("line 7" in row.reason for row in rows)
