"""Checks YAML with a second parser, and finds repeated keys.

The grammar follows YAML 1.2, PyYAML follows YAML 1.1. A file that passes can be read by both.
"""

from typing import TYPE_CHECKING

from cooperbench_eval.languages.readers.grammars import Grammar, parse_soundly
from cooperbench_eval.languages.tree import StructureError, SyntaxFaultError, one_line

if TYPE_CHECKING:
    import yaml

MERGE = "<<"
"""The key that merges the aliased mappings into one; it may be repeated."""
_BOOL = "tag:yaml.org,2002:bool"
"""The tag of keys such as `yes` and `on`, which are one key."""


def check_yaml(source: bytes) -> None:
    """Raise an error if a file is not valid.

    Raises:
        SyntaxFaultError: It is not valid, repeats a key, or has a key that is not a scalar.
        StructureError: It nests too deeply, or a package is not installed.
    """
    parse_soundly(Grammar.YAML, source)
    try:
        import yaml  # noqa: PLC0415 - optional
    except ImportError as exc:
        problem = "PyYAML is missing: pip install 'cooperbench-eval[languages]'"
        raise StructureError(problem) from exc
    try:
        for document in yaml.compose_all(source, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            _check_keys(document)
    except yaml.MarkedYAMLError as exc:
        problem = " ".join(filter(None, (exc.context, exc.problem)))
        raise _fault(problem, exc.problem_mark) from exc
    except yaml.YAMLError as exc:
        raise SyntaxFaultError(" ".join(str(exc).split())) from exc


def _check_keys(document: "yaml.Node") -> None:
    """Raise an error if a mapping repeats a key; a value with several aliases is read once."""
    import yaml  # noqa: PLC0415 - optional

    stack, seen = [document], set[int]()
    while stack:
        node = stack.pop()
        if id(node) in seen or isinstance(node.value, str):
            continue
        seen.add(id(node))
        pairs = [each for each in node.value if isinstance(each, tuple)]
        stack += [value for _, value in pairs] if pairs else node.value
        keys = set[tuple[str, int]]()
        for key, value in pairs:
            if not isinstance(key.value, str):  # such as `{{ x }}` of a template
                raise _fault("a key is not a scalar", key.start_mark)
            truth = str(yaml.SafeLoader.bool_values[key.value.lower()]) if key.tag == _BOOL else ""
            name = truth or key.value, id(value) if key.value == MERGE else 0
            if name in keys:
                shown = one_line(key.value.encode())
                raise _fault(f"there are two entries with the key {shown!r}", key.start_mark)
            keys.add(name)


def _fault(problem: str, mark: "yaml.Mark | None") -> SyntaxFaultError:
    line = mark.line + 1 if mark else 1
    return SyntaxFaultError(f"{problem}, line {line}", line)


def unquoted(word: bytes) -> bytes:
    """Return a key without its quotes."""
    is_quoted = len(word) > 1 and word[:1] == word[-1:] and word[:1] in {b'"', b"'"}
    return word[1:-1] if is_quoted else word
