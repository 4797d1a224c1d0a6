"""The public names of `cooperbench_eval.strategies`; `python docs/tools/public_api.py` writes this."""

class FeatureContext:
    def __init__(self, *, number: int, description: str = '') -> None: ...
    description: str
    number: int

class Gone(Enum):
    GONE = 'gone'

from cooperbench_eval import LLMStrategy as LLMStrategy

class Labels:
    def __init__(self, *, ours: str = 'ours', theirs: str = 'theirs') -> None: ...
    def of(self, side: Side) -> str: ...
    ours: str
    theirs: str

from cooperbench_eval import MergeInput as MergeInput

from cooperbench_eval import MergeOutcome as MergeOutcome

from cooperbench_eval import MergeStrategy as MergeStrategy

from cooperbench_eval import Resolution as Resolution

class ThreeWayMerge:
    def __init__(
        self,
        *,
        changes: Changes,
        conflicts: tuple[Conflict, ...],
        stages: tuple[Stage, ...] = (),
        labels: Labels = Labels(),
        files: Mapping[str, OpenFile] = dict(),
        cache: DiffCache = DiffCache(),
        blocks: dict[str, tuple[tuple[TextConflict, Place], ...]] = dict(),
    ) -> None: ...
    @property
    def blocks(self) -> tuple[ConflictBlock, ...]: ...
    changes: Changes
    def concluded(self, changes: Changes) -> ThreeWayMerge: ...
    conflicts: tuple[Conflict, ...]
    labels: Labels
    def lines_before(self, earlier: ThreeWayMerge) -> Mapping[tuple[str, int], int]: ...
    def lines_in(self, path: str) -> tuple[tuple[range, range, range], ...]: ...
    def reopened(
        self,
        earlier: ThreeWayMerge,
        kept: Mapping[str, Iterable[Answer]],
    ) -> ThreeWayMerge: ...
    def replacements(
        self,
        merged: Snapshot,
        still_open: Iterable[Conflict],
    ) -> tuple[Replacement, ...]: ...
    def resolve(self, answer: Callable[[Conflict], bytes | Gone | None]) -> ThreeWayMerge: ...
    def resolve_blocks(self, answer: Callable[[ConflictBlock], bytes | None]) -> ThreeWayMerge: ...
    def resolve_files(self, texts: Mapping[str, bytes]) -> ThreeWayMerge: ...
    def settled_around_blocks(self, path: str) -> tuple[bytes, ...]: ...
    def settled_in(self, path: str) -> tuple[bytes, ...]: ...
    stages: tuple[Stage, ...]
    def takes_text(self, conflict: Conflict) -> bool: ...
    def versions_of(self, path: str) -> tuple[bytes, bytes, bytes]: ...
    def without_files(self, paths: Iterable[str]) -> ThreeWayMerge: ...

from cooperbench_eval import available_strategies as available_strategies

from cooperbench_eval import get_strategy as get_strategy

from cooperbench_eval import merge as merge

from cooperbench_eval import resolve_blocks as resolve_blocks

from cooperbench_eval import resolve_conflicts as resolve_conflicts
