"""One train set of least squares: centred, decomposed, and all penalties answered.

First from the small product of the rows (Z'Z, or ZZ' where there are more columns than rows), which
costs digits; where these could be missed, from the rows themselves. What rounding could still move,
in ours or in the learner's own arithmetic, is left open.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.kernels.spectral import (
    EPS,
    Spectrum,
    answers_at,
    contrasts,
    doubts_at,
    doubts_of_cholesky,
    from_product,
    from_rows,
    lengths_of_coefficients,
    without_first,
)
from truerisk.plan.answers import Response, code_type

DOUBT = 1e-10  # of the targets' spread: answers that rounding could move further are left open
MARGIN = 10.0  # a singular value this near to the cut-off may fall on either side of it
CLEAR = 1e-4  # below this an eigenvalue of the product says little about the singular value
TIE = 1e-8  # scores nearer than this are a tie: its winner is for scikit-learn to say
NARROW = 1e-10  # a cut-off below this does not tell a null direction from rounding


@frozen
class Manner:
    """How the learner solves: with penalties or not, its intercept, and what it cuts off."""

    penalised: bool
    intercept: bool
    cutoff: float = 0.0
    by_rows: bool = False  # by an SVD of the rows, not by a Cholesky factor of the product

    @classmethod
    def of(cls, setting: Mapping[str, Any]) -> Manner:
        """From the parameters of a LinearRegression, a Ridge or a RidgeClassifier."""
        intercept = bool(setting["fit_intercept"])
        if "alpha" in setting:
            return cls(True, intercept, by_rows=setting["solver"] == "svd")
        cutoff = float(setting["tol"]) if _cuts_at_tol() else EPS
        return cls(False, intercept, cutoff)

    def rank_is_clear(self, singular: np.ndarray, *, null: bool) -> bool:
        """Whether no direction is near the cut-off; `null`: one or more are zero up to rounding."""
        if self.penalised:
            return True
        if self.cutoff < NARROW and null:
            return False
        if not len(singular) or singular[0] == 0:
            return True
        ratio = singular / singular[0]
        near = (ratio > self.cutoff / MARGIN) & (ratio < self.cutoff * MARGIN)
        blurred = self.cutoff < NARROW and bool((ratio < CLEAR**2).any())
        return not near.any() and not blurred

    def works_on(self, smallest: float, largest: float, n: int, penalties: np.ndarray) -> Any:
        """Where the learner cannot take a null direction for one that counts, or warn of it."""
        if not self.penalised:
            return np.ones(len(penalties), dtype=bool)
        return smallest + penalties > MARGIN * n * EPS * (largest + penalties)


@lru_cache(maxsize=1)
def _cuts_at_tol() -> bool:
    """Whether this scikit-learn's LinearRegression drops directions below `tol`."""
    from sklearn.linear_model import LinearRegression

    model = LinearRegression(fit_intercept=False)
    model.fit(np.diag([1.0, 1e-9]), np.ones(2))
    return hasattr(model, "tol") and int(model.rank_) == 1


def scales(T: np.ndarray, mean: np.ndarray, total: float) -> np.ndarray:
    """The spread of each target, never far below its size."""
    spread = np.sqrt((T**2).sum(axis=0) / total) + 1e-6 * np.abs(mean)
    return np.where(spread > 0, spread, 1.0)


