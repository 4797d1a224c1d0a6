"""MkDocs hooks: what the site adds to the pages in `docs/`.

The pages stay plain Markdown, which can also be read in a repository. On the site

- the changelog is a page, and links to the file beside `docs/` lead to it;
- the page about the report's format has tables of the JSON Schemas;
- a public name in code, such as `ce.Patch.parse`, is a link to its entry in the
  reference.

A strict build fails if a name that begins with `ce.` does not exist, if an address is not
https, or if a page would load anything from elsewhere.
"""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlsplit

from site_tables import make_tables

import cooperbench_eval as ce

__all__ = ["add_tables", "find_bad_addresses", "find_loads", "link_names", "rewrite_links"]

# Below MkDocs' own logger, so that a warning fails a strict build.
_LOG: Final = logging.getLogger("mkdocs.hooks.cooperbench_eval")
_CHANGELOG: Final = re.compile(r"\]\(((?:\.\./)*)\.\./CHANGELOG\.md")
_TABLES: Final = "<!-- tables of the schemas -->"
_NAME: Final = re.compile(r"(ce\.|cooperbench_eval\.)?(\w+(?:\.\w+)*)(?:\(.*\))?", re.DOTALL)
_MODULES: Final = {
    name: each for name in dir(ce) if isinstance(each := getattr(ce, name), ModuleType)
}
"""The public modules: each holds what is too special for the top level."""
_TOKEN: Final = re.compile(r"(<[^>]*>)")
_TAG: Final = re.compile(r"<(/?)(\w+)")
_NO_LINKS_IN: Final = frozenset({"a", "autoref", "h1", "h2", "h3", "h4", "h5", "h6", "pre"})
_ADDRESS: Final = re.compile(r'<a [^>]*href="(\w+:[^"]*)"')
_LOAD: Final = re.compile(
    r"""<(?!a\s)\w+\s[^>]*?(?:src|href|srcset|data)=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|url\(["']?((?:https?:)?//[^"')]+)|@import\s+["']((?:https?:)?//[^"']+)"""
)


def on_files(files: Any, config: Any) -> Any:
    """Add the changelog to the pages."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - the rest needs no MkDocs

    root = Path(config.config_file_path).parent
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "changelog.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page's text for the site."""
    return add_tables(rewrite_links(markdown))


def add_tables(markdown: str) -> str:
    """Put the tables of the JSON Schemas in the place of their comment."""
    if _TABLES not in markdown:
        return markdown
    schemas = [ce.reporting.report_schema(), ce.reporting.report_schema("team")]
    return markdown.replace(_TABLES, make_tables(schemas))


def rewrite_links(markdown: str) -> str:
    """Make links to the changelog point to its page."""
    return _CHANGELOG.sub(r"](\1changelog.md", markdown)


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """Link names to the reference; check them, and the addresses of other sites."""
    linked, unknown = link_names(html)
    for name in unknown:
        _LOG.warning("%s: there is no %s", page.file.src_uri, name)
    for address in find_bad_addresses(html):
        _LOG.warning("%s: %s is no address by https", page.file.src_uri, address)
    return linked


def link_names(html: str) -> tuple[str, list[str]]:
    """Link public names in code, outside of headings and links.

    Returns:
        The text, and the unknown names in it that begin with `ce.`.
    """
    pieces: list[str] = []
    unknown: list[str] = []
    within = 0
    tokens = _TOKEN.split(html)
    for number, token in enumerate(tokens):
        if tag := _TAG.match(token):
            within += (tag[2] in _NO_LINKS_IN) * (-1 if tag[1] else 1)
        elif tokens[number - 1] == "<code>" and number:
            identifier = _identifier(token)
            if identifier and not within:
                pieces[-1] = f'<autoref identifier="{identifier}"><code>'
                tokens[number + 1] += "</autoref>"
            elif not identifier and re.match(r"ce\.\w", token) and token[3:] not in _MODULES:
                unknown.append(token)
        pieces.append(token)
    return "".join(pieces), unknown


def _identifier(code: str) -> str | None:
    """Return the reference entry for a name in code: its own, or that of its class."""
    match = _NAME.fullmatch(code)
    if not match:
        return None
    prefix, (first, *others) = match[1], match[2].split(".")
    if first in _MODULES and others and prefix:
        return _entry(_MODULES[first], others)
    modules = [ce] if prefix == "ce." else [ce, *_MODULES.values()]
    module = next((each for each in modules if first in each.__all__), None)
    return _entry(module, [first, *others]) if module and first not in _MODULES else None


def _entry(module: ModuleType, names: list[str]) -> str | None:
    """Return the entry for a module's name, which may be followed by members."""
    name, *members = names
    if name not in module.__all__:
        return None
    found: Any = getattr(module, name)
    place = ce if name in dir(ce) and getattr(ce, name) is found else module
    path = f"{place.__name__}.{name}"
    for member in members:
        if member in {each.name for each in getattr(found, "__attrs_attrs__", ())}:
            return path
        found = getattr(found, member, None)
        if found is None:
            return None
        path += f".{member}"
    return path


def find_bad_addresses(html: str) -> Iterator[str]:
    """Yield the targets of links that are not https addresses."""
    for address in _ADDRESS.findall(html):
        parts = urlsplit(address)
        if parts.scheme != "https" or "." not in parts.netloc or " " in address:
            yield address


def on_post_build(config: Any) -> None:
    """Check that no page loads anything from elsewhere."""
    site = Path(config.site_dir)
    for file in sorted(site.rglob("*")):
        if file.suffix in {".css", ".html", ".svg"}:
            for address in find_loads(file.read_text(encoding="utf-8")):
                _LOG.warning("%s loads %s", file.relative_to(site), address)


def find_loads(text: str) -> Iterator[str]:
    """Yield what a browser would load from elsewhere without a click."""
    for groups in _LOAD.findall(text):
        yield from filter(None, groups)
