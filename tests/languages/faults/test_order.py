"""What both sides insert at one place may have to be in one order."""

import pytest
from needs import need_package

from cooperbench_eval.languages.faults.faults import find_fault
from cooperbench_eval.languages.faults.line_order import find_misordered_lines

ORDER = "order may matter"
LANGUAGES = (".rs", ".js", ".ts", ".tsx")


def fault(path, frame, *texts):
    """Judge a file with each version's text in its frame."""
    if path.endswith(LANGUAGES):
        need_package("tree_sitter")
    files = (frame.replace("@", each).replace("%", "@") for each in texts)
    base, ours, theirs, merged = (file.encode() for file in files)
    return find_fault(path, (base, ours, theirs), merged)


ALTERNATIVES = {
    "a branch": (
        "a.py",
        "def f(x):\n    if x < 0:\n        a()\n@",
        "    elif isinstance(x, int):\n        b()\n",
        "    elif isinstance(x, bool):\n        c()\n",
    ),
    "an exit": (
        "a.py",
        "def f(x):\n    a()\n@    return 0\n",
        "    if x in ('a', 'b'):\n        return 1\n",
        "    if x == 'b':\n        return 2\n",
    ),
    "a handler of an own exception": (
        "a.py",
        "class E(Exception): b\nclass F(E): c\ntry:\n    a()\n@finally:\n    b()\n",
        "except E:\n    c()\n",
        "except F:\n    d()\n",
    ),
    "a handler": (
        "a.py",
        "try:\n    a()\n@finally:\n    b()\n",
        "except Exception:\n    c()\n",
        "except ValueError:\n    d()\n",
    ),
}


@pytest.mark.parametrize(
    ("path", "frame", "general", "special"), ALTERNATIVES.values(), ids=ALTERNATIVES
)
def test_an_alternative_behind_one_that_takes_all_of_it_is_a_fault(path, frame, general, special):
    """Unless a version has both in that order."""
    for sides in ((general, special), (special, general)):
        assert "never be reached" in fault(path, frame, "", *sides, general + special)
        assert fault(path, frame, "", *sides, special + general) == ""
    assert fault(path, frame, general, general + special, general, general + special) == ""


IF_PHP, CASE_RUBY = "<?php\nif ($x) {\n  a();\n@}\n", "case x\nwhen 0\n  a\n@end\n"
CASE_CSHARP = (
    "class A {\n    void F() {\n        switch (x) {\n            case 0:\n"
    "                break;\n@        }\n    }\n}\n"
)
MATCHING = {
    "conditions of PHP": (
        ("a.php", IF_PHP),
        ("} elseif ($x < 5) {\n  b();\n", "} elseif ($x < 3) {\n  c();\n"),
        ("} elseif ($x === 5) {\n  b();\n", "} elseif ($x === 3) {\n  c();\n"),
    ),
    "conditions of Ruby": (
        ("a.rb", "if x\n  a\n@end\nz\n"),
        ("elsif x < 5\n  b\n", "elsif x < 3\n  c\n"),
        ("elsif x == 5\n  b\n", "elsif x == 3\n  c\n"),
    ),
    "ranges of Ruby": (
        ("a.rb", CASE_RUBY),
        ("when 3..7\n  b\n", "when 5..9\n  c\n"),
        ("when :a\n  b\n", "when :b, 3\n  c\n"),
    ),
    "classes of Ruby": (
        ("a.rb", CASE_RUBY),
        ("when Foo\n  b\n", "when Bar\n  c\n"),
        ("when A::FOO then b\n", "when A::BAR then c\n"),
    ),
    "types with names": (
        ("a.cs", CASE_CSHARP),
        (
            "            case IFoo a:\n                b();\n                break;\n",
            "            case IBar a:\n                c();\n                break;\n",
        ),
        (
            "            case string a:\n                b();\n                break;\n",
            "            case int a:\n                c();\n                break;\n",
        ),
    ),
}


@pytest.mark.parametrize(("file", "alike", "other"), MATCHING.values(), ids=MATCHING)
def test_alternatives_that_may_match_the_same_have_no_order(file, alike, other):
    """Those that exclude each other may come in either order."""
    assert "may both match" in fault(*file, "", *alike, "".join(alike))
    assert "may both match" not in fault(*file, "", *other, "".join(other))


