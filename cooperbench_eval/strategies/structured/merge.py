"""Three-way merge of trees.

The children of the three versions are aligned, and the edits of both sides are walked together.
Edits of different children combine. A child that both sides edited is merged recursively. If both
sides insert at one place, both insertions are kept where the construct allows both. A few rules
combine statements that both sides changed; everything else that both sides changed is a
disagreement.
"""

from collections.abc import Iterator

from attrs import evolve, field, frozen

from cooperbench_eval.languages.faults.positions import POSITIONAL
from cooperbench_eval.languages.token_merge import containing_value
from cooperbench_eval.languages.tree import (
    DOCUMENT,
    Construct,
    DisagreementError,
    Element,
    Elements,
    Mode,
    Token,
    same,
)
from cooperbench_eval.strategies.structured import ordering
from cooperbench_eval.strategies.structured.flow.uses import changes_for
from cooperbench_eval.strategies.structured.inserting import flat, interleave
from cooperbench_eval.strategies.structured.one_sided import changed, taken_by_words, taken_whole
from cooperbench_eval.strategies.structured.ordering import check_repeated, join_blocks, spread
from cooperbench_eval.strategies.structured.overlaps import (
    AlignedVersion,
    Overlap,
    find_overlaps,
)
from cooperbench_eval.strategies.structured.rules import chains
from cooperbench_eval.strategies.structured.rules.combining import combine
from cooperbench_eval.strategies.structured.rules.containing import containing
from cooperbench_eval.strategies.structured.rules.named import (
    check_imports,
    merge_named,
    need_names,
)
from cooperbench_eval.strategies.structured.rules.refusing import (
    check_blocks,
    check_operands,
    check_positions,
)
from cooperbench_eval.strategies.structured.rules.united import separated, unite
from cooperbench_eval.strategies.structured.strings import merge_formatted, merge_strings

_CONDITIONAL = frozenset({"case", "elif", "if", "while"})
_MOST_PAIRS = 250_000
"""How many members of both sides' insertions are compared with each other."""


