"""Random states of a working tree, and what the git program would store of them."""

import itertools
import os
import shutil
import stat
import subprocess
from pathlib import Path

PATTERNS = (
    "*.log",
    "build/",
    "/top",
    "a*b",
    "!keep.log",
    "doc/**",
    "**/tmp",
    "\\#x",
    "x[0-9].txt",
    "!build/",
    "dir",
    "!dir/a",
    "*.o",
    "!/a/*.o",
    " spaced ",
    "sub/*",
    "!sub/keep",
    "a/**/z",
    "[!a]?.md",
    "*",
    "!*/",
    "!*.txt",
    "foo/bar/",
    "/foo/*",
    "!/foo/bar",
    "\\!bang",
    "trail\\ ",
    "**",
    "d?r/*",
)
ATTRIBUTES = (
    "* text=auto", "*.txt text", "*.txt -text", "*.txt eol=crlf", "*.txt eol=lf", "*.bin binary",
    "* -text", "*.txt !text", "*.md text=auto",
)  # fmt: skip
SETTINGS = {
    "core.autocrlf": ("true", "input", "false"),
    "core.eol": ("lf", "crlf"),
    "core.filemode": ("false",),
    "core.symlinks": ("false",),
    "core.quotepath": ("false",),
}
NAMES = (
    "a",
    "b",
    "dir",
    "sub",
    "foo",
    "bar",
    "build",
    "keep.log",
    "x.log",
    "x1.txt",
    "n.txt",
    "r.md",
    "tmp",
    "z",
    "k.o",
    "#x",
    " spaced ",
    "!bang",
    "trail ",
    "ab.md",
    "é.txt",
    "d.bin",
    "top",
)
TEXTS = (
    b"",
    b"one\n",
    b"one\ntwo\n",
    b"one\r\ntwo\r\n",
    b"mixed\r\ntwo\n",
    b"bin\0\r\n",
    b"\r",
    b"x\r\r\n",
    b"$Id$\n",
    b"$Id: 0123 $\n",
    "é\r\n".encode(),
    b"no end",
    b"\x1a\r\n",
)


