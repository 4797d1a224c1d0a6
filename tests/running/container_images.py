"""Small images made from programs of this machine, for tests without a registry."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import uuid
from importlib.metadata import distribution
from pathlib import Path

import pytest
from needs import lack, need_engine, need_package, need_program

RUNNER = """\
#!/bin/bash
set -e
cleanup() { git reset --hard HEAD >/dev/null; git clean -fdx >/dev/null; }
trap cleanup EXIT INT TERM
cd /workspace/repo
git reset --hard HEAD
git clean -fdx
[[ -z "$2" ]] || git apply --ignore-whitespace --ignore-space-change "/patches/$2"
git apply --ignore-whitespace --ignore-space-change "/patches/$1"
python -m pytest -v tests
"""
REPOSITORY = {
    "double.py": "def double(x):\n    return 2 * x\n",
    "tests/test_double.py": "from double import double\ndef test_double(): assert double(2) == 4\n",
    "conftest.py": "",
}
_LEFT_OUT = {
    *("test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "site-packages"),
    *("distutils", "pydoc_data"),
}
_DISTRIBUTIONS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


@pytest.fixture(scope="session")
def engine():
    """Return the engine that `DOCKER_HOST` names."""
    docker = need_package("docker")
    need_engine()
    client = docker.APIClient(**docker.utils.kwargs_from_env(), version="auto")
    yield client
    client.close()


@pytest.fixture(scope="session")
def import_image(engine, tmp_path_factory):
    """Return a function that makes an image of a root directory; all are removed again."""
    made = []

    def make(root, changes=(), name=None):
        name = name or f"localhost/cooperbench-test-{uuid.uuid4().hex}:1"
        archive = tmp_path_factory.mktemp("image") / "root.tar"
        made.append(import_root(engine, root, archive, changes, name))
        return name

    yield make
    for digest in made:
        engine.remove_image(digest, force=True)


def import_root(engine, root, archive, changes, name):
    """Make an image of a root directory through an archive; return its digest."""
    with tarfile.open(archive, "w") as tar:
        tar.add(root, ".", filter=_as_root)
    repository, tag = name.split(":")
    # Podman 4.3 drops the tag.
    said = engine.import_image(str(archive), repository=repository, changes=list(changes))
    archive.unlink()
    digest = said.strip().splitlines()[-1].partition("sha256:")[2].partition('"')[0]
    engine.tag(digest, repository, tag)
    return digest


def _as_root(member):
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member


@pytest.fixture(scope="session")
def bare_image(import_image, tmp_path_factory):
    """Return an image with busybox and nothing else."""
    root = tmp_path_factory.mktemp("bare")
    add_busybox(root)
    return import_image(root)


@pytest.fixture(scope="session")
def python_image(import_image, tmp_path_factory):
    """Return an image with Python and pytest."""
    root = tmp_path_factory.mktemp("python")
    return import_image(root, [each for each in task_root(root) if each.startswith("ENV")])


@pytest.fixture(scope="session")
def go_image(import_image, tmp_path_factory):
    """Return an image with Go, without the parts that tests do not need."""
    root = tmp_path_factory.mktemp("go")
    add_busybox(root)
    add_go(root)
    return import_image(root, ["ENV PATH=/usr/local/go/bin:/bin", "ENV GOROOT=/usr/local/go"])


@pytest.fixture(scope="session")
def task_image(import_image, tmp_path_factory):
    """Return an image like the benchmark's: Python, pytest, git, a repository and a script."""
    root = tmp_path_factory.mktemp("task")
    add_repository(root)
    return import_image(root, task_root(root), "localhost/bench-toy-repo:task7")


def task_root(root):
    """Add all that a task's image has apart from its repository; return its settings."""
    add_busybox(root)
    add_python(root)
    add_program(root, "bash", "git")
    script = root / "usr/local/bin/runner.sh"
    script.write_text(RUNNER)
    script.chmod(0o755)
    folders = os.pathsep.join(sorted({str(Path(p).parent) for p in libraries(*interpreter())}))
    return (
        "ENV PATH=/usr/local/bin:/usr/bin:/bin",
        f"ENV LD_LIBRARY_PATH={folders}",
        "ENV HOME=/root",
        "WORKDIR /workspace/repo",
        'ENTRYPOINT ["/usr/local/bin/runner.sh"]',
    )


