"""Changed files that control a test run, and the changes that remain without them."""

import pytest

from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running.control_files import put_back

PYPROJECT = """\
[project]
name = "p"
dependencies = []

[tool.pytest.ini_options]
addopts = "-q"
"""
SETUP_CFG = "[metadata]\nname = p\n\n[tool:pytest]\naddopts = -q\n"
PACKAGE = (
    '{"name": "p", "scripts": {"test": "jest", "c": "node ./tools/check.js"}, "dependencies": {}}'
)
CARGO = '[package]\nname = "t"\n'
GO_MOD = "module example.org/m\n\ngo 1.19\n"
BASE = Snapshot.from_files(
    {
        "conftest.py": b"base\n",
        "pyproject.toml": PYPROJECT.encode(),
        "setup.cfg": SETUP_CFG.encode(),
        "package.json": PACKAGE.encode(),
        "Cargo.toml": CARGO.encode(),
        "go.mod": GO_MOD.encode(),
        "run.sh": b"exec pytest\n",
        "tools/check.js": b"",
        "src/queue.py": b"the product's own\n",
        "src/p/__init__.py": b"",
    }
)


def taken(files, roots=(), words=(), tests=()):
    """Return the paths that are removed from changes to files; `None` deletes."""
    changes = Changes({p: t if t is None else Entry(t.encode()) for p, t in files.items()})
    left, paths = put_back(
        BASE, changes, roots=roots, words=words, tests=tests, installed={"hypothesis"}
    )
    assert {p: left[p] for p in left} == {p: changes[p] for p in changes if p not in paths}
    return paths


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "tests/deep/conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        "tox.ini",
        "sitecustomize.py",
        "src/usercustomize.py",
        "src/sitecustomize/__init__.py",
        "sitecustomize.cpython-311-x86_64-linux-gnu.so",
        "src/p/__pycache__/a.cpython-311.pyc",
        "src/p/a.pyc",
        "lib/__mocks__/fs.js",
        "src/setupTests.ts",
        "evil.pth",
        "evil-1.dist-info/entry_points.txt",
        "evil.egg-info/entry_points.txt",
        "evil.Dist-Info/entry_points.txt",
        ".DIST-INFO/METADATA",
        "lib.egg/EGG-INFO/entry_points.txt",
        "Conftest.py",
        "conftest/__init__.py",
        "conftest.abi3.so",
        "jest.config.js",
        "vitest.config.mts",
        "vite.config.ts",
        "node_modules/jest/index.js",
        ".npmrc",
        "build.rs",
        ".cargo/config.toml",
        ".config/nextest.toml",
        "Makefile",
        ".gitattributes",
        "conftest.py/anything",
    ],
)
def test_files_that_control_a_run_are_removed(path):
    """The file may be new, changed, or a replacement of another one."""
    assert taken({path: "evil\n", "src/p/__init__.py": "new\n"}) == (path,)


def test_a_deletion_can_control_a_run():
    """Without its conftest.py a suite may run something else."""
    assert taken({"conftest.py": None}) == ("conftest.py",)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", PYPROJECT.replace("[]", '["attrs"]')),
        ("pyproject.toml", PYPROJECT + "\n[tool.ruff]\nline-length = 100\n"),
        ("setup.cfg", SETUP_CFG.replace("= p", "= q")),
        ("package.json", PACKAGE.replace("{}", '{"left-pad": "1"}')),
        ("Cargo.toml", CARGO + '\n[dependencies]\nserde = "1"\n'),
        ("go.mod", GO_MOD + "require example.org/new v1.2.3\n"),
        ("sub/pyproject.toml", "[project]\nname = 'new'\n"),
        ("src/p/json.py", "not at a root\n"),
        ("src/queue.py", "was there before\n"),
        ("json.txt", "no module\n"),
        ("p.py", "no name that a run needs\n"),
    ],
)
def test_other_files_are_kept(path, text):
    """A dependency that a feature adds is allowed."""
    assert taken({path: text}, roots=("src",)) == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", PYPROJECT.replace("-q", "-q --deselect=t.py")),
        ("pyproject.toml", PYPROJECT + '\n[project.entry-points.pytest11]\nevil = "evil"\n'),
        ("pyproject.toml", PYPROJECT + "\n[tool.pytest]\nminversion = '9'\n"),
        ("pyproject.toml", "not [ toml"),
        ("pyproject.toml", "tool = 1\n"),
        ("pyproject.toml", "a = " + "[" * 5000),
        ("pyproject.toml", None),
        ("setup.cfg", SETUP_CFG.replace("-q", "-p evil")),
        ("setup.cfg", SETUP_CFG + "[options.entry_points]\npytest11 =\n  evil = evil\n"),
        ("setup.cfg", "no section\n"),
        ("package.json", PACKAGE.replace("jest", "true")),
        ("package.json", PACKAGE[:-1] + ', "jest": {"bail": true}}'),
        ("package.json", PACKAGE.replace('"p"', '"chai"')),
        ("package.json", "[]"),
        ("Cargo.toml", CARGO.replace('"t"', '"t"\nbuild = "gen.rs"')),
        ("Cargo.toml", CARGO.replace('"t"', '"t"\nautotests = false')),
        ("Cargo.toml", CARGO + '\n[[test]]\nname = "new"\nharness = false\n'),
        ("Cargo.toml", CARGO + '\n[patch.crates-io]\nserde = { path = "fake" }\n'),
        ("go.mod", GO_MOD + "replace example.org/check => ./fake\n"),
        ("go.mod", GO_MOD + "replace (\n\texample.org/check => ./fake\n)\n"),
        ("go.mod", "module example.org/other\n"),
        ("package.json", "{"),
    ],
)
def test_only_the_controlling_part_of_a_file_counts(path, text):
    """A file that cannot be parsed is removed too."""
    assert taken({path: text}) == (path,)


