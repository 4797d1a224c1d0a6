# As in `cooperbench_eval/__init__.pyi`.
from .cache import ResultCache as ResultCache
from .control_files import ControlFiles as ControlFiles
from .runner import TestRunner as TestRunner
from .sandboxes.bubblewrap import BubblewrapSandbox as BubblewrapSandbox
from .sandboxes.bubblewrap import bubblewrap_problem as bubblewrap_problem
from .sandboxes.containers.images import repository_from_image as repository_from_image
from .sandboxes.containers.images import task_image as task_image
from .sandboxes.containers.sandbox import ContainerSandbox as ContainerSandbox
from .sandboxes.containers.sandbox import reap_containers as reap_containers
from .sandboxes.local import LocalSandbox as LocalSandbox
from .sandboxes.protocol import Execution as Execution
from .sandboxes.protocol import Sandbox as Sandbox
from .sandboxes.registry import available_sandboxes as available_sandboxes
from .sandboxes.registry import default_sandbox as default_sandbox
from .sandboxes.registry import get_sandbox as get_sandbox
from .suite import Delivery as Delivery
from .suite import TestSuite as TestSuite
