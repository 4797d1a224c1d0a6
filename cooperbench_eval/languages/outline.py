"""Cuts a file into its functions, the heads of its classes, and its variables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from attrs import field, frozen

from cooperbench_eval.languages.files import find_grammar
from cooperbench_eval.languages.model import Definition
from cooperbench_eval.languages.scopes.reading import read_source
from cooperbench_eval.languages.tree import StructureError

_MOST_NAMES = 2_000_000
"""The most characters of all names of a file; each member repeats the name of its class."""


@frozen(kw_only=True)
class Function:
    """A function, method, class head or top-level variable of a file.

    Attributes:
        name: Its qualified name; a repeated one ends with its number, as in `f (2)`.
        first: Its first line, decorators included, counted from 1.
        last: Its last line.
        text: The lines.
    """

    name: str
    first: int
    last: int
    text: bytes = field(repr=False)

    @property
    def word(self) -> str:
        """The name under which it is used: that of the class for a constructor."""
        *scopes, last = self.name.partition(" ")[0].split(".")
        return scopes[-1] if scopes and last in {"__init__", "__new__", "constructor"} else last


class UnreadableError(Exception):
    """A file does not parse, or its language is unknown or has no installed grammar."""


def is_known(path: str) -> bool:
    """Tell whether a file is in a language whose functions can be found."""
    return find_grammar(path) is not None


def functions(path: str, source: bytes | None) -> Mapping[str, Function]:
    """Return the functions of a file by name, in its order; none if the file is absent.

    A function within a function is part of it.

    Raises:
        UnreadableError: The file cannot be read.
    """
    if source is None:
        return {}
    grammar = find_grammar(path)
    if grammar is None:
        raise UnreadableError(path)
    try:
        definitions = read_source(grammar, source).definitions
    except StructureError as exc:
        raise UnreadableError(str(exc)) from exc
    lines = source.splitlines(keepends=True)
    found: dict[str, Function] = {}
    counts: Counter[str] = Counter()
    for each in _cut(sorted(_few(definitions), key=lambda each: (each.first, -each.last))):
        counts[each.name] += 1
        number = counts[each.name]
        name = each.name if number == 1 else f"{each.name} ({number})"
        text = b"".join(lines[each.first - 1 : each.last])
        found[name] = Function(name=name, first=each.first, last=each.last, text=text)
    return found


def _few(definitions: Iterable[Definition]) -> Iterator[Definition]:
    """Yield functions, classes and top-level variables; refuse overlong names."""
    definitions = list(definitions)
    named = {each.first for each in definitions if each.name != "default"}
    length = 0
    for each in definitions:
        length += len(each.name)
        if length > _MOST_NAMES:
            raise UnreadableError("the names are too long")
        is_again = each.name == "default" and each.first in named  # `export default class A`
        if (each.is_function or each.is_class or not each.scope) and not is_again:
            yield each


def _cut(definitions: Iterable[Definition]) -> Iterator[Definition]:
    """Leave out what is inside a function, and end each class before its first member."""
    class_: Definition | None = None
    end = 0
    for each in definitions:
        if class_ is not None:
            last = min(class_.last, each.first - 1)
            if last >= class_.first:
                yield class_._replace(last=last)
            class_ = None
        if each.first <= end:
            continue
        if each.is_class:
            class_ = each
        else:
            yield each
            end = each.last
    if class_ is not None:
        yield class_
