"""Intervals of clustered counts and shares, against statsmodels, SciPy and matrices."""

import math
import pickle
from collections import Counter
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_pairs import pair
from made_teams import team
from needs import need_package

from cooperbench_eval.analysis.comparing import compare, solved_within
from cooperbench_eval.analysis.intervals import student
from cooperbench_eval.analysis.measures import Mean
from cooperbench_eval.analysis.rates import Comparison, Rate
from cooperbench_eval.analysis.signflips import flip_test
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.errors import ArgumentError

COUNTS = st.integers(1, 45).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))
CLUSTERS = st.lists(COUNTS, min_size=1, max_size=30)


def rate_of(clusters, **options):
    """Return the clustered rate of counts and totals."""
    count, total = (sum(part) for part in zip(*clusters, strict=True))
    return Rate(count, total, clusters=clusters, **options)


@given(CLUSTERS, st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_contains_the_rate_and_is_from_0_to_1(clusters, confidence):
    """The interval holds the rate, within 0 and 1; a single cluster has no interval."""
    rate = rate_of(clusters, confidence=confidence)

    if len(clusters) == 1 < rate.total:
        assert (rate.low, rate.high, rate.effective_total) == (None, None, None)
    else:
        assert 0 <= rate.low <= rate.rate + 1e-12
        assert rate.rate - 1e-12 <= rate.high <= 1
        assert 0 < rate.effective_total <= rate.total


@given(st.integers(0, 50), st.integers(0, 50))
def test_clusters_of_one_thing_change_nothing(count, rest):
    """The interval is exactly the one of independent things."""
    plain = Rate(count, count + rest)
    clustered = Rate(count, count + rest, clusters=[(1, 1)] * count + [(0, 1)] * rest)

    assert (clustered.low, clustered.high) == (plain.low, plain.high)


def expected_total(clusters, confidence=0.95):
    """Compute the effective total from statsmodels' variance and SciPy's analysis of variance.

    The clusters are of equal size, for which statsmodels' cluster-robust variance is unbiased.
    """
    np, stats = need_package("numpy"), need_package("scipy.stats")
    ols = need_package("statsmodels.api").OLS
    values = np.concatenate([[1] * count + [0] * (total - count) for count, total in clusters])
    groups = np.repeat(range(len(clusters)), [total for _, total in clusters])
    size, whole = clusters[0][1], len(values)
    fit = ols(values, np.ones(whole)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    share = values.mean()
    robust = fit.bse[0] ** 2 / (share * (1 - share) / (whole - 1))
    f_value = stats.f_oneway(*(values[groups == group] for group in set(groups))).statistic
    alike = min(max((f_value - 1) / (f_value + size - 1), 0), 1)
    effect = max(1, robust, 1 + (size - 1) * alike)
    quantiles = [stats.t.ppf((1 + confidence) / 2, n - 1) for n in (whole, len(clusters))]
    return whole / effect * (quantiles[0] / quantiles[1]) ** 2


@given(st.integers(2, 20), st.lists(st.integers(0, 20), min_size=2, max_size=20))
def test_the_interval_has_the_design_effect_of_statsmodels(statsmodels, size, counts):
    """For clusters of equal size, the effective total and the interval are statsmodels'."""
    clusters = [(min(count, size), size) for count in counts]
    total = sum(size for _, size in clusters)
    count = sum(count for count, _ in clusters)
    # Without any variance in the clusters, the analysis of variance divides by zero.
    assume(any(0 < count < size for count, size in clusters))

    rate = rate_of(clusters)
    effective = expected_total(clusters)

    assert rate.effective_total == pytest.approx(effective)
    ends = statsmodels.proportion_confint(
        count / total * effective, effective, 0.05, method="wilson"
    )
    assert (rate.low, rate.high) == pytest.approx(ends, abs=1e-9)


@given(st.integers(2, 45), st.lists(st.booleans(), min_size=2, max_size=30))
def test_things_of_a_cluster_count_as_one_if_they_always_agree(size, ends):
    """Clusters of equal size then count as one thing each, or less if there are few clusters."""
    clusters, total = len(ends), size * len(ends)
    quantiles = student(0.95, total - 1) / student(0.95, clusters - 1)

    found = rate_of([(size * is_right, size) for is_right in ends]).effective_total

    unbiased = (total - 1) / (clusters - 1) if len(set(ends)) > 1 else size
    assert found == pytest.approx(total / unbiased * quantiles**2)
    assert found <= clusters


def test_a_rate_of_all_assumes_that_clusters_agree():
    """Nothing shows how alike the things of a cluster are, so at most the clusters are counted."""
    of_all = rate_of([(45, 45)] * 5)

    assert of_all.low < Rate(5, 5).low
    assert (of_all.high, rate_of([(0, 45)] * 5).low) == (1.0, 0.0)
    assert of_all.low == pytest.approx(1 - rate_of([(0, 45)] * 5).high)


def test_one_cluster_has_no_interval():
    """The text and the JSON say so; a cluster of one thing has Wilson's interval."""
    rate = rate_of([(8, 10)])

    assert str(rate) == "8/10 = 80.0% [no interval: one cluster]"
    plain = {"low": None, "high": None, "clusters": 1, "effective_total": None}
    assert rate.to_dict() == {"count": 8, "total": 10, "rate": 0.8} | plain
    assert rate_of([(1, 1)]).low == Rate(1, 1).low
    assert str(Rate(0, 0, clusters=[])) == "0/0"


def test_empty_clusters_do_not_count():
    """A cluster without things changes neither the interval nor the counts."""
    assert rate_of([(8, 10), (0, 0)]) == rate_of([(8, 10)])


@pytest.mark.parametrize("clusters", [[(1, 2)], [(3, 2), (0, 3)], [(-1, 2), (4, 3)]])
def test_clusters_must_add_up(clusters):
    """Counts that contradict each other are refused where they are made."""
    with pytest.raises(ValueError, match="cluster"):
        Rate(3, 5, clusters=clusters)
    with pytest.raises(ValueError, match="do not add up"):
        Comparison(both=1, only_first=0, only_second=0, neither=0, clusters=[(0, 1, 0, 0)])


def bell_and_mccaffrey(groups, values):
    """Compute the interval from the matrices that define "CR2"."""
    np, stats = need_package("numpy"), need_package("scipy.stats")
    power = need_package("scipy.linalg").fractional_matrix_power
    one, n = np.ones((len(values), 1)), len(values)
    residuals = np.array(values) - np.mean(values)
    rest = np.eye(n) - one @ one.T / n
    rows, variance = [], 0.0
    for group in sorted(set(groups)):
        place = [at for at, each in enumerate(groups) if each == group]
        block = np.real(power(rest[np.ix_(place, place)], -0.5))
        variance += (one[place].T @ block @ residuals[place]).item() ** 2 / n**2
        rows.append((one[place].T @ block @ rest[place]).ravel() / n)
    gram = np.array(rows) @ np.array(rows).T
    free = np.trace(gram) ** 2 / np.trace(gram @ gram)
    return stats.t.ppf(0.975, free) * math.sqrt(variance)


def plain_half(shares):
    """Return half the width of Student's interval."""
    np, stats = need_package("numpy"), need_package("scipy.stats")
    n = len(shares)
    return stats.t.ppf(0.975, n - 1) * np.std(shares, ddof=1) / math.sqrt(n)


SHARES = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from([0.45, 0.475, 0.5, 0.525])),
    min_size=3,
    max_size=20,
)


