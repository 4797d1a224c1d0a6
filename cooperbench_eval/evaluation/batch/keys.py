"""Keys of stored reports: digests of a pair or team and its evaluator.

A key covers everything that the report depends on: the base's tree, the patches, the
suites, the identity of the pair or team, and the evaluator with its strategies, their options and
their code. It covers neither the version of this library nor the software that is
installed where tests run, so a store outlives an upgrade and serves several machines.
"""

import hashlib
import inspect
import json
import pickle
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import lru_cache, partial, singledispatch
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

import attrs

from cooperbench_eval.evaluation.evaluator import Evaluator
from cooperbench_eval.evaluation.pairs import Feature, FeatureGroup, FeatureTeam
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.running import ResultCache
from cooperbench_eval.support.memo import IdentityMemo

_VERSION: Final = 1
"""Incremented when the meaning of keys changes; older reports are then not found."""
_KEPT = 64
_OWN: Final = __name__.partition(".")[0]


class PairKeys:
    """Computes the keys of pairs and teams for one evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = _digest([_VERSION, describe(evaluator)])
        # The pairs and teams of a task share their base and their features.
        self._once = IdentityMemo[str](_KEPT).recall_for

    def key(self, pair: FeatureGroup) -> str:
        """Return the key of a pair or team as 64 hexadecimal digits; no two have the same."""
        features: list[Any] = [self._once(each, self._feature) for each in pair.features]
        if isinstance(pair, FeatureTeam):
            features = [{"team": features}]
        base = self.base(pair)
        identity = (pair.repo_name, pair.task_id, pair.model, pair.setting, pair.k)
        own = {"joint": pair.joint, "regression": pair.regression}
        suites = {name: self._once(suite, _digest_of) for name, suite in own.items() if suite}
        return _digest([self._evaluator, *identity, base, *features, *([suites] if suites else [])])

    def base(self, pair: FeatureGroup) -> str:
        """Return the tree id of a pair's base, which is that of all pairs and teams of its task."""
        return self._once(pair.base, lambda base: base.tree_id)

    def _feature(self, feature: Feature) -> str:
        # Not with `describe`, which is slow: there may be a hundred thousand pairs.
        tests = feature.tests and self._once(feature.tests, _digest_of)
        patch = [_sha256(_contents(feature.patch)), feature.patch.problem]
        start = feature.base  # in a pair, the name of a commit is replaced by its tree
        own = [] if start is None or isinstance(start, str) else [start.commit_id or start.tree_id]
        return _digest([feature.number, patch, tests, feature.description, *own])


def _contents(patch: Patch) -> bytes:
    """Return the text of a patch; one made from changes has none, so its entries are listed."""
    if patch.changes is None:
        return patch.data or bytes(patch)
    entries = [
        (path, entry and (entry.mode.value, entry.id)) for path, entry in patch.changes.items()
    ]
    return json.dumps(entries).encode()


def _digest_of(thing: object) -> str:
    return _digest(describe(thing))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest(facts: object) -> str:
    text = json.dumps(facts, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def describe(thing: object) -> Any:
    """Describe *thing* in plain JSON values, which are the same in every process.

    An object is described by its class and its attributes. Attrs fields that do not count
    for equality, such as caches, are left out. An object without attributes is described
    by its pickle, or, if it cannot be pickled (such as a lock), only by its class.
    Functions and classes of other packages are described by their source as well.
    """
    above: set[int] = set()
    # Each part is described once. It is kept, because a new object could reuse the id of a
    # temporary one.
    known: dict[int, tuple[object, Any]] = {}

    def described(part: object) -> Any:
        if part is None or isinstance(part, bool | int | float | str):
            return part.value if isinstance(part, Enum) else part
        if id(part) in above:
            return "(itself)"
        if id(part) not in known:
            above.add(id(part))
            known[id(part)] = (part, _plain(part, inside))
            above.discard(id(part))
        return known[id(part)][1]

    def inside(part: object) -> Any:
        # A list or dict is replaced with its digest, so that parts which are used in several
        # places stay small.
        found = described(part)
        return _digest(found) if isinstance(found, list | dict) else found

    return described(thing)


_Inside = Callable[[object], Any]


@singledispatch
def _plain(thing: Any, inside: _Inside) -> Any:
    held = _attributes(thing)
    return [_class(thing.__class__), inside(held) if held else inside(_pickled(thing))]


@_plain.register(Mapping)
def _(thing: Mapping[Any, Any], inside: _Inside) -> Any:
    if all(isinstance(name, str) for name in thing):
        return {str(name): inside(value) for name, value in thing.items()}
    return _sorted([inside(name), inside(value)] for name, value in thing.items())


@_plain.register
def _(thing: FunctionType, inside: _Inside) -> Any:
    held = [cell.cell_contents for cell in thing.__closure__ or ()]
    return [
        _name_of(thing),
        *map(inside, (_source(thing), held, thing.__defaults__, thing.__kwdefaults__)),
    ]


def _sorted(values: Iterable[Any]) -> list[Any]:
    return sorted(values, key=partial(json.dumps, sort_keys=True))


def _name_of(thing: Any) -> str:
    return f"{thing.__module__}:{thing.__qualname__}"


@lru_cache(maxsize=256)
def _class(kind: Any) -> str:
    return _digest([_name_of(kind), _source(kind)])


def _source(thing: Any) -> Any:
    """Return the source of a class or function, or its code; `None` for a built-in one."""
    if (thing.__module__ or "").partition(".")[0] == _OWN:
        return None  # so that a store outlives an upgrade
    code: CodeType | None = getattr(thing, "__code__", None)
    # `eval` gives all code this file name, and Python 3.13 has the text of `python -c` under it.
    if code and code.co_filename == "<string>":
        return _compiled(code)
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        return code and _compiled(code)


def _compiled(code: CodeType) -> list[Any]:
    constants = [
        _compiled(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts
    ]
    return [code.co_code.hex(), code.co_names, constants]


_plain.register(bytes | bytearray, lambda thing, _: _sha256(thing))
_plain.register(Patch, lambda thing, inside: [inside(_contents(thing)), thing.problem])
_plain.register(ResultCache, lambda *_: None)  # the cache does not change results
_plain.register(PurePath, lambda thing, _: str(thing))
_plain.register(Enum, lambda thing, inside: inside(thing.value))
_plain.register(set | frozenset, lambda thing, inside: _sorted(map(inside, thing)))
_plain.register(list | tuple, lambda thing, inside: list(map(inside, thing)))
_plain.register(type, lambda thing, _: _class(thing))
_plain.register(MethodType, lambda thing, inside: [inside(thing.__func__), inside(thing.__self__)])
_plain.register(
    partial, lambda thing, inside: list(map(inside, (thing.func, thing.args, thing.keywords)))
)


def _pickled(thing: object) -> bytes | None:
    try:
        return pickle.dumps(thing)
    # A class may raise anything when it is pickled.
    except Exception:  # noqa: BLE001
        return None


def _attributes(thing: object) -> dict[str, object]:
    kind, state = type(thing), object.__getstate__(thing)
    own, slots = state if isinstance(state, tuple) else (state, None)
    found: dict[str, object] = {**(slots or {}), **(own or {})}
    if attrs.has(kind):
        for each in attrs.fields(kind):
            if not each.eq:
                found.pop(each.name, None)
    return found
