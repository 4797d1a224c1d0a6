"""Hazards of Python files: what is found, and what is not one."""

import pytest

from cooperbench_eval.languages.hazards.kinds import HazardKind

TWICE, REMOVED, CHANGED = (
    HazardKind.DECLARED_TWICE,
    HazardKind.NAME_REMOVED,
    HazardKind.SIGNATURE_CHANGED,
)
GAP = "".join(f"gap{n} = {n}\n" for n in range(8))
"""Lines that keep the changes of the two sides apart, so that git merges them."""


def around(first, last):
    """A file with two places that are far from each other."""
    return f"{first}{GAP}{last}"


def kinds(found):
    return [(hazard.kind, hazard.name) for hazard in found]


ONE, OTHER = "def f():\n    return 1\n", "def f():\n    return 2\n"

DECLARED_TWICE = {
    "a function": ("", ONE, OTHER, "f"),
    "the same function": ("", ONE, ONE, "f"),
    "a class": ("", "class A:\n    x = 1\n", "class A:\n    x = 2\n", "A"),
    "a function and a class": ("", "class f:\n    x = 1\n", ONE, "f"),
    "an import of another module": ("", "from a import f\n", "from b import f\n", "f"),
    "an import and a function": ("", "from a import f\n", ONE, "f"),
    "a test": ("", "@pytest.mark.slow\ndef f(): 1\n", "@pytest.mark.slow\ndef f(): 2\n", "f"),
    "a property": (
        "",
        "class A:\n    pass\n",
        "@dataclass\nclass A:\n    pass\n",
        "A",
    ),
}


@pytest.mark.parametrize("case", DECLARED_TWICE)
def test_what_both_sides_declare_is_declared_twice(case, hazards_of):
    """Git merges the two declarations without a conflict."""
    base, ours, theirs, name = DECLARED_TWICE[case]

    found = hazards_of(
        {"a.py": around(base, base)},
        {"a.py": around(ours, base)},
        {"a.py": around(base, theirs)},
    )

    assert kinds(found) == [(TWICE, name)]
    assert found[0].features == (1, 2)
    assert "feature 1 alone and feature 2 alone declare it at most once" in found[0].message


def test_methods_are_declared_twice_in_one_class(hazards_of):
    """The line is that of the second declaration."""
    base = "class A:\n    a = 1\n    b = 1\n    c = 1\n    d = 1\n\n    e = 1\n"
    method = "    def f(self):\n        return {}\n"

    (found,) = hazards_of(
        {"a.py": base},
        {"a.py": base.replace("    a = 1\n", "    a = 1\n" + method.format(1))},
        {"a.py": base.replace("    d = 1\n", "    d = 1\n" + method.format(2))},
    )

    assert (found.kind, found.name, found.line) == (TWICE, "A.f", 8)
    assert "a.py, line 3 and a.py, line 8" in found.message


