"""Three-way merge of a few lines by their tokens: names, values and punctuation.

The white space before a token belongs to it but is merged separately, so that one side
may reformat what the other extends. If both sides insert at one point, both insertions
are kept, with one separator between them. The result has no token that no version has.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import NamedTuple

from cooperbench_eval.git.merging.line_diff import diff_lines
from cooperbench_eval.languages.sequences import has_word, split_entries, weave
from cooperbench_eval.languages.tree import Token, one_line
from cooperbench_eval.languages.words import PART, Words, count_parts

_FIRST_CHARACTER = 0xF0000  # of a plane in which no character is a letter or a space
_LEAST_CHARACTERS = 100_000


class TokenMergeError(Exception):
    """The texts cannot be merged by their tokens; the message is the reason."""


class Order(StrEnum):
    """Which insertion comes first where both sides insert at one point."""

    OURS_FIRST = "ours"
    """Ours, as in a union."""
    THEIRS_FIRST = "theirs"
    """Theirs."""
    CONTENT = "content"
    """The one that sorts first, so that swapping the sides changes nothing."""


class TokenEdit(NamedTuple):
    """Replaces the tokens *start* to *end* of the base by *new*, which a side has at *at*.

    Insertions at several places of the base may give the same text; *reach* is their range.
    """

    start: int
    end: int
    at: int
    new: tuple[Token, ...]
    reach: tuple[int, int] = (0, 0)


def merge_tokens(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    words: Words,
    max_tokens: int,
    order: Order = Order.OURS_FIRST,
    coalesce: bool = True,
) -> bytes:
    """Merge whole lines.

    Args:
        base: The lines of the base.
        ours: The lines of ours.
        theirs: The lines of theirs.
        words: How they are divided into tokens.
        max_tokens: The most tokens that a version may have.
        order: Which insertion comes first where both insert at one point.
        coalesce: Treat a few kept tokens between many changed ones as changed, because
            they are probably equal by chance. Without it the merge finds more separate
            edits, some of which are due to chance.

    Raises:
        TokenMergeError: The sides changed the same tokens, two tokens would become one, or
            there are too many.
    """
    if not all(text.endswith(b"\n") for text in (base, ours, theirs) if text):
        raise TokenMergeError("the last line of a version has no newline")
    if order is Order.CONTENT and theirs < ours:
        ours, theirs = theirs, ours
    ending = _ending((base, ours, theirs))
    old, edits, spaces = _compared((base, ours, theirs), words, max_tokens, coalesce=coalesce)
    merged = _merge(old, edits, spaces, order)
    text = b"".join(token.source for token in merged)
    for token, (_, word) in zip(merged, words.split(text), strict=False):
        if token.word != word:
            shown = word.decode("utf-8", "replace")
            raise TokenMergeError(f"two words would become one word, {shown!r}")
    return text.removeprefix(ending) + ending if text else b""


_Comparison = tuple[list[Token], list[list[TokenEdit]], list[dict[int, bytes]]]


@lru_cache(maxsize=4)  # for both orders of insertions
def _compared(
    texts: tuple[bytes, bytes, bytes], words: Words, max_tokens: int, *, coalesce: bool
) -> _Comparison:
    """Return the tokens of the base, and each side's edits and white space."""
    ending = _ending(texts)
    versions = [_tokens(text, ending, words, max_tokens + 1) for text in texts]
    if max(map(len, versions)) > max_tokens:
        raise TokenMergeError(f"there are more than {max_tokens} tokens")
    old, mine, other = versions
    names = _names((old, mine, other))
    edits = [_edits(old, side, names, coalesce=coalesce) for side in (mine, other)]
    spaces = [_spaces(old, side, each) for side, each in zip((mine, other), edits, strict=True)]
    return old, edits, spaces


def shares_kept(versions: tuple[bytes, bytes, bytes], text: bytes) -> tuple[float, float]:
    """Return which share of each side's added words and signs *text* contains."""
    base, ours, theirs, there = map(count_parts, (*versions, text))
    return _share_kept(base, ours, there), _share_kept(base, theirs, there)


def _share_kept(base: Counter[bytes], side: Counter[bytes], there: Counter[bytes]) -> float:
    added = side - base
    kept = sum(min(count, max(there[token] - base[token], 0)) for token, count in added.items())
    return kept / added.total() if added else 1.0


