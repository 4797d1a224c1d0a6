"""Line diff by Myers's algorithm, with the shortcuts that git takes.

The search is the divide and conquer of E. W. Myers, "An O(ND) Difference
Algorithm and Its Variations" (Algorithmica 1, 1986): two frontiers of furthest
reaching paths, one from each end, meet in the middle, and each half is solved in
the same way. As in GNU diff, lines that cannot match are left out first, and an
expensive search accepts a good split instead of the best one. The limits for
"expensive" and "good" are git's, so the result equals that of
`git diff --diff-algorithm=myers`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count

_MAX_FREQUENT = 1024
"""A line with this many matches is frequent in a file of any size."""
_SURVEY_LINES = 100
"""How many lines before and after a frequent line are examined."""
_MIN_PATIENCE = 256
"""The number of edits that every search may make before it takes a shortcut."""
_LONG_SNAKE = 20
"""A run of equal lines (a snake) of this length makes a path promising."""
_PROMISE = 4
"""A path that is this many times longer than its number of edits is promising."""
_BEYOND = 1 << 60
"""A position after every line."""

_LONELY, _MATCHED, _FREQUENT = range(3)


def mark_changes(a: Sequence[bytes], b: Sequence[bytes]) -> tuple[bytearray, bytearray]:
    """Mark the lines that the other file lacks, as `histogram.mark_changes` does."""
    ids: dict[bytes, int] = {}
    a_ids = [ids.setdefault(line, len(ids)) for line in a]
    b_ids = [ids.setdefault(line, len(ids)) for line in b]
    head, tail = _common_ends(a_ids, b_ids)
    a_kept, a_changed = _leave_out(a_ids, b_ids, head, tail)
    b_kept, b_changed = _leave_out(b_ids, a_ids, head, tail)
    script = _EditScript([a_ids[i] for i in a_kept], [b_ids[i] for i in b_kept])
    for a_start, a_end, b_start, b_end in script.changes():
        for i in a_kept[a_start:a_end]:
            a_changed[i] = 1
        for i in b_kept[b_start:b_end]:
            b_changed[i] = 1
    return a_changed, b_changed


def _common_ends(a: list[int], b: list[int]) -> tuple[int, int]:
    """Count the equal lines at the start, and those at the end of the rest."""
    shorter = min(len(a), len(b))
    head = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    tail = next((i for i in range(shorter - head) if a[-1 - i] != b[-1 - i]), shorter - head)
    return head, tail


def _root(count: int) -> int:
    """Round the square root of *count* to a power of two, as git does."""
    return 1 << ((count.bit_length() + 1) // 2)


def _leave_out(
    lines: list[int], others: list[int], head: int, tail: int
) -> tuple[list[int], bytearray]:
    """Return the positions of the lines to search, and marks of those left out.

    Lines that the other file lacks, and frequent lines among them, would only slow the search down.
    """
    matches = Counter(others)
    frequent = min(_root(len(lines)), _MAX_FREQUENT)
    end = len(lines) - tail
    kinds = bytearray(
        _LONELY if not (count := matches[line]) else _MATCHED if count < frequent else _FREQUENT
        for line in lines[head:end]
    )
    changed = bytearray(len(lines))
    kept = []
    before, after = -_BEYOND, -1  # the lonely lines around each line
    for i, kind in enumerate(kinds):
        if kind == _LONELY:
            before = i
            changed[head + i] = 1
            continue
        if kind == _FREQUENT and i - before <= _SURVEY_LINES:
            if after < i:
                after = kinds.find(_LONELY, i + 1)
                after = _BEYOND if after < 0 else after
            if after - i <= _SURVEY_LINES and _is_amid_lonely(kinds, i):
                changed[head + i] = 1
                continue
        kept.append(head + i)
    return kept, changed


def _is_amid_lonely(kinds: bytearray, i: int) -> bool:
    """Whether most lines around *i*, before and after it, have no match in the other file."""
    first = max(i - _SURVEY_LINES, 0)
    start = max(kinds.rfind(_MATCHED, first, i) + 1, first)
    end = kinds.find(_MATCHED, i + 1, i + 1 + _SURVEY_LINES)
    if end < 0:
        end = min(i + 1 + _SURVEY_LINES, len(kinds))
    before, after = kinds.count(_LONELY, start, i), kinds.count(_LONELY, i + 1, end)
    if not before or not after:
        return False
    # The line itself counts once for each direction.
    frequent = end - start + 1 - before - after
    return 3 * frequent < before + after


_Bounds = tuple[int, int, int, int]
"""Of a part of the files: where it starts and ends in *a*, and where in *b*."""


class _EditScript:
    """The search for a short edit script between two lists of line numbers."""

    def __init__(self, a: list[int], b: list[int]) -> None:
        self._a = a
        self._b = b
        # Diagonal k = x - y runs from -len(b) - 1 to len(a) + 1. Each has its own list
        # item, because Python counts negative indexes from the end of the list.
        diagonals = len(a) + len(b) + 3
        self._forward = _Frontier(a, b, [0] * diagonals, is_reversed=False)
        self._backward = _Frontier(a[::-1], b[::-1], [0] * diagonals, is_reversed=True)
        self._patience = max(_root(diagonals), _MIN_PATIENCE)

    def changes(self) -> Iterator[_Bounds]:
        """Yield each changed box, in no particular order."""
        a, b = self._a, self._b
        boxes = [(0, len(a), 0, len(b), False)]
        while boxes:
            a_start, a_end, b_start, b_end, is_exact = boxes.pop()
            while a_start < a_end and b_start < b_end and a[a_start] == b[b_start]:
                a_start += 1
                b_start += 1
            while a_start < a_end and b_start < b_end and a[a_end - 1] == b[b_end - 1]:
                a_end -= 1
                b_end -= 1
            if a_start == a_end or b_start == b_end:
                yield a_start, a_end, b_start, b_end
                continue
            patience = 0 if is_exact else self._patience
            x, y, exact_before, exact_after = self._split(
                (a_start, a_end, b_start, b_end), patience
            )
            boxes.append((a_start, x, b_start, y, exact_before))
            boxes.append((x, a_end, y, b_end, exact_after))

    def _split(self, bounds: _Bounds, patience: int) -> tuple[int, int, bool, bool]:
        """Find a point on the edit script of a box that starts and ends with a difference.

        After *patience* edits, a good point is enough; 0 means no limit. Return the point, and
        whether to search the parts before and after it without shortcuts.
        """
        forward, backward = self._forward, self._backward
        forward.start(bounds)
        backward.start(bounds)
        is_odd = (bounds[0] - bounds[2] - bounds[1] + bounds[3]) % 2 == 1
        for edits in count(1):
            met = forward.advance(backward, is_odd) or backward.advance(forward, not is_odd)
            if met:
                return *met, True, True
            if not patience:
                continue
            if edits > _MIN_PATIENCE and (forward.has_long_snake or backward.has_long_snake):
                if point := forward.promising(edits):
                    return *point, True, False
                if point := backward.promising(edits):
                    return *point, False, True
            if edits >= patience:  # stop at the point of the path that got furthest
                ahead, back = forward.furthest(), backward.furthest()
                if back[0] < ahead[0]:
                    return *ahead[1], True, False
                return *back[1], False, True
        raise AssertionError  # pragma: no cover


class _Frontier:
    """The furthest reaching paths from one corner of a box, by diagonal.

    The search from the last corner is the one from the first corner through the reversed files.
    So all positions are counted from the end of the files at which the search starts.

    Attributes:
        reach: The furthest x on each diagonal.
        has_long_snake: Whether a path of the last edit went through a long snake.
    """

    def __init__(self, a: list[int], b: list[int], reach: list[int], *, is_reversed: bool) -> None:
        self._a, self._b = a, b
        self.reach = reach
        self._is_reversed = is_reversed

    def start(self, bounds: _Bounds) -> None:
        a_start, a_end, b_start, b_end = bounds
        if self._is_reversed:
            (a_end, b_end), (a_start, b_start) = map(
                self.place, ((a_start, b_start), (a_end, b_end))
            )
        self._bounds = a_start, a_end, b_start, b_end
        self._lowest, self._highest = a_start - b_end, a_end - b_start
        self._middle = self.low = self.high = a_start - b_start
        self.reach[self._middle] = a_start

    def place(self, point: tuple[int, int]) -> tuple[int, int]:
        """Return a point as counted from the start of the files."""
        x, y = point
        return (len(self._a) - x, len(self._b) - y) if self._is_reversed else point

    def _diagonals(self) -> range:
        """Return the diagonals on which a path with the current number of edits can end.

        They are in the order in which git looks at them.
        """
        if self._is_reversed:
            return range(self.low, self.high + 1, 2)
        return range(self.high, self.low - 1, -2)

    def _widen(self) -> None:
        """Add the diagonals that one more edit reaches, within the box."""
        if self.low > self._lowest:
            self.low -= 1
            self.reach[self.low - 1] = -1
        else:
            self.low += 1
        if self.high < self._highest:
            self.high += 1
            self.reach[self.high + 1] = -1
        else:
            self.high -= 1

    def advance(self, other: "_Frontier", may_meet: bool) -> tuple[int, int] | None:
        """Extend the paths by one edit and the equal lines after it; return where they met."""
        self._widen()
        self.has_long_snake = False
        a, b, reach, other_reach = self._a, self._b, self.reach, other.reach
        size, shift = len(a), len(a) - len(b)  # the other frontier has diagonal `shift - k`
        low, high = shift - other.high, shift - other.low
        _, a_end, _, b_end = self._bounds
        for k in self._diagonals():
            left, right = reach[k - 1], reach[k + 1]
            x = left + 1 if left >= right else right
            y = x - k
            if x < a_end and y < b_end and a[x] == b[y]:
                start = x
                while x < a_end and y < b_end and a[x] == b[y]:
                    x += 1
                    y += 1
                if x - start > _LONG_SNAKE:
                    self.has_long_snake = True
            reach[k] = x
            if may_meet and low <= k <= high and other_reach[shift - k] + x >= size:
                return self.place((x, y))
        return None

    def promising(self, edits: int) -> tuple[int, int] | None:
        """Find the path that is much longer than its number of edits suggests.

        It must end in a long run of equal lines (a snake). Its length is the number of
        lines of both files that it covers, less its distance from the middle diagonal.
        """
        a, b = self._a, self._b
        a_start, a_end, b_start, b_end = self._bounds
        best, point = _PROMISE * edits, None
        for k in self._diagonals():
            x = self.reach[k]
            y = x - k
            score = (x - a_start) + (y - b_start) - abs(k - self._middle)
            if (
                score > best
                and a_start + _LONG_SNAKE <= x < a_end
                and b_start + _LONG_SNAKE <= y < b_end
                and a[x - _LONG_SNAKE : x] == b[y - _LONG_SNAKE : y]
            ):
                best, point = score, (x, y)
        return point and self.place(point)

    def furthest(self) -> tuple[int, tuple[int, int]]:
        """Return the point of the path that got furthest, and how many lines it covers."""
        a_start, a_end, b_start, b_end = self._bounds
        best, point = -2, (-1, -1)
        for k in self._diagonals():
            x = min(self.reach[k], a_end, b_end + k)
            if 2 * x - k > best:
                best, point = 2 * x - k, (x, x - k)
        return best - a_start - b_start, self.place(point)
