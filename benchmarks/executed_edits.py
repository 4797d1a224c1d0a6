"""Edits of the programs of `executed_programs`, and how the edits of two sides are combined.

An edit is a list of steps. Steps name their places by keys, so that they can be applied in any
order; those that would disturb others come later. `combine` gives the program that has the edits
of both sides, or says that there is none.
"""

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import attrs
from attrs import field, frozen
from executed_programs import (
    Assign,
    Branch,
    Call,
    Function,
    Program,
    Protect,
    Repeat,
    Return,
    Statement,
    Suite,
)

PREPARING, INSERTING, CHANGING, WRAPPING, DELETING, RENAMING, MOVING = range(7)
REFACTORING = frozenset({"rename variable", "move the rest"})
"""The kinds of edits that no run can show."""

T = TypeVar("T")
_OF_AN_EDIT = re.compile(r"[ots]\d")
"""The start of the key of a suite that an edit adds."""


class ContradictionError(Exception):
    """The edits of both sides have no common result."""


@frozen
class Insert:
    """Inserts statements or items of a list after another one, or at the start.

    Attributes:
        what: The suite's key, or the name of the list.
        items: Finds the list in a program.
    """

    what: str
    after: str
    new: tuple[Any, ...]
    items: Callable[[Program], list[Any] | None] = field(eq=False)


@frozen
class Change:
    """Changes what *target* names. Two changes of one target must have the same *new* value.

    Attributes:
        changed: The key of the statement that is changed.
        deleted: The key of the statement that is deleted.
    """

    phase: float
    target: Hashable
    new: str
    apply: Callable[[Program], None]
    changed: str = "nothing"
    deleted: str = ""


Step = Insert | Change


@frozen(eq=False)
class Edit:
    """What somebody does for one reason. If both sides make it, it happens once."""

    kind: str
    steps: tuple[Step, ...]


def combine(base: Program, *sides: Sequence[Edit]) -> Program:
    """Return the program with the edits of all sides.

    Statements that the sides insert at one place stand in the order of the arguments.

    Raises:
        ContradictionError: No program has them all.
    """
    program = base.copy()
    changes: dict[tuple[Hashable, str], Change] = {}
    gaps: dict[tuple[str, str], list[list[Insert]]] = {}
    for side in sides:
        own: dict[tuple[str, str], list[Insert]] = {}
        for step in (step for edit in side for step in edit.steps):
            if isinstance(step, Insert):
                own.setdefault((step.what, step.after), []).append(step)
            else:
                changes.setdefault((step.target, step.new), step)
        for gap, inserts in own.items():
            gaps.setdefault(gap, []).append(inserts)
    if len({target for target, _ in changes}) < len(changes):
        raise ContradictionError("both change the same")
    if {step.deleted for step in changes.values()} & {step.changed for step in changes.values()}:
        raise ContradictionError("one side changes what the other one deletes")
    inserting = [_inserting(each) for each in gaps.values()]
    for step in sorted([*inserting, *changes.values()], key=lambda each: each.phase):
        step.apply(program)
    return program


def woven(lists: Sequence[Sequence[T]]) -> list[T]:
    """Join lists of named items; what several have stands once, between what is their own.

    If two lists have the same items in different orders, the order of the first one stays.

    Raises:
        ContradictionError: They have items of one name that differ.
    """
    joined: list[T] = []
    for items in lists:
        known = {name_of(each): each for each in joined}
        at = 0 if any(name_of(each) in known for each in items) else len(joined)
        for each in items:
            same = known.get(name_of(each))
            if same is None:
                joined.insert(at, each)
                at += 1
            elif same == each:
                at = joined.index(same) + 1
            else:
                raise ContradictionError("both insert the same differently")
    return joined


def _inserting(sides: Sequence[Sequence[Insert]]) -> Change:
    first = sides[0][0]
    what, after, items = first.what, first.after, first.items
    new = woven([_items(side) for side in sides])

    def apply(program: Program) -> None:
        found = items(program)
        if found is None:
            raise ContradictionError("the place is gone")
        names = [name_of(each) for each in found]
        if any(name_of(each) in names for each in new):
            raise ContradictionError("both add the same at different places")
        at = names.index(after) + 1 if after else 0
        found[at:at] = [_replaced(each, lambda text: text) for each in new]

    return Change(INSERTING, ("insert", what, after), "", apply)


def _items(inserts: Sequence[Insert]) -> list[Any]:
    """Return what one side inserts at one place; two edits may need the same item."""
    found: dict[str, Any] = {}
    for item in (item for each in inserts for item in each.new):
        if found.setdefault(name_of(item), item) != item:
            raise ContradictionError("one side inserts the same differently")
    return list(found.values())


def insert(suite: str, after: str, *statements: Statement) -> Insert:
    """Insert statements into a suite."""

    def items(program: Program) -> list[Statement] | None:
        found = program.suite(suite)
        return found.statements if found else None

    return Insert(suite, after, statements, items)


