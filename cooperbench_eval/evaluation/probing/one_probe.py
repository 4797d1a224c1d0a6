"""One probe: reads the branches, merges them, and finds out which of them can land together."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations

from attrs import evolve, frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.evaluation.landing.mergeable import components
from cooperbench_eval.evaluation.landing.merger import (
    PatchMerger,
    group_of_candidates,
    without_duplicates,
)
from cooperbench_eval.evaluation.landing.planning import find_plan
from cooperbench_eval.evaluation.landing.search import Step
from cooperbench_eval.evaluation.landing.trials import Trials
from cooperbench_eval.evaluation.pairs import Feature, TestedGroup
from cooperbench_eval.evaluation.placing import Options, used_options, without_tests
from cooperbench_eval.evaluation.probing.branches import (
    Branch,
    Memory,
    Met,
    PairMerger,
    Ref,
    enter,
    merged_branch,
    read_heads,
    side_of,
)
from cooperbench_eval.evaluation.sides import Merged, Side, size_of_changes
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.git.worktrees.names import Names
from cooperbench_eval.git.worktrees.records import Head
from cooperbench_eval.reporting.landings import LandingPlan, LeftOut, LeftOutReason
from cooperbench_eval.reporting.probes import Probe, ProbedBranch, ProbedPair, ProbeState
from cooperbench_eval.running import TestSuite
from cooperbench_eval.strategies.protocol import MergeStrategy

_MOST_WORK = 300
"""A probe must be fast, so it merges less often than `land` while it looks for a plan."""
_STEPS = Memory["_Taken"](32 << 20, size_of=lambda taken: size_of_changes(taken.side.changes))
_UNREAD = frozenset({ProbeState.UNREADABLE, ProbeState.IN_PROGRESS, ProbeState.MISSING})
"""States of branches that might land if their files could be read."""
_REASONS = {
    ProbeState.CONFLICTS: LeftOutReason.CONFLICT,
    ProbeState.FAILED: LeftOutReason.STRATEGY_FAILED,
}


class Probing:
    """One probe."""

    def __init__(
        self,
        location: str,
        refs: Sequence[Ref],
        onto: Ref,
        *,
        strategy: MergeStrategy,
        key: Hashable,
    ) -> None:
        """Read the branches; *key* identifies the strategy among the remembered merges."""
        enter(location)
        names = Names(location)
        target, *heads = read_heads(names, onto, refs)
        if target.tree is None:
            problem = f"nothing can be merged onto {target.name}: {target.details}"
            raise RepositoryError(location, problem)
        self._head = target
        self._heads = dict(enumerate(heads, 1))
        self._onto = _branch(0, target)
        self._branches = {n: _branch(n, each) for n, each in self._heads.items() if each.tree}
        self._merger = PairMerger(names, strategy, key)
        self._merging = _BranchMerger(self._merger, self._onto, self._branches)

    def probe(
        self,
        suites: Mapping[int, TestSuite],
        joint: TestSuite | None,
        regression: TestSuite | None,
        options: Options,
        budget: int,
    ) -> Probe:
        """Merge everything, and describe the results."""
        features = [Feature(number=n, patch=b"", tests=suites.get(n)) for n in self._heads]
        group = TestedGroup(
            base=self._onto.tree, features=tuple(features), joint=joint, regression=regression
        )
        met = {number: self._met(number) for number in self._heads}
        readable = {
            number: branch
            for number, branch in self._branches.items()
            if met[number].state is not ProbeState.UNREADABLE
        }
        return Probe(
            onto=self._onto.name,
            onto_commit=self._head.commit_id or "",
            onto_tree=self._onto.tree.tree_id,
            strategy=self._merger.strategy.name,
            branches=[self._probed(number, each) for number, each in met.items()],
            pairs=[self._pair(*pair, readable) for pair in combinations(self._heads, 2)],
            plan=self._plan(met, group, options, budget),
            replaced=self._merger.names.replaced,
        )

    def _met(self, number: int) -> Met:
        head, branch = self._heads[number], self._branches.get(number)
        if branch is None:
            state = ProbeState(head.problem or ProbeState.UNREADABLE)
            return Met(state=state, problem=head.details)
        return self._merging.met(number)

    def _pair(self, one: int, other: int, branches: Mapping[int, Branch]) -> ProbedPair:
        first, second = branches.get(one), branches.get(other)
        if first is None or second is None:
            met = Met(state=ProbeState.NOT_EXAMINED)
        else:
            met = self._merger.pair(first, second)
        return ProbedPair(
            one=self._heads[one].name,
            other=self._heads[other].name,
            state=met.state,
            files=met.files,
            problem=met.problem,
        )

    def _probed(self, number: int, met: Met) -> ProbedBranch:
        head = self._heads[number]
        return ProbedBranch(
            number=number,
            name=head.name,
            kind=head.kind,
            state=met.state,
            files=met.files,
            problem=met.problem,
            commit_id=head.commit_id,
            tree_id=head.tree.tree_id if head.tree else None,
            is_dirty=head.is_dirty,
            unfiltered=head.unfiltered,
            unsettled=head.unsettled,
            uncommitted=head.uncommitted,
            unread_worktrees=head.unread_worktrees,
        )

    def _plan(
        self, met: Mapping[int, Met], group: TestedGroup, options: Options, budget: int
    ) -> LandingPlan:
        merging = self._merging
        lands = {
            number: each.state.is_complete and each.state is not ProbeState.CONTAINED
            for number, each in met.items()
        }
        sides = {n: merging.side(merging.first(n)) for n, each in lands.items() if each}
        left_out = [self._left_out(n, met[n]) for n, each in lands.items() if not each]
        left_out += without_duplicates(
            merging.base, group.features, sides, needed=self._sharing_commits(sides)
        )
        trials = Trials(
            group_of_candidates(group, sides, left_out),
            options,
            budget,
            lambda changes: without_tests(options, group, changes)[0],
            lambda number: self._heads[number].name if number else "",
        )
        groups = self._groups(sides)
        plan = find_plan(merging, tuple(met), sides, left_out, groups=groups, trials=trials)
        touched = Changes({path: None for each in sides.values() for path in each.changes})
        _, dropped = without_tests(options, group, touched)
        is_known = all(each.state not in _UNREAD for each in met.values())
        return evolve(
            plan,
            options=used_options(options, group),
            dropped_files=dropped,
            is_exact=plan.is_exact and is_known,
        )

    def _sharing_commits(self, numbers: Collection[int]) -> set[int]:
        """Return the branches that share commits with another one which the target lacks.

        What such a branch merges with may depend on the other one having landed.
        """
        found: set[int] = set()
        for pair in combinations(numbers, 2):
            one, other = (self._branches[number] for number in pair)
            if one.commits != other.commits and self._share_commits(one, other):
                found.update(pair)
        return found

    def _share_commits(self, one: Branch, other: Branch) -> bool:
        try:
            shared = self._merger.base_of(one, other)
            starts = [self._merger.base_of(self._onto, each) for each in (one, other)]
        except RepositoryError:
            return True
        known = {start.commit_id for start in starts if start is not None}
        return shared is not None and shared.commit_id not in known

    def _left_out(self, number: int, met: Met) -> LeftOut:
        problem = met.problem
        if met.state is ProbeState.CONFLICTS:
            problem = f"it conflicts with {self._onto.name}"
        elif met.state is ProbeState.CONTAINED:
            problem = f"{self._onto.name} contains it already"
        return LeftOut(
            number=number,
            reason=_REASONS.get(met.state, LeftOutReason.MISSING_INPUT),
            files=[each.path for each in met.files],
            problem=problem,
        )

    def _groups(self, sides: Mapping[int, Side]) -> list[tuple[int, ...]]:
        """Split branches into groups that cannot affect each other's merges.

        If the target has removed files, a file that a branch adds may be taken for a renamed one.
        """
        changes = {number: side.changes for number, side in sides.items()}
        if removed := self._merging.removals(self._branches[number] for number in sides):
            changes |= {0: removed}
        groups = components(self._onto.tree, changes)
        return [found for each in groups if (found := tuple(n for n in each if n))]


def _branch(number: int, head: Head) -> Branch:
    assert head.tree is not None  # noqa: S101 - only heads with a tree are branches
    commits = (head.commit_id,) if head.commit_id else ()
    return Branch(number=number, name=head.name, commits=commits, tree=head.tree)


@frozen(kw_only=True)
class _Taken:
    """A step that was taken, its work, and the merged side, which is empty without a tree."""

    step: Step
    work: int
    side: Side


class _BranchMerger(PatchMerger):
    """Merges branches into the one on which they land, and counts the work.

    Each merge has the merge base that git would find. The sides that it returns are changes of
    the tree on which the branches land.
    """

    def __init__(self, merger: PairMerger, onto: Branch, branches: Mapping[int, Branch]) -> None:
        nothing = {number: side_of(each, Changes()) for number, each in branches.items()}
        super().__init__(onto.tree, nothing, merger.strategy, _MOST_WORK)
        self._merger = merger
        self._onto = onto
        self._branches = branches
        self._start = Side((), Changes())
        self._has_history = True
        self._first[self._key(self._start)] = self._start

    def removals(self, branches: Iterable[Branch]) -> Changes:
        """Return the files that the target has removed since one of the branches started."""
        found: dict[str, None] = {}
        for each in branches:
            if (base := self._merger.base_of(self._onto, each)) is not None:
                changes = self._merger.changes(base, self._onto.tree)
                found |= {path: None for path, entry in changes.items() if entry is None}
        return Changes(found)

    def met(self, number: int) -> Met:
        """Merge one branch into the one on which it lands, and say how that ends."""
        branch = self._branches[number]
        try:
            base = self._merger.base_of(self._onto, branch)
        except RepositoryError as exc:
            return Met(state=ProbeState.UNREADABLE, problem=exc.problem)
        if base is None:
            return self._merger.pair(self._onto, branch)  # it says why they are unrelated
        if base.tree_id == branch.tree.tree_id:
            return Met(state=ProbeState.CONTAINED)
        used = self.used
        step = self._alone(number)
        if step.tree is None:
            self.used = used  # the search does not need this merge
            return self._not_merged(branch, step)
        state = ProbeState.CLEAN
        if step.is_resolved:
            state = ProbeState.RESOLVED
        elif not self.side(step.tree).changes:
            state = ProbeState.CONTAINED
        elif base.tree_id == self._onto.tree.tree_id:
            state = ProbeState.FAST_FORWARD
        return Met(state=state)

    def _not_merged(self, branch: Branch, step: Step) -> Met:
        if step.is_provisionalable or step.failure:
            state = ProbeState.UNREADABLE if step.is_provisionalable else ProbeState.FAILED
            return Met(state=state, problem=step.failure)
        # This merge names the conflicts; a step of the search knows only the files.
        return evolve(self._merger.pair(self._onto, branch), state=ProbeState.CONFLICTS)

    def _alone(self, number: int) -> Step:
        return self.merge(self._key(self._start), number, at_any_cost=True)

    def first(self, number: int) -> str:
        """Return the id of the tree with one branch merged; its merge must be complete."""
        tree = self._alone(number).tree
        if tree is None:  # pragma: no cover - only branches that merge are searched
            raise ValueError(f"branch {number} does not merge")
        return tree

    def _step(self, tree: str, number: int) -> Step:
        """See `PatchMerger`; a step that an earlier probe took is not taken again."""
        so_far = self._made_from(tree)
        key: Hashable = (
            self._merger.names.location,
            self._merger.key,
            tuple(self._branches[each].commits for each in so_far),
            self._onto.commits,
            self._onto.tree.tree_id,
            tree,
            self._branches[number].commits,
            self._branches[number].tree.tree_id,
            (*so_far, number),
        )
        used = self.used
        try:
            taken = _STEPS.recall(
                key, partial(self._taken, tree, number), lambda found: not found.step.failure
            )
        except RepositoryError as exc:  # the probe goes on without this merge
            return Step(tree=None, failure=exc.problem, is_provisionalable=True)
        self.used = used + taken.work  # so that a probe finds the same as the one before
        into = taken.step.tree
        if into is not None and into not in self._first and into not in self._made_by:
            self._made_by[into] = tree, number
            self._keep(into, taken.side)
        return taken.step

    def _taken(self, tree: str, number: int) -> "_Taken":
        used = self.used
        step = super()._step(tree, number)
        side = self._start if step.tree is None else self.side(step.tree)
        return _Taken(step=step, work=self.used - used, side=side)

    def _made_from(self, tree: str) -> tuple[int, ...]:
        found: list[int] = []
        while tree in self._made_by:
            tree, number = self._made_by[tree]
            found.append(number)
        return tuple(reversed(found))

    def _joined(self, so_far: Side, number: int) -> tuple[Merged, Side]:
        branch = self._branches[number]
        tree = self.base.overlay(so_far.changes) if so_far.changes else self.base
        merged_so_far = [self._onto, *(self._branches[each] for each in so_far.numbers)]
        ours = merged_branch(merged_so_far, tree)
        base = self._merger.base_of(ours, branch)
        if base is None:  # pragma: no cover - it merges into one of them, so it is related
            raise RepositoryError(str(self.base.location), "has unrelated branches")
        theirs = side_of(branch, self._merger.changes(base, branch.tree))
        if not so_far.numbers:
            self._merger.read_all(theirs.changes)
        one = Side(so_far.features, self._merger.changes(base, tree))
        merged = self._merger.merged(base, one, theirs)
        features = (*so_far.features, *theirs.features)
        if not merged.is_complete:
            return merged, Side(features, Changes())
        result = base.overlay(merged.outcome.changes)
        return merged, Side(features, Changes.between(self.base, result))