CLASHES = {
    "a list that is emptied": ("    q.append(1)\n", "    q.clear()\n"),
    "a file that is closed": ("    q.write(1)\n", "    q.close()\n"),
    "a value that is taken out": ("    q.append(1)\n", "    x = q.pop()\n"),
    "one key": ("    q.pop('a')\n", "    q.setdefault('a', 1)\n"),
    "calls that add": ("    q.append(1)\n", "    q.extend(r)\n"),
    "an item that is set twice": ("    q[1] = 1\n", "    q[1] = 2\n"),
    "an item that is set and deleted": ("    q['a'] = 1\n", "    del q['a']\n"),
    "an attribute that is set twice": ("    q.x = 1\n    q.go()\n", "    q.x = 2\n    q.do()\n"),
    "a setter": ("    q.setX(1)\n", "    q.setX(2)\n"),
    "a value that is read": ("    q.append(1)\n", "    n = len(q)\n"),
    "a part and the whole": ("    q.x.y = 1\n", "    q.x = r\n"),
    "two new values": ("    q = a(q)\n", "    q = b(q)\n"),
    "other operators": ("    q += 1\n", "    q *= 2\n"),
    "inside of a loop": ("    for x in r:\n        q.append(x)\n", "    q.sort()\n"),
    "functions of one thing": ("    open_db()\n", "    close_db()\n"),
    "one setting": ("    sys.setlimit(1)\n", "    sys.setlimit(2)\n"),
    "locks": ("    q.acquire()\n", "    r.acquire()\n"),
    "arguments of a command": ("    q.add_argument('a')\n", "    q.add_argument('b')\n"),
    "an object of a module": ("    sys.path.append(q)\n", "    sys.path.append(r)\n"),
}
ALLOWED = {
    "other objects": ("    q.append(1)\n", "    r.clear()\n"),
    "other keys": ("    q.pop('a')\n", "    q.pop('b')\n"),
    "other items": ("    q['a'] = 1\n", "    q['b'] = 2\n"),
    "other attributes": ("    q.x = 1\n", "    q.y = 2\n"),
    "an argument and an option": (
        "    q.add_argument('a')\n",
        "    q.add_argument('--b')\n",
    ),
    "options": ("    q.add_option('a')\n", "    q.add_option('b')\n"),
    "sums": ("    q += a\n", "    q += b\n"),
    "messages": ("    print('a')\n", "    print('b')\n"),
    "reports": ("    log.info(q)\n", "    log.info(r)\n"),
    "functions": ("    open_db()\n", "    close_file()\n"),
    "a part that is read": ("    use(q)\n", "    q.x.y = 1\n"),
    "functions of a module": ("    sys.a(q)\n", "    sys.b(r)\n"),
    "what both repeat in between": (
        "    q.append(1)\n    r.x()\n",
        "    r.x()\n    q.clear()\n",
    ),
}


@pytest.mark.parametrize(
    ("ours", "theirs", "is_fault"),
    [*((*pair, True) for pair in CLASHES.values()), *((*pair, False) for pair in ALLOWED.values())],
    ids=[*CLASHES, *ALLOWED],
)
def test_statements_of_which_one_changes_what_the_other_uses_are_a_fault(ours, theirs, is_fault):
    """In either order."""
    frame = "import sys\n\n\ndef f(q, r):\n    q.start()\n@    return q\n"

    shared = "    r.x()\n" if "r.x" in ours else ""
    for merged in {ours + theirs.removeprefix(shared), ours if shared else theirs + ours}:
        assert (ORDER in fault("a.py", frame, "", ours, theirs, merged)) is is_fault


