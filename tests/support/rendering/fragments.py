"""Reads views as a notebook and a terminal show them."""

import io
from types import SimpleNamespace

import html5lib
from rich.console import Console

_INERT = {"div", "b", "table", "thead", "tbody", "tr", "th", "td"}
_VALUES = {
    "scope": {"col", "row", "rowgroup"},
    "colspan": set(map(str, range(1, 12))),
}


def read_fragment(html):
    """Return the texts, lines and rows of a fragment, and fail if it is not inert.

    The parser is strict: anything that a browser would have to repair is an error.
    """
    parser = html5lib.HTMLParser(
        tree=html5lib.getTreeBuilder("etree"), strict=True, namespaceHTMLElements=False
    )
    root = parser.parseFragment(html)
    styles = set()
    for element in list(root.iter())[1:]:
        assert element.tag in _INERT, element.tag
        for name, value in element.attrib.items():
            if name == "style":
                styles.add(value)
            else:
                assert value in _VALUES[name], (name, value)
    rows = [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]
    lines = [each.text for each in root.iter() if each.tag in {"b", "div"} and each.text]
    return SimpleNamespace(texts=list(root.itertext()), styles=styles, rows=rows, lines=lines)


def by_rich(shown, width=80, **options):
    """Return what rich prints of a record or renderable on a terminal of that width."""
    file = io.StringIO()
    Console(file=file, width=width, legacy_windows=False, **options).print(shown)
    return file.getvalue()
