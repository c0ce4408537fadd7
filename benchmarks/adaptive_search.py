"""Measure audits of adaptive searches: `python -m benchmarks.adaptive_search`.

Linear discriminants on subsets of features are tried one after the other in five folds: subsets
drawn at random; greedy changes of the best one; half of each; crossings of the better ones
(evolution); and the most promising ones by a kernel regression on the earlier scores (Bayes). The
truth is the error of the selected candidate, fitted on all rows, on 20,000 fresh rows. Printed are
the share of data sets whose 95 % interval holds it, the share in which the order of the trials is
found to be adaptive, and both means; at the end, the table of docs/adaptive-searches.md. Half an
hour with 40 data sets. Its last rows come from `--sets 20 --size 2000 500`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product

import numpy as np

from benchmarks.machine import one_blas_thread
from truerisk.external.adaptive import order_test
from truerisk.intervals.bootstrapped_choice import correct_risk_by_bootstrap

__all__ = ["main"]

SIZES = tuple(product((50, 200, 1000), (20, 100, 300)))  # rows and trials
SIGNALS = ((30, 5, 0.6), (60, 0, 0.0))  # features, those that differ by class, by how much
KINDS = ("random", "greedy", "mixed", "evolution", "bayes")
FRESH, FOLDS, FIRST_TRIALS = 20_000, 5, 10


class Problem:
    """Rows of two normal classes, and the losses of discriminants on subsets of their features."""

    def __init__(self, rng: np.random.Generator, n: int, signal: tuple[int, int, float]) -> None:
        self.rng, (self.n_features, self.n_signals, self.distance) = rng, signal
        self.X, self.y = self.draw(n)
        self.folds = np.array_split(rng.permutation(n), FOLDS)

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and their classes."""
        y = (self.rng.random(n) < 0.5).astype(int)
        X = self.rng.normal(size=(n, self.n_features))
        X[:, : self.n_signals] += self.distance * y[:, None]
        return X, y

    def losses(self, subset: np.ndarray) -> np.ndarray:
        """Return the out-of-fold losses of a subset of features."""
        losses = np.empty(len(self.y))
        for test in self.folds:
            train = np.setdiff1d(np.arange(len(self.y)), test)
            weights, offset = fit(self.X[train][:, subset], self.y[train])
            losses[test] = (self.X[test][:, subset] @ weights + offset > 0) != self.y[test]
        return losses

    def true_error(self, subset: np.ndarray) -> float:
        """Return the error on fresh rows of a subset of features, fitted on all rows."""
        X, y = self.draw(FRESH)
        weights, offset = fit(self.X[:, subset], self.y)
        return float(((X[:, subset] @ weights + offset > 0) != y).mean())

    def random_subset(self) -> np.ndarray:
        """Draw a subset, independently of all scores."""
        return self.not_empty(self.rng.random(self.n_features) < self.rng.choice([0.1, 0.2, 0.4]))

    def changed(self, subset: np.ndarray) -> np.ndarray:
        """Return the subset with one or two features added or removed."""
        other = subset.copy()
        other[self.rng.integers(self.n_features, size=self.rng.integers(1, 3))] ^= True
        return self.not_empty(other)

    def not_empty(self, subset: np.ndarray) -> np.ndarray:
        """Return the subset, with one feature if it has none."""
        if not subset.any():
            subset[self.rng.integers(self.n_features)] = True
        return subset

    def next_subset(self, kind: str, tried: list[np.ndarray], risks: list[float]) -> np.ndarray:
        """Return the subset that a kind of search tries next."""
        is_start = len(tried) < (FIRST_TRIALS if kind in ("evolution", "bayes") else 1)
        if kind == "random" or is_start or (kind == "mixed" and self.rng.random() < 0.5):
            return self.random_subset()
        if kind in ("greedy", "mixed"):
            return self.changed(tried[int(np.argmin(risks))])
        if kind == "evolution":
            parents = [
                tried[min(self.rng.choice(len(tried), 3), key=lambda i: risks[i])] for _ in range(2)
            ]
            return self.changed(np.where(self.rng.random(self.n_features) < 0.5, *parents))
        options = [self.random_subset() for _ in range(10)]
        options += [self.changed(tried[i]) for i in np.argsort(risks)[:10]]
        distances = (np.array(options)[:, None] != np.array(tried)).sum(axis=2)
        kernel = np.exp(-distances / 3)
        mass = kernel.sum(axis=1)
        means = (kernel @ np.array(risks) + 0.3 * np.mean(risks)) / (mass + 0.3)
        return options[int(np.argmin(means - np.std(risks) / np.sqrt(1 + mass)))]