@pytest.fixture
def find_containers(engine, bare_image):
    """Return a function that names the containers of this session's bare image."""
    digest = engine.inspect_image(bare_image)["Id"].removeprefix("sha256:")

    def find(*, running=False):
        found = engine.containers(all=not running)
        return [c["Id"] for c in found if c["ImageID"].removeprefix("sha256:") == digest]

    return find


def add_busybox(root):
    """Add busybox under all of its names, and a place for temporary files."""
    busybox = need_program("busybox")
    if libraries(busybox):
        lack("busybox", "busybox is linked to shared libraries")
    folder = root / "bin"
    folder.mkdir()
    shutil.copy(busybox, folder / "busybox")
    for name in subprocess.check_output([busybox, "--list"], text=True).split():
        if name != "busybox":
            (folder / name).symlink_to("busybox")
    for name in ("tmp", "root", "etc", "var"):
        (root / name).mkdir()
    (root / "tmp").chmod(0o1777)
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nsomebody:x:1000:1000::/:/bin/sh\n")


def add_python(root):
    """Add the running interpreter with its library, pytest and what these need."""
    program, *modules = interpreter()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = root / "usr/local/lib" / version
    shutil.copytree(sysconfig.get_path("stdlib"), library, ignore=_left_out)
    for name in _DISTRIBUTIONS:
        for file in distribution(name).files:
            if ".." not in file.parts:  # no scripts
                (library / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), library / file)
    programs = root / "usr/local/bin"
    programs.mkdir(parents=True)
    shutil.copy(program, programs / version)
    for name in ("python", "python3"):
        (programs / name).symlink_to(version)
    add_libraries(root, program, *modules)


def interpreter():
    """Return the interpreter's file and those of its extension modules."""
    program = Path(sys._base_executable).resolve()
    return program, *Path(sysconfig.get_path("stdlib"), "lib-dynload").glob("*.so")


def _left_out(folder, names):
    del folder
    # Python runs without -O here.
    return {
        n for n in names if n in _LEFT_OUT or n.startswith(("config-", "libpython")) or ".opt-" in n
    }


def add_program(root, *names):
    """Add programs of this machine with their libraries."""
    (root / "usr/bin").mkdir(parents=True, exist_ok=True)
    for name in names:
        program = Path(shutil.which(name, path="/usr/bin:/bin:/usr/local/bin")).resolve()
        shutil.copy(program, root / "usr/bin" / name)
        add_libraries(root, program)


def add_go(root):
    """Add the standard library, and the tools that compile tests."""
    go = need_program("go")
    home = Path(subprocess.check_output([go, "env", "GOROOT"], text=True).strip())
    at = root / "usr/local/go"
    for name in ("bin", "pkg", "src"):
        shutil.copytree(home / name, at / name, ignore=_not_for_tests)
    add_libraries(root, go, *(at / "pkg/tool").rglob("*"))


def _not_for_tests(folder, names):
    del folder
    return {n for n in names if n in {"cmd", "testdata", "gofmt"} or n.endswith("_test.go")}


def add_libraries(root, *programs):
    """Add the shared libraries that programs are linked to, if they exist here."""
    for library in libraries(*programs):
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)


def libraries(*programs):
    """Return the shared libraries that programs are linked to."""
    said = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False).stdout
    words = (line.split() for line in said.splitlines())
    return sorted({w for line in words for w in line if w.startswith("/") and not w.endswith(":")})


def add_repository(root):
    """Add a repository of one commit."""
    repository = root / "workspace/repo"
    for path, text in REPOSITORY.items():
        file = repository / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=toy", "-c", "user.email=toy@localhost")
    for command in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "base")):
        subprocess.run(["git", *command], cwd=repository, env=env, check=True)
