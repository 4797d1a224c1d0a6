"""Refactorings of one side are made in the other versions as well, and then merged."""

import textwrap
import time

import pytest

import cooperbench_eval as ce
from cooperbench_eval.strategies.structured.refactorings.replaying import replay

BASE = """
import os


class Editor:
    def edit(self, name):
        command = self.find()
        environ = dict(os.environ)
        process = run(command, name, environ)
        code = process.wait()
        if code != 0:
            raise ValueError(f"{command} failed with {code}")
        return code

    def other(self):
        return 1
"""
BODY = BASE[BASE.index("        command =") : BASE.index("    def other")]
MOVED = BASE.replace(
    BODY,
    """        with self.lock(name):
            return self._open(name)

    def _open(self, name):
"""
    + BODY,
)
LATER = BASE.replace("process.wait()", "process.wait(self.timeout)").replace(
    "        return code\n", "        self.count += 1\n        return code\n"
)

PART = "".join(BODY.splitlines(keepends=True)[1:4])
PATHS = "".join(
    line.replace("name", "path").replace("code =", "return")
    for line in PART.splitlines(keepends=True)
)
PART_MOVED = BASE.replace(PART, "        code = self._run(command, name)\n").replace(
    "    def other", f"    def _run(self, command, path):\n{PATHS}\n    def other"
)


def merge(base, ours, theirs, path="a.py", strategy="structured"):
    """Merge three texts; return the merged text, or `None` if a conflict is left."""
    tree, *sides = (
        ce.Snapshot.from_files({path: textwrap.dedent(each).encode()})
        for each in (base, ours, theirs)
    )
    outcome = ce.merge(tree, *(ce.Changes.between(tree, side) for side in sides), strategy=strategy)
    return None if outcome.conflicts else outcome.changes[path].data.decode()


def both_ways(base, ours, theirs, path="a.py"):
    """Merge in both directions, also with a cascade; return the one merged text."""
    found = {
        merge(base, *sides, path, strategy)
        for sides in ((ours, theirs), (theirs, ours))
        for strategy in ("structured", "cascade")
    }
    assert len(found) == 1
    return found.pop()


# --- renamed variables -----------------------------------------------------------------------


def test_a_renamed_variable_is_renamed_in_what_the_other_side_adds():
    """In statements, arguments, format strings and functions inside; not in names of arguments."""
    ours = BASE.replace("process", "child").replace("name)", "name, shell=True)", 1)
    ours = BASE.replace("process", "child").replace(", environ)", ", environ, shell=True)")
    theirs = BASE.replace(
        "        if code",
        """        if process.killed:
            log(process=process, text=f"{process.pid} {process.name}: process")
            later(lambda: self.process(process))
        if code""",
    )
    assert both_ways(BASE, ours, theirs) == ours.replace(
        "        if code",
        """        if child.killed:
            log(process=child, text=f"{child.pid} {child.name}: process")
            later(lambda: self.process(child))
        if code""",
    )


REFUSED = {
    "the new name is taken": "child = 1\n        show(child)",
    "the names of all variables are read": "show(locals(), process)",
    "a format string has strings of its own": """show(f"{process['process']}")""",
    "a function inside has a parameter of this name": "def f(process=process):\n            pass",
    "it may be the format of a value": 'show(f"{name:process}", process)',
    "a placeholder has another one inside": 'show(f"{process:{name}}", process)',
    "the string may get it by its name": 'show("{process}".format(process=process))',
    "it may be the name of a module": "from process import show\n        show(process)",
    "it is an attribute of a class": "class A:\n            process = 1\n        show(process)",
    "a function may be called": "process()",
}


@pytest.mark.parametrize("added", REFUSED.values(), ids=REFUSED)
def test_a_variable_is_renamed_only_if_all_its_uses_are_known(added):
    """Otherwise the conflict stays open."""
    ours = BASE.replace("process", "child").replace(", environ)", ", environ, shell=True)")
    theirs = BASE.replace("        code =", f"        {added}\n        code =")
    assert both_ways(BASE, ours, theirs) is None


