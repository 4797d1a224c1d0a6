"""Splits files of Rust into tests and what tests use."""

import re
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from cooperbench_eval.running.readers.masking import RUST
from cooperbench_eval.running.readers.parts import Part, remembered

__all__ = ["ANY", "rust_parts"]

ANY = "*"
"""Ends a name that stands for all tests below it; a macro may generate several."""

_TOKEN = re.compile(
    r"(?P<attribute>#!?\[)|(?P<closes>\})|(?:\bmod\s+(?P<module>\w+)\s*)?(?P<opens>\{)"
    r"|\b(?P<kind>fn|struct|enum|union|const|static|trait|type|impl|macro_rules!|use)\b"
    r"(?:\s+mut\b)?(?:\s+\$?(?P<name>\w+))?"
)
_IS_TEST = re.compile(r"#\[\s*[\w:]*(?:test|case|check)", re.IGNORECASE)
_PLAIN = re.compile(r"#\[\s*test\s*\]")


@remembered
def rust_parts(data: bytes) -> Sequence[Part]:
    """Split a file; a test is named by its modules in the file and its function.

    A function with any attribute that seems to be about tests counts. If that is not
    `#[test]`, everything below the function's name counts too.
    """
    text = data.decode(errors="replace")
    masked = RUST.mask(text)
    items = _items(text if masked is None else masked)
    begins = [*(item.begin for item in items), len(text)]
    return tuple(
        part
        for item, end in zip(items, begins[1:], strict=True)
        for part in _parts(item, text[item.begin : item.end or end].rstrip())
    )


@frozen(kw_only=True)
class _Item:
    """A declaration; it ends where the next one begins unless *end* says otherwise."""

    begin: int
    end: int = 0
    kind: str
    name: str
    attributes: str
    modules: tuple[str, ...]


def _items(masked: str) -> list[_Item]:
    items: list[_Item] = []
    blocks: list[str] = []  # the open ones; those of modules by name
    attributes: list[int] = []  # where the attributes before the next item begin
    place = 0
    while token := _TOKEN.search(masked, place):
        place = token.end()
        if token["attribute"]:
            place = _end_of_attribute(masked, place)
            if not token[0].startswith("#!"):
                attributes.append(token.start())
            continue
        if token["opens"]:
            blocks.append(token["module"] or "")
        elif token["closes"]:
            blocks[-1:] = []
        else:
            begin = attributes[0] if attributes else token.start()
            items.append(
                _Item(
                    begin=begin,
                    kind=token["kind"],
                    name="" if "$" in token[0] else token["name"] or "",
                    attributes=masked[begin : token.start()],
                    modules=tuple(filter(None, blocks)),
                )
            )
            if _is_test(items[-1]):
                place = _end_of_block(masked, place)
                items[-1] = evolve(items[-1], end=place)
        attributes.clear()
    return items


def _is_test(item: _Item) -> bool:
    return item.kind == "fn" and _IS_TEST.search(item.attributes) is not None


def _end_of_attribute(masked: str, place: int) -> int:
    return _closing(masked, place, "[", "]", 1)


def _end_of_block(masked: str, place: int) -> int:
    """Return where the next block ends."""
    return _closing(masked, place, "{", "}", 0)


def _closing(masked: str, place: int, opens: str, closes: str, depth: int) -> int:
    for bracket in re.compile(f"[{re.escape(opens + closes)}]").finditer(masked, place):
        depth += 1 if bracket[0] == opens else -1
        if depth <= 0:
            return bracket.end()
    return len(masked)


def _parts(item: _Item, text: str) -> Iterator[Part]:
    uses = frozenset(re.findall(r"\w+", text))
    binds = frozenset({item.name} if item.name else ())
    if not _is_test(item):
        # Imports and implementations have no name of their own.
        if item.kind != "use":
            yield Part(text=text, binds=binds or uses, uses=uses)
        return
    name = "::".join((*item.modules, item.name or ANY))
    yield Part(text=text, test=name, binds=binds, uses=uses)
    if item.name and not _PLAIN.search(item.attributes):
        yield Part(text=text, test=f"{name}::{ANY}", binds=binds, uses=uses)