@frozen
class TreeMerge:
    """Merges versions of a construct.

    Attributes:
        theirs_first: Whether theirs comes first where both insert at one place.
    """

    theirs_first: bool = False
    _mixed: set[str] = field(factory=set, init=False, eq=False, repr=False)

    def merge(self, base: Element, ours: Element, theirs: Element) -> Element:
        """Merge two versions of a construct.

        Raises:
            DisagreementError: They cannot be combined.
        """
        if (taken := taken_whole(base, ours, theirs)) is not None:
            return taken
        if isinstance(base, Token) and isinstance(ours, Token) and isinstance(theirs, Token):
            sides = (theirs, ours) if self.theirs_first else (ours, theirs)
            return _merge_tokens(base, *sides)
        if (
            isinstance(base, Construct)
            and isinstance(ours, Construct)
            and isinstance(theirs, Construct)
            and base.kind == ours.kind == theirs.kind
        ):
            return self._merge_constructs(base, ours, theirs)
        if (taken := taken_by_words(base, ours, theirs)) is not None:
            return taken
        raise DisagreementError.at(base)

    def _merge_constructs(self, base: Construct, ours: Construct, theirs: Construct) -> Construct:
        merger = self
        if base.kind == "import":
            base, ours, theirs = _bracketed(base, ours, theirs)
            merger = TreeMerge(self.theirs_first)
        if base.kind == chains.CHAIN:
            return chains.merge_chain(self, base, ours, theirs)
        if base.mode is Mode.SEQUENCE and base.kind in _CONDITIONAL:
            check_blocks(base, ours, theirs)
        children = merger._merge_parts(base, ours, theirs)
        if base.kind == DOCUMENT:
            check_repeated(base, ours, theirs, children)
        if base.mode is Mode.MEMBERS:
            children = separated(children)
        if base.mode is Mode.LIST:
            children = spread(children, base, ours, theirs)
        return evolve(
            base,
            children=children,
            key=changed(base.key, ours.key, theirs.key),
            indent=changed(base.indent, ours.indent, theirs.indent),
            comma=changed(base.comma, ours.comma, theirs.comma),
            tail=changed(base.tail, ours.tail, theirs.tail),
        )

    def _merge_parts(self, base: Construct, ours: Construct, theirs: Construct) -> Elements:
        versions = base.children, ours.children, theirs.children
        if base.mode is not Mode.SEQUENCE or not any(map(chains.has_chain, (base, ours, theirs))):
            return self.merge_children(*versions, base.mode, base.kind)
        before, mine, other = map(chains.with_chains, versions)
        return chains.flatten(self.merge_children(before, mine, other, base.mode, base.kind))

    def merge_children(
        self, base: Elements, ours: Elements, theirs: Elements, mode: Mode, kind: str = "suite"
    ) -> Elements:
        """Merge two versions of the children of a construct of some mode and kind.

        Raises:
            DisagreementError: They cannot be combined.
        """
        if kind == "items" and need_names(base, ours, theirs):
            named = merge_named(self, base, ours, theirs)
            if named is not None:
                return named
        new = [each[:1] if _is_documented(each) else () for each in (ours, theirs)]
        if mode is Mode.MEMBERS and any(new) and not any(map(_is_docstring, base)):
            if kind == "file":
                _check_comments(base, ours, theirs)
            if texts := [each[0] for each in (ours, theirs) if each and _is_short_text(each[0])]:
                raise DisagreementError.at(*texts)
            first = (_united(new[0][0], new[1][0]),) if all(new) else new[0] or new[1]
            ours, theirs = (each[len(own) :] for each, own in zip((ours, theirs), new, strict=True))
            return (*first, *self.merge_children(base, ours, theirs, mode, kind))
        mine, other = (AlignedVersion.of(base, side, mode) for side in (ours, theirs))
        out: list[Element] = []
        at = 0
        if kind in POSITIONAL:
            check_positions(base, mine.edits, other.edits)
        if mode is Mode.SEQUENCE:
            check_operands(base, mine, other)
        for overlap in find_overlaps(mine, other, joins_adjacent=kind == "items"):
            out += self._kept(base, mine, other, range(at, overlap.start))
            out += self._changed_children(base, (mine, other), overlap, mode, kind)
            at = overlap.end
        out += self._kept(base, mine, other, range(at, len(base)))
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

    def _changed_children(
        self,
        base: Elements,
        sides: tuple[AlignedVersion, AlignedVersion],
        overlap: Overlap,
        mode: Mode,
        kind: str,
    ) -> Elements:
        start, end = overlap.start, overlap.end
        before = base[start:end]
        mine = sides[0].between(start, end, overlap.ours)
        other = sides[1].between(start, end, overlap.theirs)
        if _are_same(other, before) or _are_same(mine, other):
            return mine
        if _are_same(mine, before):
            return other
        if mode is Mode.MEMBERS and (found := containing(before, mine, other)) is not None:
            return found
        following = sides[0].at(end), sides[1].at(end)
        try:
            return self._combined(before, (mine, other), (base[:start], following), mode, kind)
        except DisagreementError as exc:
            exc.between(before, mine, other)
            raise

    def _combined(
        self,
        before: Elements,
        sides: tuple[Elements, Elements],
        around: tuple[Elements, tuple[Element | None, Element | None]],
        mode: Mode,
        kind: str,
    ) -> Elements:
        mine, other = sides
        if not before and mode is not Mode.SEQUENCE:
            return self._insertions(mine, other, around, kind)
        if mode is Mode.SEQUENCE or kind in POSITIONAL:
            rule = _merge_words
        else:
            rule = merge_named if kind == "items" else combine
        if (found := rule(self, before, mine, other)) is not None:
            return found
        raise DisagreementError.at(*(before or mine))

    def _insertions(
        self,
        ours: Elements,
        theirs: Elements,
        around: tuple[Elements, tuple[Element | None, Element | None]],
        kind: str,
    ) -> Elements:
        """Keep what both sides insert at one place.

        *around* is what precedes it in the base, and what follows it in ours and in theirs.
        """
        if len(ours) * len(theirs) > _MOST_PAIRS:
            raise DisagreementError("both sides insert too much at one place to compare it")
        before, following = around
        first, second = self._in_order(ours, theirs)
        after = following[0] if first is ours else following[1]
        if kind == DOCUMENT and after is not None:
            return join_blocks(first, second, after)
        return self._both(first, second, (before, after), kind)

    def _both(
        self,
        first: Elements,
        second: Elements,
        around: tuple[Elements, Element | None],
        kind: str,
    ) -> Elements:
        """Keep both insertions at one place; what both have is kept once.

        *around* is what precedes the insertions in the base, and what follows the first.
        """
        first, second = ordering.order_sides(first, second)
        found = interleave(first, second, around, kind, _united)
        mine, own = ([each.main for each in pieces] for pieces in (found.mine, found.own))
        check_imports(mine, own)
        arranged = found.arranged(kind)
        if (kind == "parameters" and arranged != flat(found.both)) or (
            kind == "arguments" and ordering.has_positional(mine) and ordering.has_positional(own)
        ):
            self._mixed.add(kind)
        if len(self._mixed) > 1:
            raise DisagreementError("parameters and arguments would be in different orders")
        return arranged

    def _in_order(self, ours: Elements, theirs: Elements) -> tuple[Elements, Elements]:
        """Put last the insertion that is more likely to leave the suite (`return`, `break` …)."""
        mine, other = ordering.find_leaving(ours), ordering.find_leaving(theirs)
        if mine is other is ordering.Leaving.ALWAYS:
            problem = "both sides insert, at one place, a statement that leaves the block"
            raise DisagreementError(problem).between((), ours[-1:], theirs[-1:])
        theirs_first = self.theirs_first if mine is other else mine > other
        if _documents(ours) != _documents(theirs) and mine is other:
            return (theirs, ours) if _documents(ours) else (ours, theirs)
        if mine is other and changes_for(ours, theirs) != changes_for(theirs, ours):
            # What a side only reads is as it was in that side's version if it comes first.
            theirs_first = self.theirs_first != changes_for(ours, theirs)
        return (theirs, ours) if theirs_first else (ours, theirs)


