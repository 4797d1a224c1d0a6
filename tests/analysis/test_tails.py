"""The tails of the three distributions, against exact arithmetic, SciPy and statsmodels."""

import math
import time
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from needs import need_package

from cooperbench_eval.analysis.intervals import mcnemar, student, wilson

CONFIDENCES = st.floats(0.01, 0.9999) | st.sampled_from([0.5, 0.9, 0.95, 0.99])


@given(st.integers(0, 400), st.integers(0, 400))
@example(0, 0)
@example(0, 1)
@example(0, 5000)  # the probability is less than the smallest number
@example(2499, 2501)
def test_mcnemars_test_is_exact(first, second):
    """The p-value is the sum of the binomial coefficients, computed with whole numbers."""
    fewer, total = min(first, second), first + second
    as_uneven = 2 * sum(math.comb(total, k) for k in range(fewer + 1))
    expected = min(1.0, float(Fraction(as_uneven, 2**total)))

    assert mcnemar(fewer, total) == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize("total", [9_999, 10_000, 10_001, 10_002])
def test_mcnemars_test_is_the_same_with_logarithms(total):
    """They begin at ten thousand disagreements; here they are compared with whole numbers."""
    for fewer in (4_500, 4_900, total // 2 - 1):
        term = as_uneven = math.comb(total, fewer)
        for k in range(fewer, 0, -1):
            term = term * k // (total - k + 1)
            as_uneven += term
        expected = float(Fraction(2 * as_uneven, 2**total))
        assert mcnemar(fewer, total) == pytest.approx(expected, rel=1e-9, abs=0)
    assert mcnemar(0, total) == 0


def test_mcnemars_test_is_quick_with_a_million_disagreements():
    """Whole numbers would take many seconds; the normal distribution is close to the answer."""
    started = time.process_time()
    found = mcnemar(499_000, 10**6)

    assert time.process_time() - started < 1
    assert found == pytest.approx(math.erfc(1999 / 2 / math.sqrt(10**6 / 2)), rel=1e-3)


def test_mcnemars_test_is_scipys_with_many_disagreements():
    """These are more than the pairs of any benchmark."""
    stats = need_package("scipy.stats")

    for total in (1001, 20_000, 100_000):
        for fewer in (total // 3, total // 2 - 500, total // 2 - 3, total // 2):
            expected = stats.binomtest(fewer, total, 0.5).pvalue
            assert mcnemar(fewer, total) == pytest.approx(expected, rel=1e-8)


@given(st.integers(1, 3000), CONFIDENCES)
@example(1, 1 - 1e-9)
@example(2, 1 - 1e-9)
@example(30, 1 - 1e-9)
@example(50_000, 0.95)
@example(50_001, 0.95)
@example(50_000, 1e-9)
def test_students_interval_is_scipys(free, confidence):
    """With few and many degrees of freedom, odd and even, from narrow to wide."""
    stats = need_package("scipy.stats")

    # In the upper tail, both are as precise as the difference to 1 in their argument.
    precision = 1e-10 + 1e-15 / (1 - confidence)
    expected = stats.t.ppf((1 + confidence) / 2, free)
    assert student(confidence, free) == pytest.approx(expected, rel=precision, abs=1e-14)


@given(CONFIDENCES)
@example(1e-9)
@example(1 - 1e-9)
def test_students_interval_with_few_degrees_of_freedom_is_known(confidence):
    """With one degree of freedom, `P(|T| < t) = 2 atan(t) / pi`; with two, `t / sqrt(2 + t²)`."""
    precision = 1e-12 + 1e-15 / (1 - confidence)
    one = math.tan(math.pi * confidence / 2)
    two = confidence * math.sqrt(2 / (1 - confidence**2))

    assert student(confidence, 1) == pytest.approx(one, rel=precision)
    assert student(confidence, 2) == pytest.approx(two, rel=precision)


@given(st.integers(3, 2000), CONFIDENCES)
def test_students_interval_narrows_with_more_degrees_of_freedom(free, confidence):
    """It approaches that of the normal distribution from above."""
    normal = student(confidence, 1_000_000)

    assert normal < student(confidence, free + 1) < student(confidence, free)


def test_students_interval_is_the_one_in_tables():
    """At 95%, as any book prints it."""
    printed = {1: 12.706, 2: 4.303, 5: 2.571, 10: 2.228, 30: 2.042, 100: 1.984, 1000: 1.962}

    assert {free: round(student(0.95, free), 3) for free in printed} == printed


@given(st.integers(0, 10**6), st.integers(0, 10**6), CONFIDENCES)
@example(0, 1, 0.999999)
@example(1, 0, 0.999999)
def test_wilsons_interval_is_statsmodels(count, rest, confidence):
    """With few and many, none and all."""
    total = count + rest
    if not total:
        return
    proportion = need_package("statsmodels.stats.proportion")

    expected = proportion.proportion_confint(count, total, 1 - confidence, method="wilson")
    assert wilson(count, total, confidence) == pytest.approx(expected, abs=1e-12, rel=1e-9)
