"""Kernel sums over rows sorted by class, their leave-one-out form, and the widths it chooses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

__all__ = ["KERNELS", "WORDS", "Rows", "chosen_widths"]

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


class Rows:
    """Training rows sorted by class, as seen from themselves (each left out) or from others.

    `sizes[c]` rows belong to class c; columns of the distances follow in that order.
    """

    def __init__(self, rows: np.ndarray, sizes: np.ndarray, kernel: str) -> None:
        self.squared = cdist(rows, rows, "sqeuclidean")
        np.fill_diagonal(self.squared, np.inf)  # the kernel matrix minus its diagonal
        self.sizes, self.kernel, self.n_features = sizes, KERNELS[kernel], rows.shape[1]

    @classmethod
    def of(cls, squared: np.ndarray, sizes: np.ndarray, kernel: str, n_features: int) -> Rows:
        """Others, by their squared distances to the training rows."""
        made = cls.__new__(cls)
        made.squared, made.sizes, made.kernel = squared, sizes, KERNELS[kernel]
        made.n_features = n_features
        return made

    @cached_property
    def code(self) -> np.ndarray:
        """The class of each training row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def log_sums(self, widths: np.ndarray) -> np.ndarray:
        """Log h^−d Σ K for each row and class; −inf where no row of the class is in reach."""
        ends = np.cumsum(self.sizes)
        sums = [
            self._log_sum(slice(end - size, end), float(width))
            for end, size, width in zip(ends, self.sizes, widths, strict=True)
        ]
        return np.column_stack(sums)

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
            found: np.ndarray = joint - logsumexp(joint, axis=1, keepdims=True)
        return found

    def log_densities(self, widths: np.ndarray) -> np.ndarray:
        """Leave-one-out log density of each row under its own class, up to a constant.

        A row that is alone in its class has none and counts 0.
        """
        left = self.sizes[self.code] - 1
        sums = self.log_sums(widths)[np.arange(len(self.code)), self.code]
        return np.where(left > 0, sums - np.log(np.maximum(left, 1)), 0.0)

    def _log_sum(self, columns: slice, width: float) -> np.ndarray:
        logs = self.kernel(self.squared[:, columns] / width**2)
        total: np.ndarray = logsumexp(logs, axis=1) - self.n_features * np.log(width)
        return total


def chosen_widths(word: str, rows: Rows, priors: np.ndarray | None, per_class: bool) -> np.ndarray:
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


def _posterior_criterion(rows: Rows, priors: np.ndarray | None) -> Criterion:
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
    while high - low > NARROWER:
        near, far = low + (1 - GOLDEN) * (high - low), low + GOLDEN * (high - low)
        at_near, at_far = criterion(float(np.exp(near))), criterion(float(np.exp(far)))
        for point, value in ((near, at_near), (far, at_far)):
            if value > most:
                best, most = float(np.exp(point)), value
        low, high = (low, far) if at_near > at_far else (near, high)
    return best