SCRIPT = """
function edit(name, log) {
  const command = find(name);
  const process = run(command, name);
  return wait(process);
}
"""


@pytest.mark.parametrize(
    "added",
    [
        "log({process: 1}, process);",
        "log({process});",
        "log(`{process} ${process}`);",
        "log(`${show({process})}`);",
        "log('{process}', process);",
        "class A { process = 1 }",
        "process: for (const q of process) { break process; }",
    ],
)
def test_a_variable_is_not_renamed_beside_a_key_or_text(added):
    """The key or the text would change as well."""
    ours = SCRIPT.replace("process", "child").replace(", name)", ", name, true)")
    theirs = SCRIPT.replace("  return", f"  {added}\n  return")
    assert replay("a.js", tuple(map(str.encode, (SCRIPT, ours, theirs)))) is None


def test_the_name_of_a_module_is_not_renamed():
    """A variable of a function may have the name of a module that is used before it."""
    base = """
package a

import "net/url"

func f(name string) string {
\tcheck(name)
\turl := find(name)
\treturn show(url)
}
"""
    ours = base.replace("url)", "link)").replace("url := find(name)", "link := find(name, 1)")
    theirs = base.replace("\turl :=", "\tname = url.PathEscape(name)\n\turl :=")
    assert merge(base, ours, theirs, "a.go") == ours.replace(
        "\tlink :=", "\tname = url.PathEscape(name)\n\tlink :="
    )


RUST = """
fn edit(name: &str) -> i32 {
    let process = run(name);
    wait(process)
}
"""


@pytest.mark.parametrize("added", ['println!("{process}");', "process::exit(process);"])
def test_a_variable_of_rust_is_not_renamed_beside(added):
    """A string of a macro may have it, and a module may have its name."""
    ours = RUST.replace("process", "child").replace("(name)", "(name, 1)")
    theirs = RUST.replace("    wait", f"    {added}\n    wait")
    assert replay("a.rs", tuple(map(str.encode, (RUST, ours, theirs)))) is None


def test_a_field_is_not_renamed():
    """A side that sets another field has not renamed a local variable."""
    base = """
class A {
    int edit(String name) {
        process = run(name);
        return wait(name);
    }
}
"""
    ours = base.replace("process = run(name)", "child = run(name, 1)")
    theirs = base.replace("        return", "        log(process);\n        return")
    assert replay("a.java", tuple(map(str.encode, (base, ours, theirs)))) is None


VARIABLES = """
def read(text, log):
    start = text.find("(")
    seen = []
    for each in text:
        seen.append(each)
    return text[start:]
"""


@pytest.mark.parametrize(
    ("ours", "name"),
    [
        (VARIABLES.replace("start", "end").replace('"("', '")"'), "start"),
        (
            VARIABLES.replace("seen = []", "bad = []").replace(
                "seen.append(each)", "if log(each):\n            bad.append(each.x)"
            ),
            "seen",
        ),
    ],
)
def test_another_variable_is_not_a_renamed_one(ours, name):
    """It has another value, or is used for something else."""
    theirs = VARIABLES.replace("    seen", f"    log({name})\n    seen", 1)
    assert replay("a.py", tuple(map(str.encode, (VARIABLES, ours, theirs)))) is None


def test_a_variable_that_both_sides_rename_differently_stays_open():
    """Neither side's name is better than the other's."""
    ours = BASE.replace("process", "child").replace(", environ)", ", environ, shell=True)")
    theirs = BASE.replace("process", "task").replace(
        "        code =", "        log()\n        code ="
    )
    assert both_ways(BASE, ours, theirs) is None


