"""Reads the imports of Python files, and finds the files that they mean."""

import ast
from collections.abc import Iterator

from cooperbench_eval.languages.model import Import

__all__ = ["imports_of"]


def imports_of(
    node: ast.Import | ast.ImportFrom, *, is_sole: bool = False, is_global: bool = False
) -> Iterator[Import]:
    """Yield the names that a statement imports; those from `__future__` are not names."""
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            module, attribute = "." * node.level + (node.module or ""), alias.name
            name = alias.asname or alias.name
        else:
            attribute = ""
            # `import a.b` binds `a`, and `import a.b as c` binds the module `a.b`.
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            name = alias.asname or module
        yield Import(
            name=name,
            module=module,
            attribute=attribute,
            line=node.lineno,
            is_sole=is_sole,
            is_global=is_global,
        )
