"""The line diff: which lines count as unchanged, and where changes stand."""

import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from generators import three_way_texts
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperbench_eval.git.merging import histogram, myers
from cooperbench_eval.git.merging.line_diff import (
    Change,
    DiffAlgorithm,
    DiffCache,
    Text,
    diff_lines,
    split_lines,
)

ALGORITHMS = pytest.mark.parametrize("algorithm", DiffAlgorithm)


def lines_of(symbols):
    """One line for each character."""
    return [symbol.encode() + b"\n" for symbol in symbols]


def ranges(a, b, algorithm=DiffAlgorithm.HISTOGRAM):
    """The changes between two words, as plain tuples."""
    return [tuple(change) for change in diff_lines(lines_of(a), lines_of(b), algorithm=algorithm)]


def patch(a, b, changes):
    """Build *b* from *a* and what the changes say of *b*."""
    out = []
    done = 0
    for change in changes:
        out += a[done : change.a_start]
        out += b[change.b_start : change.b_end]
        done = change.a_end
    return out + a[done:]


class TestSplitLines:
    @pytest.mark.parametrize(
        ("data", "lines"),
        [
            (b"", []),
            (b"\n", [b"\n"]),
            (b"a", [b"a"]),
            (b"a\nb\n", [b"a\n", b"b\n"]),
            (b"a\r\nb\r\n", [b"a\r\n", b"b\r\n"]),
            (b"a\rb\n\r", [b"a\rb\n", b"\r"]),
            (b"a\x0bb\x0cc\x85d\n", [b"a\x0bb\x0cc\x85d\n"]),
        ],
    )
    def test_cuts_only_after_newlines(self, data, lines):
        """A newline byte ends a line, and nothing else does."""
        assert split_lines(data) == lines

    @settings(max_examples=60, deadline=None)
    @given(three_way_texts())
    def test_loses_nothing(self, texts):
        """The lines of a text are the text."""
        for data in texts:
            assert b"".join(split_lines(data)) == data


