"""Finds calls in a merged file that do not fit the function of the same file that they call.

Only clear cases count: functions, methods and constructors that the file defines once,
with names that nothing else in the file binds.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cooperbench_eval.languages.model import CONSTRUCTORS, Arguments, Signature, Source, Use


class _Call(NamedTuple):
    """A call of a function that the file defines.

    Attributes:
        name: The qualified name of the function.
        arguments: What it is given.
        is_certain: Whether no other function can be meant, such as that of another class.
    """

    name: str
    arguments: Arguments
    is_certain: bool


def find_call_fault(before: Sequence[Source], now: Source) -> str:
    """Find a call that stops fitting, or a parameter that must be given in a new way.

    Args:
        before: Base, ours and theirs.
        now: The merged file.
    """
    signatures = [_signatures(each) for each in (*before, now)]
    changed = {
        name: signature
        for name, signature in signatures[-1].items()
        if any(each.get(name) != signature for each in signatures[:-1])
    }
    if not changed:
        return ""
    calls = [_calls(each, changed) for each in (*before, now)]
    fault = _moved_parameter(signatures, changed)
    fault = fault or _misfit(signatures, changed, calls)
    return fault or _mixed(signatures, changed, calls)


def _signatures(source: Source) -> dict[str, Signature]:
    """Return the parameters that a caller gives to each function that is defined once."""
    found: dict[str, Signature] = {}
    for name, definitions in source.by_name.items():
        each = definitions[0]
        scope, _, last = name.rpartition(".")
        if len(definitions) > 1 or each.signature is None or (scope and last in source.sets):
            continue
        given = each.signature.bound() if each.takes_instance else each.signature
        if last in CONSTRUCTORS and scope:
            is_plain = len(source.by_name.get(scope, ())) == 1
            if is_plain and f"{scope}.__new__" not in source.by_name:
                found[scope] = given
        elif scope or len(source.declared.get(name, ())) == 1:
            found[name] = given
    return found


def _calls(source: Source, names: Mapping[str, Signature]) -> set[_Call]:
    """Return the calls of functions that are known by these names."""
    methods: dict[str, list[str]] = {}
    for name in names:
        scope, _, last = name.rpartition(".")
        methods.setdefault(last, []).extend([name] if scope else [])
    found: set[_Call] = set()
    for use in (use for _, piece in source.pieces for use in piece.uses):
        if use.call is None:
            continue
        called = _called(use)
        if called in names:
            found.add(_Call(called, use.call, is_certain=True))
        elif len(use.chain) > 1 and len(alike := methods.get(use.chain[-1], [])) == 1:
            found.add(_Call(alike[0], use.call, is_certain=False))
    return found


def _called(use: Use) -> str:
    """Return the qualified name of the function that a use may call."""
    if use.owner:
        return ".".join((use.owner, *use.chain[1:]))
    return ".".join(use.chain) if use.is_free else ""


def _moved_parameter(
    signatures: Sequence[Mapping[str, Signature]], changed: Mapping[str, Signature]
) -> str:
    """Find a parameter that no version gives in the way that merged does."""
    *before, _ = (
        {(name, *way) for name in each.keys() & changed.keys() for way in each[name].ways}
        for each in signatures
    )
    known = set[tuple[str, ...]]().union(*before)
    now = {(name, *way) for name, signature in changed.items() for way in signature.ways}
    for name, parameter, way in sorted(now - known):
        if any(each[:2] == (name, parameter) for each in known):
            return f"{parameter!r} of {name!r} would be given {way}"
    return ""


def _misfit(
    signatures: Sequence[Mapping[str, Signature]],
    changed: Mapping[str, Signature],
    calls: Sequence[set[_Call]],
) -> str:
    """Find a call that fits its function in all versions that have it, but not in merged."""
    *before, now = calls
    certain = (call for call in now if call.is_certain)
    for call in sorted(certain, key=lambda each: (each.name, repr(each.arguments.shape))):
        versions = [
            signature
            for known, each in zip(before, signatures, strict=False)
            if call in known and (signature := each.get(call.name))
        ]
        problem = changed[call.name].misfit(call.arguments)
        if problem and not any(each.misfit(call.arguments) for each in versions):
            return f"a call of {call.name!r} would not fit, since it {problem}"
        # A call that only one side has was written for that side's parameters.
        writers = [i for i in (1, 2) if call in before[i] and call not in before[3 - i]]
        for i in writers if call not in before[0] else ():
            signature = signatures[i].get(call.name)
            if signature and (name := signature.moved(call.arguments, changed[call.name])):
                return (
                    f"a call of {call.name!r} would pass its argument for {name!r} "
                    "to another parameter"
                )
    return ""


def _mixed(
    signatures: Sequence[Mapping[str, Signature]],
    changed: Mapping[str, Signature],
    calls: Sequence[set[_Call]],
) -> str:
    """Find a function to which both sides add parameters that other files may mix up.

    Each side passes its parameter at the place where it added it. In merged, only one of them
    can have that place. If a side has no such call in this file, another file has it, and is
    unchanged. A function whose parameters can be given by name is not checked.
    """
    base, *sides, _ = signatures
    for name, now in changed.items():
        if name not in base or any(name not in each for each in sides) or now.can_be_named:
            continue
        added = [set(each[name].positional) - {*base[name].positional, ""} for each in sides]
        own = added[0] - added[1], added[1] - added[0]
        if not all(each.intersection(now.positional) for each in own):
            continue
        for side, new, known in zip(sides, added, calls[1:], strict=False):
            positions = side[name].positional
            moved = [
                i
                for i, each in enumerate(positions)
                if each in new and now.positional[i : i + 1] != (each,)
            ]
            if moved and not any(
                call.name == name and len(call.arguments.positional) > moved[0] for call in known
            ):
                return f"both sides add parameters to {name!r}, so calls may mix up its arguments"
    return ""
