"""Base classes with a test for each law, for the test suites of plug-ins."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from cooperbench_eval.errors import PluginError
from cooperbench_eval.running.sandboxes.protocol import Sandbox
from cooperbench_eval.running.sandboxes.registry import as_sandbox
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.testing.laws import Law, LawResult, check_opt_out, told_once
from cooperbench_eval.testing.sandbox_bench import sandbox_bench
from cooperbench_eval.testing.sandbox_check import check_sandbox_law
from cooperbench_eval.testing.sandbox_laws import SANDBOX_LAWS, SandboxLaw
from cooperbench_eval.testing.strategy_check import accept_strategy, check_law
from cooperbench_eval.testing.strategy_laws import STRATEGY_LAWS, StrategyLaw

if TYPE_CHECKING:
    import pytest

    from cooperbench_eval.testing.generators import Files

PluginT = TypeVar("PluginT")


class _LawTests:
    __test__: ClassVar[bool] = False
    opt_out: ClassVar[Mapping[str, str]] = {}
    _laws: ClassVar[Sequence[Law]] = ()
    _maker: ClassVar[str]
    _told: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls) -> None:
        """Check the opt-outs, and let pytest collect the class if it makes a plug-in."""
        super().__init_subclass__()
        cls._told = {}
        check_opt_out(cls.opt_out, cls._laws)
        if "__test__" not in cls.__dict__:
            cls.__test__ = getattr(getattr(cls, cls._maker), "__module__", "") != __name__

    def pytest_generate_tests(self, metafunc: "pytest.Metafunc") -> None:
        import pytest  # noqa: PLC0415 - pytest is installed wherever it collects this

        if metafunc.function.__name__ != "test_law":
            return
        rows = []
        for law in self._applicable():
            reason = self.opt_out.get(law.name)
            marks = () if reason is None else pytest.mark.xfail(reason=reason, strict=False)
            rows.append(pytest.param(law, id=law.name, marks=marks))
        metafunc.parametrize("law", rows)

    def _applicable(self) -> Sequence[Law]:
        return self._laws

    def _accepted(self, accept: Callable[[PluginT], PluginT], given: PluginT, law: Law) -> PluginT:
        import pytest  # noqa: PLC0415 - as above

        try:
            return accept(given)
        except PluginError as exc:
            problem = str(exc)
        # Outside of the handler, so that pytest does not show the error a second time.
        first = self._told.setdefault(problem, law.name)
        same = f"the same mistake as in the law {first}"
        pytest.fail(problem if first == law.name else same, pytrace=False)

    def _require(self, result: LawResult) -> None:
        """Let the test fail if the law is broken; a mistake is shown once for all laws."""
        import pytest  # noqa: PLC0415 - as above

        if not result.is_ok:
            pytest.fail(str(told_once(result, self._told)), pytrace=False)


class StrategyLaws(_LawTests):
    """A test for each law of strategies; subclass it in a test module.

    The laws use Hypothesis's current profile: its number of examples, its seed, its
    database of failures. Pytest collects each subclass that defines `make_strategy`,
    whatever its name.

    Attributes:
        opt_out: The laws that the strategy does not have to keep, by name, each with its
            reason. They run and are expected to fail: pytest lists them as `xfailed` with
            the reason, or as `xpassed` if the strategy keeps them in all cases.
        files: As in `check_strategy`.
        examples: The number of cases for each law; by default the profile's number.

    Example:
        >>> from cooperbench_eval import get_strategy
        >>> class TestMine(StrategyLaws):
        ...     def make_strategy(self):
        ...         return get_strategy("union")
    """

    files: ClassVar["Files"] = {}
    examples: ClassVar[int | None] = None
    _laws = STRATEGY_LAWS
    _maker = "make_strategy"

    def make_strategy(self) -> MergeStrategy:
        """Return a new instance of the strategy."""
        raise NotImplementedError

    def test_law(self, law: StrategyLaw) -> None:
        """The strategy keeps the law."""
        result = check_law(
            self._accepted(accept_strategy, self.make_strategy(), law),
            law,
            files=self.files,
            examples=self.examples,
            seed=None,
            profile_key=f"{type(self).__module__}.{type(self).__qualname__}.{law.name}",
        )
        self._require(result)


class SandboxLaws(_LawTests):
    """A test for each law of sandboxes; subclass it in a test module.

    Pytest collects each subclass that defines `make_sandbox`, whatever its name.

    Attributes:
        opt_out: The laws that the sandbox does not have to keep, by name, each with its
            reason. They run and are expected to fail, as with `StrategyLaws`.
        isolates: Whether the sandbox claims to isolate its command from the machine. The
            laws of isolation apply only if it does.
        slack_seconds: As in `check_sandbox`.
        patience_seconds: How long processes may still run after their caller was killed.
        parallel_runs: The number of runs for the law of parallel runs.
        parallel_width: How many of these run at a time.

    Example:
        >>> from cooperbench_eval import LocalSandbox
        >>> class TestMine(SandboxLaws):
        ...     def make_sandbox(self):
        ...         return LocalSandbox()
    """

    isolates: ClassVar[bool] = False
    slack_seconds: ClassVar[float] = 5.0
    patience_seconds: ClassVar[float] = 5.0
    parallel_runs: ClassVar[int] = 24
    parallel_width: ClassVar[int] = 8
    _laws = SANDBOX_LAWS
    _maker = "make_sandbox"

    def make_sandbox(self) -> Sandbox:
        """Return the sandbox."""
        raise NotImplementedError

    def leftovers(self) -> Sequence[object]:
        """List everything that runs left behind, except processes and temporary files."""
        return ()

    def _applicable(self) -> Sequence[Law]:
        return [law for law in SANDBOX_LAWS if self.isolates or not law.isolates]

    def test_law(self, law: SandboxLaw) -> None:
        """The sandbox keeps the law."""
        with sandbox_bench(
            self._accepted(as_sandbox, self.make_sandbox(), law),
            slack_seconds=self.slack_seconds,
            patience_seconds=self.patience_seconds,
            parallel_runs=self.parallel_runs,
            parallel_width=self.parallel_width,
            leftovers=self.leftovers,
        ) as bench:
            self._require(check_sandbox_law(bench, law))
