"""The record `Audit`: whose work is in a merged tree that somebody else made."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from attrs import field, frozen

from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting.jsonrecord import JsonRecord
from cooperbench_eval.reporting.landings import LeftOut, SuiteRun
from cooperbench_eval.reporting.remarks import about_dropped, about_flaky, about_reset
from cooperbench_eval.reporting.rows import UsedOptions
from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.rendering.shown import Shown
from cooperbench_eval.support.upcalls import upcall


class Fate(StrEnum):
    """What became of a feature's work in a merged tree."""

    KEPT = "kept"
    """It is there."""
    MOVED = "moved"
    """It is there, in another place or in another file."""
    CHANGED = "changed"
    """It is there in part, or in another form."""
    SUPERSEDED = "superseded"
    """It is not there, and a merge would not keep it either: another feature replaced it."""
    LOST = "lost"
    """It is not there."""


class EntryAspect(StrEnum):
    """What a feature may do to a path besides changing lines."""

    FILE = "file"
    """Add a file."""
    DELETION = "deletion"
    """Delete a file."""
    CONTENTS = "contents"
    """Change what has no lines: a binary file, the target of a link, the commit of a submodule."""
    MODE = "mode"
    """Make a file executable, or not executable."""
    NAME = "name"
    """Rename a file."""
    END = "end"
    """Only add or remove the newline at the end of a text."""


@frozen(kw_only=True, field_transformer=named_fields)
class AuditedLines:
    """Consecutive lines that a feature added or removed, and that have one fate.

    Attributes:
        fate: What became of them. A removal is `LOST` if the merged tree has the lines, or
            `SUPERSEDED` if it may have them as the work of another feature.
        first: The first line, counted from 1: of added lines in the feature's file, of removed
            lines in the base's file.
        last: The last line.
        text: The lines.
        in_conflict: Whether the features conflict there, so that somebody had to decide.
        merged_path: The file of the merged tree that has the lines, or their other form; `None`
            if there is none.
        merged_line: The first of these lines there, counted from 1.
    """

    fate: Fate = field(converter=Fate)
    first: int
    last: int
    text: bytes = field(repr=False)
    in_conflict: bool = False
    merged_path: str | None = None
    merged_line: int | None = None

    @property
    def count(self) -> int:
        """The number of lines."""
        return self.last - self.first + 1


@frozen(kw_only=True, field_transformer=named_fields)
class AuditedDefinition:
    """A function, method, class or variable that a feature adds, changes or removes.

    Attributes:
        name: Its name, after those of the classes around it.
        line: Its first line in the feature's file, counted from 1; in the base's file if the
            feature removes it.
        fate: What became of the feature's work on it.
        is_new: Whether the base has no definition of this name.
        is_removed: Whether the feature removes it.
    """

    name: str
    line: int
    fate: Fate = field(converter=Fate)
    is_new: bool = False
    is_removed: bool = False


@frozen(kw_only=True, field_transformer=named_fields)
class AuditedEntry:
    """What a feature did to a path as a whole, and what became of that.

    Attributes:
        aspect: What it did.
        fate: What became of it.
    """

    aspect: EntryAspect = field(converter=EntryAspect)
    fate: Fate = field(converter=Fate)


def _count(lines: Iterable[AuditedLines], fate: Fate | None) -> int:
    return sum(each.count for each in lines if fate is None or each.fate is fate)