@frozen(eq=False)
class TrainSet:
    """Rows Z and targets T of a fit, centred and times the roots of the weights.

    Rows of weight 0 are not among them; `n_given` counts them, and copies.
    """

    Z: np.ndarray
    T: np.ndarray
    mean: np.ndarray
    mean_y: np.ndarray
    root: np.ndarray
    n_given: int
    intercept: bool

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        Y: np.ndarray,
        weights: np.ndarray | None,
        n_given: int,
        intercept: bool,
    ) -> TrainSet | None:
        """None where all weights are zero."""
        if weights is not None and not weights.all():
            X, Y, weights = X[weights > 0], Y[weights > 0], weights[weights > 0]
        if not len(X):
            return None
        root = np.ones(len(X)) if weights is None else np.sqrt(weights)
        mean, mean_y = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
        if intercept:
            mean = np.average(X, axis=0, weights=weights)
            mean_y = np.average(Y, axis=0, weights=weights)
        Z, T = X - mean, Y - mean_y
        if weights is not None:
            Z, T = Z * root[:, None], T * root[:, None]
        return cls(Z, T, mean, mean_y, root, n_given, intercept)

    @property
    def wide(self) -> bool:
        """Whether ZZ' is decomposed: where scikit-learn would, or its rounding would be another."""
        return self.n_given < self.Z.shape[1]

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and targets; where there are many columns, without the null direction of a mean."""
        if not (self.wide and self.intercept):
            return self.Z, self.T
        v = contrasts(self.root)
        return without_first(v, self.Z), without_first(v, self.T)

    @property
    def total(self) -> float:
        return float(self.root @ self.root)

    @property
    def scale(self) -> np.ndarray:
        return scales(self.T, self.mean_y, self.total)

    @property
    def shifted(self) -> float:
        """Rounding of the centred rows, over EPS."""
        return self.far * self.total**0.5

    @cached_property
    def far(self) -> float:
        """How far from zero the mean of the rows lies."""
        return float(np.linalg.norm(self.mean))


def solve(
    train: TrainSet, X: np.ndarray, manner: Manner, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Answers `(penalty, row, target)` about rows X, and for which penalties they are open."""
    centred = X - train.mean
    answers, open_, works = _by_product(train, centred, manner, penalties)
    again = open_ & works if train.wide else open_.copy()  # of wide rows no more can be told
    if again.any():
        careful, still = _by_rows(train, centred, manner, penalties[again])
        answers[again] = careful
        open_[again] = still
    return answers + train.mean_y, open_


