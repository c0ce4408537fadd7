"""Kernel sums over rows sorted by class, their leave-one-out form, and the widths it chooses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

__all__ = ["KERNELS", "WORDS", "DistanceSums", "chosen_widths"]

WORDS = ("lissack-fu", "maximum-likelihood")
N_TRIED = 48
GOLDEN = (5**0.5 - 1) / 2
NARROWER = 1e-4  # a width is known to this share of itself
MOST_ROUNDS = 20

Criterion = Callable[[np.ndarray], float]


def _epanechnikov(squared: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        logarithm: np.ndarray = np.log(np.maximum(0.0, 1.0 - squared))
    return logarithm


KERNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gaussian": lambda squared: -squared / 2,
    "exponential": lambda squared: -np.sqrt(squared),
    "epanechnikov": _epanechnikov,
    "uniform": lambda squared: np.where(squared <= 1, 0.0, -np.inf),
}
"""Logarithm of each kernel, up to a constant, from the squared distance in widths."""


class DistanceSums:
    """Sums over training rows sorted by class, from their squared distances to some rows.

    `sizes[c]` rows belong to class c; columns of the distances follow in that order.
    """

    def __init__(
        self, squared: np.ndarray, sizes: np.ndarray, kernel: str, n_features: int
    ) -> None:
        self.squared = squared
        self.sizes, self.kernel, self.n_features = sizes, KERNELS[kernel], n_features
        self._latest: dict[int, tuple[float, np.ndarray]] = {}

    @classmethod
    def left_out(cls, rows: np.ndarray, sizes: np.ndarray, kernel: str) -> DistanceSums:
        """The training rows themselves: the kernel matrix minus its diagonal."""
        squared = cdist(rows, rows, "sqeuclidean")
        np.fill_diagonal(squared, np.inf)
        return cls(squared, sizes, kernel, rows.shape[1])

    @cached_property
    def code(self) -> np.ndarray:
        """The class of each training row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def nearest(self) -> np.ndarray:
        """Squared distance to the nearest training row of each class."""
        starts = np.cumsum(self.sizes) - self.sizes
        return np.minimum.reduceat(self.squared, starts, axis=1)

    def log_sums(self, widths: np.ndarray) -> np.ndarray:
        """Log h^−d Σ K for each row and class; −inf where no row of the class is in reach."""
        return np.column_stack([self._log_sum(c, float(width)) for c, width in enumerate(widths)])

    def log_posteriors(self, widths: np.ndarray, priors: np.ndarray | None) -> np.ndarray:
        """Leave-one-out log probabilities; with priors None the shares of the rows left."""
        sums = self.log_sums(widths)
        left = self.sizes - (self.code[:, None] == np.arange(len(self.sizes)))
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.log(left / left.sum(axis=1, keepdims=True) if priors is None else priors)
            joint = np.where(left > 0, sums + weights - np.log(left), -np.inf)
            unreached = np.isneginf(joint).all(axis=1)
            fallback = np.where(left > 0, np.broadcast_to(weights, joint.shape), -np.inf)
            joint[unreached] = fallback[unreached]
            largest = joint.max(axis=1, keepdims=True)
            joint -= largest
            found: np.ndarray = joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))
        return found

    def log_densities(self, widths: np.ndarray) -> np.ndarray:
        """Leave-one-out log density of each row under its own class, up to a constant.

        A row that is alone in its class has none and counts 0.
        """
        left = self.sizes[self.code] - 1
        sums = self.log_sums(widths)[np.arange(len(self.code)), self.code]
        return np.where(left > 0, sums - np.log(np.maximum(left, 1)), 0.0)

    def _log_sum(self, c: int, width: float) -> np.ndarray:
        if self._latest.get(c, (None, None))[0] != width:  # one width may move while others stay
            first = int(self.sizes[:c].sum())
            logs = self.kernel(self.squared[:, first : first + self.sizes[c]] / width**2)
            largest = self.kernel(self.nearest[:, c] / width**2)  # kernels fall with the distance
            largest = np.where(np.isneginf(largest), 0.0, largest)
            logs -= largest[:, None]
            with np.errstate(divide="ignore"):
                total = largest + np.log(np.exp(logs, out=logs).sum(axis=1))
            self._latest[c] = (width, total - self.n_features * np.log(width))
        return self._latest[c][1]


