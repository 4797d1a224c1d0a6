"""One line of a book."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Entry:
    """Money that came in or went out on one day.

    Attributes:
        day: When it happened.
        payee: Who paid or was paid.
        account: What it was for, such as ``food:bread``.
        amount: Cents; negative when money went out.
    """

    day: date
    payee: str
    account: str
    amount: int

    def __post_init__(self) -> None:
        """Refuse an account name with an empty part."""
        if not all(part.strip() for part in self.account.split(":")):
            raise ValueError(f"account has an empty part: {self.account!r}")

    def is_in(self, account: str) -> bool:
        """Whether the entry belongs to *account* or to an account below it."""
        return self.account == account or self.account.startswith(account + ":")
