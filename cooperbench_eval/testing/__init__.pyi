# As in `cooperbench_eval/__init__.pyi`.
from .laws import Counterexample as Counterexample
from .laws import Law as Law
from .laws import LawResult as LawResult
from .laws import LawStatus as LawStatus
from .pytest_laws import SandboxLaws as SandboxLaws
from .pytest_laws import StrategyLaws as StrategyLaws
from .sandbox_check import check_sandbox as check_sandbox
from .sandbox_laws import SANDBOX_LAWS as SANDBOX_LAWS
from .strategy_check import check_strategy as check_strategy
from .strategy_laws import STRATEGY_LAWS as STRATEGY_LAWS
