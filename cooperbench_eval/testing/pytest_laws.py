"""Base classes with a test for each law, for the test suites of plug-ins."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from cooperbench_eval.errors import PluginError
from cooperbench_eval.running.sandboxes.protocol import Sandbox
from cooperbench_eval.running.sandboxes.registry import as_sandbox
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.testing.records import Law, LawResult, check_opt_out
from cooperbench_eval.testing.sandbox_bench import Allowance
from cooperbench_eval.testing.sandbox_check import check_sandbox_law, sandbox_bench
from cooperbench_eval.testing.sandbox_laws import SANDBOX_LAWS, SandboxLaw
from cooperbench_eval.testing.search import Effort
from cooperbench_eval.testing.strategy_check import accept_strategy, check_law, is_symmetric
from cooperbench_eval.testing.strategy_laws import STRATEGY_LAWS, StrategyLaw

if TYPE_CHECKING:
    import pytest

    from cooperbench_eval.testing.generators import Files

PluginT = TypeVar("PluginT")

__all__ = ["SandboxLaws", "StrategyLaws"]


class StrategyLaws:
    """A test for each law of strategies; subclass it in a test module.

    The laws run with Hypothesis's current profile: its number of examples, its seed, its
    database of failures. Whatever the subclass is called, pytest collects it as soon as
    it says how to make a strategy.

    Attributes:
        opt_out: The laws that the strategy need not keep, by name, each with its reason.
            They are run and expected to fail: pytest lists them as `xfailed` with the
            reason, or as `xpassed` if nothing breaks them.
        files: As in `check_strategy`.
        examples: How many cases to try for each law; `None` leaves it to the profile.

    Example:
        >>> from cooperbench_eval import get_strategy
        >>> class TestMine(StrategyLaws):
        ...     def make_strategy(self):
        ...         return get_strategy("union")
    """

    __test__: ClassVar[bool] = False
    opt_out: ClassVar[Mapping[str, str]] = {}
    files: ClassVar["Files"] = {}
    examples: ClassVar[int | None] = None

    def __init_subclass__(cls) -> None:
        """Have the subclass collected, and refuse an opt-out that says nothing."""
        super().__init_subclass__()
        check_opt_out(cls.opt_out, STRATEGY_LAWS)
        if "__test__" not in cls.__dict__:
            cls.__test__ = cls.make_strategy is not StrategyLaws.make_strategy

    def make_strategy(self) -> MergeStrategy:
        """Return the strategy, made anew."""
        raise NotImplementedError

    def pytest_generate_tests(self, metafunc: "pytest.Metafunc") -> None:
        """Make a test of each law."""
        _parametrize(metafunc, STRATEGY_LAWS, self.opt_out)

    def test_law(self, law: StrategyLaw) -> None:
        """The strategy keeps the law."""
        strategy = _accepted(accept_strategy, self.make_strategy())
        if law.name == "symmetry" and not is_symmetric(strategy):
            return  # the law asks something of those alone that say so
        name = f"{type(self).__module__}_{type(self).__qualname__}_{law.name}"
        result = check_law(
            strategy,
            law,
            files=self.files,
            effort=Effort(examples=self.examples, seed=None, uses_profile=True),
            name="".join(each if each.isalnum() else "_" for each in name),
        )
        _require(result)


class SandboxLaws:
    """A test for each law of sandboxes; subclass it in a test module.

    Whatever the subclass is called, pytest collects it as soon as it says how to make a
    sandbox.

    Attributes:
        opt_out: The laws that the sandbox need not keep, by name, each with its reason.
            They are run and expected to fail, as those of `StrategyLaws`.
        isolates: Whether it claims to keep its command from the machine; the laws of
            isolation are asked of no other.
        slack_seconds: How much longer than its command, or than its deadline, a run may
            take.
        patience_seconds: How long after a killed caller something may still run.
        parallel_runs: How many runs the law of many at once makes.
        parallel_width: How many of these at a time.

    Example:
        >>> from cooperbench_eval import LocalSandbox
        >>> class TestMine(SandboxLaws):
        ...     def make_sandbox(self):
        ...         return LocalSandbox()
    """

    __test__: ClassVar[bool] = False
    opt_out: ClassVar[Mapping[str, str]] = {}
    isolates: ClassVar[bool] = False
    slack_seconds: ClassVar[float] = 5.0
    patience_seconds: ClassVar[float] = 5.0
    parallel_runs: ClassVar[int] = 24
    parallel_width: ClassVar[int] = 8

    def __init_subclass__(cls) -> None:
        """Have the subclass collected, and refuse an opt-out that says nothing."""
        super().__init_subclass__()
        check_opt_out(cls.opt_out, SANDBOX_LAWS)
        if "__test__" not in cls.__dict__:
            cls.__test__ = cls.make_sandbox is not SandboxLaws.make_sandbox

    def make_sandbox(self) -> Sandbox:
        """Return the sandbox."""
        raise NotImplementedError

    def leftovers(self) -> Sequence[object]:
        """List what is left of runs beside processes and temporary files."""
        return ()

    def pytest_generate_tests(self, metafunc: "pytest.Metafunc") -> None:
        """Make a test of each law."""
        laws = [law for law in SANDBOX_LAWS if self.isolates or not law.isolates]
        _parametrize(metafunc, laws, self.opt_out)

    def test_law(self, law: SandboxLaw) -> None:
        """The sandbox keeps the law."""
        allowance = Allowance(
            slack_seconds=self.slack_seconds,
            patience_seconds=self.patience_seconds,
            parallel_runs=self.parallel_runs,
            parallel_width=self.parallel_width,
            leftovers=self.leftovers,
        )
        sandbox = _accepted(as_sandbox, self.make_sandbox())
        with sandbox_bench(sandbox, allowance) as bench:
            _require(check_sandbox_law(bench, law))


def _parametrize(
    metafunc: "pytest.Metafunc", laws: Sequence[Law], opt_out: Mapping[str, str]
) -> None:
    import pytest  # noqa: PLC0415 - where there are tests there is pytest

    if metafunc.function.__name__ != "test_law":
        return
    marks = {name: [pytest.mark.xfail(reason=why, strict=False)] for name, why in opt_out.items()}
    rows = [pytest.param(law, id=law.name, marks=marks.get(law.name, ())) for law in laws]
    metafunc.parametrize("law", rows)


def _accepted(accept: Callable[[PluginT], PluginT], given: PluginT) -> PluginT:
    import pytest  # noqa: PLC0415

    try:
        return accept(given)
    except PluginError as exc:
        pytest.fail(str(exc), pytrace=False)


def _require(result: LawResult) -> None:
    import pytest  # noqa: PLC0415

    if not result.is_ok:
        pytest.fail(str(result), pytrace=False)
