"""The page around the data of its pairs: markup, style, script and security policy."""

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

from cooperbench_eval.support.rendering.visible import visible

_PAIRS = "<!-- pairs -->"
_STYLES = ("shared.css", "overview.css", "pair.css", "diffs.css")
_SCRIPTS = (
    *("shared.js", "pairs.js", "filters.js", "groups.js", "overview.js"),
    *("syntax.js", "diffs.js", "losses.js", "pair.js"),
)


class Frame:
    """The page in two parts: `before` the data of its entries, and `after` it.

    `after` begins with the end of the index's script element. Only a page with teams has their
    section, its style and its script.
    """

    def __init__(
        self, title: str, heading: str, footer: str, *, has_teams: bool, has_pairs: bool
    ) -> None:
        style, script = "".join(map(_part, _STYLES)), _script(has_teams=has_teams)
        if has_teams:
            style += _part("teams.css")
        page = Template(_part("page.html")).substitute(
            policy=_policy(style, script),
            title=escape(visible(title)),
            style=style,
            script=script,
            heading=heading,
            footer=footer,
            pairs=_PAIRS,
            kind="" if has_pairs else ' class="only-teams"',
            teams='<section id="teams"></section>\n' if has_teams else "",
        )
        self.before, _, self.after = page.partition(_PAIRS)


@cache
def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _script(*, has_teams: bool) -> str:
    """Return the parts of the script as one function, so that none of their names is global."""
    names = (*_SCRIPTS, *(["teams.js"] if has_teams else []), "start.js")
    return '"use strict";\n(() => {\n' + "\n".join(map(_part, names)) + "})();\n"


def _policy(style: str, script: str) -> str:
    """Return the policy: the browser may use this style and this script and load nothing.

    `trusted-types` keeps the page's own script from turning text into markup.
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
