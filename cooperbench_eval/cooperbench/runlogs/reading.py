"""Reads the files in the folder of a pair or team, and compares names of models."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from cooperbench_eval.errors import DatasetError, PatchError, ReportError
from cooperbench_eval.git.patching.patch import Patch, printable, read_file
from cooperbench_eval.reporting.cooperbench_results import Setting
from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.support.json_records import parse_json

MOST_RECORD: Final = 8 * 1024**2
"""The bytes of the largest record that is read; real ones have a few thousand."""


def features_in(name: str) -> tuple[int, ...]:
    """Return the numbers in a folder's name like `f1_f2`; none for other names."""
    if re.fullmatch(r"f(0|[1-9][0-9]*)(_f(0|[1-9][0-9]*))+", name) is None:
        return ()
    numbers = tuple(int(part[1:]) for part in name.split("_"))
    return numbers if len(set(numbers)) == len(numbers) else ()


def patch_files(folder: Path, setting: Setting, numbers: Iterable[int]) -> tuple[Path, ...]:
    """Return where the patch of each feature is.

    Today's runner names a patch by its feature: `f1_f3` has `agent1.patch` and
    `agent3.patch`. Some published runs name it by its agent instead, the first or the second
    of the folder's name. An `agent2.patch` in `f1_f3` shows that.
    """
    if setting is Setting.SOLO:
        return tuple(folder / "solo.patch" for _ in numbers)
    features = features_in(folder.name)
    by_agent = {feature: place for place, feature in enumerate(features, start=1)}
    only_by_agent = (each for each in by_agent.values() if each not in features)
    if not any((folder / f"agent{each}.patch").is_file() for each in only_by_agent):
        by_agent = {}
    return tuple(folder / f"agent{by_agent.get(number, number)}.patch" for number in numbers)


def read_patch(file: Path) -> Patch:
    """Read a patch; a file that cannot be parsed gives a patch that fails to apply.

    Raises:
        DatasetError: The file cannot be read.
    """
    try:
        data = read_file(file)
    except PatchError as exc:
        raise DatasetError(exc.reason, printable(file)) from exc.__cause__ or exc
    try:
        return Patch.parse(data, origin=printable(file))
    except PatchError as exc:
        return Patch.unreadable(exc)


def model_of(folder: Path, run: Path) -> str | None:
    """Return the model that the record of the agents or of the run names."""
    model = recorded(folder / "result.json", "model")
    return recorded(run / "config.json", "model") if model is None else model


def recorded(file: Path, key: str) -> str | None:
    """Return the string under *key* in a JSON file; `None` if the file is broken."""
    try:
        values = load_json(file)
    except ReportError:
        return None
    value = values.get(key) if isinstance(values, dict) else None
    return value if isinstance(value, str) else None


def load_json(file: Path, most: int = MOST_RECORD) -> Any:
    """Return what a JSON file of at most *most* bytes holds.

    Raises:
        ReportError: The file cannot be read, is larger, or is not JSON. The error names the file
            without its folder, as in a report, which does not depend on where the logs are.
    """
    try:
        text = read_file(file, most)
    except PatchError as exc:
        raise ReportError(exc.reason, file.name) from exc
    return parse_json(text, file.name)


@frozen(kw_only=True)
class Wanted(PairId):
    """The pair whose patches are wanted; its setting and model are known."""

    setting: Setting
    model: str

    @property
    def orders(self) -> tuple[tuple[int, int], ...]:
        """The orders in which folder names may list the features; the benchmark sorts them."""
        low, high = sorted(self.features)
        return (low, high), (high, low)


def letters(name: str) -> str:
    """Return *name* in lower case and without punctuation, because spellings differ in these."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
