"""The names that Python code uses are found in every kind of node."""

import ast
import inspect
import typing

import pytest

from cooperbench_eval.languages.python import uses as pythonuses

MATCHING = """
match command:
    case {"a": [first, *others], **rest} if first: pass
    case Point(x=0) as point: pass
try: pass
except* OSError as exc: pass
async def run(*args: int, key=1, **more) -> str:
    async with a as b, c: await d
    return [e async for e in f if (g := e)]
del h[0], i.j
global k
lambda l, /: f"{m!r:>{n}}"
"""


@pytest.mark.parametrize("source", [MATCHING, *map(inspect.getsource, (typing, ast, inspect))])
def test_the_short_cuts_leave_no_node_out(source):
    """All children are visited, and no other kind of node binds a name."""
    for node in ast.walk(ast.parse(source)):
        children = [
            each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr_context)
        ]
        assert {*map(id, pythonuses._children(node))} == {*map(id, children)}
        if type(node) not in pythonuses._BINDING:
            assert not list(pythonuses._binds(node))
