"""Shows `cooperbench_eval` another operating system than the one that it runs on.

Python imports this module at its start if its folder is on PYTHONPATH, so the simulation is
also there in worker processes. SIMULATED_SYSTEM names the system. Other packages, and the
standard library itself, keep what they need: only modules of `cooperbench_eval`, and the main
module, see `os`, `sys`, `pathlib` and so on as they are on the other system.

What is simulated:

- Modules that the system lacks cannot be imported, functions and constants are absent.
- `/proc` and `/sys` do not exist.
- Below SIMULATED_FOLDER, names that differ only in case are one name.
- On Windows, paths are printed with backslashes, `os.path` is `ntpath`, text files have CR LF
  and the encoding cp1252 unless the caller says otherwise, no signal can be blocked, and to use
  a name that Windows gives to a device fails with an assertion.
"""

import builtins
import contextlib
import importlib
import io
import ntpath
import os
import pathlib
import re
import subprocess
import sys
import types

SYSTEM = os.environ.get("SIMULATED_SYSTEM", "")
FOLDER = os.environ.get("SIMULATED_FOLDER", "")
WINDOWS = SYSTEM == "win32"


def words(text):
    return text.split()


_LINUX_OS = words("""
memfd_create pidfd_open sched_getaffinity sched_setaffinity sched_getscheduler
sched_setscheduler sched_getparam sched_param SCHED_OTHER SCHED_RR SCHED_RESET_ON_FORK
listxattr getxattr setxattr removexattr posix_fadvise posix_fallocate pipe2 eventfd
copy_file_range splice getrandom getresuid getresgid setresuid setresgid fdatasync unshare
setns waitid P_PIDFD O_TMPFILE O_PATH O_DIRECT O_NOATIME O_LARGEFILE O_RSYNC MFD_CLOEXEC
""")
_POSIX_OS = words("""
fork forkpty vfork getuid geteuid getgid getegid getgroups setuid setgid getpgid getpgrp
setpgid getsid setsid killpg chown lchown fchown chroot mkfifo mknod uname sysconf
sysconf_names confstr register_at_fork wait wait3 wait4 WIFEXITED WEXITSTATUS WIFSIGNALED
WTERMSIG WNOHANG pread pwrite preadv pwritev readv writev sendfile fchmod fchdir fpathconf
pathconf statvfs fstatvfs getloadavg nice openpty ttyname tcgetpgrp tcsetpgrp ctermid
posix_spawn posix_spawnp sched_yield lockf set_blocking get_blocking sync getpriority
setpriority initgroups O_NOFOLLOW O_NONBLOCK O_DIRECTORY O_CLOEXEC O_SYNC O_DSYNC O_NOCTTY
O_NDELAY O_ASYNC EX_OK F_LOCK
""")
_LINUX_SIGNALS = words("sigtimedwait sigwaitinfo SIGRTMIN SIGRTMAX SIGPWR SIGCLD SIGPOLL")
_POSIX_SIGNALS = words("""
SIGKILL SIGALRM SIGHUP SIGQUIT SIGPIPE SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGUSR1
SIGUSR2 SIGXFSZ SIGXCPU SIGWINCH SIG_BLOCK SIG_UNBLOCK SIG_SETMASK pthread_sigmask pthread_kill
sigwait sigpending alarm setitimer getitimer pause siginterrupt
""")
_LINUX_SOCKETS = words("SOCK_CLOEXEC SOCK_NONBLOCK AF_NETLINK MSG_NOSIGNAL SO_PEERCRED")
_POSIX_SOCKETS = words("AF_UNIX MSG_DONTWAIT CMSG_LEN SCM_RIGHTS recv_fds send_fds")

