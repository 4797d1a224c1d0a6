"""The laws of plug-ins, and how a plug-in's author has them checked.

`check_strategy` and `check_sandbox` check an object and return a result for each law;
`StrategyLaws` and `SandboxLaws` are base classes for pytest. Needs the extra `testing`,
which brings Hypothesis and pytest; they are imported when they are first used.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cooperbench_eval.testing.pytest_laws import SandboxLaws, StrategyLaws
    from cooperbench_eval.testing.records import Counterexample, Law, LawResult, LawStatus
    from cooperbench_eval.testing.sandbox_check import check_sandbox
    from cooperbench_eval.testing.sandbox_laws import SANDBOX_LAWS
    from cooperbench_eval.testing.strategy_check import check_strategy
    from cooperbench_eval.testing.strategy_laws import STRATEGY_LAWS

__all__ = [
    "SANDBOX_LAWS",
    "STRATEGY_LAWS",
    "Counterexample",
    "Law",
    "LawResult",
    "LawStatus",
    "SandboxLaws",
    "StrategyLaws",
    "check_sandbox",
    "check_strategy",
]

_HOMES = {
    "SANDBOX_LAWS": "sandbox_laws",
    "STRATEGY_LAWS": "strategy_laws",
    "Counterexample": "records",
    "Law": "records",
    "LawResult": "records",
    "LawStatus": "records",
    "SandboxLaws": "pytest_laws",
    "StrategyLaws": "pytest_laws",
    "check_sandbox": "sandbox_check",
    "check_strategy": "strategy_check",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
