"""Says what became of the definitions that a side adds, changes or removes."""

from collections.abc import Iterator, Mapping, Sequence

from cooperbench_eval.evaluation.auditing.fates import LineFate
from cooperbench_eval.languages.outline import Function, UnreadableError, functions, is_known
from cooperbench_eval.reporting.audits import AuditedDefinition, Fate
from cooperbench_eval.support.memo import Memo

__all__ = ["DefinitionCache", "definitions_of"]

_Functions = Mapping[str, Function]
_MOST_VERSIONS = 64
_MOST_BYTES = 500_000
"""Larger files are generated, and would take seconds."""


class DefinitionCache:
    """Remembers the definitions of the latest versions of files; a base keeps one."""

    def __init__(self) -> None:
        self._known: Memo[tuple[str, bytes], _Functions] = Memo(_MOST_VERSIONS)

    def functions(self, path: str, source: bytes | None) -> _Functions | None:
        """Return the definitions of a version by name; `None` if it cannot be read.

        An absent version has no definitions.
        """
        if source is None:
            return {}
        if len(source) > _MOST_BYTES:
            return None
        return self._known.recall((path, source), lambda: _functions(path, source))


def definitions_of(
    path: str,
    added: Mapping[int, LineFate],
    *,
    cache: DefinitionCache,
    base: bytes | None,
    side: bytes | None,
    others: Sequence[bytes | None],
    merged: bytes | None,
) -> Iterator[AuditedDefinition]:
    """Yield the definitions of one file that a side adds, changes or removes.

    Args:
        path: The file, whose name tells the language.
        added: What became of the lines that the side adds.
        cache: Remembers the definitions of versions.
        base: The file in the base; `None` if there is none.
        side: The file in the side's tree.
        others: The file in the trees of the other sides.
        merged: The file in the merged tree.
    """
    if not is_known(path):
        return
    before, after = cache.functions(path, base), cache.functions(path, side)
    if before is None or after is None:
        return
    now = cache.functions(path, merged) or {}
    theirs = [cache.functions(path, each) or {} for each in others]
    for name, function in after.items():
        fates = [added[n] for n in range(function.first - 1, function.last) if n in added]
        is_new = name not in before
        if not fates:
            old = before.get(name)
            if old is None or old.text == function.text:
                continue
            # Lines were only removed from it.
            fate = _fate_of_text(name, function, old, now)
        else:
            fate = _fate_of_lines(fates)
        if is_new and fate is Fate.LOST and _is_rewritten(name, now, theirs):
            fate = Fate.CHANGED
        yield AuditedDefinition(name=name, line=function.first, fate=fate, is_new=is_new)
    for name, function in before.items():
        if name not in after:
            expected = [
                each for each in theirs if name in each and each[name].text != function.text
            ]
            back = Fate.SUPERSEDED if expected else Fate.LOST
            fate = back if name in now else Fate.KEPT
            yield AuditedDefinition(name=name, line=function.first, fate=fate, is_removed=True)


def _functions(path: str, source: bytes) -> _Functions | None:
    try:
        return functions(path, source)
    except UnreadableError:
        return None


def _fate_of_lines(fates: Sequence[LineFate]) -> Fate:
    found = {each.fate for each in fates}
    if found <= {Fate.KEPT, Fate.MOVED}:
        return Fate.KEPT if Fate.KEPT in found else Fate.MOVED
    return found.pop() if len(found) == 1 else Fate.CHANGED


def _fate_of_text(name: str, function: Function, old: Function, now: _Functions) -> Fate:
    found = now.get(name)
    if found is None or found.text == function.text:
        return Fate.KEPT
    return Fate.LOST if found.text == old.text else Fate.CHANGED


def _is_rewritten(name: str, now: _Functions, others: Sequence[_Functions]) -> bool:
    """Whether the merged tree has a definition of this name that no other side wrote."""
    return name in now and all(
        name not in each or each[name].text != now[name].text for each in others
    )
