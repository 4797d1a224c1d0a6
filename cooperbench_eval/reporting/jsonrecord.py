"""`JsonRecord`: the base class of every record that is written as JSON and read from it."""

from typing import Any, ClassVar, Self

from cooperbench_eval.support.arguments import checked


class JsonRecord:
    """A record that is written as JSON and read from it.

    The code that converts it is imported when it is first needed, not by the record's module.
    """

    __slots__ = ()

    _kind: ClassVar[str]
    """What the record is, in a file's key `kind`."""

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON values, facts that follow from it included.

        Text that is not UTF-8 becomes `{"base64": …}`.
        """
        from cooperbench_eval.reporting.serialization import dump  # noqa: PLC0415

        return dump(self, self._kind)

    def to_json(self) -> str:
        """Return the record as JSON text; `from_json` gives an equal record."""
        from cooperbench_eval.reporting.serialization import dumps  # noqa: PLC0415

        return dumps(self.to_dict())

    @classmethod
    @checked(data=None)
    def from_dict(cls, data: object) -> Self:
        """Read a record from plain JSON values, as `from_json` does from text.

        Raises:
            ReportError: The values are not such a record, contradict each other, or have a
                newer schema.
        """
        from cooperbench_eval.reporting.serialization import load  # noqa: PLC0415

        return load(data, cls, cls._kind)

    @classmethod
    @checked
    def from_json(cls, text: str | bytes) -> Self:
        """Read a record from JSON text; keys that this version does not know are ignored.

        Raises:
            ReportError: The text is not such a record, contradicts itself, or has a newer
                schema.
        """
        from cooperbench_eval.reporting.serialization import parse_json  # noqa: PLC0415

        return cls.from_dict(parse_json(text))
