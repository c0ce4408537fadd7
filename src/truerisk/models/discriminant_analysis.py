"""Discriminant analyses whose covariances are divided as R divides them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)


class LinearDiscriminant(LinearDiscriminantAnalysis):
    r"""scikit-learn's LinearDiscriminantAnalysis with the divisor of the covariance as an option.

    R's `MASS::lda` divides the pooled scatter by n − K (unbiased). scikit-learn divides it by n;
    its SVD solver did so by n − K up to 1.8. Here it does not depend on the release. The factor
    multiplies the covariance, shrunk or not, so squared distances change by it beside the
    logarithms of the priors: posteriors change, and labels near the boundary where the priors
    differ.

    Leave-one-out with `divisor="n-K"` and the class shares of all rows as `priors` gives the
    posteriors of `MASS::lda(CV = TRUE)`, which leaves the priors as they are. With `priors=None`
    they are estimated on the n − 1 rows as well.

    Parameters
    ----------
    solver, shrinkage, priors, tol
        As in scikit-learn.
    divisor : {"n-K", "n"}, default="n-K"
        What the pooled scatter is divided by.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = [[0.0], [1.0], [2.0], [3.5]], [0, 0, 0, 1]
    >>> for divisor in ("n", "n-K"):
    ...     model = tr.models.LinearDiscriminant(divisor=divisor).fit(X, y)
    ...     print(divisor, model.predict_proba([[2.5]]).round(3).tolist())
    n [[0.462, 0.538]]
    n-K [[0.616, 0.384]]
    """

    coef_: np.ndarray
    intercept_: np.ndarray

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        tol: float = 1e-4,
        divisor: str = "n-K",
    ) -> None:
        super().__init__(solver=solver, shrinkage=shrinkage, priors=priors, tol=tol)
        self.divisor = divisor

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False  # the division is NumPy's
        return tags

    def fit(self, X: Any, y: Any) -> LinearDiscriminant:
        """As scikit-learn fits, then the covariance divided anew.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
        y : array, shape (n_samples,)

        Returns
        -------
        LinearDiscriminant
        """
        if self.divisor not in ("n-K", "n"):
            raise ValueError(f"divisor={self.divisor!r} is unknown: it is 'n-K' or 'n'.")
        super().fit(X, y)
        n, k = len(np.asarray(y)), len(self.classes_)
        ours = n if self.divisor == "n" else n - k
        theirs = n if pools_by_n(self.solver) else n - k
        log_priors = np.log(self.priors_)
        if k == 2:
            log_priors = log_priors[1:] - log_priors[:1]
        self.intercept_ = log_priors + (self.intercept_ - log_priors) * (ours / theirs)
        self.coef_ = self.coef_ * (ours / theirs)
        return self


class QuadraticDiscriminant(QuadraticDiscriminantAnalysis):
    r"""scikit-learn's QuadraticDiscriminantAnalysis with the divisor of the covariances given.

    The scatter of a class of n_c rows is divided by n_c − 1, as in R's `MASS::qda` and in
    scikit-learn up to 1.8, or by n_c, as in scikit-learn from 1.9 on: here it does not depend on
    the release. Leave-one-out with `divisor="n-1"` and the class shares of all rows as `priors`
    gives the posteriors of `MASS::qda(CV = TRUE)`.

    Parameters
    ----------
    priors, reg_param, tol
        As in scikit-learn; `tol` is held against the covariance as scikit-learn divides it.
    divisor : {"n-1", "n"}, default="n-1"
        What the scatter of a class is divided by.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = [[0.0], [1.0], [2.0], [5.0], [9.0]], [0, 0, 0, 1, 1]
    >>> model = tr.models.QuadraticDiscriminant().fit(X, y)
    >>> [scale.round(6).tolist() for scale in model.scalings_]
    [[1.0], [8.0]]
    """

    scalings_: list[np.ndarray]

    def __init__(
        self,
        *,
        priors: Any = None,
        reg_param: float = 0.0,
        tol: float = 1e-4,
        divisor: str = "n-1",
    ) -> None:
        super().__init__(priors=priors, reg_param=reg_param, tol=tol)
        self.divisor = divisor

    def fit(self, X: Any, y: Any) -> QuadraticDiscriminant:
        """As scikit-learn fits, then the covariances divided anew.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
        y : array, shape (n_samples,)

        Returns
        -------
        QuadraticDiscriminant
        """
        if self.divisor not in ("n-1", "n"):
            raise ValueError(f"divisor={self.divisor!r} is unknown: it is 'n-1' or 'n'.")
        super().fit(X, y)
        sizes = np.array([(np.asarray(y) == label).sum() for label in self.classes_])
        theirs = sizes if divides_by_n() else sizes - 1
        ours = sizes if self.divisor == "n" else sizes - 1
        r = self.reg_param
        self.scalings_ = [
            r + (scaling - r) * (was / now)
            for scaling, was, now in zip(self.scalings_, theirs, ours, strict=True)
        ]
        return self


@cache
def divides_by_n() -> bool:
    """Whether the installed scikit-learn divides the scatter of a class by n_c, not n_c − 1."""
    model = QuadraticDiscriminantAnalysis().fit([[0.0], [2.0], [0.0], [2.0]], [0, 0, 1, 1])
    return bool(model.scalings_[0][0] < 1.5)  # 1 by n, 2 by n − 1


@cache
def pools_by_n(solver: str) -> bool:
    """Whether the installed scikit-learn divides the pooled scatter by n, not n − K."""
    model = LinearDiscriminantAnalysis(solver=solver)
    model.fit([[0.0], [2.0], [4.0], [6.0]], [0, 0, 1, 1])
    return bool(model.coef_[0, 0] > 3)  # 4 by n, 2 by n − K