class TestDiffLines:
    @ALGORITHMS
    @settings(max_examples=60, deadline=None)
    @given(three_way_texts())
    def test_leads_from_one_text_to_the_other(self, algorithm, texts):
        """Applying the changes to one text gives the other."""
        a, b = split_lines(texts[1]), split_lines(texts[2])

        changes = diff_lines(a, b, algorithm=algorithm)

        assert patch(a, b, changes) == b
        for left, right in pairwise(changes):
            assert right.a_start - left.a_end == right.b_start - left.b_end > 0

    @ALGORITHMS
    def test_equal_texts_have_no_changes(self, algorithm):
        """There is nothing to change in equal texts."""
        assert ranges("abc", "abc", algorithm) == []
        assert ranges("", "", algorithm) == []

    @ALGORITHMS
    def test_texts_without_a_common_line_are_one_change(self, algorithm):
        """What shares no line is replaced as a whole."""
        assert ranges("ab", "xyz", algorithm) == [(0, 2, 0, 3)]
        assert ranges("", "ab", algorithm) == [(0, 0, 0, 2)]
        assert ranges("ab", "", algorithm) == [(0, 2, 0, 0)]

    def test_missing_last_newline_is_a_change(self):
        """A last line without newline differs from the same line with one."""
        changes = diff_lines([b"a\n", b"b\n"], [b"a\n", b"b"])

        assert changes == (Change(a_start=1, a_end=2, b_start=1, b_end=2),)

    def test_algorithms_anchor_differently(self):
        """Histogram holds on to the rare line, Myers to the short script."""
        a, b = "xaxbxcQ", "Qxaxbxc"

        assert ranges("aQbb", "bbQa") == [(0, 1, 0, 2), (2, 4, 3, 4)]
        assert ranges("aQbb", "bbQa", DiffAlgorithm.MYERS) == [(0, 2, 0, 0), (4, 4, 2, 4)]
        assert ranges(a, b) == [(0, 0, 0, 1), (6, 7, 7, 7)]

    def test_changes_slide_down(self):
        """An insertion that could stand at several places stands at the lowest."""
        assert ranges("abcd", "ababcd") == [(2, 2, 2, 4)]
        assert ranges("aab", "aaaab") == [(2, 2, 2, 4)]

    def test_sliding_changes_join(self):
        """A change that meets another while it slides becomes one with it."""
        assert ranges("axaxa", "a") == [(1, 5, 1, 1)]

    def test_changes_rest_opposite_changes(self):
        """A change goes back up to where the other file changed, too."""
        assert ranges("aa", "ca") == [(0, 1, 0, 1)]
        assert ranges("bb", "ab") == [(0, 1, 0, 1)]

    def test_common_ends_count(self):
        """Lines of the common start and end make others frequent.

        Without its common ends this diff would anchor on other lines.
        """
        a = "740720531662456772076050123667320"
        b = "740472053166267770761120125301667324752"

        assert ranges(a, b) == [
            (3, 3, 3, 4),
            (12, 14, 13, 13),
            (17, 17, 16, 22),
            (19, 24, 24, 24),
            (26, 26, 26, 27),
            (27, 27, 28, 30),
            (32, 33, 35, 39),
        ]

    def test_only_frequent_lines_fall_back_to_myers(self):
        """Where every shared line is too frequent, both algorithms agree."""
        generator = random.Random(3)  # noqa: S311
        a = "".join(generator.choice("xy") for _ in range(300))
        b = "".join(generator.choice("xy") for _ in range(300))

        assert ranges(a, b) == ranges(a, b, DiffAlgorithm.MYERS)

    @pytest.mark.parametrize("symbols", [30, 300, 3000])
    def test_shortcuts_do_not_show(self, symbols):
        """Histogram finds what the plain statement of its rules finds."""
        generator = random.Random(symbols)  # noqa: S311
        for _ in range(15):
            a = [b"%d\n" % generator.randrange(symbols) for _ in range(300)]
            b = [
                line if generator.random() < 0.8 else b"%d\n" % generator.randrange(symbols)
                for line in a
            ]

            assert set(unchanged(a, b)) == set(plain_histogram(a, b))

    @pytest.mark.parametrize(
        ("a", "b"),
        [("abaaa", "aaaab"), ("abccca", "ccabbc"), ("xabc", "abcx"), ("abxcd", "cdxab")],
    )
    def test_a_run_with_a_unique_line_may_lose_to_a_longer_one(self, a, b):
        """The longer one wins if both are found at the same frequent line."""
        assert set(unchanged(a, b)) == set(plain_histogram(a, b))

    @pytest.mark.parametrize("few_lines", [0, 32], ids=["middle", "counted"])
    def test_words_of_few_letters_are_anchored_by_the_rules(self, monkeypatch, few_lines):
        """Such words have many equal runs, and few unique letters."""
        monkeypatch.setattr(histogram, "_FEW_LINES", few_lines)
        generator = random.Random(11)  # noqa: S311
        for _ in range(2000):
            letters = "abcdef"[: generator.randrange(2, 7)]
            a, b = ("".join(generator.choices(letters, k=generator.randrange(12))) for _ in "ab")

            assert set(unchanged(a, b)) == set(plain_histogram(a, b)), (a, b)

    @ALGORITHMS
    def test_one_line_repeated_ends_soon(self, algorithm):
        """A hundred thousand equal lines are no trouble."""
        a, b = [b"x\n"] * 100_000, [b"x\n"] * 90_000

        assert diff_lines(a, b, algorithm=algorithm) == (Change(90_000, 100_000, 90_000, 90_000),)

    @ALGORITHMS
    def test_many_changes_need_no_deep_stack(self, algorithm):
        """Changing every other line of a long file is no trouble either."""
        a = [b"%d\n" % i for i in range(20_000)]
        b = [line if i % 2 else b"new " + line for i, line in enumerate(a)]

        assert len(diff_lines(a, b, algorithm=algorithm)) == 10_000

    def test_myers_takes_shortcuts_in_long_searches(self, monkeypatch):
        """A search that becomes too expensive still gives a correct diff."""
        monkeypatch.setattr(myers, "_MIN_PATIENCE", 4)
        generator = random.Random(7)  # noqa: S311
        for symbols in (2, 20, 500):
            a = [b"%d\n" % generator.randrange(symbols) for _ in range(400)]
            b = list(a)
            for _ in range(60):
                place = generator.randrange(len(b))
                b[place : place + generator.randrange(4)] = [b"%d\n" % place] * 2
            b[200:200] = a[300:] + a[:90]

            changes = diff_lines(a, b, algorithm=DiffAlgorithm.MYERS)

            assert patch(a, b, changes) == b
            assert diff_lines(b, a, algorithm=DiffAlgorithm.MYERS)


def unchanged(a, b):
    """The pairs of unchanged lines, before any sliding."""
    a_marks, b_marks = histogram.mark_changes(a, b)
    a_kept = [i for i, mark in enumerate(a_marks) if not mark]
    b_kept = [j for j, mark in enumerate(b_marks) if not mark]
    return zip(a_kept, b_kept, strict=True)


