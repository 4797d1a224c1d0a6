"""Finds probable mistakes in a part of a Python file: code that is never reached, or repeated.

Each is legal. So a merged file is only at fault if it has more of them than the changes of
both sides explain.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from cooperbench_eval.languages.python.facts import parse_chunk


@lru_cache(maxsize=8192)
def count_slips(chunk: str) -> Counter[str]:
    """Count the probable mistakes in a chunk that parses, by their descriptions."""
    found: Counter[str] = Counter()
    lines = chunk.splitlines()
    for node in ast.walk(parse_chunk(chunk)):
        if isinstance(node, _WITH_BLOCKS):
            for name in ("body", "orelse", "finalbody"):
                found.update(_in_block(getattr(node, name, ()), lines))
        if isinstance(node, ast.Dict):
            keys = Counter(repr(key.value) for key in node.keys if isinstance(key, ast.Constant))
            found.update(f"the key {key} would occur twice" for key in keys if keys[key] > 1)
        elif isinstance(node, ast.Try | ast.TryStar):
            kinds = [kind for each in node.handlers for kind in _caught(each)]
            found["an exception would be caught twice"] += _repeated(kinds)
        elif isinstance(node, ast.ClassDef):
            found["a class would inherit twice from the same class"] += _repeated(node.bases)
        if isinstance(node, _SCOPES):
            found["a decorator would be applied twice"] += _repeated(node.decorator_list)
    return +found  # without counts of zero


_WITH_BLOCKS = (ast.stmt, ast.mod, ast.excepthandler, ast.match_case)
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_TRIES = (ast.Try, ast.TryStar)


def _repeated(nodes: Iterable[ast.AST]) -> int:
    """Count the nodes that repeat an earlier one."""
    written = [ast.dump(node) for node in nodes]
    return len(written) - len(set(written))


def _caught(handler: ast.ExceptHandler) -> Sequence[ast.expr]:
    """Return the exceptions that a handler names."""
    if handler.type is None:
        return ()
    return handler.type.elts if isinstance(handler.type, ast.Tuple) else (handler.type,)


def _in_block(block: Sequence[ast.stmt], lines: Sequence[str]) -> Iterator[str]:
    """Yield the mistakes that concern the statements of one block."""
    skipped = next(((a, b) for a, b in pairwise(block) if _leaves(a)), ())
    if skipped:
        first, shown = (lines[each.lineno - 1].strip() for each in skipped)
        yield f"{shown!r} would never be reached, because {first!r} comes before it"
    compound = [each for each in block if isinstance(each, _COMPOUND) and _is_short(each)]
    for _ in range(_repeated(compound)):
        yield "the same statement would occur twice"
    yield from _overwritten(block)


_COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, *_TRIES)
_MOST_LINES = 40
"""The longest statement that is compared; statements nest, so this bounds the time."""


def _is_short(node: ast.stmt) -> bool:
    return (node.end_lineno or node.lineno) - node.lineno < _MOST_LINES


def _overwritten(block: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the variables that are set twice in a row of simple statements, unused in between."""
    # The values of variables, by the name that the variable starts with.
    unused: dict[str, dict[str, str]] = {}
    for node in block:
        if hasattr(node, "body") or isinstance(node, ast.Match):
            unused.clear()
            continue
        target = _variable(node)
        reading = node.value if target and isinstance(node, ast.Assign) else node
        for each in ast.walk(reading):
            if isinstance(each, ast.Name):
                unused.pop(each.id, None)
        if target is None or not isinstance(node, ast.Assign):
            continue
        written, value = ast.unparse(target), ast.dump(node.value)
        root = written.partition(".")[0]
        if unused.get(root, {}).get(written, value) != value:
            yield f"{written!r} would be set twice without being used"
        if written == root:
            unused[root] = {}
        unused.setdefault(root, {})[written] = value


def _variable(node: ast.stmt) -> ast.Name | ast.Attribute | None:
    """Return the only variable that an assignment sets; `None` for other statements."""
    if not isinstance(node, ast.Assign) or len(node.targets) > 1:
        return None
    target = node.targets[0]
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        return target
    return target if isinstance(target, ast.Name) and target.id.strip("_") else None


def _leaves(node: ast.stmt) -> bool:
    """Whether the statement after a statement is certainly never reached."""
    if isinstance(node, _LEAVING):
        return True
    if isinstance(node, ast.If):
        return _all_leave(node)
    if isinstance(node, ast.While):
        return is_endless(node)
    if isinstance(node, _TRIES):
        return _block_leaves(node.finalbody) or (
            (_block_leaves(node.body) or _block_leaves(node.orelse))
            and all(_block_leaves(each.body) for each in node.handlers)
        )
    if isinstance(node, ast.Match):
        return any(map(takes_all, node.cases)) and all(
            _block_leaves(each.body) for each in node.cases
        )
    # A context manager may swallow an exception, so that a `with` statement does not leave.
    return False


def _block_leaves(block: Sequence[ast.stmt]) -> bool:
    return any(map(_leaves, block))


def _all_leave(node: ast.If) -> bool:
    """Whether every branch of a chain of `elif` leaves, and it has an `else`."""
    while _block_leaves(node.body):
        if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
            return _block_leaves(node.orelse)
        node = node.orelse[0]
    return False


def takes_all(case: ast.match_case) -> bool:
    """Whether a case takes every value."""
    pattern = case.pattern
    return case.guard is None and isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def is_constant(test: ast.expr) -> bool:
    """Whether a condition is a constant that is true."""
    return isinstance(test, ast.Constant) and bool(test.value)


def is_endless(loop: ast.While) -> bool:
    """Whether a loop has a constant condition and no `break` of its own."""
    if not is_constant(loop.test):
        return False
    stack: list[ast.AST] = [*loop.body]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Break):
            return False
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            stack += node.orelse  # a `break` in its body leaves only that loop
        elif isinstance(node, _WITH_BLOCKS) and not isinstance(node, _SCOPES):
            stack += ast.iter_child_nodes(node)
    return True


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
