"""Parses commands: the program they start, and the options and values they give it."""

import re
import shlex
from collections.abc import Container, Iterator
from pathlib import PurePosixPath

from cooperbench_eval.running.readers.protocol import NewTests

__all__ = ["arguments_in_script", "arguments_of", "option_and_value", "split_words"]


def arguments_of(command: tuple[str, ...], program: str, *verbs: str) -> tuple[str, ...] | None:
    """Return the words after a program and its verbs; `None` for another program or verb."""
    rest = command[1 + len(verbs) :]
    is_program = bool(command) and PurePosixPath(command[0]).name == program
    return rest if is_program and command[1 : 1 + len(verbs)] == verbs else None


def option_and_value(word: str, rest: Iterator[str], with_value: Container[str]) -> tuple[str, str]:
    """Return an option's name and its value; the value is empty if there is none.

    Args:
        word: The option, as `--name`, `--name=value`, `-n` or `-nvalue`.
        rest: The words after it. The value is the next one if it is a word of its own.
        with_value: The names of the options that take a value.
    """
    letter = word[:2]
    if letter != "--" and len(word) > len(letter) and letter in with_value:
        return letter, word[len(letter) :]
    name, equals, value = word.partition("=")
    if not equals and name in with_value:
        value = next(rest, "")
    return name, value


def arguments_in_script(program: str, new: NewTests) -> Iterator[str]:
    """Yield the arguments, as text, of each call of a program in a script.

    The script is the words of the suite's command and the files that they name.

    Args:
        program: A regular expression for the program and its verb.
        new: The tree with the tests patch, and the command.
    """
    files = (new.after.get(word.removeprefix("./")) for word in new.command)
    texts = [file.data.decode(errors="replace") for file in files if file is not None]
    for text in (" ".join(new.command), *texts):
        joined_lines = text.replace("\\\n", " ")
        for found in re.finditer(rf"(?<![\w-])(?:{program})(?![\w-])([^\n;&|)#]*)", joined_lines):
            yield re.sub(r"\d?>+\s*\S*", " ", found[1])  # a redirection is not an argument


def split_words(text: str) -> tuple[str, ...] | None:
    """Split a line into words as a shell does; `None` if a quote is not closed."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return None
