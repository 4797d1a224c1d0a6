"""The exceptions of pennybook, all below one base."""


class PennybookError(Exception):
    """Base of everything that pennybook raises on purpose."""


class BookFormatError(PennybookError, ValueError):
    """A line of a book cannot be read.

    Attributes:
        number: Number of the line, counted from 1.
        reason: What is wrong with it.
    """

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(number, reason)
        self.number = number
        self.reason = reason

    def __str__(self) -> str:
        return f"line {self.number}: {self.reason}"


class UnknownStyleError(PennybookError, LookupError):
    """No report style has this name.

    Attributes:
        style: The name that was asked for.
        known: The names that exist.
    """

    def __init__(self, style: str, known: list[str]) -> None:
        super().__init__(style, known)
        self.style = style
        self.known = known

    def __str__(self) -> str:
        return f"no report style {self.style!r}; known: {', '.join(self.known)}"