def test_a_parameter_is_not_renamed():
    """A caller may pass it by its name."""
    ours = BASE.replace("name", "path").replace(", environ)", ", environ, shell=True)")
    theirs = BASE.replace("        code =", "        show(name)\n        code =")
    assert both_ways(BASE, ours, theirs) is None


# --- extracted functions ---------------------------------------------------------------------


def test_an_edit_follows_a_body_into_the_function_to_which_it_moved():
    """The new function gets the edits, and the old one keeps only the call."""
    assert both_ways(BASE, MOVED, LATER) == MOVED.replace(
        "process.wait()", "process.wait(self.timeout)"
    ).replace("        return code\n", "        self.count += 1\n        return code\n")


def test_an_edit_follows_a_part_of_a_body_whose_parameter_has_another_name():
    """The added statement uses the parameter's name."""
    theirs = BASE.replace(
        "environ = dict(os.environ)\n", 'environ = dict(os.environ)\n        environ["F"] = name\n'
    )
    merged = both_ways(BASE, PART_MOVED, theirs)
    assert 'environ["F"] = path\n' in merged[merged.index("def _run") :]
    assert merged.replace('        environ["F"] = path\n', "") == PART_MOVED


def test_both_sides_may_move_a_body_to_one_function():
    """What each keeps around the call is combined."""
    ours = MOVED.replace("return self._open", "self._open")
    theirs = ours.replace(
        "        with self.lock(name):\n            self", "        self.save(name)\n        self"
    )
    merged = both_ways(BASE, ours, theirs)
    assert merged == ours.replace("        with", "        self.save(name)\n        with")


SHELL = MOVED.replace(", environ)", ", environ, shell=True)")
WRITING = BASE.replace("        code =", "        self.seen[name] = process\n        code =")
NOT_MOVED = {
    "has another caller": (SHELL.replace("return 1", "return self._open(1)"), WRITING),
    "is passed on": (SHELL.replace("return 1", "return map(self._open, [])"), WRITING),
    "is decorated": (SHELL.replace("    def _open", "    @cache\n    def _open"), WRITING),
    "is called later": (SHELL.replace("return self._open", "return lambda: self._open"), WRITING),
    "gets another value": (
        SHELL.replace("        with", "        name = name.lower()\n        with"),
        WRITING,
    ),
    "gets a constant": (SHELL.replace("_open(name)", "_open('x')", 1), WRITING),
    "is skipped": (
        SHELL.replace(
            "        with", "        if name in done:\n            return 0\n        with"
        ),
        WRITING,
    ),
    "would be processed": (
        SHELL.replace("return self._open(name)", "return self._open(name) + 1"),
        BASE.replace(
            "        code =", "        if not process:\n            return 0\n        code ="
        ),
    ),
    "would leave without a result": (
        SHELL,
        BASE.replace(
            "        code =", "        if not process:\n            return\n        code ="
        ),
    ),
    "sets what the new function does not have": (
        PART_MOVED.replace(PATHS, PATHS.replace("process", "child")),
        BASE.replace("        process", "        process = 1\n        process", 1),
    ),
    "would be a generator": (
        SHELL,
        WRITING.replace("        code =", "        yield 1\n        code ="),
    ),
    "sets a variable that it did not return": (
        PART_MOVED,
        BASE.replace("        command", "        environ = {}\n        command").replace(
            "{code}", "{code}{environ}"
        ),
    ),
    "would only leave the new function": (
        SHELL.replace("return self._open(name)", "self._open(name)\n            self.end()"),
        BASE.replace(
            "        code =", "        if not process:\n            return 0\n        code ="
        ),
    ),
    "uses a new parameter of the old function": (
        SHELL,
        BASE.replace("(self, name)", "(self, name, more)").replace("wait()", "wait(more)"),
    ),
    "sets a variable that is used later": (
        PART_MOVED,
        BASE.replace("environ = dict", "environ = more = dict").replace("{code}", "{code}{more}"),
    ),
}