def name_of(item: Any) -> str:
    """Return the name of an item of a list, or the key of a statement."""
    if isinstance(item, tuple):
        return str(item[0])
    return str(getattr(item, "key", getattr(item, "name", item)))


def append_item(what: str, items: Callable[[Program], list[T]], item: T) -> Change:
    """Add an item as the last one of a list, after those that anybody inserts."""

    def apply(program: Program) -> None:
        items(program).append(_replaced(item, lambda text: text))

    return Change(CHANGING, ("item", what, name_of(item)), repr(item), apply)


def set_value(
    what: str, items: Callable[[Program], list[tuple[str, str]]], name: str, value: str
) -> Change:
    """Give a named item of a list another value."""

    def apply(program: Program) -> None:
        found = items(program)
        found[:] = [(each, value if each == name else old) for each, old in found]

    return Change(CHANGING, ("value", what, name), value, apply)


def change_statement(key: str, target: str, new: str, apply: Callable[[Any], None]) -> Change:
    """Change something in a statement."""

    def changing(program: Program) -> None:
        place = program.place(key)
        if place:
            apply(place[0].statements[place[1]])

    return Change(CHANGING, (key, target), new, changing, changed=key)


def add_else(key: str) -> Change:
    """Give a branch an empty suite that runs otherwise."""

    def apply(program: Program) -> None:
        place = program.place(key)
        found = place[0].statements[place[1]] if place else None
        if isinstance(found, Branch) and found.otherwise is None:
            found.otherwise = Suite(f"{key}-else")

    return Change(PREPARING, (key, "else"), "", apply)


def delete(key: str) -> Change:
    """Delete a statement."""

    def apply(program: Program) -> None:
        place = program.place(key)
        if place:
            suite, at = place
            del suite.statements[at]
            if not suite.statements and _OF_AN_EDIT.match(suite.key):
                raise ContradictionError("one side wraps what the other one deletes")

    return Change(DELETING, (key, "delete"), "", apply, deleted=key)


def wrap(keys: Sequence[str], name: str, around: Branch | Repeat | Protect) -> Change:
    """Put statements from the first to the last key into the body of another statement."""

    def apply(program: Program) -> None:
        first, last = program.place(keys[0]), program.place(keys[-1])
        if first is None or last is None or first[0] is not last[0]:
            raise ContradictionError("the sides wrap ranges that overlap")
        suite, at = first
        outer = _replaced(around, lambda text: text)
        outer.body.statements = suite.statements[at : last[1] + 1]
        suite.statements[at : last[1] + 1] = [outer]

    # Wide ranges come first, so that narrow ones are found in them.
    return Change(WRAPPING + 1 / (1 + len(keys)), (*keys, "wrap", name), "", apply)


def rename_local(function: str, old: str, new: str) -> Change:
    """Rename a variable of a function."""

    def apply(program: Program) -> None:
        for each in program.all_functions():
            if each.name == function:
                each.body = _renamed(each.body, old, new)

    return Change(RENAMING, ("rename", function, old), new, apply)


def rename_function(old: str, new: str) -> Change:
    """Rename a function and its calls."""

    def apply(program: Program) -> None:
        found: list[Function] = _renamed(program.functions, old, new)
        program.functions = found
        program.box = _renamed(program.box, old, new)

    return Change(RENAMING, ("rename", old), new, apply)


def move_rest(key: str, index: int, function: str, name: str) -> Change:
    """Move a statement and all after it into a new function, which gets the local variables.

    *index* is where it is in the base. Of two moves, that of the later statement comes first.
    """

    def apply(program: Program) -> None:
        place = program.place(key)
        at = next((i for i, each in enumerate(program.functions) if each.name == function), None)
        if place is None or at is None or place[0] is not program.functions[at].body:
            raise ContradictionError("the statement is gone, or wrapped")
        suite, start = place
        before = suite.statements[:start]
        local = [each.name for each in before if isinstance(each, Assign) and each.declares]
        moved = Suite(f"{name}-body", suite.statements[start:])
        call = Call(name, ("x",), tuple((each, each) for each in local))
        suite.statements[start:] = [Return(f"{name}-call", [call])]
        new = Function(name, [(each, "0") for each in local], moved)
        program.functions.insert(at, new)

    return Change(MOVING + 1 / (1 + index), ("move", function, key), name, apply)


def _renamed(value: T, old: str, new: str) -> T:
    found: T = _replaced(value, lambda text: re.sub(rf"\b{old}\b", new, text))
    return found


def _replaced(value: Any, replace: Callable[[str], str]) -> Any:
    """Return a deep copy of a part of a program with other texts."""
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, list | tuple):
        return type(value)(_replaced(each, replace) for each in value)
    if attrs.has(type(value)):
        names = [each.name for each in attrs.fields(type(value))]
        kept = {name: getattr(value, name) for name in names if name == "key"}
        parts = {n: _replaced(getattr(value, n), replace) for n in names if n != "key"}
        return type(value)(**kept, **parts)
    return value
