"""A book: entries in the order in which they were written down."""

from collections.abc import Iterable, Iterator

from pennybook.entry import Entry


class Book:
    """An unchanging sequence of entries, with questions one can ask of it.

    Args:
        entries: The entries, in the order of the file.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = tuple(entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Book):
            return NotImplemented
        return self._entries == other._entries

    def __hash__(self) -> int:
        return hash(self._entries)

    def __repr__(self) -> str:
        return f"<Book of {len(self)} entries>"

    def with_entry(self, entry: Entry) -> "Book":
        """A book that holds one entry more, at its end."""
        return Book((*self._entries, entry))

    def balances(self) -> dict[str, int]:
        """Sum up every account.

        Returns:
            Cents by account, sorted by the name of the account.
        """
        sums: dict[str, int] = {}
        for entry in self._entries:
            sums[entry.account] = sums.get(entry.account, 0) + entry.amount
        return dict(sorted(sums.items()))

    def balance(self, account: str) -> int:
        """The cents that `balances` holds for *account*; 0 if it is unknown."""
        return self.balances().get(account, 0)

    def under(self, account: str) -> "Book":
        """The entries of *account* and of the accounts below it."""
        return Book(entry for entry in self._entries if entry.is_in(account))
