"""Problems that know the risk of any rule, given the x's of a large sample that never changes.

Rows are independent draws (class sizes vary with them), or groups of rows are. A rule is rated by
its expected loss at 20,000 fixed x's: the labels are integrated out, so the only noise left is that
of the x's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.calibration.rating import Drawn, Rows, rated
from truerisk.datasets import make_difficult, make_highleyman, make_kearns, make_simple

__all__ = ["PROBLEMS", "Problem"]

TEST_ROWS = 20_000


@dataclass(frozen=True)
class Problem:
    """How x is drawn, and what y is given x: the chance of class 1, or a mean and its noise.

    With several classes it is the chance of each, in columns. `draw_groups` draws rows that depend
    on each other: X, y and groups; `draw_x` and `given_x` are then those of a single row. `weigh`
    says how much a row counts that lies there, in the sample and in the risk alike.
    """

    name: str
    draw_x: Callable[[np.random.Generator, int], Rows]
    given_x: Callable[[Rows], Rows]
    noise: Callable[[np.random.Generator, int], Rows] | None = None
    noise_variance: float = 0.0
    draw_groups: Callable[[np.random.Generator, int], tuple[Rows, Rows, Rows]] | None = None
    weigh: Callable[[Rows], Rows] | None = None

    @property
    def task(self) -> str:
        return "classification" if self.noise is None else "regression"

    def draw(self, n: int, rng: np.random.Generator) -> Drawn:
        """n rows and their groups; a draw without two rows of each class is drawn again."""
        while True:
            X, y, groups = self._drawn(n, rng)
            if self.noise is not None or np.bincount(y, minlength=self._n_classes).min() >= 2:
                weights = None if self.weigh is None else self.weigh(X)
                return Drawn(X, y, self.risk, groups, weights)

    def _drawn(self, n: int, rng: np.random.Generator) -> tuple[Rows, Rows, Rows | None]:
        if self.draw_groups is not None:
            return self.draw_groups(rng, n)
        X = self.draw_x(rng, n)
        told = self.given_x(X)
        if self.noise is not None:
            return X, told + self.noise(rng, n), None
        if told.ndim == 1:
            return X, (rng.random(n) < told).astype(np.int64), None
        return X, (rng.random((n, 1)) > told.cumsum(axis=1)[:, :-1]).sum(axis=1), None

    @property
    def _n_classes(self) -> int:
        told = self._test[1]
        return 2 if told.ndim == 1 else told.shape[1]

    @cached_property
    def _test(self) -> tuple[Rows, Rows]:
        X = self.draw_x(np.random.default_rng(20261121), TEST_ROWS)
        return X, self.given_x(X)

    def risk(self, rule: Any, loss: str = "") -> float:
        """The expected loss of a fitted rule: zero-one or squared, or the one that is named."""
        X, told = self._test
        weights = None if self.weigh is None else self.weigh(X)
        if loss not in ("", "zero-one", "squared"):
            return self._rated(rule, X, told, loss, weights)
        said = rule.predict(X)
        if self.noise is not None:
            return float(np.mean((said - told) ** 2) + self.noise_variance)
        if told.ndim == 2:
            wrong = 1 - told[np.arange(len(told)), said]
        else:
            wrong = np.where(said == 1, 1 - told, told)
        return float(np.average(wrong, weights=weights))

    def _rated(self, rule: Any, X: Rows, told: Rows, loss: str, weights: Rows | None) -> float:
        """The labels, or the noise, are integrated out here, too."""
        if loss == "absolute":
            noise = np.abs(np.subtract.outer(rule.predict(X[:2000]) - told[:2000], self._noises))
            return float(noise.mean())
        if loss == "r2":
            error = np.mean((rule.predict(X) - told) ** 2) + self.noise_variance
            return float(error / (told.var() + self.noise_variance))
        chances = told if told.ndim == 2 else np.column_stack([1 - told, told])
        if weights is not None:
            chances = chances * weights[:, None]
        labels = np.repeat(np.arange(chances.shape[1]), len(X))  # every x with every label
        return rated(rule, X, labels, self.task, loss, chances.T.ravel())

    @cached_property
    def _noises(self) -> Rows:
        assert self.noise is not None
        return self.noise(np.random.default_rng(20261122), 2000)


def _mixture(name: str, means: Any, covariances: Any, share: float = 0.5) -> Problem:
    """Two Gaussian classes, the second with probability `share`."""
    means, covariances = np.array(means, float), np.array(covariances, float)
    roots = [np.linalg.cholesky(c) for c in covariances]

    def draw_x(rng: np.random.Generator, n: int) -> Rows:
        label = (rng.random(n) < share).astype(int)
        noise = rng.standard_normal((n, means.shape[1]))
        each = [means[c] + noise @ roots[c].T for c in (0, 1)]
        return np.where(label[:, None] == 1, each[1], each[0])

    def chance(X: Rows) -> Rows:
        logs = []
        for mean, root, weight in zip(means, roots, (1 - share, share), strict=True):
            z = np.linalg.solve(root, (X - mean).T)
            logs.append(np.log(weight) - (z**2).sum(axis=0) / 2 - np.log(np.diag(root)).sum())
        return 1 / (1 + np.exp(np.clip(logs[0] - logs[1], -700, 700)))

    return Problem(name, draw_x, chance)


def _like(name: str, source: Any, share: float = 0.5) -> Problem:
    return _mixture(name, source.means, source.covariances, share)


def _sparse(n_columns: int = 200) -> Problem:
    """Two Gaussians that differ in 5 of 200 columns."""
    mean = np.zeros(n_columns)
    mean[:5] = 1.0
    return Problem(
        "sparse",
        lambda rng, n: rng.standard_normal((n, n_columns)) + mean * rng.integers(0, 2, (n, 1)),
        lambda X: 1 / (1 + np.exp(-(X[:, :5] - 0.5).sum(axis=1))),
    )


def _kearns() -> Problem:
    problem = make_kearns.with_noise(0.2)

    def chance(X: Rows) -> Rows:
        return np.where(problem.target(X[:, 0]) == 1, 0.8, 0.2)

    return Problem("kearns", lambda rng, n: rng.random((n, 1)), chance)


def _noise() -> Problem:
    return Problem(
        "noise", lambda rng, n: rng.standard_normal((n, 5)), lambda X: np.full(len(X), 0.5)
    )


def _label_noise() -> Problem:
    clean = _like("simple", make_simple)
    return Problem("label-noise", clean.draw_x, lambda X: 0.2 + 0.6 * clean.given_x(X))


def _weighted() -> Problem:
    """The same, but rows count up to ten times as much as others by where they lie."""
    return replace(_label_noise(), name="weighted", weigh=lambda X: np.exp(0.7 * X[:, 0]))


def _linear() -> Problem:
    """A linear mean of 10 columns plus normal noise."""
    slopes = np.array([1.0, -1.0, 0.5, 0.5, 0.25, 0, 0, 0, 0, 0])
    return Problem(
        "linear",
        lambda rng, n: rng.standard_normal((n, 10)),
        lambda X: X @ slopes,
        noise=lambda rng, n: np.sqrt(5 / 3) * rng.standard_normal(n),
        noise_variance=5 / 3,
    )


def _heavy_tails() -> Problem:
    """The same with t noise of 5 degrees of freedom, of the same variance."""
    return replace(_linear(), name="heavy-tails", noise=lambda rng, n: rng.standard_t(5, n))


def _patients(rows_each: int = 4) -> Problem:
    """Patients of one class with four rows each, which share a part of what makes them vary."""
    single = _mixture("patients", [[0, 0, 0], [1, 1, 0]], [1.3 * np.eye(3)] * 2)

    def draw_groups(rng: np.random.Generator, n: int) -> tuple[Rows, Rows, Rows]:
        groups = np.repeat(np.arange(n // rows_each), rows_each)
        y = rng.integers(0, 2, n // rows_each)[groups]
        own = np.sqrt(0.6) * rng.standard_normal((n // rows_each, 3))[groups]
        noise = np.sqrt(0.7) * rng.standard_normal((n, 3))
        return y[:, None] * np.array([1, 1, 0]) + own + noise, y, groups

    return replace(single, draw_groups=draw_groups)


def _corners() -> Problem:
    """Four classes, normal around the corners of a square of side 2."""
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])

    def chances(X: Rows) -> Rows:
        likely = np.exp(X @ corners.T)
        return likely / likely.sum(axis=1, keepdims=True)

    def draw_x(rng: np.random.Generator, n: int) -> Rows:
        return corners[rng.integers(0, 4, n)] + rng.standard_normal((n, 2))

    return Problem("corners", draw_x, chances)


def _xor() -> Problem:
    """The sign of a product, with a tenth of the labels wrong."""
    return Problem(
        "xor",
        lambda rng, n: rng.uniform(-1, 1, (n, 2)),
        lambda X: np.where(X[:, 0] * X[:, 1] > 0, 0.9, 0.1),
    )


def _wide() -> Problem:
    """Two Gaussians that differ in 8 of 60 columns."""
    mean = np.zeros(60)
    mean[:8] = 0.7
    return Problem(
        "wide",
        lambda rng, n: rng.standard_normal((n, 60)) + mean * rng.integers(0, 2, (n, 1)),
        lambda X: 1 / (1 + np.exp(-(0.7 * X[:, :8] - 0.245).sum(axis=1))),
    )


PROBLEMS = {
    problem.name: problem
    for problem in (
        _like("simple", make_simple),
        _like("difficult", make_difficult),
        _like("highleyman", make_highleyman),
        _kearns(),
        _sparse(),
        _noise(),
        _like("imbalanced", make_simple, share=0.1),
        _linear(),
        _heavy_tails(),
        _label_noise(),
        _weighted(),
        _patients(),
        _corners(),
        _xor(),
        _wide(),
    )
}