@frozen(kw_only=True, field_transformer=named_fields)
class AuditedFile:
    """What became of a feature's work on one file.

    Attributes:
        feature: The feature's number.
        path: The file in the feature's tree; in the base if the feature deletes it.
        merged_path: The file in the merged tree; `None` if it has none.
        added: All lines that the feature added, in order.
        removed: All lines of the base that it removed, in order.
        definitions: The definitions that it adds, changes or removes.
        entries: What it did to the path as a whole.
    """

    feature: int
    path: str
    merged_path: str | None = None
    added: tuple[AuditedLines, ...] = field(
        default=(), converter=tuple[AuditedLines, ...], repr=False
    )
    removed: tuple[AuditedLines, ...] = field(
        default=(), converter=tuple[AuditedLines, ...], repr=False
    )
    definitions: tuple[AuditedDefinition, ...] = field(
        default=(), converter=tuple[AuditedDefinition, ...], repr=False
    )
    entries: tuple[AuditedEntry, ...] = field(default=(), converter=tuple[AuditedEntry, ...])

    @property
    def lost(self) -> tuple[AuditedLines, ...]:
        """The added lines that the merged tree lacks."""
        return tuple(each for each in self.added if each.fate is Fate.LOST)

    @property
    def restored(self) -> tuple[AuditedLines, ...]:
        """The removed lines whose removal is lost: the merged tree has them."""
        return tuple(each for each in self.removed if each.fate is Fate.LOST)

    @checked
    def added_lines(self, fate: Fate | None = None) -> int:
        """Return the number of lines that were added, or of those with one fate."""
        return _count(self.added, fate)

    @checked
    def removed_lines(self, fate: Fate | None = None) -> int:
        """Return the number of lines that were removed, or of those with one fate."""
        return _count(self.removed, fate)

    @property
    def fate(self) -> Fate:
        """What became of the work as a whole.

        It is `KEPT` if all of it is there, even if it was moved. It is `LOST` or `SUPERSEDED` if
        every part is, and otherwise `CHANGED`.
        """
        fates = set(self.fates)
        if fates <= {Fate.KEPT, Fate.MOVED}:
            return Fate.KEPT
        return next(iter(fates)) if len(fates) == 1 else Fate.CHANGED

    @property
    def fates(self) -> Iterator[Fate]:
        """The fates of all parts of the work."""
        yield from (each.fate for each in (*self.added, *self.removed))
        yield from (each.fate for each in self.entries)


@frozen(kw_only=True, field_transformer=named_fields)
class ForeignLines:
    """Consecutive lines that the merged tree adds or lacks, unlike every feature.

    Attributes:
        path: The file.
        first: The first line, counted from 1: in the merged file if it has the lines, in the
            base's if it lacks them.
        last: The last line.
        text: The lines.
        is_removed: Whether the merged tree lacks them, although no feature removes them.
    """

    path: str
    first: int
    last: int
    text: bytes = field(repr=False)
    is_removed: bool = False

    @property
    def count(self) -> int:
        """The number of lines."""
        return self.last - self.first + 1


