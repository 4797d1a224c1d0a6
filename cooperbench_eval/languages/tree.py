"""Source text as a tree of constructs and the tokens that they are written with.

A tree keeps every byte of its file. White space belongs to the token after it. Where it
contains a newline, the indentation is stored relative to the enclosing suite, so that a
construct that moves into another suite is indented correctly there.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple, Self

from attrs import evolve, field, frozen

from cooperbench_eval.languages.words import PART
from cooperbench_eval.support.memo import Memo

_BETWEEN = b"\x1f"  # ASCII's separators, which readers refuse in source text
_OPEN, _CLOSE = b"\x1d", b"\x1e"
ABSOLUTE = b"\0"  # precedes an indentation that does not start with the suite's
RELATIVE = b"\v"  # starts a docstring's relative line; any merge takes it for white space

RESERVED = re.compile(rb"[\0\v\x1d-\x1f]")
"""The bytes that trees use internally, so that no source may contain them."""
ASSIGNING = frozenset({b"=", b":="})
"""The operators between a variable and the value that it is given."""
DECLARING = frozenset({b"const", b"export", b"let", b"mut", b"pub", b"static", b"var"})
"""Words that precede a variable where it is declared."""

DOCUMENT = "document"
"""The kind of the construct that holds the blocks of a document, such as a change log."""
DATA = "data"
"""The kind of the construct that holds all of a data file."""


class StructureError(Exception):
    """A text has no structure that can be merged; the message is the reason."""


class SyntaxFaultError(StructureError):
    """A text has a syntax error.

    Attributes:
        line: Its line, counted from 1; `None` if unknown.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        """Make the error from the parser's or compiler's message and line."""
        super().__init__(problem, line)
        self.line = line

    def __str__(self) -> str:
        return str(self.args[0])


class DisagreementError(StructureError):
    """Both sides changed the same construct differently.

    Attributes:
        keys: The keys of a data file that lead to the place.
        edits: What base, ours and theirs have there; `None` if it is not known.
        around: The constructs that contain these edits, if they are known.
    """

    def __init__(self, problem: str = "", shown: str = "") -> None:
        """Make the error for a problem, or for elements that both sides changed."""
        super().__init__(problem, shown)
        self.problem = problem
        self.keys: tuple[str, ...] = ()
        self.edits: tuple[Elements, Elements, Elements] | None = None
        self.around: Elements = ()

    @classmethod
    def at(cls, *elements: "Element") -> Self:
        """Make the error for the elements that both sides changed."""
        return cls("", excerpt(*elements))

    def between(self, base: "Elements", ours: "Elements", theirs: "Elements") -> Self:
        """Record what the versions have there, unless a part of it is already recorded.

        If a side has nothing in the place of some words, it may have moved them. Then only the
        construct around them shows what it did.
        """
        given = base, ours, theirs
        is_apart = all(each.children for each in base) or (ours and theirs)
        if self.edits is None and is_apart:
            self.edits = _differing(*given)
        whole = [each for part in given for each in part if each.children]
        if self.edits and not self.around and [len(part) for part in given] == [1, 1, 1]:
            known = [id(each) for part in self.edits for each in part]
            is_around = len(whole) == len(given) and known != [id(each) for each in whole]
            self.around = tuple(whole) if is_around else ()
        return self

    def __str__(self) -> str:
        shown = self.args[1]
        changed = f"both sides changed {shown!r}" if shown else "both sides insert at one place"
        return self.described(changed)

    def described(self, changed: str) -> str:
        """Return the problem, or what the sides *changed*, after the keys that lead to it."""
        problem = self.problem or changed
        return f"at {'.'.join(self.keys)!r}, {problem}" if self.keys else problem


def _differing(
    base: "Elements", ours: "Elements", theirs: "Elements"
) -> tuple["Elements", "Elements", "Elements"]:
    """Leave out what all versions have at the start and at the end."""
    versions = [base, ours, theirs]
    for step in (1, -1):
        while all(versions) and len({each[::step][0].plain for each in versions}) == 1:
            versions = [each[1:] if step > 0 else each[:-1] for each in versions]
    firsts = [each[0] for each in versions if len(each) == 1]
    if len(firsts) == len(versions) and len({each.kind for each in firsts if each.children}) == 1:
        inner = _differing(*(each.children for each in firsts))
        if all(inner):
            return inner
    return versions[0], versions[1], versions[2]


class BindingError(StructureError):
    """No text can resolve the conflict, as in a file that a tool has to write."""


class OrderError(DisagreementError):
    """Both sides' insertions at one place fit together, but only in the other order."""


