"""Runs many small programs at once, in Python, JavaScript and Go.

A program gets the module `kit`, which records events, and modules with one function `By` each.
Every function here takes texts, and returns for each text a `Run`, or the reason why the program
does not compile or does not start.
"""

import builtins
import json
import re
import subprocess
import tempfile
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Event = tuple[str, str]
Run = tuple[tuple[tuple[Event, ...], str], ...]
"""For each input the events, and the result."""

RAISES = "raises"
"""The result if an error of `kit.Fetch` is not handled."""
FAILS = "fails"
"""The result if any other error is raised."""
ERRORS = {2: "Missing", 12: "Late", 22: "Full"}
"""The inputs for which `kit.Fetch` raises, and the kinds of these errors."""
TOOLS = {"grow": "x + 11", "trim": "x - 7", "span": "x * 3", "flip": "0 - x", "hike": "x + 100"}
WRAPS = {"Double": "x * 2", "Bump": "x + 1", "Lift": "x + 10"}
SECONDS = 300


def run_all(language: str, texts: Sequence[bytes], inputs: Sequence[int]) -> list[Run | str]:
    """Run each of the texts with all inputs; equal texts run once."""
    unique = list(dict.fromkeys(texts))
    found = dict(zip(unique, _RUNNERS[language](unique, inputs), strict=True))
    return [found[each] for each in texts]


class _Problem(Exception):  # noqa: N818 - the programs call it so
    """What `kit.Fetch` raises."""


def _python_modules(events: list[Event]) -> dict[str, types.ModuleType]:
    """Return the modules that the Python programs import."""
    kinds = {name: type(name, (_Problem,), {}) for name in ERRORS.values()}

    def record(tag: str, value: object) -> None:
        events.append((tag, str(value)))

    def fetch(x: int) -> None:
        if x in ERRORS:
            raise kinds[ERRORS[x]]

    def show(table: Mapping[str, int]) -> None:
        for key in sorted(table):
            record(key, table[key])

    def each(steps: Sequence[str]) -> None:
        for step in steps:
            record(step, 0)

    named: dict[str, Any] = {"Log": record, "Fetch": fetch, "Show": show, "Each": each}
    named |= {name: eval(f"lambda x: {text}") for name, text in WRAPS.items()}  # noqa: S307
    found = {"kit": types.ModuleType("kit"), "tools": types.ModuleType("tools")}
    vars(found["kit"]).update(named | kinds | {"Problem": _Problem})
    for name, text in TOOLS.items():
        found[name] = types.ModuleType(name)
        vars(found[name])["By"] = eval(f"lambda x: {text}")  # noqa: S307 - our own texts
    vars(found["tools"]).update({name: found[name] for name in TOOLS})
    return found


def run_python(texts: Sequence[bytes], inputs: Sequence[int]) -> list[Run | str]:
    """Run Python programs in this process."""
    events: list[Event] = []
    modules = _python_modules(events)

    def load(name: str, *_: object) -> types.ModuleType:
        return modules[name]

    def run(text: bytes) -> Run | str:
        names: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": load}}
        names["__name__"] = "program"
        try:
            exec(compile(text, "program.py", "exec"), names)  # noqa: S102 - combines our own texts
        # A wrong merge may raise anything.
        except Exception as exc:  # noqa: BLE001
            return f"{type(exc).__name__}: {exc}"
        return tuple(call(names.get("run"), x) for x in inputs)

    def call(function: Any, x: int) -> tuple[tuple[Event, ...], str]:
        events.clear()
        try:
            result = str(function(x))
        except Exception as exc:  # noqa: BLE001 - as above
            result = RAISES if isinstance(exc, _Problem) else FAILS
        return tuple(events), result

    return [run(text) for text in texts]


_KIT = """
export const events = [];
export class Problem extends Error {}
KINDS
export function Log(tag, value) { events.push([tag, String(value)]); }
export function Fetch(x) { switch (x) { CASES } }
export function Show(table) { for (const key of Object.keys(table).sort()) Log(key, table[key]); }
export function Each(steps) { for (const step of steps) Log(step, 0); }
"""
_NODE_RUNNER = """
import { readFileSync } from "node:fs";
import { events, Problem } from "./kit.mjs";
const [count, inputs] = JSON.parse(readFileSync(0, "utf8"));
const all = [];
for (let number = 0; number < count; number++) {
  try {
    const program = await import(`./p${number}.mjs`);
    if (typeof program.run !== "function") throw new Error("run is not a function");
    all.push(inputs.map((x) => {
      events.length = 0;
      let result;
      try { result = String(program.run(x)); }
      catch (error) { result = error instanceof Problem ? "raises" : "fails"; }
      return [events.slice(), result];
    }));
  } catch (error) { all.push(`${error.name}: ${error.message}`); }
}
console.log(JSON.stringify(all));
"""


def run_javascript(texts: Sequence[bytes], inputs: Sequence[int]) -> list[Run | str]:
    """Run ECMAScript modules in one node process."""
    kinds = "\n".join(f"export class {kind} extends Problem {{}}" for kind in ERRORS.values())
    cases = " ".join(f"case {x}: throw new {kind}();" for x, kind in ERRORS.items())
    function = "export function {}(x) {{ return {}; }}\n".format
    files = {f"{name}.mjs": function("By", text) for name, text in TOOLS.items()}
    files["tools.mjs"] = "".join(f'export * as {name} from "./{name}.mjs";\n' for name in TOOLS)
    files["kit.mjs"] = _KIT.replace("KINDS", kinds).replace("CASES", cases)
    files["kit.mjs"] += "".join(function(name, text) for name, text in WRAPS.items())
    files["main.mjs"] = _NODE_RUNNER
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), files)
        for number, text in enumerate(texts):
            Path(folder, f"p{number}.mjs").write_bytes(text)
        output = _output(["node", "main.mjs"], folder, json.dumps([len(texts), list(inputs)]))
    return [_run(each) for each in json.loads(output)]