ABSENT = {
    "os": {*_LINUX_OS, *(_POSIX_OS if WINDOWS else ())},
    "signal": {*_LINUX_SIGNALS, *(_POSIX_SIGNALS if WINDOWS else ())},
    "socket": {*_LINUX_SOCKETS, *(_POSIX_SOCKETS if WINDOWS else ())},
    "select": {"epoll", *(("poll",) if WINDOWS else ())},
    "resource": {"prlimit"},
    "time": {"tzset", "clock_gettime", "pthread_getcpuclockid"} if WINDOWS else set(),
}
NO_MODULES = (
    {
        *(
            "fcntl",
            "grp",
            "posix",
            "pty",
            "pwd",
            "readline",
            "resource",
            "syslog",
            "termios",
            "tty",
        ),
    }
    if WINDOWS
    else set()
)
_DEVICES = re.compile(
    r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$|.*[<>:\"|?*\x00-\x1f]|.*[ .]$"
)
_ABSENT_PLACES = re.compile(r"/(proc|sys)(/|$)")


class View(types.ModuleType):
    """A module as it is on the other system."""

    def __init__(self, real, values=()):
        super().__init__(real.__name__, real.__doc__)
        self.__dict__.update(_real=real, _absent=ABSENT.get(real.__name__, set()))
        self.__dict__.update(values)

    def __getattr__(self, name):
        if name in self._absent:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on {SYSTEM}")
        return getattr(self._real, name)

    def __setattr__(self, name, value):
        setattr(self._real, name, value)


# --- paths ---------------------------------------------------------------------


def real(path):
    """Return the path of this machine for a path of the other system."""
    if isinstance(path, int):
        return path
    path = path if isinstance(path, (str, bytes)) else os.fspath(path)
    if isinstance(path, bytes):
        return os.fsencode(real(os.fsdecode(path)))
    path = path.replace("\\", "/") if WINDOWS else path
    if _ABSENT_PLACES.match(path):
        raise FileNotFoundError(2, "simulated: no such file or directory", path)
    if FOLDER and path.startswith(FOLDER + "/"):
        path = _as_spelled(path)
    return path


def _as_spelled(path):
    """Find the parts of a path below the folder whatever their case."""
    found = FOLDER
    for wanted in path[len(FOLDER) + 1 :].split("/"):
        if WINDOWS and _DEVICES.match(wanted) and wanted not in {".", ".."}:
            raise AssertionError(f"{wanted!r} in {path!r} is not a file's name on Windows")
        part = wanted
        if wanted and not os.path.lexists(f"{found}/{wanted}"):
            with contextlib.suppress(OSError):
                names = os.listdir(found)  # noqa: PTH208 - below the level that is simulated
                part = next((n for n in names if n.casefold() == wanted.casefold()), wanted)
        found = f"{found}/{part}"
    return found


def translating(function, count=1):
    """Return *function*, called with the real paths in place of its first arguments."""

    def translated(*args, **kwargs):
        if "dir_fd" in kwargs:
            assert not WINDOWS, "Windows has no dir_fd"
            return function(*args, **kwargs)
        paths = (real(path) for path in args[:count])
        if function.__name__ == "symlink":
            paths = (args[0], real(args[1]))
        return function(*paths, *args[count:], **kwargs)

    return translated


_ONE_PATH = words("""
access chdir chmod listdir lstat mkdir makedirs open readlink remove removedirs rmdir scandir
stat truncate unlink utime walk listxattr
""")
_TWO_PATHS = words("link rename replace symlink")
_open = io.open
_TEXT_OPTIONS = ("buffering", "encoding", "errors", "newline")


def simulated_open(file, mode="r", *args, **kwargs):
    """Open a file as the other system would."""
    if WINDOWS and "b" not in mode and len(args) < len(_TEXT_OPTIONS):
        given = dict(zip(_TEXT_OPTIONS, args, strict=False)) | kwargs
        # Reading differs too, but is right for any line ending.
        if given.get("newline") is None and mode[0] in "wax":
            given["newline"] = "\r\n"
        if given.get("encoding") in {None, "locale"}:
            given["encoding"] = "cp1252"
        args, kwargs = (), given
    return _open(real(file), mode, *args, **kwargs)


class SimulatedPath(pathlib.PosixPath):
    """A path that prints as on the other system, and finds the same files as `open`."""

    def __fspath__(self):
        return real(super().__str__())

    if WINDOWS:

        def __new__(cls, *args):
            return super().__new__(cls, *map(_forward, args))

        if sys.version_info >= (3, 12):

            def __init__(self, *args):
                super().__init__(*map(_forward, args))

        def __str__(self):
            return super().__str__().replace("/", "\\")

        def iterdir(self):
            # Python 3.13 lists the folder that `str` names.
            return (self / name for name in os.listdir(self))  # noqa: PTH208 - as above

        def as_posix(self):
            return super().__str__().replace("\\", "/")


def _forward(part):
    return part.replace("\\", "/") if isinstance(part, str) else part


# --- the modules as the package sees them --------------------------------------


class _Libc:
    def __getattr__(self, name):
        raise AttributeError(f"simulated: symbol not found: {name}")


def _cdll(name=None, *_, **__):
    if WINDOWS and name is None:
        raise TypeError("LoadLibrary() argument 1 must be str, not None")
    return _Libc()


def _views():
    values = {name: translating(getattr(os, name)) for name in _ONE_PATH}
    values |= {name: translating(getattr(os, name), 2) for name in _TWO_PATHS}
    for name in ABSENT["os"]:
        values.pop(name, None)
    values["path"] = View(ntpath if WINDOWS else os.path, _path_functions())
    if WINDOWS:
        values |= {"name": "nt", "sep": "\\", "altsep": "/", "pathsep": ";", "linesep": "\r\n"}
        values |= {"supports_dir_fd": set(), "O_BINARY": 0, "devnull": "nul"}
        values["fspath"] = _text_of
    views = {"os": View(os, values), "os.path": values["path"]}
    views["sys"] = View(sys, {"platform": SYSTEM})
    names = {"Path": SimulatedPath}
    if WINDOWS:
        names |= {"PurePath": pathlib.PureWindowsPath, "WindowsPath": SimulatedPath}
    views["pathlib"] = View(pathlib, names)
    views["ctypes"] = View(importlib.import_module("ctypes"), {"CDLL": _cdll})
    for name in ("signal", "socket", "select", "time", *(() if WINDOWS else ("resource",))):
        views[name] = View(importlib.import_module(name))
    return views


_absolute, _resolved, _is_there = os.path.abspath, os.path.realpath, os.path.exists


def _false_if_absent(function):
    def asked(path):
        try:
            return function(path)
        except FileNotFoundError:
            return False

    return asked


def _text_of(path):
    return str(path) if isinstance(path, SimulatedPath) else os.fspath(path)


def _path_functions():
    functions = {name: translating(getattr(os.path, name), 2) for name in ("getsize", "samefile")}
    for name in ("exists", "lexists", "isdir", "isfile", "islink"):
        functions[name] = _false_if_absent(translating(getattr(os.path, name)))
    if WINDOWS:
        functions["realpath"] = lambda path: _resolved(real(path)).replace("/", "\\")
        functions["abspath"] = lambda path: _absolute(real(path)).replace("/", "\\")
    return functions


def _is_simulated(importer):
    name = (importer or {}).get("__name__", "")
    return name in {"__main__", "__mp_main__"} or name.partition(".")[0] == "cooperbench_eval"


def simulate():
    """Show the other system to the package from now on."""
    views = _views()
    real_import = builtins.__import__

    def simulated_import(name, importer=None, local=None, fromlist=(), level=0):
        if level == 0 and _is_simulated(importer):
            if name in NO_MODULES:
                raise ModuleNotFoundError(f"No module named {name!r} on {SYSTEM}", name=name)
            if name in views and (fromlist or "." not in name):
                return views[name]
        return real_import(name, importer, local, fromlist, level)

    builtins.__import__ = simulated_import
    builtins.open = simulated_open
    io.open = simulated_open
    if WINDOWS:
        _translate_others()


def _with_real_words(init):
    def started(self, words, *args, **kwargs):
        found = [_absolute(real(each)) if "\\" in str(each) else each for each in words]
        known = [new if _is_there(new) else each for new, each in zip(found, words, strict=True)]
        return init(self, known, *args, **kwargs)

    return started


def _translate_others():
    """Give other packages, which know Windows, the real path."""
    subprocess.Popen.__init__ = _with_real_words(subprocess.Popen.__init__)
    import sqlite3  # noqa: PLC0415

    sqlite3.connect = translating(sqlite3.connect)
    pygit2 = importlib.import_module("pygit2")
    init = pygit2.Repository.__init__
    pygit2.Repository.__init__ = lambda self, path, *args: init(self, real(path), *args)
    filelock = importlib.import_module("filelock")
    lock = filelock.FileLock.__init__
    filelock.FileLock.__init__ = lambda self, path, *args, **kwargs: lock(
        self, real(path), *args, **kwargs
    )


if SYSTEM:
    simulate()
