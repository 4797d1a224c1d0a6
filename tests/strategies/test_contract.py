"""Every built-in strategy satisfies the laws for strategies, as plug-ins do."""

from typing import ClassVar

from generators import three_way_programs, three_way_tokens
from hypothesis import settings
from server import BothSides

import cooperbench_eval as ce
from cooperbench_eval.testing import STRATEGY_LAWS, StrategyLaws
from cooperbench_eval.testing.strategy_check import check_law


class BuiltInLaws(StrategyLaws):
    """The laws, with half of the usual number of cases; thousands were tried once."""

    examples: ClassVar[int] = settings().max_examples // 2


class TestNaive(BuiltInLaws):
    """Git's merge, unchanged."""

    def make_strategy(self):
        """Make it by name, as users do."""
        return ce.get_strategy("naive")


class TestUnion(BuiltInLaws):
    """Ours, then theirs."""

    def make_strategy(self):
        """Make it by name."""
        return ce.get_strategy("union")


class TestTokens(BuiltInLaws):
    """Token by token."""

    files: ClassVar[dict] = {"code.py": three_way_tokens()}

    def make_strategy(self):
        """Make it by name."""
        return ce.get_strategy("tokens")


class TestTokensByContent(TestTokens):
    """It declares that it is symmetric."""

    def make_strategy(self):
        """Make it by name, with the option."""
        return ce.get_strategy("tokens", by_content=True)


class TestStructured(BuiltInLaws):
    """Construct by construct, lines around a conflict included."""

    files: ClassVar[dict] = {"code.py": three_way_programs()}
    opt_out: ClassVar[dict] = {
        "untouched_bytes": "decides constructs anew that the line merge mistook for others"
    }

    def make_strategy(self):
        """Make it by name."""
        return ce.get_strategy("structured")


class TestStructuredSettled(BuiltInLaws):
    """With that option off it satisfies all laws."""

    files: ClassVar[dict] = {"code.py": three_way_programs()}

    def make_strategy(self):
        """Make it by name, with both options."""
        return ce.get_strategy("structured", resettles=False, by_content=True)


class TestCascade(TestStructured):
    """Its first member has the reason of `structured`."""

    def make_strategy(self):
        """Make it by name."""
        return ce.get_strategy("cascade")


def test_the_client_is_asked_and_its_answers_are_taken():
    """Otherwise the laws would not cover what `llm` does with answers."""
    strategy = ce.LLMStrategy("none", client=BothSides(), max_attempts=1)

    (law,) = (law for law in STRATEGY_LAWS if law.name == "untouched_bytes")
    result = check_law(strategy, law, files={}, examples=25)

    assert result.answered > 1


class TestLLM(BuiltInLaws):
    """It uses a client without a model."""

    def make_strategy(self):
        """Make one that asks a client in this process."""
        return ce.LLMStrategy("none", client=BothSides(), max_attempts=1)