@pytest.mark.parametrize(
    "path",
    [
        "pytest.py",
        "_pytest/__init__.py",
        "json.py",
        "src/pluggy/x.py",
        "unittest/case.py",
        "hypothesis.py",
    ],
)
def test_a_module_that_hides_one_the_run_needs_is_removed(path):
    """It would be imported instead of the other, from any import root."""
    assert taken({path: "evil\n"}, roots=("src",)) == (path,)


@pytest.mark.parametrize(
    ("path", "roots"),
    [
        ("lib", ("lib",)),
        ("lib", ("lib/deep/er",)),
        ("lib/deep", ("src/../lib/deep",)),
        ("lib.zip", ("lib.zip",)),
    ],
)
@pytest.mark.parametrize("mode", [0o100644, 0o120000])
def test_what_replaces_an_import_root_is_removed(path, roots, mode):
    """Python also imports from archives, and follows links."""
    changes = Changes({path: Entry(b"PK or a target", mode), "lib2/x.txt": Entry(b"x")})

    assert put_back(BASE, changes, roots=roots)[1] == (path,)


@pytest.mark.parametrize(
    ("path", "controls"),
    [
        ("src/shlex", True),
        ("src/shlex.py", True),
        ("conftest", True),
        ("src/queue", False),
        ("docs/shlex", False),
        ("src/own", False),
    ],
)
def test_a_link_may_be_a_module(path, controls):
    """It may lead to a folder with code, whatever its name ends with."""
    changes = Changes({path: Entry(b"../data", 0o120000)})

    assert put_back(BASE, changes, roots=("src",))[1] == ((path,) if controls else ())


@pytest.mark.parametrize(
    "path", ["t/test_old/__init__.py", "t/test_old.abi3.so", "t/test_old/deep/a.py"]
)
def test_a_module_that_hides_an_old_test_is_removed(path):
    """A package next to a module of the product is the product's own."""
    base = Snapshot.from_files({"t/test_old.py": b"", "src/old.py": b""})
    changes = Changes({path: Entry(b""), "src/old/__init__.py": Entry(b"")})

    assert put_back(base, changes)[1] == (path,)


def test_a_link_in_place_of_settings_controls_a_run():
    """The target of the link does not matter."""
    changes = Changes({"setup.cfg": Entry(b"elsewhere", 0o120000)})

    assert put_back(BASE, changes) == (Changes(), ("setup.cfg",))


@pytest.mark.parametrize(
    ("path", "words", "named"),
    [
        ("run.sh", ("sh", "./run.sh"), True),
        ("run.sh", ("sh", "other.sh"), False),
        ("new.sh", ("sh", "new.sh"), True),
        ("tools/check.js", ("npm", "test"), True),
        ("tools/check.js", ("sh", "run.sh"), False),
        ("tests/test_a.py", ("pytest", "tests/test_a.py"), False),
    ],
)
def test_scripts_that_run_the_tests_come_from_the_base(path, words, named):
    """Scripts named by a command or through package.json; test files belong to the suite."""
    assert taken({path: "exit 0\n"}, words=words) == ((path,) if named else ())


@pytest.mark.parametrize(
    ("path", "hides"),
    [
        ("t/test_new/__init__.py", True),
        ("t/test_new.cpython-311-x86_64-linux-gnu.so", True),
        ("t/test_new.py", False),
        ("t/test_newer.py", False),
        ("t/test_new/data.txt", False),
    ],
)
def test_a_module_that_hides_a_test_is_removed(path, hides):
    """It would be imported instead of the benchmark's file."""
    assert taken({path: "def test_new(): pass\n"}, tests=["t/test_new.py"]) == (
        (path,) if hides else ()
    )
