"""ParzenClassifier: Bayes' rule with a kernel density per class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

WORDS = ("lissack-fu", "maximum-likelihood")
N_TRIED = 48
GOLDEN = (5**0.5 - 1) / 2
NARROWER = 1e-4  # relative precision of a width
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
        """Return the sums for the training rows themselves: the kernel matrix without diagonal."""
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
        """Return log h^−d Σ K for each row and class; −inf if no row of the class is in reach."""
        return np.column_stack([self._log_sum(c, float(width)) for c, width in enumerate(widths)])

    def log_posteriors(self, widths: np.ndarray, priors: np.ndarray | None) -> np.ndarray:
        """Return leave-one-out log probabilities; without priors from shares of other rows."""
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
            log_posteriors: np.ndarray = joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))
        return log_posteriors

    def log_densities(self, widths: np.ndarray) -> np.ndarray:
        """Return the leave-one-out log density of each row in its class, up to a constant.

        A row that is alone in its class has none and counts as 0.
        """
        left = self.sizes[self.code] - 1
        sums = self.log_sums(widths)[np.arange(len(self.code)), self.code]
        return np.where(left > 0, sums - np.log(np.maximum(left, 1)), 0.0)

    def _log_sum(self, c: int, width: float) -> np.ndarray:
        if self._latest.get(c, (None, None))[0] != width:  # Often only one width changes.
            first = int(self.sizes[:c].sum())
            logs = self.kernel(self.squared[:, first : first + self.sizes[c]] / width**2)
            # Kernels decrease with the distance.
            largest = self.kernel(self.nearest[:, c] / width**2)
            largest = np.where(np.isneginf(largest), 0.0, largest)
            logs -= largest[:, None]
            with np.errstate(divide="ignore"):
                total = largest + np.log(np.exp(logs, out=logs).sum(axis=1))
            self._latest[c] = (width, total - self.n_features * np.log(width))
        return self._latest[c][1]


def chosen_widths(
    name: str, rows: DistanceSums, priors: np.ndarray | None, per_class: bool
) -> np.ndarray:
    """Return the width of each class that maximises the criterion of this name."""
    if name not in WORDS:
        raise ValueError(f"width={name!r} is unknown; use a number, {' or '.join(WORDS)}.")
    n_classes = len(rows.sizes)
    tried = _tried(rows.squared)
    if name == "maximum-likelihood":
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
    """Return the sum of the leave-one-out log posterior probabilities of the true classes."""
    judged = np.flatnonzero(rows.sizes[rows.code] > 1)
    if priors is not None:
        judged = judged[priors[rows.code[judged]] > 0]

    def criterion(widths: np.ndarray) -> float:
        return float(rows.log_posteriors(widths, priors)[judged, rows.code[judged]].sum())

    return criterion


def _common(criterion: Criterion, n_classes: int) -> Callable[[float], float]:
    return lambda width: criterion(np.full(n_classes, width))


def _one_by_one(criterion: Criterion, widths: np.ndarray, tried: np.ndarray) -> np.ndarray:
    """Optimise each width in turn, given the others, until none changes."""
    for _ in range(MOST_ROUNDS):
        before = widths.copy()
        for c in range(len(widths)):

            def of_one(width: float, c: int = c) -> float:
                return criterion(np.where(np.arange(len(widths)) == c, width, widths))

            best = _best(of_one, tried)
            if of_one(best) > of_one(float(widths[c])):
                widths[c] = best
        if np.allclose(widths, before, rtol=10 * NARROWER, atol=0.0):
            break
    return widths


def _tried(squared: np.ndarray) -> np.ndarray:
    """Return widths worth trying, from the largest to the smallest."""
    distances = np.sqrt(squared[(squared > 0) & np.isfinite(squared)])
    if not len(distances):
        # There is one row, or copies of one, so that every width gives the same result.
        return np.ones(1)
    return np.geomspace(4 * distances.max(), distances.min() / 4, N_TRIED)


def _best(criterion: Callable[[float], float], tried: np.ndarray) -> float:
    """Return the width with the largest criterion: the best one, refined by golden section."""
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


Kernel = Literal["gaussian", "exponential", "epanechnikov", "uniform"]
CELLS_AT_ONCE = 2**22  # maximum number of distances in memory during prediction


class ParzenClassifier(ClassifierMixin, BaseEstimator):
    r"""Bayes' rule with a kernel estimate of each class's density.

    .. math::
        \hat P(c \mid x) \propto \pi_c \, \frac{1}{n_c h_c^d} \sum_{i: y_i = c}
        K\!\left(\frac{\lVert x - x_i \rVert}{h_c}\right)

    All sums are computed in logarithms: far from the data the nearest rows still decide, and
    nothing underflows. If a kernel with bounded support (`epanechnikov`, `uniform`) reaches no row
    at all, the priors decide.

    The leave-one-out form, `leave_one_out_proba`, needs no refitting: it is computed from the
    kernel matrix of the training rows without its diagonal. Both ways of choosing the width use it.

    Parameters
    ----------
    width : float, sequence of float, "lissack-fu" or "maximum-likelihood", default="lissack-fu"
        The width h, in the unit of X (which is not scaled). Several numbers, one per class in the
        order of `classes_`, need `per_class=True`.

        "lissack-fu" maximises the geometric mean of the leave-one-out posterior probabilities of
        the true classes, :math:`\frac1n \sum_i \log \hat P_h^{(-i)}(y_i \mid x_i)`: one minus it is
        an estimate of the error from posterior probabilities. It is the criterion that PRTools
        (`parzenc`) names after Lissack and Fu (1976), whose estimates of the error are distances
        between posterior probabilities. Rows that are the only one of their class are passed over.

        "maximum-likelihood" maximises the leave-one-out likelihood of each row under the density
        of its own class, :math:`\sum_i \log \hat f_{y_i,h}^{(-i)}(x_i)` (Duin, 1976).

        Both are maximised over a grid of 48 widths, equally spaced in logarithms from a quarter of
        the smallest positive distance between rows to four times the largest, and refined between
        the neighbours of the best one; of equal ones the largest is taken. If every row has a copy
        in its class the likelihood grows without bound as the width shrinks, and the smallest
        width is taken. Each width tried costs O(n²).
    per_class : bool, default=False
        One width per class. The likelihood is then maximised class by class; the Lissack–Fu
        criterion cyclically, one width after the other, from the best common width.
    kernel : {"gaussian", "exponential", "epanechnikov", "uniform"}, default="gaussian"
        K(u) ∝ exp(−u²/2), exp(−u), max(0, 1 − u²) or [u ≤ 1].
    priors : array, shape (n_classes,), optional
        Prior probabilities in the order of `classes_`. The default are the shares of the classes.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        The classes, in sorted order.
    width_ : array, shape (n_classes,)
        The width of each class; all are equal unless `per_class` is True.
    priors_ : array, shape (n_classes,)
        The prior probabilities.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str, shape (n_features,)
        The names of the features, if X was a frame.

    See Also
    --------
    sklearn.neighbors.KernelDensity : Kernel estimate of one density.
    truerisk.models.QuadraticDiscriminant : Bayes' rule with normal densities.

    References
    ----------
    Parzen (1962), On estimation of a probability density function and mode. Lissack, Fu (1976),
    Error estimation in pattern recognition via L-distance between posterior density functions,
    IEEE Trans. Inform. Theory 22, 34–45. Duin (1976), On the choice of smoothing parameters for
    Parzen estimators of probability density functions, IEEE Trans. Computers 25, 1175–1179.

    Examples
    --------
    >>> import truerisk as tr
    >>> model = tr.models.ParzenClassifier(width=1.0).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> model.predict([[2.0], [1e6]]).tolist()
    ['a', 'b']
    """

    classes_: np.ndarray
    width_: np.ndarray
    priors_: np.ndarray

    def __init__(
        self,
        width: float | Sequence[float] | str = "lissack-fu",
        *,
        per_class: bool = False,
        kernel: Kernel = "gaussian",
        priors: Any = None,
    ) -> None:
        self.width = width
        self.per_class = per_class
        self.kernel = kernel
        self.priors = priors

    def fit(self, X: Any, y: Any) -> ParzenClassifier:
        """Store the rows and choose the width.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The training rows.
        y : array, shape (n_samples,)
            The labels of the training rows.

        Returns
        -------
        ParzenClassifier
            The fitted model.
        """
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel={self.kernel!r} is unknown; use {', '.join(KERNELS)}.")
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        by_class = np.argsort(codes.ravel(), kind="stable")  # Each class has contiguous columns.
        self._rows, self._order = X[by_class], by_class
        self._sizes = np.bincount(codes.ravel())
        self.priors_ = self._given_priors()
        self.width_ = self._widths()
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the posterior probabilities of the classes, in the order of `classes_`.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples, n_classes)
            The probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        step = max(1, CELLS_AT_ONCE // len(self._rows))
        pieces = [self._posterior(X[start : start + step]) for start in range(0, len(X), step)]
        return np.concatenate(pieces)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest posterior probability; of equal ones the first.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The predicted labels.
        """
        most = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most]

    def leave_one_out_proba(self) -> np.ndarray:
        """Return the class probabilities of each training row by the rule without that row.

        They are exactly those of a refit without the row with the same widths; with priors from the
        data the shares are computed without the row as well. A class whose only row is left out has
        probability 0.

        Returns
        -------
        array, shape (n_samples, n_classes)
            The probabilities, in the order of the training rows.
        """
        check_is_fitted(self)
        rows = DistanceSums.left_out(self._rows, self._sizes, self.kernel)
        priors = None if self.priors is None else self.priors_
        proba = np.empty((len(self._rows), len(self.classes_)))
        proba[self._order] = np.exp(rows.log_posteriors(self.width_, priors))
        return proba

    def _posterior(self, X: np.ndarray) -> np.ndarray:
        squared = cdist(X, self._rows, "sqeuclidean")
        rows = DistanceSums(squared, self._sizes, self.kernel, X.shape[1])
        with np.errstate(divide="ignore"):  # The logarithm of a prior of 0 is −inf.
            joint = rows.log_sums(self.width_) + np.log(self.priors_ / self._sizes)
            unreached = np.isneginf(joint).all(axis=1)
            joint[unreached] = np.log(self.priors_)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def _given_priors(self) -> np.ndarray:
        if self.priors is None:
            return self._sizes / self._sizes.sum()
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != self.classes_.shape:
            raise ValueError(
                f"priors has shape {priors.shape}; give one number for each of the "
                f"{len(self.classes_)} classes."
            )
        if not np.isfinite(priors).all() or (priors < 0).any() or abs(priors.sum() - 1) > 1e-8:
            raise ValueError(f"priors={self.priors!r} must be probabilities that add up to 1.")
        return priors

    def _widths(self) -> np.ndarray:
        n_classes = len(self.classes_)
        if isinstance(self.width, str):
            rows = DistanceSums.left_out(self._rows, self._sizes, self.kernel)
            priors = None if self.priors is None else self.priors_
            return chosen_widths(self.width, rows, priors, bool(self.per_class))
        if isinstance(self.width, Real) and not isinstance(self.width, bool):
            widths = np.full(n_classes, float(self.width))
        elif self.per_class:
            widths = np.asarray(self.width, dtype=np.float64)
        else:
            widths = np.empty(0)
        if widths.shape != (n_classes,):
            raise ValueError(
                f"width={self.width!r}: give one number, or with per_class=True one for each of "
                f"the {n_classes} classes."
            )
        if not (np.isfinite(widths) & (widths > 0)).all():
            raise ValueError(f"width={self.width!r}: widths must be positive and finite.")
        return widths
