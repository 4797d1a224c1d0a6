"""A file of any format: a JSON object, whose values are read as records."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from attrs import field, frozen, validators

from cooperbench_eval.errors import ReportError
from cooperbench_eval.reporting.cooperbench_results import CooperBenchResult
from cooperbench_eval.support.json_records import Converter, make_converter, parse_json, structure

__all__ = ["Document", "Merge", "is_count", "reason"]

_UNFIT: Final = "is not an evaluation"
_UNSAID: Final = "an error without a message"

_Shape = TypeVar("_Shape")

is_count = validators.ge(0)


def _unless_null(word: str | None) -> str | None:
    """Return *word*, or `None` for `null`, which a script of CooperBench writes as text."""
    return None if word == "null" else word


@frozen(kw_only=True)
class Merge:
    """What a file says about the merge, in its own words."""

    status: str | None = field(default=None, converter=_unless_null)
    strategy: str | None = field(default=None, converter=_unless_null)


def _make_converter() -> Converter:
    converter = make_converter()
    converter.register_structure_hook(int, _whole_number)
    return converter


def _whole_number(value: object, _: object) -> int:
    if type(value) is int:
        return value
    raise ValueError(f"expected a whole number, found {value!r:.100}")


_CONVERTER: Final = _make_converter()


@frozen
class Document:
    """A JSON object and the file that it is from."""

    values: dict[str, Any]
    file: Path

    @classmethod
    def in_file(cls, file: Path) -> Self:
        """Read a file.

        Raises:
            ReportError: The file cannot be read, or holds no JSON object.
        """
        try:
            text = file.read_bytes()
        except OSError as exc:
            raise ReportError(f"cannot be read ({exc.strerror})", str(file)) from exc
        values = parse_json(text, str(file))
        if not isinstance(values, dict):
            raise ReportError(f"{_UNFIT}: it is not a JSON object", str(file))
        return cls(values, file)

    def read(self, kind: type[_Shape], key: str = "") -> _Shape:
        """Read the whole object, or the value under *key*, as a record."""
        value = self.values.get(key) if key else self.values
        path = f"$.{key}" if key else "$"
        return structure(_CONVERTER, value, kind, _UNFIT, location=str(self.file), path=path)

    def error(self, problem: str) -> ReportError:
        """Return the error that says why this is not an evaluation."""
        return ReportError(f"{_UNFIT}: {problem}", str(self.file))

    def features(self, *numbers: int) -> tuple[int, ...]:
        """Return *numbers* if they can be the features that agents worked on."""
        if len(set(numbers)) < max(2, len(numbers)) or min(numbers) < 0:
            raise self.error(f"features are {numbers}, not two or more different numbers")
        return numbers

    def require_keys(self, values: Mapping[str, Any], known: AbstractSet[str]) -> None:
        """Reject a file with other keys, because they may hold further features' results."""
        if unknown := sorted(values.keys() - known):
            raise self.error(
                f"it has {', '.join(map(repr, unknown))}; no known format has results of more "
                "than two features"
            )

    def evaluation(self, features: tuple[int, ...], **facts: Any) -> CooperBenchResult:
        """Return an evaluation; what is not among the *facts* is unknown."""
        unknown: dict[str, Any] = {
            "merge_status": None,
            "merge_strategy": None,
            "apply_status": {},
            "passed_tests": dict.fromkeys(features),
            "failed_tests": dict.fromkeys(features),
            "error": "",
            "evaluated_at": "",
        }
        return CooperBenchResult(features=features, path=self.file, **unknown | facts)


def reason(error: str | None) -> str:
    """Return why there is no answer; an exception without a message is an error, too."""
    return "" if error is None else error.strip() or _UNSAID
