"""Published intervals of a risk, and ours: `python -m benchmarks.published_intervals [--sets N]`.

The simulated problems of Schulz-Kümpel, Fischer, Hornung, Boulesteix, Nagler and Bischl (2024,
Constructing confidence intervals for 'the' generalization error, arXiv:2409.18836) that are known
by a formula, with linear models and trees whose settings are fixed, and those of their thirteen
methods that truerisk has. Coverage is counted of both targets that they count: the risk of the
model that is fitted on all rows, and its mean over data sets.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.machine import one_blas_thread

__all__ = ["PROBLEMS", "WAYS", "Cell", "Outcome", "drawn", "main", "rated"]

Rows = np.ndarray
Draw = Callable[[np.random.Generator, int], tuple[Rows, Rows]]
TEST_ROWS, DRAWING = 20_000, 2409


def of_five(n_columns: int, classes: bool) -> Draw:
    """Five columns count alike, for the logit of a class or with unit noise (Bates et al.)."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
        X = rng.standard_normal((n, n_columns))
        line = X[:, :5].sum(axis=1)
        if classes:
            return X, (rng.random(n) < 1 / (1 + np.exp(-line))).astype(int)
        return X, line + rng.standard_normal(n)

    return draw


def of_copies(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
    """Three hidden uniforms count, six have ten noisy copies each (Chen et al., as theirs)."""
    hidden = rng.random((n, 6))
    a, b, c = hidden[:, :3].T
    y = np.exp(4 * a) / 4 + 4 / (1 + np.exp(-20 * (b - 0.5))) + 3 * c + 0.2 * rng.standard_normal(n)
    scale = 0.01 + 0.5 * np.arange(10) / 9
    noise = scale * (0.3 + rng.standard_normal((n, 6, 10)))
    return (hidden[:, :, None] + noise).reshape(n, 60), y


def of_friedman(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
    """Ten uniforms, of which five count, unit noise (Friedman, 1991)."""
    X = rng.random((n, 10))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, mean + 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(n)


PROBLEMS: Mapping[str, Draw] = {
    "bates_classif_20": of_five(20, classes=True),
    "bates_classif_100": of_five(100, classes=True),
    "bates_regr_20": of_five(20, classes=False),
    "bates_regr_100": of_five(100, classes=False),
    "chen_10": of_copies,
    "friedman1": of_friedman,
}


@cache
def ways(classes: bool) -> Mapping[str, tuple[Any, str]]:
    """Method and interval by their name there; then our default of tuned risks."""
    from truerisk import methods

    ours = "beta-cv" if classes else "log-cv"
    return {
        "hold-out (66 %)": ("holdout", "wald"),
        "corrected resampled t (25)": (methods.MonteCarlo(25, test_share=0.1), "corrected-t"),
        "CV Wald (5)": ("5-fold", "wald"),
        "CV Wald (10)": ("10-fold", "wald"),
        "CV Wald (n)": ("loo", "wald"),
        "conservative z (10, 15)": (methods.PairedHalves(15, pairs=10), "conservative-z"),
        "nested CV (15 × 5)": (methods.NestedInterval(5, repeats=15), "ncv"),
        f"ours, {ours} (10)": ("10-fold", ours),
        f"ours, {ours} (10 × 10)": ("10x10-fold", ours),
    }


WAYS = tuple(name.replace("beta-cv", "default") for name in ways(classes=True))


@dataclass(frozen=True)
class Cell:
    """A learner with fixed settings on n rows of a problem."""

    problem: str
    learner: str
    n: int

    @property
    def classes(self) -> bool:
        return "classif" in self.problem

    def model(self) -> Any:
        """Their linear model, or a tree of usual size."""
        from sklearn.linear_model import LinearRegression, LogisticRegression
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        if self.learner == "linear":
            return LogisticRegression() if self.classes else LinearRegression()
        tree = DecisionTreeClassifier if self.classes else DecisionTreeRegressor
        return tree(max_depth=5, min_samples_leaf=7, random_state=0)

    def __str__(self) -> str:
        return f"{self.problem} {self.learner} {self.n}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """Of one data set the risk of its model, and by way the two ends and the number of fits."""

    truth: float
    ends: Rows
    n_fits: Rows


def drawn(cell: Cell, seed: int) -> Outcome:
    """One data set, all ways; the risk is that on 20,000 rows that never change."""
    import truerisk as tr

    key = [DRAWING, seed, cell.n, *cell.problem.encode()]
    X, y = PROBLEMS[cell.problem](np.random.default_rng(key), cell.n)
    more, truth = PROBLEMS[cell.problem](np.random.default_rng(DRAWING), TEST_ROWS)
    wrong = cell.model().fit(X, y).predict(more)
    loss = np.mean(wrong != truth) if cell.classes else np.mean((wrong - truth) ** 2)
    ends, n_fits = [], []
    for method, interval in ways(cell.classes).values():
        found = tr.estimate_risk(
            cell.model(), X, y, method=method, interval=interval, random_state=seed
        )
        assert found.interval is not None
        ends.append((found.interval.low, found.interval.high))
        n_fits.append(found.n_fits)
    return Outcome(float(loss), np.array(ends), np.array(n_fits))


def rated(found: Sequence[Outcome]) -> Rows:
    """By way: coverage of the model's own risk, of the mean risk, and the median width."""
    truth = np.array([one.truth for one in found])[:, None]
    low, high = np.moveaxis(np.array([one.ends for one in found]), 2, 0)
    own = ((low <= truth) & (truth <= high)).mean(axis=0)
    mean = ((low <= truth.mean()) & (truth.mean() <= high)).mean(axis=0)
    return np.column_stack([own, mean, np.median(high - low, axis=0)])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.published_intervals")
    parser.add_argument("--sets", type=int, default=100, help="data sets of each cell (100)")
    parser.add_argument("--rows", type=int, nargs="+", default=[100], help="of a data set (100)")
    parser.add_argument("--only", default="", help="cells whose name holds this")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    cells = [
        Cell(problem, learner, n)
        for n in given.rows
        for problem in PROBLEMS
        for learner in ("linear", "tree")
        if (problem, n) != ("bates_regr_100", 100) or learner == "tree"
    ]
    every = []
    for cell in (cell for cell in cells if given.only in str(cell)):
        found = [drawn(cell, seed) for seed in range(given.sets)]
        every.append(rated(found))
        own, mean, _ = (100 * every[-1].T).round().astype(int)
        said = (f"{a:3d}/{b:3d}" for a, b in zip(own, mean, strict=True))
        print(f"{cell!s:<28}", *said, flush=True)
    if every:
        print(text(np.array(every), found[0].n_fits))
    return 0


def text(every: Rows, n_fits: Rows) -> str:
    """A table of the page: means and worst over cells, and the width beside the first way's."""
    head = ("interval", "of the model's risk: mean, worst", "of the mean risk: mean, worst")
    lines = [f"| {' | '.join(head)} | width | fits |", "|---|---|---|---|---|"]
    width = np.median(every[:, :, 2] / every[:, 3:4, 2], axis=0)
    for place, name in enumerate(WAYS):
        own, mean = 100 * every[:, place, 0], 100 * every[:, place, 1]
        lines.append(
            f"| {name} | {own.mean():.1f} %, {own.min():.0f} % | {mean.mean():.1f} %, "
            f"{mean.min():.0f} % | {width[place]:.2f} | {n_fits[place]} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
