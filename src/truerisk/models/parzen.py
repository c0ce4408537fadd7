"""ParzenClassifier: Bayes' rule with a kernel density per class."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from truerisk.models.parzen_width import KERNELS, DistanceSums, chosen_widths

__all__ = ["ParzenClassifier"]

Kernel = Literal["gaussian", "exponential", "epanechnikov", "uniform"]
CELLS_AT_ONCE = 2**22  # distances held in memory while predicting


class ParzenClassifier(ClassifierMixin, BaseEstimator):
    r"""Bayes' rule with a kernel estimate of each class's density.

    .. math::
        \hat P(c \mid x) \propto \pi_c \, \frac{1}{n_c h_c^d} \sum_{i: y_i = c}
        K\!\left(\frac{\lVert x - x_i \rVert}{h_c}\right)

    All sums are taken in logarithms: far from the data the nearest rows still decide, nothing
    underflows. Where a kernel of bounded support (`epanechnikov`, `uniform`) reaches no row at
    all, the priors answer.

    The leave-one-out form, `leave_one_out_proba`, needs no refitting: the kernel matrix of the
    training rows minus its diagonal. Both ways of choosing the width use it.

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
        Prior probabilities in the order of `classes_`; by default the shares of the classes.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
    width_ : array, shape (n_classes,)
        The width of each class; all equal unless `per_class`.
    priors_ : array, shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X was a frame.

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
        """Keep the rows and choose the width.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
        y : array, shape (n_samples,)

        Returns
        -------
        ParzenClassifier
        """
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel={self.kernel!r} is unknown; use {', '.join(KERNELS)}.")
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        by_class = np.argsort(codes.ravel(), kind="stable")  # each class one run of columns
        self._rows, self._order = X[by_class], by_class
        self._sizes = np.bincount(codes.ravel())
        self.priors_ = self._given_priors()
        self.width_ = self._widths()
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior probabilities of the classes, in the order of `classes_`."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        step = max(1, CELLS_AT_ONCE // len(self._rows))
        pieces = [self._posterior(X[start : start + step]) for start in range(0, len(X), step)]
        return np.concatenate(pieces)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest posterior probability, of equal ones the first."""
        most = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most]

    def leave_one_out_proba(self) -> np.ndarray:
        """Posterior probabilities of each training row by the rule without it, in the order given.

        Exactly what refitting without the row gives for the same widths; with priors from the
        data the shares lose the row as well. A class whose only row is left out has probability 0.
        """
        check_is_fitted(self)
        rows = DistanceSums.left_out(self._rows, self._sizes, self.kernel)
        priors = None if self.priors is None else self.priors_
        found = np.empty((len(self._rows), len(self.classes_)))
        found[self._order] = np.exp(rows.log_posteriors(self.width_, priors))
        return found

    def _posterior(self, X: np.ndarray) -> np.ndarray:
        squared = cdist(X, self._rows, "sqeuclidean")
        rows = DistanceSums(squared, self._sizes, self.kernel, X.shape[1])
        with np.errstate(divide="ignore"):  # a prior of 0 is a logarithm of −inf
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
