"""Asks the git program about a working tree, without changing its repository or running its hooks.

Agents can write the repository's configuration, hooks and attributes, which may name programs. So
git works in a git folder of ours, and does not read the repository's. Ours has a copy of the index,
the repository's objects as an alternate, and the settings that say how files are stored. It has no
drivers, so the attribute `filter` has no effect. `git add` is not used: it runs `git status`
in submodules, with their configuration, and updates the times of objects that exist already.
"""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pygit2

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.objects import Node, decode_path, encode_path

PREFIX = "cooperbench-worktree-"
"""The prefix of the names of folders for a `Scratch`."""

_SETTINGS = (
    "attributesfile", "autocrlf", "checkstat", "excludesfile", "filemode", "ignorecase",
    "precomposeunicode", "protecthfs", "protectntfs", "sparsecheckout", "sparsecheckoutcone",
    "symlinks", "trustctime",
)  # fmt: skip
_FIXED = b"[core]\nrepositoryformatversion = 0\nuntrackedcache = false\n"
_CHANGE = re.compile(rb":\d+ (\d+) \w+ (\w+) \w+\0([^\0]+)\0")
_FEW = 200  # paths that a command is given, instead of all
_FILTER = re.compile(r"filter\.(.+)\.(?:clean|process|required)", re.DOTALL)
# The mode of an entry of the index, what comes after it, and a flag. Other bytes may match too.
_ASSUMED = re.compile(rb"\0\0(?:\x81[\xa4\xed]|\xa0\0).{32}[\x80-\xff]", re.DOTALL)
_RECORDED = re.compile(
    rb"([^\0]+)\0  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n.+\n.+\n  size: (\d+)\t.*\n"
)
_SPECIAL = re.compile(rb"[*?\[\\]")
_COMPLAINT = re.compile("^(?:error: |fatal: |(?=Ignoring path ))(.+)", re.MULTILINE)
_NO_COMMIT = "is a directory - add files inside instead"
_OLDEST = 2, 18
_RULES = {".gitattributes", ".gitignore"}
_SOON, _MOST_SECONDS = 0.5, 300
_SECOND = 1_000_000_000
_MOST_COPIED = 1 << 30  # bytes
_MOST = 1 << 32  # the index keeps the lower 32 bits of a size


