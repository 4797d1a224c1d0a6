"""How the tests handle a block of commands.

Commands that install, check or measure this project, and those that need a network, would take
minutes. So only their arguments are checked, with the parser of each command if it has one. All
others are run.
"""

import argparse
import contextlib
import importlib
import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

from packaging.requirements import Requirement

ASSIGNMENT = re.compile(r"\w+=.*")
PROJECT = "cooperbench-eval"
TIMEOUT_SECONDS = 60
# The path must be the same, because keys of results contain it.
SELF = f'python() {{ {shlex.quote(sys.executable)} "$@"; }}\n'
TOOLS = {"mkdocs", "mypy", "nox", "pytest", "ruff"}


class Parsed(BaseException):
    """A script has read its arguments and need not continue."""


def run_shell(text, root):
    """Check or run the commands of a block; return the output."""
    checks = [find_check(words, root) for words in commands(text)]
    if all(checks):
        for check in checks:
            check()
        return ""
    assert not any(checks), "commands that are run and such that are not: make two blocks of them"
    path = os.pathsep.join(
        [str(Path.cwd() / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", f"{SELF}{text}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PATH": path},
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(timeout=TIMEOUT_SECONDS)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, output + errors
    return output


def commands(text):
    """Yield the words of each command."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;")
        lexer.whitespace_split = True
        words = []
        for word in [*lexer, "&&"]:
            if set(word) <= set("&|;"):
                if words:
                    yield words
                words = []
            elif words or not ASSIGNMENT.fullmatch(word):
                words.append(word)


def find_check(words, root):
    """Return the function that checks a command, or `None` if it is to be run."""
    program, *arguments = words
    program = Path(program).name
    first = arguments[0] if arguments else ""
    if program in {"python", "python3"} and first == "-m":
        program, arguments = arguments[1], arguments[2:]
    elif program in {"python", "python3"} and (root / first).is_file():
        return partial(check_script, root / first, arguments[1:])
    elif program in {"bash", "source"} and (root / first).is_file():
        return lambda: None
    checks = {"pip": partial(check_pip, root), "dask": check_dask, "venv": lambda _: None}
    if program == "git" and first == "clone":
        return partial(check_clone, arguments[1:])
    checks["llama_cpp.server"] = partial(check_model_server, root)
    checks |= dict.fromkeys(TOOLS, partial(check_tool, program, root))
    return partial(checks[program], arguments) if program in checks else None


def check_script(script, arguments):
    """Have one of the project's scripts read its arguments, with its own parser."""
    parse = argparse.ArgumentParser.parse_args

    def parse_and_stop(self, *given):
        parse(self, *given)
        raise Parsed

    before = sys.argv, sys.path[:]
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.parent))
    argparse.ArgumentParser.parse_args = parse_and_stop
    try:
        with contextlib.suppress(Parsed):
            runpy.run_path(str(script), run_name="__main__")
            raise AssertionError(f"{script.name} reads no arguments")
    except SystemExit as exit_:
        raise AssertionError(f"{script.name} refuses {arguments}") from exit_
    finally:
        argparse.ArgumentParser.parse_args = parse
        sys.argv, sys.path[:] = before


def read_extras(root):
    """Return the packages of each extra of the project, by name."""
    with (root / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    return {
        extra: {Requirement(each).name for each in brought} for extra, brought in extras.items()
    }


def check_pip(root, arguments):
    """Check that packages have names, and that extras of this project exist."""
    verb, *rest = arguments
    assert verb == "install", arguments
    wanted = [word for word in rest if not word.startswith("-")]
    assert wanted, arguments
    extras = read_extras(root)
    for each in wanted:
        if each.startswith("./"):
            assert Path(each).is_dir(), each
            continue
        requirement = Requirement(re.sub(r"^\.(?=$|\[)", PROJECT, each))
        if requirement.name.replace("_", "-") == PROJECT:
            assert requirement.extras <= extras.keys(), each


def check_clone(arguments):
    """Check that a repository of a public host is cloned, into a folder that the page has."""
    url, *folder = arguments
    found = re.fullmatch(r"https://github\.com/[\w.-]+/([\w.-]+)", url)
    assert found, url
    assert Path(*(folder or [found[1]])).is_dir(), arguments


def check_dask(arguments):
    """Let Dask parse the arguments of one of its programs, which would not end."""
    program, *rest = arguments
    module = importlib.import_module(f"distributed.cli.dask_{program}")
    module.main.make_context(program, rest)


def check_model_server(root, arguments):
    """Check that a model is served as in the benchmark that does it."""
    example = (root / "benchmarks" / "llm_live.py").read_text(encoding="utf-8")
    for word in arguments:
        assert not word.startswith("--") or f'"{word}"' in example, word


def check_tool(program, root, arguments):
    """Check that a tool belongs to the project, and that the files it is given exist."""
    declared = set().union(*read_extras(root).values())
    assert {"mkdocs": "mkdocs-material"}.get(program, program) in declared, program
    for word in arguments:
        if "/" in word and not word.startswith("-"):
            assert (root / word).exists(), word
