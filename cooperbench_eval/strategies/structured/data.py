"""Merges data files by key: mappings key by key, sequences item by item, scalars whole."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

from attrs import evolve, frozen

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.readers.data import (
    CHECKSUMS,
    DOCUMENT,
    LINES,
    MAPPING,
    SEQUENCE,
    TABLE,
    TAG,
)
from cooperbench_eval.languages.sequences import weave
from cooperbench_eval.languages.tree import (
    BindingError,
    Construct,
    DisagreementError,
    Element,
    Elements,
    Mode,
    StructureError,
    Token,
    render,
    same,
)
from cooperbench_eval.strategies.structured.data_values import (
    bare_words,
    check_raised,
    check_renamed,
    check_revision,
    check_versions,
    has_edits,
    has_place,
    letters,
    split_comments,
    words_of,
)
from cooperbench_eval.strategies.structured.one_sided import changed, taken_whole
from cooperbench_eval.strategies.structured.ordering import spread
from cooperbench_eval.strategies.structured.overlaps import AlignedVersion, Overlap, find_overlaps


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
        # An entry that is now the first one may have been after an empty line.
        space = changed(base.space, ours.space, theirs.space)
        return self.merge(base, ours, theirs).with_space(space)

    def merge(self, base: Element, ours: Element, theirs: Element) -> Element:
        """Merge two versions of an element.

        Raises:
            DisagreementError: They cannot be combined.
        """
        if (taken := taken_whole(base, ours, theirs)) is not None:
            return taken
        if LINES in {base.kind, ours.kind} or isinstance(base, Token):
            before, mine, other = map(words_of, (base, ours, theirs))
            if has_edits(before, mine, other):
                return ours
            if has_edits(before, other, mine):
                return theirs
        if (
            isinstance(base, Construct)
            and isinstance(ours, Construct)
            and isinstance(theirs, Construct)
            and base.kind == ours.kind == theirs.kind
            and base.mode is ours.mode is theirs.mode
        ):
            try:
                return self._merge_constructs(base, ours, theirs)
            except DisagreementError as exc:
                exc.between((base,) if any(base.words()) else (), (ours,), (theirs,))
                raise
        raise DisagreementError.at(base if base.plain else ours)

    def _merge_constructs(self, base: Construct, ours: Construct, theirs: Construct) -> Construct:
        rule = {
            MAPPING: self._mapping,
            CHECKSUMS: self._mapping,
            SEQUENCE: self._sequence,
            LINES: self._sequence,
        }.get(base.kind, self._parts)
        children = rule(base, ours, theirs)
        if base.kind in {MAPPING, SEQUENCE}:
            children = _explained_once(children, (base, ours, theirs))
        if base.mode is Mode.LIST:
            children = spread(children, base, ours, theirs)
        elif base.mode is Mode.MEMBERS:
            children = _on_lines(children)
        tail = self._changed_items(base.tail, ours.tail, theirs.tail, is_fixed=True)
        return evolve(
            base,
            children=children,
            key=changed(base.key, ours.key, theirs.key),
            indent=changed(base.indent, ours.indent, theirs.indent),
            comma=changed(base.comma, ours.comma, theirs.comma),
            tail=tuple(each for each in tail if isinstance(each, Token)),
        )

    def _parts(self, base: Construct, ours: Construct, theirs: Construct) -> Elements:
        """Merge corresponding parts, and the comments around them."""
        (lead, before, tail), mine, other = map(split_comments, (base, ours, theirs))
        after = mine[1], other[1]
        tags = [[each for each in part if each.kind == TAG] for part in (before, *after)]
        if DOCUMENT in {each.kind for part in after for each in part} and before:
            parts = self._documents(before, *after)
        elif len({tuple(each.plain for each in part) for part in tags}) > 1:
            # A tag changes the meaning of its value.
            parts = self._changed_items(before, *after, is_fixed=True)
        elif len(before) <= len(mine[1]) == len(other[1]):
            before += tuple(map(_emptied, mine[1][len(before) :]))
            parts = tuple(map(self.merge, before, *after))
        else:
            parts = self._changed_items(before, *after, is_fixed=True)
        return (
            *self._changed_items(lead, mine[0], other[0]),
            *parts,
            *self._changed_items(tail, mine[2], other[2]),
        )

    def _documents(self, base: Elements, ours: Elements, theirs: Elements) -> Elements:
        """Merge the documents of a file in order, or by name if a side adds or removes some."""
        if len(ours) == len(theirs) == len(base):
            return tuple(map(self.merge, base, ours, theirs))
        return self._sequence(*map(_named_documents, (base, ours, theirs)))

    def _mapping(self, base: Construct, ours: Construct, theirs: Construct) -> Elements:
        old, mine, other = map(_by_key, (base, ours, theirs))
        if base.kind == MAPPING:
            check_renamed(old, mine, other)
        check_revision(old, mine, other)
        check_raised(old, mine, other)
        is_part = mine.keys() <= other.keys() or other.keys() <= mine.keys()
        is_replaced = bool(old) and old.keys().isdisjoint({*mine, *other}) and not is_part
        if is_replaced and base.kind == MAPPING:
            raise DisagreementError.at(base)
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
        # Checksums that a side removed are kept in place.
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
        has_places = base.kind == LINES or any(map(has_place, old))
        overlaps = find_overlaps(mine, other, joins_adjacent=has_places)
        for start, end, *edits in (*overlaps, Overlap(len(old), len(old), [], [])):
            for i in range(at, start):
                one, two = mine.at(i), other.at(i)
                if one is not None and two is not None:
                    out.append(self.merge(old[i], one, two))
            at = end
            sides = mine.between(start, end, edits[0]), other.between(start, end, edits[1])
            is_fixed = base.kind == LINES or (has_places and start < end)
            try:
                found = self._changed_items(old[start:end], *sides, is_fixed=is_fixed)
            except DisagreementError as exc:
                exc.between(old[start:end], *sides)
                raise
            before, after = old[max(start - 1, 0) : start], old[end : end + 1]
            is_sorted = all(
                _is_ordered([letters(each) for each in (*before, *side, *after)]) for side in sides
            )
            out += sorted(found, key=letters) if is_sorted else found
        return tuple(out)

    def _changed_items(
        self, base: Elements, ours: Elements, theirs: Elements, *, is_fixed: bool = False
    ) -> Elements:
        """Combine two versions of some items; what one side removes is removed.

        Where a side removes items, both sides may add some only if one side's new items
        include all of the other's.
        """
        before, mine, other = (list(map(words_of, side)) for side in (base, ours, theirs))
        if mine in (other, before):
            return theirs
        if other == before:
            return ours
        before, mine, other = (list(map(bare_words, side)) for side in (base, ours, theirs))
        gone = {*before}.difference(mine), {*before}.difference(other)
        new = {*mine}.difference(before), {*other}.difference(before)
        is_repeated = any(len({*side}) < len(side) for side in (before, mine, other))
        is_part = new[0] == new[1] or (all(new) and (new[0] < new[1] or new[1] < new[0]))
        is_replaced = bool(gone[0] & gone[1]) or (any(gone) and all(new))
        if is_fixed or (base and is_repeated) or (is_replaced and not is_part):
            raise DisagreementError.at(*(base if any(each.plain for each in base) else ours))
        sides = (
            [each for each in ours if bare_words(each) not in gone[1]],
            [each for each in theirs if bare_words(each) not in gone[0]],
        )
        added = (
            [each for each in side if bare_words(each) in there]
            for side, there in zip(sides, new, strict=True)
        )
        check_versions(*added)
        first, second = reversed(sides) if self.theirs_first else sides
        runs = weave(first, second, lambda each: b"\n".join(bare_words(each)))
        if runs is None:
            raise DisagreementError("both sides insert the same items in different orders")
        known = {bare_words(each): each for each in base}
        out: list[Element] = []
        for run in runs:
            out += (*run.first, *run.second)
            if run.shared:
                kept = known.get(bare_words(run.shared[0]))
                out.append(self.merge(kept, *run.shared) if kept else run.shared[0])
        return tuple(out)


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
    """Return why versions of a data file cannot be read; empty if they can."""
    try:
        read_versions(path, tuple(map(_closed, versions)))
    except StructureError as exc:
        return str(exc)
    return ""


@lru_cache(maxsize=4)
def _merges(path: str, versions: Sequence[bytes]) -> Sequence[bytes]:
    """Return the merges by key, with ours and with theirs first; none if they are refused."""
    try:
        trees = read_versions(path, versions)
        merged = [DataMerge(first).merge_file(*trees) for first in (False, True)]
    except StructureError:
        return ()
    return [render(each)[1:] + b"\n" for each in merged]


def _closed(version: bytes) -> bytes:
    return version.replace(b"\r\n", b"\n").removesuffix(b"\n") + b"\n"


def _content(element: Element) -> object:
    """Return the values of an element, without comments, and keys in any order."""
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
        DisagreementError: Both sides put shared keys into new orders that differ.
    """
    shared = {*ours} & {*theirs}
    before, mine, other = ([key for key in keys if key in shared] for keys in (base, ours, theirs))
    moved = [[key for key in side if key in before] != before for side in (mine, other)]
    if all(moved) and mine != other:
        raise DisagreementError("both sides put the same keys into different orders")
    lead, follower = (theirs, ours) if moved[1] else (ours, theirs)
    out: list[bytes] = []
    for first, second, both in weave(lead, follower, bytes, lambda _: True) or ():
        after = both[:1] if both else ()
        is_sorted = all(_is_ordered((*out[-1:], *own, *after)) for own in (first, second))
        own = (*first, *second) if theirs_first is (lead is theirs) else (*second, *first)
        out += (*(sorted(own) if is_sorted else own), *after)
    return out


