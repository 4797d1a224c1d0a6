"""Trees keep every byte, and constructs may move into other suites."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperbench_eval.languages.tree import (
    Construct,
    DisagreementError,
    Mode,
    StructureError,
    Token,
    indented,
    render,
    same,
)


def node(*words, mode=Mode.SEQUENCE, **options):
    """Make a construct of words, each with a space before it."""
    children = tuple(Token(b" ", word) if isinstance(word, bytes) else word for word in words)
    return Construct(kind="k", mode=mode, children=children, **options)


def test_constructs_that_differ_only_in_white_space_are_the_same():
    """The words count, and not how they are laid out."""
    one, other = (
        node(b"a", b"b"),
        Construct(kind="k", children=(Token(b"\n", b"a"), Token(b"", b"b"))),
    )

    assert same(one, other)
    assert one.source != other.source
    assert not same(node(b"a", b"b"), node(b"ab"))


def test_nesting_makes_a_difference_in_suites():
    """A statement in a suite differs from the same statement after the suite."""
    one = node(node(b"a", mode=Mode.MEMBERS), b"b", mode=Mode.MEMBERS)
    other = node(node(b"a", b"b", mode=Mode.MEMBERS), mode=Mode.MEMBERS)

    assert not same(one, other)
    assert one.words() == other.words() == [b"a", b"b"]


def test_a_list_is_written_with_separators():
    """Between two items there is one even if the first has none of its own."""
    items = (node(b"a"), node(b"b", comma=b" ", tail=(Token(b" ", b"# c", "comment"),)))

    assert render(node(*items, mode=Mode.LIST)) == b" a, b , # c"


def test_a_construct_is_written_where_it_belongs():
    """Indentation is relative to the suite around, whatever that is."""
    suite = Construct(
        kind="suite",
        mode=Mode.MEMBERS,
        indent=b"  ",
        children=(Token(indented(b"\n\t  ", b"\t  "), b"a"),),
    )

    assert render(suite) == b"\n  a"
    assert render(suite, b"\t") == b"\n\t  a"
    assert render(node(suite, mode=Mode.MEMBERS, indent=b"    ")) == b"\n      a"


def plain_text(element, indent=b""):
    """Write an element token by token."""
    if isinstance(element, Token):
        head, newline, last = element.space.rpartition(b"\n")
        if newline:
            last = last[1:] if last[:1] == b"\0" else indent + last
        return head + newline + last + element.word.replace(b"\n\v", b"\n" + indent)
    out, inner = b"", indent + element.indent
    for i, child in enumerate(element.children):
        out += plain_text(child, inner)
        if element.mode is Mode.LIST and isinstance(child, Construct):
            if child.comma is not None or i < len(element.children) - 1:
                out += (child.comma or b"") + b","
            out += b"".join(plain_text(token, inner) for token in child.tail)
    return out


def trees():
    """Generate trees with white space, docstrings and comments of all kinds."""
    spaces = st.sampled_from([b"", b" ", b"\n", b"\n  ", b"\n\0 ", b"\n\n\t", b"\\\n    "])
    words = st.sampled_from([b"a", b"'''b\n\vc\n d'''", b"# e"])
    tokens = st.builds(Token, spaces, words)
    return st.recursive(
        tokens,
        lambda inner: st.builds(
            Construct,
            kind=st.just("k"),
            mode=st.sampled_from(Mode),
            children=st.lists(inner, max_size=4).map(tuple),
            indent=st.sampled_from([b"", b"  ", b"\t"]),
            comma=st.sampled_from([None, b"", b" "]),
            tail=st.lists(tokens, max_size=1).map(tuple),
        ),
        max_leaves=12,
    )


@given(trees(), st.sampled_from([b"", b"    ", b"\t"]))
def test_a_tree_is_written_as_its_tokens_are(tree, indent):
    """It is the same at any indentation, even after it was written at another one."""
    expected = plain_text(tree, indent)

    assert render(tree, indent) == expected
    assert render(tree) == plain_text(tree)
    assert render(tree, indent) == expected
    assert render(node(tree, tree, indent=b" "), indent) == 2 * plain_text(tree, indent + b" ")


def test_what_is_indented_less_than_its_suite_stays_where_it_is():
    """Such as a comment in column 0."""
    token = Token(indented(b"\n", b"    "), b"# c")

    assert render(token, b"        ") == b"\n# c"


@pytest.mark.parametrize("space", [b" ", b"", b"\\\r\n  ", b"\n\n\t"])
def test_white_space_comes_out_as_it_went_in(space):
    """In the suite that it was read in."""
    for indent in (b"", b" ", b"\t", b"    "):
        assert render(Token(indented(space, indent), b"a"), indent) == space + b"a"


def test_the_space_before_a_construct_is_that_before_its_first_token():
    """However deep it stands; one without children has none."""
    outer = node(node(b"a"), b"b")

    assert (outer.space, outer.with_space(b"\n").space) == (b" ", b"\n")
    assert render(outer.with_space(b"\n")) == b"\na b"
    assert (node().space, node().with_space(b" ")) == (b"", node())


def test_an_error_shows_what_both_sides_changed():
    """In the words of the source, without comments, up to a whole word of the first line."""
    long = [Token(b" ", b"b" * 9) for _ in range(11)]
    note, more = Token(b"\n", b"# note", "comment"), Token(b"\n  ", b"c")
    error = DisagreementError.at(note, node(b"a", b"\xff"), Token(b"", b"("), *long, more)

    assert isinstance(error, StructureError)
    assert str(error) == f"both sides changed {'a �(' + 9 * (' ' + 'b' * 9) + ' …'!r}"
    assert str(DisagreementError.at(node(b"a"), more)) == "both sides changed 'a …'"
    assert str(DisagreementError.at()) == "both sides insert at one place"
