"""Records the public names, so that reviewers see each change of them.

    python docs/tools/public_api.py           # writes the record, and prints what changed
    python docs/tools/public_api.py --check   # only prints, and fails on a change

The record is one stub for each public module, under `tests/api/`. It contains what griffe
finds for the names in the module's `__all__` or `__init__.pyi`, and for their public members.
A module's record only names what the top level exports as well. Griffe reads the stubs again
and reports which changes can break a program. Needs `griffelib`, which the extra `test` brings.
"""

import argparse
import ast
import difflib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import griffe
from attrs import frozen

import cooperbench_eval

__all__ = ["MODULES", "Change", "find_change", "make_stub", "record_file"]

_ROOT: Final = Path(__file__).resolve().parents[2]
_INSTALLED: Final = Path(cooperbench_eval.__file__).parents[1]
_SUBMODULES: Final = (
    "analysis",
    "batch",
    "errors",
    "llm",
    "models",
    "patching",
    "plots",
    "reporting",
    "running",
    "runlogs",
    "strategies",
    "testing",
)
MODULES: Final = ("cooperbench_eval", *(f"cooperbench_eval.{name}" for name in _SUBMODULES))
_WIDTH: Final = 100
_NO_ARGUMENT: Final = "init=False"
_DECORATORS: Final = ("staticmethod", "classmethod", "property")


@frozen(kw_only=True)
class Change:
    """How a module's public names differ from their record.

    Attributes:
        breaking: Changes that may break a working program, in griffe's words.
        difference: All differences, as a unified diff of the two stubs.
    """

    breaking: tuple[str, ...]
    difference: str

    def __bool__(self) -> bool:
        return bool(self.difference)

    def __str__(self) -> str:
        told = ["breaking:", *(f"  {each}" for each in self.breaking)] if self.breaking else []
        return "\n".join([*told, self.difference])


def record_file(module: str) -> Path:
    """Return where the record of *module* is kept."""
    return _ROOT / "tests" / "api" / f"{module}.pyi"


def find_change(module: str, recorded: str, now: str) -> Change:
    """Compare two stubs of *module*."""
    old, new = (griffe.visit(module, Path(f"{module}.pyi"), text) for text in (recorded, now))
    told = (*map(_sentence, griffe.find_breaking_changes(old, new)), *_changed_values(old, new))
    lines = difflib.unified_diff(
        recorded.splitlines(), now.splitlines(), "recorded", "now", lineterm="", n=2
    )
    return Change(
        breaking=tuple(dict.fromkeys(told)),
        difference="\n".join(lines),
    )


def _changed_values(old: Any, new: Any) -> Iterator[str]:
    """Yield changes that griffe ignores: enum members with another value."""
    for name, member in old.members.items():
        other = new.members.get(name)
        if other is None or member.is_alias or other.kind is not member.kind:
            continue
        if member.is_class:
            yield from _changed_values(member, other)
        elif member.is_attribute and str(member.value) != str(other.value):
            values = f"{member.value} -> {other.value}"
            yield f"{member.canonical_path}: Attribute value was changed ({values})"


def _sentence(breakage: griffe.Breakage) -> str:
    """Describe a breakage on one line; griffe's line numbers are of a temporary stub."""
    place = breakage.obj.canonical_path
    details = breakage.as_dict()
    old, new = (_shown(details[side]) for side in ("old_value", "new_value"))
    return f"{place}: {breakage.kind.value} ({old} -> {new})"


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    name = value.get("name", value) if isinstance(value, dict) else value
    return str(name).rpartition("] ")[2]  # griffe says "[keyword only] " before an argument


# --- a module as a stub ------------------------------------------------------


def make_stub(module: str, *search_paths: Path) -> str:
    """Return the public names of *module* as a stub, sorted."""
    package, _, inside = module.partition(".")
    loaded = _loaded(package, search_paths or (_INSTALLED,))
    top = _public_objects(loaded, package)
    found = _public_objects(_target(loaded[inside]), package) if inside else top
    at_top = {each.path for each in top.values()} if inside else set()
    public = at_top | {each.path for each in found.values()}
    head = f"The public names of `{module}`; `python docs/tools/public_api.py` writes this."
    parts = [f'"""{head}"""']
    for name, each in found.items():
        is_also_at_top = each.path in at_top and top.get(name) is each
        line = f"from {package} import {name} as {name}"
        parts.append(line if is_also_at_top else "\n".join(_stub(name, each, public)))
    return "\n\n".join(parts) + "\n"


