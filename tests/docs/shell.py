"""How the tests handle a block of commands.

Commands that install, check or measure this project, and those that need a network, would take
minutes. So their arguments are checked, with the parser of each command if it has one, and what
later blocks need of their effect is made here: an environment, a small dataset, an installed
strategy, a cluster of one process, a server that answers like a model. All others are run.
"""

import argparse
import contextlib
import importlib
import os
import re
import runpy
import shlex
import signal
import socket
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path
from unittest import mock

from packaging.requirements import Requirement
from places import lay_environment, lay_task
from server import ModelServer

ASSIGNMENT = re.compile(r"\w+=.*")
PROJECT = "cooperbench-eval"
TIMEOUT_SECONDS = 60
# The path must be the same, because keys of results contain it.
SELF = f'python() {{ {shlex.quote(sys.executable)} "$@"; }}\n'
# What Slurm does: start the script once for each number, with its variables and its log.
SLURM = """\
option() { sed -n "s/^#SBATCH --$1=//p" "$2"; }
sbatch() {
    for number in $(seq $(option array "$1" | tr - ' ')); do
        SLURM_ARRAY_TASK_ID=$number SLURM_CPUS_PER_TASK=$(option cpus-per-task "$1") \\
            bash "$1" >"evaluate-$number.log" &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do wait "$job"; done
}
"""
LOST = "tests/test_shell_completion.py::test_shell_completion_resolve_context_with_on_exit"
ANSWER = "```conflict-1\nimport os\nimport sys\n```"
TOOLS = {"mkdocs", "mypy", "nox", "pytest", "ruff"}


class Parsed(BaseException):
    """A script has read its arguments and need not continue."""


def run_shell(text, root, closing):
    """Check or run the commands of a block; return the output.

    *closing* is the stack of what is closed after the page.
    """
    checks = [find_check(words, root, closing) for words in commands(text)]
    if all(checks):
        for check in checks:
            check()
        return ""
    assert not any(checks), "commands that are run and such that are not: make two blocks of them"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", f"{SELF}{SLURM}{text}"],
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


def find_check(words, root, closing):
    """Return the function that checks a command, or `None` if it is to be run."""
    given, *arguments = words
    program = Path(given).name
    first = arguments[0] if arguments else ""
    if program in {"python", "python3"} and first == "-m":
        program, arguments = arguments[1], arguments[2:]
    elif given == "python" and first.startswith("docs/examples/") and Path(first).is_file():
        return None
    elif program in {"python", "python3"} and (root / first).is_file():
        return partial(check_script, root / first, arguments[1:])
    elif program in {"bash", "source"} and (root / first).is_file():
        return lambda: None
    checks = {"pip": partial(check_pip, root), "venv": make_environment}
    checks["dask"] = partial(check_dask, closing)
    if program == "git" and first == "clone":
        return partial(check_clone, arguments[1:])
    checks["llama_cpp.server"] = partial(check_model_server, root, closing)
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
    if wanted == ["."] and Path("pyproject.toml").is_file():
        install_here()
    extras = read_extras(root)
    for each in wanted:
        if each.startswith("./"):
            assert Path(each).is_dir(), each
            continue
        requirement = Requirement(re.sub(r"^\.(?=$|\[)", PROJECT, each))
        if requirement.name.replace("_", "-") == PROJECT:
            assert requirement.extras <= extras.keys(), each


def install_here():
    """Register the entry points of the project in this folder, whose modules are here as well."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    info = Path(f"{name.replace('-', '_')}-{version}.dist-info")
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{point} = {target}" for point, target in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def make_environment(arguments):
    """Make the virtual environment of a page; this project's own is not made anew."""
    *_, folder = arguments
    if folder != ".venv":
        lay_environment(folder)


def check_clone(arguments):
    """Check that a repository of a public host is cloned.

    The dataset gets one task, in which feature 1 breaks a test of feature 2, as it does in the
    real one. The clone of the task's repository is made with it.
    """
    url, *folder = arguments
    found = re.fullmatch(r"https://github\.com/[\w.-]+/([\w.-]+)", url)
    assert found, url
    if found[1] == "CooperBench":
        contents = {1: (4,), 2: (1, LOST)}
        dataset = "CooperBench/dataset"
        lay_task(task_id=2800, clone="clones/click", dataset=dataset, contents=contents)
    assert Path(*(folder or [found[1]])).is_dir(), arguments


def check_dask(closing, arguments):
    """Let Dask parse the arguments of one of its programs, and start both as one thread."""
    program, *rest = arguments
    module = importlib.import_module(f"distributed.cli.dask_{program}")
    options = module.main.make_context(program, rest).params
    if program != "scheduler" or not options["scheduler_file"]:
        return
    from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra

    cluster = LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
        silence_logs=50,
    )
    with Client(closing.enter_context(cluster)) as client:
        client.write_scheduler_file(options["scheduler_file"])


def check_model_server(root, closing, arguments):
    """Check that a model is served as in the benchmark that does it, and answer in its place."""
    example = (root / "benchmarks" / "llm_live.py").read_text(encoding="utf-8")
    for word in arguments:
        assert not word.startswith("--") or f'"{word}"' in example, word
    if "--port" in arguments:
        model = ModelServer()
        model.script = [ANSWER]
        closing.callback(model.stop)
        port = int(arguments[arguments.index("--port") + 1])
        closing.enter_context(redirected(("127.0.0.1", port), model.server_address))


@contextlib.contextmanager
def redirected(address, other):
    """Connect to another address than the page says, because several runs may test the page."""
    connect = socket.socket.connect

    def connect_to(self, given):
        return connect(self, other if given == address else given)

    with mock.patch.object(socket.socket, "connect", connect_to):
        yield


def check_tool(program, root, arguments):
    """Check that a tool belongs to the project, and that the files it is given exist."""
    declared = set().union(*read_extras(root).values())
    assert {"mkdocs": "mkdocs-material"}.get(program, program) in declared, program
    for word in arguments:
        if "/" in word and not word.startswith("-"):
            assert (root / word).exists(), word
