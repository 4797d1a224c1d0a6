"""The options of bubblewrap that decide what a command sees and may do."""

import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from cooperbench_eval.processes.supervision import SupervisedCommand

__all__ = ["HOSTS", "bubblewrap_options"]

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_CONFIGURATION = (
    "alternatives",
    "ca-certificates",
    "group",
    "java-*",
    "ld.so.*",
    "locale.alias",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/cert*",
    "protocols",
    "services",
    "ssl/cert*",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)
"""Names below `/etc` that programs need to start; no keys, passwords or user settings."""
_NETWORK_CONFIGURATION = ("gai.conf", "host.conf", "hosts", "resolv.conf")
_PREFIX = ("bin", "include", "lib", "lib32", "lib64", "libexec", "pyvenv.cfg", "share", "ssl")
HOSTS = b"127.0.0.1 localhost sandbox\n::1 localhost\n"
"""Contents of `/etc/hosts` in a sandbox without a network."""


def bubblewrap_options(
    supervised: SupervisedCommand,
    *,
    network: bool,
    readable: Sequence[str],
    shared_bytes: int,
    status: int,
    hosts: int,
) -> Iterator[str]:
    """Yield the options that confine *supervised*, in the order that bubblewrap applies them.

    Args:
        supervised: The command with its whole environment; it may write to the
            directories in `marks`.
        network: Whether it shares the machine's network.
        readable: Further paths that it may read.
        shared_bytes: How much `/tmp` and `/dev/shm` may hold each.
        status: The descriptor that bubblewrap reports to.
        hosts: The descriptor of a file that holds `HOSTS`.
    """
    yield from ("--unshare-all", "--unshare-user", "--disable-userns")
    if network:
        yield "--share-net"
    yield from ("--hostname", "sandbox", "--new-session", "--die-with-parent")
    yield from ("--cap-drop", "ALL", "--json-status-fd", str(status))
    yield from _system(network=network)
    if not network:
        yield from ("--ro-bind-data", str(hosts), "/etc/hosts")
    yield from ("--proc", "/proc", "--dev", "/dev")
    for folder in ("/dev/shm", "/tmp"):  # noqa: S108 - inside the sandbox
        yield from ("--perms", "1777", "--size", str(shared_bytes), "--tmpfs", folder)
    yield from ("--symlink", "../tmp", "/var/tmp")  # noqa: S108
    for shown in (*_python(), *readable):
        yield from ("--ro-bind", shown, shown)
    for mark in supervised.marks:
        yield from ("--bind", str(mark), str(mark))
    # Root may write kernel settings below /proc/sys without any capability.
    for folder in ("/proc", "/dev", "/"):
        yield from ("--remount-ro", folder)
    yield from ("--chdir", str(supervised.folder), "--clearenv")
    for name, value in supervised.env.items():
        yield from ("--setenv", name, value)


def _system(*, network: bool) -> Iterator[str]:
    """Yield the options that show the machine's programs, libraries and configuration."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _SYSTEM:
        if Path(name).is_symlink():
            yield from ("--symlink", str(Path(name).readlink()), name)
        elif Path(name).is_dir():
            yield from ("--ro-bind", name, name)
    for path in _configuration(network=network):
        yield from ("--ro-bind-try", path, path)


@cache
def _python() -> tuple[str, ...]:
    """Return the paths of the running Python that are not below `/usr`.

    Only the usual folders of each prefix are listed, because a prefix may be a home
    directory or a project's folder.
    """
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    prefixes |= {os.path.realpath(prefix) for prefix in prefixes}
    paths = (os.path.join(prefix, name) for prefix in prefixes for name in _PREFIX)  # noqa: PTH118
    return tuple(
        sorted(p for p in paths if os.path.exists(p) and not p.startswith("/usr/"))  # noqa: PTH110
    )


@cache
def _configuration(*, network: bool) -> tuple[str, ...]:
    names = _CONFIGURATION + (_NETWORK_CONFIGURATION if network else ())
    return tuple(sorted(str(path) for name in names for path in Path("/etc").glob(name)))
