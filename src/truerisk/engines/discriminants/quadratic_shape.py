"""The Gaussian of one class for every `reg_param`: axes from one decomposition, lengths for each.

The covariance is (1 − r) B/divisor + r I, with B the scatter of the class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from truerisk.engines.discriminants.scatter import (
    FLAT,
    Classes,
    Root,
    lengths,
    root_of,
    spectrum_of,
)

__all__ = ["CLEARLY", "Shape", "divisor_of", "knows_divisor", "shape_of"]

CLEARLY = 1 + 1e-6
LESS = {"n": 0, "n-1": 1}  # than the rows, by the word of the divisor
SMALLEST = 1e-11  # of the largest column
FEWEST = 1e-13  # of the largest eigenvalue: less is rounding


@dataclass(frozen=True, eq=False)
class Shape:
    """One class; row j of `weights` are the inverse variances along its axes for `regs[j]`.

    `values` are the eigenvalues of the scatter, all 1 where a root whitens it (`regs` is then 0).
    """

    mean: np.ndarray
    size: float
    axes: np.ndarray | Root
    values: np.ndarray
    regs: np.ndarray
    setting: Mapping[str, Any]

    @property
    def tol(self) -> float:
        return float(self.setting["tol"])

    @cached_property
    def divisor(self) -> float:
        """What the scatter is divided by."""
        return divisor_of(self.setting, self.size)

    def of_size(self, size: float) -> Shape | None:
        """The same scatter as if it were of so many rows; None where they are too few."""
        if size <= len(self.mean):
            return None
        return Shape(self.mean, size, self.axes, self.values, self.regs, self.setting)

    @cached_property
    def weights(self) -> np.ndarray:
        return 1 / self._variances(self.divisor)

    @cached_property
    def log_determinants(self) -> np.ndarray:
        logs: np.ndarray = np.log(self.weights)
        if isinstance(self.axes, Root):  # equal weights
            found: np.ndarray = self.axes.log_determinant - logs[:, 0] * len(self.mean)
        else:
            found = -logs.sum(axis=1)
        return found

    @cached_property
    def least_of_theirs(self) -> np.ndarray:
        """No eigenvalue of the covariance, as scikit-learn divides it, is smaller."""
        theirs = divisor_of({}, self.size)
        if isinstance(self.axes, Root):
            least: np.ndarray = np.array([self.axes.least_unscaled / theirs])
        else:
            least = self._variances(theirs).min(axis=1)
        return least

    @cached_property
    def has_full_rank(self) -> np.ndarray:
        """For every candidate, whether scikit-learn finds the covariance to be of full rank."""
        fine: np.ndarray = self.least_of_theirs > self.tol * CLEARLY
        if isinstance(self.axes, Root) and not fine.all():
            theirs = divisor_of({}, self.size)
            least = np.array([self.axes.least_unscaled_exactly() / theirs])
            fine = least > self.tol * CLEARLY
        return fine

    def squares(self, centred: np.ndarray) -> np.ndarray:
        """Squared coordinates along the axes (their sum alone, where a root whitens).

        Of rows less the mean, which are overwritten.
        """
        if isinstance(self.axes, Root):
            white = self.axes.whiten(centred, overwrite=True)
            sums = lengths(white)
            return sums.reshape(-1, 1)
        turned: np.ndarray = centred @ self.axes
        turned *= turned
        return turned

    def log_densities_of(self, squares: np.ndarray) -> np.ndarray:
        """Of every candidate, but for a common summand."""
        return -(self.distances(squares) + self.log_determinants[:, None]) / 2

    def distances(self, squares: np.ndarray) -> np.ndarray:
        """Squared distances in the metric of every candidate."""
        weights = self.weights[:, :1] if isinstance(self.axes, Root) else self.weights
        return weights @ squares.T

    def log_densities(self, rows: np.ndarray) -> np.ndarray:
        return self.log_densities_of(self.squares(rows - self.mean))

    def _variances(self, divisor: float) -> np.ndarray:
        regs = self.regs[:, None]
        return (1 - regs) * self.values / divisor + regs


def shape_of(
    classes: Classes, place: int, regs: np.ndarray, setting: Mapping[str, Any]
) -> Shape | None:
    """The shape of a class, None where its scatter cannot be inverted or has too few digits."""
    rows, mean = classes.of_class(place), classes.means[place]
    size, p = float(classes.sizes[place]), classes.n_features
    if len(rows) <= p:
        return None
    if len(regs) == 1 and regs[0] == 0:
        root = root_of(rows)
        if root is None or (root.scale <= size**0.5 * FLAT * classes.largest).any():
            return None
        if root.scale.min() < SMALLEST * root.scale.max():  # an SVD of the rows loses it
            return None
        return Shape(mean, size, root, np.ones(p), regs, setting)
    if (FLAT * classes.farthest) ** 2 > regs.min() and classes.is_flat(place):
        return None
    spectrum = spectrum_of(rows)
    if regs.min() == 0 and spectrum.values.min() <= FEWEST * spectrum.values.max():
        return None
    return Shape(mean, size, spectrum.vectors, spectrum.values, regs, setting)


def knows_divisor(setting: Mapping[str, Any]) -> bool:
    """Whether the setting says what a scatter is divided by."""
    return setting.get("divisor", _theirs()) in LESS


def divisor_of(setting: Mapping[str, Any], size: float) -> float:
    """What the scatter of so many rows is divided by."""
    return size - LESS[setting.get("divisor", _theirs())]


@cache
def _theirs() -> str:
    from truerisk.models.discriminant import divides_by_n

    return "n" if divides_by_n() else "n-1"
