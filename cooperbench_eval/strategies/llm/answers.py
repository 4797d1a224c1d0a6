"""Extracts texts from a model's answer and checks them strictly: prose is not code."""

import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Sequence

from cooperbench_eval.git.merging.conflicts import Conflict

_OPENING = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_NAME = re.compile(r"conflict[-_ ]?([0-9]{1,6})\b", re.IGNORECASE)
_MARKER = re.compile(r"^\s*(?:<{7}|>{7}|\|{7})|^\s*={7}\s*$")
_CONTROLS = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]")


class AnswerError(Exception):
    """An answer cannot be used; the message is the reason.

    The model reads the message when it is asked again. Changed wording would change the
    digests of these requests, and recorded cassettes would no longer match.
    """


def extract(answer: str, count: int) -> list[str]:
    """Return the text for each of *count* conflicts.

    The answer must have one fenced block for each conflict, with the conflict's name, such as
    `conflict-1`, in the info string. The only block for a single conflict needs no name. Or the
    answer must be a JSON object, fenced or not, that maps these names to the texts. Another answer
    is an `AnswerError`.
    """
    if not answer.strip():
        raise AnswerError("it is empty")
    found = _named_in_json(answer) or _fenced_blocks(answer)
    if not found:
        raise AnswerError("it has no fenced block")
    if len(found) == 1 and found[0][0] is None:
        found = _named_in_json(found[0][1]) or found
    if count == 1 and len(found) == 1 and found[0][0] in {None, 1}:
        return [found[0][1]]
    numbers = [number for number, _ in found]
    if sorted(number or 0 for number in numbers) != list(range(1, count + 1)):
        wanted = (
            "one fenced block" if count == 1 else f"one fenced block for each of {count} conflicts"
        )
        named = ", ".join("without a number" if n is None else f"conflict-{n}" for n in numbers)
        raise AnswerError(f"it has not {wanted}, but these: {named}")
    return [text for _, text in sorted((number or 0, text) for number, text in found)]


def extract_choice(answer: str) -> str:
    """Return the chosen side, `A` or `B`; an answer that names neither is an `AnswerError`."""
    (text,) = extract(answer, 1)
    if (word := text.strip().upper()) not in {"A", "B"}:
        raise AnswerError("the block holds neither A nor B")
    return word


_Block = tuple[int | None, str]
"""The number of a conflict, if the answer states it, and the text for this conflict."""


def _named_in_json(answer: str) -> list[_Block]:
    try:
        data = json.loads(answer, object_pairs_hook=_with_unique_names)
    except (ValueError, RecursionError):
        return []
    if not isinstance(data, dict):
        return []
    names = [_NAME.fullmatch(name) for name in data]
    if not all(names) or not all(isinstance(text, str) for text in data.values()):
        return []
    return [
        (int(name[1]), _ended(text))
        for name, text in zip(names, data.values(), strict=True)
        if name is not None
    ]


def _with_unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise AnswerError("a name stands twice in its object")
    return members


def _ended(text: str) -> str:
    text = text.replace("\r\n", "\n")
    return text if text.endswith("\n") or not text else text + "\n"


def _fenced_blocks(answer: str) -> list[_Block]:
    """List the fenced blocks; a block may contain shorter fences."""
    blocks: list[_Block] = []
    fence, number = "", None
    lines: list[str] = []
    for line in answer.replace("\r\n", "\n").split("\n"):
        if not fence:
            if opening := _OPENING.match(line):
                fence, lines = opening["fence"], []
                named = _NAME.search(opening["info"])
                number = int(named[1]) if named else None
        elif _closes(line, fence):
            blocks.append((number, "".join(each + "\n" for each in lines)))
            fence = ""
        else:
            lines.append(line)
    if fence:
        raise AnswerError("a fenced block is not closed")
    return blocks


def _closes(line: str, fence: str) -> bool:
    run = line.rstrip()
    return len(run) >= len(fence) and set(run) == {fence[0]}


def fitted(conflict: Conflict, text: str) -> bytes:
    """Encode *text* with the conflict's line endings.

    If neither side ends with a newline, neither does the result. If the text cannot be encoded, or
    has control characters that no version of the conflict has, raise `AnswerError`.
    """
    known = b"".join(texts_of(conflict)).replace(b"\r\n", b"\n") + b"\t"
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise AnswerError("it has a character that UTF-8 cannot write") from None
    if strange := {byte for byte in _CONTROLS.findall(data) if byte not in known}:
        raise AnswerError(f"it has a control character, {min(strange)!r}")
    sides = [side for side in (conflict.ours, conflict.theirs) if side]
    newline = b"\r\n" if _are_crlf(sides) else conflict.newline
    data = data.replace(b"\n", newline)
    if data and sides and all(side.startswith(BOM_UTF8) for side in sides):
        data = BOM_UTF8 + data.removeprefix(BOM_UTF8)
    if sides and not any(side.endswith(b"\n") for side in sides):
        return data.removesuffix(newline)
    return data


def _are_crlf(sides: Sequence[bytes]) -> bool:
    r"""Whether all lines of *sides* end in CR LF; git does not report this for added files."""
    return 0 < sum(side.count(b"\n") for side in sides) == sum(s.count(b"\r\n") for s in sides)


def check_lines(conflict: Conflict, text: bytes) -> None:
    """Raise `AnswerError` if *text* adds a conflict marker, or lacks a line of all versions."""
    base, ours, theirs = (_count_lines(side) for side in texts_of(conflict))
    there = _count_lines(text)
    for line in there:
        if _MARKER.match(line) and there[line] > ours[line] + theirs[line]:
            raise AnswerError(f"it has a conflict marker, {line[:20]!r}")
    for line in base:
        least = min(base[line], ours[line], theirs[line])
        if there[line] < least:
            raise AnswerError(f"a line is gone that both sides kept, {line.strip()[:60]!r}")


def invented_lines(conflict: Conflict, text: bytes) -> int:
    """Count the lines that occur in no version, ignoring indentation and blank lines."""
    known = {line.strip() for side in texts_of(conflict) for line in _count_lines(side)}
    return sum(n for line, n in _count_lines(text).items() if line.strip() not in known)


def texts_of(conflict: Conflict) -> tuple[bytes, bytes, bytes]:
    """Return base, ours and theirs; empty for a missing one."""
    return conflict.base or b"", conflict.ours or b"", conflict.theirs or b""


def _count_lines(text: bytes) -> Counter[str]:
    lines = text.decode("utf-8-sig", "backslashreplace").splitlines()
    return Counter(line for line in lines if line.strip())
