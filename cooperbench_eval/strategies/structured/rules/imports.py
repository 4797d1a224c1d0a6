"""Refuses imports of both sides that give one name to different things."""

from collections.abc import Iterator, Sequence

from cooperbench_eval.languages.tree import DisagreementError, Element

__all__ = ["check_imports"]


def check_imports(one: Sequence[Element], other: Sequence[Element]) -> None:
    """Refuse a name that is imported by what each side inserts.

    Raises:
        DisagreementError: The later import would replace the earlier one, or not compile.
    """
    if name := set(_imported(one)) & set(_imported(other)):
        shown = min(name).decode("utf-8", "replace")
        raise DisagreementError(f"both sides import different things as {shown!r}")


def _imported(elements: Sequence[Element]) -> Iterator[bytes]:
    """Yield the names that Python's `from` imports and Java's imports of classes bind."""
    for each in elements:
        if each.kind != "import":
            continue
        if each.key.startswith(b"from "):
            for items in each.walk():
                yield from (e.key for e in items.children if items.kind == "items")
        words = [child.plain for child in each.children]
        if words[-3:-2] == [b"."] and words[-1] == b";" and words[1] != b"static":
            yield from {words[-2]} - {b"*"}
