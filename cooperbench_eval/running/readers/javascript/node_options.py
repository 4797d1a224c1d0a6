"""Adds to `NODE_OPTIONS`, which every Node process of a run obeys."""

from collections.abc import Mapping

__all__ = ["with_node_options"]


def with_node_options(env: Mapping[str, str], *options: str) -> dict[str, str]:
    """Return the variables with more options for Node, the suite's own kept."""
    quoted = (_quoted(each) for each in options)
    value = " ".join(filter(None, (env.get("NODE_OPTIONS"), *quoted)))
    return {**env, "NODE_OPTIONS": value}


def _quoted(option: str) -> str:
    # As Node splits them: double quotes alone, and backslashes within.
    if not set(option) & set(' "\\'):
        return option
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
