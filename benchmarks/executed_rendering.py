"""Writes the programs of `executed_programs` in Python, JavaScript and Go."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

from executed_programs import (
    Assign,
    Attempt,
    Box,
    Branch,
    Call,
    Choose,
    Do,
    Function,
    Option,
    Part,
    Program,
    Protect,
    Repeat,
    Return,
    Statement,
    Suite,
    Term,
)

Lines = list[str]
_NEW = re.compile(r"\$(\w+)\(")


class Renderer(ABC):
    """What the three languages share; the rest is in the subclasses."""

    indent = "    "
    comment = "// "
    end = ";"
    both = " && "
    this = "this"
    first = ""

    def __init__(self, program: Program) -> None:
        """Render one program."""
        self.program = program

    def text(self) -> str:
        """Return the whole file."""
        program = self.program
        parts = [
            self.imports(program.imports),
            self.constants(program.constants),
            [*self.table(program.table), *self.steps(program.steps)],
            *(self.box(each) for each in [program.box] if each),
            *(self.function(each) for each in program.functions),
        ]
        return "\n\n".join("\n".join(each) for each in parts if each) + "\n"

    def suite(self, suite: Suite) -> Lines:
        """Return the lines of a suite, indented."""
        return self.indented([line for each in suite.statements for line in self.statement(each)])

    def indented(self, lines: Iterable[str], depth: int = 1) -> Lines:
        """Indent lines that are not empty."""
        return [self.indent * depth + line if line else line for line in lines]

    def statement(self, each: Statement) -> Lines:
        """Return the lines of a statement."""
        note = getattr(each, "note", "")
        lines = [f"{self.comment}{note}"] if note else []
        return [*lines, *self._render(each)]

    def _render(self, each: Statement) -> Lines:
        match each:
            case Branch():
                lines = self.branch(each)
            case Repeat():
                lines = self.repeat(each)
            case Choose():
                lines = self.choose(each)
            case Attempt():
                lines = self.attempt(each)
            case Protect():
                lines = self.protect(each)
            case Assign():
                lines = [self.assign(each)]
            case Return():
                lines = [f"return {self.sum(each.terms)}{self.end}"]
            case Do():
                lines = [self.term(each.call) + self.end]
        return lines

    def assign(self, each: Assign) -> str:
        """Return an assignment."""
        value = self.sum(each.terms)
        for wrap in each.wraps:
            value = f"{wrap}({value})"
        start = self.first if each.declares else ""
        return f"{start}{self.words(each.name)} = {value}{self.end}"

    def sum(self, terms: Sequence[Term]) -> str:
        """Return a sum of terms."""
        return " + ".join(map(self.term, terms))

    def term(self, term: Term) -> str:
        """Return a term or a call."""
        if isinstance(term, str):
            return self.words(term)
        arguments = [*map(self.words, term.arguments), *self.given_options(term)]
        return self.words(f"{term.function}({', '.join(arguments)})")

    def given_options(self, call: Call) -> Lines:
        """Return the arguments that give options, as Python writes them."""
        return [f"{name}={value}" for name, value in call.options]

    def words(self, text: str) -> str:
        """Replace what stands for the object, and for the creation of an object."""
        return _NEW.sub(self.creation, text).replace("@", self.this)

    def creation(self, found: re.Match[str]) -> str:
        """Return the start of a call that makes an object."""
        return f"new {found[1]}("

    def test(self, conditions: Iterable[tuple[str, str, str]]) -> str:
        """Return the conditions of a branch."""
        return self.both.join(f"{name} {sign} {value}" for name, sign, value in conditions)

    def branch(self, each: Branch) -> Lines:
        """Return an `if` with braces."""
        lines = [f"if {self.parens(self.test(each.conditions))} {{", *self.suite(each.body)]
        if each.otherwise:
            lines += ["} else {", *self.suite(each.otherwise)]
        return [*lines, "}"]

    def parens(self, text: str) -> str:
        """Put a condition into parentheses, if the language wants that."""
        return f"({text})"

    def lists(self, opening: str, items: Sequence[str], closing: str) -> Lines:
        """Return a list in one line or in many."""
        if self.program.one_line:
            return [opening + ", ".join(items) + closing]
        return [opening, *self.indented(f"{each}," for each in items), closing]

    @abstractmethod
    def imports(self, names: Sequence[str]) -> Lines:
        """Return the imports."""

    @abstractmethod
    def constants(self, constants: Sequence[Option]) -> Lines:
        """Return the constants."""

    @abstractmethod
    def table(self, table: Sequence[Option]) -> Lines:
        """Return the table."""

    @abstractmethod
    def steps(self, steps: Sequence[str]) -> Lines:
        """Return the list of steps."""

    @abstractmethod
    def box(self, box: Box) -> Lines:
        """Return the class."""

    @abstractmethod
    def function(self, function: Function) -> Lines:
        """Return a function."""

    @abstractmethod
    def repeat(self, each: Repeat) -> Lines:
        """Return a loop."""

    @abstractmethod
    def choose(self, each: Choose) -> Lines:
        """Return a choice by the input."""

    @abstractmethod
    def attempt(self, each: Attempt) -> Lines:
        """Return what handles errors."""

    @abstractmethod
    def protect(self, each: Protect) -> Lines:
        """Return statements with a cleanup."""


class PythonRenderer(Renderer):
    """Writes Python."""

    comment = "# "
    end = ""
    both = " and "
    this = "self"

    def text(self) -> str:
        """Return the whole file, with two empty lines around functions."""
        return re.sub(r"\n\n(def |class )", r"\n\n\n\1", super().text())

    def suite(self, suite: Suite) -> Lines:
        """Return the lines of a suite, indented."""
        return super().suite(suite) or [f"{self.indent}pass"]

    def creation(self, found: re.Match[str]) -> str:
        """Return the start of a call that makes an object."""
        return f"{found[1]}("

    def imports(self, names: Sequence[str]) -> Lines:
        """Return one statement for all modules, or one for each."""
        if self.program.one_line:
            return ["import kit", f"from tools import {', '.join(names)}"]
        return ["import kit", *(f"import {name}" for name in names)]

    def constants(self, constants: Sequence[Option]) -> Lines:
        """Return assignments."""
        return [f"{name} = {value}" for name, value in constants]

    def table(self, table: Sequence[Option]) -> Lines:
        """Return a dict."""
        return self.lists("TABLE = {", [f'"{key}": {value}' for key, value in table], "}")

    def steps(self, steps: Sequence[str]) -> Lines:
        """Return a list."""
        return self.lists("STEPS = [", [f'"{each}"' for each in steps], "]")

    def box(self, box: Box) -> Lines:
        """Return the class."""
        fields = [f"self.{name} = {value}" for name, value in box.fields]
        start = ["def __init__(self):", *self.indented(fields)]
        methods = [self.function(each, method=True) for each in box.methods]
        parts = "\n\n".join("\n".join(each) for each in (start, *methods))
        return [f"class {box.name}:", *self.indented(parts.split("\n"))]

    def function(self, function: Function, *, method: bool = False) -> Lines:
        """Return a function with keyword arguments."""
        given = ["self"] if method else []
        names = [*given, "x", *(f"{name}={value}" for name, value in function.options)]
        return [f"def {function.name}({', '.join(names)}):", *self.suite(function.body)]

    def branch(self, each: Branch) -> Lines:
        """Return an `if`."""
        lines = [f"if {self.test(each.conditions)}:", *self.suite(each.body)]
        return [*lines, "else:", *self.suite(each.otherwise)] if each.otherwise else lines

    def repeat(self, each: Repeat) -> Lines:
        """Return a loop."""
        return [f"for _ in range({each.times}):", *self.suite(each.body)]

    def choose(self, each: Choose) -> Lines:
        """Return a chain of conditions, or a match."""
        if self.program.matches:
            cases = [[f"case {case.name}:", *self.suite(case.body)] for case in each.cases]
            return ["match x:", *self.indented(line for case in cases for line in case)]
        lines: Lines = []
        for case in each.cases:
            lines += [f"{'elif' if lines else 'if'} x == {case.name}:", *self.suite(case.body)]
        return lines

    def attempt(self, each: Attempt) -> Lines:
        """Return a try with handlers."""
        lines = ["try:", f"{self.indent}kit.Fetch(x)"]
        for handler in each.handlers:
            lines += [f"except kit.{handler.name}:", *self.suite(handler.body)]
        return lines

    def protect(self, each: Protect) -> Lines:
        """Return a try with a finally."""
        return ["try:", *self.suite(each.body), "finally:", *self.suite(each.cleanup)]


class JavaScriptRenderer(Renderer):
    """Writes an ECMAScript module."""

    first = "let "

    def imports(self, names: Sequence[str]) -> Lines:
        """Return one statement for all modules, or one for each."""
        start = 'import * as kit from "./kit.mjs";'
        if self.program.one_line:
            return [start, f'import {{ {", ".join(names)} }} from "./tools.mjs";']
        return [start, *(f'import * as {name} from "./{name}.mjs";' for name in names)]

    def test(self, conditions: Iterable[tuple[str, str, str]]) -> str:
        """Return the conditions of a branch."""
        signs = {"==": "===", "!=": "!=="}
        return super().test(
            (name, signs.get(sign, sign), value) for name, sign, value in conditions
        )

    def constants(self, constants: Sequence[Option]) -> Lines:
        """Return constants."""
        return [f"const {name} = {value};" for name, value in constants]

    def table(self, table: Sequence[Option]) -> Lines:
        """Return an object."""
        opening, closing = ("{ ", " };") if self.program.one_line else ("{", "};")
        return self.lists(f"const TABLE = {opening}", [f"{k}: {v}" for k, v in table], closing)

    def steps(self, steps: Sequence[str]) -> Lines:
        """Return an array."""
        return self.lists("const STEPS = [", [f'"{each}"' for each in steps], "];")

    def box(self, box: Box) -> Lines:
        """Return the class."""
        fields = [f"this.{name} = {value};" for name, value in box.fields]
        start = ["constructor() {", *self.indented(fields), "}"]
        methods = [self.function(each, method=True) for each in box.methods]
        parts = "\n\n".join("\n".join(each) for each in (start, *methods))
        return [f"class {box.name} {{", *self.indented(parts.split("\n")), "}"]

    def function(self, function: Function, *, method: bool = False) -> Lines:
        """Return a function whose options are an object's properties."""
        options = ", ".join(f"{name} = {value}" for name, value in function.options)
        names = ["x", f"{{ {options} }} = {{}}"] if options else ["x"]
        kind = "" if method else "export function " if function.name == "run" else "function "
        return [f"{kind}{function.name}({', '.join(names)}) {{", *self.suite(function.body), "}"]

    def given_options(self, call: Call) -> Lines:
        """Return an object with the options."""
        options = ", ".join(f"{name}: {value}" for name, value in call.options)
        return [f"{{ {options} }}"] if options else []

    def repeat(self, each: Repeat) -> Lines:
        """Return a loop."""
        return [f"for (let i = 0; i < {each.times}; i++) {{", *self.suite(each.body), "}"]

    def choose(self, each: Choose) -> Lines:
        """Return a switch."""
        lines: Lines = []
        for case in each.cases:
            lines += [f"case {case.name}:", *self.suite(case.body), f"{self.indent}break;"]
        return ["switch (x) {", *self.indented(lines), "}"]

    def attempt(self, each: Attempt) -> Lines:
        """Return a catch that looks at the kind of the error."""
        lines = ["try {", f"{self.indent}kit.Fetch(x);", "} catch (error) {"]
        word = "if"
        for handler in each.handlers:
            start = f"{word} (error instanceof kit.{handler.name}) {{"
            lines += self.indented([start, *self.suite(handler.body)])
            word = "} else if"
        return [*lines, *self.indented(["} else {", f"{self.indent}throw error;", "}"]), "}"]

    def protect(self, each: Protect) -> Lines:
        """Return a try with a finally."""
        return ["try {", *self.suite(each.body), "} finally {", *self.suite(each.cleanup), "}"]


