"""Numbers of test rows that make the Beta posterior interval of an error rate narrow enough."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal

BetaPrior = tuple[float, float]
MAX_ROWS = 10**8
MAX_SIZES_AT_ONCE = 512
# An expectation is summed over at most MAX_ERROR_COUNTS numbers of errors.
MAX_ERROR_COUNTS = 4_000
# An expectation covers N_STANDARD_DEVIATIONS standard deviations of the number of errors.
N_STANDARD_DEVIATIONS = 8.0


def beta_quantile(a: Any, b: Any, probability: float) -> Any:
    """Return a quantile of the distribution Beta(a, b), also for extremely small probabilities."""
    from scipy.special import betaincinv, betaln

    quantile = betaincinv(a, b, probability)
    if np.isnan(quantile).any():  # SciPy returns NaN for extreme quantiles.
        first_term = np.exp((np.log(probability) + np.log(a) + betaln(a, b)) / a)
        # For such quantiles the first term of the series is exact to 1e-8.
        quantile = np.where(np.isnan(quantile), first_term, quantile)
    return quantile


def interval_width(errors: Any, n: Any, level: float, prior: BetaPrior) -> Any:
    """Return the width of the equal-tailed Beta posterior interval, given errors in n test rows.

    The number of errors need not be an integer.
    """
    errors, n = np.asarray(errors, dtype=float), np.asarray(n, dtype=float)
    a, b, tail_probability = errors + prior[0], n - errors + prior[1], (1 - level) / 2
    return (beta_quantile(a, b, 1 - tail_probability) - beta_quantile(a, b, tail_probability))[()]


def nearest_error_count(error: float, n: Any) -> Any:
    """Return the integer number of errors nearest to error·n."""
    return np.floor(error * np.asarray(n, dtype=float) + 0.5).astype(np.int64)[()]


def rows_for_width(error: float, width: float, level: float, prior: BetaPrior) -> int:
    """Return the smallest number of test rows n whose interval is no wider than `width`.

    The interval is computed for the integer number of errors nearest to error·n.
    """

    def smallest_n(extra_errors: float) -> int:
        """Return the smallest n for error·n + `extra_errors` errors, as the width falls with n."""

        def fits(n: int) -> bool:
            errors = np.clip(error * n + extra_errors, 0, n)
            return bool(interval_width(errors, n, level, prior) <= width)

        return 1 + bisect_left(range(1, MAX_ROWS + 1), True, key=fits)

    # Rounding changes the number of errors by at most 0.5, so that n lies between two bounds.
    row_bounds = smallest_n(-0.5), smallest_n(0.5)
    if max(row_bounds) > MAX_ROWS:
        raise Refusal(
            f"an interval of width {width:.15g} needs more than {MAX_ROWS:.0e} test rows."
        )
    row_counts = np.arange(min(row_bounds), max(row_bounds) + 1)
    widths = interval_width(nearest_error_count(error, row_counts), row_counts, level, prior)
    return int(row_counts[(widths <= width).argmax()])


def rows_with_assurance(
    error: float, width: float, level: float, prior: BetaPrior, assurance: float
) -> int:
    """Return the smallest number of test rows n that gives this width with a given probability.

    The probability `assurance` (½ or more) is over the number of errors, which is Bin(n, error).
    """
    lower_bound = upper_bound = rows_for_width(error, width, level, prior)

    def is_assured(n: np.ndarray) -> np.ndarray:
        return np.asarray(_probability_of_width(n, error, width, level, prior) >= assurance)

    while not is_assured(np.array([upper_bound]))[0]:
        lower_bound, upper_bound = upper_bound, upper_bound + max(16, upper_bound // 64)
        if upper_bound > MAX_ROWS:
            raise Refusal(f"an interval of width {width:.15g} needs more than {MAX_ROWS:.0e} rows.")
    while upper_bound - lower_bound > MAX_SIZES_AT_ONCE:
        middle = (lower_bound + upper_bound) // 2
        lower_bound, upper_bound = (
            (lower_bound, middle) if is_assured(np.array([middle]))[0] else (middle, upper_bound)
        )
    # As the number of errors is an integer, the probability is a sawtooth function of n.
    # Its period is the number of rows per error.
    rarer_share = min(error, 1 - error)
    n = np.arange(
        max(
            1,
            lower_bound
            - 20
            - (int(min(2 / rarer_share, lower_bound)) if rarer_share > 0 else lower_bound),
        ),
        upper_bound + 1,
    )
    return int(n[is_assured(n).argmax()])


def _probability_of_width(
    row_counts: np.ndarray, error: float, width: float, level: float, prior: BetaPrior
) -> np.ndarray:
    """Return the probability that the interval is no wider than `width`, for each number of rows.

    The width increases with the number of errors up to a posterior mean of one half, and decreases
    beyond. Acceptable numbers of errors are therefore those up to a first bound and those from a
    second bound on; bisection finds both bounds.
    """
    from scipy.stats import binom

    widest_error_counts = np.clip((row_counts + prior[1] - prior[0]) // 2, 0, row_counts)

    def largest_count(too_wide_counts: np.ndarray, count_to_errors: Any) -> np.ndarray:
        """Return the largest count from one end with an acceptable width, or −1 if none has."""
        narrow_counts, too_wide_counts = np.full(len(row_counts), -1), too_wide_counts + 1
        while (too_wide_counts - narrow_counts > 1).any():
            middle_count = (narrow_counts + too_wide_counts) // 2
            is_narrow = (
                interval_width(count_to_errors(middle_count), row_counts, level, prior) <= width
            )
            narrow_counts, too_wide_counts = (
                np.where(is_narrow, middle_count, narrow_counts),
                np.where(is_narrow, too_wide_counts, middle_count),
            )
        return narrow_counts

    max_low_errors = largest_count(widest_error_counts, lambda k: np.maximum(k, 0))
    max_low_correct = largest_count(
        row_counts - widest_error_counts - 1, lambda k: row_counts - np.maximum(k, 0)
    )
    return binom.cdf(max_low_errors, row_counts, error) + binom.sf(
        row_counts - max_low_correct - 1, row_counts, error
    )


def expected_posterior_summary(
    error: float, n_rows: int, level: float, prior: BetaPrior
) -> dict[str, float]:
    """Return expected posterior summaries and interval width if the errors are Bin(n, error)."""
    from scipy.special import betainc
    from scipy.stats import binom

    error_margin = N_STANDARD_DEVIATIONS * np.sqrt(n_rows * error * (1 - error)) + 1
    min_errors, max_errors = (
        max(0, int(n_rows * error - error_margin)),
        min(n_rows, int(n_rows * error + error_margin) + 1),
    )
    # Among very many counts some evenly spaced counts suffice, because the summands are smooth.
    error_counts = np.arange(
        min_errors, max_errors + 1, max(1, (max_errors - min_errors) // MAX_ERROR_COUNTS)
    )
    probability = binom.pmf(error_counts, n_rows, error)
    probability = probability / probability.sum()
    a, b = error_counts + prior[0], n_rows - error_counts + prior[1]
    return {
        "ub": float(probability @ beta_quantile(a, b, level)),
        "above_half": float(probability @ betainc(b, a, 0.5)),
        "q2": float(probability @ (a * (a + 1) / ((a + b) * (a + b + 1)))),
        "err": error,
        "width": float(probability @ interval_width(error_counts, n_rows, level, prior)),
    }
