"""How often the credible interval of the Bayesian error estimate holds, for given normal classes.

python -m benchmarks.calibration.credible
python -m benchmarks.calibration.credible --inflation --sets 60
python -m benchmarks.calibration.credible --inflation --correlated --sets 60

The rule is logistic regression, its true error exact, and no two cells share a data set. It is
judged by the rows that it was fitted on, or by as many others; in standard units, in those of the
problem, or with the prior `empirical`, `flat` or `jeffreys`, the last two also where they state no
interval. With `--inflation` these two are judged around where that begins; with `--correlated` on
features of correlation ½, scales from 1 to 3, and means less far apart, by a linear discriminant.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from truerisk.exceptions import Refusal, TrueRiskWarning
from truerisk.methods.bayesian import rule_errors

__all__ = ["COLUMNS", "PROBLEMS", "Held", "coverage", "main"]

PROBLEMS: Mapping[str, tuple[Any, int, float]] = {
    "simple, n = 50": (tr.datasets.make_simple, 50, 1.0),
    "difficult, n = 50": (tr.datasets.make_difficult, 50, 1.0),
    "sparse, n = 28": (tr.datasets.make_sparse_gaussian, 28, 0.1),
    "sparse, n = 100": (tr.datasets.make_sparse_gaussian, 100, 0.1),
    "sparse, n = 400": (tr.datasets.make_sparse_gaussian, 400, 0.1),
}
COLUMNS: Mapping[str, tuple[bool, dict[str, Any]]] = {
    "own rows": (True, {}),
    "other rows": (False, {}),
    "raw units, own rows": (True, {"standardize": False}),
    "empirical, own rows": (True, {"prior": "empirical"}),
    "flat, own rows": (True, {"prior": "flat"}),
    "jeffreys, own rows": (True, {"prior": "jeffreys"}),
}


WIDENED = [  # rows of a class, features, prior
    (25, 5, "jeffreys"), (25, 3, "flat"), (25, 8, "flat"), (50, 2, "flat"), (50, 8, "jeffreys"),
    (50, 5, "flat"), (50, 20, "jeffreys"), (50, 20, "flat"), (200, 5, "flat"),
    (200, 20, "jeffreys"), (200, 20, "flat"),
]  # fmt: skip
APART = {False: (2.0, 3.5), True: (1.5, 3.0)}  # standard deviations between the means; correlated


@dataclass(frozen=True)
class Held:
    """Of 95 % intervals, the shares that hold the truth, lie above it, and lie below it."""

    inside: float
    above: float
    below: float

    def __str__(self) -> str:
        return f"{100 * self.inside:.1f} (+{100 * self.above:.1f} −{100 * self.below:.1f})"


@patch.object(rule_errors, "MAX_EXCESS_VARIANCE", np.inf)
def coverage(name: str, n_sets: int) -> dict[str, Held | None]:
    """Of every column, as if no inflation were too much; None where there is no posterior."""
    problem, n_rows, cost = PROBLEMS[name]
    model, found = LogisticRegression(C=cost), {column: [] for column in COLUMNS}
    for seed in range(n_sets):
        rng = np.random.default_rng([seed, *name.encode()])
        own, other = (problem(n_rows, random_state=rng) for _ in range(2))
        model.fit(*own)
        truth = problem.true_risk_linear(model.coef_[0], model.intercept_[0])
        for column, (by_own, options) in COLUMNS.items():
            rows = own if by_own else other
            shares = {"gamma": 0.5}  # as in the true error
            try:
                post = tr.bayesian_error(model.coef_, model.intercept_, *rows, **shares, **options)
            except Refusal:
                continue
            interval = post.interval()
            found[column].append((truth in interval, interval.low > truth, interval.high < truth))
    return {
        column: Held(*map(float, np.mean(told, axis=0))) if told else None
        for column, told in found.items()
    }


@patch.object(rule_errors, "MAX_EXCESS_VARIANCE", np.inf)
def widened(n: int, p: int, prior: str, n_sets: int, *, correlated: bool = False) -> list[float]:
    """Shares of intervals that hold the error, as if no inflation were too much.

    By own rows and by others, for each distance.
    """
    held: dict[tuple[bool, float], list[bool]] = {}
    spread = np.linspace(1, 3, p)[:, None] * np.linalg.cholesky((np.eye(p) + 1) / 2)
    mixed = spread if correlated else np.eye(p)
    for apart in APART[correlated]:
        mean = mixed @ np.full(p, apart / 2 / np.sqrt(p))
        for seed in range(n_sets):
            rng = np.random.default_rng([p, n, seed, int(10 * apart)])
            y = np.repeat([0, 1], n)
            own, other = (
                rng.normal(size=(2 * n, p)) @ mixed.T + np.where(y[:, None], mean, -mean)
                for _ in range(2)
            )
            rule = LinearDiscriminantAnalysis() if correlated else LogisticRegression()
            model = rule.fit(own, y)
            slope, start = model.coef_[0], model.intercept_[0]
            margins = (start * np.array([1, -1]) - slope @ mean) / np.linalg.norm(slope @ mixed)
            truth = norm.cdf(margins).mean()
            for by_own, rows in ((True, own), (False, other)):
                post = tr.bayesian_error(slope, start, rows, y, prior=prior)
                held.setdefault((by_own, apart), []).append(truth in post.interval())
    order = [(by_own, apart) for by_own in (True, False) for apart in APART[correlated]]
    return [float(np.mean(held[part])) for part in order]


def main(arguments: list[str] | None = None) -> None:
    """Print a row per problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--inflation", action="store_true")
    parser.add_argument("--correlated", action="store_true")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore", TrueRiskWarning)
    if given.inflation:
        for cell in WIDENED:
            held = widened(*cell, given.sets, correlated=given.correlated)
            print("|", *cell, "|", *(f"{100 * share:.0f}" for share in held), "|", flush=True)
        return
    print("| | " + " | ".join(COLUMNS) + " |")
    for name in PROBLEMS:
        held = coverage(name, given.sets)
        print(f"| {name} | " + " | ".join(map(str, held.values())) + " |", flush=True)


if __name__ == "__main__":
    main()
