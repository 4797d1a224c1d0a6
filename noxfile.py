"""The checks on several Pythons: `nox` runs all of them, `nox -s tests-3.13` one.

The tests run against the built wheel. They run in the unpacked sdist, without its copy of
the package, so that only the wheel can be imported, and the sdist is known to contain what
the tests need. `nox -s tests -- -k merge` passes the arguments after the dashes to pytest.
"""

import shutil
import tarfile
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = True
nox.options.sessions = ["lint", "types", "build", "api", "docs", "tests"]

PYTHONS = ["3.11", "3.12", "3.13"]
ROOT = Path(__file__).parent
DIST = ROOT / "dist"


def wheel(*extras: str) -> str:
    """Return the wheel that `build` made, with *extras*, as a requirement."""
    (file,) = DIST.glob("*.whl")
    return f"{file}[{','.join(extras)}]" if extras else str(file)


@nox.session(python=PYTHONS[0])
def build(session: nox.Session) -> None:
    """Build the wheel and the sdist, and check both; `tests/release` builds them again."""
    session.install("build[uv]", "check-wheel-contents", "twine")
    shutil.rmtree(DIST, ignore_errors=True)

    session.run("python", "-m", "build", "--installer=uv", f"--outdir={DIST}", str(ROOT))

    files = sorted(file.name for file in DIST.iterdir())
    session.run("twine", "check", "--strict", *(str(DIST / name) for name in files))
    session.run("check-wheel-contents", str(DIST))


def unpacked_sdist(directory: Path) -> Path:
    """Unpack the sdist that `build` made; return its directory."""
    (file,) = DIST.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        archive.extractall(directory, filter="data")
    return directory / file.name.removesuffix(".tar.gz")


@nox.session(python=PYTHONS, requires=["build"])
def tests(session: nox.Session) -> None:
    """Run the tests against the installed wheel."""
    session.install(wheel("test-all"))
    # `session.create_tmp()` would put every temporary file into this checkout.
    directory = Path(session.virtualenv.location).absolute() / "source"
    shutil.rmtree(directory, ignore_errors=True)
    source = unpacked_sdist(directory)
    shutil.rmtree(source / "cooperbench_eval")
    session.chdir(source)
    # It compares builds, and needs the checkout for that.
    session.run("pytest", "--ignore=tests/release", *session.posargs)


@nox.session(python=PYTHONS[0], tags=["static"])
def lint(session: nox.Session) -> None:
    """Check style and format."""
    session.install("ruff")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session(python=PYTHONS[0], tags=["static"], requires=["build"])
def types(session: nox.Session) -> None:
    """Check types."""
    session.install(wheel("dev", "docs", "test-all"))
    session.run("mypy")


@nox.session(python=PYTHONS[0], tags=["static"], requires=["build"])
def api(session: nox.Session) -> None:
    """Compare the public names with their record."""
    session.install(wheel(), "griffelib")
    session.run("python", "docs/tools/public_api.py", "--check")


@nox.session(python=PYTHONS[0], tags=["static"], requires=["build"])
def docs(session: nox.Session) -> None:
    """Build the site, and check its links."""
    session.install(wheel("docs"))
    site = Path(session.virtualenv.location).absolute() / "site"
    session.run("mkdocs", "build", "--strict", f"--site-dir={site}")