def plain_histogram(a, b):
    """Apply the rules of the module's docstring, word for word."""

    def solve(a_start, a_end, b_start, b_end):
        best, best_size, rarity = None, 1, 65
        region = a[a_start:a_end]
        j = b_start
        while j < b_end:
            next_j, passed = j + 1, a_start
            if region.count(b[j]) <= rarity:
                for i in range(a_start, a_end):
                    if a[i] != b[j] or i < passed:
                        continue
                    x, y, size = i, j, 1
                    while x > a_start and y > b_start and a[x - 1] == b[y - 1]:
                        x, y, size = x - 1, y - 1, size + 1
                    while x + size < a_end and y + size < b_end and a[x + size] == b[y + size]:
                        size += 1
                    passed, next_j = x + size, max(next_j, y + size)
                    rarest = min(region.count(line) for line in a[x : x + size])
                    if size > best_size or rarest < rarity:
                        best, best_size, rarity = (x, y), size, rarest
            j = next_j
        if best is None:
            return []
        x, y = best
        return [
            *solve(a_start, x, b_start, y),
            *((x + k, y + k) for k in range(best_size)),
            *solve(x + best_size, a_end, y + best_size, b_end),
        ]

    return solve(0, len(a), 0, len(b))


class TestText:
    @settings(max_examples=40, deadline=None)
    @given(three_way_texts())
    def test_cuts_lines(self, texts):
        """Cut anywhere, the two parts are the text."""
        text = Text(texts[0])

        for place in range(len(text.lines) + 1):
            assert text.cut(0, place) + text.cut(place, len(text.lines)) == texts[0]


class TestDiffCache:
    def test_makes_each_diff_once(self):
        """What was asked for before is handed out again."""
        cache = DiffCache()

        a, b = cache.text(b"a\nb\n"), cache.text(b"a\nc\n")
        changes = cache.changes(a, b)

        assert cache.text(bytes(bytearray(b"a\nc\n"))) is b
        assert cache.changes(a, Text(bytes(bytearray(b"a\nc\n")))) is changes
        assert changes == diff_lines([b"a\n", b"b\n"], [b"a\n", b"c\n"])

    def test_keeps_algorithms_apart(self):
        """The same texts may be diffed in both ways."""
        cache = DiffCache()
        a, b = cache.text(b"a\nQ\nb\nb\n"), cache.text(b"b\nb\nQ\na\n")

        by_rarity = cache.changes(a, b, algorithm=DiffAlgorithm.HISTOGRAM)
        by_length = cache.changes(a, b, algorithm=DiffAlgorithm.MYERS)

        assert by_rarity != by_length

    def test_drops_the_oldest_when_full(self):
        """The oldest texts and diffs are dropped, and the latest are kept."""
        cache = DiffCache(max_bytes=80_000)

        first, last = cache.text(b"a\n" * 30), cache.text(b"")
        for i in range(1000):
            before, last = last, cache.text(b"%d\n" % i * 30)
            cache.changes(before, last)

        assert cache.text(b"a\n" * 30) is not first
        assert cache.text(b"999\n" * 30) is last
        assert 2 <= len(cache._texts) < 20
        assert 2 <= len(cache._changes) < 200

    def test_pickles_empty(self):
        """A cache may travel to another process, without its contents."""
        cache = DiffCache(max_bytes=12_345)
        changes = cache.changes(cache.text(b"a"), cache.text(b"b"))

        copy = pickle.loads(pickle.dumps(cache))  # noqa: S301

        assert copy._max_bytes == 12_345
        assert (len(copy._texts), len(copy._changes)) == (0, 0)
        assert copy.changes(Text(b"a"), Text(b"b")) == changes

    @settings(max_examples=20, deadline=None)
    @given(three_way_texts())
    def test_serves_threads(self, texts):
        """Threads that share a small cache get right answers."""
        cache = DiffCache(max_bytes=3000)
        pairs = [(a, b) for a in texts for b in texts] * 4
        expected = [diff_lines(split_lines(a), split_lines(b)) for a, b in pairs]

        with ThreadPoolExecutor(4) as executor:
            got = list(executor.map(lambda pair: cache.changes(*map(cache.text, pair)), pairs))

        assert got == expected


class TestLinesLeftOut:
    def test_few_frequent_lines_are_surveyed(self, monkeypatch):
        surveyed = []

        def survey(kinds, i):
            surveyed.append(i)
            return False

        monkeypatch.setattr(myers, "_is_amid_lonely", survey)
        old, new = [b"b"] + [b"a"] * 5000 + [b"c"], [b"d"] + [b"a"] * 4000 + [b"e"]
        myers.mark_changes(old, new)
        assert not surveyed
        myers.mark_changes([*old[:50], b"f", *old[50:]], new)
        assert 0 < len(surveyed) <= 200

    @given(st.lists(st.integers(0, 2), max_size=40), st.integers(1, 5))
    def test_the_lines_are_those_that_a_survey_of_all_finds(self, kinds, reach):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(myers, "_SURVEY_LINES", reach)
            kept, _ = myers._leave_out(kinds, [1] + [2] * 2000, 0, 0)
            assert kept == [
                i
                for i, kind in enumerate(kinds)
                if kind == myers._MATCHED
                or (kind == myers._FREQUENT and not myers._is_amid_lonely(bytearray(kinds), i))
            ]
