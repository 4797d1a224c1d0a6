"""Arranges what both sides insert at one place: its order, its layout, and repeated blocks."""

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum

from attrs import evolve

from cooperbench_eval.languages.sequences import weave_text
from cooperbench_eval.languages.tree import (
    Construct,
    DisagreementError,
    Element,
    Elements,
    excerpt,
)

_LEAVING = frozenset({"return", "raise", "break", "continue"})
_LAST_CLAUSES = {b"except": 1, b"case _": 1, b"default": 1, b"else": 2, b"finally": 3}
_SLASH, _REQUIRED, _DEFAULTED, _STAR, _KEYWORD, _STARS = range(6)
_POSITIONAL = frozenset({_SLASH, _REQUIRED, _DEFAULTED})
_Ranked = tuple[int, Element]


class Leaving(IntEnum):
    """Whether some statements transfer control out of their suite."""

    NEVER = 0
    MAYBE = 1
    ALWAYS = 2


def may_leave(element: Element) -> bool:
    """Whether a statement may transfer control out of its suite."""
    if element.kind in {"def", "class"}:
        return False
    return element.kind in _LEAVING or any(map(may_leave, element.children))


def find_leaving(statements: Elements) -> Leaving:
    """Return whether some statements may or must transfer control out of their suite."""
    if statements and statements[-1].kind in _LEAVING:
        return Leaving.ALWAYS
    return Leaving.MAYBE if any(map(may_leave, statements)) else Leaving.NEVER


def order_sides(first: Elements, second: Elements) -> tuple[Elements, Elements]:
    """Return the insertions of both sides in the order that their cases or fields require.

    Raises:
        DisagreementError: No order is allowed.
    """
    there = {each.plain for each in first}
    new = tuple(each for each in second if each.plain not in there)
    if any(each.kind == "case" for each in (*first, *new)):
        is_swapped = _needs_case_order(first, new)
    else:
        is_swapped = _needs_field_order(first, new)
    return (second, first) if is_swapped else (first, second)


def ranks(kind: str, before: Elements, insertion: Elements) -> list[int]:
    """Return how late each element of an insertion must come.

    Clauses such as `else` come last. Parameters and arguments get the order that the
    language requires.

    Args:
        kind: The kind of construct that has the insertion.
        before: What precedes it in the construct.
        insertion: The insertion.
    """
    return RANKS.get(kind, _clause_ranks)(before, insertion)


def _needs_case_order(first: Elements, second: Elements) -> bool:
    """Whether the first of the cases that both sides insert into a `switch` must come last.

    Each side's cases stay together, since one of them may fall through into the next. A side
    whose last case falls through, or which has `default`, comes last.

    Raises:
        DisagreementError: Both sides' cases would have to come last.
    """
    is_last = [
        bool(cases) and (_falls_through(cases) or any(each.key == b"default" for each in cases))
        for cases in (first, second)
    ]
    if all(is_last):
        raise DisagreementError.at(*first, *second)
    return is_last[0]


def _needs_field_order(first: Elements, second: Elements) -> bool:
    """Whether the second of two insertions has the fields without values, which come first.

    Raises:
        DisagreementError: Both sides insert fields of both sorts.
    """
    given, other = _fields(first), _fields(second)
    if True not in given or False not in other:
        return False
    if False in given and True in other:
        raise DisagreementError.at(*first, *second)
    return True


def _fields(statements: Elements) -> list[bool]:
    """Return for each annotated variable whether it is given a value."""
    given = (each for each in statements if each.kind == "assignment")
    words = ([child.plain for child in each.children] for each in given)
    annotated = (each for each in words if each[1:2] == [b":"] and each[-1] != b";")
    return [b"=" in each for each in annotated]


