"""The public names of `cooperbench_eval.running`; `python docs/tools/public_api.py` writes this."""

from cooperbench_eval import BubblewrapSandbox as BubblewrapSandbox

from cooperbench_eval import ContainerSandbox as ContainerSandbox

class ControlFiles(StrEnum):
    KEEP = 'keep'
    RESTORE = 'restore'

class Delivery(StrEnum):
    PATCHES = 'patches'
    TREE = 'tree'

class Execution:
    def __init__(
        self,
        *,
        exit_code: int | None,
        timed_out: bool = False,
        out_of_memory: bool = False,
        duration_seconds: float = 0.0,
        output: bytes = b'',
        reason: str = '',
        changed_files: frozenset[str] = frozenset(),
    ) -> None: ...
    changed_files: frozenset[str]
    duration_seconds: float
    exit_code: int | None
    out_of_memory: bool
    output: bytes
    reason: str
    timed_out: bool

from cooperbench_eval import LocalSandbox as LocalSandbox

from cooperbench_eval import ResultCache as ResultCache

from cooperbench_eval import Sandbox as Sandbox

from cooperbench_eval import TestRunner as TestRunner

from cooperbench_eval import TestSuite as TestSuite

def available_sandboxes() -> tuple[str, ...]: ...

def bubblewrap_problem() -> str | None: ...

from cooperbench_eval import default_sandbox as default_sandbox

def get_sandbox(name: str, /, **options: object) -> Sandbox: ...

def reap_containers(*, base_url: str | None = None) -> int: ...

def repository_from_image(
    image: str,
    destination: Path | str,
    *,
    path: str = '/workspace/repo',
    pull: bool = True,
    base_url: str | None = None,
) -> Path: ...

def task_image(
    repo_name: str,
    task_id: int | str,
    *,
    registry: str = REGISTRY,
    prefix: str = PREFIX,
) -> str: ...
