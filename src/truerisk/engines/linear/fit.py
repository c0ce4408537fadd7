"""One training set of least squares: centred, decomposed, and answered for all penalties.

The small product of the rows is tried first (Z'Z, or ZZ' if there are more columns than rows),
which costs digits. If these digits could matter, the rows themselves are decomposed. Predictions
that rounding could still change, in this arithmetic or in the learner's own, are left open.
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

# Share of the targets' spread. Predictions that rounding could move further are left open.
DOUBT = 1e-10
MARGIN = 10.0  # A singular value this close to the cut-off may fall on either side of it.
CLEAR = 1e-4  # Below this ratio an eigenvalue of the product determines the singular value poorly.
TIE = 1e-8  # Scores that are closer than this are tied; scikit-learn decides the winner.
NARROW = 1e-10  # A cut-off below this does not separate a null direction from rounding.


@frozen
class Manner:
    """Settings of a least-squares solver: penalty, intercept and cut-off of singular values."""

    penalised: bool
    intercept: bool
    cutoff: float = 0.0
    # True if it uses an SVD of the rows, not a Cholesky factor of the product.
    by_rows: bool = False

    @classmethod
    def from_setting(cls, setting: Mapping[str, Any]) -> Manner:
        """Read the manner from the parameters of a least-squares or ridge learner."""
        intercept = bool(setting["fit_intercept"])
        if "alpha" in setting:
            return cls(True, intercept, by_rows=setting["solver"] == "svd")
        cutoff = float(setting["tol"]) if _cuts_at_tol() else EPS
        return cls(False, intercept, cutoff)

    def rank_is_clear(self, singular: np.ndarray, *, null: bool) -> bool:
        """Return True if no direction is near the cut-off.

        `null` says that at least one direction is zero up to rounding.
        """
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
        """Return a mask of penalties for which the learner is not affected by null directions.

        At other penalties it might use a null direction, or warn of it.
        """
        if not self.penalised:
            return np.ones(len(penalties), dtype=bool)
        return smallest + penalties > MARGIN * n * EPS * (largest + penalties)


@lru_cache(maxsize=1)
def _cuts_at_tol() -> bool:
    """Return True if the installed LinearRegression drops directions below `tol`."""
    from sklearn.linear_model import LinearRegression

    model = LinearRegression(fit_intercept=False)
    model.fit(np.diag([1.0, 1e-9]), np.ones(2))
    return hasattr(model, "tol") and int(model.rank_) == 1


def scales(T: np.ndarray, mean: np.ndarray, total: float) -> np.ndarray:
    """Return the spread of each target, bounded from below relative to its size."""
    spread = np.sqrt((T**2).sum(axis=0) / total) + 1e-6 * np.abs(mean)
    return np.where(spread > 0, spread, 1.0)


@frozen(eq=False)
class TrainSet:
    """Rows Z and targets T of a fit, centred and multiplied by the square roots of the weights.

    Rows of weight 0 are dropped. `n_given` counts all rows, including those and copies.
    """

    Z: np.ndarray
    T: np.ndarray
    mean: np.ndarray
    mean_y: np.ndarray
    root: np.ndarray
    n_given: int
    intercept: bool

    @classmethod
    def from_rows(
        cls,
        X: np.ndarray,
        Y: np.ndarray,
        weights: np.ndarray | None,
        n_given: int,
        intercept: bool,
    ) -> TrainSet | None:
        """Centre and weight the rows of a fit. Return None if all weights are zero."""
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
        """True if ZZ' is decomposed, as scikit-learn does, so that its rounding is the same."""
        return self.n_given < self.Z.shape[1]

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and targets.

        If there are many columns, the null direction of the mean is removed.
        """
        if not (self.wide and self.intercept):
            return self.Z, self.T
        v = contrasts(self.root)
        return without_first(v, self.Z), without_first(v, self.T)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.root @ self.root)

    @property
    def scale(self) -> np.ndarray:
        """Spread of each target, against which rounding errors are judged."""
        return scales(self.T, self.mean_y, self.total)

    @property
    def shifted(self) -> float:
        """Rounding error of the centred rows, in units of EPS."""
        return self.far * self.total**0.5

    @cached_property
    def far(self) -> float:
        """Distance of the mean of the rows from zero."""
        return float(np.linalg.norm(self.mean))


def solve(
    train: TrainSet, X: np.ndarray, manner: Manner, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return predictions `(penalty, row, target)` for rows X, and a mask of open penalties."""
    centred = X - train.mean
    answers, open_, works = _by_product(train, centred, manner, penalties)
    # Wide rows with a null direction cannot be answered more precisely.
    again = open_ & works if train.wide else open_.copy()
    if again.any():
        careful, still = _by_rows(train, centred, manner, penalties[again])
        answers[again] = careful
        open_[again] = still
    return answers + train.mean_y, open_