_GO_KIT = """package kit
import ("fmt"; "sort")
var Events = [][2]string{}
type problem struct { kind string }
func (p *problem) Error() string { return p.kind }
var Problem = &problem{"Problem"}
KINDS
func Is(err error, kind *problem) bool {
	found, ok := err.(*problem)
	return ok && (found == kind || kind == Problem)
}
func Log(tag string, value interface{}) {
	Events = append(Events, [2]string{tag, fmt.Sprint(value)})
}
func Fetch(x int) error {
	switch x {
CASES
	}
	return nil
}
func Show(table map[string]int) {
	keys := []string{}
	for key := range table { keys = append(keys, key) }
	sort.Strings(keys)
	for _, key := range keys { Log(key, table[key]) }
}
func Each(steps []string) {
	for _, step := range steps { Log(step, 0) }
}
"""
_GO_RUNNER = """package main
import ("encoding/json"; "fmt"; "os"; "fuzz/kit")
type one struct { Events [][2]string; Result string }
func call(run func(int) int, x int) (found one) {
	kit.Events = [][2]string{}
	defer func() {
		if problem := recover(); problem != nil {
			found.Result = "fails"
			err, _ := problem.(error)
			if kit.Is(err, kit.Problem) { found.Result = "raises" }
		}
		found.Events = kit.Events
	}()
	found.Result = fmt.Sprint(run(x))
	return
}
func main() {
	all := map[string][][]interface{}{}
	for name, run := range map[string]func(int) int{RUNS} {
		for _, x := range []int{INPUTS} {
			found := call(run, x)
			all[name] = append(all[name], []interface{}{found.Events, found.Result})
		}
	}
	json.NewEncoder(os.Stdout).Encode(all)
}
"""
_DECLARED = re.compile(r"^(?:(?:func|type|var) (\w+)|\t(\w+)\s+= \S+$)", re.MULTILINE)
_GO_PROBLEM = re.compile(r"^(?:\./)?p(\d+)\.go:(\d+):\d+: (.*)$", re.MULTILINE)


def run_go(texts: Sequence[bytes], inputs: Sequence[int]) -> list[Run | str]:
    """Run Go programs in one binary; each gets names of its own in one package."""
    kinds = "\n".join(f'var {kind} = &problem{{"{kind}"}}' for kind in ERRORS.values())
    cases = "\n".join(f"\tcase {x}:\n\t\treturn {kind}" for x, kind in ERRORS.items())
    function = "func {}(x int) int {{ return {} }}\n".format
    kit = _GO_KIT.replace("KINDS", kinds).replace("CASES", cases)
    files = {"go.mod": "module fuzz\n\ngo 1.19\n"}
    files["kit/kit.go"] = kit + "".join(function(name, text) for name, text in WRAPS.items())
    for name, text in TOOLS.items():
        files[f"{name}/{name}.go"] = f"package {name}\n\n" + function("By", text)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, files)
        for number, program in enumerate(texts):
            (folder / f"p{number}.go").write_text(_renamed(program.decode(), number))
        problems = _build(folder, len(texts), inputs)
        found = json.loads(_output(["./fuzz"], name))
    return [problems.get(number) or _run(found[f"p{number}"]) for number in range(len(texts))]


def _build(folder: Path, count: int, inputs: Sequence[int]) -> dict[int, str]:
    """Build the binary without the files that do not compile; return what is wrong with them."""
    problems: dict[int, str] = {}
    while True:
        numbers = [number for number in range(count) if number not in problems]
        runs = ", ".join(f'"p{number}": run_p{number}' for number in numbers)
        main = _GO_RUNNER.replace("RUNS", runs).replace("INPUTS", ", ".join(map(str, inputs)))
        (folder / "main.go").write_text(main)
        command = ["go", "build", "-gcflags=-e -N -l", "-o", "fuzz", "."]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS
        )
        if not done.returncode:
            return problems
        found = {int(number): text for number, _, text in _GO_PROBLEM.findall(done.stderr)}
        if not found and "undefined: run_p" in done.stderr:
            lost = re.findall(r"undefined: run_p(\d+)", done.stderr)
            found = {int(number): "run is not declared" for number in lost}
        if not found:
            raise RuntimeError(done.stderr)
        for number, text in found.items():
            problems[number] = text.replace(f"_p{number}", "")
            (folder / f"p{number}.go").unlink()


def _renamed(text: str, number: int) -> str:
    """Give the names that a Go program declares an ending of their own."""
    names = {one or other for one, other in _DECLARED.findall(text)}
    if not names:
        return text
    pattern = rf'(?<![\w."])({"|".join(sorted(names))})\b(?!:)'
    return re.sub(pattern, rf"\1_p{number}", text)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)


def _output(command: Sequence[str], folder: str, given: str = "") -> str:
    done = subprocess.run(
        command, cwd=folder, input=given, capture_output=True, text=True, check=True,
        timeout=SECONDS,
    )  # fmt: skip
    return done.stdout


def _run(found: Any) -> Run | str:
    """Read what a program's run printed."""
    if isinstance(found, str):
        return found
    return tuple((tuple((tag, value) for tag, value in events), result) for events, result in found)


_RUNNERS = {"python": run_python, "javascript": run_javascript, "go": run_go}
