"""The checks find the names that the real compilers find declared twice or not at all."""

import bisect
import json
import os
import random
import re
import subprocess

import pytest
from needs import need_program

from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.reading import read_source

PROGRAMS = 300


def block(chance, forms, depth=0):
    """A few random statements, some of which contain others."""
    number = chance.randrange(1, 4)
    return "\n".join(statement(chance, forms, depth) for _ in range(number))


def statement(chance, forms, depth):
    """A random statement."""
    form = chance.choice([each for each in forms if depth < 3 or "BODY" not in each])
    while "NAME" in form:
        form = form.replace("NAME", chance.choice("abcdefgh"), 1)
    while "ITEM" in form:  # in Rust, a constant is a pattern that binds nothing
        form = form.replace("ITEM", chance.choice("ABCDEFGH"), 1)
    while "FRESH" in form:
        form = form.replace("FRESH", f"f{chance.randrange(10**6)}", 1)
    while "BODY" in form:
        form = form.replace("BODY", block(chance, forms, depth + 1), 1)
    return form


def programs(forms, whole="{}"):
    """Random programs: the same ones in each run, so that a failure can be repeated."""
    chance = random.Random(8)  # noqa: S311 - no secret
    return [whole.format(block(chance, forms)) for _ in range(PROGRAMS)]


def compare(grammar, sources, verdicts):
    """Check that both verdicts agree on each program; "?" is a verdict about something else."""
    found = [bool(read_source(grammar, source.encode()).clashes) for source in sources]
    differing = [
        (source, verdict)
        for source, verdict, ours in zip(sources, verdicts, found, strict=True)
        if bool(verdict) != ours and verdict != "?"
    ]
    assert differing == []
    assert PROGRAMS // 8 < sum(found) < PROGRAMS * 7 // 8


def compare_free(grammar, sources, verdicts):
    """Check that both find the same names undeclared in each program."""
    found = [read_source(grammar, source.encode()).free & {*"abcdefgh"} for source in sources]
    differing = [
        (source, verdict, ours)
        for source, verdict, ours in zip(sources, verdicts, found, strict=True)
        if verdict != ours
    ]
    assert differing == []
    assert sum(map(len, found)) > PROGRAMS
    assert not all(found)


SCRIPT = [
    "let NAME = 1;",
    "const { NAME, x: [NAME] } = {};",
    "var NAME;",
    "var NAME;",
    "class NAME {}",
    "function FRESH(NAME, NAME) {}",
    "function FRESH(NAME) { BODY }",
    "(NAME => { BODY });",
    "(NAME => NAME => { BODY });",
    "({ FRESH(NAME) { BODY }, FRESH: ({ NAME }) => { BODY } });",
    "{ BODY }",
    "if (x) { BODY } else { BODY }",
    "for (let NAME = 1; ;) { BODY }",
    "for (const NAME of x) { BODY }",
    "for (var NAME in x) { BODY }",
    "try { BODY } catch (NAME) { BODY }",
    "switch (x) { case FRESH: BODY\ncase FRESH: BODY }",
    "while (x) { BODY }",
    "x(function NAME() { BODY });",
    "class FRESH { FRESH(NAME) { BODY } }",
]
CHECK_SCRIPTS = """
const programs = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const verdicts = programs.map((source) => {
  try { new (require('vm').Script)(source); return ''; } catch (fault) { return fault.message; }
});
console.log(JSON.stringify(verdicts));
"""


@pytest.mark.long
def test_the_judge_agrees_with_node():
    """Strict code in a function; JavaScript lets a function have two functions of one name."""
    need_program("node")
    sources = programs(SCRIPT, '(function () {{ "use strict";\n{}\n}})();\n')

    done = subprocess.run(
        ["node", "-e", CHECK_SCRIPTS],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        check=True,
    )

    verdicts = json.loads(done.stdout)
    assert {verdict.split()[0] for verdict in verdicts if verdict} <= {"Identifier", "Duplicate"}
    compare(Grammar.JAVASCRIPT, sources, verdicts)


C = [
    "int NAME;",
    "int NAME = 1, *NAME;",
    "enum { NAME, NAME };",
    "struct FRESH { int NAME, *NAME; };",
    "int FRESH(int NAME, int NAME);",
    "{ BODY }",
    "if (x) { BODY } else { BODY }",
    "for (int NAME = 0; x;) { BODY }",
    "while (x) { BODY }",
    "switch (x) { case 1: { BODY } }",
]


