"""What the readers share to find the tests that a patch brings."""

import re
from collections.abc import Callable, Iterable, Iterator

from cooperbench_eval.models import Entry
from cooperbench_eval.running.readers.protocol import NewTests

__all__ = ["added_or_changed", "behind"]


def added_or_changed(
    path: str, new: NewTests, functions: Callable[[Entry | None], Iterable[tuple[str, str]]]
) -> Iterator[str]:
    """Yield the names of a file's tests that are new, or whose text is.

    Args:
        path: The file.
        new: What the tests patch did.
        functions: Finds the name and the text of each test in a file; of namesakes
            the last counts.
    """
    known = dict(functions(new.before.get(path)))
    for name, text in dict(functions(new.after.get(path))).items():
        if known.get(name) != text:
            yield name


def behind(program: str, new: NewTests) -> Iterator[str]:
    """Yield what stands behind a program, to the command's end, in a script.

    The script is the words of the suite's command and the files that they name.

    Args:
        program: A regular expression of the program and its verb.
        new: What the tests patch did, and the command.
    """
    files = (new.after.get(word.removeprefix("./")) for word in new.command)
    texts = [file.data.decode(errors="replace") for file in files if file is not None]
    for text in (" ".join(new.command), *texts):
        joined_lines = text.replace("\\\n", " ")
        for found in re.finditer(rf"(?<![\w-])(?:{program})(?![\w-])([^\n;&|)#]*)", joined_lines):
            yield re.sub(r"\d?>+\s*\S*", " ", found[1])  # where output goes is no argument