class GoRenderer(Renderer):
    """Writes Go in the layout of `gofmt`, apart from spaces in arguments."""

    indent = "\t"
    end = ""
    this = "b"

    def text(self) -> str:
        """Return the whole file."""
        return "package main\n\n" + super().text()

    def assign(self, each: Assign) -> str:
        """Return an assignment or a short declaration."""
        text = super().assign(each)
        return text.replace(" = ", " := ", 1) if each.declares else text

    def parens(self, text: str) -> str:
        """Return the condition alone."""
        return text

    def creation(self, found: re.Match[str]) -> str:
        """Return the start of a call that makes an object."""
        return f"new{found[1]}("

    def imports(self, names: Sequence[str]) -> Lines:
        """Return the sorted block of imports."""
        places = [f'"fuzz/{name}"' for name in sorted(["kit", *names])]
        return ["import (", *self.indented(places), ")"]

    def constants(self, constants: Sequence[Option]) -> Lines:
        """Return a block of constants."""
        return ["const (", *self.indented(_aligned(constants, " = {}")), ")"] if constants else []

    def table(self, table: Sequence[Option]) -> Lines:
        """Return a map."""
        items = [(f'"{key}":', value) for key, value in table]
        shown = [" ".join(each) for each in items] if self.program.one_line else None
        return self.lists("var TABLE = map[string]int{", shown or _aligned(items, " {}"), "}")

    def steps(self, steps: Sequence[str]) -> Lines:
        """Return a slice."""
        return self.lists("var STEPS = []string{", [f'"{each}"' for each in steps], "}")

    def box(self, box: Box) -> Lines:
        """Return a struct, the function that makes it, and the methods."""
        fields = self.indented(_aligned([(name, "int") for name, _ in box.fields], " {}"))
        values = ", ".join(f"{name}: {value}" for name, value in box.fields)
        made = f"{self.indent}return &{box.name}{{{values}}}"
        lines = [f"type {box.name} struct {{", *fields, "}", ""]
        lines += [f"func new{box.name}() *{box.name} {{", made, "}"]
        for each in box.methods:
            lines += ["", *self.function(each, receiver=f"(b *{box.name}) ")]
        return lines

    def function(self, function: Function, *, receiver: str = "") -> Lines:
        """Return a function to which every call gives all arguments."""
        names = ["x int", *(f"{name} int" for name, _ in function.options)]
        start = f"func {receiver}{function.name}({', '.join(names)}) int {{"
        return [start, *self.suite(function.body), "}"]

    def given_options(self, call: Call) -> Lines:
        """Return a value for every option of the function."""
        given = dict(call.options)
        options = self.program.options_of(call.function)
        return [given.get(name, default) for name, default in options]

    def repeat(self, each: Repeat) -> Lines:
        """Return a loop."""
        return [f"for i := 0; i < {each.times}; i++ {{", *self.suite(each.body), "}"]

    def choose(self, each: Choose) -> Lines:
        """Return a switch."""
        return ["switch x {", *self._cases(each.cases, "case {}:"), "}"]

    def attempt(self, each: Attempt) -> Lines:
        """Return a switch over the error."""
        cases = self._cases(each.handlers, "case kit.Is(err, kit.{}):")
        rest = ["case err != nil:", f"{self.indent}panic(err)", "}"]
        return ["switch err := kit.Fetch(x); {", *cases, *rest]

    def _cases(self, parts: Iterable[Part], head: str) -> Lines:
        return [line for each in parts for line in (head.format(each.name), *self.suite(each.body))]

    def protect(self, each: Protect) -> Lines:
        """Return a deferred call, and the statements after it."""
        body = [line for inner in each.body.statements for line in self.statement(inner)]
        return ["defer func() {", *self.suite(each.cleanup), "}()", *body]


def _aligned(pairs: Iterable[Option], form: str) -> Lines:
    """Return names and values in columns."""
    found = list(pairs)
    width = max((len(name) for name, _ in found), default=0)
    return [name.ljust(width) + form.format(value) for name, value in found]


RENDERERS: dict[str, Callable[[Program], Renderer]] = {
    "python": PythonRenderer,
    "javascript": JavaScriptRenderer,
    "go": GoRenderer,
}
PATHS = {"python": "program.py", "javascript": "program.mjs", "go": "program.go"}


def render(program: Program, language: str) -> bytes:
    """Return the text of a program in a language."""
    return RENDERERS[language](program).text().encode()