class Worktree:
    """A repository with a working tree, and the git program."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            "HOME": str(folder),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{role}_NAME": "Ann" for role in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{role}_EMAIL": "ann@example.org" for role in ("AUTHOR", "COMMITTER")},
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def linked(self, folder):
        """Return a linked worktree on a branch of its own."""
        self.git("commit", "-q", "--allow-empty", "-m", "0")
        self.git("worktree", "add", "-q", "-b", Path(folder).name, str(folder))
        tree = Worktree.__new__(Worktree)
        tree.folder, tree.environment = Path(folder), self.environment
        return tree

    def git(self, *arguments, fails=False, folder=None, **environment):
        """Run git; return what it prints, or `None` if it fails where failure is allowed."""
        done = subprocess.run(
            ("git", *arguments),
            cwd=folder or self.folder,
            env=self.environment | environment,
            capture_output=True,
            check=False,
        )
        if done.returncode and fails:
            return None
        assert not done.returncode, done.stderr
        return done.stdout.decode().strip()

    def stored_tree(self, scratch):
        """Return the tree that `git add --all` would store, or `None` if git refuses.

        The objects go to *scratch*, so the repository stays as it is.
        """
        index = Path(scratch, "index")
        objects = Path(scratch, "objects")
        objects.mkdir()
        where = self.git("rev-parse", "--git-path", "index")
        if Path(self.folder, where).exists():
            shutil.copy2(self.folder / where, index)
        common = self.folder / self.git("rev-parse", "--git-path", "objects")
        environment = {
            "GIT_INDEX_FILE": str(index),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(common.resolve()),
        }
        if self.git("add", "--all", fails=True, **environment) is None:
            return None
        return self.git("write-tree", **environment)


def make_random(random, tree):
    """Bring a new working tree into a random state."""
    _write_some(random, tree, 12)
    if random.random() < 0.6:
        _rules(random, tree)
    tree.git("add", "--all", fails=True)
    tree.git("commit", "-q", "--allow-empty", "-m", "1")
    for name, values in SETTINGS.items():
        if random.random() < 0.2:
            tree.git("config", name, random.choice(values))
    for _ in range(random.randrange(1, 12)):
        random.choice(STEPS)(random, tree)


_TIMES = itertools.count(1)


def _put(path, data):
    """Write a file with a time stamp of its own in the past.

    Git and libgit2 read files again that may have changed just after the index was written, but
    they do not agree for how long.
    """
    path.write_bytes(data)
    os.utime(path, (10**9 + next(_TIMES),) * 2)


def _path(random):
    return "/".join(random.choice(NAMES) for _ in range(random.choice((1, 1, 2, 2, 3))))


def _remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _claim(tree, name):
    """Make room for a file, and the folders above it."""
    path = tree.folder / name
    for above in reversed(path.relative_to(tree.folder).parents):
        folder = tree.folder / above
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            folder.unlink()
    if path.is_symlink() or path.exists():
        _remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write_some(random, tree, most=4):
    for _ in range(random.randrange(1, most)):
        path = _claim(tree, _path(random))
        _put(path, random.choice(TEXTS))
        if random.random() < 0.2:
            path.chmod(0o755)


def _existing(random, tree):
    found = [
        each for each in tree.folder.rglob("*") if ".git" not in each.relative_to(tree.folder).parts
    ]
    return random.choice(sorted(found)) if found else tree.folder / "nothing"


def _delete(random, tree):
    _remove(_existing(random, tree))


def _edit(random, tree):
    path = _existing(random, tree)
    if path.is_file() and not path.is_symlink():
        _put(path, random.choice(TEXTS))


def _touch(random, tree):
    path = _existing(random, tree)
    if path.is_file() and not path.is_symlink():
        os.utime(path, ns=(1, 1))


def _permit(random, tree):
    path = _existing(random, tree)
    if path.is_file() and not path.is_symlink():
        path.chmod(path.stat().st_mode ^ stat.S_IXUSR)


def _link(random, tree):
    _claim(tree, _path(random)).symlink_to(
        random.choice(("nowhere", "nothing/at all", "..", "/etc"))
    )


def _rules(random, tree):
    text = "".join(f"{random.choice(PATTERNS)}\n" for _ in range(random.randrange(1, 4)))
    where = random.choice((".gitignore", ".gitignore", "dir/.gitignore", "a/.gitignore", "exclude"))
    if where == "exclude":
        path = tree.folder / tree.git("rev-parse", "--git-path", "info/exclude")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    else:
        _put(_claim(tree, where), text.encode())


def _user_rules(random, tree):
    path = tree.folder.parent / "own"
    path.write_text(f"{random.choice(PATTERNS)}\n")
    tree.git("config", "core.excludesFile", str(path))


def _attributes(random, tree):
    text = "".join(f"{random.choice(ATTRIBUTES)}\n" for _ in range(random.randrange(1, 3)))
    where = random.choice((".gitattributes", "dir/.gitattributes"))
    _put(_claim(tree, where), text.encode())


def _stage(random, tree):
    tree.git("add", "--all", "--", str(_existing(random, tree)), fails=True)


def _intend(random, tree):
    tree.git("add", "-N", "--", str(_existing(random, tree)), fails=True)


def _unstage(random, tree):
    path = str(_existing(random, tree))
    tree.git("rm", "-rq", "--cached", "--ignore-unmatch", "--", path, fails=True)


def _skip(random, tree):
    flag = random.choice(("--skip-worktree", "--assume-unchanged"))
    tree.git("update-index", flag, "--", str(_existing(random, tree)), fails=True)


def _repository(random, tree):
    path = _claim(tree, _path(random))
    path.mkdir()
    tree.git("init", "-q", folder=path)
    if random.random() < 0.8:
        tree.git("commit", "-q", "--allow-empty", "-m", "inner", folder=path)
    if random.random() < 0.5:
        tree.git("add", "--", str(path), fails=True)  # now it is a submodule
    if random.random() < 0.3:
        tree.git("commit", "-q", "--allow-empty", "-m", "more", folder=path, fails=True)
    if random.random() < 0.1:
        shutil.rmtree(path / ".git")


def _commit(random, tree):
    tree.git("commit", "-q", "-m", "2", fails=True)


def _pipe(random, tree):
    os.mkfifo(_claim(tree, f"pipe{random.randrange(9)}"))


STEPS = (
    _write_some,
    _write_some,
    _edit,
    _edit,
    _delete,
    _touch,
    _permit,
    _link,
    _rules,
    _user_rules,
    _attributes,
    _stage,
    _intend,
    _unstage,
    _skip,
    _repository,
    _commit,
    _pipe,
)