@cache
def _loaded(package: str, search_paths: tuple[Path, ...]) -> Any:
    """Read a package, which takes a second, once for all its modules."""
    return griffe.load(package, search_paths=search_paths)


def _public_objects(module: Any, package: str) -> dict[str, Any]:
    """Return what a module exports, by name: what `__all__` or its stub lists."""
    imported = [name for name, each in module.members.items() if _is_import(each, package)]
    found = {name: _target(module[name]) for name in sorted(module.exports or imported)}
    return {name: each for name, each in found.items() if not each.is_module}


def _is_import(member: Any, package: str) -> bool:
    """Return whether a module imports this member from inside *package*."""
    return bool(member.is_alias and member.target_path.startswith(f"{package}."))


def _target(found: Any) -> Any:
    return found.final_target if found.is_alias else found


def _stub(name: str, found: Any, public: set[str]) -> Iterator[str]:
    if found.is_class:
        yield from _class_stub(name, found, public)
    elif found.is_function:
        yield from _function_stub(name, found)
    else:
        yield _attribute_stub(name, found, found.annotation)


def _class_stub(name: str, found: Any, public: set[str]) -> Iterator[str]:
    bases = ", ".join(dict.fromkeys(_bases(found, public)))
    yield f"class {name}({bases}):" if bases else f"class {name}:"
    members = _members(found, public)
    is_record = _record_decorator(found) is not None
    inside: list[str] = []
    if is_record and "__init__" not in members:
        inside += _init_stub(found, members)
    for key, member in sorted(members.items()):
        if not _is_public(key, member):
            continue
        if member.is_attribute and "property" not in member.labels:
            kind = member.annotation or _kind_of_argument(member, members.get("__init__"))
            is_field = is_record and _is_field(member)
            inside.append(_attribute_stub(key, member, kind, with_value=not is_field))
        else:
            inside += _function_stub(key, member)
    yield from (f"    {line}" for line in inside or ["..."])


def _is_public(name: str, member: Any) -> bool:
    """Return whether a member is public: a special method is, `__slots__` is not."""
    if (name.startswith("__") and name.endswith("__")) or name.startswith("_repr_"):
        return bool(member.is_function)
    return not name.startswith("_") and (member.is_function or member.is_attribute)


def _members(found: Any, public: set[str]) -> dict[str, Any]:
    """Return a class's members, including those inherited from private classes."""
    members: dict[str, Any] = {}
    for base in reversed(_own_bases(found)):
        if base.path not in public:
            members |= _members(base, public)
    return members | {name: member for name, member in found.members.items() if not member.is_alias}


def _bases(found: Any, public: set[str]) -> Iterator[str]:
    """Yield a class's bases; a private base is replaced by its own bases."""
    own = {base.name: base for base in _own_bases(found)}
    for base in found.bases:
        name = str(base).rpartition(".")[2]
        if name in own and own[name].path not in public:
            yield from _bases(own[name], public)
        else:
            yield str(base)


def _own_bases(found: Any) -> list[Any]:
    return [_target(base) for base in found.resolved_bases]


def _attribute_stub(name: str, found: Any, kind: Any, *, with_value: bool = True) -> str:
    value = "" if found.value is None else str(found.value)
    annotated = name if kind is None else f"{name}: {kind}"
    if with_value and _is_literal(value):
        return f"{annotated} = {value}"
    return annotated if kind is not None else f"{name}: object"


def _kind_of_argument(attribute: Any, init: Any) -> Any:
    """Return the annotation of the argument that `__init__` stores as an attribute."""
    name = str(attribute.value)
    if init is None or not init.is_function or name not in init.parameters:
        return None
    return init.parameters[name].annotation


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return False
    return True


# --- functions ---------------------------------------------------------------


def _function_stub(name: str, found: Any) -> Iterator[str]:
    if found.is_attribute:  # a property, as griffe has it
        yield "@property"
        yield f"def {name}(self) -> {found.annotation}: ..."
        return
    yield from (f"@{label}" for label in _DECORATORS if label in found.labels)
    keyword = "async def" if "async" in found.labels else "def"
    yield from _signature(
        f"{keyword} {name}", list(_parameters(found)), str(found.returns or "object")
    )