def chosen_widths(
    word: str, rows: DistanceSums, priors: np.ndarray | None, per_class: bool
) -> np.ndarray:
    """The width of each class that maximises the criterion behind the word."""
    if word not in WORDS:
        raise ValueError(f"width={word!r} is unknown; use a number, {' or '.join(WORDS)}.")
    n_classes = len(rows.sizes)
    tried = _tried(rows.squared)
    if word == "maximum-likelihood":
        densities = rows.log_densities

        def likelihood(of_rows: np.ndarray) -> Criterion:
            return lambda widths: float(densities(widths)[of_rows].sum())

        groups = [rows.code == c for c in range(n_classes)] if per_class else [rows.code >= 0]
        best = [_best(_common(likelihood(group), n_classes), tried) for group in groups]
        return np.array(best if per_class else best * n_classes)

    criterion = _posterior_criterion(rows, priors)
    widths = np.full(n_classes, _best(_common(criterion, n_classes), tried))
    return _one_by_one(criterion, widths, tried) if per_class else widths


def _posterior_criterion(rows: DistanceSums, priors: np.ndarray | None) -> Criterion:
    """The sum of the log posterior probabilities of the true classes, each row left out."""
    judged = np.flatnonzero(rows.sizes[rows.code] > 1)
    if priors is not None:
        judged = judged[priors[rows.code[judged]] > 0]

    def criterion(widths: np.ndarray) -> float:
        return float(rows.log_posteriors(widths, priors)[judged, rows.code[judged]].sum())

    return criterion


def _common(criterion: Criterion, n_classes: int) -> Callable[[float], float]:
    return lambda width: criterion(np.full(n_classes, width))


def _one_by_one(criterion: Criterion, widths: np.ndarray, tried: np.ndarray) -> np.ndarray:
    """Each width in turn at its best given the others, until none moves."""
    for _ in range(MOST_ROUNDS):
        before = widths.copy()
        for c in range(len(widths)):

            def of_one(width: float, c: int = c) -> float:
                return criterion(np.where(np.arange(len(widths)) == c, width, widths))

            found = _best(of_one, tried)
            if of_one(found) > of_one(float(widths[c])):
                widths[c] = found
        if np.allclose(widths, before, rtol=10 * NARROWER, atol=0.0):
            break
    return widths


def _tried(squared: np.ndarray) -> np.ndarray:
    """Widths from the largest to the smallest that are worth trying."""
    distances = np.sqrt(squared[(squared > 0) & np.isfinite(squared)])
    if not len(distances):
        return np.ones(1)  # one row, or copies of one: every width says the same
    return np.geomspace(4 * distances.max(), distances.min() / 4, N_TRIED)


def _best(criterion: Callable[[float], float], tried: np.ndarray) -> float:
    """The width with the largest criterion: the best one tried, refined by golden section."""
    values = [criterion(float(width)) for width in tried]
    at = int(np.argmax(values))
    low, high = np.log(tried[min(at + 1, len(tried) - 1)]), np.log(tried[max(at - 1, 0)])
    best, most = float(tried[at]), values[at]
    near, far = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_near, at_far = criterion(float(np.exp(near))), criterion(float(np.exp(far)))
    while True:
        for point, value in ((near, at_near), (far, at_far)):
            if value > most:
                best, most = float(np.exp(point)), value
        if high - low <= NARROWER:
            return best
        if at_near > at_far:
            high, far, at_far = far, near, at_near
            near = high - GOLDEN * (high - low)
            at_near = criterion(float(np.exp(near)))
        else:
            low, near, at_near = near, far, at_far
            far = low + GOLDEN * (high - low)
            at_far = criterion(float(np.exp(far)))
