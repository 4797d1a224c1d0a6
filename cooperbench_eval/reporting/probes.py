"""The record `Probe`: how the branches of a repository merge, before anybody merges them."""

import operator
import os
from enum import StrEnum
from itertools import combinations

from attrs import field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.merging.conflicts import ConflictKind
from cooperbench_eval.git.worktrees.records import RefKind
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting.jsonrecord import JsonRecord
from cooperbench_eval.reporting.landings import LandingPlan
from cooperbench_eval.reporting.rows import UsedOptions
from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.error_texts import it_has, listed
from cooperbench_eval.support.rendering.shown import Shown


class ProbeState(StrEnum):
    """How a branch merges into another one, or why it cannot be merged."""

    CLEAN = "clean"
    """The merge has no conflict."""
    RESOLVED = "resolved"
    """The strategy resolves all its conflicts."""
    CONFLICTS = "conflicts"
    """Conflicts are left open."""
    FAILED = "failed"
    """The strategy failed."""
    CONTAINED = "contained"
    """The branch has nothing that the other one lacks: its merge would change nothing."""
    FAST_FORWARD = "fast_forward"
    """The branch continues the other one, so nothing has to be merged."""
    UNRELATED = "unrelated"
    """The two have no commit in common."""
    UNBORN = "unborn"
    """Nothing has been committed to the worktree's branch yet."""
    IN_PROGRESS = "in_progress"
    """The worktree is in the middle of a merge, a rebase or the like, or has unmerged files."""
    MISSING = "missing"
    """The worktree's folder is missing."""
    UNREADABLE = "unreadable"
    """A file or an object that the merge needs cannot be read."""
    NOT_EXAMINED = "not_examined"
    """One of the two has no tree to merge, so the result is unknown: see its own state."""

    @property
    def is_complete(self) -> bool:
        """Whether the merge gives a tree."""
        return self in _COMPLETE

    @property
    def is_collision(self) -> bool:
        """Whether both can be read, but their merge gives no tree."""
        return self in {ProbeState.CONFLICTS, ProbeState.FAILED}


_COMPLETE = frozenset(
    {
        ProbeState.CLEAN,
        ProbeState.RESOLVED,
        ProbeState.CONTAINED,
        ProbeState.FAST_FORWARD,
    }
)


@frozen(kw_only=True, field_transformer=named_fields)
class ConflictedFile:
    """A file in which two branches conflict.

    Attributes:
        path: The file, by its name in the branches.
        kinds: Why they conflict there, each kind once.
        conflicts: The number of conflicts that are left open in the file.
        definitions: The functions, methods, class heads and top-level variables in which the
            conflicts are, by their qualified names in either branch. A version in an unknown
            language or that does not parse adds none, nor does a conflict about the whole file.
    """

    path: str
    kinds: tuple[ConflictKind, ...] = field(converter=tuple[ConflictKind, ...])
    conflicts: int = field(default=1, converter=operator.index)
    definitions: tuple[str, ...] = field(default=(), converter=tuple[str, ...])