class Scratch:
    """A git folder of ours for a working tree.

    Attributes:
        unmerged: The unmerged files of the index.
        removed: What to remove from the index before the rest is added.
        added: The files, links and other repositories to add.
    """

    unmerged: list[str]
    removed: list[str]
    added: list[str]
    _others: dict[str, Node | None]  # what else differs from the commit

    def __init__(
        self, own: Path, folder: Path, repository: pygit2.Repository, common: Path
    ) -> None:
        """Fill the empty folder *own* with what git needs to compare the working tree at *folder*.

        The name of *own* begins with `PREFIX`. The *common* folder is that of all worktrees.

        Raises:
            OSError: The index cannot be read, or there is no space.
            RepositoryError: The index is not a file, or has more than a gigabyte.
        """
        self._own = own
        self._folder = folder
        self._repository = repository
        for name in ("git", "info", "objects/info", "refs"):
            (own / name).mkdir(parents=True)
        is_unborn = repository.head_is_unborn
        head = "ref: refs/heads/unborn" if is_unborn else str(repository.head.target)
        (own / "HEAD").write_text(f"{head}\n")
        (own / "config").write_bytes(_FIXED + b"".join(self._settings()))
        objects = _quoted(os.fsencode((common / "objects").as_posix()))
        (own / "objects/info/alternates").write_bytes(objects + b"\n")
        theirs = Path(repository.path)
        users = Path(pygit2.settings.search_path[pygit2.enums.ConfigLevel.XDG].split(os.pathsep)[0])
        for file, place in (
            (common / "info/attributes", "info"), (common / "info/exclude", "info"),
            (theirs / "info/sparse-checkout", "info"),
            (users / "attributes", "git"), (users / "ignore", "git"),
        ):  # fmt: skip
            if _can_be_copied(file):
                with suppress(OSError):
                    shutil.copyfile(file, own / place / file.name)
        with (own / "info/exclude").open("ab") as exclude:
            # Temporary folders may be in the working tree.
            exclude.write(f"\n{PREFIX}*/\n".encode())
        for file in (theirs / "index", *theirs.glob("sharedindex.*")):
            if _can_be_copied(file):
                shutil.copy2(file, own)  # git compares the times of the index and of files
            elif os.path.lexists(file):
                raise RepositoryError(str(folder), f"{file} is not a file, or is too large")

    def _settings(self) -> Iterator[bytes]:
        for name in _SETTINGS:
            with suppress(KeyError):
                value = self._repository.config[f"core.{name}"]
                if value is None:
                    value = "true"
                elif name.endswith("file"):
                    value = os.path.expanduser(value)  # noqa: PTH111 - a user may be absent
                    if not _can_be_copied(self._folder / value):
                        continue
                yield b"%b = %b\n" % (name.encode(), _quoted(encode_path(value)))

    def compare(self) -> None:
        """Find how the working tree differs from the index."""
        self._compare()
        # A repository may hide in the place of a file; `git status` does not say that it is there.
        gone = set(self.removed).difference(self.added).union(self._assumed())
        top = self._folder
        hidden = [path for path in gone if os.path.lexists(f"{top}/{path}/.git")]
        if hidden:
            self._remove(hidden)
            self._compare()

    @property
    def is_dirty(self) -> bool:
        """Whether the working tree or the index differs from the commit."""
        return any((self.unmerged, self.removed, self.added, self._others))

    def _compare(self) -> None:
        self.unmerged, self.removed, self.added, self._others = [], [], [], {}
        words = ("--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")
        rows = self._git("status", "--porcelain=v2", "-z", *words)
        for row in rows.split(b"\0"):
            kind = row[:1]
            if kind == b"u":
                self.unmerged.append(decode_path(row.split(b" ", 10)[10]))
            elif kind == b"?":
                path = decode_path(row[2:]).rstrip("/")
                self.added.append(path)
                if row.endswith(b"/"):  # a repository, perhaps in the place of a tracked file
                    self.removed.append(path)
            elif kind == b"1":
                self._note_tracked(row)

    def _note_tracked(self, row: bytes) -> None:
        """Note how a tracked file differs from the commit and from the index."""
        _, change, _, of_commit, mode, _, _, object_id, raw = row.split(b" ", 8)
        path = decode_path(raw)
        if change.endswith(b"D"):
            if int(of_commit):
                self._others[path] = None
        elif not change.startswith(b"."):
            self._others[path] = _node(mode, object_id)
        if change.endswith((b"D", b"T")):
            self.removed.append(path)
        if not change.endswith((b".", b"D")):
            self.added.append(path)

    def _assumed(self) -> Iterator[str]:
        with suppress(FileNotFoundError):
            if _ASSUMED.search((self._own / "index").read_bytes()):
                for row in self._git("ls-files", "-v", "-z").split(b"\0"):
                    if row.startswith(b"h"):
                        yield decode_path(row[2:])

    def set_filters_aside(self) -> list[str]:
        """Stop any conversion of the added files that a program would convert, and return them.

        A file with the size and time that the index has is no longer added, because the index has
        what the program made of it.
        """
        names = (_FILTER.fullmatch(each.name) for each in self._repository.config)
        drivers = {each[1].encode() for each in names if each}
        if not drivers or not self.added:
            return []
        words = self._git("check-attr", "-z", "--stdin", "filter", given=self.added).split(b"\0")
        files: dict[str, os.stat_result] = {}
        for path, driver in zip(map(decode_path, words[::3]), words[2::3], strict=False):
            with suppress(OSError):
                found = os.lstat(self._folder / path)
                if driver in drivers and stat.S_ISREG(found.st_mode):
                    files[path] = found
        with (self._own / "info/attributes").open("ab") as attributes:
            for path in files:
                pattern = _quoted(_SPECIAL.sub(rb"\\\g<0>", b"/" + encode_path(path)))
                attributes.write(b"\n%b -text -ident !working-tree-encoding" % pattern)
        recorded = self._git("ls-files", "--debug", "-z") if files else b""
        for raw, *stamp in _RECORDED.findall(recorded):
            path = decode_path(raw)
            if path in files and _has_stamp(files[path], *map(int, stamp)):
                self.added.remove(path)
        return sorted(files)

    def changes(self, tree_id: str) -> dict[str, Node | None]:
        """Update the index from the working tree, and return how it differs from the commit's."""
        if not self.added:
            return self._others
        # Git puts a repository only where nothing is, and obeys rules that only the index has.
        if any(path.endswith(".gitattributes") for path in self.removed) or any(
            os.path.isdir(f"{self._folder}/{path}")  # noqa: PTH112 - for many paths
            for path in self.added
        ):
            self._remove(self.removed)
        self._add(self.added, "--info-only")
        words = ("diff-index", "--cached", "--raw", "-z", "--ignore-submodules=none", tree_id, "--")
        only = self.added if len(self.added) <= _FEW else ()
        added = frozenset(self.added)
        found = {path: node for path, node in self._others.items() if path not in added}
        for mode, object_id, raw in _CHANGE.findall(self._git(*words, *only)):
            if (path := decode_path(raw)) in added:
                found[path] = _node(mode, object_id)
        return found

    def contents(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return what git stores for files that the repository lacks, by its id."""
        self._add(paths)
        objects = pygit2.Odb(str(self._own / "objects"))
        return {str(each): objects.read(each)[1] for each in objects}

    def _remove(self, paths: Iterable[str]) -> None:
        self._git("update-index", "--force-remove", "-z", "--stdin", given=paths)

    def _add(self, paths: Iterable[str], *options: str) -> None:
        words = ("--add", "--remove", "--replace", *options, "-z", "--stdin")
        self._git("update-index", *words, given=paths)

    def _git(self, *words: str, given: Iterable[str] = ()) -> bytes:
        program = shutil.which("git")
        if program is None:
            problem = "cannot be read: git is not installed, or not in PATH; branches can be read"
            raise RepositoryError(str(self._folder), problem)
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env |= {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_DIR": str(self._own),
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_WORK_TREE": str(self._folder),
            "HOME": str(self._own),
            "LC_ALL": "C",
            "XDG_CONFIG_HOME": str(self._own),
        }
        with subprocess.Popen(  # noqa: S603
            # A relative PATH does not start from the working tree.
            [os.path.abspath(program), *words],  # noqa: PTH100 - links stay
            cwd=self._folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            try:
                out, err = self._end_of(running, b"".join(encode_path(p) + b"\0" for p in given))
            except subprocess.TimeoutExpired as exc:
                problem = f"`git {words[0]}` did not end within {_MOST_SECONDS} seconds"
                raise TimeoutError(problem) from exc
            finally:
                running.kill()
        complaints = _COMPLAINT.findall(err.decode("utf-8", "backslashreplace"))
        if running.returncode or (complaints and words[0] == "update-index"):
            reason = "; ".join(complaints).replace(_NO_COMMIT, "is a repository without a commit")
            reason = reason.replace(f"{self._own}{os.sep}", self._repository.path)
            problem = f"`git {words[0]}` fails ({reason}){_advice(program)}"
            raise RepositoryError(str(self._folder), problem)
        return out

    def _end_of(self, running: "subprocess.Popen[bytes]", given: bytes) -> tuple[bytes, bytes]:
        """Return what git writes; it would wait for ever for a pipe in the place of its rules."""
        with suppress(subprocess.TimeoutExpired):
            return running.communicate(given, timeout=_SOON)
        for folder, _, names in os.walk(self._folder):
            if running.poll() is not None:  # it was only slow
                break
            for place in (f"{folder}/{name}" for name in _RULES.intersection(names)):
                if Path(place).is_fifo():
                    raise TimeoutError(f"git cannot read {place}, because it is a pipe")
        return running.communicate(timeout=_MOST_SECONDS)


def _node(mode: bytes, object_id: bytes) -> Node | None:
    return Node(int(mode, 8), object_id.decode()) if int(mode) else None


def _can_be_copied(file: Path) -> bool:
    """Whether there is such a file; a device or a pipe could be read without end."""
    with suppress(OSError):
        found = file.stat()
        return stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_COPIED
    return False


def _advice(program: str) -> str:
    """Return what to do about an old git; empty if it is new enough."""
    done = subprocess.run([program, "version"], capture_output=True, check=False)  # noqa: S603
    found = re.search(rb"(\d+)\.(\d+)", done.stdout)
    if found is None or tuple(map(int, found.groups())) >= _OLDEST:
        return ""
    return f": git is {found[0].decode()}, and {'.'.join(map(str, _OLDEST))} or newer is needed"


def _quoted(raw: bytes) -> bytes:
    """Quote a value as git's configuration, attributes and alternates have it."""
    return b'"%b"' % raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")


def _has_stamp(found: os.stat_result, *recorded: int) -> bool:
    """Whether a file has the times and the size that the index records, where it records them."""
    *before, size = recorded
    times = *divmod(found.st_ctime_ns, _SECOND), *divmod(found.st_mtime_ns, _SECOND)
    is_same = all(old in {0, new} for old, new in zip(before, times, strict=True))
    return is_same and size == found.st_size % _MOST