@pytest.mark.long
def test_the_judge_agrees_with_gcc():
    """A function of C."""
    need_program("gcc")
    sources = programs(C, "int x;\nvoid f(int a) {{\n{}\n}}\n")

    verdicts = []
    for source in sources:
        command = ["gcc", "-fsyntax-only", "-w", "-x", "c", "-"]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        verdicts.append(done.stderr)

    words = ("rede", "conflicting", "duplicate")
    assert all(any(word in each for word in words) for each in verdicts if each)
    compare(Grammar.C, sources, verdicts)


GO = [
    "NAME := 1",
    "NAME, NAME := 1, 2",
    "NAME, _ := 1, 2",
    "var NAME, NAME int",
    "const NAME = 1",
    "type NAME int",
    "type FRESH struct { NAME, NAME int; NAME string }",
    "type FRESH interface { NAME(); NAME(NAME int) }",
    "{\nBODY\n}",
    "if NAME := 1; true {\nBODY\n} else {\nBODY\n}",
    "for NAME := range []int{} {\nBODY\n}",
    "for NAME := 1; ; {\nBODY\n}",
    "func(NAME int, NAME string) (NAME bool) {\nBODY\nreturn\n}(1, ``)",
    "var FRESH func(NAME int) = func(NAME int) {\nBODY\n}",
    "switch NAME := 1; {\ncase true:\nBODY\ndefault:\nBODY\n}",
    "switch 1 {\ncase '1', '2':\nBODY\ncase '3', '4':\nBODY\n}",
    "select {\ncase NAME := <-make(chan int):\nBODY\ndefault:\nBODY\n}",
]
CHECK_GO = """package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
)

func main() {
	var programs []string
	if err := json.NewDecoder(os.Stdin).Decode(&programs); err != nil {
		panic(err)
	}
	verdicts := [][]string{}
	for _, source := range programs {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "a.go", source, parser.SkipObjectResolution)
		if err != nil {
			panic(fmt.Sprint(err, source))
		}
		verdict := []string{}
		config := types.Config{Error: func(fault error) {
			verdict = append(verdict, fault.Error())
		}}
		config.Check("a", files, []*ast.File{file}, nil)
		verdicts = append(verdicts, verdict)
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}
"""
TOP = [
    "func NAME() {\nBODY\n}",
    "func FRESH(NAME, NAME int) {\nBODY\n}",
    "type NAME struct{ NAME, NAME int }",
    "var NAME = 1",
    "type T struct{}\nfunc (T) NAME() {}\nfunc (t *T) NAME() {\nBODY\n}",
]


TWICE = re.compile("redeclared|no new variables|duplicate|already declared|repeated on|same name")
UNKNOWN = re.compile(r"(?:undefined|undeclared name): (\w+)$")
USES = [
    "_ = NAME",
    "_ = NAME",
    "_ = func() int { return NAME }",
    "_ = func(NAME int) int { return NAME }",
    "NAME := NAME",
    "if NAME := 1; NAME > NAME {\nBODY\n} else if NAME := 1; true {\nBODY\n}",
    "for NAME, NAME := range []int{} {\nBODY\n}",
    "switch NAME := (interface{}(1)).(type) {\ncase int:\nBODY\n}",
    "{\nBODY\n}",
    "var NAME int = NAME",
    "select {\ncase NAME, NAME := <-make(chan int):\nBODY\ndefault:\nBODY\n}",
]


@pytest.fixture
def check_go(tmp_path):
    """Return what Go's type checker says about programs."""
    need_program("go")
    (tmp_path / "check.go").write_text(CHECK_GO)

    def check(sources):
        done = subprocess.run(
            ["go", "run", "check.go"],
            cwd=tmp_path,
            input=json.dumps(sources),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "GO111MODULE": "off", "GOCACHE": str(tmp_path / "cache")},
        )
        return json.loads(done.stdout)

    return check