@given(SHARES)
def test_the_interval_of_a_mean_is_bell_and_mccaffreys(given_shares):
    """It equals the one computed with matrices, and is never narrower than Student's."""
    clusters, shares = zip(*given_shares, strict=True)
    found = Mean.of(shares, clusters=list(clusters))

    if len(set(clusters)) == 1 or len(set(shares)) == 1:
        assert (found.low, found.high) == (None, None)
        return
    half = max(bell_and_mccaffrey(clusters, shares), plain_half(shares))
    assert found.low == pytest.approx(max(found.mean - half, 0))
    assert found.high == pytest.approx(min(found.mean + half, 1))


@given(st.lists(st.sampled_from([0.45, 0.48, 0.51]), min_size=4, max_size=12))
def test_the_interval_of_a_mean_is_statsmodels(values):
    """For clusters of equal size, the interval of a mean is that of statsmodels."""
    np, ols = need_package("numpy"), need_package("statsmodels.api").OLS
    shares = [share for share in values for _ in range(3)]
    shares[0] += 0.01
    groups = np.repeat(range(len(values)), 3)

    found = Mean.of(shares, clusters=groups.tolist())

    fit = ols(shares, np.ones(len(shares))).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    low, high = fit.conf_int()[0]
    half = max((high - low) / 2, plain_half(shares))
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_shares_of_clusters_of_one_are_independent(shares):
    """The interval is Student's."""
    assert Mean.of(shares, clusters=range(len(shares))) == Mean.of(shares)