def degrees_of_freedom(
    train: TrainSet, manner: Manner, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The trace of each penalty's hat matrix, and where rounding decides which directions count."""
    s = np.linalg.svd(train.Z, compute_uv=False) if train.Z.size else np.zeros(1)
    if not manner.penalised:
        null = train.wide or train.n_given > len(train.root)
        unclear = np.array([not manner.rank_is_clear(s, null=null)])
        free = np.array([float(np.count_nonzero(s > manner.cutoff * s[0]))])
    else:
        shares = s[:, None] ** 2 / np.maximum(s[:, None] ** 2 + penalties, np.finfo(float).tiny)
        unclear, free = penalties == 0, shares.sum(axis=0)
    return free + train.intercept, unclear


def _by_product(
    train: TrainSet, asked: np.ndarray, manner: Manner, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers, at which penalties they are open, and where the learner's own solver works."""
    Z, T = train.rows
    wide = train.wide
    product, right = (Z @ Z.T, T) if wide else (Z.T @ Z, Z.T @ T)
    noise = train.shifted * float(np.trace(product)) ** 0.5
    of_right = 0.0 if wide else (float(product.diagonal().max()) * train.total) ** 0.5
    spectrum = from_product(product, right, noise=noise, noise_right=of_right, dual=wide)
    left = (asked @ Z.T if wide else asked) @ spectrum.vectors
    smallest = float(spectrum.values.min(initial=np.inf))
    largest = float(spectrum.values.max(initial=0.0))
    works = manner.works_on(0.0 if wide else smallest, largest, train.n_given, penalties)
    stable = works & spectrum.stands(penalties)
    if not manner.penalised:
        null = wide and (train.intercept or train.n_given > len(train.root))
        singular = np.sqrt(np.maximum(spectrum.values[::-1], 0.0))
        stable &= smallest > CLEAR**2 * largest and manner.rank_is_clear(singular, null=null)
        if not stable.all():  # nothing may be divided by
            return np.zeros((len(penalties), len(asked), train.T.shape[1])), ~stable, works
    elif not stable.any():
        return np.zeros((len(penalties), len(asked), train.T.shape[1])), ~stable, works
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        answers = answers_at(left, spectrum, penalties)
        doubts = doubts_at(left, 0.0, spectrum, penalties, train.scale)
        doubts += location_doubts(spectrum, train.far, penalties, train.scale)
    return answers, ~(stable & (doubts <= DOUBT)), works


def _by_rows(
    train: TrainSet, asked: np.ndarray, manner: Manner, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    Z, T = train.rows
    wide, scale = train.wide, train.scale
    few = not wide and len(Z) < Z.shape[1]  # enough rows with their copies, too few without
    spectrum, singular = from_rows(Z, T, cutoff=manner.cutoff, noise=train.shifted)
    left = asked @ spectrum.vectors
    smallest = float(singular.min(initial=np.inf)) ** 2
    largest = float(singular.max(initial=0.0)) ** 2
    stable = manner.works_on(0.0 if wide or few else smallest, largest, train.n_given, penalties)
    stable &= spectrum.stands(penalties)
    null = few or (wide and (train.intercept or train.n_given > len(train.root)))
    stable &= manner.rank_is_clear(singular, null=null)
    length = float(np.sqrt((asked**2).sum(axis=1).max(initial=0.0)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        answers = answers_at(left, spectrum, penalties)
        doubts = doubts_at(left, length, spectrum, penalties, scale)
        doubts += location_doubts(spectrum, train.far, penalties, scale)
        if manner.penalised and not manner.by_rows:
            diagonal = (Z**2).sum(axis=1 if wide else 0)
            doubts += doubts_of_cholesky(
                left, asked, diagonal, spectrum, penalties, scale, wide=wide
            )
    return answers, ~(stable & (doubts <= DOUBT))


def location_doubts(
    spectrum: Spectrum, far: float, penalties: np.ndarray, scale: np.ndarray
) -> np.ndarray:
    """Rounding of rows that lie far from zero: an intercept is a difference of large numbers."""
    if not len(spectrum.values):
        return np.zeros(len(penalties))
    lengths = lengths_of_coefficients(spectrum, penalties, scale)
    return EPS * far * lengths


@frozen(eq=False)
class Coding:
    """Numbers as they are; classes as ±1, one column for two of them, else one per class.

    `present` are the codes of the classes that the fit sees (None: regression).
    """

    response: Response
    shape: tuple[int, ...]
    n_classes: int
    present: np.ndarray | None

    @classmethod
    def of(cls, data: Data, response: Response, seen: np.ndarray) -> Coding | None:
        """The coding of what a fit sees; None where that is one class only."""
        present = None if data.classes is None else np.unique(seen)
        if present is not None and len(present) == 1:
            return None
        return cls(response, data.y.shape[1:], data.n_classes, present)

    def numbers(self, y: np.ndarray) -> np.ndarray:
        """`(row, target)` from targets or class codes."""
        if self.present is None:
            return np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
        columns = self.present[1:] if len(self.present) == 2 else self.present
        return np.where(y[:, None] == columns, 1.0, -1.0)

    def answers(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Answers from `(candidate, row, target)`, and which of them a tie leaves open."""
        open_ = np.zeros(numbers.shape[:2], dtype=bool)
        if self.present is None:
            return numbers.reshape(*numbers.shape[:2], *self.shape), open_
        if self.response == "score":
            return numbers[:, :, 0], open_
        if len(self.present) == 2:
            place, open_ = (numbers[:, :, 0] > 0).astype(int), np.abs(numbers[:, :, 0]) <= TIE
        else:
            place = numbers.argmax(axis=2)
            upper = np.partition(numbers, -2, axis=2)
            open_ = upper[:, :, -1] - upper[:, :, -2] <= TIE
        return self.present[place].astype(code_type(self.n_classes)), open_
