"""Merges data files by key: mappings key by key, sequences item by item, scalars whole."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from attrs import evolve, frozen

from cooperbench_eval.git.merging.line_diff import diff_lines
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
from cooperbench_eval.languages.sequences import CLASHING, clashing_options, weave
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
        return self.merge(base, ours, theirs)

    def merge(self, base: Element, ours: Element, theirs: Element) -> Element:
        """Merge two versions of an element.

        Raises:
            DisagreementError: They cannot be combined.
        """
        if (taken := taken_whole(base, ours, theirs)) is not None:
            return taken
        before, mine, other = map(_words, (base, ours, theirs))
        if LINES in {base.kind, ours.kind} or isinstance(base, Token):
            if _has_edits(before, mine, other):
                return ours
            if _has_edits(before, other, mine):
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
        (lead, before, tail), mine, other = map(_split, (base, ours, theirs))
        after = mine[1], other[1]
        tags = [[each for each in part if each.kind == TAG] for part in (before, *after)]
        if DOCUMENT in {each.kind for part in after for each in part} and before:
            parts = self._documents(before, *after)
        elif len({tuple(each.plain for each in part) for part in tags}) > 1:
            parts = self._changed_items(
                before, *after, is_fixed=True
            )  # a tag says what its value means
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
        """Merge the documents of a file one by one; if a side adds some, by what they describe."""
        if len(ours) == len(theirs) == len(base):
            return tuple(map(self.merge, base, ours, theirs))
        return self._sequence(*map(_named_documents, (base, ours, theirs)))

    def _mapping(self, base: Construct, ours: Construct, theirs: Construct) -> Elements:
        old, mine, other = map(_by_key, (base, ours, theirs))
        _check_revision(old, mine, other)
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
        has_places = base.kind == LINES or any(map(_has_place, old))
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
                _is_ordered([_letters(each) for each in (*before, *side, *after)]) for side in sides
            )
            out += sorted(found, key=_letters) if is_sorted else found
        return tuple(out)

    def _changed_items(
        self, base: Elements, ours: Elements, theirs: Elements, *, is_fixed: bool = False
    ) -> Elements:
        """Combine two versions of some items; what one side removes is removed.

        Both sides may replace one item only if one of them replaces it by all that the other
        has, too.
        """
        before, mine, other = (list(map(_words, side)) for side in (base, ours, theirs))
        if mine in (other, before):
            return theirs
        if other == before:
            return ours
        before, mine, other = (list(map(_bare, side)) for side in (base, ours, theirs))
        gone = {*before}.difference(mine), {*before}.difference(other)
        new = {*mine}.difference(before), {*other}.difference(before)
        is_repeated = any(len({*side}) < len(side) for side in (before, mine, other))
        is_part = new[0] == new[1] or (all(new) and (new[0] < new[1] or new[1] < new[0]))
        if is_fixed or (base and is_repeated) or (gone[0] & gone[1] and not is_part):
            raise DisagreementError.at(*(base if any(each.plain for each in base) else ours))
        sides = (
            [each for each in ours if _bare(each) not in gone[1]],
            [each for each in theirs if _bare(each) not in gone[0]],
        )
        added = (
            [each for each in side if _bare(each) in there]
            for side, there in zip(sides, new, strict=True)
        )
        _check_versions(*added)
        first, second = reversed(sides) if self.theirs_first else sides
        runs = weave(first, second, lambda each: b"\n".join(_bare(each)))
        if runs is None:
            raise DisagreementError("both sides insert the same items in different orders")
        known = {_bare(each): each for each in base}
        out: list[Element] = []
        for run in runs:
            out += (*run.first, *run.second)
            if run.shared:
                kept = known.get(_bare(run.shared[0]))
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
    out: list[bytes] = []
    for first, second, both in weave(lead, follower, bytes, lambda _: True) or ():
        after = both[:1] if both else ()
        is_sorted = all(_is_ordered((*out[-1:], *own, *after)) for own in (first, second))
        own = (*first, *second) if theirs_first is (lead is theirs) else (*second, *first)
        out += (*(sorted(own) if is_sorted else own), *after)
    return out


def _is_ordered(words: Sequence[bytes]) -> bool:
    """Whether words are in alphabetical order, and there is more than one."""
    return len(words) > 1 and all(words) and list(words) == sorted(words)


_ORIGINS = frozenset(b"git image newName registry repo repository url".split())
_REVISIONS = frozenset(b"branch checksum digest hash newTag ref rev sha sha256 tag".split())
"""The keys that say what of an origin is meant."""


def _check_revision(
    base: Mapping[bytes, Element], ours: Mapping[bytes, Element], theirs: Mapping[bytes, Element]
) -> None:
    """Refuse one side's new origin of something with the other side's new revision of it.

    Raises:
        DisagreementError: There are such changes.
    """
    mine, other = (
        {key for key, old in base.items() if key in side and _words(side[key]) != _words(old)}
        for side in (ours, theirs)
    )
    for one, two in ((mine - other, other - mine), (other - mine, mine - other)):
        if one & _ORIGINS and two & _REVISIONS:
            origin, revision = min(one & _ORIGINS).decode(), min(two & _REVISIONS).decode()
            raise DisagreementError(
                f"one side changes {origin!r}, the other {revision!r} of the same thing"
            )


def _has_edits(base: Sequence[bytes], side: Sequence[bytes], other: Sequence[bytes]) -> bool:
    """Whether a side has made all edits of the words of a value that the other made."""
    before, *sides = (
        [word for each in words for word in _WORD.findall(each)] for words in (base, side, other)
    )
    mine, there = (
        {
            (each.a_start, each.a_end, *words[each.b_start : each.b_end])
            for each in diff_lines(before, words)
        }
        for words in sides
    )
    return there <= mine


_WORD = re.compile(rb"\s+|[^\s]+")


def _named_documents(documents: Elements) -> Construct:
    """Name documents by their kind, metadata, name and id, or by all of them."""
    named = []
    for each in documents:
        mapping = next((part for part in each.children if part.kind == MAPPING), each)
        entries = {entry.key: entry.plain for entry in mapping.children}
        known = [entries[key] for key in (b"kind", b"metadata", b"name", b"id") if key in entries]
        name = b" ".join(known) or each.plain
        named.append(evolve(each, key=name) if isinstance(each, Construct) else each)
    return Construct(kind=SEQUENCE, mode=Mode.MEMBERS, children=tuple(named))


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


def _check_versions(ours: Sequence[Element], theirs: Sequence[Element]) -> None:
    """Refuse two versions of one item, or two values of one option.

    Raises:
        DisagreementError: Both sides have them.
    """
    words = {_bare(each): _words(each) for each in ours}
    names = {*map(_item_name, ours)} - {b""}
    for each in theirs:
        known = words.get(_bare(each))
        if known != _words(each) if known else _item_name(each) in names:
            raise DisagreementError(f"both sides insert their own version of {excerpt(each)!r}")
    for clash in clashing_options(*(list(map(_argument, side)) for side in (ours, theirs))):
        raise DisagreementError(CLASHING % tuple(map(one_line, clash)))


def _words(element: Element) -> tuple[bytes, ...]:
    """Return the words of an element, in which a string is the same with and without quotes."""
    return tuple(map(_value, element.words()))


def _value(word: bytes) -> bytes:
    bare = unquoted(word)
    if bare == word or b"\\" in bare:
        return word
    return b'"%s"' % bare if _TYPED.fullmatch(bare) else bare


_TYPED = re.compile(
    rb"[-+.\d][\d_]*\.?\d*(?:e[-+]?\d+)?|0[box]\w+|[-+.\d:TZ ]*\d[-:]\d[-+.\d:TZ ]*"
    rb"|[-+]?\.?(?:inf|nan)|~?|true|false|null|yes|no|on|off|[yn]",
    re.IGNORECASE,
)
"""Matches what means something other than a string if it has no quotes."""


def _bare(element: Element) -> tuple[bytes, ...]:
    """Return the words of an item without the comments around it."""
    if isinstance(element, Token):
        return _words(element)
    return tuple(word for each in _split(element)[1] for word in _words(each))


def _letters(item: Element) -> bytes:
    """Return what an item of one word is sorted by; empty for others."""
    return unquoted(_argument(item)).lower()


def _emptied(element: Element) -> Element:
    """Return an empty base for what both sides added, so that only mappings are merged."""
    if isinstance(element, Token):
        return element._replace(word=b"")
    if element.kind == MAPPING:
        return evolve(element, children=())
    if element.kind in {SEQUENCE, LINES}:
        return evolve(element, children=(Token(b"", b""),))
    return evolve(element, children=tuple(map(_emptied, element.children)))


def _on_lines(members: Elements) -> Elements:
    """Begin a line with each member but the first."""
    return tuple(
        each if not i or b"\n" in each.space else each.with_space(b"\n")
        for i, each in enumerate(members)
    )


def _item_name(item: Element) -> bytes:
    """Return the name of an item; a single word counts as the name of a package."""
    return item.key or package_name(unquoted(_argument(item)))


def _argument(item: Element) -> bytes:
    """Return an item of one word; empty for others."""
    words = [word for word in item.words() if word != b"-"]
    return words[0] if len(words) == 1 else b""


def _has_place(item: Element) -> bool:
    """Whether an item is a number or an option, which may mean something by its place."""
    word = _argument(item)
    return unquoted(word).startswith(b"-") or bool(NUMBER.fullmatch(word))


def _check_aliases(base: Construct, side: Construct, other: Construct) -> None:
    """Refuse new aliases of an anchor whose value the other side changes.

    Raises:
        BindingError: There are such aliases.
    """
    old, new = (
        {
            part.plain[1:]: tuple(map(_words, each.children[i + 1 :]))
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
