"""Addresses of pairs, and names that are cut."""

from hypothesis import example, given
from hypothesis import strategies as st

from cooperbench_eval.presentation.page.embedding import Addresses, address_of, shortened
from cooperbench_eval.reporting.identity import PairId

# Names that are easily confused once they are joined.
NAMES = st.text(alphabet="a1-:~%&=\\u_ \ud800é", max_size=4)
CLICK = {"repo_name": "click", "task_id": 1, "features": (1, 2)}
PAIRS = st.builds(
    PairId,
    repo_name=NAMES,
    task_id=st.integers(0, 20),
    features=st.tuples(st.integers(0, 20), st.integers(0, 20)),
    model=st.none() | NAMES,
    setting=st.none() | NAMES,
    k=st.integers(1, 12),
)


@given(PAIRS, PAIRS)
@example(PairId(**CLICK), PairId(**CLICK, model=""))
@example(PairId(**CLICK, model=""), PairId(**CLICK, setting=""))
def test_different_pairs_have_different_addresses(one, two):
    """An address holds no character that separates the filters or that browsers change."""
    addresses = [address_of(each) for each in (one, two)]

    assert (addresses[0] == addresses[1]) == (one == two)
    assert all(each.isascii() and not set(each) & set("&=#<> ") for each in addresses)


def test_an_address_does_not_depend_on_other_pairs():
    """Only a second report of the same pair and try gets a number."""
    pairs = [PairId(repo_name="r", task_id=n, features=(1, 2)) for n in (3, 1, 3)]
    found = Addresses()

    assert [found.add(each) for each in pairs] == ["r-3-1-2:k1", "r-1-1-2:k1", "r-3-1-2:k1~2"]


def test_a_very_long_address_ends_in_a_digest():
    """Names that differ only at their end stay different."""
    pairs = [
        PairId(repo_name="r" * 100_000 + end, task_id=1, features=(1, 2)) for end in ("a", "b")
    ]
    addresses = {address_of(each) for each in pairs}

    assert len(addresses) == 2
    assert all(len(each) < 200 for each in addresses)


@given(st.text(max_size=30), st.integers(1, 20))
def test_a_name_keeps_its_start_and_its_end(text, limit):
    """A short one is not changed."""
    cut = shortened(text, limit)

    assert len(cut) == min(len(text), limit)
    if len(text) > limit:
        start, _, end = cut.partition("…") if "…" not in text else (text[0], "", text[-1])
        assert text.startswith(start)
        assert text.endswith(end)
    else:
        assert cut == text