@frozen(kw_only=True, field_transformer=named_fields)
class StrategyComparison:
    """How a merged tree differs from what a strategy makes of the features.

    Attributes:
        strategy: The strategy.
        status: How its merge ended.
        tree_id: The git tree id of its tree; `None` if it failed.
        files: The paths at which the two trees differ.
        failure: Why it failed; empty if it did not.
    """

    strategy: str
    status: MergeStatus = field(converter=MergeStatus)
    tree_id: str | None = None
    files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    failure: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether both trees are equal."""
        return self.tree_id is not None and not self.files


@frozen(kw_only=True, field_transformer=named_fields)
class Audit(Shown, JsonRecord):
    r"""Whose work is in a merged tree that somebody else made.

    Attributes:
        features: The numbers of the features, in the order in which they were merged.
        base_tree_id: The git tree id of the base.
        tree_id: The git tree id of the merged tree.
        files: What became of each feature's work on each file, by feature and path.
        foreign: The lines that belong to no feature, by path.
        foreign_files: The paths that no feature touches, and at which the merged tree differs
            from the base.
        comparisons: How the tree differs from what strategies make.
        suites: The runs of all suites on the tree.
        options: The options that were used; `None` if they are not known.
        dropped_files: The test files of the agents that the tree lacked when suites ran, sorted.
        missing: The features whose patches change nothing, apart from dropped test files.
        rejected: The features whose patches do not apply. Nothing is known of their work.
        hazards: Hints at what is wrong in the tree. They do not affect the score.

    Example:
        >>> from cooperbench_eval import Changes, Entry, Snapshot, audit
        >>> base = Snapshot.from_files({"a": b"1\n", "b": b"1\n"})
        >>> one, other = Changes({"a": Entry(b"2\n")}), Changes({"b": Entry(b"2\n")})
        >>> found = audit(base, [one, other], one)
        >>> [(each.feature, each.path) for each in found.lost_files]
        [(2, 'b')]
    """

    _kind = "audit"

    features: tuple[int, ...] = field(converter=tuple[int, ...])
    base_tree_id: str
    tree_id: str
    files: tuple[AuditedFile, ...] = field(default=(), converter=tuple[AuditedFile, ...])
    foreign: tuple[ForeignLines, ...] = field(
        default=(), converter=tuple[ForeignLines, ...], repr=False
    )
    foreign_files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    comparisons: tuple[StrategyComparison, ...] = field(
        default=(), converter=tuple[StrategyComparison, ...]
    )
    suites: tuple[SuiteRun, ...] = field(default=(), converter=tuple[SuiteRun, ...], repr=False)
    options: UsedOptions | None = field(default=None, repr=False)
    dropped_files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    missing: tuple[int, ...] = field(default=(), converter=tuple[int, ...])
    rejected: tuple[LeftOut, ...] = field(default=(), converter=tuple[LeftOut, ...])
    hazards: tuple[Hazard, ...] = field(default=(), converter=tuple[Hazard, ...], repr=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know about the audit, as sentences."""
        runs = [each.tests for each in self.suites if each.tests is not None]
        judgements = [each.judgement for each in self.suites if each.judgement is not None]
        return (
            *(f"The patch of feature {number} changes nothing." for number in self.missing),
            *about_dropped(self.dropped_files),
            *about_reset({path for run in runs for path in run.restored_files}),
            *about_flaky(id_ for each in judgements for id_ in each.flaky),
        )

    @property
    def problem(self) -> str:
        """Which patch does not apply, or why a suite has no answer; empty if neither is so."""
        for each in self.rejected:
            return f"feature {each.number} has no usable patch: {each.problem}"
        return next((run.problem for run in self.suites if run.outcome is None), "")

    @checked
    def of(self, feature: int) -> tuple[AuditedFile, ...]:
        """Return what became of a feature's work, by file."""
        return tuple(each for each in self.files if each.feature == feature)

    @checked
    def file(self, feature: int, path: str) -> AuditedFile | None:
        """Return what became of a feature's work on a file; `None` if it did not touch it."""
        return next((each for each in self.of(feature) if each.path == path), None)

    @property
    def lost_files(self) -> tuple[AuditedFile, ...]:
        """The files in which all work of a feature is lost."""
        return tuple(each for each in self.files if each.fate is Fate.LOST)

    @property
    def is_complete(self) -> bool:
        """Whether all patches apply, and no work of any feature is lost or undone."""
        return not self.rejected and all(Fate.LOST not in file.fates for file in self.files)

    @property
    def passed_suites(self) -> int:
        """The number of suites that pass."""
        return sum(run.outcome is True for run in self.suites)

    @property
    def score(self) -> float | None:
        """The share of the suites that pass; `None` if there is none, or one has no answer."""
        if not self.suites or any(run.outcome is None for run in self.suites):
            return None
        return self.passed_suites / len(self.suites)

    def reward(self) -> dict[str, float]:
        """Return how good the merged tree is, as finite numbers only.

        `reward` is 1.0 if every suite passes, and 0.0 if one fails, or if a patch changes nothing
        or does not apply. Otherwise, if a suite has no answer, there is no `reward`, because
        that says nothing about the tree.

        The other numbers grade that result. A number that is not known is left out. Flags are
        0.0 or 1.0, and rates are from 0.0 to 1.0:

        - `score`: the share of the suites that pass;
        - `features_passed`: the share of the features' own suites that pass;
        - `joint_passed` and `regression_passed`: whether these suites pass;
        - `pass_rate`: the share of the passed cases of all suites;
        - `complete`: whether no work of any feature is lost or undone;
        - `kept_lines`: the share of all added lines that are there, even if they were moved;
        - `lost_lines`, `undone_lines` and `foreign_lines`: the number of added lines that are
          lost, of removals that are undone, and of lines that belong to no feature.

        Raises:
            ReportError: No suites were given.
        """
        reward: dict[str, float] = upcall("audit_reward")(self)
        return reward
