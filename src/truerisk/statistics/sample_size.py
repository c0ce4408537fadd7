"""How many test rows: widths and bounds of the Beta posterior before a test is made."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal

Prior = tuple[float, float]
MOST_ROWS = 10**8
CHUNK = 512
NODES = 4_000  # numbers of errors that an expectation is summed over
REACH = 8.0  # standard deviations of the number of errors that an expectation runs over


def beta_quantile(a: Any, b: Any, probability: float) -> Any:
    """The quantile of Beta(a, b), however small its probability is."""
    from scipy.special import betaincinv, betaln

    quantile = betaincinv(a, b, probability)
    if np.isnan(quantile).any():  # SciPy gives up far out in the tail
        first_term = np.exp((np.log(probability) + np.log(a) + betaln(a, b)) / a)
        quantile = np.where(np.isnan(quantile), first_term, quantile)  # exact to 1e-8 out there
    return quantile


def width_at(errors: Any, n: Any, level: float, prior: Prior) -> Any:
    """Width of the equal-tailed interval after so many errors (not only whole ones) in n rows."""
    errors, n = np.asarray(errors, dtype=float), np.asarray(n, dtype=float)
    a, b, tail = errors + prior[0], n - errors + prior[1], (1 - level) / 2
    return (beta_quantile(a, b, 1 - tail) - beta_quantile(a, b, tail))[()]


def whole_errors(error: float, n: Any) -> Any:
    """The whole number of errors nearest to error·n."""
    return np.floor(error * np.asarray(n, dtype=float) + 0.5).astype(np.int64)[()]


def rows_for_width(error: float, width: float, level: float, prior: Prior) -> int:
    """The least n whose interval, after the `whole_errors` of n, is no wider than `width`."""

    def least(more: float) -> int:
        """After error·n errors and so many more; the width falls with n."""

        def fits(n: int) -> bool:
            errors = np.clip(error * n + more, 0, n)
            return bool(width_at(errors, n, level, prior) <= width)

        return 1 + bisect_left(range(1, MOST_ROWS + 1), True, key=fits)

    ends = least(-0.5), least(0.5)  # the whole number lies between
    if max(ends) > MOST_ROWS:
        raise Refusal(
            f"an interval of width {width:.15g} needs more than {MOST_ROWS:.0e} test rows."
        )
    n = np.arange(min(ends), max(ends) + 1)
    widths = width_at(whole_errors(error, n), n, level, prior)
    return int(n[(widths <= width).argmax()])


def rows_assured(error: float, width: float, level: float, prior: Prior, assurance: float) -> int:
    """The least n whose interval is no wider than `width` with probability `assurance` (½ or more).

    Over the number of errors, which is Bin(n, error).
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
    # errors are whole, so the chance has teeth as long as the rows that bring one error
    rare = min(error, 1 - error)
    n = np.arange(max(1, low - 20 - (int(min(2 / rare, low)) if rare > 0 else low)), high + 1)
    return int(n[assured(n).argmax()])


def _chance_of_width(
    n: np.ndarray, error: float, width: float, level: float, prior: Prior
) -> np.ndarray:
    """P(the interval is no wider than `width`), for each n.

    The width rises with the errors to a mean of one half, and falls beyond: what is met on either
    side ends at a number of errors that bisection finds.
    """
    from scipy.stats import binom

    middle = np.clip((n + prior[1] - prior[0]) // 2, 0, n)

    def last(high: np.ndarray, errors: Any) -> np.ndarray:
        """The largest count from this end whose width is met, −1 where none is."""
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
    """Expectation of (ub), (50 %), (q2), (err) and of the interval's width over Bin(n, error)."""
    from scipy.special import betainc
    from scipy.stats import binom

    spread = REACH * np.sqrt(n * error * (1 - error)) + 1
    low, high = max(0, int(n * error - spread)), min(n, int(n * error + spread) + 1)
    # Of very many counts some that are evenly spaced do: sums of smooth functions are exact.
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
