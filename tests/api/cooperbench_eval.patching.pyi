"""The public names of `cooperbench_eval.patching`; `python docs/tools/public_api.py` writes this."""

from cooperbench_eval import ApplyPolicy as ApplyPolicy

from cooperbench_eval import ApplyResult as ApplyResult

class FileChange(StrEnum):
    ADD = 'add'
    COPY = 'copy'
    DELETE = 'delete'
    MODIFY = 'modify'
    RENAME = 'rename'

class FilePatch:
    def __init__(
        self,
        *,
        change: FileChange,
        old_path: str | None,
        new_path: str | None,
        old_mode: FileMode | None = None,
        new_mode: FileMode | None = None,
        old_id: str | None = None,
        new_id: str | None = None,
        hunks: tuple[Hunk, ...] = (),
        binary: BinaryChange | None = None,
        lacks_contents: bool = False,
    ) -> None: ...
    binary: BinaryChange | None
    change: FileChange
    hunks: tuple[Hunk, ...]
    lacks_contents: bool
    new_id: str | None
    new_mode: FileMode | None
    new_path: str | None
    old_id: str | None
    old_mode: FileMode | None
    old_path: str | None
    @property
    def path(self) -> str: ...
    @property
    def paths(self) -> tuple[str, ...]: ...

class Hunk:
    def __init__(
        self,
        *,
        old_start: int,
        new_start: int,
        lines: tuple[bytes, ...],
        section: bytes = b'\n',
        stated: tuple[int, int] | None = None,
        uncounted: tuple[bytes, ...] = (),
    ) -> None: ...
    lines: tuple[bytes, ...]
    @property
    def new(self) -> list[bytes]: ...
    new_start: int
    @property
    def old(self) -> list[bytes]: ...
    old_start: int
    @property
    def reversed(self) -> Hunk: ...
    section: bytes
    stated: tuple[int, int] | None
    uncounted: tuple[bytes, ...]
    @property
    def whole(self) -> Hunk: ...
    @property
    def without_blank_end(self) -> Hunk: ...

from cooperbench_eval import Patch as Patch

class TestFileFilter:
    def __init__(
        self,
        *,
        conventions: bool = True,
        touched: bool = True,
        keep: frozenset[str] = frozenset(),
    ) -> None: ...
    conventions: bool
    keep: frozenset[str]
    def split(self, patch: Patch, tests: Iterable[Patch] = ()) -> tuple[Patch, tuple[str, ...]]: ...
    def split_changes(
        self,
        changes: Changes,
        tests: Iterable[Patch] = (),
    ) -> tuple[Changes, tuple[str, ...]]: ...
    touched: bool

from cooperbench_eval import apply_patch as apply_patch
