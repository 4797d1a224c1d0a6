"""The door to Hypothesis's strategies, of which generators are made."""

try:
    from hypothesis import strategies as st
except ImportError as exc:
    raise ImportError("hypothesis is missing: pip install 'cooperbench-eval[testing]'") from exc

__all__ = ["st"]
