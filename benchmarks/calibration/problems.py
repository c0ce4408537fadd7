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

from truerisk.core.loss_words import as_loss
from truerisk.core.table.data import Data
from truerisk.datasets import make_difficult, make_highleyman, make_kearns, make_simple

__all__ = ["PROBLEMS", "Problem"]

TEST_ROWS = 20_000
Rows = np.ndarray


@dataclass(frozen=True)
class Problem:
    """How x is drawn, and what y is given x: the chance of class 1, or a mean and its noise.

    With several classes it is the chance of each, in columns. `draw_groups` draws rows that depend
    on each other: X, y and groups; `draw_x` and `given_x` are then those of a single row.
    """

    name: str
    draw_x: Callable[[np.random.Generator, int], Rows]
    given_x: Callable[[Rows], Rows]
    noise: Callable[[np.random.Generator, int], Rows] | None = None
    noise_variance: float = 0.0
    draw_groups: Callable[[np.random.Generator, int], tuple[Rows, Rows, Rows]] | None = None

    @property
    def task(self) -> str:
        return "classification" if self.noise is None else "regression"

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Rows, Rows, Rows | None]:
        """n rows and their groups; a draw without two rows of each class is drawn again."""
        while True:
            X, y, groups = self._drawn(n, rng)
            if self.noise is not None or np.bincount(y, minlength=self._n_classes).min() >= 2:
                return X, y, groups

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
        if loss not in ("", "zero-one", "squared"):
            return self._rated(rule, X, told, loss)
        said = rule.predict(X)
        if self.noise is not None:
            return float(np.mean((said - told) ** 2) + self.noise_variance)
        if told.ndim == 2:
            return float(1 - told[np.arange(len(told)), said].mean())
        return float(np.where(said == 1, 1 - told, told).mean())

    def _rated(self, rule: Any, X: Rows, told: Rows, loss: str) -> float:
        """The labels, or the noise, are integrated out here, too."""
        if loss == "absolute":
            noise = np.abs(np.subtract.outer(rule.predict(X[:2000]) - told[:2000], self._noises))
            return float(noise.mean())
        if loss == "r2":
            error = np.mean((rule.predict(X) - told) ** 2) + self.noise_variance
            return float(error / (told.var() + self.noise_variance))
        both = np.repeat([1, 0], len(told))  # every x with both labels, weighted by their chances
        data = Data.check(np.zeros((len(both), 1)), both, task="classification")
        rated = as_loss(loss, data)
        said = np.concatenate([_answers(rule, X, rated.response)] * 2)[None]
        return float(rated.of_set(data, np.arange(len(both)), said, np.r_[told, 1 - told])[0])

    @cached_property
    def _noises(self) -> Rows:
        assert self.noise is not None
        return self.noise(np.random.default_rng(20261122), 2000)


def _answers(rule: Any, X: Rows, response: str) -> Rows:
    """What a loss asks of a rule: labels, probabilities or scores to rank by."""
    if response == "label":
        return np.asarray(rule.predict(X))
    if response == "score" and hasattr(rule, "decision_function"):
        return np.asarray(rule.decision_function(X))
    chances = np.asarray(rule.predict_proba(X))
    return chances[:, 1] if response == "score" else chances


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
        _patients(),
        _corners(),
        _xor(),
        _wide(),
    )
}
