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
    """Mark the lines of *a* that *b* lacks, and those of *b* that *a* lacks.

    Returns:
        One byte for each line of *a* and of *b*: 1 if it changed, else 0. The
        unchanged lines of both are equal and in the same order.
    """
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
    """Leave out lines that would only slow the search down.

    These are the lines that the other file lacks, and frequent lines among them.

    Returns:
        The positions of the lines to search, and the marks of those left out.
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


class _EditScript:
    """The search for a short edit script between two lists of line numbers."""

    def __init__(self, a: list[int], b: list[int]) -> None:
        self._a = a
        self._b = b
        # Diagonal k = x - y runs from -len(b) - 1 to len(a) + 1. Each has its own list
        # item, because Python counts negative indexes from the end of the list.
        diagonals = len(a) + len(b) + 3
        self._reaches = [0] * diagonals, [0] * diagonals
        self._patience = max(_root(diagonals), _MIN_PATIENCE)

    def changes(self) -> Iterator[tuple[int, int, int, int]]:
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
            box = _Box(a, b, (a_start, a_end, b_start, b_end), self._reaches)
            x, y, exact_before, exact_after = box.split(0 if is_exact else self._patience)
            boxes.append((a_start, x, b_start, y, exact_before))
            boxes.append((x, a_end, y, b_end, exact_after))


class _Frontier:
    """The furthest reaching paths from one corner of a box, by diagonal.

    Attributes:
        reach: The furthest x on each diagonal.
        middle: The diagonal of the corner.
        low: The lowest diagonal that was reached.
        high: The highest diagonal that was reached.
    """

    __slots__ = ("_unreached", "high", "low", "middle", "reach")

    def __init__(self, reach: list[int], corner: tuple[int, int], unreached: int) -> None:
        self.reach = reach
        self.middle = self.low = self.high = corner[0] - corner[1]
        self._unreached = unreached
        reach[self.middle] = corner[0]

    def widen(self, lowest: int, highest: int) -> None:
        """Add the diagonals that one more edit reaches, within the box."""
        if self.low > lowest:
            self.low -= 1
            self.reach[self.low - 1] = self._unreached
        else:
            self.low += 1
        if self.high < highest:
            self.high += 1
            self.reach[self.high + 1] = self._unreached
        else:
            self.high -= 1

    def diagonals(self) -> range:
        """Return the diagonals on which a path with the current number of edits can end."""
        return range(self.high, self.low - 1, -2)


class _Box:
    """A part of the edit graph that starts and ends with a difference."""

    __slots__ = ("_a", "_b", "_backward", "_bounds", "_forward")

    def __init__(
        self,
        a: list[int],
        b: list[int],
        bounds: tuple[int, int, int, int],
        reaches: tuple[list[int], list[int]],
    ) -> None:
        a_start, a_end, b_start, b_end = bounds
        self._a = a
        self._b = b
        self._bounds = bounds
        self._forward = _Frontier(reaches[0], (a_start, b_start), -1)
        self._backward = _Frontier(reaches[1], (a_end, b_end), _BEYOND)

    def split(self, patience: int) -> tuple[int, int, bool, bool]:
        """Find a point on the edit script.

        Args:
            patience: The number of edits after which a good point is enough; 0 for no
                limit.

        Returns:
            The point, and whether to search the parts before and after it without
            shortcuts.
        """
        forward, backward = self._forward, self._backward
        a_start, a_end, b_start, b_end = self._bounds
        lowest, highest = a_start - b_end, a_end - b_start
        is_odd = (forward.middle - backward.middle) % 2 == 1
        for edits in count(1):
            forward.widen(lowest, highest)
            met, long_forward = self._advance(is_odd)
            if met:
                return *met, True, True
            backward.widen(lowest, highest)
            met, long_backward = self._retreat(not is_odd)
            if met:
                return *met, True, True
            if not patience:
                continue
            if edits > _MIN_PATIENCE and (long_forward or long_backward):
                if point := self._promising(forward, edits):
                    return *point, True, False
                if point := self._promising(backward, edits):
                    return *point, False, True
            if edits >= patience:
                return self._furthest()
        raise AssertionError  # pragma: no cover

    def _advance(self, may_meet: bool) -> tuple[tuple[int, int] | None, bool]:
        """Extend the forward paths by one edit and the equal lines after it.

        Returns:
            The point where the frontiers met, if they did, and whether a path went
            through a long snake.
        """
        a, b, reach, other = self._a, self._b, self._forward.reach, self._backward.reach
        a_end, b_end = self._bounds[1], self._bounds[3]
        low, high = self._backward.low, self._backward.high
        has_long = False
        for k in self._forward.diagonals():
            left, right = reach[k - 1], reach[k + 1]
            x = left + 1 if left >= right else right
            y = x - k
            if x < a_end and y < b_end and a[x] == b[y]:
                start = x
                while x < a_end and y < b_end and a[x] == b[y]:
                    x += 1
                    y += 1
                if x - start > _LONG_SNAKE:
                    has_long = True
            reach[k] = x
            if may_meet and low <= k <= high and other[k] <= x:
                return (x, y), has_long
        return None, has_long

    def _retreat(self, may_meet: bool) -> tuple[tuple[int, int] | None, bool]:
        """Extend the backward paths in the same way, towards the start."""
        a, b, reach, other = self._a, self._b, self._backward.reach, self._forward.reach
        a_start, b_start = self._bounds[0], self._bounds[2]
        low, high = self._forward.low, self._forward.high
        has_long = False
        for k in self._backward.diagonals():
            left, right = reach[k - 1], reach[k + 1]
            x = left if left < right else right - 1
            y = x - k
            if x > a_start and y > b_start and a[x - 1] == b[y - 1]:
                start = x
                while x > a_start and y > b_start and a[x - 1] == b[y - 1]:
                    x -= 1
                    y -= 1
                if start - x > _LONG_SNAKE:
                    has_long = True
            reach[k] = x
            if may_meet and low <= k <= high and x <= other[k]:
                return (x, y), has_long
        return None, has_long

    def _promising(self, frontier: _Frontier, edits: int) -> tuple[int, int] | None:
        """Find the path that is much longer than its number of edits suggests.

        It must end in a long run of equal lines (a snake). Its length is the number of
        lines of both files that it covers, less its distance from the middle diagonal.
        """
        a, b = self._a, self._b
        a_start, a_end, b_start, b_end = self._bounds
        best, point = _PROMISE * edits, None
        for k in frontier.diagonals():
            x = frontier.reach[k]
            y = x - k
            if frontier is self._forward:
                length, i, j = (x - a_start) + (y - b_start), x - _LONG_SNAKE, y - _LONG_SNAKE
                is_at_corner = x == a_end or y == b_end
            else:
                length, i, j = (a_end - x) + (b_end - y), x, y
                is_at_corner = x == a_start or y == b_start
            score = length - abs(k - frontier.middle)
            if (
                score > best
                and not is_at_corner
                and a_start <= i <= a_end - _LONG_SNAKE
                and b_start <= j <= b_end - _LONG_SNAKE
                and a[i : i + _LONG_SNAKE] == b[j : j + _LONG_SNAKE]
            ):
                best, point = score, (x, y)
        return point

    def _furthest(self) -> tuple[int, int, bool, bool]:
        """Stop the search: split at the point of the path that got furthest."""
        a_start, a_end, b_start, b_end = self._bounds
        ahead, back = (-1, -1), (_BEYOND, _BEYOND)
        for k in self._forward.diagonals():
            x = min(self._forward.reach[k], a_end, b_end + k)
            if 2 * x - k > sum(ahead):
                ahead = x, x - k
        for k in self._backward.diagonals():
            x = max(self._backward.reach[k], a_start, b_start + k)
            if 2 * x - k < sum(back):
                back = x, x - k
        if a_end + b_end - sum(back) < sum(ahead) - a_start - b_start:
            return *ahead, True, False
        return *back, False, True
