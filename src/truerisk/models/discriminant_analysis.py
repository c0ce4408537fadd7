"""Discriminant analyses with a choice of the covariance's divisor, such as that of R."""

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

from truerisk.core.documented import DocumentedEstimator

EPS = float(np.finfo(np.float64).eps)


class LinearDiscriminant(DocumentedEstimator, LinearDiscriminantAnalysis):
    """Linear discriminant analysis of scikit-learn with a choice of the covariance's divisor.

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
        # The covariance is rescaled with NumPy, so arrays of other libraries are not supported.
        tags.array_api_support = False
        return tags

    def fit(self, X: Any, y: Any) -> LinearDiscriminant:
        """Fit the model as scikit-learn does, then rescale the covariance to the chosen divisor.

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
        solver = resolve_solver(self.solver, self.shrinkage)
        can_decompose_rows = solver == "lsqr" and _is_table(X)
        if can_decompose_rows and fits_by_row_svd(solver, self.shrinkage, *np.shape(X)):
            self._fit_wide_table(X, y)
        else:
            with self._set_temporarily(solver, self.shrinkage):
                super().fit(X, y)
        n, k = len(np.asarray(y)), len(self.classes_)
        wanted_divisor = n if self.divisor == "n" else n - k
        sklearn_divisor = n if sklearn_lda_divides_by_n(solver) else n - k
        log_priors = np.log(self.priors_)
        if k == 2:
            log_priors = log_priors[1:] - log_priors[:1]
        self.intercept_ = log_priors + (self.intercept_ - log_priors) * (
            wanted_divisor / sklearn_divisor
        )
        self.coef_ = self.coef_ * (wanted_divisor / sklearn_divisor)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Project rows as scikit-learn does, which supports only the solvers "svd" and "eigen".

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
            The rows to project.

        Returns
        -------
        array, shape (n_samples, n_components)
            The projected rows.
        """
        with self._set_temporarily(resolve_solver(self.solver, self.shrinkage), self.shrinkage):
            projected_rows: np.ndarray = super().transform(X)
        return projected_rows

    @contextmanager
    def _set_temporarily(self, solver: str, shrinkage: Any) -> Iterator[None]:
        """Set solver and shrinkage for scikit-learn's methods, and restore them after the block."""
        saved_parameters = self.solver, self.shrinkage
        is_auto_svd = solver == "svd" and saved_parameters[0] == "auto"
        self.solver, self.shrinkage = solver, None if is_auto_svd else shrinkage
        try:
            yield
        finally:
            self.solver, self.shrinkage = saved_parameters

    def _fit_wide_table(self, X: Any, y: Any) -> None:
        """Fit a shrunken model to a table with more columns than rows, by an SVD of the rows.

        The covariance is C = (1 − s) R'R + a I with a = s tr(R'R)/p, where R holds the rows minus
        their class means, times the square root of the class prior over the class size. With the
        singular values σ and vectors V of R, C⁻¹m = V (V'm / ((1 − s) σ² + a)) + (m − V V'm) / a.
        """
        with self._set_temporarily("svd", None), np.errstate(divide="ignore", invalid="ignore"):
            # This call checks X and y, and computes classes, priors and means.
            super().fit(X, y)
        for name in {"scalings_", "xbar_", "explained_variance_ratio_"} & vars(self).keys():
            delattr(self, name)
        scaled_rows = np.asarray(X)
        scaled_rows = (
            scaled_rows if scaled_rows.dtype == np.float32 else scaled_rows.astype(np.float64)
        )
        codes = np.searchsorted(self.classes_, np.asarray(y).ravel())
        weights = np.sqrt(self.priors_ / np.bincount(codes))
        scaled_rows = (scaled_rows - self.means_[codes]) * weights[codes, None]
        _, singular_values, right_vectors = svd(scaled_rows, full_matrices=False)
        shrinkage, trace = float(self.shrinkage), float((singular_values**2).sum())
        added_diagonal = shrinkage * trace / scaled_rows.shape[1]
        projected_means = self.means_ @ right_vectors.T
        shrunk_eigenvalues = (1 - shrinkage) * singular_values**2 + added_diagonal
        if added_diagonal > 0:
            coef = (projected_means / shrunk_eigenvalues) @ right_vectors + (
                self.means_ - projected_means @ right_vectors
            ) / added_diagonal
        # A singular covariance gets the minimum-norm solution.
        else:
            is_nonzero = shrunk_eigenvalues > EPS * max(scaled_rows.shape) * shrunk_eigenvalues.max(
                initial=0.0
            )
            coef = (
                projected_means[:, is_nonzero] / shrunk_eigenvalues[is_nonzero]
            ) @ right_vectors[is_nonzero]
        intercept = np.log(self.priors_) - np.einsum("kj,kj->k", self.means_, coef) / 2
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept


def resolve_solver(solver: str, shrinkage: Any) -> str:
    """Return the solver that "auto" selects for this shrinkage; return any other name as it is."""
    if solver != "auto":
        return solver
    return "lsqr" if isinstance(shrinkage, str) or shrinkage else "svd"


def fits_by_row_svd(solver: str, shrinkage: Any, n_rows: int, n_columns: int) -> bool:
    """Return True if `LinearDiscriminant` applies shrinkage by an SVD of the rows.

    This is so for tables with more columns than rows.
    """
    is_number = isinstance(shrinkage, Real) and not isinstance(shrinkage, bool | np.bool_)
    is_share = is_number and 0 <= shrinkage <= 1
    is_wide = 0 < n_rows < n_columns
    return resolve_solver(solver, shrinkage) == "lsqr" and is_share and is_wide


def _is_table(X: Any) -> bool:
    """Return True if X is two-dimensional and not sparse; a sparse X is refused by scikit-learn."""
    return len(np.shape(X)) == 2 and not hasattr(X, "tocsr")


class QuadraticDiscriminant(DocumentedEstimator, QuadraticDiscriminantAnalysis):
    """Quadratic discriminant analysis of scikit-learn with a choice of the covariances' divisor.

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
        """Fit the model as scikit-learn does, then rescale the covariances to the chosen divisor.

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
        class_sizes = np.array([(np.asarray(y) == label).sum() for label in self.classes_])
        sklearn_divisors = class_sizes if sklearn_qda_divides_by_n() else class_sizes - 1
        wanted_divisors = class_sizes if self.divisor == "n" else class_sizes - 1
        reg_param = self.reg_param
        self.scalings_ = [
            reg_param + (scaling - reg_param) * (old_divisor / new_divisor)
            for scaling, old_divisor, new_divisor in zip(
                self.scalings_, sklearn_divisors, wanted_divisors, strict=True
            )
        ]
        return self


@cache
def sklearn_qda_divides_by_n() -> bool:
    """Return True if scikit-learn's QDA divides a class's scatter by n_c instead of n_c − 1.

    n_c is the number of rows of the class.
    """
    model = QuadraticDiscriminantAnalysis().fit([[0.0], [2.0], [0.0], [2.0]], [0, 0, 1, 1])
    # In this example the scaling is 1 with the divisor n_c, and 2 with n_c − 1.
    return bool(model.scalings_[0][0] < 1.5)


@cache
def sklearn_lda_divides_by_n(solver: str) -> bool:
    """Return True if scikit-learn's LDA divides the pooled scatter by n instead of n − K.

    n is the number of rows, and K is the number of classes.
    """
    model = LinearDiscriminantAnalysis(solver=solver)
    model.fit([[0.0], [2.0], [4.0], [6.0]], [0, 0, 1, 1])
    # In this example the coefficient is 4 with the divisor n, and 2 with n − K.
    return bool(model.coef_[0, 0] > 3)
