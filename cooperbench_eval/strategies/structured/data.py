"""Merges data files by key: mappings key by key, sequences item by item, scalars whole."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

from attrs import evolve, frozen

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.readers.data import (
    CHECKSUMS,
    DOCUMENT,
    LINES,
    MAPPING,
    NUMBER,
    SEQUENCE,
    TABLE,
    TAG,
    package_name,
)
from cooperbench_eval.languages.readers.yaml import unquoted
from cooperbench_eval.languages.sequences import CLASHING, clashing_options
from cooperbench_eval.languages.tree import (
    DATA,
    BindingError,
    Construct,
    DisagreementError,
    Element,
    Elements,
    Mode,
    StructureError,
    Token,
    excerpt,
    one_line,
    render,
    same,
)
from cooperbench_eval.strategies.structured.one_sided import changed, taken_by_words, taken_whole
from cooperbench_eval.strategies.structured.ordering import spread
from cooperbench_eval.strategies.structured.overlaps import AlignedVersion, find_overlaps

T = TypeVar("T", bound=Element)


@frozen
class DataMerge:
    """Merges versions of a construct of a data file.

    Attributes:
        theirs_first: Whether theirs comes first where both insert at one place.
    """

    theirs_first: bool = False

    def merge_file(self, base: Construct, ours: Construct, theirs: Construct) -> Element:
        """Merge two versions of a file.

        Raises:
            BindingError: One side adds an alias of a value that the other changes.
            DisagreementError: They cannot be combined.
        """
        _check_aliases(base, ours, theirs)
        _check_aliases(base, theirs, ours)
        return self.merge(base, ours, theirs)

    def merge(self, base: Element, ours: Element, theirs: Element) -> Element:
        """Merge two versions of an element.

        Raises:
            DisagreementError: They cannot be combined.
        """
        if (taken := taken_whole(base, ours, theirs)) is not None:
            return taken
        if (
            isinstance(base, Construct)
            and isinstance(ours, Construct)
            and isinstance(theirs, Construct)
            and base.kind == ours.kind == theirs.kind
            and base.mode is ours.mode is theirs.mode
        ):
            return self._merge_constructs(base, ours, theirs)
        if (taken := taken_by_words(base, ours, theirs)) is not None:
            return taken
        raise DisagreementError.at(base if base.plain else ours)

    def _merge_constructs(self, base: Construct, ours: Construct, theirs: Construct) -> Construct:
        rule = {
            MAPPING: self._mapping,
            CHECKSUMS: self._mapping,
            SEQUENCE: self._sequence,
            LINES: self._sequence,
        }.get(base.kind, self._parts)
        children = rule(base, ours, theirs)
        if base.mode is Mode.LIST:
            children = spread(children, base, ours, theirs)
        elif base.mode is Mode.MEMBERS:
            children = _on_lines(children)
        return evolve(
            base,
            children=children,
            key=changed(base.key, ours.key, theirs.key),
            indent=changed(base.indent, ours.indent, theirs.indent),
            comma=changed(base.comma, ours.comma, theirs.comma),
            tail=_one_of(base.tail, ours.tail, theirs.tail),
        )

    def _parts(self, base: Construct, ours: Construct, theirs: Construct) -> Elements:
        """Merge corresponding parts, and the comments around them."""
        (lead, before, tail), mine, other = map(_split, (base, ours, theirs))
        after = mine[1], other[1]
        tags = [[each for each in part if each.kind == TAG] for part in (before, *after)]
        if DOCUMENT in {each.kind for part in after for each in part} and before:
            parts = self._documents(before, *after)
        elif len({tuple(each.plain for each in part) for part in tags}) > 1:
            parts = _one_of(before, *after)  # a tag says what its value means
        elif len(before) <= len(mine[1]) == len(other[1]):
            before += tuple(map(_emptied, mine[1][len(before) :]))
            parts = tuple(map(self.merge, before, *after))
        else:
            parts = _one_of(before, *after)
        return (*_one_of(lead, mine[0], other[0]), *parts, *_one_of(tail, mine[2], other[2]))

    def _documents(self, base: Elements, ours: Elements, theirs: Elements) -> Elements:
        """Merge the documents of a file one by one; new ones are appended."""
        if len(ours) == len(theirs) == len(base):
            return tuple(map(self.merge, base, ours, theirs))
        old = len(base)
        mine, other = ours[old:], theirs[old:]
        taken = [taken_by_words(*each) for each in zip(base, ours, theirs, strict=False)]
        named = {_identity(each): each for each in mine}
        clashing = [
            each
            for each in other
            if (there := named.get(_identity(each))) is not None and not same(there, each)
        ]
        if clashing:
            raise DisagreementError("both sides insert a document with the same name")
        if len(taken) < old or None in taken:
            raise DisagreementError.at(*base)
        own = [each for each in other if _identity(each) not in named]
        first, second = (own, mine) if self.theirs_first else (mine, own)
        return (*(each for each in taken if each is not None), *first, *second)

    def _mapping(self, base: Construct, ours: Construct, theirs: Construct) -> Elements:
        old, mine, other = map(_by_key, (base, ours, theirs))
        merged: dict[bytes, Element] = {}
        for key in {**mine, **other}:
            versions = old.get(key), mine.get(key), other.get(key)
            try:
                found = self._entry(*versions, keeps=base.kind == CHECKSUMS)
            except DisagreementError as exc:
                exc.keys = (key.decode("utf-8", "replace"), *exc.keys)
                found_in = ((each,) if each else () for each in versions)
                exc.between(*found_in)
                raise
            if found is not None:
                merged[key] = found
        # Checksums that a side removed are kept, in their places.
        before = [] if base.kind == CHECKSUMS else list(old)
        order = _order(before, list(mine), list(other), theirs_first=self.theirs_first)
        children = [merged[key] for key in order if key in merged]
        return tuple(sorted(children, key=lambda each: each.kind == TABLE))

    def _entry(
        self, base: Element | None, ours: Element | None, theirs: Element | None, *, keeps: bool
    ) -> Element | None:
        """Merge an entry that a version may lack; return `None` if a side removed it."""
        if ours is not None and theirs is not None:
            return self.merge(_emptied(ours) if base is None else base, ours, theirs)
        left = ours if theirs is None else theirs
        if base is None or left is None or keeps:
            return left
        if same(base, left):
            return None
        raise DisagreementError.at(base)

    def _sequence(self, base: Construct, ours: Construct, theirs: Construct) -> Elements:
        old = base.children
        mine, other = (
            AlignedVersion.of(old, each.children, Mode.MEMBERS) for each in (ours, theirs)
        )
        out: list[Element] = []
        at = 0
        is_sorted = base.kind == SEQUENCE and all(
            list(items) == sorted(items, key=_words) for items in (mine.children, other.children)
        )
        has_places = not is_sorted and not any(map(_is_named, old))
        is_joined = base.kind == LINES or _is_numeric(old) or has_places
        for overlap in find_overlaps(mine, other, joins_adjacent=is_joined):
            start, end = overlap.start, overlap.end
            out += self._kept(old, mine, other, range(at, start))
            sides = (
                mine.between(start, end, overlap.ours),
                other.between(start, end, overlap.theirs),
            )
            try:
                found = self._changed_items(old[start:end], *sides, is_text=base.kind == LINES)
            except DisagreementError as exc:
                exc.between(old[start:end], *sides)
                raise
            out += sorted(found, key=_words) if is_sorted else found
            at = end
        out += self._kept(old, mine, other, range(at, len(old)))
        return tuple(out)

    def _kept(
        self, base: Elements, ours: AlignedVersion, theirs: AlignedVersion, span: range
    ) -> Iterator[Element]:
        for i in span:
            mine, other = ours.at(i), theirs.at(i)
            if mine is not None and other is not None:
                try:
                    yield self.merge(base[i], mine, other)
                except DisagreementError as exc:
                    exc.between((base[i],), (mine,), (other,))
                    raise

    def _changed_items(
        self, base: Elements, ours: Elements, theirs: Elements, *, is_text: bool
    ) -> Elements:
        before, mine, other = ([each.plain for each in side] for side in (base, ours, theirs))
        if mine in (other, before):
            return theirs
        if other == before:
            return ours
        if base or is_text:
            raise DisagreementError.at(*(base if any(before) else ours))
        first, second = (theirs, ours) if self.theirs_first else (ours, theirs)
        words = {_bare(each): each for each in first}
        names = {*map(_item_name, first)} - {b""}
        new = [each for each in second if _bare(each) not in words]
        for each in second:
            same_item = words.get(_bare(each), each)
            if each.plain != same_item.plain or (same_item is each and _item_name(each) in names):
                raise DisagreementError(f"both sides insert their own version of {excerpt(each)!r}")
        mine, other = (list(map(_argument, side)) for side in (ours, theirs))
        for clash in clashing_options(mine, other):
            raise DisagreementError(CLASHING % tuple(map(one_line, clash)))
        return (*first, *new)


def is_merge_by_key(path: str, versions: Sequence[bytes], merged: bytes) -> bool:
    """Whether a text has the same entries and items as a merge by key, in any order of keys."""
    texts = _merges(path, tuple(map(_closed, versions)))
    try:
        return any(
            len({*map(_content, read_versions(path, [text, _closed(merged)]))}) == 1
            for text in texts
        )
    except StructureError:
        return False


def why_unread(path: str, versions: Sequence[bytes]) -> str:
    """Return why versions of a data file cannot be merged by key; empty if they can be read."""
    try:
        read_versions(path, tuple(map(_closed, versions)))
    except StructureError as exc:
        return str(exc)
    return ""


@lru_cache(maxsize=4)
def _merges(path: str, versions: Sequence[bytes]) -> Sequence[bytes]:
    """Return the merges by key, with theirs after and before ours; none if they are refused."""
    try:
        trees = read_versions(path, versions)
        merged = [DataMerge(first).merge_file(*trees) for first in (False, True)]
    except StructureError:
        return ()
    return [render(each)[1:] + b"\n" for each in merged]


def _closed(version: bytes) -> bytes:
    return version.replace(b"\r\n", b"\n").removesuffix(b"\n") + b"\n"


def _content(element: Element) -> object:
    """Return the values of an element, without comments and the order of keys."""
    if isinstance(element, Token):
        return element.plain
    inside = [_content(each) for each in element.children if each.kind != "comment"]
    return frozenset(inside) if element.kind in {MAPPING, CHECKSUMS} else tuple(inside)


def _by_key(mapping: Construct) -> dict[bytes, Element]:
    found = {each.key: each for each in mapping.children}
    if len(found) < len(mapping.children):
        raise StructureError("a version repeats a key")
    return found


def _order(
    base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes], *, theirs_first: bool
) -> list[bytes]:
    """Return the keys of both sides in an order that both allow.

    Raises:
        DisagreementError: Both sides put keys that they share into another order.
    """
    shared = {*ours} & {*theirs}
    before, mine, other = ([key for key in keys if key in shared] for keys in (base, ours, theirs))
    moved = [[key for key in side if key in before] != before for side in (mine, other)]
    if all(moved) and mine != other:
        raise DisagreementError("both sides put the same keys into different orders")
    lead, follower = (theirs, ours) if moved[1] else (ours, theirs)
    is_sorted = all(list(side) == sorted(side) for side in (ours, theirs))
    goes_first = theirs_first is (lead is ours)
    own = {*lead} - {*follower} - {*base}
    out, there = list(lead), {*lead}
    at = next((out.index(key) for key in follower if key in there), 0)
    for key in follower:
        if key in there:
            at = out.index(key) + 1
            continue
        while at < len(out) and out[at] in own and (out[at] < key if is_sorted else not goes_first):
            at += 1
        out.insert(at, key)
        at += 1
    return out


def _identity(document: Element) -> bytes:
    """Return what identifies a document: its kind, metadata, name and id, or all of it."""
    mapping = next((each for each in document.children if each.kind == MAPPING), document)
    entries = {each.key: each.plain for each in mapping.children}
    keys = (b"kind", b"metadata", b"name", b"id")
    return b" ".join(entries[key] for key in keys if key in entries) or document.plain


def _split(construct: Construct) -> tuple[Elements, Elements, Elements]:
    """Separate the comments at both ends of a construct's children."""
    children = construct.children
    end = len(children) - (construct.kind == DATA)
    start = 0
    while start < end and children[start].kind == "comment":
        start += 1
    stop = end
    while stop > start and children[stop - 1].kind == "comment":
        stop -= 1
    return children[:start], children[start:stop], children[stop:]


