"""The law of files that are no plain text."""

from typing import Final

from cooperbench_eval.models import Entry
from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.outcomes import broken
from cooperbench_eval.testing.strategy_laws.law import StrategyLaw
from cooperbench_eval.testing.strategy_trial import StrategyTrial

__all__ = ["LAWS"]


def _survives_odd_files(trial: StrategyTrial, case: MergeCase) -> None:
    given = case.fresh_input()
    outcome = trial.merge(case, given)
    left = {conflict.path for conflict in outcome.conflicts}
    told_lf = {conflict.path for conflict in given.conflicts if conflict.newline == b"\n"}
    for path, entry in outcome.changes.items():
        versions = [v.data for v in _versions(case, path) if v and v.mode.is_regular]
        if not entry or not entry.mode.is_regular or path in left or not versions:
            continue
        strange = {byte for byte in entry.data if byte > 127} - set(b"".join(versions))  # noqa: PLR2004 - ASCII ends
        if strange:
            wanted = f"no bytes in {path!r} that no version has, as {bytes(sorted(strange))!r} are"
            raise broken(case, came=outcome, wanted=wanted)
        wants_crlf = path not in told_lf and all(map(_is_crlf, versions))
        if wants_crlf and not _is_crlf(entry.data):
            wanted = f"{path!r} with \\r\\n at the end of lines, as in all versions"
            raise broken(case, came=outcome, wanted=wanted)


def _versions(case: MergeCase, path: str) -> list[Entry | None]:
    """Return a path's entries before and after; of a file that is moved, all there are."""
    old = case.base.get(path)
    found = [old, case.ours.get(path, old), case.theirs.get(path, old)]
    if None in (*case.ours.values(), *case.theirs.values()):
        found += [case.base.get(other) for other in case.base.paths()]
        found += [*case.ours.values(), *case.theirs.values()]
    return found


def _is_crlf(data: bytes) -> bool:
    return b"\n" not in data.replace(b"\r\n", b"")


LAWS: Final[tuple[StrategyLaw, ...]] = (
    StrategyLaw(
        name="survival",
        asks="Binary, CR LF, Latin-1 and empty files, odd names and links come through.",
        cases="odd_cases",
        check=_survives_odd_files,
    ),
)
