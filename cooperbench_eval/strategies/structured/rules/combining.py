"""Tries each rule in turn on statements that both sides changed."""

from collections.abc import Callable, Collection

from attrs import evolve, frozen

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.tree import Construct, Element, Elements, Mode, words_of_head
from cooperbench_eval.strategies.structured.flow.work import asks, asks_for_nothing
from cooperbench_eval.strategies.structured.ordering import may_leave
from cooperbench_eval.strategies.structured.rules.copies import merge_copies
from cooperbench_eval.strategies.structured.rules.statements import (
    PLACEHOLDERS,
    Merger,
    target_of,
    value_of,
    with_value,
)
from cooperbench_eval.strategies.structured.rules.wrapping import merge_wrapped
from cooperbench_eval.strategies.structured.strings import merge_comments

Rule = Callable[[Merger, Elements, Elements, Elements], Elements | None]
"""Merges statements that both sides changed: those of base, ours and theirs.

It returns the merged statements, or `None` if it does not fit. It raises a `DisagreementError`
if it fits, but both sides' changes do not fit together.
"""


def combine(merger: Merger, base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    """Apply the first rule that fits statements which both sides changed."""
    found = (rule(merger, base, ours, theirs) for rule in _RULES)
    return next((each for each in found if each is not None), None)


def _fill(merger: Merger, base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    """Both sides replaced a placeholder: keep both replacements."""
    if any(each.plain not in PLACEHOLDERS for each in base):
        return None
    return merger.merge_children((), ours, theirs, Mode.MEMBERS)


_SHORTEST = 3
"""The fewest parts of a header: its keyword, a condition, and what follows."""


def merge_headers(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """Merge versions of which one has the first part of a header as a statement of its own."""
    versions = base, ours, theirs
    alone = [{each.plain for each in version} for version in versions]
    parts = (_split(each) for version in versions for each in version)
    moved = set().union(*alone) & {part[0].plain for part in parts if part}
    if not moved:
        return None
    before, mine, other = (
        _split_all(version, moved - there) for version, there in zip(versions, alone, strict=True)
    )
    return merger.merge_children(before, mine, other, Mode.MEMBERS)


def _split_all(statements: Elements, moved: Collection[bytes]) -> Elements:
    out: list[Element] = []
    for each in statements:
        parts = _split(each)
        out += parts if parts and parts[0].plain in moved else (each,)
    return tuple(out)


def _split(statement: Element) -> tuple[Construct, Construct] | None:
    """Split `if first; rest` into the first part of its header, and the rest."""
    if not isinstance(statement, Construct) or statement.mode is not Mode.MEMBERS:
        return None
    head, *clauses = statement.children
    if not isinstance(head, Construct) or head.kind not in {"if", "switch"}:
        return None
    if len(head.children) < _SHORTEST:
        return None
    word, first, sign, *rest = head.children
    if not isinstance(first, Construct) or sign.plain != b";":
        return None
    head = evolve(head, children=(word.with_space(b"\n"), *rest))
    return first.with_space(statement.space), evolve(statement, children=(head, *clauses))


_LEAST_ALIKE, _LEAST_SAME = 0.5, 0.8


def merge_returns(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """Combine two sides that turned `return value` into work on a named value.

    One side's work is done first, then the other side's work on its result. A side that
    may return early comes second. If both change the value, one of them must do so only if an
    option is given. That side comes second.
    """
    old, mine, other = _returns(base, ours, theirs)
    if mine is None or other is None or (mine.leaves_early and other.leaves_early):
        return None
    is_last = mine.leaves_early, other.leaves_early
    if mine.changes_value and other.changes_value:
        optional = mine.is_optional, other.is_optional
        if optional[0] == optional[1] or (any(is_last) and is_last != optional):
            return None  # in which order?
        is_last = optional
    value = merger.merge(old, mine.value, other.value)
    if not isinstance(value, Construct):
        return None
    theirs_first = merger.theirs_first if is_last[0] == is_last[1] else is_last[0]
    before = merger.merge_children(base[:-1], mine.before, other.before, Mode.MEMBERS)
    first, second = (other, mine) if theirs_first else (mine, other)
    return (*before, *first.then(second, value))


def _merge_named_returns(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """Do so before other rules if both named the value: then no other `return` has it."""
    is_named = all(each and each.naming for each in _returns(base, ours, theirs)[1:])
    return merge_returns(merger, base, ours, theirs) if is_named else None


def _returns(
    base: Elements, ours: Elements, theirs: Elements
) -> tuple[Construct, "_Return | None", "_Return | None"]:
    """Return the base's value and what the sides do with it; `None` if they do anything else."""
    if not base or base[-1].kind != "return":
        return Construct(kind="value", children=()), None, None
    old = value_of(base[-1])
    return old, _Return.of(old, ours), _Return.of(old, theirs)


@frozen(kw_only=True)
class _Return:
    """Statements that compute a value, name it, work on it, and return a result.

    Attributes:
        before: The statements before the value is computed.
        value: The value.
        naming: The assignment of the value; `None` if it is returned directly.
        work: The statements between the assignment and the `return`.
        last: The `return`.
    """

    before: Elements
    value: Construct
    naming: Construct | None
    work: Elements
    last: Construct

    @classmethod
    def of(cls, value: Construct, statements: Elements) -> "_Return | None":
        """Match the statements into which a side turned `return value`, or return `None`.

        The value must not also be returned before, since the other side's work would not follow.
        """
        if not statements or any(_returns_early(value, each) for each in statements[:-1]):
            return None
        last = statements[-1]
        if not isinstance(last, Construct) or last.kind != "return":
            return None
        if _are_alike(value_of(last), value):
            return cls(
                before=statements[:-1], value=value_of(last), naming=None, work=(), last=last
            )
        for i, each in enumerate(statements):
            if isinstance(each, Construct) and each.kind == "assignment":
                found = value_of(each)
                if _are_alike(found, value):
                    before, work = statements[:i], statements[i + 1 : -1]
                    return cls(before=before, value=found, naming=each, work=work, last=last)
        return None

    @property
    def leaves_early(self) -> bool:
        return any(map(may_leave, self.work))

    @property
    def changes_value(self) -> bool:
        """Whether the work makes another value of it, or changes it."""
        if self.naming is None:
            return False
        name = target_of(self.naming).split()[:1]
        is_set = any(_sets(each, name[0]) for each in self.work)
        return is_set or [value_of(self.last).plain] != name

    @property
    def is_optional(self) -> bool:
        """Whether the work changes the value only if something is given, such as a new option.

        It ends with `if x: value = …`, or returns `value if x is None else …`.
        """
        if self.naming is None:
            return False
        name = target_of(self.naming).split()[0]
        if [value_of(self.last).plain] != [name]:
            is_set = any(_sets(each, name) for each in self.work)
            return not is_set and _is_choice(value_of(self.last), name)
        *others, last = self.work or (self.last,)
        clauses = [each for each in last.children if isinstance(each, Construct)]
        is_guarded = last.kind == "if" and len(clauses) == 1 and _sets(last, name)
        is_only = not any(_sets(each, name) for each in others)
        return is_guarded and is_only and asks(words_of_head(last)[1:])

    def then(self, other: "_Return", value: Construct) -> Elements:
        """Return statements for this side's work on *value*, then the other's on the result."""
        if self.naming is None or other.naming is None:
            one = other if self.naming is None else self
            last = one.last if one.naming else with_value(one.last, value.children)
            return (*one.named(value), *one.work, last)
        handed = value_of(self.last)
        is_named = [handed.plain] == target_of(other.naming).split()[:1]
        passing = () if is_named else (with_value(other.naming, handed.children),)
        return (*self.named(value), *self.work, *passing, *other.work, other.last)

    def named(self, value: Construct) -> Elements:
        return () if self.naming is None else (with_value(self.naming, value.children),)


def _returns_early(value: Construct, statement: Element) -> bool:
    """Whether a statement contains a `return` of nearly the same value."""
    values = (value_of(each) for each in statement.walk() if each.kind == "return")
    return any(similarity(value.words(), each.words()) >= _LEAST_SAME for each in values)


def _sets(statement: Element, name: bytes) -> bool:
    """Whether a statement or one inside it assigns to a variable, or to a part of it."""
    targets = (target_of(part) for part in statement.walk())
    return any(target.split()[0] == name for target in targets if target)


def _is_choice(value: Construct, name: bytes) -> bool:
    """Whether a value is a variable unless something is given, as `a if x is None else b`."""
    words = [each.plain for each in value.children]
    if words.count(b"if") != 1 or words.count(b"else") != 1:
        return False
    condition = words[words.index(b"if") + 1 : words.index(b"else")]
    if words[-2:] == [b"else", name]:
        return asks(condition)
    return words[:2] == [name, b"if"] and asks_for_nothing(condition)


def _are_alike(one: Construct, other: Construct) -> bool:
    return similarity(one.words(), other.words()) >= _LEAST_ALIKE


_RULES: tuple[Rule, ...] = (
    _fill,
    lambda _merger, *versions: merge_comments(*versions),
    merge_headers,
    _merge_named_returns,
    merge_wrapped,
    merge_copies,
    merge_returns,
)