def _ending(texts: Sequence[bytes]) -> bytes:
    r"""Return the line ending of the last lines: `\r\n` if all of them have it."""
    return b"\r\n" if all(text.endswith(b"\r\n") for text in texts if text) else b"\n"


def _tokens(text: bytes, ending: bytes, words: Words, most: int) -> list[Token]:
    """Split lines into tokens; the newline before a line belongs to its first token.

    Reading stops soon after *most* tokens.
    """
    moved = ending + text.removesuffix(ending) if text else b""
    return [Token(space, word) for space, word in islice(words.split(moved), most)]


def _merge(
    base: Sequence[Token],
    edits: Sequence[Sequence[TokenEdit]],
    spaces: Sequence[dict[int, bytes]],
    order: Order,
) -> list[Token]:
    """Make the edits of both sides."""
    _check_brackets(base, *edits)
    sides = (edits[0], edits[1]), (edits[1], edits[0])
    ours, theirs = (list(reversed(list(_not_repeated(*each)))) for each in sides)
    out: list[Token] = []
    at = 0
    while ours or theirs:
        edit = min((left[-1] for left in (ours, theirs) if left), key=_place)
        out += _kept(base, spaces, range(at, edit.start))
        at = edit.end
        both = [left.pop() for left in (ours, theirs) if left and _place(left[-1]) == _place(edit)]
        if any(left and left[-1].start < edit.end for left in (ours, theirs)):
            raise _overlapping(base, edit, edits)
        if len(both) > 1 and edit.start == edit.end:
            out += _both(both[0].new, both[1].new, order)
        elif _texts(both[0].new) == _texts(both[-1].new):
            out += both[0].new
        elif word := _containing(base[edit.start : edit.end], both[0].new, both[-1].new):
            out.append(word)
        else:
            raise _overlapping(base, edit, edits)
    return out + _kept(base, spaces, range(at, len(base)))


def _check_brackets(
    base: Sequence[Token], ours: Sequence[TokenEdit], theirs: Sequence[TokenEdit]
) -> None:
    """Refuse an edit beside a bracket that the other side puts around something.

    Raises:
        TokenMergeError: It is not clear what is inside the brackets.
    """
    for edits, others in ((ours, theirs), (theirs, ours)):
        for edit in edits:
            words = _texts(edit.new)
            opened = sum((word in {b"(", b"["}) - (word in {b")", b"]"}) for word in words)
            if not opened or edit.start < edit.end or b"\n" in edit.new[0].space:
                continue
            low, high = edit.reach
            for each in others:
                if each.start <= high and each.end >= low and _texts(each.new) != words:
                    beside = base[max(low - 1, 0) : high + 1]
                    shown = one_line(b"".join(token.source for token in beside))
                    raise TokenMergeError(f"both sides changed {shown!r}")


def _not_repeated(edits: Sequence[TokenEdit], others: Sequence[TokenEdit]) -> Iterator[TokenEdit]:
    """Leave out insertions with which the other side's change beside them begins or ends."""
    before = {each.end: _texts(each.new) for each in others if each.start < each.end}
    after = {each.start: _texts(each.new) for each in others if each.start < each.end}
    for edit in edits:
        new = _texts(edit.new)
        repeats = (
            before.get(edit.start, [])[-len(new) :] == new
            or after.get(edit.start, [])[: len(new)] == new
        )
        if edit.start < edit.end or not repeats:
            yield edit


def _containing(
    base: Sequence[Token], ours: Sequence[Token], theirs: Sequence[Token]
) -> Token | None:
    """Return one side's value if the other changed only parts of it, in the same way."""
    if not len(base) == len(ours) == len(theirs) == 1:
        return None
    word = containing_value(base[0].word, ours[0].word, theirs[0].word)
    return next((each for each in (*ours, *theirs) if each.word == word), None)


