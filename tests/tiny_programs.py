"""Small Python functions without calls: made, edited twice, executed, and followed."""

import itertools
from typing import NamedTuple

__all__ = ["INPUTS", "Run", "edited", "execute", "follow", "program", "statements_of", "written"]

VARIABLES = ("a", "b", "c")
INPUTS = tuple(itertools.product((0, 1, 3), repeat=2))
_DEEPEST = 2
_OPERATORS = ("+", "-", "*")


class Statement(NamedTuple):
    """A statement; a number of its own follows it from version to version."""

    number: int
    kind: str
    target: str
    value: str
    body: tuple = ()
    other: tuple = ()


class Run(NamedTuple):
    """The result of an execution, and the values that each statement computed."""

    result: object
    values: dict


def _value(random):
    one, two = (random.choice((*VARIABLES, str(random.randrange(4)))) for _ in range(2))
    return random.choice((one, f"{one} {random.choice(_OPERATORS)} {two}"))


def _condition(random):
    return f"{random.choice(VARIABLES)} {random.choice('<>')} {random.randrange(3)}"


def _statement(random, numbers, depth):
    kind = random.choice(
        ("set", "set", "set", "if", "for", "leave") if depth < 2 else ("set", "leave")
    )
    number, target = next(numbers), random.choice(VARIABLES)
    if kind == "set":
        return Statement(number, kind, target, _value(random))
    if kind == "leave":
        leave = Statement(next(numbers), "return", "", _value(random))
        return Statement(number, "if", "", _condition(random), (leave,))
    body = _suite(random, numbers, depth + 1, 1, 2)
    if kind == "for":
        return Statement(number, kind, target, "(0, 2)", body)
    other = _suite(random, numbers, depth + 1, 1, 2) if random.random() < 0.4 else ()
    return Statement(number, kind, "", _condition(random), body, other)


def _suite(random, numbers, depth, least, most):
    return tuple(_statement(random, numbers, depth) for _ in range(random.randint(least, most)))


def program(random, numbers):
    """Make a function of a few statements that returns a variable."""
    last = Statement(next(numbers), "return", "", random.choice(VARIABLES))
    return (*_suite(random, numbers, 0, 2, 5), last)


def edited(random, numbers, statements):
    """Insert, delete or change one or two statements."""
    for _ in range(random.randint(1, 2)):
        statements = _edited_once(random, numbers, statements)
    return statements


def _edited_once(random, numbers, statements):
    places = list(_places(statements))
    path = random.choice(places)
    return _at(statements, path, lambda suite, i: _change(random, numbers, suite, i))


def _change(random, numbers, suite, i):
    kind = random.choice(("insert", "insert", "insert", "change", "delete"))
    one = suite[i]
    if kind == "insert":
        return (*suite[:i], _statement(random, numbers, 1), *suite[i:])
    if kind == "delete" and len(suite) > 1 and one.kind == "set":
        return (*suite[:i], *suite[i + 1 :])
    value = _condition(random) if one.kind == "if" else _value(random)
    if one.kind == "for":
        return suite
    return (*suite[:i], one._replace(value=value), *suite[i + 1 :])


def _places(suite, path=()):
    for i, one in enumerate(suite):
        yield (*path, (i, ""))
        yield from _places(one.body, (*path, (i, "body")))
        yield from _places(one.other, (*path, (i, "other")))


def _at(suite, path, change):
    (i, part), *rest = path
    if not part:
        return change(suite, i)
    inner = _at(getattr(suite[i], part), rest, change)
    return (*suite[:i], suite[i]._replace(**{part: inner}), *suite[i + 1 :])


def statements_of(suite):
    """Yield the statements, with those inside others."""
    for one in suite:
        yield one
        yield from statements_of(one.body)
        yield from statements_of(one.other)


def written(statements):
    """Return the source of the function."""
    return "\n".join(["def f(a, b):", "    c = 1", *_lines(statements, "    "), ""])


def _lines(suite, indent):
    for one in suite:
        if one.kind == "set":
            yield f"{indent}{one.target} = {one.value}"
            continue
        if one.kind == "return":
            yield f"{indent}return {one.value}"
            continue
        yield indent + (
            f"if {one.value}:" if one.kind == "if" else f"for {one.target} in {one.value}:"
        )
        yield from _lines(one.body, indent + "    ")
        if one.other:
            yield f"{indent}else:"
            yield from _lines(one.other, indent + "    ")


def execute(source, inputs):
    """Return the function's results."""
    names = {}
    exec(compile(source, "tiny.py", "exec"), names)  # noqa: S102 - made by this module
    return [names["f"](*each) for each in inputs]


class _Returned(Exception):  # noqa: N818 - no error
    pass


def follow(statements, given):
    """Execute the statements one by one, and note what each computes."""
    state, values = {"a": given[0], "b": given[1], "c": 1}, {}
    try:
        _follow(statements, state, values)
    except _Returned as exc:
        return Run(exc.args[0], values)
    return Run(None, values)


def _follow(suite, state, values):
    for one in suite:
        value = eval(one.value, {}, state)  # noqa: S307 - made by this module
        values.setdefault(one.number, []).append(value)
        if one.kind == "return":
            raise _Returned(value)
        if one.kind == "set":
            state[one.target] = value
        elif one.kind == "if":
            _follow(one.body if value else one.other, state, values)
        else:
            for each in value:
                state[one.target] = each
                _follow(one.body, state, values)