def _bare(element: Element) -> tuple[bytes, ...]:
    """Return the words of an item without the comments around it."""
    if isinstance(element, Token):
        return (element.plain,)
    return tuple(each.plain for each in _split(element)[1])


def _emptied(element: Element) -> Element:
    """Return an empty base for what both sides added, so that only mappings are merged."""
    if isinstance(element, Token):
        return element._replace(word=b"")
    if element.kind == MAPPING:
        return evolve(element, children=())
    if element.kind in {SEQUENCE, LINES}:
        return evolve(element, children=(Token(b"", b""),))
    return evolve(element, children=tuple(map(_emptied, element.children)))


def _one_of(base: Sequence[T], ours: Sequence[T], theirs: Sequence[T]) -> tuple[T, ...]:
    """Return the elements that one side changed.

    Raises:
        DisagreementError: Both sides changed them differently.
    """
    before, mine, other = ([each.plain for each in side] for side in (base, ours, theirs))
    if other == before:
        return tuple(ours)
    if mine not in (before, other):
        raise DisagreementError.at(*(base or ours))
    return tuple(theirs)


def _on_lines(members: Elements) -> Elements:
    """Begin a line with each member but the first."""
    return tuple(
        each if not i or b"\n" in each.space else each.with_space(b"\n")
        for i, each in enumerate(members)
    )


