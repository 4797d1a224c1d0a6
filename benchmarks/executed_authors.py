"""Makes random edits of a program, as one side would.

Each edit can be seen in a run: it has tags, numbers, names and inputs of its own. Edits of both
sides that are made of these commute, unless they change one thing or their order matters.
"""

import random
from collections.abc import Callable
from typing import Any

from attrs import frozen
from executed_bases import VARIABLES
from executed_edits import (
    Change,
    Edit,
    Insert,
    Step,
    add_else,
    append_item,
    change_statement,
    delete,
    insert,
    move_rest,
    rename_local,
    wrap,
)
from executed_inventing import Inventor, declares
from executed_list_edits import ListEdits, Maker
from executed_programs import (
    Assign,
    Attempt,
    Branch,
    Call,
    Choose,
    Do,
    Part,
    Program,
    Protect,
    Repeat,
    Return,
    Statement,
    Suite,
)
from executed_runs import ERRORS, WRAPS


@frozen
class Place:
    """Where both sides work: at a statement of a suite, or at a list."""

    suite: str = ""
    index: int = 0
    list_name: str = ""


class Author:
    """Makes the edits of one side; *side* is `o`, `t` or, for what both do, `s`."""

    def __init__(self, chance: random.Random, program: Program, side: str) -> None:
        """Edit *program* with the random numbers of *chance*."""
        self._chance = chance
        self._program = program
        self._new = Inventor(chance, program, side)
        self._lists = ListEdits(chance, program, self._new)

    def edit(self, place: Place) -> Edit:
        """Return a random edit at a place or next to it."""
        if place.list_name:
            makers = self._lists.makers(place.list_name)
        else:
            suite = self._program.suite(place.suite)
            if suite is None:
                raise ValueError(place.suite)
            makers = self._suite_makers(suite, place.index)
        kind = self._chance.choice(sorted(makers))
        return Edit(kind, tuple(makers[kind]()))

    def refactoring(self, place: Place) -> Edit | None:
        """Return a refactoring of the function at a place, or of `run`."""
        at = next((f for f in self._program.functions if f.body.key == place.suite), None)
        function = at or self._program.functions[-1]
        declared = [each for each in function.body.statements if declares(each)]
        names = [each.name for each in declared if isinstance(each, Assign)]
        if "box" in names:
            return None
        if names and self._chance.randrange(2):
            step = rename_local(function.name, self._chance.choice(names), self._new.word())
            return Edit("rename variable", (step,))
        statements = function.body.statements
        index = self._chance.randrange(len(declared), len(statements))
        step = move_rest(statements[index].key, index, function.name, self._new.word())
        return Edit("move the rest", (step,))

    def _suite_makers(self, suite: Suite, index: int) -> dict[str, Maker]:
        near = min(max(index + self._chance.choice([-1, 0, 0, 0, 0, 1]), 0), len(suite.statements))
        while near and isinstance(suite.statements[near - 1], Return | Protect):
            near -= 1
        while near < len(suite.statements) and declares(suite.statements[near]):
            near += 1
        after = suite.statements[near - 1].key if near else ""
        makers = self._inserts(suite, after)
        around = suite.statements[max(index - 1, 0) : index + 1]
        if around and not suite.only_logs and self._chance.randrange(2):
            makers = self._changes(suite, self._chance.choice(around)) or makers
        return makers

    # Insertions.

    def _inserts(self, suite: Suite, after: str) -> dict[str, Maker]:
        def of(*makers: Callable[[], Statement]) -> Maker:
            return lambda: [insert(suite.key, after, *(each() for each in makers))]

        found: dict[str, Maker] = {
            "insert log": of(self._new.log),
            "insert two logs": of(self._new.log, self._new.log),
            "insert guarded log": of(lambda: self._guarded(self._new.log())),
            "insert loop": of(lambda: Repeat(self._new.tag(), "2", self._suite(self._new.log()))),
        }
        if suite.only_logs:
            return found
        variable = self._new.variable(suite)
        found |= {
            "insert guard": of(lambda: self._guard(variable)),
            "insert variable": lambda: [insert(suite.key, after, *self._own_variable(variable))],
            "insert if and else": of(self._either),
            "insert attempt": of(lambda: Attempt(self._new.tag(), [self._handler("Problem")])),
            "insert imported call": lambda: self._lists.imported(suite.key, after),
        }
        if variable != "x":
            found |= {
                "insert sum": of(lambda: self._sum(variable)),
                "insert double": of(lambda: _doubled(f"double-{suite.key}-{after}", variable)),
            }
        return found

    def _suite(self, *statements: Statement) -> Suite:
        return Suite(f"{self._new.tag()}-suite", list(statements))

    def _guarded(self, statement: Statement) -> Branch:
        test = [("x", "==", self._new.input)]
        return Branch(self._new.tag(), test, self._suite(statement))

    def _guard(self, variable: str) -> Branch:
        test = [("x", "==", self._new.input)]
        leave = Return(self._new.tag(), [self._new.number()])
        value = self._chance.choice(["x", variable])
        return Branch(self._new.tag(), test, self._suite(self._new.log(value), leave))

    def _own_variable(self, variable: str) -> tuple[Statement, ...]:
        name, source = self._new.word(), self._chance.choice(["x", "x", variable])
        start = Assign(name, name, [source, self._new.number()], declares=True)
        return start, self._new.log(name)

    def _either(self) -> Branch:
        test = [("x", ">", self._new.input)]
        return Branch(
            self._new.tag(), test, self._suite(self._new.log()), self._suite(self._new.log())
        )

    def _sum(self, variable: str) -> Assign:
        return Assign(self._new.tag(), variable, [variable, self._new.number()])

    def _handler(self, kind: str) -> Part:
        return Part(kind, self._suite(self._new.log()))

    # Changes of statements.

    def _changes(self, suite: Suite, each: Statement) -> dict[str, Maker]:
        if isinstance(each, Return):
            return {"add to result": lambda: [self._add_term(each.key)]}
        if isinstance(each, Protect):
            return self._inserts(each.cleanup, each.cleanup.statements[-1].key)
        if declares(each):
            return self._renames(suite, each)
        found = self._specific_changes(each)
        found["wrap in if"] = lambda: [self._wrap(suite, each, self._outside())]
        if not isinstance(each, Branch | Choose):
            times = str(4 + "ots".index(self._new.side))
            around = Repeat(self._new.tag(), times, self._suite())
            found["wrap in loop"] = lambda: [self._wrap(suite, each, around)]
        if suite.key.endswith("-body") and not isinstance(suite.statements[-1], Protect):
            found["protect the rest"] = lambda: [self._protect(suite, each)]
        return found

    def _outside(self) -> Branch:
        return Branch(self._new.tag(), [("x", "!=", self._new.input)], self._suite())

    def _wrap(self, suite: Suite, each: Statement, around: Branch | Repeat) -> Change:
        keys = [one.key for one in suite.statements]
        at = keys.index(each.key)
        following = suite.statements[at + 1 : at + 2]
        wide = following and not isinstance(following[0], Return | Protect)
        if wide and not declares(following[0]) and self._chance.randrange(2):
            return wrap(keys[at : at + 2], around.key, around)
        return wrap(keys[at : at + 1], around.key, around)

    def _protect(self, suite: Suite, each: Statement) -> Change:
        keys = [one.key for one in suite.statements]
        cleanup = Suite(f"{self._new.tag()}-cleanup", [self._new.log()], only_logs=True)
        around = Protect(self._new.tag(), self._suite(), cleanup)
        return wrap(keys[keys.index(each.key) :], around.key, around)

    def _renames(self, suite: Suite, each: Statement) -> dict[str, Maker]:
        if not isinstance(each, Assign) or each.name == "box":
            return {}
        names = {variable: function for function, variable in VARIABLES.items()}
        old, new = each.name, self._new.word()
        return {"rename variable": lambda: [rename_local(names[old], old, new)]} | self._inserts(
            suite, each.key
        )

    def _specific_changes(self, each: Statement) -> dict[str, Maker]:
        if isinstance(each, Assign):
            return self._assign_changes(each)
        if isinstance(each, Branch):
            return self._branch_changes(each)
        if isinstance(each, Repeat):
            new = self._chance.choice(["7", "8"])
            return {"change times": lambda: [self._set_field(each.key, "times", new)]}
        if isinstance(each, Choose):
            return {"add case": lambda: [self._add_part(each, self._case())]}
        if isinstance(each, Attempt):
            return self._attempt_changes(each)
        return self._log_changes(each)

    def _attempt_changes(self, each: Attempt) -> dict[str, Maker]:
        if self._chance.randrange(4):
            handler = self._handler(self._kind())
            return {"add handler": lambda: [self._add_part(each, handler)]}
        handler = self._handler("Problem")
        append = append_item(each.key, self._parts_of(each), handler)
        return {"add general handler": lambda: [append]}

    def _log_changes(self, each: Statement) -> dict[str, Maker]:
        if not isinstance(each, Do) or each.call.function != "kit.Log":
            return {}
        return {
            "delete log": lambda: [delete(each.key)],
            "wrap logged value": lambda: [self._wrap_logged(each.key)],
        }

    def _kind(self) -> str:
        return ERRORS.get(int(self._new.bad_input), "Problem")

    def _case(self) -> Part:
        return Part(self._new.input, self._suite(self._new.log()))

    def _parts_of(self, each: Choose | Attempt) -> Callable[[Program], list[Part]]:
        def parts(program: Program) -> list[Part]:
            place = program.place(each.key)
            found: Any = place[0].statements[place[1]] if place else None
            return parts_of(found)

        return parts

    def _add_part(self, each: Choose | Attempt, part: Part) -> Step:
        old = parts_of(each)
        after = old[-1] if self._chance.randrange(3) else old[0]
        return Insert(each.key, after.name, (part,), self._parts_of(each))

    def _wrap_logged(self, key: str) -> Change:
        name = self._chance.choice(sorted(WRAPS))
        number = self._new.number()

        def apply(statement: Any) -> None:
            tag, value = statement.call.arguments
            new = f"kit.{name}({value} + {number})" if value != "VERSION" else value
            statement.call = Call("kit.Log", (tag, new))

        return change_statement(key, "logged", f"{name} {number}", apply)

    def _assign_changes(self, each: Assign) -> dict[str, Maker]:
        found: dict[str, Maker] = {
            "add term": lambda: [self._add_term(each.key)],
            "wrap value": lambda: [self._wrap_value(each.key)],
        }
        last = each.terms[-1]
        if isinstance(last, str) and last.isdigit():
            found["change number"] = lambda: [self._replace_last(each.key, self._new.number())]
        if isinstance(last, Call):
            found["new option in call"] = lambda: self._option_in_call(each.key, last)
        return found

    def _add_term(self, key: str) -> Change:
        number = self._chance.choice([self._new.number(), f"kit.Bump({self._new.number()})"])
        return change_statement(
            key, f"term {number}", number, lambda found: found.terms.append(number)
        )

    def _wrap_value(self, key: str) -> Change:
        name = f"kit.{self._chance.choice(sorted(WRAPS))}"
        return change_statement(key, f"wrap {name}", name, lambda found: found.wraps.append(name))

    def _replace_last(self, key: str, new: str) -> Change:
        def apply(found: Any) -> None:
            at = next(n for n, term in enumerate(found.terms[1:], 1) if str(term).isdigit())
            found.terms[at] = new

        return change_statement(key, "number", new, apply)

    def _set_field(self, key: str, field: str, new: str) -> Change:
        return change_statement(key, field, new, lambda found: setattr(found, field, new))

    def _option_in_call(self, key: str, call: Call) -> list[Step]:
        name, value = self._new.word(), self._new.number()

        def apply(found: Any) -> None:
            at = next(n for n, term in enumerate(found.terms) if isinstance(term, Call))
            old = found.terms[at]
            found.terms[at] = Call(old.function, old.arguments, (*old.options, (name, value)))

        return [
            *self._lists.added_option(call.function, name),
            change_statement(key, f"option {name}", value, apply),
        ]

    def _branch_changes(self, each: Branch) -> dict[str, Maker]:
        condition = ("x", "!=", self._new.input)
        found: dict[str, Maker] = {
            "add condition": lambda: [
                change_statement(
                    each.key, f"condition {condition}", "", lambda b: b.conditions.append(condition)
                )
            ]
        }
        if each.otherwise is None:
            found["add else"] = lambda: [
                add_else(each.key),
                insert(f"{each.key}-else", "", self._new.log()),
            ]
        return found


def parts_of(statement: Choose | Attempt) -> list[Part]:
    """Return the cases or the handlers of a statement."""
    return statement.cases if isinstance(statement, Choose) else statement.handlers


def _doubled(key: str, variable: str) -> Assign:
    """Return what both sides would write alike, so at one place it has one key."""
    return Assign(key, variable, [variable], ["kit.Double"])
