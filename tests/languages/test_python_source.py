"""Python source is parsed by one thread at a time."""

import ast
import time
from concurrent.futures import ThreadPoolExecutor

from cooperbench_eval.languages.readers.python_syntax import parse_source


def test_two_threads_never_parse_at_once(monkeypatch):
    """CPython 3.11 mixes up the depths of their trees."""
    inside, together, parse = [], [], ast.parse

    def slowly(source):
        inside.append(source)
        time.sleep(0.01)
        together.append(len(inside))
        inside.remove(source)
        return parse(source)

    with monkeypatch.context() as patched, ThreadPoolExecutor(4) as threads:
        patched.setattr(ast, "parse", slowly)  # pytest itself parses, to show a failure
        trees = list(threads.map(parse_source, [f"a = {n}" for n in range(6)]))

    assert together == [1] * 6
    assert [tree.body[0].value.value for tree in trees] == list(range(6))
