"""The Python environments that a command uses: which are found, shown, and in the key."""

import json
import os
import stat
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running import LocalSandbox, TestRunner, TestSuite
from cooperbench_eval.running.sandboxes import environments
from cooperbench_eval.running.sandboxes.environments import EnvironmentFinder, installed_modules

SYSTEM = "/usr/bin:/bin"
WHERE = "import greeting, sys; print(sys.prefix, greeting.TEXT)"


def install(prefix, name="greeting", text="hello"):
    """Put a module where an environment has its packages."""
    (packages,) = prefix.glob("lib/python3*/site-packages")
    (packages / f"{name}.py").write_text(f"TEXT = {text!r}\n")


def script(file, first, body="import greeting; print(greeting.TEXT)"):
    """Write a program."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{first}\n{body}\n")
    file.chmod(stat.S_IRWXU)
    return str(file)


@pytest.fixture
def home(tmp_path):
    """Return a folder with private files."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "secret").write_text("secret")
    return folder


@pytest.fixture
def environment(home):
    """Return a virtual environment with one package."""
    folder = home / "venvs" / "mine"
    venv.create(folder, symlinks=True)
    install(folder)
    (folder.parent / "other").mkdir()
    return folder


@pytest.fixture
def run(bubblewrap, tmp_path):
    """Return a function that runs a command in bubblewrap, and what it printed."""
    tree, scratch = tmp_path / "tree", tmp_path / "scratch"
    for folder in (tree, scratch):
        folder.mkdir()

    def run(*command, path=SYSTEM):
        options = {"tree": tree, "scratch": scratch, "env": {"PATH": path}}
        execution = bubblewrap().run(command, **options, timeout_seconds=30)
        assert execution.exit_code == 0, execution.output
        return execution.output.decode()

    run.tree = tree
    return run


def conda_like(prefix):
    """Make an installation without `pyvenv.cfg`, with the files of the running Python."""
    base = Path(sys.base_prefix)
    version = f"python3.{sys.version_info.minor}"
    library = prefix / "lib" / version
    (library / "site-packages").mkdir(parents=True)
    (prefix / "conda-meta").mkdir()
    (prefix / "bin").mkdir()
    for each in (base / "lib" / version).iterdir():
        if each.name != "site-packages":
            (library / each.name).symlink_to(each)
    real = Path(os.path.realpath(sys.executable))
    (prefix / "bin" / version).write_bytes(real.read_bytes())
    (prefix / "bin" / version).chmod(stat.S_IRWXU)
    (prefix / "bin" / "python").symlink_to(version)
    install(prefix)
    return prefix


# --- what is shown ----------------------------------------------------------------------


def test_a_virtual_environment_and_its_base_are_visible_and_nothing_else(run, environment, home):
    """The command may be its interpreter, and sees neither its neighbours nor private files."""
    listing = f"{WHERE}; import os; print(os.listdir({str(home)!r}), os.listdir('{home}/venvs'))"

    output = run(str(environment / "bin" / "python"), "-c", listing)

    assert output == f"{environment} hello\n['venvs'] ['mine']\n"


def test_an_environment_may_be_reached_through_links(run, environment, home):
    """Inside, each link leads to the same place as outside, also one with dots."""
    (home / "current").symlink_to("venvs/../venvs/mine")
    (home / "again").symlink_to(home / "current")

    output = run(str(home / "again" / "bin" / "python"), "-c", WHERE)

    assert output == f"{home / 'again'} hello\n"


def test_an_installation_like_condas_is_visible(run, home):
    """It has no `pyvenv.cfg`, and may be the base of an environment."""
    if (Path(sys.base_prefix) / "lib/python3/dist-packages").is_dir():
        pytest.skip("Debian's Python looks for packages in other places than conda's")
    prefix = conda_like(home / "conda")

    output = run(str(prefix / "bin" / "python"), "-c", f"{WHERE}; print(sys.base_prefix)")

    assert output == f"{prefix} hello\n{prefix}\n"