@pytest.mark.parametrize(("ours", "theirs"), NOT_MOVED.values(), ids=NOT_MOVED)
def test_an_edit_does_not_follow_if_it(ours, theirs):
    """It would do something else in the new function."""
    assert replay("a.py", tuple(map(str.encode, (BASE, ours, theirs)))) is None


def test_docstrings_of_both_sides_are_kept_as_one():
    """The text of both is there once; code never comes before it."""
    ours = BASE.replace(
        "    def other(self):\n",
        '    def other(self):\n        """Return a number."""\n        check()\n',
    )
    theirs = BASE.replace(
        "    def other(self):\n",
        '    def other(self):\n        """Count.\n\n        Always 1.\n        """\n',
    )
    merged = merge(BASE, ours, theirs)
    start = merged.index("    def other")
    assert (
        merged[start:]
        == '''    def other(self):
        """Return a number.

        Count.

        Always 1.
        """
        check()
        return 1
'''
    )


STUBS = "import typing as t\n\n\ndef edit(a: int, b: int = 1) -> int:\n    return a\n"


def overloads(*added):
    """Return the file with two overloads, with parameters that a side adds everywhere."""
    more = "".join(f", {each}" for each in added)
    stubs = "".join(
        f"@t.overload\ndef edit(a: {kind}, b: int = 1{more}) -> {kind}: ...\n\n\n"
        for kind in ("int", "str")
    )
    return STUBS.replace("def edit", f"{stubs}def edit").replace("= 1)", f"= 1{more})")


def test_overloads_that_both_sides_add_get_the_parameters_of_both():
    """A stub only declares parameters, so it is data."""
    merged = merge(STUBS, overloads("c: int = 2"), overloads("d: int = 3"))
    assert merged == overloads("c: int = 2", "d: int = 3")


@pytest.mark.parametrize(
    ("old", "new"), [("...", "pass; a()"), ("c: int = 2", "*c: int"), ("-> str", "-> bytes")]
)
def test_overloads_that_differ_otherwise_stay_open(old, new):
    """A body, a parameter for all others, or another type of the result."""
    ours = overloads("c: int = 2").replace(old, new, 1)
    assert merge(STUBS, ours, overloads("d: int = 3")) is None


PATHS_BASE = """
class Loader:
    def __init__(self, paths):
        if isinstance(paths, str):
            paths = [paths]
        self.paths = [str(each) for each in paths]
        self.count = 0
"""
PATHS_MOVED = """
class Loader:
    def __init__(self, paths, others=()):
        self.paths = self._listed(paths)
        self.count = 0
        self.others = list(others)

    @staticmethod
    def _listed(paths):
        if isinstance(paths, str):
            paths = [paths]
        return [str(each) for each in paths]
"""


def test_an_edit_follows_an_assignment_that_became_a_result():
    """The edited value is returned."""
    theirs = PATHS_BASE.replace(
        "        self.paths = [str(each) for each in paths]",
        "        paths = sorted(paths)\n        self.paths = [str(each[0]) for each in paths]",
    )
    assert both_ways(PATHS_BASE, PATHS_MOVED, theirs) == PATHS_MOVED.replace(
        "        return [str(each)", "        paths = sorted(paths)\n        return [str(each[0])"
    )


def test_an_edit_does_not_follow_if_the_assignment_is_not_the_last_statement_any_more():
    """What comes after it would not be done."""
    theirs = PATHS_BASE.replace(
        "        self.paths = [str(each) for each in paths]",
        "        self.paths = [str(each[0]) for each in paths]\n        paths.clear()",
    ).replace("self.count = 0", "self.count = len(self.paths)")
    assert both_ways(PATHS_BASE, PATHS_MOVED, theirs) is None


SCRIPT = """
function run(x) {
  let total = x;
  log(total);
  total = total + read(x, {});
  return total;
}
"""


