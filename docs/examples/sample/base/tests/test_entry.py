"""Entries know which accounts they belong to."""

from datetime import date

import pytest

from pennybook import Entry

DAY = date(2024, 3, 1)


def test_entry_is_in_its_account_and_in_the_wider_one():
    entry = Entry(DAY, "Corner bakery", "food:bread", -450)

    assert entry.is_in("food:bread")
    assert entry.is_in("food")


def test_entry_is_not_in_an_account_that_only_starts_alike():
    assert not Entry(DAY, "Vet", "pets", -3000).is_in("pet")


@pytest.mark.parametrize("account", ["", "food:", ":bread", "food::bread"])
def test_empty_account_part_is_refused(account):
    with pytest.raises(ValueError, match="empty part"):
        Entry(DAY, "Nobody", account, 0)