def test_the_base_of_an_environment_may_be_anywhere(run, home):
    """Only `pyvenv.cfg` tells where, if the interpreter is a copy."""
    base, folder = conda_like(home / "conda"), home / "copy"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_bytes((base / "bin" / "python").read_bytes())
    (folder / "bin" / "python").chmod(stat.S_IRWXU)
    (folder / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\n")
    version = f"python3.{sys.version_info.minor}"
    (folder / "lib" / version / "site-packages").mkdir(parents=True)
    install(folder, text="copied")

    output = run(str(folder / "bin" / "python"), "-c", f"{WHERE}; print(sys.base_prefix)")

    assert output == f"{folder} copied\n{base}\n"


@pytest.mark.parametrize("kind", ["direct", "env", "long"])
def test_a_script_is_shown_with_its_interpreter(run, environment, home, kind):
    """Its first line names the interpreter, or `env`; a long one is in the second line."""
    python = environment / "bin" / "python"
    first = {
        "direct": f"#!{python}",
        "env": "#!/usr/bin/env python",
        "long": f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''",
    }[kind]
    program = script(home / "tools" / "greet", first)

    assert run(program, path=f"{python.parent}:{SYSTEM}") == "hello\n"
    assert run("greet", path=f"{home / 'tools'}:{python.parent}:{SYSTEM}") == "hello\n"


def test_an_environment_on_the_path_is_visible(run, environment):
    """A shell script may start its programs by name; a path in a script counts too."""
    folder = environment / "bin"
    command = ("sh", "-c", 'python -c "$0"', WHERE)
    by_path = ("sh", "-c", f'cd /; {folder}/python -c "$0"', WHERE)

    assert run(*command, path=f"{folder}:{SYSTEM}") == f"{environment} hello\n"
    assert run(*by_path) == f"{environment} hello\n"


def test_a_link_in_the_tree_reveals_nothing(run, environment):
    """Hostile code can make the tree's `.venv` a link to any environment of this machine."""
    (run.tree / ".venv").symlink_to(environment)
    seen = f"[ -e {environment} ] && echo seen; :"

    for path in (SYSTEM, f"{run.tree}/.venv/bin:{SYSTEM}"):
        assert run("sh", "-c", seen, f"{run.tree}/.venv/bin/python", path=path) == ""


@pytest.mark.parametrize("place", ["home", "home/.local"])
def test_a_home_that_is_a_prefix_is_not_shown_as_a_whole(home, monkeypatch, place):
    """Other programs keep private data in `~/.local/share`, or code in `~/lib`."""
    monkeypatch.setenv("HOME", str(home))
    prefix = home.parent / place
    version = f"python3.{sys.version_info.minor}"
    for name in ("bin", "share/keyrings", f"lib/{version}", "lib/other"):
        (prefix / name).mkdir(parents=True)
    python = prefix / "bin" / "python3"
    for file in (python, prefix / "bin" / "private", prefix / f"lib/{version}/os.py"):
        file.write_text("")
        file.chmod(stat.S_IRWXU)
    finder = EnvironmentFinder(SYSTEM)

    finder.search([str(python)])

    assert set(finder.shown) == {str(python), str(prefix / "lib" / version)}


def test_strange_programs_are_not_environments(home):
    """Neither a loop of links, a folder, a missing file nor another program is shown."""
    (home / "bin").mkdir()
    (home / "bin" / "python").symlink_to("python")
    (home / "pyvenv.cfg").write_bytes(b"home = \0\xff\nhome")
    other = script(home / "other" / "bin" / "tool", "#!/bin/sh")
    words = [f"{home}/bin/python", f"{home}/bin", f"{home}/none/bin/python", other, "", "\0/bin/x"]
    finder = EnvironmentFinder(f"{home}/bin::.:{SYSTEM}")

    finder.search(["sh", *words, "/bin/" + "x" * 5000])

    assert (finder.shown, finder.facts) == ({}, [])


# --- the key ----------------------------------------------------------------------------


def test_the_running_python_adds_nothing_to_the_identity():
    """It is part of it already."""
    assert LocalSandbox().facts_about((sys.executable, "-c", ""), {"PATH": SYSTEM}) == ""
    assert LocalSandbox().facts_about(("sh", "-c", ""), {"PATH": SYSTEM}) == ""


@pytest.mark.parametrize("program", ["python", "greet"])
def test_what_is_installed_in_an_environment_is_a_fact_about_its_commands(environment, program):
    """So are its interpreter and its settings."""
    script(environment / "bin" / "greet", f"#!{environment}/bin/python")
    command = (str(environment / "bin" / program),)

    def changes():
        yield
        install(environment, "another")
        yield
        settings = environment / "pyvenv.cfg"
        settings.write_text(f"{settings.read_text()}prompt = mine\n")
        yield
        (environment / "bin" / "python").unlink()
        (environment / "bin" / "python").symlink_to("/usr/bin/env")
        yield

    facts = [LocalSandbox().facts_about(command, {"PATH": SYSTEM}) for _ in changes()]

    assert len(set(facts)) == len(facts)
    assert all(facts)


def test_a_cached_result_is_not_used_after_an_installation(environment):
    """The same suite is run again, because another result is possible."""
    runner = TestRunner(sandbox=LocalSandbox())
    command = (str(environment / "bin" / "python"), "-c", "import another")
    suite = TestSuite(command=command, framework="exit")
    tree = Snapshot.from_files({"a": b""})

    results = [runner.run(tree, Changes(), suite)]
    install(environment, "another")
    results += [runner.run(tree, Changes(), suite) for _ in range(2)]

    assert [each.passed for each in results] == [False, True, True]
    assert results[1] == results[2]
    assert len({each.sandbox_identity for each in results}) == 2


def test_a_module_of_the_environment_cannot_be_replaced(environment):
    """A patch could otherwise put its own version of a plug-in into the test process."""
    files = {name: Entry(b"") for name in ("greeting.py", "src/greeting.py", "own.py")}
    tree = Snapshot.from_files({"a": b""})
    python = str(environment / "bin" / "python")
    env = {"PYTHONPATH": ".:src"}
    found = {}
    for name in (python, "/usr/bin/true"):
        suite = TestSuite(command=(name, "-c", ""), framework="exit", env=env)
        result = TestRunner(sandbox=LocalSandbox()).run(tree, Changes(files), suite)
        found[name] = result.restored_files

    assert found == {python: ("greeting.py", "src/greeting.py"), "/usr/bin/true": ()}


@pytest.fixture(params=["usr/bin", "bin", "environment"])
def on_system(request, tmp_path, monkeypatch):
    """Return a Python of a system like Debian's: its own, or an environment's based on it."""
    system = tmp_path / "usr"
    for name in ("bin", "lib/python3.9", "lib/python3/dist-packages"):
        (system / name).mkdir(parents=True)
    (system / "lib/python3.9/os.py").touch()
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "lib").symlink_to("usr/lib")
    script(system / "bin" / "python3", "")
    script(tmp_path / "environment" / "bin" / "python3", "")
    settings = tmp_path / "environment" / "pyvenv.cfg"
    settings.write_text(f"home = {system}/bin\ninclude-system-site-packages = true\n")
    monkeypatch.setattr(environments, "_SYSTEM", system)
    folder = "environment/bin" if request.param == "environment" else request.param
    return str(tmp_path / folder / "python3")