@pytest.mark.long
def test_the_judge_agrees_with_gos_type_checker(check_go):
    """Whole files, with declarations at the top level."""
    chance = random.Random(9)  # noqa: S311 - no secret
    sources = []
    for _ in range(PROGRAMS):
        tops = [statement(chance, [each.replace("BODY", "")], 0) for each in chance.sample(TOP, 3)]
        inner = block(chance, GO, 1)
        text = "\n".join([*tops, f"func main() {{\n{inner}\n}}"])
        sources.append(f"package a\n{text}\n")

    verdicts = [
        next(filter(TWICE.search, faults), "?" if "cannot assign" in str(faults) else "")
        for faults in check_go(sources)
    ]

    compare(Grammar.GO, sources, verdicts)


@pytest.mark.long
def test_go_finds_the_same_names_undeclared(check_go):
    """A variable is visible from the statement after its declaration to the end of its block."""
    sources = programs(USES, "package a\nfunc f(a int) {{\n{}\n}}\n")

    verdicts = [
        {found[1] for each in faults if (found := UNKNOWN.search(each))}
        for faults in check_go(sources)
    ]

    compare_free(Grammar.GO, sources, verdicts)


RUST = [
    "fn NAME() { BODY }",
    "fn ITEM() { BODY }",
    "fn FRESH(NAME: u8, NAME: u8) { BODY }",
    "fn FRESH() { let NAME = 1; let NAME = |NAME: u8, NAME: u8| 1; BODY }",
    "struct ITEM { x: u8 }",
    "type ITEM = u8;",
    "const ITEM: u8 = 1;",
    "mod FRESH { BODY }",
    "use std::fmt::Error as ITEM;",
    "fn FRESH<NAME, NAME>() { BODY }",
    "trait FRESH { fn FRESH(NAME: u8); }",
    "macro_rules! NAME { () => {} }",
    "#[cfg(test)] fn NAME() {}",
    "fn FRESH(x: (u8, u8)) { match x { (NAME, 1) => 1, (2, NAME) => 2, _ => 3 }; }",
]
CODES = {"E0428", "E0415", "E0252", "E0255", "E0403"}


BINDINGS = [
    "let NAME = NAME;",
    "let NAME = 1;",
    "NAME;",
    "NAME;",
    "if let Some(NAME) = Some(NAME) { BODY } else { BODY }",
    "while let Some((NAME, _)) = None::<(u8, u8)> { BODY }",
    "match 1 { NAME if NAME > 0 => { BODY } _ => { BODY } };",
    "for NAME in 0..NAME { BODY }",
    "{ BODY };",
    "let Some(NAME) = Some(1) else { BODY return };",
    "let FRESH = |NAME: u8| NAME;",
    "(|NAME: u8| { BODY })(1);",
    "struct FRESH { NAME: u8 }",
    "loop { BODY }",
]


@pytest.fixture
def check_rust(tmp_path):
    """Return what rustc says about programs: codes and messages."""
    need_program("cargo")

    def check(sources):
        lines, first = [], []
        for i, source in enumerate(sources):
            first.append(len(lines) + 1)
            lines += [f"mod p{i} {{", *source.split("\n"), "}"]
        (tmp_path / "a.rs").write_text("\n".join(lines))
        done = subprocess.run(
            [
                *("rustc", "--edition=2021", "--crate-type=lib", "--emit=metadata"),
                *("--error-format=json", "a.rs"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        found = [[] for _ in sources]
        for row in map(json.loads, done.stderr.splitlines()):
            if row.get("code"):
                at = row["spans"][0]["line_start"]
                place = bisect.bisect(first, at) - 1
                found[place].append((row["code"]["code"], row["message"]))
        return found

    return check


@pytest.mark.long
def test_the_judge_agrees_with_rustc(check_rust):
    """Items, parameters and imports; a later variable or macro only hides a former one."""
    sources = programs(RUST)

    verdicts = [
        "".join(words for code, words in faults if code in CODES) for faults in check_rust(sources)
    ]

    compare(Grammar.RUST, sources, verdicts)


@pytest.mark.long
def test_rustc_finds_the_same_names_undeclared(check_rust):
    """A variable is visible from the statement after its declaration to the end of its block."""
    sources = programs(BINDINGS, "fn f(a: u8) {{\n{}\n}}")

    verdicts = [
        {words.split("`")[1] for code, words in faults if code == "E0425"}
        for faults in check_rust(sources)
    ]

    compare_free(Grammar.RUST, sources, verdicts)
