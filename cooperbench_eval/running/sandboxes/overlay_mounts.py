"""Mounts overlays in a namespace of its own, and becomes the command that uses them.

Run as a script: `overlay_mounts.py FOLDER COUNT COMMAND...`. For each number below COUNT,
`FOLDER/<number>` has the directories `upper`, `work` and `merged`, and a link `prepared` to
the lower directory. Nobody outside of the namespace sees the mounts, and they end with it. If
they cannot be made, the reason is in `FOLDER/problem`. It imports almost nothing, because
every run with an overlay starts it.
"""

import ctypes
import os
import signal
import sys

_CLONE_NEWNS = 0x20000
_CLONE_NEWUSER = 0x10000000
_MS_BIND_ALL = 0x1000 | 0x4000
_MS_PRIVATE_ALL = 0x40000 | 0x4000
_PR_SET_PDEATHSIG = 1
_SIGKILL = 9

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Mount, and start the command."""
    folder, count, *command = sys.argv[1:]
    try:
        os.chdir(folder)
        options = _enter_namespace()
        for number in range(int(count)):
            _mount(str(number), options)
    except OSError as exc:
        with open("problem", "w", encoding="utf-8") as file:  # noqa: PTH123 - imports much
            file.write(f"{exc.strerror} ({exc.filename})")
        os._exit(1)
    os.chdir("/")
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
        signal.signal(number, signal.SIG_DFL)
    env = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    os.execve(command[0], command, env)  # noqa: S606 - bubblewrap


def _enter_namespace() -> str:
    """Enter a namespace in which this process may mount; return the mounts' own options."""
    # Root keeps its rights, and so can copy files of other users.
    if os.geteuid() == 0 and _libc.unshare(_CLONE_NEWNS) == 0:
        options = ""
    else:
        user, group = os.geteuid(), os.getegid()
        _call("a user namespace", _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS))
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123
                file.write(text)
        # New rights cancel the order to die with the parent.
        _libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
        options = ",userxattr"
    _call("private mounts", _libc.mount(None, b"/", None, ctypes.c_ulong(_MS_PRIVATE_ALL), None))
    return options


def _mount(number: str, options: str) -> None:
    # Names in the options have no special characters, whatever the directories' paths are.
    lower, merged = f"{number}/lower", f"{number}/merged"
    prepared = os.fsencode(os.readlink(f"{number}/prepared"))  # noqa: PTH115
    flags = ctypes.c_ulong(_MS_BIND_ALL)
    _call("a bind mount", _libc.mount(prepared, lower.encode(), None, flags, None))
    layers = f"lowerdir={lower},upperdir={number}/upper,workdir={number}/work{options}".encode()
    _call(
        "an overlay",
        _libc.mount(b"overlay", merged.encode(), b"overlay", ctypes.c_ulong(0), layers),
    )


def _call(what: str, status: int) -> None:
    if status:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


if __name__ == "__main__":
    main()