def containing_value(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return one side's value if it has all changes of the other's, such as a higher bound.

    Of `>=1.2,<2`, changed to `>=1.3,<3` and to `>=1.3,<2`, it is the first.
    """
    before, *sides = (PART.findall(value) for value in (base, ours, theirs))
    mine, other = (
        {
            (change.a_start, change.a_end, *side[change.b_start : change.b_end])
            for change in diff_lines(before, side)
        }
        for side in sides
    )
    return ours if other <= mine else theirs if mine <= other else None


def _place(edit: TokenEdit) -> tuple[int, int]:
    return edit.start, edit.end


def _overlapping(
    base: Sequence[Token], edit: TokenEdit, edits: Sequence[Sequence[TokenEdit]]
) -> TokenMergeError:
    """Return the error for an edit that the other side's edits overlap."""
    found = [
        [each for each in side if each.start < edit.end and edit.start < each.end] for side in edits
    ]
    start = min(each.start for side in found for each in side)
    end = max(each.end for side in found for each in side)
    texts = [b"".join(token.source for token in base[start:end])]
    for side in found:
        text, at = b"", start
        for each in side:
            text += b"".join(token.source for token in (*base[at : each.start], *each.new))
            at = each.end
        texts.append(text + b"".join(token.source for token in base[at:end]))
    lines = [[line.strip() for line in text.split(b"\n") if line.strip()] for text in texts]
    shown, *sides = (
        next((each for each in mine if each not in chain(*others)), b"".join(mine[:1]))
        for mine, others in ((lines[0], lines[1:]), (lines[1], lines[:1]), (lines[2], lines[:1]))
    )
    shown_edits = "; ".join(
        f"{name}: `{one_line(side)}`" if side else f"{name} removes it"
        for name, side in zip(("ours", "theirs"), sides, strict=True)
    )
    return TokenMergeError(f"both sides changed {one_line(shown)!r} ({shown_edits})")


def _kept(base: Sequence[Token], spaces: Sequence[dict[int, bytes]], places: range) -> list[Token]:
    """Return base tokens, each with the white space that a side changed it to."""
    kept = []
    for i in places:
        space, word, _ = base[i]
        ours, theirs = (each.get(i, space) for each in spaces)
        kept.append(Token(theirs if ours == space else ours, word))
    return kept


def _both(ours: Sequence[Token], theirs: Sequence[Token], order: Order) -> list[Token]:
    """Return what both sides insert at one point; what both have occurs once."""
    if _texts(ours) == _texts(theirs):
        return list(ours)
    first, second = (theirs, ours) if order is Order.THEIRS_FIRST else (ours, theirs)
    lines = [b"\n" in each[0].space for each in (first, second)]
    split = {2: _entries, 1: _whole, 0: _items}[sum(lines)]
    runs = weave(split(first), split(second), _name)
    if runs is None:
        raise TokenMergeError("both sides insert the same things in different orders")
    parts = [part for run in runs for part in (*run.first, *run.second, *(run.shared or ())[:1])]
    if split is _items:
        return _joined(parts, first, second, order)
    out: list[Token] = []
    for part in parts:
        if out and b"\n" not in part[0].space and b"," not in {out[-1].word, part[0].word}:
            raise _not_separated(first, second, order)
        if out and out[-1].word == part[0].word == b",":
            out.pop()
        out += part
    return out


def _joined(
    items: Sequence[list[Token]], first: Sequence[Token], second: Sequence[Token], order: Order
) -> list[Token]:
    """Join the items of two insertions with commas, also around them if either has them so."""
    ends = {first[0].word, first[-1].word, second[0].word, second[-1].word}
    if len(items) > 1 and b"," not in ends and len(_items(first)) == len(_items(second)) == 1:
        raise _not_separated(first, second, order)
    comma = Token(b"", b",")
    out = [comma] if b"," in {first[0].word, second[0].word} else []
    for i, item in enumerate(items):
        out += [comma, *item] if i else item
    return [*out, comma] if b"," in {first[-1].word, second[-1].word} else out


def _not_separated(
    first: Sequence[Token], second: Sequence[Token], order: Order
) -> TokenMergeError:
    """Return the error for two insertions between which a separator is missing."""
    sides = (second, first) if order is Order.THEIRS_FIRST else (first, second)
    ours, theirs = (one_line(b"".join(token.source for token in side)) for side in sides)
    problem = "both sides insert at one place, without a separator"
    return TokenMergeError(f"{problem} (ours: `{ours}`; theirs: `{theirs}`)")


def _texts(tokens: Sequence[Token]) -> list[bytes]:
    return [token.word for token in tokens]


def _name(tokens: Sequence[Token]) -> bytes:
    """Return the words of an entry; none if it has only signs, so that no other is the same."""
    words = b" ".join(_texts(tokens))
    return words if has_word(words) else b""


def _source(tokens: Sequence[Token]) -> bytes:
    return b"".join(token.source for token in tokens).strip()


def _whole(tokens: Sequence[Token]) -> list[list[Token]]:
    return [list(tokens)]


def _entries(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split lines into statements or entries."""
    lines: list[list[Token]] = []
    for token in tokens:
        if b"\n" in token.space:
            lines.append([])
        lines[-1].append(token)
    entries = split_entries(lines, lambda line: len(line[0].space.rpartition(b"\n")[2]), _source)
    return [list(chain.from_iterable(entry)) for entry in entries]


def _items(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split a list at its commas outside of brackets; one that closes others is one item."""
    items: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.word in _OPENERS) - (token.word in _CLOSERS)
        if depth < 0:
            return _whole(tokens)
        if token.word == b"," and not depth:
            items.append([])
        else:
            items[-1].append(token)
    return [item for item in items if item]


_OPENERS = frozenset({b"(", b"[", b"{"})
_CLOSERS = frozenset({b")", b"]", b"}"})


def _names(versions: Sequence[Sequence[Token]]) -> dict[bytes, str]:
    """Map each distinct token to a character."""
    texts = dict.fromkeys(token.word for version in versions for token in version)
    if len(texts) > _LEAST_CHARACTERS:
        raise TokenMergeError("there are too many different tokens")
    return {text: chr(_FIRST_CHARACTER + i) for i, text in enumerate(texts)}


def _edits(
    base: Sequence[Token], side: Sequence[Token], names: dict[bytes, str], *, coalesce: bool
) -> list[TokenEdit]:
    """Diff the tokens; slide insertions to the start of a line where that is possible."""
    from cooperbench_eval.support.symbols import Step, diff_symbols  # noqa: PLC0415 - seldom needed

    old, new = ("".join(names[token.word] for token in tokens) for tokens in (base, side))
    raw: list[tuple[int, int, int, int]] = []
    i = j = 0
    for step, text in diff_symbols(old, new, coalesce=coalesce):
        size = len(text)
        if step is Step.KEEP:
            i, j = i + size, j + size
            continue
        i_end = i + size if step is Step.REMOVE else i
        j_end = j + size if step is Step.ADD else j
        if raw and (raw[-1][1], raw[-1][3]) == (i, j):
            start, _, at, _ = raw.pop()
            raw.append((start, i_end, at, j_end))
        else:
            raw.append((i, i_end, j, j_end))
        i, j = i_end, j_end
    limits = [*(edit[0] for edit in raw), len(base)][1:]
    edits: list[TokenEdit] = []
    for (start, end, at, stop), limit in zip(raw, limits, strict=True):
        if start == end:
            room = start - (edits[-1].end if edits else 0), limit - start
            shifts = _shifts(side, at, stop, room)
            shift = _best_shift(side, at, shifts)
            place, inserted = start + shift, tuple(side[at + shift : stop + shift])
            reach = start + min(shifts), start + max(shifts)
            edits.append(TokenEdit(place, place, at + shift, inserted, reach))
        else:
            edits.append(TokenEdit(start, end, at, tuple(side[at:stop]), (start, end)))
    return edits


def _shifts(side: Sequence[Token], at: int, stop: int, room: tuple[int, int]) -> list[int]:
    """Return how far an insertion may slide."""
    shifts = [0]
    while (
        -shifts[-1] < room[0] and side[at + shifts[-1] - 1].word == side[stop + shifts[-1] - 1].word
    ):
        shifts.append(shifts[-1] - 1)
    right = 0
    while right < room[1] and side[at + right].word == side[stop + right].word:
        right += 1
        shifts.append(right)
    return shifts


def _best_shift(side: Sequence[Token], at: int, shifts: Sequence[int]) -> int:
    """Return how far to slide an insertion.

    It goes to the start of the least indented line that it can reach. If it can reach no start
    of a line, it goes as far left as possible.
    """

    def rank(shift: int) -> tuple[bool, int, int]:
        space = side[at + shift].space
        starts_line = b"\n" in space
        return not starts_line, len(space) if starts_line else 0, shift

    return min(shifts, key=rank)


def _spaces(
    base: Sequence[Token], side: Sequence[Token], edits: Sequence[TokenEdit]
) -> dict[int, bytes]:
    """Return the white space that *side* has before each base token that it kept."""
    spaces = {}
    ends = [TokenEdit(0, 0, 0, ()), *edits, TokenEdit(len(base), len(base), len(side), ())]
    for edit, following in pairwise(ends):
        j = edit.at + len(edit.new)
        for i in range(edit.end, following.start):
            spaces[i] = side[j + i - edit.end].space
    return spaces
