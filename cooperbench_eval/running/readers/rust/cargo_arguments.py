"""Reads which tests the arguments of `cargo test` or `cargo nextest run` select."""

import re
from collections.abc import Sequence

from attrs import frozen

from cooperbench_eval.running.readers.command_line import option_and_value

__all__ = ["CargoSelection", "parse_cargo_arguments"]

_HARMLESS = re.compile(
    r"--(?:offline|locked|frozen|no-fail-fast|release|workspace|all|all-targets|verbose|quiet)|-[vqr]+"
    r"|--(?:jobs|color)=\w+"
)
_HARMLESS_OF_PROGRAM = re.compile(
    r"--(?:nocapture|no-capture|show-output|include-ignored)|--(?:test-threads|color)=\w+"
)
_WITH_VALUE = frozenset({"--test", "--skip", "--test-threads", "--jobs", "-j"})


@frozen(kw_only=True)
class CargoSelection:
    """What the arguments select.

    Attributes:
        files: The files of the programs that run, such as `tests/it.rs`; none means all.
        words: The parts of names, one of which a test must contain; none means all.
        skipped: The parts of names that a test must not contain.
        exact: Whether the parts are whole names.
    """

    files: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    exact: bool = False

    def keeps(self, file: str, test: str) -> bool:
        """Whether a test of a program's file runs, by the path of its modules and function."""
        if self.files and file not in self.files:
            return False

        def has(word: str) -> bool:
            return word == test if self.exact else word in test

        return (not self.words or any(map(has, self.words))) and not any(map(has, self.skipped))


def parse_cargo_arguments(arguments: Sequence[str]) -> CargoSelection | None:
    """Parse the arguments; `None` if one may leave tests out in another way."""
    files: list[str] = []
    words: list[str] = []
    skipped: list[str] = []
    exact = is_for_program = False
    rest = iter(arguments)
    for word in rest:
        if word == "--" and not is_for_program:
            is_for_program = True
            continue
        option, value = option_and_value(word, rest, _WITH_VALUE)
        harmless = _HARMLESS_OF_PROGRAM if is_for_program else _HARMLESS
        if not word.startswith("-"):
            words.append(word)
        elif option == "--lib" and not is_for_program:
            files.append("src/lib.rs")
        elif option == "--test" and re.fullmatch(r"[\w-]+", value) and not is_for_program:
            files.append(f"tests/{value}.rs")
        elif option == "--skip" and is_for_program:
            skipped.append(value)
        elif option == "--exact" and is_for_program:
            exact = True
        elif not (harmless.fullmatch(word) or harmless.fullmatch(f"{option}={value}")):
            return None
    return CargoSelection(
        files=tuple(files), words=tuple(words), skipped=tuple(skipped), exact=exact
    )
