# As in `cooperbench_eval/__init__.pyi`.
from .apply import ApplyResult as ApplyResult
from .apply import apply_patch as apply_patch
from .patch import Patch as Patch
from .patch_parts import ApplyPolicy as ApplyPolicy
from .patch_parts import FileChange as FileChange
from .patch_parts import FilePatch as FilePatch
from .patch_parts import Hunk as Hunk
from .path_kinds import TestFileFilter as TestFileFilter
