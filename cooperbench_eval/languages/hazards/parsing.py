"""Finds files that no longer parse."""

from collections.abc import Iterator
from functools import lru_cache

from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.versions import FileVersions, Merged
from cooperbench_eval.languages.languages import SyntaxFault, find_syntax_fault

__all__ = ["parse_errors"]


def parse_errors(merged: Merged) -> Iterator[Hazard]:
    """Yield a hazard for each file that parses in every version but the merged one."""
    first, second = merged.numbers
    for file in merged.files.values():
        if fault := _new_fault(file):
            yield Hazard(
                kind=HazardKind.PARSE_ERROR,
                path=file.path,
                line=fault.line,
                message=f"{file.path} parses with feature {first} alone and with feature "
                f"{second} alone, but not with both: {_problem(fault)}",
                features=(first, second),
            )


def _problem(fault: SyntaxFault) -> str:
    """Return the problem with its line, but without the name that the compiler was given."""
    problem = fault.problem.removesuffix(f" (<merged>, line {fault.line})")
    return problem if fault.line is None or "line" in problem else f"{problem}, line {fault.line}"


def _new_fault(file: FileVersions) -> SyntaxFault | None:
    if file.merged is None or file.merged in file.before:
        return None
    fault = _fault(file.path, file.merged)
    return None if fault and any(_fault(file.path, each) for each in file.before) else fault


_fault = lru_cache(maxsize=256)(find_syntax_fault)
