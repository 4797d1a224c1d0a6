"""Which values a memo keeps, and which it forgets."""

import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperbench_eval.support.memo import IdentityMemo, KeptValues, Memo, TextMemo


def test_an_answer_is_worked_out_once():
    """Even an empty value is computed only once."""
    memo = Memo(2)
    asked = []

    answers = [memo.recall("a", lambda: asked.append("a") or b"") for _ in range(3)]

    assert (answers, asked) == ([b""] * 3, ["a"])


def test_nothing_is_remembered_of_an_error():
    """The next call computes the value again."""
    memo = Memo(2)

    with pytest.raises(ZeroDivisionError):
        memo.recall("a", lambda: 1 // 0)

    assert memo.recall("a", lambda: 1) == 1


@given(st.integers(1, 4), st.lists(st.integers(0, 6)))
def test_it_keeps_no_more_than_it_may_and_answers_right(size, questions):
    """The values that were computed last are kept; older ones are dropped."""
    memo, kept = Memo(size), []

    for question in questions:
        fresh = object()
        answer = memo.recall(question, lambda fresh=fresh: (question, fresh))  # noqa: B023
        assert answer[0] == question
        assert (answer[1] is not fresh) == (question in kept)
        kept = (kept if question in kept else [*kept, question])[-size:]

    assert list(memo._values) == kept


@given(st.integers(0, 9), st.lists(st.binary(max_size=4)))
def test_a_memo_of_texts_keeps_no_more_bytes_than_it_may(limit, texts):
    """The texts that were computed last are kept, as many as fit."""
    asked = []
    memo, kept = TextMemo(lambda text: asked.append(text) or text[::-1], max_bytes=limit), []

    for text in texts:
        count = len(asked)
        assert memo(text) == text[::-1]
        assert (len(asked) == count) == (text in kept)
        if text not in kept and len(text) <= limit:
            kept.append(text)
        while sum(map(len, kept)) > limit:
            kept.pop(0)

    assert list(memo._memo._values) == kept


def test_it_pickles_empty():
    """It can be sent to another process, without its contents."""
    memo = Memo(3)
    memo.recall("a", object)

    copy = pickle.loads(pickle.dumps(memo))  # noqa: S301 - made just above

    assert (copy._max_bytes, copy._values) == (3, {})
    assert copy.recall("a", lambda: 1) == 1


def test_it_serves_threads():
    """Threads that share a small memo get correct values."""
    memo = Memo(3)
    questions = [i % 7 for i in range(4000)]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda q: memo.recall(q, lambda: q * q), questions))

    assert answers == [q * q for q in questions]
    assert len(memo._values) <= 3


def test_equal_objects_have_their_own_values():
    """A memo by identity also keeps the objects, and is a memo by identity in a copy."""
    memo = IdentityMemo[int](4)
    one, other = [1], [1]

    assert memo.recall_for(one, id) == id(one)
    assert memo.recall_for(other, id) == id(other)
    assert memo.recall_for(one, len) == id(one)
    assert any(thing is other for thing, _ in memo._values.values())
    assert isinstance(pickle.loads(pickle.dumps(memo)), IdentityMemo)  # noqa: S301 - our own


def test_caches_belong_to_their_object():
    """Each object has its own cache of each kind."""
    one, other = KeptValues(), KeptValues()

    one.one(dict)["a"] = 1

    assert (one.one(dict), one.one(list), other.one(dict)) == ({"a": 1}, [], {})


def test_the_objects_used_last_keep_their_caches():
    """However many objects a program holds, the caches of eight at most are in memory."""
    held = [KeptValues() for _ in range(20)]
    first = held[0].one(dict)
    for each in held:
        each.one(dict)
        used_again = held[0].one(dict)

    kept = [at for at, each in enumerate(held) if each._values]

    assert used_again is first
    assert kept == [0, *range(13, 20)]


def test_caches_end_with_their_object():
    """Objects that are gone are not kept alive by their caches."""

    class Witness(dict):
        alive = 0

        def __init__(self):
            Witness.alive += 1

        def __del__(self):
            Witness.alive -= 1

    for _ in range(100):
        KeptValues().one(Witness)
    gc.collect()

    assert Witness.alive == 0