def test_each_share_needs_a_cluster():
    """Too few and too many are refused."""
    with pytest.raises(ArgumentError, match="clusters must have a cluster for each of 2 shares"):
        Mean.of([0.5, 1], clusters=[1])


@given(st.lists(st.integers(-6, 6), max_size=10))
def test_a_sign_flip_test_counts_all_flips(differences):
    """Each of the `2 ** n` sums is made and counted."""
    total = abs(sum(differences))
    sums = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]

    expected = sum(each >= total for each in sums) / len(sums)
    assert flip_test(differences) == pytest.approx(expected)


@pytest.mark.parametrize(
    "differences", [(3, 1, 2, 4, -1), (1, 1, 1, 1, 1, 1), (5, -3, 2, 2, 0, 7, -1)]
)
def test_a_sign_flip_test_is_scipys(differences):
    """SciPy's permutation test of one sample flips signs."""
    np, stats = need_package("numpy"), need_package("scipy.stats")

    expected = stats.permutation_test(
        (np.array(differences),),
        np.sum,
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=False,
    )
    assert flip_test(differences) == pytest.approx(expected.pvalue)


def test_many_flips_are_those_of_the_normal_distribution():
    """Beyond some thousand clusters, the exact distribution takes seconds."""
    few, many = [3] * 540 + [-3] * 460, [3] * 1080 + [-3] * 1020

    assert flip_test(few) == pytest.approx(flip_test([1] * 540 + [-1] * 460))
    assert flip_test(many) == pytest.approx(math.erfc(60 / math.sqrt(2 * 2100)))


def test_a_comparison_of_clusters_of_one_is_mcnemars():
    """Its rates are the same too."""
    plain = Comparison(both=5, only_first=3, only_second=12, neither=1)
    cells = [(1, 0, 0, 0)] * 5 + [(0, 1, 0, 0)] * 3 + [(0, 0, 1, 0)] * 12 + [(0, 0, 0, 1)]
    found = Comparison(both=5, only_first=3, only_second=12, neither=1, clusters=cells)

    assert found.p_value == pytest.approx(plain.p_value)
    assert found.first_rate.low == plain.first_rate.low
    assert found.second_rate.high == plain.second_rate.high


WORDS = {True: "clean ++", False: "clean +-"}


def pairs_of(**tasks):
    """Facts of pairs of some tasks, such as `click_1="++-"`, by whether naive is right."""
    return [
        pair(
            naive=WORDS[sign == "+"],
            union=WORDS[True],
            lead="applied +..",
            features=(1, 2 + number),
            facts={"repo_name": name.split("_")[0], "task_id": int(name.split("_")[1])},
        )
        for name, signs in tasks.items()
        for number, sign in enumerate(signs)
    ]


REPORTS = pairs_of(click_1="+++-", click_2="--", jinja_1="+++", jinja_2="-")


def test_a_summary_clusters_every_rate_by_task():
    """Of answers, statuses, features, cases and gold; the counts are the same as without."""
    found = summarize(REPORTS, cluster="task", gold=REPORTS, by="repo_name")
    plain = summarize(REPORTS, gold=REPORTS, by="repo_name")
    naive = found.strategies["naive"]

    by_task = [(3, 4), (0, 2), (3, 3), (0, 1)]
    assert sorted(naive.correct.clusters) == sorted(by_task)
    assert sorted(found.policies["strict"].correct.clusters) == sorted(by_task)
    assert sorted(found.clean.clusters) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert sorted(naive.features.clusters) == [(1, 2), (2, 4), (6, 6), (7, 8)]
    assert sorted(naive.cases.clusters) == [(3, 4), (6, 8), (12, 12), (15, 16)]
    assert sorted(found.features_alone.clusters) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert sorted(naive.gold.reached.clusters) == [(3, 3), (3, 3)]
    assert sorted(naive.gold.beyond.clusters) == [(0, 1), (0, 1), (0, 2)]
    assert sorted(found.groups["jinja"].strategies["naive"].correct.clusters) == [(0, 1), (3, 3)]
    assert sorted(found.comparisons["naive", "union"].clusters) == [
        (0, 0, 1, 0),
        (0, 0, 2, 0),
        (3, 0, 0, 0),
        (3, 0, 1, 0),
    ]
    assert naive.correct.low < plain.strategies["naive"].correct.low
    assert naive.verdicts == plain.strategies["naive"].verdicts
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()  # noqa: S301 - ours
    assert found.to_dict()["cluster"] == "task"


