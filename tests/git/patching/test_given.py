"""A patch may be passed as a `Patch`, its text, the path of its file, or its changes."""

import os
import pickle
from pathlib import Path

import pytest
from attrs import evolve

import cooperbench_eval as ce
from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.patching.binary import MOST_BYTES
from cooperbench_eval.git.patching.patch import read_file
from cooperbench_eval.support.systems import IS_LINUX

BASE = ce.Snapshot.from_files(
    {
        "a.py": b"one\ntwo\nthree\n",
        "b.bin": b"\0\1\2",
        "gone.txt": b"x\n",
        "tool": ce.Entry(b"#!/bin/sh\n", ce.models.FileMode.EXECUTABLE),
    }
)
CHANGES = ce.Changes(
    {
        "a.py": ce.Entry(b"one\n2\nthree\n"),
        "b.bin": ce.Entry(b"\0\1\3"),
        "gone.txt": None,
        "new/caf\udce9.txt": ce.Entry(b"no newline"),
        "tool": ce.Entry(b"#!/bin/sh\n"),
    }
)
TEXT = CHANGES.diff(BASE)
OTHER = b"--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n"


@pytest.fixture(params=["patch", "bytes", "str", "path", "changes"])
def given(request, tmp_path):
    """One patch in each form."""
    (tmp_path / "x.patch").write_bytes(TEXT)
    forms = {
        "patch": ce.Patch.parse(TEXT),
        "bytes": TEXT,
        "str": TEXT.decode("utf-8", "surrogateescape"),
        "path": tmp_path / "x.patch",
        "changes": CHANGES,
    }
    return forms[request.param]


def pair(patch, **facts):
    """Return a pair whose first feature has this patch."""
    features = {f"feature{n}": ce.Feature(number=n, patch=p) for n, p in ((1, patch), (2, OTHER))}
    return ce.FeaturePair(**{"repo_name": "r", "task_id": 0, "base": BASE} | features | facts)


def test_every_form_applies_alike(given):
    """Renames, modes, deletions and binary contents included."""
    result = ce.apply_patch(BASE, given)

    assert result.status == "applied"
    assert result.changes.tree_id(BASE) == CHANGES.tree_id(BASE)


def test_every_form_is_the_same_patch_of_a_pair(given):
    """Changes become a diff against the base of the pair or team, which has its files."""
    wanted, made = pair(TEXT), pair(given)
    team = ce.FeatureTeam(
        repo_name="r", task_id=0, base=BASE, features=[made.feature2, made.feature1]
    )

    assert made.feature1.patch.paths == wanted.feature1.patch.paths
    assert bytes(made.feature1.patch) == bytes(wanted.feature1.patch)
    assert team.features[1] == made.feature1
    assert pickle.loads(pickle.dumps(made)).feature1 == made.feature1  # noqa: S301 - made here
    assert evolve(made, k=2).feature1 == made.feature1


def test_every_form_can_be_merged(given):
    """`merge` applies patches to the base, and takes the result of doing so as well."""
    other = ce.apply_patch(BASE, OTHER)
    wanted = ce.merge(BASE, CHANGES, other.changes)

    for ours, theirs in ((given, OTHER), (given, other), (ce.apply_patch(BASE, given), OTHER)):
        assert ce.merge(BASE, ours, theirs) == wanted
    assert wanted.status == "conflicts"


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_side_that_does_not_apply_is_named(side):
    """A merge needs both sides, so it raises; the reason is the one of `apply_patch`."""
    misplaced = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-absent\n+new\n"
    for bad, reason in (
        (misplaced, "a.py hunk 1: its lines are not there"),
        (ce.apply_patch(BASE, misplaced), "a.py hunk 1: its lines are not there"),
        (b"no diff", "patch: holds no diff"),
    ):
        sides = {"ours": OTHER, "theirs": OTHER} | {side: bad}
        with pytest.raises(ce.PatchError) as caught:
            ce.merge(BASE, **sides)
        assert str(caught.value) == f"{side}: does not apply to the base: {reason}"

    sides[side] = "x.patch"
    with pytest.raises(ArgumentError, match=rf"^{side} is not a diff: 'x.patch'; .*Path"):
        ce.merge(BASE, **sides)
    sides[side] = {"a": b"x"}
    with pytest.raises(ArgumentError, match=rf"^{side} must be Patch, .*, not dict"):
        ce.merge(BASE, **sides)


