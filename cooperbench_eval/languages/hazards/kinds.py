"""Records of probable defects in a merged tree, found without running it."""

from enum import StrEnum

from attrs import field, frozen

from cooperbench_eval.support.arguments import named_fields


class HazardKind(StrEnum):
    """What looks wrong in a merged tree."""

    PARSE_ERROR = "parse_error"
    """A file does not parse, although it does in base, ours and theirs."""
    DECLARED_TWICE = "declared_twice"
    """A definition, type or import occurs more often than in base, ours and theirs."""
    NAME_REMOVED = "name_removed"
    """One side removes or renames a name that the other side starts to use."""
    SIGNATURE_CHANGED = "signature_changed"
    """One side changes a function's parameters, and a new call by the other no longer fits."""
    KEY_REPEATED = "key_repeated"
    """A mapping of a data file has a key more often than in base, ours and theirs."""
    SAME_PARENT = "same_parent"
    """Two sides each add a database migration, and both follow the same one."""
    SAME_NUMBER = "same_number"
    """Two sides take the next number of a list for different files, constants or flags."""
    SAME_VERSION = "same_version"
    """Two sides change a package differently, and give it the same new version."""


@frozen(kw_only=True, field_transformer=named_fields)
class Hazard:
    """A probable defect of a merged tree, found by reading it.

    A hazard is a hint. It never affects a verdict, which only tests decide.

    Attributes:
        kind: What looks wrong.
        path: The file of the merged tree in which it appears.
        line: The line in that file, counted from 1; `None` if unknown.
        name: The name that it is about; empty if it is about the whole file.
        message: What each side did, in one sentence.
        features: The numbers of the features that cause it, in ascending order.

    Example:
        >>> hazard = Hazard(
        ...     kind="name_removed",
        ...     path="src/app.py",
        ...     line=12,
        ...     name="parse_url",
        ...     message="feature 2 removes `parse_url`, which feature 1 uses in src/app.py",
        ...     features=[1, 2],
        ... )
        >>> hazard.kind, hazard.features
        (<HazardKind.NAME_REMOVED: 'name_removed'>, (1, 2))
    """

    kind: HazardKind = field(converter=HazardKind)
    path: str
    line: int | None = None
    name: str = ""
    message: str
    features: tuple[int, ...] = field(converter=tuple[int, ...])