def test_a_summary_is_not_clustered_by_default():
    """No number is different, and none is added to its JSON."""
    found = summarize(REPORTS)

    assert found.strategies["naive"].correct == Rate(6, 10)
    assert found.clean == Rate(10, 10)
    assert "cluster" not in found.to_dict()
    assert set(found.clean.to_dict()) == {"count", "total", "rate", "low", "high"}


def test_a_summary_has_the_verdicts_of_each_task():
    """Whether or not it is clustered; the tasks are in the order of their names."""
    tasks = summarize(REPORTS).strategies["naive"].tasks

    assert list(tasks) == ["click/1", "click/2", "jinja/1", "jinja/2"]
    assert {name: (one.correct, one.answered) for name, one in tasks.items()} == {
        "click/1": (3, 4),
        "click/2": (0, 2),
        "jinja/1": (3, 3),
        "jinja/2": (0, 1),
    }


def test_a_cluster_may_be_a_repository():
    """Its tasks are added up."""
    found = summarize(REPORTS, cluster="repo").policies["strict"].correct

    assert sorted(found.clusters) == [(3, 4), (3, 6)]
    with pytest.raises(ArgumentError, match="cluster must be 'task', 'repo' or None"):
        summarize(REPORTS, cluster="taks")


def test_a_clustered_summary_says_so():
    """One cluster has a dash for its interval."""
    text = str(summarize(pairs_of(click_1="++-"), cluster="task", policies=[]))

    row = next(line.split() for line in text.splitlines() if line.split()[:1] == ["naive"])
    assert row[1:4] == ["2/3", "66.7%", "-"]
    assert text.endswith("intervals assume that tasks are independent, not that pairs or teams are")


def test_teams_are_clustered_too():
    """Their rate and the mean of what landed; teams that were not evaluated have no answer."""
    words = ["clean correct", "clean correct", "conflicts unhandled 2:conflict", "clean correct"]
    teams = [
        team(3, naive=word, facts={"task_id": number // 2}) for number, word in enumerate(words)
    ]
    teams.append(team(3, naive="clean correct", facts={"task_id": 9, "failure": "repository"}))

    naive = summarize(teams, cluster="task").teams[3].strategies["naive"]

    assert sorted(naive.correct.clusters) == [(1, 2), (2, 2)]
    assert naive.landed == Mean.of([1, 1, 2 / 3, 1], clusters=[0, 0, 1, 1])
    assert naive.landed != Mean.of([1, 1, 2 / 3, 1])
    assert naive.tasks["click/9"].unanswered == 1


def test_two_teams_are_compared_by_task():
    """Exchanging whole tasks shows less than exchanging pairs."""
    ones = pairs_of(click_1="++++", click_2="+++", jinja_1="++", jinja_2="-")
    others = pairs_of(click_1="----", click_2="---", jinja_1="-+", jinja_2="-")

    plain, found = (compare(ones, others, "naive", cluster=by) for by in (None, "task"))

    assert sorted(found.clusters) == [(0, 0, 0, 1), (0, 3, 0, 0), (0, 4, 0, 0), (1, 1, 0, 0)]
    assert found.p_value == 2 / 2**3
    assert plain.p_value == 2 / 2**8
    assert sorted(compare(ones, others, "naive", cluster="repo").clusters) == [
        (0, 7, 0, 0),
        (1, 1, 0, 1),
    ]


def test_tries_are_clustered():
    """Each share has the same clusters."""
    first, second = pairs_of(click_1="+-", jinja_1="-"), pairs_of(click_1="++", jinja_1="-")
    again = [pair_of_second(each) for each in second]

    found = solved_within([*first, *again], "naive", cluster="task")

    assert [Counter(rate.clusters) for rate in found.within] == [
        Counter([(1, 2), (0, 1)]),
        Counter([(2, 2), (0, 1)]),
    ]


def pair_of_second(facts):
    """Return the facts as those of the second try."""
    return facts.__class__.from_dict(facts.to_dict() | {"k": 2})