@pytest.mark.parametrize("added", ["{ total: total }", "{ total }", "{ total: 1, more: total }"])
def test_a_variable_is_not_renamed_where_an_object_may_have_it_as_a_key(added):
    """In other languages than Python, a name before a colon is no variable."""
    ours = SCRIPT.replace("total", "sum").replace("return sum", "return sum + 1")
    theirs = SCRIPT.replace("  return", f"  show({added});\n  return")
    assert both_ways(SCRIPT, ours, theirs, "a.js") is None


def test_a_variable_is_renamed_in_a_script():
    """In templates, calls and comparisons; an attribute keeps its name."""
    ours = SCRIPT.replace("total", "sum").replace("return sum", "return sum + 1")
    line = "  show(`${total} total`, total.total, total > 1 ? total : 0);\n"
    theirs = SCRIPT.replace("  return", f"{line}  return")
    renamed = "  show(`${sum} total`, sum.total, sum > 1 ? sum : 0);\n"
    assert both_ways(SCRIPT, ours, theirs, "a.js") == ours.replace("  return", f"{renamed}  return")


# --- named expressions -----------------------------------------------------------------------

CALL = """
def run(editor, name, env):
    show(editor)
    child = start(path(editor, name), env=env)
    return child.wait()
"""
NAMED = CALL.replace(
    "    child = start(path(editor, name)",
    "    command = path(editor, name, quoted=True)\n    log(command)\n    child = start(command",
)


def test_an_edit_follows_an_expression_that_a_side_named():
    """The edit is made where the name gets its value; other edits of the statement stay there."""
    theirs = CALL.replace("path(editor, name)", "path(editor, str(name))")
    theirs = theirs.replace("env=env)", "env=env, shell=True)")
    merged = NAMED.replace("(editor, name, q", "(editor, str(name), q")
    assert both_ways(CALL, NAMED, theirs) == merged.replace("env=env)", "env=env, shell=True)")


NOT_NAMED = {
    "the other side has the name": CALL.replace("show(editor)", "command = show(editor)"),
    "the expression is another one": CALL.replace("path(editor, name)", "find(env)"),
    "the statement is gone": CALL.replace("    child = start(path(editor, name), env=env)\n", ""),
}


@pytest.mark.parametrize("theirs", NOT_NAMED.values(), ids=NOT_NAMED)
def test_an_expression_is_not_named_if(theirs):
    """The versions stay as they are."""
    theirs = theirs.replace("child.wait()", "child.wait(1)")
    assert replay("a.py", tuple(map(str.encode, (CALL, NAMED, theirs)))) is None


def test_an_expression_of_a_comprehension_is_not_named():
    """It is computed for each item, so its names may not be known before."""
    base = "def run(items, key):\n    return [take(find(key, items), each) for each in items]\n"
    ours = base.replace("find(key, items)", "found").replace(
        "    return", "    found = find(key, items, first=True)\n    return"
    )
    theirs = base.replace("find(key, items)", "find(each, items)")
    assert replay("a.py", tuple(map(str.encode, (base, ours, theirs)))) is None
    assert both_ways(base, ours, theirs) is None


# --- expressions that became blocks ----------------------------------------------------------

ARROW = """
function make(a) {
  const go = () =>
    isReady(a.first) &&
    a.first().then((found) => {
      show(found);
      a.end(1);
    });
  const size = (b) => count(a, b);
  a.last && a.last(go, size);
  return go;
}
"""


def conditional(text, condition="isReady(a.first)", before=""):
    """Turn the body of the first function into a block with a condition."""
    body = text[text.index("() =>") : text.index("  const size")]
    call = body[body.index("    a.first") :]
    lines = [f"    if ({condition}) {{", *before.splitlines(), *call.splitlines(), "    }"]
    inner = "\n".join(f"  {line}" if line.startswith("    a.f") else line for line in lines)
    return text.replace(body, f"() => {{\n{inner}\n  }};\n")


