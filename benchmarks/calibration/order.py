"""Series whose mean is known: how often the interval `hac` is given, and how often it covers.

    python -m benchmarks.calibration.order --series 2000 --forecasts 300

The constants of `statistics/long_run.py` were chosen on other drawings (seeds 77, 101, 201 and
202); the default seed, which the documentation quotes, took no part. A line says how many series of
100 get an interval, how many of these cover the mean, how many of 100 get one that misses, and the
median width beside that of the normal interval with the true standard error.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy.signal import lfilter
from scipy.special import logit, ndtri
from sklearn.linear_model import LinearRegression

from benchmarks.machine import one_blas_thread
from truerisk import estimate_risk
from truerisk.diagnostics.risk_over_time import estimate_trend
from truerisk.statistics.long_run import MIN_TIMES, long_run_std_error

__all__ = ["FORECASTS", "SERIES", "Line", "forecast_lines", "series_lines"]

LENGTHS = (100, 200, 300, 500, 1000)
BURN = 400
SLOPES = np.array([1.0, -0.5, 0.25])

Numbers = Any
Draw = Callable[[np.random.Generator, int], Numbers]


@dataclass(frozen=True)
class Line:
    """What became of so many series of one kind and length, in shares."""

    kind: str
    n: int
    given: float
    covered: float | None
    error: float | None
    missed: float
    width: float | None

    @classmethod
    def of(cls, kind: str, n: int, found: list[tuple[float, float] | None]) -> Line:
        """From the distance to the truth and the half width of each, None without an interval."""
        known = np.array([one for one in found if one is not None]).reshape(-1, 2)
        inside = np.abs(known[:, 0]) <= known[:, 1]
        share = float(inside.mean()) if len(known) else None
        se = None if share is None else float(np.sqrt(share * (1 - share) / len(known)))
        oracle = 1.96 * float(np.std(known[:, 0])) if len(known) > 1 else 0.0
        width = float(np.median(known[:, 1]) / oracle) if oracle else None
        return cls(kind, n, len(known) / len(found), share, se, (~inside).sum() / len(found), width)

    def __str__(self) -> str:
        cover = "     –      " if self.covered is None else f"{self.covered:.3f} ±{self.error:.3f}"
        wide = "–" if self.width is None else f"{self.width:.2f}"
        start = f"{self.kind:<20} {self.n:>5}  given {self.given:>4.0%}  covered {cover}"
        return f"{start}  missed {self.missed:>5.1%}  width {wide}"


def autoregression(rho: float, lag: int = 1) -> Draw:
    """Values with unit innovations that remember those `lag` steps before them."""
    weights = np.zeros(lag + 1)
    weights[0], weights[lag] = 1.0, -rho

    def draw(rng: np.random.Generator, n: int) -> Numbers:
        return lfilter([1.0], weights, rng.standard_normal(n + BURN * lag))[BURN * lag :]

    return draw


def seasons(rng: np.random.Generator, n: int) -> Numbers:
    """Independent values about a mean with a fixed period of 12, which begins anywhere."""
    return rng.standard_normal(n) + np.sin(2 * np.pi * (np.arange(n) / 12 + rng.random()))


def errors(rng: np.random.Generator, n: int) -> Numbers:
    """Zero and one, a fifth of them one: whether an autoregression of .9 exceeds a bound."""
    return autoregression(0.9)(rng, n) * np.sqrt(1 - 0.9**2) > ndtri(0.8)


def noisy(rng: np.random.Generator, n: int) -> Numbers:
    """An autoregression of .9 under noise: lag 1 tells of a shorter memory than there is."""
    return lfilter([1.0, -0.5], [1.0, -0.9], rng.standard_normal(n + BURN))[BURN:]


def root(value: Numbers) -> Numbers:
    """The scale of the interval of squared losses."""
    return -2 / np.sqrt(value)


def squares(rng: np.random.Generator, n: int) -> Numbers:
    """The squares of an autoregression of .9 with variance 1."""
    return (autoregression(0.9)(rng, n) * np.sqrt(1 - 0.9**2)) ** 2


SERIES: dict[str, Draw] = {
    **{f"memory {rho:g}": autoregression(rho) for rho in (0, 0.5, 0.8, 0.9, 0.95)},
    **{f"season {rho:g}, of {lag}": autoregression(rho, lag) for rho, lag in
       ((0.5, 7), (0.5, 12), (0.8, 12), (0.5, 24))},
    "level of season 12": seasons,
    "noisy, memory 0.9": noisy,
    "errors, memory 0.9": errors,
    "squares, memory 0.9": squares,
}  # fmt: skip
MEANS: dict[str, tuple[float, Any, Any]] = {
    "errors, memory 0.9": (0.2, logit, lambda mean: 1 / (mean * (1 - mean))),
    "squares, memory 0.9": (1.0, root, lambda mean: mean**-1.5),
}
"""Where it is not 0, with the scale of the interval and the slope to it."""
FORECASTS = (0.0, 0.5, 0.8, 0.9)


def of_series(kind: str, rng: np.random.Generator, n: int) -> tuple[float, float] | None:
    """How far the mean is from the expectation, and half the width of the interval."""
    series = SERIES[kind](rng, n).astype(float)
    mean, found = float(series.mean()), long_run_std_error(series - series.mean())
    if n < MIN_TIMES or found is None or found.std_error == 0:
        return None
    half = found.critical_value(0.95) * found.std_error
    if kind not in MEANS:
        return mean, half
    truth, scale, slope = MEANS[kind]
    if scale is root and half >= 2 * mean:
        return None
    return float(scale(mean) - scale(truth)), half * slope(mean)


def of_forecasts(rho: float, rng: np.random.Generator, n: int) -> tuple[float, float] | None:
    """The estimate by forward-5 less the true risk of its models, and half its width.

    Rows and noise are autoregressions of variance 1, so the squared risk of slopes b and intercept
    a is |SLOPES - b|² + a² + 1.
    """
    scale = np.sqrt(1 - rho**2)
    X = np.column_stack([autoregression(rho)(rng, n) * scale for _ in SLOPES])
    y = X @ SLOPES + autoregression(rho)(rng, n) * scale
    told = estimate_risk(LinearRegression(), X, y, time=np.arange(n), cv="forward-5")
    if told.interval is None or told.value is None:
        return None
    risks, size = [], n // 6
    for end in n - np.arange(5, 0, -1) * size:
        model = LinearRegression().fit(X[:end], y[:end])
        risks.append(np.sum((SLOPES - model.coef_) ** 2) + model.intercept_**2 + 1)
    truth = float(np.mean(risks))
    low, high = root(np.array([told.interval.low, told.interval.high]))
    return float((low + high) / 2 - root(truth)), float((high - low) / 2)


def series_lines(n_series: int, seed: int) -> Iterator[Line]:
    """Every kind of series at every length."""
    for kind in SERIES:
        for n in LENGTHS:
            rng = np.random.default_rng([seed, n, *kind.encode()])
            yield Line.of(kind, n, [of_series(kind, rng, n) for _ in range(n_series)])


def forecast_lines(n_forecasts: int, seed: int) -> Iterator[Line]:
    """Losses of fitted models, whose true risks are known; five sixths of the rows are tested."""
    for rho in FORECASTS:
        for n in (200, 600, 1200):
            rng = np.random.default_rng([seed, n, int(100 * rho)])
            found = [of_forecasts(rho, rng, n) for _ in range(n_forecasts)]
            yield Line.of(f"forecasts, memory {rho:g}", n, found)


def trend_lines(n_series: int, seed: int) -> Iterator[str]:
    """How often `risk_over_time` finds a trend at .05 in series that have none."""
    for rho in FORECASTS:
        for n in (300, 500, 1000):
            rng = np.random.default_rng([seed, n, int(100 * rho)])
            tests = [
                estimate_trend(np.arange(n), autoregression(rho)(rng, n))[2]
                for _ in range(n_series)
            ]
            known = np.array([p for p in tests if p is not None])
            share = float((known < 0.05).mean())
            error = (share * (1 - share) / len(known)) ** 0.5
            yield f"trend, memory {rho:g}  {n:>5}  found {share:.3f} ±{error:.3f}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=2000, help="of each kind and length")
    parser.add_argument("--forecasts", type=int, default=300, help="of each kind and length")
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--trends", type=int, default=0, help="series to look for a trend in")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each")
    given = parser.parse_args()
    one_blas_thread()
    lines = series_lines(given.series, given.seed), forecast_lines(given.forecasts, given.seed)
    for line in chain(*lines):
        print(json.dumps(asdict(line)) if given.json else line, flush=True)
    for said in trend_lines(given.trends, given.seed) if given.trends else ():
        print(said, flush=True)


if __name__ == "__main__":
    main()
