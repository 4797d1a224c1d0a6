"""Names a pair and its evaluation by content, so that a store knows what it has.

A key covers what the report depends on: the base's tree, the patches and suites,
who the pair is, and the evaluator with its strategies, their options and their code.
It covers neither this library's version nor what is installed where tests run: a
store outlives an upgrade, and serves several machines.
"""

import hashlib
import inspect
import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache, partial, singledispatch
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

import attrs

from cooperbench_eval.evaluator import Evaluator, Feature, FeaturePair
from cooperbench_eval.memo import Memo
from cooperbench_eval.patching import Patch
from cooperbench_eval.running import ResultCache

__all__ = ["PairKeys"]

_VERSION: Final = 1
"""Counts the meanings of a key; reports under keys of another one are not found."""
_KEPT = 64
_OWN: Final = __name__.partition(".")[0]


class PairKeys:
    """Makes the keys of pairs under one evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = _digest([_VERSION, describe(evaluator)])
        # The pairs of a task share their base and their features.
        self._named: Memo[int, tuple[object, str]] = Memo(_KEPT)

    def key(self, pair: FeaturePair) -> str:
        """Return the key of *pair* as 64 hexadecimal digits."""
        features = [self._once(each, self._feature) for each in (pair.feature1, pair.feature2)]
        base = self._once(pair.base, lambda base: base.tree_id)
        identity = (pair.repo_name, pair.task_id, pair.model, pair.setting, pair.k)
        return _digest([self._evaluator, *identity, base, *features])

    def _feature(self, feature: Feature) -> str:
        # By hand, since there are two for each of a hundred thousand pairs.
        tests = feature.tests and self._once(feature.tests, _digest_of)
        patch = [_sha256(feature.patch.data or bytes(feature.patch)), feature.patch.problem]
        return _digest([feature.number, patch, tests, feature.description])

    def _once(self, thing: Any, name: Callable[[Any], str]) -> str:
        """Name *thing*, or remember how it was named; it is kept, so its id stays its own."""
        return self._named.recall(id(thing), lambda: (thing, name(thing)))[1]


def _digest_of(thing: object) -> str:
    return _digest(describe(thing))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest(facts: object) -> str:
    text = json.dumps(facts, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def describe(thing: object) -> Any:
    """Say what *thing* is in plain JSON values, the same in every process.

    Objects are their class and their attributes. Attrs fields that do not count for
    equality are left out: caches, work in progress. What has no attributes is what it
    pickles to, or its class alone, as a lock is. Functions and classes that are not
    this library's are their source as well.
    """
    return _Describer().describe(thing)


class _Describer:
    """Describes one thing, and what is in it several times once."""

    def __init__(self) -> None:
        self._above: set[int] = set()
        self._known: dict[int, tuple[object, Any]] = {}

    def describe(self, thing: object) -> Any:
        if thing is None or isinstance(thing, bool | int | float | str):
            return thing.value if isinstance(thing, Enum) else thing
        if id(thing) in self._above:
            return "(itself)"
        if id(thing) not in self._known:
            self._above.add(id(thing))
            # Kept, lest a thing that was made for this leave its id to another.
            self._known[id(thing)] = (thing, _plain(thing, self._inside))
            self._above.discard(id(thing))
        return self._known[id(thing)][1]

    def _inside(self, thing: object) -> Any:
        """Describe a part; what is large becomes a digest, lest shared parts multiply."""
        described = self.describe(thing)
        return _digest(described) if isinstance(described, list | dict) else described


_Inside = Callable[[object], Any]


@singledispatch
def _plain(thing: Any, inside: _Inside) -> Any:
    """Say what *thing* is, and with *inside* what it holds."""
    held = _attributes(thing)
    return [_class(thing.__class__), inside(held) if held else inside(_pickled(thing))]


@_plain.register(bytes | bytearray)
def _(thing: bytes, _: _Inside) -> Any:
    return _sha256(thing)


@_plain.register
def _(thing: Patch, inside: _Inside) -> Any:
    return [inside(thing.data or bytes(thing)), thing.problem]


@_plain.register
def _(_: ResultCache, __: _Inside) -> Any:
    return None  # where results are kept does not change them


@_plain.register
def _(thing: PurePath, _: _Inside) -> Any:
    return str(thing)


@_plain.register
def _(thing: Enum, inside: _Inside) -> Any:
    return inside(thing.value)


@_plain.register(Mapping)
def _(thing: Mapping[Any, Any], inside: _Inside) -> Any:
    if all(isinstance(name, str) for name in thing):
        return {str(name): inside(value) for name, value in thing.items()}
    return _sorted([inside(name), inside(value)] for name, value in thing.items())


@_plain.register(set | frozenset)
def _(thing: Iterable[Any], inside: _Inside) -> Any:
    return _sorted(map(inside, thing))


@_plain.register(list | tuple)
def _(thing: Iterable[Any], inside: _Inside) -> Any:
    return list(map(inside, thing))


@_plain.register
def _(thing: type, _: _Inside) -> Any:
    return _class(thing)


@_plain.register
def _(thing: FunctionType, inside: _Inside) -> Any:
    held = [cell.cell_contents for cell in thing.__closure__ or ()]
    return [
        _name_of(thing),
        *map(inside, (_source(thing), held, thing.__defaults__, thing.__kwdefaults__)),
    ]


@_plain.register
def _(thing: MethodType, inside: _Inside) -> Any:
    return [inside(thing.__func__), inside(thing.__self__)]


@_plain.register
def _(thing: partial, inside: _Inside) -> Any:  # type: ignore[type-arg]
    return list(map(inside, (thing.func, thing.args, thing.keywords)))


def _sorted(values: Iterable[Any]) -> list[Any]:
    return sorted(values, key=partial(json.dumps, sort_keys=True))


def _name_of(thing: Any) -> str:
    return f"{thing.__module__}:{thing.__qualname__}"


@lru_cache(maxsize=256)
def _class(kind: Any) -> str:
    return _digest([_name_of(kind), _source(kind)])


def _source(thing: Any) -> Any:
    """Return the text that defines a class or function; of a built-in one there is none."""
    if (thing.__module__ or "").partition(".")[0] == _OWN:
        return None  # a store outlives an upgrade
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
    return code and _compiled(code)


def _compiled(code: CodeType) -> list[Any]:
    """Describe what was compiled from a text that is gone."""
    constants = [
        _compiled(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts
    ]
    return [code.co_code.hex(), code.co_names, constants]


def _pickled(thing: object) -> bytes | None:
    try:
        return pickle.dumps(thing)
    # Whatever its class has for it.
    except Exception:  # noqa: BLE001
        return None


def _attributes(thing: object) -> dict[str, object]:
    kind = type(thing)
    found = {name: getattr(thing, name) for name in _slots(kind) if hasattr(thing, name)}
    found |= getattr(thing, "__dict__", {})
    if attrs.has(kind):
        for each in attrs.fields(kind):
            if not each.eq:
                found.pop(each.name, None)
    return found


def _slots(kind: type) -> Iterator[str]:
    """Yield the names of a class's slots, as its objects have them."""
    for each in kind.__mro__:
        names = each.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name.startswith("__") and not name.endswith("__"):
                yield f"_{each.__name__.lstrip('_')}{name}"
            elif name not in {"__weakref__", "__dict__"}:
                yield name