@pytest.mark.parametrize("path", ["a.js", "a.ts"])
def test_both_sides_may_turn_an_expression_into_a_condition(path):
    """If neither returns its value any more, their edits are made in one condition."""
    ours = conditional(ARROW, before="      a.busy = true;").replace(
        "show(found)", "show(a, found)"
    )
    theirs = conditional(ARROW, condition="isReady(a.first) && !a.asked").replace(
        "end(1)", "end(2)"
    )
    merged = both_ways(ARROW, ours, theirs, path)
    assert merged.split() == (
        ours.replace("isReady(a.first)", "isReady(a.first) && !a.asked")
        .replace("end(1)", "end(2)")
        .split()
    )


def test_a_value_that_one_side_returns_and_the_other_drops_is_not_merged():
    """Somebody may use it."""
    ours = conditional(ARROW, before="      a.busy = true;")
    theirs = ARROW.replace("isReady(a.first)", "isReady(!a.first)")
    assert both_ways(ARROW, ours, theirs, "a.ts") is None
    returning = ours.replace("a.first().then", "return a.first().then")
    theirs = conditional(ARROW, condition="isReady(a.first) && !a.asked")
    assert both_ways(ARROW, returning, theirs, "a.ts") is None


def test_an_edit_follows_a_value_into_the_block_that_returns_it():
    """The block of the other side has the value after its new statements."""
    ours = ARROW.replace(
        "(b) => count(a, b);", "(b) => {\n    log(b);\n    return count(a, b);\n  };"
    )
    theirs = ARROW.replace("count(a, b)", "count(a, b, 1)")
    assert both_ways(ARROW, ours, theirs, "a.ts") == ours.replace("count(a, b)", "count(a, b, 1)")


def test_both_sides_may_turn_a_statement_into_a_condition():
    """`a && b();` and `if (a) { b(); }` do the same, also where only the other call is edited."""
    block = "if (a.last) {\n    log(a);\n    a.last(go, size);\n  }"
    ours = ARROW.replace("a.last && a.last(go, size);", block)
    asked = "if (a.last && !a.quiet) {\n    a.last(go, size, 1);\n  }"
    theirs = ARROW.replace("a.last && a.last(go, size);", asked)
    merged = ours.replace("(a.last)", "(a.last && !a.quiet)").replace("(go, size)", "(go, size, 1)")
    assert both_ways(ARROW, ours, theirs, "a.ts") == merged
    theirs = ARROW.replace("a.last(go, size)", "a.last(go, size, 1)")
    assert both_ways(ARROW, ours, theirs, "a.ts") == ours.replace("(go, size)", "(go, size, 1)")


@pytest.mark.parametrize(
    "statement",
    [
        "a.first || a.last && a.last(go, size);",
        "x = a.last && a.last(go, size);",
        "a.last && a.last(go, size) ? go() : size();",
        "a.last && // only then\n    a.last(go, size);",
    ],
)
def test_other_expressions_do_not_become_conditions(statement):
    """A looser operator has the condition as its operand, or a comment would hide a bracket."""
    base = ARROW.replace("a.last && a.last(go, size);", statement)
    ours = ARROW.replace(
        "a.last && a.last(go, size);", "if (a.last) {\n    a.last(go, size);\n    log();\n  }"
    )
    theirs = base.replace("(go, size)", "(go(), size)")
    assert replay("a.ts", tuple(map(str.encode, (base, ours, theirs)))) is None


# --- conditions of an `else` -----------------------------------------------------------------

ELSE = """
function f(a: A, b: B) {
  if (a.first) {
    begin(a);
  } else {
    other(a, b);
  }
  end(a);
}
"""
ELSE_GO = ELSE.replace("function", "func").replace(";", "").replace(": ", " ")
ELSE_GO = f"package p\n{ELSE_GO}".replace("(a.first)", "a.first")


