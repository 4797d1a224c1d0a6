"""Patterns as in `.gitignore` and `.gitattributes`, and paths that many of them match."""

from hypothesis import strategies as st

FILES = (
    "a", "b/c", "b/x.log", "b/d/x.log", "b/d/e/k", "x.log", "x.log ", "k", "X.LOG", "c.d/k",
    "[", "]a", "a-b", "é", "a\\", "#k", "!k", "d/a", "b/d/e/a/b/k", "tab\t", "1", "\udce9",
)  # fmt: skip
PIECES = (
    "a", "b", "c", "d", "e", "k", "x", ".log", "*", "**", "?", "/", "/", "**/", "/**", "\\", "\\/",
    "[a-c]", "[!a]", "[^b]", "[]a]", "[", "]", "[[:alpha:]]", "[[:digit:]x]", "[[:no:]]", "[a-]",
    "[\\]]", "[[:]", "[b-\\d]", "[/]", " ", "\t", "#", "!", "é", "\udce9", "\r", "\0", "-", "X",
)  # fmt: skip


def like_a_part(draw, part):
    """Return a pattern that is likely to match a part of a path."""
    at = draw(st.integers(0, len(part) - 1))
    middle = draw(
        st.sampled_from(["?", "*", "**", "[!q]", "[a-z]", f"[{part[at]}]", f"\\{part[at]}"])
    )
    near = f"{part[:at]}{middle}{part[at + 1 :]}"
    return draw(st.sampled_from([part, part, "*", "**", near, near, f"{near}*"]))


@st.composite
def patterns_like_paths(draw):
    """Return a pattern such as `b/**/x.?og`, made of one of the paths."""
    parts = draw(st.sampled_from(FILES)).split("/")
    first = draw(st.integers(0, len(parts) - 1))
    end = draw(st.integers(first + 1, len(parts)))
    return "/".join(like_a_part(draw, part) for part in parts[first:end])


PATTERNS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "", "", "!", "/", "#", "**/"]),
    patterns_like_paths() | st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
    st.sampled_from(["", "", "", "/", "/**", " ", "\\ "]),
)


def as_bytes(text):
    return text.encode("utf-8", "surrogateescape")
