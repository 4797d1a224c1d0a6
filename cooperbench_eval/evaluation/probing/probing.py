"""One probe: reads the branches, merges them, and describes how that ends."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.evaluation.landing.trials import LandingTests
from cooperbench_eval.evaluation.probing.branches import Branch, Ref, enter, read_heads
from cooperbench_eval.evaluation.probing.landing import plan_landing
from cooperbench_eval.evaluation.probing.pairs import Met, PairMerger
from cooperbench_eval.git.worktrees.names import Names
from cooperbench_eval.git.worktrees.records import Head
from cooperbench_eval.reporting.probes import Probe, ProbedBranch, ProbedPair, ProbeState
from cooperbench_eval.running import TestSuite
from cooperbench_eval.strategies.protocol import MergeStrategy

__all__ = ["Probing"]


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
        """Read the branches.

        Args:
            location: The repository.
            refs: The names of the branches.
            onto: The name of the branch on which they land.
            strategy: Merges them.
            key: Identifies the strategy among the remembered merges.

        Raises:
            RepositoryError: The repository or *onto* cannot be read, or a name is unknown.
        """
        enter(location)
        names = Names(location)
        target, *heads = read_heads(names, [onto, *refs])
        if target.tree is None:
            problem = f"nothing can be merged onto {target.name}: {target.details}"
            raise RepositoryError(location, problem)
        self._head = target
        self._heads = dict(enumerate(heads, 1))
        self._onto = _branch(0, target)
        self._branches = {n: _branch(n, each) for n, each in self._heads.items() if each.tree}
        self._merger = PairMerger(names, strategy, key)

    def probe(self, suites: Mapping[int, TestSuite], tests: LandingTests) -> Probe:
        """Merge everything, and describe how that ends."""
        met = {number: self._met(number) for number in self._heads}
        return Probe(
            onto=self._onto.name,
            onto_commit=self._head.commit_id or "",
            onto_tree=self._onto.tree.tree_id,
            strategy=self._merger.strategy.name,
            branches=[self._probed(number, each) for number, each in met.items()],
            pairs=[self._pair(*pair) for pair in combinations(self._heads, 2)],
            plan=plan_landing(
                self._merger, self._onto, self._branches, met, suites=suites, tests=tests
            ),
        )

    def _met(self, number: int) -> Met:
        head, branch = self._heads[number], self._branches.get(number)
        if branch is None:
            state = ProbeState(head.problem or ProbeState.UNREADABLE)
            return Met(state=state, problem=head.details)
        return self._merger.onto(self._onto, branch)

    def _pair(self, one: int, other: int) -> ProbedPair:
        first, second = self._branches.get(one), self._branches.get(other)
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
        )


def _branch(number: int, head: Head) -> Branch:
    assert head.tree is not None  # noqa: S101 - only heads with a tree are branches
    commits = (head.commit_id,) if head.commit_id else ()
    return Branch(number=number, name=head.name, commits=commits, tree=head.tree)