@pytest.mark.parametrize("kind", ["dist-packages", "site-packages"])
def test_what_pip_installs_for_the_system_is_found(on_system, tmp_path, kind):
    """Its folder is below `/usr/local`, and is made by the first installation."""
    packages = tmp_path / "usr/local/lib/python3.9" / kind
    command = (on_system, "-c", "")
    before = LocalSandbox().facts_about(command, {"PATH": SYSTEM})
    packages.mkdir(parents=True)
    made = LocalSandbox().facts_about(command, {"PATH": SYSTEM})

    (packages / "greeting.py").touch()

    assert len({before, made, LocalSandbox().facts_about(command, {"PATH": SYSTEM})}) == 3
    assert "greeting" in installed_modules(command, SYSTEM)


def test_another_installation_does_not_use_the_systems_packages(on_system, home):
    """Only a Python below the system's prefix looks for packages in `/usr/local`."""
    system = Path(environments._SYSTEM)
    (system / "local/lib/python3.9/dist-packages").mkdir(parents=True)
    (home / "lib/python3.9/site-packages").mkdir(parents=True)
    (home / "lib/python3.9/os.py").touch()
    found = {}
    for python in (on_system, script(home / "bin" / "python3", "")):
        finder = EnvironmentFinder(SYSTEM)
        finder.search([python])
        found[python] = [each for each in finder.packages if "/local/" in each]

    assert list(map(bool, found.values())) == [True, False]


def test_an_environment_with_the_running_pythons_base_has_the_bases_packages(environment):
    """The running Python may be in an environment too, and then does not use them itself."""
    finder = EnvironmentFinder(SYSTEM)

    finder.search([str(environment / "bin" / "python")])

    assert [each for each in finder.packages if Path(each).is_relative_to(sys.base_prefix)]


def test_the_running_pythons_packages_may_be_those_of_its_base(tmp_path):
    """They are if its environment has system packages, so a patch cannot replace them."""
    venv.create(tmp_path / "mine", symlinks=True, system_site_packages=True)
    (own,) = (tmp_path / "mine").glob("lib/python3*/site-packages")
    (own / "packages.pth").write_text(sysconfig.get_path("purelib"))
    code = "from cooperbench_eval.running.sandboxes import environments as found\n"
    code += "import json, sys; print(json.dumps([sys.path, found.running_packages()]))"

    done = subprocess.run(
        [tmp_path / "mine" / "bin" / "python", "-c", code],
        cwd=Path(environments.__file__).parents[3],
        capture_output=True,
        check=True,
    )

    searched, found = json.loads(done.stdout)
    assert str(own) in found
    assert [each for each in {*found} & {*searched} if not each.startswith(str(tmp_path))]


def test_a_sandbox_without_facts_still_works():
    """The method is optional, so sandboxes of others need not have it."""

    class Sandbox:
        name = identity = "mine"

        def run(self, command, **options):
            return LocalSandbox().run(command, **options)

    suite = TestSuite(command=("true",), framework="exit")

    result = TestRunner(sandbox=Sandbox()).run(Snapshot.from_files({}), Changes(), suite)

    assert (result.passed, result.sandbox_identity) == (True, "mine")
