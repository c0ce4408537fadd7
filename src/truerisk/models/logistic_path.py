"""LogisticPath: logistic regression at all penalties of a path (L1, elastic net or ridge)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from truerisk.core.documented import DocumentedEstimator
from truerisk.models.logistic_places import (
    PATH_PARAMETERS,
    check_sample_weight,
    position_on_path,
    solve_path,
)
from truerisk.plan.answers import class_codes_from_scores
from truerisk.results.door import load_from_package

# With at most this many classes, scikit-learn never mistakes integer labels for a continuous y.
MAX_CLASSES_WITHOUT_CHECK = 10


class LogisticPath(DocumentedEstimator, ClassifierMixin, BaseEstimator):
    r"""Penalised logistic regression for a whole path of penalties λ, computed in one fit.

    .. math::
        \min_{\beta_0, \beta}\; \sum_i \tilde w_i\, \ell(y_i, \beta_0 + x_i^\top \beta)
        + \lambda \Bigl(\alpha \lVert\beta\rVert_1
        + \tfrac{1-\alpha}{2} \lVert\beta\rVert_2^2\Bigr)

    with weights that sum to one, α = `l1_ratio` and an unpenalised intercept: the objective of
    glmnet. Two classes have one score function, more classes have one each (softmax, the ungrouped
    multinomial). :math:`\lambda` corresponds to scikit-learn's :math:`C = 1/(n\lambda)`.

    The path is computed by Newton steps with coordinate descent inside, from the largest λ down:
    sequential strong rules choose the columns that may enter, the gradients of the others are
    checked afterwards, and the last two solutions are extrapolated as the start of the next one. No
    λ is ever omitted: if `max_iter` is not enough, `converged_` is False and a `ConvergenceWarning`
    is issued.

    Parameters
    ----------
    l1_ratio : float, default=1.0
        The mixing parameter α: 1 is the lasso, 0 is ridge.
    n_lambdas : int, default=100
        The length of the path, if `lambdas` is None.
    lambdas : array of float, optional
        The path; it is sorted, largest first. By default λ falls by equal ratios from the smallest
        λ at which all coefficients are zero (for α below 0.001: computed with 0.001) down to
        `least_ratio` times it.
    standardize : bool, default=True
        Penalise the coefficients of columns with (weighted) variance one. `coef_path_` is in the
        units of X in either case.
    at : int or float, optional
        Where on the path `predict` predicts, unless it is told otherwise: a position in `lambdas_`
        (int) or a λ (float). A λ that is not on the path is solved as well. None stands for the
        last and smallest penalty. A grid over `at` tunes the penalty; its candidates share one path
        in the engine `logistic-path`.
    least_ratio : float, optional
        The ratio of the smallest and the largest λ. The default is 1e-4, or 1e-2 if there are fewer
        rows than columns.
    tol : float, default=1e-7
        A λ is finished when a Newton step changes the linear predictor by less: its mean square,
        weighted with the curvature, relative to the deviance of the constant rule. The default is
        that of glmnet, and its objective is reached at least as closely; 1e-14 takes about four
        times as long and satisfies the conditions of the minimum to 1e-7 of the largest λ. A fit
        whose degrees of freedom are requested (`aic` to `ebic`) continues to at least 1e-12, which
        takes two to five times as long, because differences of criteria are small. A returned model
        keeps its `tol`.
    max_iter : int, default=100000
        The largest number of passes over the coefficients for one λ.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        The classes, in sorted order.
    lambdas_ : array, shape (n_lambdas,)
        The path, descending.
    coef_path_ : array, shape (n_lambdas, n_features) or (n_lambdas, n_classes, n_features)
        The coefficients at each λ. With two classes the score is that of the second one.
    intercept_path_ : array, shape (n_lambdas,) or (n_lambdas, n_classes)
        The intercepts at each λ.
    converged_ : array of bool, shape (n_lambdas,)
        True where the solution has converged.
    n_iter_ : array of int, shape (n_lambdas,)
        The number of passes for each λ.
    lambda_ : float
        The λ that `at` stands for.
    coef_ : array, shape (1 or n_classes, n_features)
        The coefficients at `lambda_`.
    intercept_ : array, shape (1 or n_classes,)
        The intercepts at `lambda_`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str, shape (n_features,)
        The names of the features, if X was a frame.

    See Also
    --------
    sklearn.linear_model.LogisticRegression : One penalty per fit.
    truerisk.engines.LogisticPaths : Engine that predicts at all penalties together.

    References
    ----------
    Friedman, Hastie, Tibshirani (2010), Regularization paths for generalized linear models via
    coordinate descent, J. Stat. Software 33(1). Tibshirani et al. (2012), Strong rules for
    discarding predictors in lasso-type problems, J. R. Statist. Soc. B 74, 245–266.

    Examples
    --------
    >>> import truerisk as tr
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 2.0], [5.0, 0.0]]
    >>> model = tr.models.LogisticPath(n_lambdas=3, least_ratio=0.1).fit(X, [0, 0, 1, 0, 1, 1])
    >>> model.coef_path_.round(2)
    array([[0.  , 0.  ],
           [0.65, 0.87],
           [1.53, 3.61]])
    >>> model.predict(X, at=1).tolist(), model.converged_.all()
    ([0, 0, 1, 0, 1, 1], np.True_)
    """

    classes_: np.ndarray
    lambdas_: np.ndarray
    coef_path_: np.ndarray
    intercept_path_: np.ndarray
    converged_: np.ndarray
    n_iter_: np.ndarray
    lambda_: float
    coef_: np.ndarray
    intercept_: np.ndarray

    def __init__(
        self,
        l1_ratio: float = 1.0,
        n_lambdas: int = 100,
        lambdas: Sequence[float] | None = None,
        standardize: bool = True,
        *,
        at: float | None = None,
        least_ratio: float | None = None,
        tol: float = 1e-7,
        max_iter: int = 100_000,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.n_lambdas = n_lambdas
        self.lambdas = lambdas
        self.standardize = standardize
        self.at = at
        self.least_ratio = least_ratio
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticPath:
        """Compute the coefficients for every penalty of the path.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            The training rows. Sparse X is never converted to a dense array.
        y : array, shape (n_samples,)
            The labels of the training rows.
        sample_weight : array, shape (n_samples,), optional
            The weights of the rows. A row with weight 0 has no effect.

        Returns
        -------
        LogisticPath
            The fitted model.
        """
        X, y = self._validate(X, y)
        weights = check_sample_weight(sample_weight, X)
        has_weight = weights > 0
        if not has_weight.any():
            raise ValueError("sample_weight is zero for every row: there is nothing to fit to.")
        self.classes_ = np.unique(y[has_weight])
        # `_validate` has already checked labels that are neither integers nor booleans.
        if len(self.classes_) > MAX_CLASSES_WITHOUT_CHECK and y.dtype.kind in "biu":
            check_classification_targets(y)
        if len(self.classes_) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data "
                f"contains only one class: {self.classes_.tolist()}."
            )
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        setting = {name: getattr(self, name) for name in PATH_PARAMETERS}
        path_solutions = solve_path(setting, [self.at], X, codes, weights, len(self.classes_))
        path = path_solutions.path
        self.lambdas_ = path.lambdas
        is_binary = len(self.classes_) == 2
        self.coef_path_ = path.coefficients[:, 0] if is_binary else path.coefficients
        self.intercept_path_ = path.intercepts[:, 0] if is_binary else path.intercepts
        self.converged_, self.n_iter_ = path.has_converged, path.n_passes
        self.lambda_ = float(path_solutions.lambdas[0])
        self.coef_, self.intercept_ = path_solutions.coefficients[0], path_solutions.intercepts[0]
        if path_solutions.warning is not None:
            warnings.warn(path_solutions.warning, ConvergenceWarning, stacklevel=2)
        return self

    def decision_function(self, X: Any, at: float | None = None) -> np.ndarray:
        """Return the log-odds of the second class, or a score per class if there are more than two.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            The rows to predict.
        at : int or float, optional
            A position in `lambdas_` (int) or a λ (float). The default is the parameter `at`.

        Returns
        -------
        array, shape (n_samples,) or (n_samples, n_classes)
            The scores.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        coefficients, intercepts = self._solution(at)
        scores: np.ndarray = np.asarray(X @ coefficients.T) + intercepts
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any, at: float | None = None) -> np.ndarray:
        """Return the class probabilities at one penalty, in the order of `classes_`.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            The rows to predict.
        at : int or float, optional
            A position in `lambdas_` (int) or a λ (float). The default is the parameter `at`.

        Returns
        -------
        array, shape (n_samples, n_classes)
            The probabilities, in the order of `classes_`.
        """
        scores = self.decision_function(X, at)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)

    def predict_log_proba(self, X: Any, at: float | None = None) -> np.ndarray:
        """Return the logarithms of the class probabilities at one penalty.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            The rows to predict.
        at : int or float, optional
            A position in `lambdas_` (int) or a λ (float). The default is the parameter `at`.

        Returns
        -------
        array, shape (n_samples, n_classes)
            The logarithms, in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            log_probabilities: np.ndarray = np.log(self.predict_proba(X, at))
        return log_probabilities

    def predict(self, X: Any, at: float | None = None) -> np.ndarray:
        """Predict the class with the largest score; scores that differ by < 1e-10 count as equal.

        Of classes with equal scores the first is predicted.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            The rows to predict.
        at : int or float, optional
            A position in `lambdas_` (int) or a λ (float). The default is the parameter `at`.

        Returns
        -------
        array, shape (n_samples,)
            The predicted labels.
        """
        scores = self.decision_function(X, at)
        codes = class_codes_from_scores(scores[:, None] if scores.ndim == 1 else scores)
        return self.classes_[codes]

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the coefficients against λ, with one panel per score function (needs matplotlib).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.
        **options
            Further options of the plot.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        check_is_fitted(self)
        return load_from_package("coefficient-path")(self, ax=ax, **options)

    def _validate(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Check X and y as scikit-learn does, with fewer checks for integer labels."""
        validation_options = {"accept_sparse": "csc", "dtype": np.float64, "order": "F"}
        if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biu":
            X = validate_data(self, X, **validation_options)
            check_consistent_length(X, y)
            return X, y
        X, y = validate_data(self, X, y, **validation_options)
        check_classification_targets(y)
        return X, np.asarray(y)

    def _solution(self, at: float | None) -> tuple[np.ndarray, np.ndarray]:
        if at is None:
            return self.coef_, self.intercept_
        path_position = position_on_path(at, self.lambdas_)
        if path_position is None:
            nearest_lambda = self.lambdas_[np.argmin(abs(self.lambdas_ - at))]
            raise ValueError(
                f"at={at!r} is not on the path (the nearest λ is {nearest_lambda:.6g}): name a "
                "place in lambdas_, or fit with this λ as the parameter `at`."
            )
        n_score_functions = len(self.coef_)
        coefficients = self.coef_path_[path_position].reshape(n_score_functions, -1)
        return coefficients, self.intercept_path_[path_position].reshape(n_score_functions)
