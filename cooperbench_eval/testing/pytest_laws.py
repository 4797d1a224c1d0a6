"""Base classes with a test for each law, for the test suites of plug-ins."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from cooperbench_eval.errors import StrategyError
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.testing.records import Law, LawResult, check_opt_out
from cooperbench_eval.testing.search import Effort
from cooperbench_eval.testing.strategy_check import accept_strategy, check_law, is_symmetric
from cooperbench_eval.testing.strategy_laws import STRATEGY_LAWS, StrategyLaw

if TYPE_CHECKING:
    import pytest

    from cooperbench_eval.testing.generators import Files

__all__ = ["StrategyLaws"]


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
        strategy = _accepted(self.make_strategy())
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


def _parametrize(
    metafunc: "pytest.Metafunc", laws: Sequence[Law], opt_out: Mapping[str, str]
) -> None:
    import pytest  # noqa: PLC0415 - where there are tests there is pytest

    if metafunc.function.__name__ != "test_law":
        return
    marks = {name: [pytest.mark.xfail(reason=why, strict=False)] for name, why in opt_out.items()}
    rows = [pytest.param(law, id=law.name, marks=marks.get(law.name, ())) for law in laws]
    metafunc.parametrize("law", rows)


def _accepted(given: MergeStrategy) -> MergeStrategy:
    import pytest  # noqa: PLC0415

    try:
        return accept_strategy(given)
    except StrategyError as exc:
        pytest.fail(str(exc), pytrace=False)


def _require(result: LawResult) -> None:
    import pytest  # noqa: PLC0415

    if not result.is_ok:
        pytest.fail(str(result), pytrace=False)
