"""How text is divided into tokens: a value is one, and an expression of source is several."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperbench_eval.languages.files import words_of
from cooperbench_eval.languages.words import CURLY, SCRIPT, TEXT


def tokens(words, text):
    """Return the tokens, separated by spaces, with an underscore for a space in a token."""
    return " ".join(word.decode().replace(" ", "_") for _, word in words.split(text.encode()))


VALUES = [
    "2.3.1",
    "v3.5.0",
    "1.0rc1",
    "2.0.0-beta.1+build.5",
    "3.11.4-slim",
    "1.2.*",
    "^1.2.3",
    "~1.2",
    ">=1.0,<2.0",
    "1_000",
    "1,000,000",
    "0xff",
    "1e-3",
    "-1.5",
    "50%",
    "10px",
    "1.5em",
    "$5.00",
    "#ff0000",
    "0644",
    "rw-r--r--",
    "2024-01-05",
    "2024-01-05T12:30:45.12+00:00",
    "12:30:45",
    "01/02/2024",
    "10.0.0.1",
    "10.0.0.0/8",
    "::1",
    "2001:db8::1",
    "fe80::1%eth0",
    "localhost:8080",
    "8080:80/tcp",
    "me+you@x-y.org",
    "/usr/bin",
    "../../x",
    "./a.txt",
    "~/x",
    "a/b/",
    "C:\\dir\\f",
    "src/**/*.ts",
    "*.py",
    "**/x",
    "a/*",
    ".github",
    "https://a.b/c?x=1&y=2#z",
    "git+ssh://g@h/x.git",
    "sha256:9f86d0",
    "sha512-a+b/c",
    "123e4567-e89b-12d3",
    "$HOME/x",
    "web-api",
    "--max-depth",
    "-x",
    "snake_case",
    "don't",
    "python:3.11.4-slim",
    "actions/checkout@v3.5.0",
    "@scope/pkg",
    "c++",
    '"a.b-c"',
    "'x==1.0'",
    "`pip`",
    '""',
    '"it>1,<2"',
    '"a\\nb"',
    '"^[a-z]{2,3}$"',
    "naïve-café",
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("around", ["{}", "a = {}", "- [{}]", "({}), b", "{}\t\n{}"])
def test_a_value_is_one_token_of_text(value, around):
    assert value in tokens(TEXT, around.format(value, value)).split()
    assert tokens(TEXT, f" {value} ") == f"{value} "


DIVIDED = {
    "a requirement": (TEXT, "flask==2.3.1, x", "flask ==2.3.1 , x"),
    "a line under a title": (TEXT, "Title\n===== -- ~~~~", "Title ===== - - ~~~~"),
    "a key and a value": (TEXT, "key=web-api x: 1", "key = web-api x : 1"),
    "the end of a sentence": (TEXT, "See a.b. (It is 1.5)", "See a.b . ( It is 1.5 )"),
    "a date in words": (TEXT, "- May 5, 2024: 3 March 2020", "- May_5,_2024 : 3_March_2020"),
    "a month alone": (TEXT, "May be 5 Marches", "May be 5 Marches"),
    "a schedule": (TEXT, 'cron: "*/5 3 * 1-5 *" 1 2 3 4 5', 'cron : " */5_3_*_1-5_* " 1 2 3 4 5'),
    "an anchored pattern": (TEXT, "x: ^[a-z]{2}-\\d+$ 2^3", "x : ^[a-z]{2}-\\d+$ 2 ^3"),
    "date and time": (TEXT, "at 2024-01-05 12:30.", "at 2024-01-05_12:30 ."),
    "emphasis": (TEXT, "**1.4.0** *x*", "* * 1.4.0 * * * x *"),
    "strings": (TEXT, '{"a":"b c","d":1}', '{ "a" : " b c " , "d" : 1 }'),
    "an apostrophe": (TEXT, "it's users' 'a b'", "it's users ' ' a b '"),
    "a list": (TEXT, "1,2,30", "1 , 2 , 30"),
    "operators": (SCRIPT, "a.b(x-1, i+1)//2", "a . b ( x - 1 , i + 1 ) / / 2"),
    "slices": (SCRIPT, "a[1:2] x.0.1", "a [ 1 : 2 ] x . 0.1"),
    "a sign": (SCRIPT, "f(-1, x - 1) = -.5", "f ( -1 , x - 1 ) = -.5"),
    "ranges": (CURLY, "1..5 0..=9 std::io", "1 . . 5 0 . . = 9 std : : io"),
    "a condition": (CURLY, "a ? b : c/d", "a ? b : c / d"),
    "inserted values": (SCRIPT, 'f"{x.y}-a/b {z}"', 'f" { x.y } -a/b { z } "'),
    "a prefix": (SCRIPT, "rb'a' b\"c\" r'\\d+'", "rb'a' b\"c\" r'\\d+'"),
    "an escaped quote": (SCRIPT, r"'it\'s a' + 'b'", r"' it \' s a ' + 'b'"),
    "an open quote": (SCRIPT, '"""Use a.b-c', '"" " Use a . b - c'),
    "strings in a row": (CURLY, 'f("a b",1,"c d")', 'f ( " a b " , 1 , " c d " )'),
    "a comment": (SCRIPT, "a-b  # web-api 1.2.3", "a - b # web-api 1.2.3"),
    "a comment in curly source": (CURLY, "a-b; // web-api", "a - b ; // web-api"),
    "lifetimes": (CURLY, "<'a, 'b> &'a T", "< ' a , ' b > & ' a T"),
    "a regular expression": (CURLY, "x.test(/^a+$/g) a / b", "x . test ( /^a+$/g ) a / b"),
    "elements": (CURLY, "<b>x</b><br/>", "< b > x < / b > < br / >"),
}