HARMLESS = {
    "the same import": ("from a import f\n", "from a import f\n"),
    "overloads": ("@overload\ndef f(a: int): ...\n", "@overload\ndef f(a: str): ...\n"),
    "a registered implementation": (
        "@g.register\ndef _(a: int): 0\n",
        "@g.register\ndef _(a): 0\n",
    ),
    "an endpoint": ("@app.get('/a')\ndef f(): 0\n", "@app.get('/b')\ndef f(): 0\n"),
    "a name for type checkers": ("if TYPE_CHECKING:\n    from a import f\n", ONE),
    "a fallback": ("try:\n    from a import f\nexcept ImportError:\n    f = None\n", ONE),
    "a platform": ("if a:\n    def f(): 0\n", "if b:\n    def f(): 0\n"),
    "methods of different classes": (
        "class A:\n    def f(self): 0\n",
        "class B:\n    def f(self): 0\n",
    ),
    "functions of different functions": (
        "def a():\n    def f(): 0\n",
        "def b():\n    def f(): 0\n",
    ),
    "a value": ("f = 1\n", "f = 2\n"),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_what_may_occur_twice_is_not_a_hazard(case, hazards_of):
    """The second one does not replace the first by mistake."""
    ours, theirs = HARMLESS[case]

    found = hazards_of(
        {"a.py": around("", "")}, {"a.py": around(ours, "")}, {"a.py": around("", theirs)}
    )

    assert found == ()


def test_property_accessors_are_not_declared_twice(hazards_of):
    """A getter of one side and a setter of the other are one property."""
    base = "class A:\n    a = 1\n    b = 1\n    c = 1\n    d = 1\n\n    e = 1\n"
    getter = "    a = 1\n    @property\n    def f(self): 0\n"
    setter = "    d = 1\n    @f.setter\n    def f(self, value): 0\n"

    found = hazards_of(
        {"a.py": base},
        {"a.py": base.replace("    a = 1\n", getter)},
        {"a.py": base.replace("    d = 1\n", setter)},
    )

    assert found == ()


@pytest.mark.parametrize("who", ["base", "ours", "theirs"])
def test_what_was_declared_twice_before_is_not_a_hazard(who, hazards_of):
    """The merge is not to blame for it."""
    twice = around(ONE, OTHER)
    versions = dict.fromkeys(("base", "ours", "theirs"), around(ONE, "")) | {who: twice}

    found = hazards_of(
        {"a.py": versions["base"]},
        {"a.py": versions["ours"]},
        {"a.py": versions["theirs"]},
        {"a.py": twice + "\n"},
    )

    assert found == ()


URL = "def parse_url(text):\n    return text\n"
NEW_USES = {
    "in the same file": (
        {"a.py": around(URL, "")},
        {"a.py": around("", "")},
        {"a.py": around(URL, "x = parse_url('')\n")},
        "feature 2 removes `parse_url` in a.py, and feature 1 calls it in a.py, line 9",
    ),
    "under a new name": (
        {"a.py": around(URL, "")},
        {"a.py": around(URL.replace("parse_url", "to_url"), "")},
        {"a.py": around(URL, "x = parse_url\n")},
        "feature 2 renames `parse_url` in a.py to `to_url`, and feature 1 uses it in a.py, line 11",
    ),
    "an import": (
        {"a.py": around("import os\n", "")},
        {"a.py": around("", "")},
        {"a.py": around("import os\n", "def f():\n    return os.name\n")},
        "feature 2 removes `os` in a.py, and feature 1 uses it in a.py, line 10",
    ),
    "from another file": (
        {"src/a.py": URL + "x = 1\n", "src/b.py": "a = 1\n"},
        {"src/a.py": "x = 1\n"},
        {"src/b.py": "a = 1\nfrom a import parse_url\n"},
        "feature 2 removes `parse_url` in src/a.py, and feature 1 uses it in src/b.py, line 2",
    ),
    "from a file nearby": (
        {"pkg/url.py": URL + "x = 1\n", "pkg/app.py": "a = 1\n"},
        {"pkg/url.py": "x = 1\n"},
        {"pkg/app.py": "a = 1\ndef f():\n    from .url import parse_url as p\n"},
        "feature 2 removes `parse_url` in pkg/url.py, and feature 1 uses it in pkg/app.py, line 3",
    ),
    "through its module": (
        {"pkg/url.py": URL + "x = 1\n", "pkg/app.py": "from . import url\na = 1\n"},
        {"pkg/url.py": "x = 1\n"},
        {"pkg/app.py": "from . import url\na = 1\nb = url.parse_url(a)\n"},
        "feature 2 removes `parse_url` in pkg/url.py, and feature 1 calls it in pkg/app.py, line 3",
    ),
    "through its package": (
        {"pkg/url.py": URL + "x = 1\n", "app.py": "import pkg.url\na = 1\n"},
        {"pkg/url.py": "x = 1\n"},
        {"app.py": "import pkg.url\na = 1\nb = pkg.url.parse_url(a)\n"},
        "feature 2 removes `parse_url` in pkg/url.py, and feature 1 calls it in app.py, line 3",
    ),
    "a file": (
        {"pkg/url.py": URL, "app.py": "a = 1\n"},
        {"pkg/url.py": None},
        {"app.py": "a = 1\nimport pkg.url\n"},
        "feature 2 removes pkg/url.py, and feature 1 uses it in app.py, line 2",
    ),
    "a method of the same class": (
        {"a.py": around("class A:\n    def f(self): 0\n    def g(self): 0\n", "")},
        {"a.py": around("class A:\n    def g(self): 0\n", "")},
        {"a.py": around("class A:\n    def f(self): 0\n    def g(self): 0\n", "A.f\n")},
        "feature 2 removes `A.f` in a.py, and feature 1 uses it in a.py, line 11",
    ),
    "a renamed method of a class with a parent": (
        {
            "a.py": "class A(B):\n    def look_up(self):\n        return 1\n" + GAP,
            "b.py": "a = 1\n",
        },
        {"a.py": "class A(B):\n    def search(self):\n        return 1\n" + GAP},
        {"b.py": "a = 1\n\ndef f(found):\n    return found.look_up()\n"},
        "feature 2 renames `A.look_up` in a.py to `search`, and feature 1 calls it in b.py, line 4",
    ),
}


@pytest.mark.parametrize("case", NEW_USES)
def test_a_new_use_of_a_removed_name_is_a_hazard(case, hazards_of):
    """The message says who removes it, and where the other one uses it."""
    base, ours, theirs, message = NEW_USES[case]

    (found,) = hazards_of(base, ours, theirs)

    assert (found.kind, found.features) == (REMOVED, (1, 2))
    assert found.message == message
    assert message.endswith(f"in {found.path}, line {found.line}")


@pytest.mark.parametrize("case", NEW_USES)
def test_the_other_direction_names_the_other_feature(case, hazards_of):
    """It does not matter which of the sides is ours."""
    base, ours, theirs, message = NEW_USES[case]
    swapped = message.translate(str.maketrans("12", "21")).rpartition(",")[0]

    (found,) = hazards_of(base, theirs, ours)

    assert found.message.startswith(swapped)


@pytest.mark.parametrize("case", NEW_USES)
def test_each_side_alone_has_no_hazard(case, hazards_of):
    """A side that is merged with the base itself only has its own mistakes."""
    base, ours, theirs, _ = NEW_USES[case]

    assert hazards_of(base, ours, {}) == hazards_of(base, {}, theirs) == ()


STILL_THERE = {
    "a use that stood in the base": (
        {"a.py": around(URL, "x = parse_url('')\n")},
        {"a.py": around("", "x = parse_url('')\n")},
        {"a.py": around(URL, "x = parse_url('')\ny = 1\n")},
    ),
    "a local variable": (
        {"a.py": around(URL, "")},
        {"a.py": around("", "")},
        {"a.py": around(URL, "def f(parse_url):\n    return parse_url()\n")},
    ),
    "a name that a loop binds": (
        {"a.py": around(URL, "")},
        {"a.py": around("", "")},
        {"a.py": around(URL, "[parse_url for parse_url in ()]\n")},
    ),
    "a name that moved to another file": (
        {"pkg/a.py": around(URL, ""), "pkg/b.py": "x = 1\n"},
        {"pkg/a.py": around("from .b import parse_url\n", ""), "pkg/b.py": "x = 1\n" + URL},
        {"pkg/a.py": around(URL, "x = parse_url('')\n")},
    ),
    "a name that a star import may bind": (
        {"a.py": around(URL, "")},
        {"a.py": around("from b import *\n", "")},
        {"a.py": around(URL, "x = parse_url('')\n")},
    ),
    "a module of the standard library": (
        {"pkg/json.py": "def loads(): 0\nx = 1\n", "pkg/app.py": "a = 1\n"},
        {"pkg/json.py": "x = 1\n"},
        {"pkg/app.py": "a = 1\nimport json\nb = json.loads('')\n"},
    ),
    "a module of the package": (
        {"pkg/__init__.py": "from . import url\na = 1\n", "pkg/url.py": "", "app.py": "a = 1\n"},
        {"pkg/__init__.py": "a = 1\n"},
        {"app.py": "a = 1\nfrom pkg import url\n"},
    ),
    "a method that a parent may have": (
        {"a.py": "class A(B):\n    def look_up(self):\n        return 1\n    x = 1\n" + GAP},
        {"a.py": "class A(B):\n    x = 1\n" + GAP},
        {
            "a.py": "class A(B):\n    def look_up(self):\n        return 1\n    x = 1\n"
            + GAP
            + "A.look_up\n"
        },
    ),
    "an attribute that is set": (
        {"a.py": "class A:\n    def f(self): 0\n    x = 1\n" + GAP, "b.py": "a = 1\n"},
        {"a.py": "class A:\n    def __init__(self):\n        self.f = 1\n    x = 1\n" + GAP},
        {"b.py": "a = 1\n\ndef f(a):\n    return a.f()\n"},
    ),
    "a method that built-in types have": (
        {"a.py": "class A:\n    def append(self): 0\n    x = 1\n" + GAP, "b.py": "a = 1\n"},
        {"a.py": "class A:\n    x = 1\n" + GAP},
        {"b.py": "a = 1\n\ndef f(a):\n    return a.append()\n"},
    ),
    "a method of another class": (
        {
            "a.py": "class A:\n    def g(self): 0\n    x = 1\nclass B:\n    def g(self): 1\n" + GAP,
            "b.py": "a = 1\n",
        },
        {"a.py": "class A:\n    x = 1\nclass B:\n    def g(self): 1\n" + GAP},
        {"b.py": "a = 1\n\ndef f(a):\n    return a.g()\n"},
    ),
    "a name of another module": (
        {"a.py": URL + GAP, "b.py": "a = 1\n"},
        {"a.py": GAP},
        {"b.py": "a = 1\nfrom other import parse_url\nimport third\nthird.parse_url\n"},
    ),
    "a file that does not parse": (
        {"a.py": URL + GAP, "b.py": "a = 1\n"},
        {"a.py": GAP + "("},
        {"b.py": "a = 1\nfrom a import parse_url\n"},
    ),
    "a moved use": (
        {"a.py": around(URL, "x = parse_url('')\ny = 1\n")},
        {"a.py": around("", "x = parse_url('')\ny = 1\n")},
        {"a.py": around(URL, "y = 1\nx = parse_url('')\n")},
    ),
}


@pytest.mark.parametrize("case", STILL_THERE)
def test_a_name_that_may_still_exist_is_not_a_hazard(case, hazards_of):
    """A hint that is often wrong is noise."""
    assert hazards_of(*STILL_THERE[case]) == ()


MORE = "def f(a, b):\n    return a\n"
NEW_CALLS = {
    "a new required parameter": ("def f(a):\n", "def f(a, b):\n", "f(1)", "needs `b`"),
    "a new keyword": ("def f(a):\n", "def f(a, *, b):\n", "f(1)", "needs `b`"),
    "a removed parameter": (
        "def f(a, b=1):\n",
        "def f(a):\n",
        "f(1, 2)",
        "takes at most 1 positional arguments",
    ),
    "a removed keyword": ("def f(a, b=1):\n", "def f(a):\n", "f(1, b=2)", "has no parameter `b`"),
    "a renamed parameter": ("def f(a):\n", "def f(c):\n", "f(a=1)", "has no parameter `a`"),
    "parameters in another order": (
        "def f(a, b):\n",
        "def f(b, a):\n",
        "f(1, 2)",
        "has `a` at another position",
    ),
    "a positional that becomes a keyword": (
        "def f(a, b=1):\n",
        "def f(a, *, b=1):\n",
        "f(1, 2)",
        "takes at most 1 positional arguments",
    ),
    "a keyword that becomes positional": (
        "def f(a):\n",
        "def f(a, /):\n",
        "f(a=1)",
        "has no parameter `a`",
    ),
    "a method": (
        "class A:\n  def f(self, a):\n",
        "class A:\n  def f(self, a, b):\n",
        "x.f(1)",
        "needs `b`",
    ),
    "a constructor": (
        "class A:\n  def __init__(self, a):\n",
        "class A:\n  def __init__(self, a, b):\n",
        "A(1)",
        "needs `b`",
    ),
    "a static method": (
        "class A:\n  @staticmethod\n  def f(a):\n",
        "class A:\n  @staticmethod\n  def f(a, b):\n",
        "A.f(1)",
        "needs `b`",
    ),
    "a class method": (
        "class A:\n  @classmethod\n  def f(cls, a):\n",
        "class A:\n  @classmethod\n  def f(cls, a, b):\n",
        "A.f(1)",
        "needs `b`",
    ),
}


@pytest.mark.parametrize("case", NEW_CALLS)
def test_a_new_call_that_no_longer_fits_is_a_hazard(case, hazards_of):
    """Only the other side knows the new parameters."""
    old, new, call, problem = NEW_CALLS[case]
    body = "      return 1\n"

    (found,) = hazards_of(
        {"a.py": around(old + body, "")},
        {"a.py": around(new + body, "")},
        {"a.py": around(old + body, f"def g(x):\n    return {call}\n")},
    )

    assert (found.kind, found.features, found.path) == (CHANGED, (1, 2), "a.py")
    assert found.message.startswith("feature 2 changes the parameters of `")
    assert f"the call by feature 1 in a.py, line {found.line}, does not fit" in found.message
    assert found.message.endswith(f"` {problem}")


FITTING = {
    "a new parameter with a default": ("def f(a):\n", "def f(a, b=1):\n", "f(1)"),
    "a renamed positional parameter": ("def f(a):\n", "def f(c):\n", "f(1)"),
    "unknown arguments": ("def f(a):\n", "def f(a, b):\n", "f(*x)"),
    "unknown keywords": ("def f(a):\n", "def f(a, b):\n", "f(1, **x)"),
    "any arguments": ("def f(a):\n", "def f(*args, **kwargs):\n", "f(1, b=2)"),
    "a reordered parameter with a name": ("def f(a, b):\n", "def f(b, a):\n", "f(a=1, b=2)"),
    "a decorator that may add arguments": ("@d\ndef f(a):\n", "@d\ndef f(a, b):\n", "f(1)"),
    "a call that never fitted": ("def f(a):\n", "def f(a, b):\n", "f()"),
    "a function of the same name": ("def f(a):\n", "def f(a, b):\n", "(lambda f: f(1))(x)"),
    "a method called on its class": (
        "class A:\n  def f(self, a):\n",
        "class A:\n  def f(self, a, b):\n",
        "A.f(x, 1)",
    ),
}


@pytest.mark.parametrize("case", FITTING)
def test_a_call_that_may_fit_is_not_a_hazard(case, hazards_of):
    """What is not known to be wrong is not reported."""
    old, new, call = FITTING[case]
    body = "      return 1\n"

    found = hazards_of(
        {"a.py": around(old + body, "")},
        {"a.py": around(new + body, "")},
        {"a.py": around(old + body, f"def g(x):\n    return {call}\n")},
    )

    assert found == ()


def test_a_call_in_another_file_is_found_through_its_import(hazards_of):
    """Both files are touched, so both are read."""
    (found,) = hazards_of(
        {"pkg/a.py": "def f(a):\n    return a\n", "pkg/b.py": "x = 1\n"},
        {"pkg/a.py": "def f(a, b):\n    return a\n"},
        {"pkg/b.py": "x = 1\nfrom pkg.a import f\ny = f(\n    x\n)\n"},
    )

    assert (found.kind, found.path, found.line) == (CHANGED, "pkg/b.py", 3)


def test_what_a_resolution_drops_is_blamed_on_the_merge(hazards_of):
    """Both sides have the name, and only the merged tree lacks it."""
    (found,) = hazards_of(
        {"a.py": "import os\nx = 1\n"},
        {"a.py": "import os\nx = os.name\n"},
        {"a.py": "import os\nx = 2\n"},
        {"a.py": "x = os.name\n"},
    )

    assert found.message == "the merge removes `os` in a.py, and feature 2 uses it in a.py, line 1"


def test_a_lost_parameter_is_a_hazard(hazards_of):
    """Nothing binds its name any more, so the use is one of a global that does not exist."""
    (found,) = hazards_of(
        {"a.py": "def f(a):\n    return a\n"},
        {"a.py": "def f(a, keep):\n    return a or keep\n"},
        {"a.py": "def f(a, limit):\n    return a\n"},
        {"a.py": "def f(a, limit):\n    return a or keep\n"},
    )

    assert (found.kind, found.name, found.line) == (REMOVED, "keep", 2)
    assert found.message.startswith("with both features, nothing defines `keep`")


def test_a_name_that_was_unbound_before_is_not_a_hazard(hazards_of):
    """One side alone has the same mistake."""
    found = hazards_of(
        {"a.py": "def f(a):\n    return a\n"},
        {"a.py": "def f(a):\n    return a or keep\n"},
        {"a.py": "def f(a, limit):\n    return a\n"},
        {"a.py": "def f(a, limit):\n    return a or keep\n"},
    )

    assert found == ()


def test_a_new_call_may_be_written_like_an_old_one(hazards_of):
    """The other side changes the old call with the function."""
    base = {"a.py": around("def f(a):\n    return a\n\n\nf(1)\n", "")}
    ours = {"a.py": around("def f(a):\n    return a\n\n\nf(1)\n", "f(1)\n")}
    theirs = {"a.py": around("def f(a, b):\n    return a, b\n\n\nf(1, 2)\n", "")}

    assert kinds(hazards_of(base, ours, theirs)) == [(CHANGED, "f")]


def test_a_call_in_a_renamed_file_is_not_new(hazards_of):
    """The side that renames the file did not write the call for the old parameters."""
    caller = f"from c import f\n\n{GAP}\nf(1)\n"
    base = {"a.py": caller, "c.py": "def f(a):\n    return a\n"}
    ours = {"a.py": None, "b.py": caller}
    theirs = {"c.py": "def f(a, b):\n    return a, b\n"}

    assert hazards_of(base, ours, theirs) == ()
    assert kinds(hazards_of(base, {"b.py": caller}, theirs)) == [(CHANGED, "f")]
