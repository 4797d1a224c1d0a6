"""Results of random merges, and how the library's differ from git's.

Differences that `docs/explanation/parity.md` explains are named by the scenarios in
`tests/scenarios/known_gaps` that show them.
"""

from collections.abc import Mapping

from attrs import field, frozen

from cooperbench_eval import Entry
from cooperbench_eval.git.trees.objects import folders_above

Tree = dict[str, Entry]

_NO_ID = "0" * 40


@frozen(kw_only=True)
class Case:
    """Three trees and their number."""

    number: int
    base: Tree
    ours: Tree
    theirs: Tree


@frozen(kw_only=True)
class Merged:
    """What a merge gives: its tree, whether it is clean, and its unmerged stages.

    The *files*, which are the object ids in the tree by path, are not always known.
    """

    tree: str
    clean: bool
    stages: tuple[tuple[str, int, int, str], ...]
    files: Mapping[str, str] = field(factory=dict, eq=False)


def difference(ours: Merged, git: Merged) -> str:
    """Name what differs; empty if nothing does."""
    wrong = {
        "verdict": ours.clean != git.clean,
        "tree": ours.tree != git.tree,
        "stages": ours.stages != git.stages,
    }
    return "+".join(name for name, differs in wrong.items() if differs)


def explain(case: Case, ours: Merged, git: Merged) -> str:
    """Return the scenario in `tests/scenarios/known_gaps` that shows the same difference."""
    found = (name for name, is_shown in _GAPS.items() if is_shown(case, ours, git))
    return next(found, "") if ours.clean == git.clean else ""


def _lists_no_id(_: Case, __: Merged, git: Merged) -> bool:
    return any(object_id == _NO_ID for *_, object_id in git.stages)


def _lists_a_lost_file(_: Case, __: Merged, git: Merged) -> bool:
    return any(path not in git.files for path, number, *_ in git.stages if number > 1)


def _loses_a_file_under_a_folder(_: Case, ours: Merged, git: Merged) -> bool:
    """Whether git lacks only files that we keep beside a folder of the same name."""
    lost = {path for path in ours.files.keys() - git.files.keys() if "~" in path}
    above = {folder for path in git.files for folder in folders_above(path)}
    return (
        bool(lost)
        and all(path.rpartition("~")[0] in above for path in lost)
        and {p: i for p, i in ours.files.items() if p not in lost} == git.files
        and tuple(stage for stage in ours.stages if stage[0] not in lost) == git.stages
    )


def _loses_an_edit(case: Case, ours: Merged, git: Merged) -> bool:
    """Whether the results differ only in new files that both sides made alike."""
    alike = {p for p, e in case.ours.items() if p not in case.base and case.theirs.get(p) == e}
    return (
        ours.stages == git.stages
        and _different(ours, git) <= alike
        and all(git.files.get(p) == case.ours[p].id for p in _different(ours, git))
    )


def _loses_a_settled_folder(case: Case, ours: Merged, git: Merged) -> bool:
    """Whether git lacks only files that one side left alone, beside a file that was moved there."""
    moved = {path for path, *_ in git.stages if not {path} & {*case.base, *case.ours, *case.theirs}}
    above = {folder for path in moved for folder in folders_above(path)}
    return ours.stages == git.stages and all(
        path not in git.files
        and above.intersection(folders_above(path))
        and case.base.get(path) in {case.ours.get(path), case.theirs.get(path)}
        for path in _different(ours, git)
    )


def _replaces_a_settled_file(case: Case, ours: Merged, git: Merged) -> bool:
    """Whether git moved new files to the names of files or folders that nobody touched.

    We keep these, and leave the moved files where they were. If these keep a folder that is
    a file on the other side, that file is set aside. Git may also lack other files of the
    folders into which it moved files.
    """
    settled = {p for p, e in case.base.items() if e == case.ours.get(p) == case.theirs.get(p)}
    taken = {path for path, *_ in set(git.stages) - set(ours.stages)}
    replaced = {p for p in settled if taken.intersection([p, *folders_above(p)])}
    above = {folder for path in taken for folder in folders_above(path)}
    beside = {p for p in settled if p not in git.files and above.intersection(folders_above(p))}
    moved = {git.files.get(path) for path in taken}
    left = {p for p, i in ours.files.items() if i in moved and p not in {*case.base, *git.files}}
    kept = {folder for path in left for folder in folders_above(path)} & git.files.keys()
    aside = {p for p in ours.files if p.rpartition("~")[0] in kept}
    return (
        bool(taken)
        and all(_below(path, settled) for path in taken)
        and {path for path, *_ in set(ours.stages) - set(git.stages)} <= left | aside
        and _different(ours, git) <= taken | replaced | beside | left | kept | aside
        and {git.files[path] for path in kept} == {ours.files[path] for path in aside}
    )


def _below(path: str, paths: set[str]) -> set[str]:
    return {each for each in paths if each == path or each.startswith(path + "/")}


def _different(ours: Merged, git: Merged) -> set[str]:
    paths = ours.files.keys() | git.files.keys()
    return {path for path in paths if ours.files.get(path) != git.files.get(path)}


_GAPS = {
    "file_listed_without_an_id": _lists_no_id,
    "folder_renamed_onto_a_file": _lists_a_lost_file,
    "file_under_a_renamed_folder": _loses_a_file_under_a_folder,
    "edit_beside_an_equal_new_file": _loses_an_edit,
    "file_moved_into_a_settled_folder": _loses_a_settled_folder,
    "file_moved_onto_a_settled_file": _replaces_a_settled_file,
}
