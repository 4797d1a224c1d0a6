"""What a command sees under bubblewrap, as bubblewrap's own options."""

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from attrs import frozen

__all__ = ["HOSTS", "View"]

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
"""What of `/etc` programs need to start; no keys, no shadow, nobody's settings."""
_NETWORK_CONFIGURATION = ("gai.conf", "host.conf", "hosts", "resolv.conf")
_PREFIX = (
    "bin",
    "include",
    "lib",
    "lib32",
    "lib64",
    "libexec",
    "pyvenv.cfg",
    "share",
    "ssl",
)
HOSTS = b"127.0.0.1 localhost sandbox\n::1 localhost\n"
"""All hosts that there are without a network."""


@frozen(kw_only=True)
class View:
    """The files, the variables and the namespaces of one run.

    Attributes:
        tree: Where the command starts, and may write.
        scratch: Where it may write, too.
        variables: Its whole environment.
        network: Whether it shares the machine's network.
        readable: Further paths that it may read.
        shared_bytes: How much `/tmp` and `/dev/shm` may hold each.
    """

    tree: Path
    scratch: Path
    variables: Mapping[str, str]
    network: bool
    readable: tuple[str, ...]
    shared_bytes: int

    def options(self, *, status: int, hosts: int) -> Iterator[str]:
        """Yield the options, in the order in which bubblewrap is to go by them.

        Args:
            status: The descriptor to which it reports.
            hosts: The descriptor of what `/etc/hosts` is to hold.
        """
        yield from self._namespaces(status)
        yield from self._system(hosts)
        yield from self._writable()
        yield from self._settings()

    def _namespaces(self, status: int) -> Iterator[str]:
        yield from ("--unshare-all", "--unshare-user", "--disable-userns")
        if self.network:
            yield "--share-net"
        yield from ("--hostname", "sandbox", "--new-session", "--die-with-parent")
        yield from ("--cap-drop", "ALL", "--json-status-fd", str(status))

    def _system(self, hosts: int) -> Iterator[str]:
        yield from ("--ro-bind", "/usr", "/usr")
        for name in _SYSTEM:
            if Path(name).is_symlink():
                yield from ("--symlink", str(Path(name).readlink()), name)
            elif Path(name).is_dir():
                yield from ("--ro-bind", name, name)
        for path in _configuration(network=self.network):
            yield from ("--ro-bind-try", path, path)
        if not self.network:
            yield from ("--ro-bind-data", str(hosts), "/etc/hosts")
        yield from ("--proc", "/proc", "--dev", "/dev")
        for folder in ("/dev/shm", "/tmp"):  # noqa: S108 - its own
            yield from ("--perms", "1777", "--size", str(self.shared_bytes), "--tmpfs", folder)
        yield from ("--symlink", "../tmp", "/var/tmp")  # noqa: S108
        for shown in (*_python(), *self.readable):
            yield from ("--ro-bind", shown, shown)

    def _writable(self) -> Iterator[str]:
        for path in (str(self.tree), str(self.scratch)):
            yield from ("--bind", path, path)
        # Root may write kernel settings below /proc/sys without any capability.
        for folder in ("/proc", "/dev", "/"):
            yield from ("--remount-ro", folder)

    def _settings(self) -> Iterator[str]:
        yield from ("--chdir", str(self.tree), "--clearenv")
        for name, value in self.variables.items():
            yield from ("--setenv", name, value)


@cache
def _python() -> tuple[str, ...]:
    """Return the paths that the running Python is made of, without the system's.

    Only the usual folders of each prefix, because a prefix may be somebody's home
    or a project's own folder.
    """
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    prefixes |= {os.path.realpath(prefix) for prefix in prefixes}
    paths = (os.path.join(prefix, name) for prefix in prefixes for name in _PREFIX)  # noqa: PTH118
    return tuple(
        sorted(p for p in paths if os.path.exists(p) and not p.startswith("/usr/"))  # noqa: PTH110
    )


@cache
def _configuration(*, network: bool) -> tuple[str, ...]:
    """Return the paths below `/etc` that are shown."""
    names = _CONFIGURATION + (_NETWORK_CONFIGURATION if network else ())
    return tuple(sorted(str(path) for name in names for path in Path("/etc").glob(name)))