@pytest.mark.parametrize(("words", "text", "expected"), DIVIDED.values(), ids=DIVIDED)
def test_text_is_divided_where_parts_may_change_for_themselves(words, text, expected):
    assert tokens(words, text) == expected + " "


def test_the_language_says_how_a_file_is_divided():
    assert words_of("a/b.py") is SCRIPT
    assert words_of("a.tsx") is CURLY
    assert words_of("a.toml") is words_of("Dockerfile") is TEXT


PIECES = [b"a", b'"', b"'", b"`", b"\\", b".", b"-", b"*", b":", b"://", b"1", b",", b"%", b"{"]
PIECES += [b" ", b"\n", b"\r\n", b"# ", b"//", b"/x", b">=", b",<1", b"1-11 ", b"\xff", b"@", b"0x"]


LONG = {
    "a docstring": (SCRIPT, b'x = """a-b\nc-d"""\ne-f # """\n', [b'"""a-b', b'c-d"""']),
    "quotes in quotes": (SCRIPT, b'x = \'"""\'\na-b\ny = \'"""\'\n', []),
    "an open string": (SCRIPT, b'x = """a-b\nc-d\n', []),
    "a comment": (CURLY, b"  /* a-b\n * c-d */\ne-f\n", [b"  /* a-b", b" * c-d */"]),
    "a comment of one line": (CURLY, b"/* a-b */\ne-f /* c\n", []),
    "any other file": (TEXT, b'"""a\nb"""\n', [b'"""a', b'b"""', b""]),
}


@pytest.mark.parametrize(("words", "source", "expected"), LONG.values(), ids=LONG)
def test_lines_of_long_strings_and_comments_are_text(words, source, expected):
    pieces = list(words.pieces(source))

    text = [line for kind, piece in pieces if kind is TEXT for line in piece.split(b"\n")]
    assert text == expected
    assert b"".join(piece for _, piece in pieces) == source


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join))
def test_no_byte_is_lost_and_no_token_spans_lines(text):
    for words in (TEXT, SCRIPT, CURLY):
        found = list(words.split(text))

        assert b"".join(space + word for space, word in found) == text
        assert all(word and not space.strip() for space, word in found[:-1])
        assert found[-1][1] == b""
        assert not any(b"\n" in word for _, word in found)
        lines = [word for line in text.split(b"\n") for _, word in words.split(line) if word]
        assert [word for _, word in found if word] == lines


UNITS = [
    b" ",
    b"\"'",
    b'\\"',
    b"{",
    b"-",
    b"a.",
    b"a..",
    b"a://",
    b"://.",
    b"(/[",
    b"1,",
    b"*/",
    b"a'",
]


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_line_is_divided_in_linear_time(unit):
    """With quadratic time, this one would take half a minute."""
    text = unit * (200_000 // len(unit))
    started = time.perf_counter()

    for words in (TEXT, SCRIPT, CURLY):
        for _ in words.split(text):
            pass

    assert time.perf_counter() - started < 10