class Mode(Enum):
    """The relation of a construct's children to each other."""

    SEQUENCE = auto()
    """In a fixed sequence, as in an expression; two insertions at one place conflict."""
    LIST = auto()
    """Items with a separator between them."""
    MEMBERS = auto()
    """Independent statements, clauses or definitions."""


class Token(NamedTuple):
    """A word, number, operator, string or comment, and the white space before it."""

    space: bytes
    word: bytes
    kind: str = "token"

    @property
    def plain(self) -> bytes:
        """Its text without layout."""
        return self.word

    @property
    def source(self) -> bytes:
        """Its text with layout."""
        return self.space + self.word

    @property
    def key(self) -> bytes:
        """Empty: tokens have no names."""
        return b""

    @property
    def children(self) -> "Elements":
        """Empty: nothing is inside a token."""
        return ()

    def with_space(self, space: bytes) -> "Token":
        """Return it with other white space before it."""
        return self._replace(space=space)

    def words(self) -> list[bytes]:
        """Return its word."""
        return [self.word]

    def walk(self) -> Iterator["Construct"]:
        """Yield nothing: a token contains no constructs."""
        yield from ()


@frozen(kw_only=True)
class Construct:
    """A statement, a list, an expression in brackets, or another part of a program.

    Attributes:
        kind: What it is, in a vocabulary that all languages share.
        mode: The relation of its children to each other.
        children: Constructs and tokens, in order.
        key: Its name among its siblings, such as a function's; empty if it has none.
        indent: How much deeper its children are indented than it is.
        comma: The white space before the separator that follows an item; `None` if there
            is no separator.
        tail: Comments after an item's separator.
        plain: Its words without layout. Two constructs that differ only in layout have
            equal words.
        source: Its words with their layout.
        text: The text that `render` has computed for it, if any.
        head: The words that `head_of` has found in it, if any.
    """

    kind: str
    mode: Mode = Mode.SEQUENCE
    children: tuple["Element", ...] = field(repr=False)
    key: bytes = b""
    indent: bytes = b""
    comma: bytes | None = None
    tail: tuple[Token, ...] = ()
    plain: bytes = field(init=False, repr=False, eq=False)
    source: bytes = field(init=False, repr=False, eq=False)
    text: bytes | None = field(init=False, repr=False, eq=False, default=None)
    head: bytes | None = field(init=False, repr=False, eq=False, default=None)

    @plain.default
    def _join_words(self) -> bytes:
        words = _BETWEEN.join([each.plain for each in (*self.children, *self.tail)])
        return _OPEN + words + _CLOSE if self.mode is Mode.MEMBERS else words

    @source.default
    def _join_source(self) -> bytes:
        parts = [each.source for each in (*self.children, *self.tail)]
        comma = b"" if self.comma is None else self.comma + b","
        return _BETWEEN.join([*parts, self.indent, comma])

    @property
    def space(self) -> bytes:
        """The white space before its first token."""
        return self.children[0].space if self.children else b""

    @property
    def parts(self) -> list["Construct"]:
        """The constructs among its children."""
        return [each for each in self.children if isinstance(each, Construct)]

    def with_parts(self, change: Callable[["Construct"], "Element"]) -> "Construct":
        """Return it with each construct among its children changed."""
        children = [change(e) if isinstance(e, Construct) else e for e in self.children]
        return evolve(self, children=tuple(children))

    def with_space(self, space: bytes) -> "Construct":
        """Return it with other white space before its first token."""
        if not self.children:
            return self
        first, *rest = self.children
        return evolve(self, children=(first.with_space(space), *rest))

    def words(self) -> list[bytes]:
        """Return its words in order."""
        return self.plain.translate(None, _OPEN + _CLOSE).split(_BETWEEN)

    def walk(self) -> Iterator["Construct"]:
        """Yield it and every construct in it."""
        yield self
        for child in self.children:
            yield from child.walk()


Element = Construct | Token
Elements = tuple[Element, ...]


def suite(children: Elements, indent: bytes = b"", kind: str = "suite") -> Construct:
    """Make a construct of independent members, such as the body of a function."""
    return Construct(kind=kind, mode=Mode.MEMBERS, children=children, indent=indent)


def has_suite(node: Construct) -> bool:
    """Whether a clause has a body."""
    return any(child.kind == "suite" for child in node.children)


def has_members(element: Element) -> bool:
    """Whether an element is or contains a construct of independent members, such as a suite."""
    return _OPEN in element.plain


def split_tail(children: Elements) -> tuple[Elements, tuple[Token, ...]]:
    """Separate an item's children from the comments at its end."""
    end = len(children)
    while end > 1 and children[end - 1].kind == "comment":
        end -= 1
    return children[:end], tuple(each for each in children[end:] if isinstance(each, Token))