def _is_documented(members: Elements) -> bool:
    """Whether members begin with the docstring of what contains them."""
    return bool(members) and _is_docstring(members[0])


def _is_docstring(member: Element) -> bool:
    return member.key == b"docstring"


def _is_short_text(member: Element) -> bool:
    """Whether a member is a string on its own that only its place makes a docstring."""
    words = member.words()
    return member.kind == "expression" and len(words) == 1 and words[0][-1:] in {b"'", b'"'}


def _check_comments(base: Elements, *sides: Elements) -> None:
    """Refuse a comment that a side adds at the start of a file: no docstring may precede it."""
    known = {each.plain for each in base}
    for side in sides:
        if side and side[0].kind == "comment" and side[0].plain not in known:
            raise DisagreementError.at(side[0])


def _documents(insertion: Elements) -> bool:
    """Whether an insertion ends with a comment on what follows it."""
    last = insertion[-1] if insertion else None
    return last is not None and last.kind == "comment" and b"\n" in last.space


def _merge_words(
    merger: TreeMerge, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """Merge one token that both sides changed, such as a string, or an item of one token."""
    if any(len(each) != 1 or len(each[0].children) > 1 for each in (base, ours, theirs)):
        return None
    return (merger.merge(base[0], ours[0], theirs[0]),)


def _united(one: Element, other: Element) -> Element:
    """Keep once what both sides insert under one name."""
    if same(one, other):
        return one
    if isinstance(one, Construct) and isinstance(other, Construct) and other.kind == "import":
        return TreeMerge().merge(_without_names(other), one, other)
    if (united := unite(one, other)) is None:
        raise DisagreementError.at(other)
    return united


def _merge_tokens(base: Token, ours: Token, theirs: Token) -> Token:
    space = changed(base.space, ours.space, theirs.space)
    if ours.word in {base.word, theirs.word}:
        return theirs.with_space(space)
    if theirs.word == base.word:
        return ours.with_space(space)
    words = base.word, ours.word, theirs.word
    word = merge_strings(*words) or merge_formatted(*words) or containing_value(*words)
    if word is None:
        raise DisagreementError.at(base)
    return ours._replace(space=space, word=word)


def _are_same(one: Elements, other: Elements) -> bool:
    return len(one) == len(other) and all(map(same, one, other))


def _without_names(construct: Construct) -> Construct:
    """Return an import with its brackets but without its names."""
    if construct.kind == "items":
        return evolve(construct, children=())
    return construct.with_parts(
        lambda each: _without_names(each) if each.kind in {"items", "group"} else each
    )


def _bracketed(*versions: Construct) -> tuple[Construct, ...]:
    """If one version of an import has its names in brackets, put them in brackets in all."""
    groups = [each for version in versions for each in version.parts if each.kind == "group"]
    if not groups:
        return versions
    opener, _, closer = groups[0].children

    def bracketed(part: Construct) -> Construct:
        is_bare = part.kind == "items"
        return evolve(groups[0], children=(opener, part, closer)) if is_bare else part

    return tuple(version.with_parts(bracketed) for version in versions)