def fit(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Fit a shrunken linear discriminant; return its weights and offset."""
    means = X[y == 1].mean(axis=0), X[y == 0].mean(axis=0)
    centred = np.vstack([X[y == 1] - means[0], X[y == 0] - means[1]])
    scatter = centred.T @ centred / max(len(y) - 2, 1) + 0.1 * np.eye(X.shape[1])
    weights = np.linalg.solve(scatter, means[0] - means[1])
    odds = np.log((y == 1).mean() / (y == 0).mean())
    return weights, float(-weights @ (means[0] + means[1]) / 2 + odds)


def rate(
    kind: str, n: int, signal: tuple[int, int, float], n_trials: int, n_sets: int
) -> tuple[np.ndarray, np.ndarray]:
    """Print and return whether the interval held and whether the search was found, by data set."""
    held, found, told, honest, true = [], [], [], [], []
    for number in range(n_sets):
        rng = np.random.default_rng([n, signal[1], n_trials, number])
        problem = Problem(rng, n, signal)
        tried: list[np.ndarray] = []
        losses: list[np.ndarray] = []
        risks: list[float] = []
        for _ in range(n_trials):
            tried.append(problem.next_subset(kind, tried, risks))
            losses.append(problem.losses(tried[-1]))
            risks.append(float(losses[-1].mean()))
        table, best = np.array(losses), int(np.argmin(risks))
        corrected = correct_risk_by_bootstrap(table, np.random.default_rng(number), replicates=500)
        test = order_test(np.array(risks), table, np.arange(n_trials), rng)
        true.append(problem.true_error(tried[best]))
        held.append(true[-1] in corrected.interval())
        found.append(test is not None and test.is_adaptive)
        told.append(risks[best])
        honest.append(corrected.value)
    print(
        f"{kind:9} n={n} signals={signal[1]} trials={n_trials}: held {np.mean(held):.2f}, found "
        f"{np.mean(found):.2f}; told {np.mean(told):.3f}, honest {np.mean(honest):.3f}, true "
        f"{np.mean(true):.3f}",
        flush=True,
    )
    return np.array(held), np.array(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Rate every cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--size", type=int, nargs=2, help="rows and trials; default: all sizes")
    given = parser.parse_args(arguments)
    one_blas_thread()
    sizes = SIZES if given.size is None else (tuple(given.size),)
    rated = {
        (kind, n, signal, n_trials): rate(kind, n, signal, n_trials, given.sets)
        for (n, n_trials), signal, kind in product(sizes, SIGNALS, KINDS)
    }
    print("search | found, fewer than 100 trials | found, more | held, worst cell | all | if shown")
    for kind in KINDS:
        cells = [(n_trials, *cell) for (k, _, _, n_trials), cell in rated.items() if k == kind]
        found = [
            np.mean([f for t, _, f in cells if (t >= 100) == is_long] or np.nan)
            for is_long in (False, True)
        ]
        by_cell = [held.mean() for _, held, _ in cells]
        shown = np.concatenate([held[~is_found] for _, held, is_found in cells])
        figures = (*found, min(by_cell), np.mean(by_cell), shown.mean())
        print(kind, *(f"{figure:.3f}" for figure in figures), f"({len(shown)} shown)", sep=" | ")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
