"""ParzenClassifier: Bayes' rule with a kernel density estimate for each class."""

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

from truerisk.core.documented import DocumentedEstimator

WIDTH_CRITERIA = ("lissack-fu", "maximum-likelihood")
N_CANDIDATE_WIDTHS = 48
GOLDEN_RATIO = (5**0.5 - 1) / 2
# An optimised width has this relative precision.
WIDTH_TOLERANCE = 1e-4
MAX_ROUNDS = 20

Criterion = Callable[[np.ndarray], float]


def _log_epanechnikov(squared_ratio: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        logarithm: np.ndarray = np.log(np.maximum(0.0, 1.0 - squared_ratio))
    return logarithm


KERNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gaussian": lambda squared_ratio: -squared_ratio / 2,
    "exponential": lambda squared_ratio: -np.sqrt(squared_ratio),
    "epanechnikov": _log_epanechnikov,
    "uniform": lambda squared_ratio: np.where(squared_ratio <= 1, 0.0, -np.inf),
}
"""Functions that compute the log kernel, up to a constant, from (distance / width)²."""


class KernelSums:
    """Kernel sums over the training rows of each class, from squared distances to some rows.

    The training rows are sorted by class, and `sizes[c]` of them belong to class c. The columns of
    the distance matrix are in the same order.
    """

    def __init__(
        self, squared: np.ndarray, sizes: np.ndarray, kernel: str, n_features: int
    ) -> None:
        self.squared_distances = squared
        self.class_sizes, self.kernel, self.n_features = sizes, KERNELS[kernel], n_features
        self._latest: dict[int, tuple[float, np.ndarray]] = {}

    @classmethod
    def from_training_rows(cls, rows: np.ndarray, sizes: np.ndarray, kernel: str) -> KernelSums:
        """Return the kernel sums at the training rows, where each sum omits the row itself.

        The kernel matrix has no diagonal, so that all results are leave-one-out results.
        """
        squared_distances = cdist(rows, rows, "sqeuclidean")
        np.fill_diagonal(squared_distances, np.inf)
        return cls(squared_distances, sizes, kernel, rows.shape[1])

    @cached_property
    def class_codes(self) -> np.ndarray:
        """Class code of each training row."""
        return np.repeat(np.arange(len(self.class_sizes)), self.class_sizes)

    @cached_property
    def nearest_squared_distances(self) -> np.ndarray:
        """Squared distance of each row to the nearest training row of each class."""
        first_columns = np.cumsum(self.class_sizes) - self.class_sizes
        return np.minimum.reduceat(self.squared_distances, first_columns, axis=1)

    def log_kernel_sums(self, widths: np.ndarray) -> np.ndarray:
        """Return the logarithm of the kernel sum of each class at each row.

        The sum is h^−d Σ K, with width h, d features and kernel K. The logarithm is −inf if the
        kernel is 0 at all training rows of the class.
        """
        return np.column_stack(
            [
                self._log_kernel_sum(class_code, float(width))
                for class_code, width in enumerate(widths)
            ]
        )

    def log_posteriors(self, widths: np.ndarray, priors: np.ndarray | None) -> np.ndarray:
        """Return leave-one-out log posterior probabilities of the classes.

        Without `priors`, the priors are the class shares of the other rows.
        """
        log_kernel_sums = self.log_kernel_sums(widths)
        n_other_rows = self.class_sizes - (
            self.class_codes[:, None] == np.arange(len(self.class_sizes))
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            log_priors = np.log(
                n_other_rows / n_other_rows.sum(axis=1, keepdims=True) if priors is None else priors
            )
            log_joint = np.where(
                n_other_rows > 0, log_kernel_sums + log_priors - np.log(n_other_rows), -np.inf
            )
            has_no_neighbour = np.isneginf(log_joint).all(axis=1)
            log_priors_of_row = np.where(
                n_other_rows > 0, np.broadcast_to(log_priors, log_joint.shape), -np.inf
            )
            log_joint[has_no_neighbour] = log_priors_of_row[has_no_neighbour]
            largest_log_joint = log_joint.max(axis=1, keepdims=True)
            log_joint -= largest_log_joint
            log_posteriors: np.ndarray = log_joint - np.log(
                np.exp(log_joint).sum(axis=1, keepdims=True)
            )
        return log_posteriors

    def log_densities(self, widths: np.ndarray) -> np.ndarray:
        """Return each row's leave-one-out log density under its own class, up to a constant.

        The only row of a class has no such density, and its entry is 0.
        """
        n_other_rows = self.class_sizes[self.class_codes] - 1
        log_kernel_sums = self.log_kernel_sums(widths)[
            np.arange(len(self.class_codes)), self.class_codes
        ]
        return np.where(
            n_other_rows > 0, log_kernel_sums - np.log(np.maximum(n_other_rows, 1)), 0.0
        )

    def _log_kernel_sum(self, class_code: int, width: float) -> np.ndarray:
        # Often only one class has a new width since the last call, so earlier results are kept.
        if self._latest.get(class_code, (None, None))[0] != width:
            first_column = int(self.class_sizes[:class_code].sum())
            log_kernels = self.kernel(
                self.squared_distances[
                    :, first_column : first_column + self.class_sizes[class_code]
                ]
                / width**2
            )
            # Kernels decrease with the distance, so the nearest row has the largest value.
            largest_log_kernel = self.kernel(
                self.nearest_squared_distances[:, class_code] / width**2
            )
            largest_log_kernel = np.where(np.isneginf(largest_log_kernel), 0.0, largest_log_kernel)
            log_kernels -= largest_log_kernel[:, None]
            with np.errstate(divide="ignore"):
                log_sums = largest_log_kernel + np.log(
                    np.exp(log_kernels, out=log_kernels).sum(axis=1)
                )
            self._latest[class_code] = (width, log_sums - self.n_features * np.log(width))
        return self._latest[class_code][1]


def choose_widths(
    criterion_name: str, kernel_sums: KernelSums, priors: np.ndarray | None, per_class: bool
) -> np.ndarray:
    """Choose a width for each class so that the criterion called `criterion_name` is largest."""
    if criterion_name not in WIDTH_CRITERIA:
        raise ValueError(
            f"width={criterion_name!r} is unknown; use a number, {' or '.join(WIDTH_CRITERIA)}."
        )
    n_classes = len(kernel_sums.class_sizes)
    candidate_widths = _candidate_widths(kernel_sums.squared_distances)
    if criterion_name == "maximum-likelihood":
        log_densities = kernel_sums.log_densities

        def likelihood(row_mask: np.ndarray) -> Criterion:
            return lambda widths: float(log_densities(widths)[row_mask].sum())

        row_masks = (
            [kernel_sums.class_codes == class_code for class_code in range(n_classes)]
            if per_class
            else [kernel_sums.class_codes >= 0]
        )
        best_widths = [
            _best_width(
                _criterion_of_common_width(likelihood(row_mask_of_class), n_classes),
                candidate_widths,
            )
            for row_mask_of_class in row_masks
        ]
        return np.array(best_widths if per_class else best_widths * n_classes)

    criterion = _posterior_criterion(kernel_sums, priors)
    widths = np.full(
        n_classes, _best_width(_criterion_of_common_width(criterion, n_classes), candidate_widths)
    )
    return _optimise_one_by_one(criterion, widths, candidate_widths) if per_class else widths


def _posterior_criterion(kernel_sums: KernelSums, priors: np.ndarray | None) -> Criterion:
    """Return the Lissack-Fu criterion: the sum of leave-one-out log posteriors of true classes."""
    evaluated_rows = np.flatnonzero(kernel_sums.class_sizes[kernel_sums.class_codes] > 1)
    if priors is not None:
        evaluated_rows = evaluated_rows[priors[kernel_sums.class_codes[evaluated_rows]] > 0]

    def criterion(widths: np.ndarray) -> float:
        return float(
            kernel_sums.log_posteriors(widths, priors)[
                evaluated_rows, kernel_sums.class_codes[evaluated_rows]
            ].sum()
        )

    return criterion


def _criterion_of_common_width(criterion: Criterion, n_classes: int) -> Callable[[float], float]:
    return lambda width: criterion(np.full(n_classes, width))


def _optimise_one_by_one(
    criterion: Criterion, widths: np.ndarray, candidate_widths: np.ndarray
) -> np.ndarray:
    """Maximise the criterion over the width of one class at a time, until no width changes."""
    for _ in range(MAX_ROUNDS):
        previous_widths = widths.copy()
        for c in range(len(widths)):

            def criterion_of_one_width(width: float, c: int = c) -> float:
                return criterion(np.where(np.arange(len(widths)) == c, width, widths))

            best_width = _best_width(criterion_of_one_width, candidate_widths)
            if criterion_of_one_width(best_width) > criterion_of_one_width(float(widths[c])):
                widths[c] = best_width
        if np.allclose(widths, previous_widths, rtol=10 * WIDTH_TOLERANCE, atol=0.0):
            break
    return widths


def _candidate_widths(squared_distances: np.ndarray) -> np.ndarray:
    """Return a grid of candidate widths, from the largest to the smallest."""
    distances = np.sqrt(squared_distances[(squared_distances > 0) & np.isfinite(squared_distances)])
    if not len(distances):
        # There is one row, or all rows are equal, so that every width gives the same result.
        return np.ones(1)
    return np.geomspace(4 * distances.max(), distances.min() / 4, N_CANDIDATE_WIDTHS)


def _best_width(criterion: Callable[[float], float], candidate_widths: np.ndarray) -> float:
    """Return the width with the largest criterion.

    The best width on a grid is refined by a golden-section search between its neighbours.
    """
    values = [criterion(float(width)) for width in candidate_widths]
    best_index = int(np.argmax(values))
    log_low, log_high = (
        np.log(candidate_widths[min(best_index + 1, len(candidate_widths) - 1)]),
        np.log(candidate_widths[max(best_index - 1, 0)]),
    )
    best_width, best_value = float(candidate_widths[best_index]), values[best_index]
    log_inner_low, log_inner_high = (
        log_high - GOLDEN_RATIO * (log_high - log_low),
        log_low + GOLDEN_RATIO * (log_high - log_low),
    )
    value_inner_low, value_inner_high = (
        criterion(float(np.exp(log_inner_low))),
        criterion(float(np.exp(log_inner_high))),
    )
    while True:
        for log_width, value in (
            (log_inner_low, value_inner_low),
            (log_inner_high, value_inner_high),
        ):
            if value > best_value:
                best_width, best_value = float(np.exp(log_width)), value
        if log_high - log_low <= WIDTH_TOLERANCE:
            return best_width
        if value_inner_low > value_inner_high:
            log_high, log_inner_high, value_inner_high = (
                log_inner_high,
                log_inner_low,
                value_inner_low,
            )
            log_inner_low = log_high - GOLDEN_RATIO * (log_high - log_low)
            value_inner_low = criterion(float(np.exp(log_inner_low)))
        else:
            log_low, log_inner_low, value_inner_low = (
                log_inner_low,
                log_inner_high,
                value_inner_high,
            )
            log_inner_high = log_low + GOLDEN_RATIO * (log_high - log_low)
            value_inner_high = criterion(float(np.exp(log_inner_high)))


KernelName = Literal["gaussian", "exponential", "epanechnikov", "uniform"]
# This is the maximum number of distances in memory during prediction.
MAX_DISTANCES_IN_MEMORY = 2**22


class ParzenClassifier(DocumentedEstimator, ClassifierMixin, BaseEstimator):
    r"""Bayes' rule with a kernel density estimate for each class.

    .. math::
        \hat P(c \mid x) \propto \pi_c \, \frac{1}{n_c h_c^d} \sum_{i: y_i = c}
        K\!\left(\frac{\lVert x - x_i \rVert}{h_c}\right)

    All sums are computed in logarithms: far from the data the nearest rows still decide, and
    nothing underflows. If a kernel with bounded support (`epanechnikov`, `uniform`) is 0 at all
    training rows, the priors decide.

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
        the neighbours of the best one; of equally good widths the largest is taken. If every row
        has a copy in its class the likelihood grows without bound as the width shrinks, and the
        smallest width is taken. Each width tried costs O(n²).
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
        kernel: KernelName = "gaussian",
        priors: Any = None,
    ) -> None:
        self.width = width
        self.per_class = per_class
        self.kernel = kernel
        self.priors = priors

    def fit(self, X: Any, y: Any) -> ParzenClassifier:
        """Store the training rows and choose the width of each class.

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
        # Sorting makes the columns of each class contiguous in the distance matrix.
        order_by_class = np.argsort(codes.ravel(), kind="stable")
        self._rows, self._order = X[order_by_class], order_by_class
        self._sizes = np.bincount(codes.ravel())
        self.priors_ = self._validate_priors()
        self.width_ = self._determine_widths()
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
        n_rows_at_once = max(1, MAX_DISTANCES_IN_MEMORY // len(self._rows))
        posterior_blocks = [
            self._posterior(X[first_row : first_row + n_rows_at_once])
            for first_row in range(0, len(X), n_rows_at_once)
        ]
        return np.concatenate(posterior_blocks)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest posterior probability; ties go to the first class.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The predicted labels.
        """
        best_codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best_codes]

    def leave_one_out_proba(self) -> np.ndarray:
        """Return each training row's class probabilities, computed from all other training rows.

        They equal the probabilities from a refit without the row, with the same widths. If the
        priors are class shares, the shares are computed without the row, too. A class whose only
        row is left out has probability 0.

        Returns
        -------
        array, shape (n_samples, n_classes)
            The probabilities, in the order of the training rows.
        """
        check_is_fitted(self)
        kernel_sums = KernelSums.from_training_rows(self._rows, self._sizes, self.kernel)
        priors = None if self.priors is None else self.priors_
        proba = np.empty((len(self._rows), len(self.classes_)))
        proba[self._order] = np.exp(kernel_sums.log_posteriors(self.width_, priors))
        return proba

    def _posterior(self, X: np.ndarray) -> np.ndarray:
        squared_distances = cdist(X, self._rows, "sqeuclidean")
        kernel_sums = KernelSums(squared_distances, self._sizes, self.kernel, X.shape[1])
        # The logarithm of a prior of 0 is −inf.
        with np.errstate(divide="ignore"):
            log_joint = kernel_sums.log_kernel_sums(self.width_) + np.log(
                self.priors_ / self._sizes
            )
            has_no_neighbour = np.isneginf(log_joint).all(axis=1)
            log_joint[has_no_neighbour] = np.log(self.priors_)
        return np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))

    def _validate_priors(self) -> np.ndarray:
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

    def _determine_widths(self) -> np.ndarray:
        n_classes = len(self.classes_)
        if isinstance(self.width, str):
            kernel_sums = KernelSums.from_training_rows(self._rows, self._sizes, self.kernel)
            priors = None if self.priors is None else self.priors_
            return choose_widths(self.width, kernel_sums, priors, bool(self.per_class))
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
