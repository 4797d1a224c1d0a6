"""The page without its pairs: markup, style, script, and what the browser may do."""

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

from cooperbench_eval.display.visible import visible

__all__ = ["Frame"]

_PAIRS = "<!-- pairs -->"


class Frame:
    """What stands around the pairs' data.

    Args:
        title: What the page is called.
        heading: What is said before the table of pairs, as HTML.

    Attributes:
        before: The text up to the data.
        after: The text behind it, which first ends the script element of the index.
    """

    def __init__(self, title: str, heading: str) -> None:
        style, script = _part("page.css"), _part("page.js")
        page = Template(_part("page.html")).substitute(
            policy=_policy(style, script),
            title=escape(visible(title)),
            style=style,
            script=script,
            heading=heading,
            pairs=_PAIRS,
        )
        self.before, _, self.after = page.partition(_PAIRS)


@cache
def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Say what the browser may do: this style, this script, and nothing from anywhere.

    `trusted-types` keeps the script itself from making markup of text.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
