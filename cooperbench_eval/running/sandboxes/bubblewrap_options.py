"""The options of bubblewrap that decide what a command sees and may do."""

import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from cooperbench_eval.running.processes.supervision import SupervisedCommand

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_CONFIGURATION = (
    *("ld.so.*", "alternatives", "os-release", "java-*", "terminfo", "mime.types"),
    *("passwd", "group", "nsswitch.conf", "protocols", "services"),
    *("locale.alias", "localtime", "timezone"),
    *("ca-certificates", "pki/ca-trust", "pki/tls/cert*", "ssl/cert*", "ssl/openssl.cnf"),
)
"""Names below `/etc` that programs need to start; no keys, passwords or user settings."""
_NETWORK_CONFIGURATION = ("gai.conf", "host.conf", "hosts", "resolv.conf")
_OWN = ("/", "/dev", "/etc", "/proc", "/tmp", "/var", "/var/tmp")  # noqa: S108
"""Folders that the sandbox has whatever the machine's are."""
_MOST_LINKS = 40
HOSTS = b"127.0.0.1 localhost sandbox\n::1 localhost\n"
"""Contents of `/etc/hosts` in a sandbox without a network."""


def bubblewrap_options(
    supervised: SupervisedCommand,
    *,
    network: bool,
    readable: Sequence[str],
    writable: Sequence[tuple[str, str]] = (),
    shared_bytes: int,
    status: int,
    hosts: int,
) -> Iterator[str]:
    """Yield the options that confine *supervised*, in the order that bubblewrap applies them.

    The command may write to the directories in its `marks`.

    Args:
        supervised: The command with its whole environment.
        network: Whether it shares the machine's network.
        readable: Existing paths that it may read, besides the system's.
        writable: Further directories that it may write, each with the place where it sees it.
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
    yield from _shown(readable, {"/usr", *_SYSTEM, *_configuration(network=network)})
    for mark in supervised.marks:
        yield from ("--bind", str(mark), str(mark))
    for directory, place in writable:
        yield from ("--bind", directory, place)
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


def _shown(paths: Iterable[str], covered: Collection[str]) -> Iterator[str]:
    """Yield the options that show existing *paths* outside of *covered*, with the links to them."""
    links: dict[str, str] = {}
    places = sorted({_follow(path, links) for path in paths})
    known, new = set(covered), []
    for place in places:  # each folder comes before what it contains
        if not _is_below(place, known):
            known.add(place)
            new.append(place)
    for link, target in links.items():
        if link not in _OWN and not _is_below(link, known):
            yield from ("--symlink", target, link)
    for place in new:
        yield from ("--ro-bind", place, place)


def _follow(path: str, links: dict[str, str]) -> str:
    """Return the real path of *path*, and note each link on the way with its target."""
    at, parts, followed = "/", deque(path.split("/")), 0
    while parts:
        part = parts.popleft()
        here = os.path.normpath(f"{at}/{part}")
        try:
            if part in {"", ".", ".."} or followed == _MOST_LINKS:
                raise OSError  # noqa: TRY301
            target = os.readlink(here)  # noqa: PTH115 - a text
        except OSError:
            at = here
            continue
        links[here] = target
        followed += 1
        at = "/" if target.startswith("/") else at
        parts.extendleft(reversed(target.split("/")))
    return at


def _is_below(path: str, folders: Collection[str]) -> bool:
    return path in folders or any(str(above) in folders for above in Path(path).parents)


@cache
def _configuration(*, network: bool) -> tuple[str, ...]:
    names = _CONFIGURATION + (_NETWORK_CONFIGURATION if network else ())
    return tuple(sorted(str(path) for name in names for path in Path("/etc").glob(name)))
