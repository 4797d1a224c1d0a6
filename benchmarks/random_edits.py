"""Merges random edits of real files, and checks that every accepted file is sound.

    python benchmarks/random_edits.py FILE_OR_FOLDER ... [--count N] [--seed N] [--first N]

Both sides insert, delete, repeat, move, wrap and indent statements, and change words,
parts of values, arguments and brackets. Then `structured`, `tokens`, `cascade` and `union`
merge the sides. A file that has no conflict left must have no name, number, URL, dotted or
dashed word that no version has. Except of `union`, it must keep its line ends and its byte
order mark, and each token that both sides kept. If all three versions parse, it must parse
as well, for the grammar and for the real compiler or formatter if its program is installed
(`node`, `gofmt`).
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import cooperbench_eval as ce
from cooperbench_eval.languages.files import find_syntax_fault, is_code

STRATEGIES = ("structured", "tokens", "cascade", "union")
MOST_BYTES = 60_000
_BOM = b"\xef\xbb\xbf"
_WORD = re.compile(rb"[A-Za-z_]\w+")
_TOKEN = re.compile(rb"\w+|[^\w\s,;]")
_DIGIT = re.compile(rb"[0-9]")
_TEXTS = (".cfg", ".ini", ".json", ".md", ".rst", ".toml", ".txt", ".yaml", ".yml", "Dockerfile")
_NAMES = re.compile(rb"\w+")
_VALUES_OF_CODE = re.compile(
    rb"""(?<![\w.)\]])\d\w*(?:\.\d\w*)*|(?<!\w)(["'])[\w.:/@+-]+\1(?!\w)"""
)
_VALUES_OF_TEXT = re.compile(rb"[^\s,;()\[\]{}\"'<>|`=*]*\d[^\s,;()\[\]{}\"'<>|`=*]*")
PROGRAMS = {".js": ("node", "--check"), ".mjs": ("node", "--check"), ".go": ("gofmt", "-e", "-l")}

Versions = tuple[bytes, bytes, bytes]


class Editor:
    """Makes random edits of the lines of a file.

    A statement is a line with the more deeply indented lines after it, and the bracket that
    closes it.
    """

    def __init__(self, chance: random.Random, *, in_python: bool) -> None:
        """Edit with the random numbers of *chance*."""
        self._chance = chance
        self._in_python = in_python

    def edit(self, source: bytes, focus: int, times: int) -> bytes:
        """Make some edits of a text near one of its lines."""
        lines = source.splitlines(keepends=True)
        for _ in range(times):
            if lines:
                near = focus + self._chance.randrange(-6, 7)
                at = min(max(near, 0), len(lines) - 1)
                self._chance.choice(_EDITS)(self, lines, at)
        return b"".join(lines)

    def _end(self, lines: Sequence[bytes], at: int) -> int:
        """Return where the statement that starts in a line ends."""
        depth = _depth(lines[at])
        end = at + 1
        while end < len(lines) and (not lines[end].strip() or _depth(lines[end]) > depth):
            end += 1
        if end < len(lines) and _depth(lines[end]) == depth and lines[end].strip()[:1] in b")]}":
            return end + 1
        while end > at + 1 and not lines[end - 1].strip():
            end -= 1
        return end

    def delete(self, lines: list[bytes], at: int) -> None:
        """Delete a statement."""
        del lines[at : self._end(lines, at)]

    def repeat(self, lines: list[bytes], at: int) -> None:
        """Repeat a statement, with other words."""
        end = self._end(lines, at)
        lines[end:end] = self._varied(lines[at:end])

    def copy(self, lines: list[bytes], at: int) -> None:
        """Insert a statement from elsewhere."""
        start = self._chance.randrange(len(lines))
        found = lines[start : min(self._end(lines, start), start + 12)]
        lines[at:at] = self._varied(_indented(found, _depth(lines[at]) - _depth(found[0])))

    def move(self, lines: list[bytes], at: int) -> None:
        """Move a statement."""
        end = self._end(lines, at)
        moved = lines[at:end]
        del lines[at:end]
        place = min(max(at + self._chance.randrange(-5, 6), 0), len(lines))
        lines[place:place] = moved

    def wrap(self, lines: list[bytes], at: int) -> None:
        """Put a statement into a suite."""
        end = self._end(lines, at)
        space = lines[at][: _depth(lines[at])]
        inner = _indented(lines[at:end], 4)
        if self._in_python:
            head = self._chance.choice(
                [b"if ready:", b"with lock:", b"try:", b"for each in every:"]
            )
            tail = [space + b"except Problem:\n", space + b"    pass\n"] if head == b"try:" else []
        else:
            head, tail = b"if (ready) {", [space + b"}\n"]
        lines[at:end] = [space + head + b"\n", *inner, *tail]

    def unwrap(self, lines: list[bytes], at: int) -> None:
        """Take a statement's suite out."""
        end = self._end(lines, at)
        last = end - 1 if lines[end - 1].strip()[:1] == b"}" else end
        lines[at:end] = _indented(lines[at + 1 : last], -4)

    def rename(self, lines: list[bytes], at: int) -> None:
        """Change words of a line."""
        lines[at : at + 1] = self._varied(lines[at : at + 1])

    def value(self, lines: list[bytes], at: int) -> None:
        """Change a digit, which may be a part of a longer value."""
        places = [found.start() for found in _DIGIT.finditer(lines[at])]
        if places:
            place = self._chance.choice(places)
            digit = b"%d" % self._chance.randrange(1, 10)
            lines[at] = lines[at][:place] + digit + lines[at][place + 1 :]

    def argument(self, lines: list[bytes], at: int) -> None:
        """Add an argument or an item."""
        new = b"extra%d" % self._chance.randrange(3)
        for old, with_it in (
            (b"()", b"(%b)"),
            (b"(", b"(%b, "),
            (b")", b", %b)"),
            (b"[", b"[%b, "),
        ):
            if old in lines[at] and self._chance.randrange(2):
                lines[at] = lines[at].replace(old, with_it % new, 1)
                return

    def operand(self, lines: list[bytes], at: int) -> None:
        """Add an operand."""
        words = b"ready", b"count(1)", b"not done" if self._in_python else b"!done"
        sign = self._chance.choice([b" and ", b" or "] if self._in_python else [b" && ", b" || "])
        for old, new in ((b":\n", b"%b%b:\n"), (b") {", b"%b%b) {"), (b" = ", b" = %b%b")):
            if old in lines[at]:
                pair = (sign, self._chance.choice(words))
                lines[at] = lines[at].replace(old, new % (pair if old != b" = " else pair[::-1]), 1)
                return

    def bracket(self, lines: list[bytes], at: int) -> None:
        """Lose a bracket: most of these versions do not parse."""
        if self._chance.randrange(4) == 0:
            lines[at] = re.sub(rb"[()\[\]{}]", b"", lines[at], count=1)

    def _varied(self, lines: Sequence[bytes]) -> list[bytes]:
        text = b"".join(lines)
        words = sorted(set(_WORD.findall(text)))
        for word in self._chance.sample(words, min(len(words), self._chance.randrange(3))):
            new = self._chance.choice([word + b"2", b"other", self._chance.choice(words)])
            text = re.sub(rb"\b%b\b" % word, new, text)
        return text.splitlines(keepends=True)


_EDITS = (
    Editor.delete, Editor.repeat, Editor.copy, Editor.move, Editor.wrap, Editor.unwrap,
    Editor.rename, Editor.rename, Editor.argument, Editor.argument, Editor.operand,
    Editor.bracket, Editor.value, Editor.value, Editor.value,
)  # fmt: skip


def _depth(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t"))


def _indented(lines: Sequence[bytes], by: int) -> list[bytes]:
    """Indent lines by a number of columns, or by tabs if they have tabs."""
    found = []
    for line in lines:
        unit = b"\t" * (by // 4) if line.startswith(b"\t") else b" " * by
        cut = min(_depth(line), -by // 4 if line.startswith(b"\t") else -by)
        found.append((unit + line if by > 0 else line[max(cut, 0) :]) if line.strip() else line)
    return found


def make_versions(seed: object, path: str, source: bytes) -> Versions:
    """Return a file as base, and two random edits of it at places that are close together."""
    chance = random.Random(f"{seed} {path}")  # noqa: S311 - no secret
    editor = Editor(chance, in_python=path.endswith((".py", ".pyi")))
    focus = chance.randrange(source.count(b"\n") + 1)
    ours, theirs = (editor.edit(source, focus, chance.randrange(1, 4)) for _ in range(2))
    if chance.randrange(4) == 0:
        base, ours, theirs = (text.replace(b"\n", b"\r\n") for text in (source, ours, theirs))
        source = base
    if chance.randrange(8) == 0:
        source, ours, theirs = (_BOM + text for text in (source, ours, theirs))
    return source, ours, theirs


def find_damage(path: str, versions: Versions, strategy: str, counts: Counter[str]) -> str:
    """Merge versions with a strategy, and return what is wrong with an accepted file."""
    tree = ce.Snapshot.from_files({path: versions[0]})
    sides = [ce.Changes({path: ce.Entry(text)}) for text in versions[1:]]
    outcome = ce.merge(tree, *sides, strategy=strategy)
    if not outcome.ledger:
        counts["clean in the line merge"] += 1
        return ""
    if outcome.conflicts:
        counts[f"{strategy} declined"] += 1
        return ""
    counts[f"{strategy} accepted"] += 1
    entry = outcome.changes[path]
    if entry is None:
        return "is deleted"
    merged = entry.data
    if found := _invention(path, versions, merged):
        return found
    if strategy == "union":
        return ""
    return _loss(versions, merged) or _syntax_problem(path, versions, merged)


def _invention(path: str, versions: Versions, merged: bytes) -> str:
    known = set[bytes]().union(*(_pieces(path, text) for text in versions))
    new = _pieces(path, merged) - known
    return f"invented {min(new)!r}" if new else ""


def _pieces(path: str, text: bytes) -> set[bytes]:
    """Return the names and values of a text."""
    values = _VALUES_OF_CODE if is_code(path) else _VALUES_OF_TEXT
    found = {each[0].strip(b".:!?") for each in values.finditer(text)}
    return found.union(_NAMES.findall(text))


def _loss(versions: Versions, merged: bytes) -> str:
    base, ours, theirs, there = (Counter(_TOKEN.findall(text)) for text in (*versions, merged))
    # Both sides may have removed different copies of a token.
    if lost := base - (base - ours) - (base - theirs) - there:
        return f"lost {next(iter(lost))!r}"
    if all(text.startswith(_BOM) for text in versions) and not merged.startswith(_BOM):
        return "lost its byte order mark"
    if all(map(_is_crlf, versions)) and not _is_crlf(merged):
        return "lost its line ends"
    return ""


def _syntax_problem(path: str, versions: Versions, merged: bytes) -> str:
    if any(find_syntax_fault(path, text) for text in versions):
        return ""
    if fault := find_syntax_fault(path, merged):
        return f"does not parse ({fault.problem}, line {fault.line})"
    if not is_accepted(path, merged) and all(is_accepted(path, text) for text in versions):
        return "is refused by the compiler"
    return ""


def _is_crlf(text: bytes) -> bool:
    return 0 < text.count(b"\n") == text.count(b"\r\n")


def is_accepted(path: str, text: bytes) -> bool:
    """Whether the language's own tool can parse a file, or is not installed."""
    command = PROGRAMS.get(Path(path).suffix)
    if command is None or not shutil.which(command[0]):
        return True
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "a" + (".mjs" if command[0] == "node" else Path(path).suffix))
        place.write_bytes(text)
        done = subprocess.run([*command, place], capture_output=True, check=False)
    return done.returncode == 0


def _files(places: Sequence[Path]) -> Iterator[Path]:
    for place in places:
        found = sorted(place.rglob("*")) if place.is_dir() else [place]
        yield from (
            each
            for each in found
            if each.is_file()
            and (is_code(each.name) or each.name.endswith(_TEXTS))
            and ".min." not in each.name
            and 0 < each.stat().st_size < MOST_BYTES
        )


def main() -> None:
    """Print what is wrong, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("places", nargs="+", type=Path, metavar="FILE_OR_FOLDER")
    parser.add_argument("--count", type=int, default=1000, help="number of merges")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first merge")
    options = parser.parse_args()
    files = list(_files(options.places))
    counts = Counter[str]()
    for number in range(options.first, options.first + options.count):
        file = files[(number * 7919) % len(files)]
        versions = make_versions(f"{options.seed}-{number}", file.name, file.read_bytes())
        counts["merges"] += 1
        for strategy in STRATEGIES:
            if damage := find_damage(file.name, versions, strategy, counts):
                counts[f"{strategy} damaged"] += 1
                print(f"{file}: {strategy} {damage}: --first {number} --count 1", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{name:<40}{count:>8}")
    sys.exit(any("damaged" in name for name in counts))


if __name__ == "__main__":
    main()