def _signature(head: str, parameters: list[str], returns: str) -> Iterator[str]:
    """Yield a function's lines: one, or one for each parameter, so that a diff names it."""
    line = f"{head}({', '.join(parameters)}) -> {returns}: ..."
    if len(line) <= _WIDTH:
        yield line
    else:
        yield f"{head}("
        yield from (f"    {each}," for each in parameters)
        yield f") -> {returns}: ..."


def _parameters(found: Any) -> Iterator[str]:
    kinds = griffe.ParameterKind
    was_positional = had_star = False
    for each in found.parameters:
        if was_positional and each.kind is not kinds.positional_only:
            yield "/"
        was_positional = each.kind is kinds.positional_only
        if each.kind is kinds.keyword_only and not had_star:
            yield "*"
        had_star = had_star or each.kind in (kinds.var_positional, kinds.keyword_only)
        stars = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(each.kind, "")
        default = None if stars or each.default is None else str(each.default)
        yield stars + _parameter(each.name, each.annotation, default, found)
    if was_positional:
        yield "/"


def _parameter(name: str, kind: Any, default: str | None, inside: Any) -> str:
    if default is not None:
        default = ast.unparse(_Shown(inside.module).visit(ast.parse(default, mode="eval")))
    if kind is None:
        return name if default is None else f"{name}={default}"
    return f"{name}: {kind}" if default is None else f"{name}: {kind} = {default}"


class _Shown(ast.NodeTransformer):
    """Replaces private names in defaults by their values."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self._module.members.get(node.id)
        if not node.id.startswith("_") or found is None:
            return node
        found = _target(found)
        if not found.is_attribute or found.value is None:
            return node
        value = ast.parse(str(found.value), mode="eval").body
        shown: ast.expr = _Shown(found.module).visit(value)
        return shown


# --- records: what attrs makes of a class ------------------------------------


def _record_decorator(found: Any) -> dict[str, str] | None:
    """Return the options of a class's attrs decorator, `None` if it has none."""
    for decorator in found.decorators:
        call = ast.parse(str(decorator.value), mode="eval").body
        options = call.keywords if isinstance(call, ast.Call) else []
        named = call.func if isinstance(call, ast.Call) else call
        if ast.unparse(named).rpartition(".")[2] in {"define", "frozen", "mutable"}:
            return {each.arg: ast.unparse(each.value) for each in options if each.arg}
    return None


def _init_stub(found: Any, members: dict[str, Any]) -> Iterator[str]:
    """Yield the `__init__` that attrs generates, which is not in the source."""
    options = _record_decorator(found) or {}
    if options.get("init") == "False":
        return
    fields = [
        _parameter(name.lstrip("_"), member.annotation, default, member)
        for name, member in members.items()
        if member.is_attribute and _is_field(member)
        if (default := _field_default(member)) != _NO_ARGUMENT
    ]
    star = ["*"] if fields and options.get("kw_only") == "True" else []
    yield from _signature("def __init__", ["self", *star, *fields], "None")


def _is_field(member: Any) -> bool:
    if member.annotation is None or "property" in member.labels:
        return False
    if _record_decorator(member.parent) is None:  # attrs ignores what such a base annotates
        return False
    return "instance-attribute" in member.labels  # griffe has no `ClassVar`, but this


def _field_default(member: Any) -> str | None:
    """Return the default of a field's argument, or `None` if it is required."""
    if member.value is None:
        return None
    text = str(member.value)
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in {"field", "attrs.field"}:
        return text
    options = {each.arg: ast.unparse(each.value) for each in call.keywords}
    if options.get("init") == "False":
        return _NO_ARGUMENT
    if "factory" in options:
        return f"{options['factory']}()"
    return options.get("default")


def main() -> int:
    """Write or check the records; print what changed."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a change")
    is_check = parser.parse_args().check
    changed = False
    for module in MODULES:
        file, now = record_file(module), make_stub(module)
        recorded = file.read_text(encoding="utf-8") if file.exists() else ""
        change = find_change(module, recorded, now)
        if change:
            changed = True
            print(change)
        if change and not is_check:
            file.parent.mkdir(exist_ok=True)
            file.write_text(now, encoding="utf-8")
    return 1 if changed and is_check else 0


if __name__ == "__main__":
    sys.exit(main())
