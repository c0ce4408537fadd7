"""Problems that know the risk of any rule, given the x's of a large sample that never changes.

Rows are independent draws (class sizes vary with them). A rule is rated by its expected loss at
20,000 fixed x's: the labels are integrated out, so the only noise left is that of the x's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.datasets import make_difficult, make_highleyman, make_kearns, make_simple

__all__ = ["PROBLEMS", "Problem"]

TEST_ROWS = 20_000
Rows = np.ndarray


@dataclass(frozen=True)
class Problem:
    """How x is drawn, and what y is given x: the chance of class 1, or a mean and its noise."""

    name: str
    draw_x: Callable[[np.random.Generator, int], Rows]
    given_x: Callable[[Rows], Rows]
    noise: Callable[[np.random.Generator, int], Rows] | None = None
    noise_variance: float = 0.0

    @property
    def task(self) -> str:
        return "classification" if self.noise is None else "regression"

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """n independent rows; a draw without two rows of each class is drawn again."""
        while True:
            X = self.draw_x(rng, n)
            told = self.given_x(X)
            if self.noise is not None:
                return X, told + self.noise(rng, n)
            y = (rng.random(n) < told).astype(np.int64)
            if np.bincount(y, minlength=2).min() >= 2:
                return X, y

    @cached_property
    def _test(self) -> tuple[Rows, Rows]:
        X = self.draw_x(np.random.default_rng(20261121), TEST_ROWS)
        return X, self.given_x(X)

    def risk(self, rule: Any) -> float:
        """The expected loss of a fitted rule: zero-one, or squared."""
        X, told = self._test
        said = rule.predict(X)
        if self.noise is not None:
            return float(np.mean((said - told) ** 2) + self.noise_variance)
        return float(np.where(said == 1, 1 - told, told).mean())


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


def _heavy_tails() -> Problem:
    """A linear mean of 10 columns plus t noise with 5 degrees of freedom."""
    slopes = np.array([1.0, -1.0, 0.5, 0.5, 0.25, 0, 0, 0, 0, 0])
    return Problem(
        "heavy-tails",
        lambda rng, n: rng.standard_normal((n, 10)),
        lambda X: X @ slopes,
        noise=lambda rng, n: rng.standard_t(5, n),
        noise_variance=5 / 3,
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
        _heavy_tails(),
        _label_noise(),
    )
}
