"""Test rows for a width, against scans of every n and sums over every number of errors."""

import numpy as np
import pytest
from scipy import stats

from truerisk import ErrorPosterior
from truerisk.extend import Refusal
from truerisk.statistics.sample_size import (
    expected_posterior_summary,
    interval_width,
    nearest_error_count,
    rows_for_width,
    rows_with_assurance,
)

CASES = [(0.15, 0.2, (1, 1)), (0.5, 0.3, (1, 1)), (0.0, 0.1, (0.5, 0.5)), (0.8, 0.25, (2, 1))]


@pytest.mark.parametrize(("error", "width", "prior"), CASES)
def test_rows_for_width_are_the_least_of_a_scan(error, width, prior):
    """The first n whose interval is narrow enough after the expected errors, rounded."""
    found = rows_for_width(error, width, 0.9, prior)
    counts = [int(error * n + 0.5) for n in range(1, found + 1)]
    assert [nearest_error_count(error, n) for n in range(1, found + 1)] == counts
    widths = [
        ErrorPosterior(k, n, prior).interval(0.9).width for n, k in enumerate(counts, start=1)
    ]
    assert widths[-1] <= width < min(widths[:-1])


@pytest.mark.parametrize(("error", "width", "prior"), CASES)
@pytest.mark.parametrize("assurance", [0.5, 0.8, 0.99])
def test_rows_assured_meet_the_width_as_often_as_said(error, width, prior, assurance):
    """Summed over every number of errors, at the n found and at no smaller one."""
    found = rows_with_assurance(error, width, 0.9, prior, assurance)

    def chance(n):
        k = np.arange(n + 1)
        met = interval_width(k, n, 0.9, prior) <= width + 1e-12
        return stats.binom.pmf(k, n, error)[met].sum()

    assert chance(found) >= assurance - 1e-9
    assert all(chance(n) < assurance for n in range(1, found))


def test_rows_for_width_are_found_at_once_where_they_are_millions():
    """Millions of rows: the width falls with the root of n, and both searches end."""
    n = rows_for_width(0.15, 0.001, 0.95, (1, 1))
    assert n == pytest.approx(4 * 1.959964**2 * 0.15 * 0.85 / 0.001**2, rel=1e-4)
    assert n < rows_with_assurance(0.15, 0.001, 0.95, (1, 1), 0.9) < 1.01 * n
    with pytest.raises(Refusal, match="more than"):
        rows_for_width(0.5, 1e-5, 0.95, (1, 1))


@pytest.mark.parametrize(("error", "n"), [(0.2, 30), (0.01, 400), (0.0, 7), (1.0, 7)])
def test_expected_measures_are_means_over_every_number_of_errors(error, n):
    """(ub), (50 %), (q2) and the width, each the binomial mean of what the posterior says."""
    found = expected_posterior_summary(error, n, 0.95, (1, 1))
    chances = stats.binom.pmf(np.arange(n + 1), n, error)
    posts = [ErrorPosterior(k, n) for k in range(n + 1)]
    means = {
        "ub": [p.upper(0.95) for p in posts],
        "above_half": [p.mass_above(0.5) for p in posts],
        "q2": [p.second_moment() for p in posts],
        "width": [p.interval(0.95).width for p in posts],
    }
    for name, values in means.items():
        assert found[name] == pytest.approx(chances @ values, rel=1e-9)
    assert found["err"] == error
