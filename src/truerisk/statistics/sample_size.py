"""The number of test rows: widths and bounds of the Beta posterior before a test is made."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal

Prior = tuple[float, float]
MOST_ROWS = 10**8
CHUNK = 512
NODES = 4_000  # maximum number of terms of an expectation
REACH = 8.0  # standard deviations of the number of errors that an expectation covers


def beta_quantile(a: Any, b: Any, probability: float) -> Any:
    """Return the quantile of Beta(a, b), for arbitrarily small probabilities."""
    from scipy.special import betaincinv, betaln

    quantile = betaincinv(a, b, probability)
    if np.isnan(quantile).any():  # SciPy fails far out in the tail.
        first_term = np.exp((np.log(probability) + np.log(a) + betaln(a, b)) / a)
        # The first term is exact to 1e-8 there.
        quantile = np.where(np.isnan(quantile), first_term, quantile)
    return quantile


def width_at(errors: Any, n: Any, level: float, prior: Prior) -> Any:
    """Return the width of the equal-tailed interval after this number of errors in n rows.

    The number need not be an integer.
    """
    errors, n = np.asarray(errors, dtype=float), np.asarray(n, dtype=float)
    a, b, tail = errors + prior[0], n - errors + prior[1], (1 - level) / 2
    return (beta_quantile(a, b, 1 - tail) - beta_quantile(a, b, tail))[()]


def whole_errors(error: float, n: Any) -> Any:
    """Return the integer number of errors nearest to error·n."""
    return np.floor(error * np.asarray(n, dtype=float) + 0.5).astype(np.int64)[()]


def rows_for_width(error: float, width: float, level: float, prior: Prior) -> int:
    """Return the smallest n whose interval, after `whole_errors`, is no wider than `width`."""

    def least(more: float) -> int:
        """After error·n errors and so many more; the width falls with n."""

        def fits(n: int) -> bool:
            errors = np.clip(error * n + more, 0, n)
            return bool(width_at(errors, n, level, prior) <= width)

        return 1 + bisect_left(range(1, MOST_ROWS + 1), True, key=fits)

    ends = least(-0.5), least(0.5)  # The number for integer errors lies between these.
    if max(ends) > MOST_ROWS:
        raise Refusal(
            f"an interval of width {width:.15g} needs more than {MOST_ROWS:.0e} test rows."
        )
    n = np.arange(min(ends), max(ends) + 1)
    widths = width_at(whole_errors(error, n), n, level, prior)
    return int(n[(widths <= width).argmax()])


def rows_assured(error: float, width: float, level: float, prior: Prior, assurance: float) -> int:
    """Return the smallest n whose interval has at most this width with a given probability.

    The probability `assurance` (½ or more) is over the number of errors, which is Bin(n, error).
    """
    low = high = rows_for_width(error, width, level, prior)

    def assured(n: np.ndarray) -> np.ndarray:
        return np.asarray(_chance_of_width(n, error, width, level, prior) >= assurance)

    while not assured(np.array([high]))[0]:
        low, high = high, high + max(16, high // 64)
        if high > MOST_ROWS:
            raise Refusal(
                f"an interval of width {width:.15g} needs more than {MOST_ROWS:.0e} rows."
            )
    while high - low > CHUNK:
        middle = (low + high) // 2
        low, high = (low, middle) if assured(np.array([middle]))[0] else (middle, high)
    # Errors are integers, so that the probability is a sawtooth with a period of the rows per
    # error.
    rare = min(error, 1 - error)
    n = np.arange(max(1, low - 20 - (int(min(2 / rare, low)) if rare > 0 else low)), high + 1)
    return int(n[assured(n).argmax()])


def _chance_of_width(
    n: np.ndarray, error: float, width: float, level: float, prior: Prior
) -> np.ndarray:
    """Return P(the interval is no wider than `width`), for each n.

    The width increases with the errors up to a mean of one half, and decreases beyond: the range of
    errors with an acceptable width ends on each side at a number that bisection finds.
    """
    from scipy.stats import binom

    middle = np.clip((n + prior[1] - prior[0]) // 2, 0, n)

    def last(high: np.ndarray, errors: Any) -> np.ndarray:
        """Return the largest count from this end with an acceptable width; −1 if there is none."""
        low, high = np.full(len(n), -1), high + 1
        while (high - low > 1).any():
            half = (low + high) // 2
            met = width_at(errors(half), n, level, prior) <= width
            low, high = np.where(met, half, low), np.where(met, high, half)
        return low

    few = last(middle, lambda k: np.maximum(k, 0))
    many = last(n - middle - 1, lambda k: n - np.maximum(k, 0))
    return binom.cdf(few, n, error) + binom.sf(n - many - 1, n, error)


def expected_measures(error: float, n: int, level: float, prior: Prior) -> dict[str, float]:
    """Return the expectation of (ub), (50 %), (q2), (err) and the width over Bin(n, error)."""
    from scipy.special import betainc
    from scipy.stats import binom

    spread = REACH * np.sqrt(n * error * (1 - error)) + 1
    low, high = max(0, int(n * error - spread)), min(n, int(n * error + spread) + 1)
    # Among very many counts some evenly spaced ones suffice, because sums of smooth functions are
    # exact.
    k = np.arange(low, high + 1, max(1, (high - low) // NODES))
    chance = binom.pmf(k, n, error)
    chance = chance / chance.sum()
    a, b = k + prior[0], n - k + prior[1]
    return {
        "ub": float(chance @ beta_quantile(a, b, level)),
        "above_half": float(chance @ betainc(b, a, 0.5)),
        "q2": float(chance @ (a * (a + 1) / ((a + b) * (a + b + 1)))),
        "err": error,
        "width": float(chance @ width_at(k, n, level, prior)),
    }
