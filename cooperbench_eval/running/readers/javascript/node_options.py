"""Adds options to `NODE_OPTIONS`, which every Node process of a run reads."""

from collections.abc import Mapping

__all__ = ["with_node_options"]


def with_node_options(env: Mapping[str, str], *options: str) -> dict[str, str]:
    """Return the variables with more options for Node, after those of the suite."""
    quoted = (_quoted(each) for each in options)
    value = " ".join(filter(None, (env.get("NODE_OPTIONS"), *quoted)))
    return {**env, "NODE_OPTIONS": value}


def _quoted(option: str) -> str:
    # Node's rules for splitting: only double quotes quote, and a backslash escapes inside them.
    if not set(option) & set(' "\\'):
        return option
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