@frozen(kw_only=True, field_transformer=named_fields)
class ProbedBranch(Shown):
    """A branch, tag, commit or worktree, and how it merges into the target, `Probe.onto`.

    Attributes:
        number: Its position among the given names, from 1: its number in the landing plan.
        name: The name, as the caller gave it.
        kind: What the name stands for.
        state: How it merges, or why it cannot be merged.
        files: The files with conflicts.
        problem: Details of the state, as a clause; may be empty.
        commit_id: The id of the commit; that of `HEAD` for a worktree.
        tree_id: The git tree id of its files, uncommitted changes included.
        is_dirty: Whether it is a worktree with uncommitted changes.
        unfiltered: Files of a worktree that git would pass through a program to store them,
            such as that of Git LFS. It is not run: they count as they are on disk, or as unchanged
            if the index has their size and times.
        unsettled: What changed during the last try to read the worktree, if something did in each
            of them. The tree may then mix the contents of different moments.
        uncommitted: The folders of a branch's worktrees that have uncommitted changes. These
            changes do not count; pass the folder itself to include them.
        unread_worktrees: The folders of a branch's worktrees that cannot be read, so that their
            changes are not known.
    """

    number: int = field(converter=operator.index)
    name: str
    kind: RefKind = field(converter=RefKind)
    state: ProbeState = field(converter=ProbeState)
    files: tuple[ConflictedFile, ...] = field(default=(), converter=tuple[ConflictedFile, ...])
    problem: str = ""
    commit_id: str | None = None
    tree_id: str | None = None
    is_dirty: bool = False
    unfiltered: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    unsettled: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    uncommitted: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    unread_worktrees: tuple[str, ...] = field(default=(), converter=tuple[str, ...])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know about the branch, as sentences."""
        problem = "cannot be read, so it may have uncommitted changes to"
        return (
            *(
                f"{self.name} does not include the uncommitted changes in {each}"
                for each in self.uncommitted
            ),
            *(f"{each} {problem} {self.name}" for each in self.unread_worktrees),
        )


@frozen(kw_only=True, field_transformer=named_fields)
class ProbedPair(Shown):
    """The merge of two branches.

    Attributes:
        one: The name of the branch into which the other one is merged: the one given first.
        other: The name of the branch that is merged.
        state: How they merge.
        files: The files with conflicts.
        problem: Details of the state, as a clause; may be empty.
    """

    one: str
    other: str
    state: ProbeState = field(converter=ProbeState)
    files: tuple[ConflictedFile, ...] = field(default=(), converter=tuple[ConflictedFile, ...])
    problem: str = ""


@frozen(kw_only=True, field_transformer=named_fields)
class Probe(Shown, JsonRecord):
    """How the branches of a repository merge at this moment.

    Attributes:
        onto: The name of the branch on which they are to land.
        onto_commit: The id of its commit.
        onto_tree: The git tree id of its files.
        strategy: The strategy's name.
        branches: The branches, in the given order.
        pairs: Every two of them, in the given order.
        plan: Which of them can land together on *onto*, and in what order. Its numbers are those
            of the branches, and its base is the tree of *onto*.
        replaced: The ids of the objects that `git replace` replaces. A probe reads the original
            objects.
    """

    _kind = "probe"

    onto: str
    onto_commit: str
    onto_tree: str
    strategy: str
    branches: tuple[ProbedBranch, ...] = field(converter=tuple[ProbedBranch, ...])
    pairs: tuple[ProbedPair, ...] = field(default=(), converter=tuple[ProbedPair, ...], repr=False)
    plan: LandingPlan = field(repr=False)
    replaced: tuple[str, ...] = field(default=(), converter=tuple[str, ...], repr=False)

    @branches.validator
    def _check_branches(self, _: object, branches: tuple[ProbedBranch, ...]) -> None:
        if not branches:
            raise ValueError("a probe has at least one branch")
        if [each.number for each in branches] != list(range(1, len(branches) + 1)):
            raise ValueError("the branches of a probe are numbered from 1")
        if len({each.name for each in branches}) < len(branches):
            raise ValueError("a probe has two branches of one name")

    @pairs.validator
    def _check_pairs(self, _: object, pairs: tuple[ProbedPair, ...]) -> None:
        names = [each.name for each in self.branches]
        if [(each.one, each.other) for each in pairs] != list(combinations(names, 2)):
            raise ValueError("the pairs of a probe are every two branches, in their order")

    @plan.validator
    def _check_plan(self, _: object, plan: LandingPlan) -> None:
        if plan.numbers != tuple(each.number for each in self.branches):
            raise ValueError("the plan of a probe is about all its branches, and no others")

    @property
    def collisions(self) -> tuple[ProbedPair, ...]:
        """The pairs whose merge gives no tree."""
        return tuple(each for each in self.pairs if each.state.is_collision)

    @property
    def options(self) -> UsedOptions | None:
        """The options that were used; `None` if they are not known."""
        return self.plan.options

    @property
    def hazards(self) -> tuple[Hazard, ...]:
        """Hints at what is wrong in the tree of the branches that can land."""
        return self.plan.hazards

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know about the probe, as sentences."""
        found = [*self.plan.warnings, *(each for one in self.branches for each in one.warnings)]
        if self.replaced:
            objects = listed(self.replaced)
            found.append(f"`git replace` is ignored for these objects: {objects}")
        return tuple(found)

    @property
    def landing(self) -> tuple[str, ...]:
        """The names of the branches that can land together, in the order in which they do."""
        names = {each.number: each.name for each in self.branches}
        return tuple(names[number] for number in self.plan.order)

    @checked
    def branch(self, name: str | os.PathLike[str]) -> ProbedBranch:
        """Return a branch by its name; that of a worktree may be a path object.

        Raises:
            ArgumentError: The probe has no branch of that name.
        """
        return self._branch(name, "name")

    @checked
    def pair(self, one: str | os.PathLike[str], other: str | os.PathLike[str]) -> ProbedPair:
        """Return the merge of two branches, by their names in any order.

        Raises:
            ArgumentError: The probe has no such branch, or both names are the same.
        """
        wanted = {self._branch(one, "one").name, self._branch(other, "other").name}
        for each in self.pairs:
            if {each.one, each.other} == wanted:
                return each
        raise ArgumentError(
            "other", f"must not name the same branch as the argument one: {os.fspath(one)!r}"
        )

    def _branch(self, given: str | os.PathLike[str], argument: str) -> ProbedBranch:
        name = os.fspath(given)
        for each in self.branches:
            if each.name == name:
                return each
        known = it_has(name, [each.name for each in self.branches])
        raise ArgumentError(argument, f"is not a branch of the probe: {name!r}; {known}")
