"""Archives: what is packed, and what is unpacked from one that is not trusted."""

import io
import tarfile

import pytest

from cooperbench_eval.running.sandboxes.containers.archives import (
    END_OF_ARCHIVE,
    Packer,
    Unpacked,
    unpack,
)

PLENTY = {"files": 100, "size": 1 << 20}


def entry(name, data=b"data", **facts):
    """Return a member of an archive, whatever its name."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for fact, value in facts.items():
        setattr(info, fact, value)
    return info.tobuf(tarfile.PAX_FORMAT) + data + bytes(-len(data) % tarfile.BLOCKSIZE)


def names(folder):
    """Return the paths of the files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture
def inside(tmp_path):
    """Return a folder within another, to see what leaves it."""
    folder = tmp_path / "outer/inside"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    "hostile",
    [
        entry("top/../../x"),
        entry("/top/x"),
        entry("top/a/../../../x"),
        entry("../x"),
        entry("x"),
        entry("top/l", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        entry("top/h", b"", type=tarfile.LNKTYPE, linkname="/etc/passwd"),
        entry("top/d", b"", type=tarfile.CHRTYPE),
        entry("top/p", b"", type=tarfile.FIFOTYPE),
        entry("top/" + "n" * 300),
        entry("top/s", b"", type=tarfile.GNUTYPE_SPARSE),
    ],
)
def test_hostile_entries_are_skipped(inside, hostile):
    """Links, devices and names that lead out are skipped; the other files are written."""
    archive = [hostile, entry("top/good"), END_OF_ARCHIVE]

    how = unpack(archive, inside, **PLENTY)

    assert how in {Unpacked.COMPLETE, Unpacked.DAMAGED}
    assert names(inside.parent) <= {"inside/good"}
    if how is Unpacked.COMPLETE:
        assert names(inside) == {"good"}


def test_nothing_is_written_through_a_link(inside, tmp_path):
    """This covers existing links to a file or a folder."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("safe")
    (inside / "folder").symlink_to(outside)
    (inside / "file").symlink_to(outside / "f")
    archive = [entry("top/folder/f"), entry("top/file"), END_OF_ARCHIVE]

    assert unpack(archive, inside, **PLENTY) is Unpacked.COMPLETE

    assert (outside / "f").read_text() == "safe"
    assert (inside / "file").read_bytes() == b"data"


def test_the_first_of_two_files_with_conflicting_names_stays(inside):
    """One file has the name of the other's folder."""
    archive = [entry("top/a"), entry("top/a/b"), entry("top/c/d"), entry("top/c"), END_OF_ARCHIVE]

    assert unpack(archive, inside, **PLENTY) is Unpacked.COMPLETE
    assert names(inside) == {"a", "c/d"}


@pytest.mark.parametrize("bounds", [{"files": 2, "size": 1000}, {"files": 9, "size": 9}])
def test_reading_stops_at_a_bound(inside, bounds):
    """Earlier files stay, and no more is read."""
    read = []

    def archive():
        for number in range(100):
            read.append(number)
            yield entry(f"top/{number}") + bytes(1 << 18)
        yield END_OF_ARCHIVE

    def one_by_one():
        for number in range(4):
            yield entry(f"top/{number}")
        yield from archive()

    assert unpack(one_by_one(), inside, **bounds) is Unpacked.BOUNDED
    assert names(inside) == {"0", "1"}
    assert len(read) < 10


@pytest.mark.parametrize(
    "archive",
    [
        [],
        [b"no archive" * 100],
        [entry("top/a")],
        [entry("top/a", b"x" * 2000)[:1500]],
        [entry("top/a"), entry("top/b")[:300]],
    ],
    ids=["empty", "nonsense", "no end", "in a file", "in a header"],
)
def test_a_damaged_archive_is_distinguished_from_a_complete_one(inside, archive):
    """This includes one that stops at the end of a file."""
    assert unpack(archive, inside, **PLENTY) is Unpacked.DAMAGED


def test_only_the_size_of_unwanted_files_counts(inside):
    """They are read, so they must not be endless."""
    archive = [entry("top/no", b"x" * 100), entry("top/yes"), END_OF_ARCHIVE]

    def wanted(path):
        return str(path) == "yes"

    assert unpack(archive, inside, **PLENTY, is_wanted=wanted) is Unpacked.COMPLETE
    assert names(inside) == {"yes"}
    assert unpack(archive, inside, files=9, size=50, is_wanted=wanted) is Unpacked.BOUNDED


def test_a_full_disk_is_an_error(inside, monkeypatch):
    """The error does not blame the archive."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.chmod", full)

    with pytest.raises(OSError, match="No space"):
        unpack([entry("top/a", mode=0o755), END_OF_ARCHIVE], inside, **PLENTY)


@pytest.mark.parametrize(
    ("packer", "ids", "modes"),
    [
        (Packer(), (0, 0), (0o755, 0o640)),
        (Packer(user=7, group=8), (7, 8), (0o755, 0o640)),
        (Packer(user=None), (0, 0), (0o777, 0o666)),
    ],
)
def test_packed_files_have_their_owner(tmp_path, packer, ids, modes):
    """If only a name is known, all users may read and write them."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "f").write_bytes(b"data")
    (folder / "f").chmod(0o640)
    data = b"".join([*packer.tree(folder, "/at/x"), packer.file("/s", b"1"), END_OF_ARCHIVE])

    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        found = {member.name: member for member in tar}

    assert list(found) == ["at/x", "at/x/f", "s"]
    assert {(member.uid, member.gid) for member in found.values()} == {ids}
    assert (found["at/x"].mode, found["at/x/f"].mode) == modes


def test_a_file_that_shrinks_while_it_is_read_is_an_error(tmp_path, monkeypatch):
    """Its archive would be damaged."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "f").write_bytes(b"data")
    archive = Packer().tree(folder, "/at")
    next(archive)
    next(archive)

    (folder / "f").write_bytes(b"")

    with pytest.raises(OSError, match="shrank"):
        list(archive)