def degrees_of_freedom(
    train: TrainSet, manner: Manner, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the trace of each penalty's hat matrix, and a mask of those that rounding decides."""
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
    train: TrainSet, test_rows: np.ndarray, manner: Manner, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return predictions, a mask of open penalties, and a mask of those where the solver works."""
    Z, T = train.rows
    wide = train.wide
    product, right = (Z @ Z.T, T) if wide else (Z.T @ Z, Z.T @ T)
    noise = train.shifted * float(np.trace(product)) ** 0.5
    of_right = 0.0 if wide else (float(product.diagonal().max()) * train.total) ** 0.5
    spectrum = from_product(product, right, noise=noise, noise_right=of_right, dual=wide)
    left = (test_rows @ Z.T if wide else test_rows) @ spectrum.vectors
    smallest = float(spectrum.values.min(initial=np.inf))
    largest = float(spectrum.values.max(initial=0.0))
    works = manner.works_on(0.0 if wide else smallest, largest, train.n_given, penalties)
    stable = works & spectrum.stands(penalties)
    if not manner.penalised:
        null = wide and (train.intercept or train.n_given > len(train.root))
        singular = np.sqrt(np.maximum(spectrum.values[::-1], 0.0))
        stable &= smallest > CLEAR**2 * largest and manner.rank_is_clear(singular, null=null)
        if not stable.all():  # Division by these values would be unsafe.
            return np.zeros((len(penalties), len(test_rows), train.T.shape[1])), ~stable, works
    elif not stable.any():
        return np.zeros((len(penalties), len(test_rows), train.T.shape[1])), ~stable, works
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        answers = answers_at(left, spectrum, penalties)
        doubts = doubts_at(left, 0.0, spectrum, penalties, train.scale)
        doubts += location_doubts(spectrum, train.far, penalties, train.scale)
    return answers, ~(stable & (doubts <= DOUBT)), works


def _by_rows(
    train: TrainSet, test_rows: np.ndarray, manner: Manner, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    Z, T = train.rows
    wide, scale = train.wide, train.scale
    # There are enough rows with their copies, but too few without them.
    few = not wide and len(Z) < Z.shape[1]
    spectrum, singular = from_rows(Z, T, cutoff=manner.cutoff, noise=train.shifted)
    left = test_rows @ spectrum.vectors
    smallest = float(singular.min(initial=np.inf)) ** 2
    largest = float(singular.max(initial=0.0)) ** 2
    stable = manner.works_on(0.0 if wide or few else smallest, largest, train.n_given, penalties)
    stable &= spectrum.stands(penalties)
    null = few or (wide and (train.intercept or train.n_given > len(train.root)))
    stable &= manner.rank_is_clear(singular, null=null)
    length = float(np.sqrt((test_rows**2).sum(axis=1).max(initial=0.0)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        answers = answers_at(left, spectrum, penalties)
        doubts = doubts_at(left, length, spectrum, penalties, scale)
        doubts += location_doubts(spectrum, train.far, penalties, scale)
        if manner.penalised and not manner.by_rows:
            diagonal = (Z**2).sum(axis=1 if wide else 0)
            doubts += doubts_of_cholesky(
                left, test_rows, diagonal, spectrum, penalties, scale, wide=wide
            )
    return answers, ~(stable & (doubts <= DOUBT))


def location_doubts(
    spectrum: Spectrum, far: float, penalties: np.ndarray, scale: np.ndarray
) -> np.ndarray:
    """Return the rounding error due to rows far from zero.

    Their intercept is a difference of large numbers.
    """
    if not len(spectrum.values):
        return np.zeros(len(penalties))
    lengths = lengths_of_coefficients(spectrum, penalties, scale)
    return EPS * far * lengths


@frozen(eq=False)
class Coding:
    """Targets as numbers: regression targets unchanged, classes as ±1.

    Two classes share one column; otherwise there is one column per class. `present` holds the codes
    of the training classes (None: regression).
    """

    response: Response
    shape: tuple[int, ...]
    n_classes: int
    present: np.ndarray | None

    @classmethod
    def from_data(cls, data: Data, response: Response, seen: np.ndarray) -> Coding | None:
        """Return the coding of the training targets; None if they contain one class only."""
        present = None if data.classes is None else np.unique(seen)
        if present is not None and len(present) == 1:
            return None
        return cls(response, data.y.shape[1:], data.n_classes, present)

    def numbers(self, y: np.ndarray) -> np.ndarray:
        """Return `(row, target)` numbers from targets or class codes."""
        if self.present is None:
            return np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
        columns = self.present[1:] if len(self.present) == 2 else self.present
        return np.where(y[:, None] == columns, 1.0, -1.0)

    def answers(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions from `(candidate, row, target)`; also return a mask of tied ones.

        Ties are left open.
        """
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