def _words(element: Element) -> bytes:
    return element.plain


def _item_name(item: Element) -> bytes:
    """Return the name of an item; a single word counts as the name of a package."""
    words = [] if item.key else [word for word in item.words() if word != b"-"]
    return item.key or (package_name(unquoted(words[0])) if len(words) == 1 else b"")


def _argument(item: Element) -> bytes:
    """Return an item of one word; empty for others."""
    words = [word for word in item.words() if word != b"-"]
    return words[0] if len(words) == 1 else b""


def _is_named(item: Element) -> bool:
    """Whether an item is known by a name, or is not a scalar."""
    return bool(item.key) or any(isinstance(each, Construct) for each in item.children)


def _is_numeric(items: Elements) -> bool:
    """Whether all items are numbers, which may mean something by their places."""
    words = [word for each in items for word in each.words() if word != b"-"]
    return bool(words) and all(map(NUMBER.fullmatch, words))


def _check_aliases(base: Construct, side: Construct, other: Construct) -> None:
    """Refuse new aliases of an anchor whose value the other side changes.

    Raises:
        BindingError: There are such aliases.
    """
    if not (old := dict(_anchored(base))):
        return
    new = dict(_anchored(side))
    before, after = _aliases(base), _aliases(other)
    for name, words in old.items():
        if new.get(name) != words and after[b"*" + name] > before[b"*" + name]:
            shown = "&" + name.decode("utf-8", "replace")
            raise BindingError(
                f"one side changes the value of {shown!r}, the other adds an alias of it"
            )


def _anchored(tree: Construct) -> Iterator[tuple[bytes, tuple[bytes, ...]]]:
    for each in tree.walk():
        for i, child in enumerate(each.children):
            if child.kind == "anchor":
                yield child.plain[1:], tuple(part.plain for part in each.children[i + 1 :])


def _aliases(tree: Construct) -> Counter[bytes]:
    tokens = (child for each in tree.walk() for child in each.children)
    return Counter(child.plain for child in tokens if child.kind == "alias")