def _is_ordered(words: Sequence[bytes]) -> bool:
    """Whether there are several words, in alphabetical order."""
    return len(words) > 1 and all(words) and list(words) == sorted(words)


def _named_documents(documents: Elements) -> Construct:
    """Name documents by their kind, metadata, name and id, or by their whole text."""
    named = []
    for each in documents:
        mapping = next((part for part in each.children if part.kind == MAPPING), each)
        entries = {entry.key: entry.plain for entry in mapping.children}
        known = [entries[key] for key in (b"kind", b"metadata", b"name", b"id") if key in entries]
        name = b" ".join(known) or each.plain
        named.append(evolve(each, key=name) if isinstance(each, Construct) else each)
    return Construct(kind=SEQUENCE, mode=Mode.MEMBERS, children=tuple(named))


def _emptied(element: Element) -> Element:
    """Return an empty base for what both sides added; only mappings can be merged with it."""
    if isinstance(element, Token):
        return element._replace(word=b"")
    if element.kind == MAPPING:
        return evolve(element, children=())
    if element.kind in {SEQUENCE, LINES}:
        return evolve(element, children=(Token(b"", b""),))
    return evolve(element, children=tuple(map(_emptied, element.children)))


def _explained_once(members: Elements, versions: Sequence[Construct]) -> Elements:
    """Leave out the comments before a member if more members have them than the sides add."""
    before, mine, other = (Counter(map(_comments, each.children)) for each in versions)
    left = before + (mine - before) + (other - before)
    out: list[Element] = []
    for each in members:
        comments = _comments(each)
        left[comments] -= 1
        if isinstance(each, Construct) and comments and left[comments] < 0:
            without = evolve(each, children=each.children[len(comments) :])
            out.append(without.with_space(each.space))
        else:
            out.append(each)
    return tuple(out)


def _comments(member: Element) -> tuple[bytes, ...]:
    return tuple(e.plain for e in takewhile(lambda e: e.kind == "comment", member.children))


def _on_lines(members: Elements) -> Elements:
    """Begin a line with each member but the first."""
    return tuple(
        each if not i or b"\n" in each.space else each.with_space(b"\n")
        for i, each in enumerate(members)
    )


def _check_aliases(base: Construct, side: Construct, other: Construct) -> None:
    """Refuse new aliases of an anchor whose value the other side changes.

    Raises:
        BindingError: There are such aliases.
    """
    old, new = (
        {
            part.plain[1:]: tuple(map(words_of, each.children[i + 1 :]))
            for each in tree.walk()
            for i, part in enumerate(each.children)
            if part.kind == "anchor"
        }
        for tree in (base, side)
    )
    before, after = (
        Counter(
            part.plain[1:] for each in tree.walk() for part in each.children if part.kind == "alias"
        )
        for tree in (base, other)
    )
    for name, words in old.items():
        if new.get(name) != words and after[name] > before[name]:
            shown = "&" + name.decode("utf-8", "replace")
            raise BindingError(
                f"one side changes the value of {shown!r}, the other adds an alias of it"
            )