def _falls_through(cases: Elements) -> bool:
    """Whether what follows some cases may be executed after the last of them."""
    last: Element | None = next((each for each in reversed(cases) if each.kind == "case"), None)
    while last is not None:
        if last.kind in _LEAVING:
            return False
        inner = [each for each in last.children if isinstance(each, Construct)]
        last = inner[-1] if inner and last.kind in {"case", "suite", "expression"} else None
    return True


def _clause_ranks(_before: Elements, clauses: Elements) -> list[int]:
    """Rank clauses; a comment has the rank of the clause after it."""
    ranks: list[int] = []
    following = 0
    for each in reversed(clauses):
        if isinstance(each, Construct):
            following = _LAST_CLAUSES.get(each.key, 0)
        ranks.append(following)
    return ranks[::-1]


def _argument_ranks(_before: Elements, arguments: Elements) -> list[int]:
    """Rank keyword arguments after positional ones; items of a dict all rank alike."""
    words = [[child.plain for child in each.children[:2]] for each in arguments]
    if any(each[1:] == [b":"] for each in words):
        return [1] * len(words)
    return [int(each[:1] == [b"**"] or each[1:] == [b"="]) for each in words]


def has_positional(arguments: Sequence[Element]) -> bool:
    """Whether one of some arguments is positional."""
    return 0 in _argument_ranks((), tuple(arguments))


def _parameter_ranks(before: Elements, parameters: Elements) -> list[int]:
    signs = [_sign(each) for each in parameters]
    slash = signs.index(b"/") if b"/" in signs else -1
    is_keyword = any(_sign(each) == b"*" for each in before)
    ranks = []
    for i, (sign, each) in enumerate(zip(signs, parameters, strict=True)):
        if sign == b"**":
            ranks.append(_STARS)
        elif sign == b"*":
            ranks.append(_STAR)
            is_keyword = True
        elif is_keyword:
            ranks.append(_KEYWORD)
        elif i <= slash:
            ranks.append(_SLASH)
        else:
            has_default = any(child.plain == b"=" for child in each.children)
            ranks.append(_DEFAULTED if has_default else _REQUIRED)
    return ranks


def _sign(parameter: Element) -> bytes:
    return parameter.children[0].plain if isinstance(parameter, Construct) else parameter.plain


def check_parameters(first: Sequence[_Ranked], second: Sequence[_Ranked]) -> None:
    """Refuse a second `*` or `**`, and positional parameters combined with `*args`."""
    ranks = [rank for rank, _ in (*first, *second)]
    is_double = any(ranks.count(only) > 1 for only in (_STAR, _STARS))
    for one, other in ((first, second), (second, first)):
        takes_any = any(rank == _STAR and len(each.children) > 1 for rank, each in one)
        if is_double or (takes_any and any(rank in _POSITIONAL for rank, _ in other)):
            raise DisagreementError.at(*(each for _, each in (*first, *second)))


RANKS = {"parameters": _parameter_ranks, "arguments": _argument_ranks}


_DEFINITIONS = frozenset({"def", "class"})


def spaced(
    before: Elements, first: Elements, second: Elements, following: Element | None, kind: str
) -> Elements:
    """Put as many empty lines between two inserted definitions as there are around them."""
    if not first or not second:
        return second
    head, *rest = second
    is_clause = kind not in {"file", "suite"}
    if is_clause and following is not None:
        space = min(head.space, following.space, key=len)
    elif not {first[-1].kind, head.kind} & _DEFINITIONS:
        return second
    elif following is None or following.kind == "end":
        newline = b"\r\n" if any(b"\r\n" in each.source for each in second) else b"\n"
        space = first[0].space if before else newline * (3 if kind == "file" else 2)
    else:
        space = following.space
    if not is_clause and head.space.count(b"\n") >= space.count(b"\n"):
        return second
    return (head.with_space(space), *rest)


