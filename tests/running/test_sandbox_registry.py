"""Sandboxes by name, and the default one."""

import functools
import sys

import pytest

import cooperbench_eval as ce
from cooperbench_eval.running.sandboxes import bubblewrap as module

GROUP = "cooperbench_eval.sandboxes"
CAGE = """
class Cage:
    def __init__(self, name="cage"):
        self.name = name

    @property
    def identity(self):
        raise OSError("the engine is not running")

    def run(self, command, **options):
        raise NotImplementedError
"""


@pytest.fixture
def install(install_plugins):
    """Return a function that puts a distribution with sandboxes on the path."""
    return functools.partial(install_plugins, GROUP)


@pytest.fixture
def fresh_probe():
    """Forget whether bubblewrap works, before and after the test."""
    ce.running.bubblewrap_problem.cache_clear()
    yield
    ce.running.bubblewrap_problem.cache_clear()


def test_built_in_sandboxes_are_available():
    """They are in the same sorted table as plug-ins."""
    names = ce.running.available_sandboxes()

    assert {"bubblewrap", "container", "local"} <= set(names)
    assert list(names) == sorted(names)


def test_a_listed_plug_in_is_not_imported(install):
    """This holds even for one that cannot be imported."""
    install("broken-plugin", "1.0", "registry_broken_cage", "raise OSError", broken="X")

    assert "broken" in ce.running.available_sandboxes()
    assert "registry_broken_cage" not in sys.modules


@pytest.mark.parametrize("kind", [ce.LocalSandbox, ce.BubblewrapSandbox])
def test_a_name_gives_its_sandbox_with_the_options(kind):
    """A built-in sandbox has the name under which it is registered."""
    name = kind().name

    assert ce.running.get_sandbox(name, file_bytes=5) == kind(file_bytes=5)


def test_a_plug_in_is_found_by_its_name(install):
    """Its identity is not read, because that may need a service that is not running yet."""
    install("cage-plugin", "1.0", "registry_cage", CAGE, cage="Cage")

    assert "cage" in ce.running.available_sandboxes()
    assert ce.running.get_sandbox("cage", name="other").name == "other"


def test_the_error_for_an_unknown_name_lists_the_known_names():
    """The error is about sandboxes, not strategies."""
    with pytest.raises(
        ce.errors.UnknownSandboxError, match="no sandbox is called 'nine'"
    ) as caught:
        ce.running.get_sandbox("nine")

    assert {"bubblewrap", "local"} <= set(caught.value.available)


def test_a_built_in_sandbox_cannot_be_shadowed(install):
    """The built-in one is used, and a warning names the plug-in that is ignored."""
    install("shadow-plugin", "1.0", "registry_shadow_cage", CAGE, local="Cage")

    with pytest.warns(
        UserWarning, match="sandbox 'local' is built in, so the one of shadow-plugin 1"
    ):
        found = ce.running.get_sandbox("local")

    assert type(found) is ce.LocalSandbox


NEEDS = "is not a sandbox: it needs a name, an identity and a run method"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("raise OSError('no licence')", "cannot be imported: OSError('no licence')"),
        (
            CAGE.replace("self.name = name", "self.name = 5"),
            NEEDS,
        ),
        (CAGE.replace("def identity", "def other"), NEEDS),
        (CAGE.replace("def run", "def go"), NEEDS),
        (
            f"{CAGE}\nclass S(Cage): name = 's'\ndef Cage(): return S",
            NEEDS,
        ),
        ("class Cage:\n def __init__(self, key): pass", "cannot be built: TypeError"),
    ],
)
def test_the_error_of_a_broken_plug_in_names_its_origin(install, source, problem):
    """The error names sandbox, distribution, object and cause."""
    install("bad-plugin", "0.9", "registry_bad_cage", source, bad="Cage")

    with pytest.raises(ce.errors.SandboxLoadError) as caught:
        ce.running.get_sandbox("bad")

    assert caught.value.origin == "bad-plugin 0.9 (registry_bad_cage:Cage)"
    assert problem in caught.value.problem


LIMITS = {"processes": 4096}


def test_the_default_isolates_if_possible(bubblewrap):
    """Bubblewrap works, so it is the default."""
    assert ce.running.bubblewrap_problem() is None
    limits = LIMITS | {"memory_bytes": ce.default_sandbox().memory_bytes}
    assert ce.default_sandbox() == bubblewrap(**limits)
    assert limits["memory_bytes"] % (1 << 30) == 0


def test_the_default_is_local_otherwise(monkeypatch, fresh_probe):
    """Bubblewrap is missing here, and the reason is available."""
    monkeypatch.setenv("PATH", "/nowhere")

    limits = LIMITS | {"memory_bytes": ce.default_sandbox().memory_bytes}
    assert ce.default_sandbox() == ce.LocalSandbox(**limits)
    assert "not installed" in ce.running.bubblewrap_problem()


def test_bubblewrap_is_tried_once(monkeypatch, fresh_probe):
    """A process runs it once and remembers the answer."""
    runs = []
    monkeypatch.setattr(
        module.BubblewrapSandbox,
        "run",
        lambda *_, **__: runs.append(1) or ce.running.Execution(exit_code=3),
    )

    problems = {ce.running.bubblewrap_problem(), ce.running.bubblewrap_problem()}

    assert len(runs) == 1
    assert "exit_code=3" in problems.pop()
    assert not problems