def same(one: Element, other: Element) -> bool:
    """Whether two elements have the same words, whatever their layout."""
    return one.plain == other.plain


def head_of(statement: Construct) -> bytes:
    """Return the words of a statement outside of its suites and further clauses."""
    if statement.head is None:
        first = statement
        if statement.mode is Mode.MEMBERS:
            clauses = (each for each in statement.parts if each.kind != "decorator")
            first = next(clauses, statement)
        object.__setattr__(statement, "head", b" ".join(words_of_head(first)))
    return statement.head or b""


def words_of_head(element: Element) -> list[bytes]:
    """Return the words of a statement or clause outside of its suites, one by one."""
    found: list[bytes] = []
    _add_words(element, found)
    return found


def _add_words(element: Element, found: list[bytes]) -> None:
    if isinstance(element, Token):
        if element.kind != "comment":
            found.append(element.word)
    elif element.kind != "suite":
        for i, child in enumerate(element.children):
            if i and element.mode is Mode.LIST:
                found.append(b",")
            _add_words(child, found)


def indented(space: bytes, indent: bytes) -> bytes:
    """Make the indentation at the end of white space relative to *indent*."""
    head, newline, last = space.rpartition(b"\n")
    if not newline:
        return space
    last = last[len(indent) :] if last.startswith(indent) else ABSOLUTE + last
    return head + newline + last


def relative_lines(word: bytes, indent: bytes) -> bytes:
    """Make the lines of a docstring relative to *indent*."""
    return word.replace(b"\n" + indent, b"\n" + RELATIVE) if indent else word


def render(element: Element, indent: bytes = b"") -> bytes:
    """Return the source text of an element."""
    return _text(element).replace(_INDENTED, b"\n" + indent)


_INDENTED = b"\n" + RELATIVE  # in a text: a newline, and the indentation to be put after it


def _text(element: Element) -> bytes:
    """Return an element's text, in which marks stand for the indentation around it.

    Suites and lists of clauses keep theirs, since trees share most of them.
    """
    if isinstance(element, Token):
        return _token_text(element)
    if element.mode is not Mode.MEMBERS:
        return _join_text(element)
    if element.text is None:
        object.__setattr__(element, "text", _join_text(element))
    return element.text or b""


def _token_text(token: Token) -> bytes:
    space, word, _ = token
    if b"\n" in space:
        head, _, last = space.rpartition(b"\n")
        space = head + b"\n" + last[1:] if last[:1] == ABSOLUTE else head + _INDENTED + last
    return space + word


def _join_text(element: Construct) -> bytes:
    parts: list[bytes] = []
    is_list, last_index = element.mode is Mode.LIST, len(element.children) - 1
    for i, child in enumerate(element.children):
        parts.append(_text(child))
        if is_list and isinstance(child, Construct):
            if child.comma is not None or i < last_index:
                parts += [child.comma or b"", b","]
            parts += map(_text, child.tail)
    text = b"".join(parts)
    return text.replace(_INDENTED, _INDENTED + element.indent) if element.indent else text


_MOST_SHOWN = 100
"""The most characters of an excerpt."""


def excerpt(*elements: Element) -> str:
    """Return the first line of elements' source without comments, to quote in a reason."""
    tokens = [token for each in elements for token in _tokens(each)]
    words = [token for token in tokens if token.kind != "comment"] or tokens
    text = b"".join(token.space + token.word for token in words)
    return one_line(text.replace(ABSOLUTE, b"").strip().removesuffix(b","))


def one_line(text: bytes) -> str:
    """Return the first line of a text, to quote in a reason, cut after a word if one fits."""
    first, _, rest = text.decode("utf-8", "replace").strip().partition("\n")
    first = first.strip()
    if len(first) <= _MOST_SHOWN:
        return f"{first} …" if rest else first
    cut = first[: _MOST_SHOWN - 1]
    head = cut.rpartition(" ")[0].rstrip()
    return f"{head} …" if head else f"{cut}…"


def _comma(element: Element) -> bytes:
    """Return the separator after an item."""
    comma = element.comma if isinstance(element, Construct) else None
    return b"" if comma is None else comma + b","