@pytest.mark.parametrize(("path", "base"), [("a.ts", ELSE), ("a.go", ELSE_GO)])
def test_conditions_that_both_sides_add_to_an_else_nest(path, base):
    """The one with new work in its block is around the other."""
    go = path == "a.go"
    ours = base.replace("else", "else if b.ready" if go else "else if (b.ready)")
    theirs = base.replace(
        "else {", "else if a.more {\n    log(a)" if go else "else if (a.more) {\n    log(a);"
    )
    lines = [
        "} else {",
        "if (a.more) {",
        "log(a);",
        "if (b.ready) {",
        "other(a, b);",
        "}",
        "}",
        "}",
    ]
    merged = [line.strip() for line in both_ways(base, ours, theirs, path).splitlines()]
    if go:
        lines = [line.translate(str.maketrans("", "", ";")) for line in lines]
        lines[1], lines[3] = "if a.more {", "if b.ready {"
    start = merged.index("} else {")
    assert merged[start : start + len(lines)] == lines


@pytest.mark.parametrize("condition", ["ask(b)", "await b", "(a.more = b)"])
def test_conditions_that_both_act_are_not_added_to_an_else(condition):
    """One would not be asked if the other is false."""
    ours = ELSE.replace("else", "else if (check(a))")
    theirs = ELSE.replace("else", f"else if ({condition})")
    assert both_ways(ELSE, ours, theirs, "a.ts") is None


def test_a_later_clause_belongs_to_the_conditions_before_it():
    """So a condition that is not the last is not written in another way."""
    ours = ELSE.replace("else {", "else if (b.ready) {")
    theirs = ELSE.replace("else {", "else if (a.more) {").replace(
        "b);\n  }", "b);\n  } else {\n    no(a);\n  }"
    )
    assert both_ways(ELSE, ours, theirs, "a.ts") is None


def test_a_docstring_below_a_comment_that_both_sides_remove_is_not_repeated():
    """It is the same docstring, of which one side changed the text."""
    base = '# -*- coding: utf-8 -*-\n"""Read it."""\nimport os\n'
    ours = '"""Read and write it."""\nimport os\n'
    theirs = '"""Read it."""\nimport os, sys\n'
    assert both_ways(base, ours, theirs) == ours.replace("os", "os, sys")


def test_a_docstring_does_not_come_before_the_first_line_of_a_script():
    """The first line says how to execute it."""
    base = "import os\n"
    ours = "#!/usr/bin/env python\nimport os\n"
    theirs = '"""Read it."""\nimport sys\nimport os\n'
    assert both_ways(base, ours, theirs) is None


@pytest.mark.parametrize("argument", ["log", "3"])
def test_a_call_with_only_other_arguments_gives_another_value(argument):
    """What the other side adds needs the old one."""
    base = """
def f(text, log):
    size = len(text)
    log.start()
    return text[:size]
"""
    ours = base.replace("len(text)", f"len({argument})")
    theirs = base.replace("    log", "    if size > 80:\n        return None\n    log")
    assert both_ways(base, ours, theirs) is None


def test_many_refactorings_take_little_time():
    """Lines, variables and functions are not all compared with each other."""
    lines = "".join(f"    total += get_{i}(name, total)\n" for i in range(800))
    base = f"def f(name):\n    total = 1\n{lines}    return total\n"
    ours = base.replace("total", "size")
    theirs = base.replace("    total = 1\n", "    total = 1\n    log(total)\n").replace(
        "get_7(name,", "get_7(name, 1,"
    )
    start = time.perf_counter()
    assert merge(base, ours, theirs)
    assert time.perf_counter() - start < 30


@pytest.mark.parametrize("text", ["'Return 1.'", 'u"Return 1."'])
def test_docstrings_in_other_quotes_stay_open(text):
    """The second of two strings would be no docstring."""
    ours = BASE.replace("        return 1\n", '        """Return a number."""\n        return 1\n')
    theirs = BASE.replace("        return 1\n", f"        {text}\n        return 1\n")
    assert both_ways(BASE, ours, theirs) is None