@pytest.mark.parametrize(
    ("path", "frame", "spread", "value"),
    [
        ("a.ts", "const x = {\n  a: 1,\n@};\n", "  ...y,\n", "  b: 2,\n"),
        ("a.py", "x = {\n    'a': 1,\n@}\n", "    **y,\n", "    'b': 2,\n"),
        ("a.py", "f(\n    a,\n@)\n", "    *y,\n", "    b,\n"),
        ("a.tsx", "x = (\n  <A\n    a={1}\n@  />\n);\n", "    {...y}\n", "    b={2}\n"),
    ],
)
def test_a_value_beside_the_other_sides_spread_is_a_fault(path, frame, spread, value):
    """The later one replaces the earlier one."""
    assert ORDER in fault(path, frame, "", spread, value, spread + value)
    assert ORDER in fault(path, frame, "", value, spread, spread + value)
    assert fault(path, frame, spread, spread + value, spread, spread + value) == ""


ROUTES = {
    "calls": ("a.js", "app.get('/', a);\n@", "app.get('/u/:id', b);\n", "app.get('/u/me', c);\n"),
    "the rest": ("a.js", "app.get('/', a);\n@", "app.get('*', b);\n", "app.get('/u/me', c);\n"),
    "mounted": ("a.js", "app.use('/', a);\n@", "app.use('/u', b);\n", "app.use('/u/me', c);\n"),
    "items": (
        "a.py",
        "x = [\n    p('', a),\n@]\n",
        "    p('<int:x>/', b),\n",
        "    p('me/', c),\n",
    ),
    "expressions": (
        "a.py",
        "x = [\n    (r'^$', a),\n@]\n",
        "    (r'^u', b),\n",
        "    (r'^up', c),\n",
    ),
    "decorators": (
        "a.py",
        "app = A()\n@",
        "\n\n%app.get('/{x}')\ndef f(): 1\n",
        "\n\n%app.get('/me')\ndef g(): 2\n",
    ),
    "arguments of one command": (
        "a.py",
        "%g\n@def f(): 1\n",
        "%argument('a')\n",
        "%argument('b')\n",
    ),
    "decorators of one function": ("a.py", "%a\n@def f(): 1\n", "%b\n", "%c\n"),
}


@pytest.mark.parametrize(("path", "frame", "one", "other"), ROUTES.values(), ids=ROUTES)
def test_routes_that_match_one_path_are_a_fault(path, frame, one, other):
    """The first one is taken. Decorators are applied one after the other, too."""
    problem = fault(path, frame, "", one, other, one + other)
    assert ORDER in problem or problem.endswith("so their order matters")
    assert fault(path, frame, one, one + other, one, one + other) == ""


LINES = {
    "commands": ("a.sh", "cd /a\n", "rm -r b\n", True),
    "a variable twice": (".env", "A=1\n", "A=2\n", True),
    "a variable that uses the other": (".env", "A=1\n", "B=$A\n", True),
    "other variables": (".env", "A=1\n", "B=2\n", False),
    "patterns": (".gitignore", "*.log\n", "build/\n", False),
    "a pattern that is excepted": (".gitignore", "*.log\n", "!a.log\n", True),
    "sections": ("a.ini", "\n[b]\nx = 1\n", "\n[c]\nx = 1\n", False),
    "functions": ("a.swift", "\nint b(void) {\n  b();\n}\n", "\nint c(void) {\n  c();\n}\n", True),
    "a function that calls the other": (
        "a.swift",
        "\nint b(void) {\n  x();\n}\n",
        "\nint c(void) {\n  b();\n}\n",
        True,
    ),
    "includes": ("a.swift", "#include <b>\n", "#include <c>\n", False),
    "cases": ("a.swift", "  case 2:\n    b();\n", "  case 3:\n    c();\n    break;\n", True),
    "statements": ("a.pl", "l.clear\n", "l << 1\n", True),
    "styles of other properties": ("a.css", ".b { color: red; }\n", ".c { top: 1; }\n", False),
    "rules of other properties": (
        "a.css",
        ".b:hover,\n.d {\n  color: red;\n}\n",
        "@media (x: 1) {\n  .c { top: 1; }\n}\n",
        False,
    ),
    "rules of one property": (
        "a.css",
        ".b {\n  top: 0;\n  margin: 0;\n}\n",
        ".c {\n  margin-left: 1px;\n}\n",
        True,
    ),
    "a rule with a mixin": ("a.scss", ".b {\n  @include c;\n}\n", ".d {\n  top: 1;\n}\n", True),
    "a property and a part of it": ("a.css", "  margin: 0;\n", "  margin-left: 1px;\n", True),
    "a property and one that it sets": ("a.css", "  font: b;\n", "  line-height: 1;\n", True),
    "all properties": ("a.css", "  top: 0;\n", "  all: unset;\n", True),
    "modules": ("go.mod", "\ta/b v1.2.3\n", "\ta/c v1.0.0\n", False),
    "styles": ("a.css", ".b { color: red; }\n", ".c { color: blue; }\n", True),
    "fields of one number": ("a.proto", "  string b = 2;\n", "  string c = 2;\n", True),
    "fields": ("a.proto", "  string b = 2;\n", "  string c = 3;\n", True),
    "names": ("AUTHORS", "A B <a@b>\n", "C D <c@d>\n", False),
}


