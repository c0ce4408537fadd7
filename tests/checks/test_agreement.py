"""Agreement of outcomes between pairs of rows, and the order of rows that it shows."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from truerisk.checks.agreement import (
    correlation_given_columns,
    find_ordered_columns,
    is_row_counter,
    is_sorted,
    lag_one_correlation,
    make_outcome,
    mean_ranks,
)

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 3, 4000)
NUMBERS = RNG.standard_t(2, 4000)


@pytest.mark.parametrize("outcome", [make_outcome(CODES, CODES), make_outcome(None, NUMBERS)])
def test_agreement_is_one_of_equal_rows_and_zero_on_average_of_independent_ones(outcome):
    """The mean over consecutive rows scatters with the stated variance."""
    rows = np.arange(3999)
    error = np.sqrt(outcome.variance / len(rows))
    assert outcome.agreement(rows, rows) == pytest.approx(1)
    assert abs(outcome.agreement(rows, rows + 1).mean()) < 3 * error
    orders = (np.random.default_rng(seed).permutation(4000) for seed in range(300))
    means = [outcome.agreement(order[1:], order[:-1]).mean() for order in orders]
    assert np.std(means) == pytest.approx(error, rel=0.15)


def test_agreement_of_classes_is_cohens_kappa():
    """The mean equals kappa if each row stands once on both sides of the pairs."""
    other = np.roll(np.arange(4000), 7)
    found = make_outcome(CODES, CODES).agreement(np.arange(4000), other).mean()
    assert found == pytest.approx(cohen_kappa_score(CODES, CODES[other]))


def test_agreement_of_numbers_depends_on_ranks_alone():
    i, j = np.arange(100), np.arange(100, 200)
    plain, changed = make_outcome(None, NUMBERS), make_outcome(None, np.exp(NUMBERS / 100))
    assert plain.agreement(i, j) == pytest.approx(changed.agreement(i, j))
    assert mean_ranks(np.array([3.0, 1.0, 3.0])).tolist() == [2.5, 1.0, 2.5]


@pytest.mark.parametrize(
    "y", [np.ones(50), np.full(50, np.nan), np.array(["a"] * 50), np.empty((50, 0))]
)
def test_outcome_of_is_none_where_y_does_not_vary(y):
    assert make_outcome(None, y) is None
    assert make_outcome(np.zeros(50, int), np.zeros(50)) is None


def of_classes(y):
    """Return class codes as an outcome."""
    return make_outcome(np.asarray(y), np.asarray(y))


def of_numbers(y):
    """Return numbers as an outcome."""
    return make_outcome(None, np.asarray(y, float))


def of_runs(runs):
    """Return an outcome of 25 rows of each class in turn."""
    return of_classes(np.repeat([int(one) for one in runs], 25))


def series(seed, a, n=200):
    """Draw y that depends on the row before."""
    y, noise = np.zeros(n), np.random.default_rng(seed).standard_normal(n)
    for i in range(n):
        y[i] = a * y[i - 1] + noise[i]
    return y


def test_order_of_autoregression_is_suspected():
    """It is suspected in at least 18 of 20 series with coefficient .4, and in none with 0."""
    found = {
        a: [lag_one_correlation(of_numbers(series(b, a))) for b in range(20)] for a in (0.4, 0)
    }
    assert sum(one is not None for one in found[0.4]) >= 18
    assert not any(found[0])


def test_order_of_random_rows_is_rarely_suspected():
    """The bound is 3.3 standard errors."""
    rng = np.random.default_rng(0)
    for y in (rng.standard_normal(150), rng.integers(0, 3, 150), (rng.random(150) < 0.2) * 1):
        make = of_numbers if y.dtype.kind == "f" else of_classes
        drawn = [lag_one_correlation(make(rng.permutation(y))) for _ in range(400)]
        assert sum(one is not None for one in drawn) <= 3


def test_order_is_not_that_of_rare_neighbours_or_within_given_groups():
    """Three of six events in 300 rows stand together by chance; visits of a patient agree."""
    y = np.zeros(300, int)
    y[[10, 11, 12, 100, 200, 250]] = 1
    assert lag_one_correlation(of_classes(y)) is None
    y = of_classes(np.repeat(np.random.default_rng(0).integers(0, 2, 60), 4))
    assert lag_one_correlation(y) is not None
    assert lag_one_correlation(y, np.repeat(np.arange(60), 4)) is None
    assert lag_one_correlation(y, np.repeat([0, 1], 120)) is None


SORTED = np.sort(np.random.default_rng(0).standard_normal(200))


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (of_numbers(SORTED), True),
        (of_numbers(SORTED[::-1]), True),
        (of_numbers(np.r_[SORTED[::4], SORTED[1::4], SORTED[2::4], SORTED[3::4]]), True),
        (of_numbers(np.round(SORTED)), True),
        (of_numbers(np.cumsum(np.random.default_rng(1).permutation(SORTED))), False),
        (of_numbers(np.sin(np.arange(200) / 8)), False),
        *[(of_runs(runs), True) for runs in ("012", "201", "0101", "012302", "010")],
        *[(of_runs(runs), False) for runs in ("01010", "01210", "012102", "012" * 3)],
    ],
)
def test_is_sorted_knows_sorted_parts_from_states_that_come_back(outcome, expected):
    """Training and test rows, each sorted, may stand one after the other."""
    assert is_sorted(outcome) is expected


def test_counters_are_monotone_with_equal_steps():
    """A row number is a counter in any unit; a sorted feature has steps of every size."""
    rng = np.random.default_rng(0)
    scaled = (np.arange(100) / 3).astype(np.float32)  # steps differ by rounding
    for counter in (np.arange(100), 7 - 0.1 * np.arange(100), np.r_[np.arange(50), 60:110], scaled):
        assert is_row_counter(counter.astype(float))
    for feature in (np.sort(rng.standard_normal(100)), np.arange(100) // 4, rng.random(100)):
        assert not is_row_counter(feature.astype(float))
    noise, slow = rng.standard_normal(200), np.sin(np.arange(200) / 8)
    X = np.c_[np.arange(200), noise, np.sort(noise), slow]
    assert find_ordered_columns(X).tolist() == [2, 3]


def test_order_is_explained_by_a_sorted_feature_or_a_series():
    """A sorted feature does not explain the order of a random walk."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = np.sort(rng.standard_normal(200))[:, None]
        y = np.sin(2 * x[:, 0]) + 0.5 * rng.standard_normal(200)
        value, bound = correlation_given_columns(x, of_numbers(y))
        assert value <= bound
        value, bound = correlation_given_columns(x, of_numbers(np.cumsum(rng.standard_normal(200))))
        assert value > bound
        x = series(seed, 0.9, 600)
        y = of_numbers(x + np.random.default_rng(seed + 100).standard_normal(600))
        assert lag_one_correlation(y) is not None
        value, bound = correlation_given_columns(x[:, None], y)
        assert value <= max(bound, 0.1)
