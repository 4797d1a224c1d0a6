"""The layout of today's runner."""

from collections.abc import Iterator
from pathlib import Path

from cooperbench_eval.errors import DatasetError
from cooperbench_eval.runlogs.choices import Setting
from cooperbench_eval.runlogs.reading import model_of
from cooperbench_eval.runlogs.wanted import Wanted, letters

__all__ = ["run_files"]


def run_files(root: Path, wanted: Wanted, run_name: str | None) -> tuple[Path, Path]:
    """Find the two files of a pair, of the run that was named or of the only one that fits.

    Raises:
        DatasetError: No run has them, several do, or it is of another model.
    """
    folder = _run_folder(root, wanted, run_name)
    recorded = _model_of(folder)
    if recorded is not None and letters(recorded) != letters(wanted.model):
        raise DatasetError(f"is a run of model {recorded!r}, not {wanted.model!r}", str(folder))
    if wanted.k != 1:
        raise DatasetError(f"this layout has no k; k={wanted.k} was asked for", str(folder))
    names = [f"agent{number}.patch" for number in wanted.numbers]
    if wanted.setting is Setting.SOLO:
        names = ["solo.patch", "solo.patch"]
    for name in names:
        if not (folder / name).is_file():
            raise DatasetError("is missing", str(folder / name))
    return folder / names[0], folder / names[1]


def _run_folder(root: Path, wanted: Wanted, run_name: str | None) -> Path:
    """Find the pair's folder: of the run that was named, or of the only one that fits."""
    runs = [root / run_name] if run_name else sorted(root.iterdir())
    found = [folder for run in runs for folder in _pair_folders(run, wanted)]
    if len(found) > 1:
        plain = letters(wanted.model)
        found = [each for each in found if letters(_model_of(each) or "") == plain] or found
    if len(found) > 1:
        listed = ", ".join(sorted(folder.relative_to(root).parts[0] for folder in found))
        raise DatasetError(f"several runs hold the pair: {listed}; pass run_name=...", str(root))
    if not found:
        first, second = wanted.numbers
        problem = (
            f"holds no patches of model {wanted.model!r}, k{wanted.k}, features {first} and "
            f"{second} of {wanted.setting.value}/{wanted.repo_name}, task {wanted.task_id}"
        )
        raise DatasetError(problem, str(root))
    return found[0]


def _pair_folders(run: Path, wanted: Wanted) -> Iterator[Path]:
    task = run / wanted.setting.value / wanted.repo_name / str(wanted.task_id)
    for i, j in dict.fromkeys(wanted.orders):
        if (task / f"f{i}_f{j}").is_dir():
            yield task / f"f{i}_f{j}"
            return


def _model_of(folder: Path) -> str | None:
    return model_of(folder, folder.parents[3])