@pytest.mark.parametrize(("path", "ours", "theirs", "is_fault"), LINES.values(), ids=LINES)
def test_lines_without_a_grammar_that_may_be_commands_are_a_fault(path, ours, theirs, is_fault):
    """Unless they are a set, or settings with different names that do not use each other."""
    assert (bool(fault(path, "start\n@stop\n", "", ours, theirs, ours + theirs))) is (is_fault)


DOCKER = "FROM a\n@CMD b\n"
NAMED = {
    "settings of an image": ("Dockerfile", DOCKER, ("ENV A=x\n", "ENV B=y\n"), True),
    "a setting that uses the other": ("Dockerfile", DOCKER, ("ENV A=x\n", "ENV B=$A\n"), True),
    "commands": ("Dockerfile", DOCKER, ("RUN a\n", "RUN b\n"), True),
    "tables": ("a.sql", "@", ("CREATE TABLE a (i int);\n", "CREATE TABLE b (i int);\n"), True),
    "a table of the other": ("a.sql", "@", ("CREATE TABLE a (i int);\n", "DROP TABLE a;\n"), True),
    "words of a command": ("a.sh", "get \\\n@  d\n", ("  b \\\n", "  c \\\n"), False),
    "steps of a command": ("a.sh", "get \\\n@  d\n", ("  && b \\\n", "  && c \\\n"), True),
}


@pytest.mark.parametrize(("path", "frame", "new", "is_fault"), NAMED.values(), ids=NAMED)
def test_lines_of_both_sides_have_an_order_in_a_file_of_commands(path, frame, new, is_fault):
    """The words of one command may stand in any order."""
    texts = (frame.replace("@", each).encode() for each in ("", *new, "".join(new)))
    base, ours, theirs, merged = texts

    assert bool(find_misordered_lines(path, (base, ours, theirs), merged)) is is_fault


def test_lines_that_stand_for_different_lines_of_the_base_have_their_order():
    """In another order they have none."""
    texts = (b"FROM a\nUSER b\n", b"FROM c\nUSER b\n", b"FROM a\nUSER d\n")

    assert find_misordered_lines("Dockerfile", texts, b"FROM c\nUSER d\n") == ""
    assert find_misordered_lines("Dockerfile", texts, b"USER d\nFROM c\n") != ""


def test_an_option_that_both_sides_add_has_one_value():
    """Different options may be added to a command."""
    one, each, other = (f", '-{name}', '{value}'" for name, value in ("n1", "n2", "m2"))

    assert "both sides add" in fault("a.py", "run(['a'@])\n", "", one, each, one + ", '2'")
    assert fault("a.py", "run(['a'@])\n", "", one, other, one + other) == ""


def test_two_functions_for_one_route_are_a_fault():
    """Unless the sides give it different methods."""
    frame = "app = A()\n@"
    new = [f"\n\n@app.route('/a'%)\ndef {name}():\n    {name}.go()\n" for name in "xy"]
    both = [each.replace("%", f", methods=['{i}']") for i, each in enumerate(new)]
    one = [each.replace("%", "") for each in new]

    assert "may both match" in fault("a.py", frame, "", *one, "".join(one))
    assert "may both match" not in fault("a.py", frame, "", *both, "".join(both))
