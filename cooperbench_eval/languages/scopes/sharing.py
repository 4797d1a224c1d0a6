"""Which declarations may share a name in one scope."""

from collections.abc import Sequence

from attrs import frozen

from cooperbench_eval.languages.model import Branch, Clash, Declaration

_MOST_COMPARED = 100
"""The most others in its scope with which a declaration of a name is compared."""


@frozen(kw_only=True)
class Sharing:
    """The rules of a language, by the kinds of declarations.

    Attributes:
        pairs: The kinds that may share a name.
        with_all: The kinds that may share a name with any other.
        alone: If it is given, equal kinds may share a name, except these.
        uncertain: The kinds of which a second declaration may not replace the first.
    """

    pairs: frozenset[frozenset[str]] = frozenset()
    with_all: frozenset[str] = frozenset()
    alone: frozenset[str] | None = None
    uncertain: frozenset[str] = frozenset()

    def clash(self, name: str, label: str, found: Sequence[Declaration]) -> Clash | None:
        """Return the clash of declarations of one name in one scope, if there is one."""
        lines: list[int] = []
        known: dict[tuple[str, Branch], Declaration] = {}
        is_certain = True
        for each in found:
            others = (one for one in known.values() if not self._may_share(one.kind, each.kind))
            other = next((one for one in others if not each.excludes(one)), None)
            if other is not None:
                lines += [each.line] if lines else [other.line, each.line]
                is_certain = is_certain and not any(
                    one.branch or one.kind in self.uncertain for one in (other, each)
                )
            if len(known) < _MOST_COMPARED:
                known.setdefault((each.kind, each.branch), each)
        return Clash(name, label, tuple(sorted(lines)), is_certain) if lines else None

    def _may_share(self, kind: str, other: str) -> bool:
        if kind == other and self.alone is not None:
            return kind not in self.alone
        return frozenset((kind, other)) in self.pairs or not self.with_all.isdisjoint((kind, other))


def pairs(text: str) -> frozenset[frozenset[str]]:
    """Turn `a: b c` into the pairs of a with a, b and c; `!a` leaves out a with a."""
    found = set()
    for line in text.splitlines():
        first, _, others = line.strip().partition(":")
        found |= {frozenset((first.lstrip("!"), other)) for other in others.split()}
        if first and not first.startswith("!"):
            found.add(frozenset((first,)))
    return frozenset(found)
