"""Bounded caches of computed values."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar, cast, overload
from weakref import ReferenceType, ref

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
_Thing = TypeVar("_Thing")


class WeighedMemo(Generic[_Key, _Value]):
    """Remembers the values that were computed last, up to a total size.

    Threads may share one. It is empty after unpickling.

    Example:
        >>> squares = WeighedMemo[int, list[int]](max_bytes=100)
        >>> squares.keep(3, [9], size=90), squares.get(3), squares.get(4)
        ([9], [9], None)
    """

    def __init__(self, max_bytes: int) -> None:
        """Keep values of up to *max_bytes* in total; the oldest ones are dropped first."""
        self._max_bytes = max_bytes
        self._bytes = 0
        self._values: dict[_Key, _Value] = {}
        self._sizes: dict[_Key, int] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["WeighedMemo[_Key, _Value]"], tuple[int]]:
        return type(self), (self._max_bytes,)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: _Key) -> _Value | None:
        """Return the value of *key*, or `None` if it is not remembered."""
        return self._values.get(key)

    def keep(self, key: _Key, value: _Value, *, size: int) -> _Value:
        """Remember a value that needs about *size* bytes; return the one that is remembered.

        If another thread was faster, that is the other thread's value. The newest value is kept
        even if it alone exceeds the limit.
        """
        with self._lock:
            if key in self._values:
                return self._values[key]
            self._values[key] = value
            self._sizes[key] = size
            self._bytes += size
            while self._bytes > self._max_bytes and len(self._values) > 1:
                oldest = next(iter(self._sizes))
                self._bytes -= self._sizes.pop(oldest)
                del self._values[oldest]
        return value


class Memo(WeighedMemo[_Key, _Value]):
    """Remembers the values that were computed last.

    Threads may share one: at worst, two of them compute the same value.

    Example:
        >>> lengths = Memo[str, int](size=2)
        >>> lengths.recall("tea", lambda: 3), lengths.recall("tea", lambda: 4)
        (3, 3)
    """

    def __init__(self, size: int) -> None:
        """Keep up to *size* values; the oldest one is dropped first."""
        super().__init__(size)

    @overload
    def recall(self, key: _Key, compute: Callable[[], _Value]) -> _Value: ...

    @overload
    def recall(self, key: _Key, compute: Callable[[], _Value | None]) -> _Value | None: ...

    def recall(self, key: _Key, compute: Callable[[], _Value | None]) -> _Value | None:
        """Return the value of *key*; compute it if it is not remembered.

        `None` is never remembered, and neither is an exception that *compute* raises.
        """
        value = self.get(key)
        if value is None and (value := compute()) is not None:
            value = self.keep(key, value, size=1)
        return value


class TextMemo(Generic[_Value]):
    """Remembers a value for each of the texts that were given last, up to a total length.

    A value may need far more memory than its text, in proportion to it. So the number of
    texts alone would not bound the memory. Threads may share one.

    Example:
        >>> words = TextMemo(lambda text: text.split(), max_bytes=8)
        >>> words(b"a b") is words(b"a b")
        True
    """

    def __init__(self, compute: Callable[[bytes], _Value], *, max_bytes: int) -> None:
        """Remember what *compute* returns for texts of up to *max_bytes* in total."""
        self._compute = compute
        self._max_bytes = max_bytes
        self._memo = WeighedMemo[bytes, tuple[_Value]](max_bytes)

    def __call__(self, text: bytes) -> _Value:
        """Return the value of *text*; compute it if it is not remembered."""
        found = self._memo.get(text)
        if found is None:
            found = (self._compute(text),)
            if len(text) <= self._max_bytes:
                found = self._memo.keep(text, found, size=len(text))
        return found[0]


class IdentityMemo(Memo[int, tuple[object, _Value]]):
    """Remembers a value for each object, whether or not other objects are equal to it."""

    def recall_for(self, thing: _Thing, compute: Callable[[_Thing], _Value]) -> _Value:
        """Return the value of *thing*; it is kept, so that no other object reuses its id."""
        return self.recall(id(thing), lambda: (thing, compute(thing)))[1]


class KeptValues:
    """Caches that belong to one object, and end with it.

    Each cache is bounded, but a program may hold many objects. So only the eight objects
    whose caches were used last have them.

    Example:
        >>> caches = KeptValues()
        >>> caches.one(dict) is caches.one(dict)
        True
    """

    __slots__ = ("__weakref__", "_values")

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._values: dict[object, object] = {}

    def one(self, make: Callable[[], _Value]) -> _Value:
        """Return the value that *make* returned the first time; it must be the same callable."""
        value = self._values.get(make)
        if value is None:
            value = make()
        with _KEEPERS_LOCK:
            _KEEPERS.pop(id(self), None)
            _KEEPERS[id(self)] = ref(self)  # the last used ones come last
            if len(_KEEPERS) > _MOST_KEEPERS:
                oldest = _KEEPERS.pop(next(iter(_KEEPERS)))()
                if oldest:
                    oldest._values = {}  # noqa: SLF001 - of this class
            return cast("_Value", self._values.setdefault(make, value))


_MOST_KEEPERS = 8
_KEEPERS: dict[int, ReferenceType[KeptValues]] = {}
_KEEPERS_LOCK = Lock()