def spread(items: Elements, base: Construct, ours: Construct, theirs: Construct) -> Elements:
    """Format a list like the side that changed its layout."""
    before, mine, other = (_is_ended(each.children) for each in (base, ours, theirs))
    is_ended = other if mine == before else mine
    layout = next((each for each in (ours, theirs) if _is_spread(each.children)), None)
    out = list(items)
    for i, item in enumerate(items):
        if layout and isinstance(item, Construct) and b"\n" not in item.space:
            out[i] = item.with_space(layout.children[0].space)
    firsts = [each.children[0] for each in (ours, theirs) if each.children]
    heads = {*map(id, firsts)}
    is_padded = bool(firsts) and all(each.space == b" " for each in firsts)
    for i, item in enumerate(out):
        if not isinstance(item, Construct):
            continue
        if i and not item.space and id(item) in heads:
            out[i] = item.with_space(b" ")
        elif not i and item.space == b" " and not is_padded and id(item) not in heads:
            out[i] = item.with_space(b"")
    if out and isinstance(last := out[-1], Construct):
        comma = (last.comma or b"") if is_ended else None
        out[-1] = evolve(last, comma=comma)
    return tuple(out)


def _is_ended(items: Elements) -> bool:
    """Whether the last item of a list has a comma after it."""
    return bool(items) and isinstance(items[-1], Construct) and items[-1].comma is not None


def _is_spread(items: Elements) -> bool:
    """Whether each item of a list begins a line."""
    return bool(items) and all(b"\n" in item.space for item in items)


_ITEMS = frozenset({b"-", b"*", b"+", b"|"})


def join_blocks(first: Elements, second: Elements, following: Element) -> Elements:
    """Return both insertions; the blocks with which both begin, such as a heading, occur once.

    If the others are list items, table rows, or only sentences, all that both have occur once.

    Args:
        first: The blocks that come first.
        second: The other side's blocks.
        following: The block after the first ones in their version, or the end.

    Raises:
        DisagreementError: Both have the same items in another order.
    """
    is_text = all(map(_is_sentence, (*first, *second)))
    runs = weave_text(first, second, lambda each: each.plain, _is_sentence if is_text else _is_item)
    if runs is None:
        shown = excerpt(*first)
        raise DisagreementError(f"both sides insert the same things in different orders: {shown!r}")
    out = [each for run in runs for each in (*run.first, *run.second, *(run.shared or ())[:1])]
    start = next((i for i, run in enumerate(runs) if run.first or run.second), len(runs))
    left, added = first[start:], second[start:]
    heads = {id(each[0]) for each in (left, added) if each}
    for i, each in enumerate(out[1:], 1):
        if i > start and id(each) in heads:
            if start and all(map(_is_item, (*left[:1], *added[:1]))):
                out[i] = each.with_space(b"\n" + each.space.rpartition(b"\n")[2])
            elif following.kind != "end":
                out[i] = each.with_space(min(each.space, following.space, key=len))
    return tuple(out)


def _is_item(block: Element) -> bool:
    """Whether it is an item of a list, or a row of a table with a word in it."""
    words = block.words()
    return words[0] in _ITEMS and any(word.isalnum() for word in words)


def _is_sentence(block: Element) -> bool:
    """Whether it is a paragraph of several words that ends like a sentence."""
    words = block.words()
    return len(words) > 2 and words[0][:1].isalpha() and words[-1] in _STOPS  # noqa: PLR2004


_STOPS = frozenset({b".", b"!", b"?"})


def check_repeated(base: Construct, ours: Construct, theirs: Construct, merged: Elements) -> None:
    """Refuse a document that repeats text which both sides moved.

    Both may split a paragraph by an item: the text after it is then a part of both insertions.

    Raises:
        DisagreementError: A word occurs more often than the changes explain.
    """
    before, mine, other = (Counter(version.words()) for version in (base, ours, theirs))
    for word, count in Counter(word for each in merged for word in each.words()).items():
        added = mine[word] + other[word] - before[word]
        if count > max(mine[word], other[word], added):
            shown = word.decode("utf-8", "replace")
            raise DisagreementError(f"{shown!r} would occur more often than the changes explain")
