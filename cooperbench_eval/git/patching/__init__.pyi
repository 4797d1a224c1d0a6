# As in `cooperbench_eval/__init__.pyi`.
from .apply import ApplyResult as ApplyResult
from .apply import apply_patch as apply_patch
from .patch import Patch as Patch
from .paths import TestFileFilter as TestFileFilter
from .policy import ApplyPolicy as ApplyPolicy
from .records import FileChange as FileChange
from .records import FilePatch as FilePatch
from .records import Hunk as Hunk
