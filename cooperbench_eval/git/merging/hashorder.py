"""The order in which git lists the names in one of its hash tables.

Git keeps folders in hash tables and walks through these. The order of the walk decides
between equally good renames, so a merge that matches git's needs the same order.
"""

from collections.abc import Iterable

from cooperbench_eval.git.trees.objects import encode_path

__all__ = ["order_by_hash"]

_SMALLEST_TABLE = 64  # buckets
_GROWTH = 4  # the factor by which a table grows
_MOST_FULL = 0.8  # names per bucket; with more, the table grows


def order_by_hash(names: Iterable[str]) -> list[str]:
    """Return *names*, which are added in this order, as git's hash table lists them.

    The buckets come in order. In each bucket, the last name comes first. When the table
    grows, the names are moved in the order in which they are listed.
    """
    buckets: list[list[str]] = [[] for _ in range(_SMALLEST_TABLE)]
    for count, name in enumerate(dict.fromkeys(names), start=1):
        _add(buckets, name)
        if count > len(buckets) * _MOST_FULL:
            larger: list[list[str]] = [[] for _ in range(len(buckets) * _GROWTH)]
            for each in _listed(buckets):
                _add(larger, each)
            buckets = larger
    return _listed(buckets)


def _add(buckets: list[list[str]], name: str) -> None:
    buckets[_hash(name) % len(buckets)].append(name)


def _listed(buckets: Iterable[list[str]]) -> list[str]:
    return [name for bucket in buckets for name in reversed(bucket)]


def _hash(name: str) -> int:
    """Return the 32-bit FNV-1 hash of a name."""
    value = 0x811C9DC5
    for byte in encode_path(name):
        value = (value * 0x01000193 & 0xFFFFFFFF) ^ byte
    return value