def lines_of(tree: Construct, parts: Sequence[Element], around: Element | None = None) -> list[int]:
    """Return the numbers of the lines on which *parts* of a file's tree have words.

    Trees share equal tokens. So a run of tokens is looked for in the construct *around* it;
    none is found if that is not in the tree and the run occurs more than once.
    """
    layout = _LAYOUTS.recall(id(tree), lambda: _Layout(tree))
    found = next((span for each in parts if (span := layout.span(each))), None)
    if found is None:
        found = layout.find([token for part in parts for token in _tokens(part)], around)
        if found is None:
            return []
    elif (last := layout.span(parts[-1])) is not None:
        found = range(found.start, last.stop)
    lines = [line for i in found if layout.has_words(i) for line in layout.lines[i]]
    return list(dict.fromkeys(lines)) or [layout.lines[found.stop - 1].stop - 1][: len(found)]


class _Layout:
    """Where the constructs and tokens of a tree are.

    Attributes:
        tree: The tree, which must live as long as the places of its constructs are known.
        tokens: Its tokens, in order.
        lines: The lines of each token.
    """

    def __init__(self, tree: Construct) -> None:
        self.tree = tree
        self.tokens: list[Token] = []
        self.lines: list[range] = []
        self._spans: dict[int, range] = {}
        self._add(tree)
        line = 0
        for token in self.tokens:
            line += token.space.count(b"\n")
            end = line + token.word.count(b"\n")
            self.lines.append(range(line, end + 1))
            line = end

    def _add(self, element: Construct) -> None:
        start = len(self.tokens)
        for child in element.children:
            if isinstance(child, Token):
                self.tokens.append(child)
            else:
                self._add(child)
        if element.comma is not None or element.tail:
            self.tokens += _after(element)
        self._spans.setdefault(id(element), range(start, len(self.tokens)))

    def span(self, part: Element) -> range | None:
        """Return the places of a construct's tokens; `None` if it is not in the tree."""
        return self._spans.get(id(part)) if isinstance(part, Construct) else None

    def find(self, run: Sequence[Token], around: Element | None) -> range | None:
        """Return the places of equal tokens: the first in a construct, or the only ones."""
        words = [token.word for token in run]
        within = self.span(around) if around is not None else None
        places = [
            i
            for i in within or range(len(self.tokens))
            if words and i + len(words) <= len(self.tokens)
            if all(self.tokens[i + k].word == word for k, word in enumerate(words))
        ]
        is_certain = len(places) == 1 or (places and within is not None)
        return range(places[0], places[0] + len(words)) if is_certain else None

    def has_words(self, place: int) -> bool:
        """Whether a token is neither empty nor a comment."""
        token = self.tokens[place]
        return bool(token.word) and token.kind != "comment"


_LAYOUTS = Memo[int, _Layout](size=8)


def _tokens(element: Element) -> Iterator[Token]:
    """Yield the tokens of an element in order."""
    if isinstance(element, Token):
        yield element
        return
    for child in (*element.children, *_after(element)):
        yield from _tokens(child)


def _after(item: Construct) -> Iterator[Token]:
    """Yield the separator after an item as a token without a word, and the comments after it."""
    if separator := _comma(item):
        yield Token(separator, b"")
    yield from item.tail


def functions_of(tree: Element, scope: bytes = b"") -> Iterator[tuple[bytes, Construct]]:
    """Yield each named function by its qualified name, but no nested functions."""
    for child in tree.children:
        if not isinstance(child, Construct):
            continue
        if child.kind == "def" and child.key:
            yield scope + child.key, child
        elif child.mode is Mode.MEMBERS or child.kind == "class":
            # A class consists of its decorators and a clause that has its name as well.
            is_named = child.kind == "class" and child.mode is Mode.MEMBERS
            yield from functions_of(child, scope + child.key + b"." if is_named else scope)


_MOST_TOKENS = 50_000
"""The most tokens of a version that are read; each takes about 30 microseconds."""


def check_size(texts: Iterable[bytes]) -> None:
    """Refuse a version if the parts that are to be read have too many tokens.

    Raises:
        StructureError: There are too many.
    """
    parts = list(texts)
    # A text has no more tokens than bytes, so that few files are searched.
    if sum(map(len, parts)) <= _MOST_TOKENS:
        return
    if sum(1 for part in parts for _ in PART.finditer(part)) > _MOST_TOKENS:
        raise StructureError(f"the definitions that differ have more than {_MOST_TOKENS:,} tokens")


def functions_changed_by_both(
    versions: Sequence[Construct], merged: Element
) -> Iterator[tuple[bytes, Construct, tuple[Construct, Construct], Construct]]:
    """Yield the functions that both sides changed: name, base, ours with theirs, and merged."""
    before, mine, other, after = (dict(functions_of(tree)) for tree in (*versions, merged))
    for name, function in after.items():
        if name in before and name in mine and name in other:
            sides = mine[name], other[name]
            if not any(same(before[name], side) for side in sides):
                yield name, before[name], sides, function
