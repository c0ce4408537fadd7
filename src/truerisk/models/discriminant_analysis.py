"""Discriminant analyses whose covariances are divided as R divides them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from scipy.linalg import svd
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

EPS = float(np.finfo(np.float64).eps)


class LinearDiscriminant(LinearDiscriminantAnalysis):
    """Linear discriminant analysis of scikit-learn, with a choice of the divisor of the covariance.

    R's `MASS::lda` divides the pooled scatter by n − K (unbiased). scikit-learn divides it by n;
    its SVD solver divided by n − K up to version 1.8. Here the divisor does not depend on the
    release. The factor multiplies the covariance, shrunk or not, so that squared distances change
    relative to the logarithms of the priors: posterior probabilities change, and so do labels near
    the boundary if the priors differ.

    If there are more columns than rows, a shrunk fit uses a decomposition of the rows and computes
    no p × p matrix: 40 rows with 8,000 columns take a fraction of a second. The coefficients are
    those of scikit-learn's solver "lsqr" up to rounding; there is then no ``covariance_``.

    Leave-one-out with `divisor="n-K"` and the class shares of all rows as `priors` gives the
    posterior probabilities of `MASS::lda(CV = TRUE)`, which leaves the priors unchanged. With
    `priors=None` they are estimated from the n − 1 rows as well.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen", "auto"}, default="svd"
        As in scikit-learn; "auto" is "svd" without shrinkage, otherwise "lsqr".
    shrinkage : float or "auto", optional
        The shrinkage of the covariance, as in scikit-learn.
    priors : array, shape (n_classes,), optional
        The prior probabilities. The default are the shares of the classes.
    tol : float, default=1e-4
        The tolerance for singular values, as in scikit-learn.
    divisor : {"n-K", "n"}, default="n-K"
        The divisor of the pooled scatter.

    See Also
    --------
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : The class of scikit-learn.
    truerisk.models.QuadraticDiscriminant : One covariance per class.
    truerisk.models.FisherClassifier : Least squares on class codes.

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
    solver: str
    shrinkage: Any

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
        tags.array_api_support = False  # The division uses NumPy.
        return tags

    def fit(self, X: Any, y: Any) -> LinearDiscriminant:
        """Fit the model as scikit-learn does, then rescale the covariance.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The training rows.
        y : array, shape (n_samples,)
            The labels of the training rows.

        Returns
        -------
        LinearDiscriminant
            The fitted model.
        """
        if self.divisor not in ("n-K", "n"):
            raise ValueError(f"divisor={self.divisor!r} is unknown: it is 'n-K' or 'n'.")
        solver = resolved_solver(self.solver, self.shrinkage)
        shrinks_table = solver == "lsqr" and _is_table(X)
        if shrinks_table and fits_by_rows(solver, self.shrinkage, *np.shape(X)):
            self._fit_wide(X, y)
        else:
            with self._as_in(solver, self.shrinkage):
                super().fit(X, y)
        n, k = len(np.asarray(y)), len(self.classes_)
        ours = n if self.divisor == "n" else n - k
        theirs = n if pools_by_n(solver) else n - k
        log_priors = np.log(self.priors_)
        if k == 2:
            log_priors = log_priors[1:] - log_priors[:1]
        self.intercept_ = log_priors + (self.intercept_ - log_priors) * (ours / theirs)
        self.coef_ = self.coef_ * (ours / theirs)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Project rows as scikit-learn does, with the solvers "svd" and "eigen".

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
            The rows to project.

        Returns
        -------
        array, shape (n_samples, n_components)
            The projected rows.
        """
        with self._as_in(resolved_solver(self.solver, self.shrinkage), self.shrinkage):
            projected: np.ndarray = super().transform(X)
        return projected

    @contextmanager
    def _as_in(self, solver: str, shrinkage: Any) -> Iterator[None]:
        """Set these parameters for scikit-learn's methods inside the block."""
        given = self.solver, self.shrinkage
        nothing = solver == "svd" and given[0] == "auto"
        self.solver, self.shrinkage = solver, None if nothing else shrinkage
        try:
            yield
        finally:
            self.solver, self.shrinkage = given

    def _fit_wide(self, X: Any, y: Any) -> None:
        """Fit a shrunk covariance with more columns than rows by an SVD of the rows.

        The covariance is C = (1 − s) R'R + a I with a = s tr(R'R)/p, where R holds the rows minus
        their class means, times the square root of the class prior over the class size. With the
        singular values σ and vectors V of R, C⁻¹m = V (V'm / ((1 − s) σ² + a)) + (m − V V'm) / a.
        """
        with self._as_in("svd", None), np.errstate(divide="ignore", invalid="ignore"):
            super().fit(X, y)  # This checks X and y, and computes classes, priors and means.
        for name in {"scalings_", "xbar_", "explained_variance_ratio_"} & vars(self).keys():
            delattr(self, name)
        rows = np.asarray(X)
        rows = rows if rows.dtype == np.float32 else rows.astype(np.float64)
        codes = np.searchsorted(self.classes_, np.asarray(y).ravel())
        weights = np.sqrt(self.priors_ / np.bincount(codes))
        rows = (rows - self.means_[codes]) * weights[codes, None]
        _, singular, across = svd(rows, full_matrices=False)
        share, trace = float(self.shrinkage), float((singular**2).sum())
        added = share * trace / rows.shape[1]
        inside = self.means_ @ across.T
        shrunk = (1 - share) * singular**2 + added
        if added > 0:
            coef = (inside / shrunk) @ across + (self.means_ - inside @ across) / added
        else:  # This is the minimum-norm solution for a singular covariance.
            retained = shrunk > EPS * max(rows.shape) * shrunk.max(initial=0.0)
            coef = (inside[:, retained] / shrunk[retained]) @ across[retained]
        intercept = np.log(self.priors_) - np.einsum("kj,kj->k", self.means_, coef) / 2
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept


def resolved_solver(solver: str, shrinkage: Any) -> str:
    """Return the solver that "auto" stands for, else the one that was given."""
    if solver != "auto":
        return solver
    return "lsqr" if isinstance(shrinkage, str) or shrinkage else "svd"


def fits_by_rows(solver: str, shrinkage: Any, n_rows: int, n_columns: int) -> bool:
    """Return True if `LinearDiscriminant` shrinks a wide table by a decomposition of its rows."""
    is_number = isinstance(shrinkage, Real) and not isinstance(shrinkage, bool | np.bool_)
    shrinks_by_a_share = is_number and 0 <= shrinkage <= 1
    wide = 0 < n_rows < n_columns
    return resolved_solver(solver, shrinkage) == "lsqr" and shrinks_by_a_share and wide


def _is_table(X: Any) -> bool:
    """Return True if X has rows and columns; a sparse X is refused elsewhere."""
    return len(np.shape(X)) == 2 and not hasattr(X, "tocsr")


class QuadraticDiscriminant(QuadraticDiscriminantAnalysis):
    """Quadratic discriminant analysis of scikit-learn, with a choice of the divisor of covariances.

    The scatter of a class of n_c rows is divided by n_c − 1, as in R's `MASS::qda` and in
    scikit-learn up to version 1.8, or by n_c, as in scikit-learn since 1.9. Here the divisor does
    not depend on the release. Leave-one-out with `divisor="n-1"` and the class shares of all rows
    as `priors` gives the posterior probabilities of `MASS::qda(CV = TRUE)`.

    Parameters
    ----------
    priors : array, shape (n_classes,), optional
        The prior probabilities. The default are the shares of the classes.
    reg_param : float, default=0.0
        The regularisation of the covariances, as in scikit-learn.
    tol : float, default=1e-4
        The tolerance for rank deficiency. It is compared with the covariance as scikit-learn
        divides it.
    divisor : {"n-1", "n"}, default="n-1"
        The divisor of the scatter of a class.

    See Also
    --------
    sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis : The class of scikit-learn.
    truerisk.models.LinearDiscriminant : One covariance for all classes.

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
        """Fit the model as scikit-learn does, then rescale the covariances.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The training rows.
        y : array, shape (n_samples,)
            The labels of the training rows.

        Returns
        -------
        QuadraticDiscriminant
            The fitted model.
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
    """Return True if scikit-learn divides the scatter of a class by n_c, not n_c − 1."""
    model = QuadraticDiscriminantAnalysis().fit([[0.0], [2.0], [0.0], [2.0]], [0, 0, 1, 1])
    return bool(model.scalings_[0][0] < 1.5)  # The scaling is 1 with n, and 2 with n − 1.


@cache
def pools_by_n(solver: str) -> bool:
    """Return True if scikit-learn divides the pooled scatter by n, not n − K."""
    model = LinearDiscriminantAnalysis(solver=solver)
    model.fit([[0.0], [2.0], [4.0], [6.0]], [0, 0, 1, 1])
    return bool(model.coef_[0, 0] > 3)  # The coefficient is 4 with n, and 2 with n − K.