@pytest.mark.parametrize("name", ["absent.patch", ".", "a\0b"])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path, name):
    """The path is the caller's, not the agent's; a file that is not a diff is the agent's."""
    for call in (
        lambda path: ce.Feature(number=1, patch=path),
        lambda path: ce.apply_patch(BASE, path),
        lambda path: ce.TestSuite(command=["true"], patch=path),
    ):
        with pytest.raises(ce.PatchError, match="cannot be read"):
            call(tmp_path / name)

    (tmp_path / "agent.patch").write_bytes(b"I could not do it.\n")
    feature = ce.Feature(number=1, patch=tmp_path / "agent.patch")
    assert feature.patch.problem == f"{tmp_path / 'agent.patch'}: holds no diff"


def test_only_a_regular_file_of_some_size_is_read(tmp_path):
    """A pipe could block for ever, and a device has no end."""
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    reasons = {
        tmp_path / "pipe": "not a regular file",
        Path("/dev/zero"): "not a regular file",
        tmp_path / "large": "more than 268,435,456 bytes",
    }

    for path, reason in reasons.items():
        for call in (ce.Patch.read, lambda path: ce.Feature(number=1, patch=path)):
            with pytest.raises(ce.PatchError) as caught:
                call(path)
            assert str(caught.value) == f"{path}: cannot be read ({reason})"
    if IS_LINUX:
        with pytest.raises(ce.PatchError, match="holds no diff"):  # a file without a known size
            ce.Patch.read(Path("/proc/self/status"))
        assert len(read_file("/proc/self/status")) > 100


@pytest.mark.parametrize("name", ["a\ud800", "caf\udce9"])
def test_an_error_can_be_printed_whatever_the_file_is_called(tmp_path, name):
    """Python cannot encode half a surrogate pair, nor print a byte that is no text."""
    for call in (ce.Patch.read, lambda path: ce.Feature(number=1, patch=path)):
        with pytest.raises(ce.PatchError, match=r"\\ud") as caught:
            call(tmp_path / name)
        str(caught.value).encode()


def test_a_patch_made_from_changes_has_no_text_of_its_own():
    """It would depend on the base; the paths are known."""
    patch = ce.Feature(number=1, patch=CHANGES).patch

    assert patch.paths == tuple(CHANGES)
    assert patch.on(BASE) == ce.Patch.parse(TEXT)
    with pytest.raises(ce.PatchError, match="no text"):
        bytes(patch)
    with pytest.raises(ArgumentError, match=r"^patch must be .*, not Changes"):
        ce.TestSuite(command=["true"], patch=CHANGES)


@pytest.mark.parametrize("wrong", [None, 5, ["--- a/x"], object(), Path])
def test_another_type_is_not_a_patch(wrong):
    """The error names the argument and lists what it may be."""
    for call in (
        lambda: ce.Feature(number=1, patch=wrong),
        lambda: ce.apply_patch(BASE, wrong),
    ):
        with pytest.raises(ArgumentError, match=r"^patch must be .*bytes.* or "):
            call()


@pytest.mark.parametrize("wrong", [5, ["--- a/x"], object(), Path])
def test_another_type_is_not_a_suites_patch(wrong):
    """`None` is right: most suites have none."""
    with pytest.raises(ArgumentError, match=r"^patch must be .*bytes.* or "):
        ce.TestSuite(command=["true"], patch=wrong)
    assert not ce.TestSuite(command=["true"], patch=None).patch.files
