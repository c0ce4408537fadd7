"""Degrees of freedom of a fitted model: the number of free parameters of its fit."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.identity import PIPELINE, is_exactly
from truerisk.models.stated import freedom_of_regressions as regressions
from truerisk.models.stated.freedom_of_regressions import numerical_rank, to_dense
from truerisk.models.stated.question import ADVICE_HELD_OUT_ROWS, ModelQuantity

# If its degrees of freedom are computed, a LogisticPath is fitted with this tolerance.
TOLERANCE_AT_MINIMUM = 1e-12
# The information matrix of a penalised fit is inverted for at most this number of coefficients.
MAX_COEFFICIENTS = 3000


def logistic_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    r"""Return the degrees of freedom of a fitted logistic regression.

    With an L1 penalty they are the number of nonzero coefficients, including intercepts. With a
    ridge penalty they are the trace of F (F + P)⁻¹.

    F is the Fisher information of intercepts and coefficients at the fit, P the second derivative
    of the penalty. Without a penalty the trace is the rank of (1, X) times K − 1 for K classes.
    """
    is_multiclass = len(model.classes_) > 2
    if model.class_weight is not None:
        raise Refusal(
            "class_weight makes the fit maximise another likelihood than the criterion counts: "
            "leave it out, or use a method that holds rows out."
        )
    if is_multiclass and (
        model.solver == "liblinear" or getattr(model, "multi_class", "") == "ovr"
    ):
        raise Refusal(
            "one class against the others, class by class, maximises no common likelihood: use "
            "the multinomial fit (solver='lbfgs')."
        )
    l1_penalty, l2_penalty = penalty_weights(model)
    columns, is_penalised = _design_matrix(model, X)
    n_free_classes = len(model.classes_) - 1
    if l1_penalty == 0 and l2_penalty == 0:
        return float(numerical_rank(columns) * n_free_classes)
    if l2_penalty == 0:
        return float(np.count_nonzero(model.coef_) + bool(model.fit_intercept) * n_free_classes)
    penalty = np.where(is_penalised, l2_penalty, 0.0)
    return _penalised_degrees_of_freedom(
        model, X, columns, penalty, sample_weight, selects_columns=l1_penalty > 0
    )


def logistic_path_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom of a LogisticPath at the λ that it uses for predictions.

    The formula is that of `logistic_dof`. The penalty of LogisticPath is per unit of row weight.
    """
    if model.l1_ratio == 1:
        return float(np.count_nonzero(model.coef_) + len(model.classes_) - 1)
    rows = to_dense(X)
    weights = np.ones(len(rows)) if sample_weight is None else sample_weight
    l2_penalty = model.lambda_ * (1 - model.l1_ratio) * weights.sum()
    penalty = np.full(rows.shape[1], l2_penalty)
    if model.standardize:
        column_means = np.average(rows, axis=0, weights=weights)
        penalty *= np.average((rows - column_means) ** 2, axis=0, weights=weights)
    columns = np.hstack([np.ones((len(rows), 1)), rows])
    penalty_with_intercept = np.append(0.0, penalty)
    return _penalised_degrees_of_freedom(
        model, X, columns, penalty_with_intercept, sample_weight, selects_columns=model.l1_ratio > 0
    )


def _penalised_degrees_of_freedom(
    model: Any,
    X: Any,
    columns: np.ndarray,
    penalty: np.ndarray,
    sample_weight: np.ndarray | None,
    *,
    selects_columns: bool,
) -> float:
    """Return the trace of F (F + P)⁻¹, with F the Fisher information and P the penalty's curvature.

    If the penalty selects features, only the nonzero coefficients are used.
    """
    coefficients = np.atleast_2d(model.coef_)
    is_active = np.ones((len(coefficients), columns.shape[1]), dtype=bool)
    if selects_columns:
        is_active[:, -coefficients.shape[1] :] = coefficients != 0
    if is_active.sum() > MAX_COEFFICIENTS:
        raise Refusal(
            f"the effective degrees of freedom of {is_active.sum():,} penalised coefficients need "
            f"their information matrix, which is stated up to {MAX_COEFFICIENTS:,}: use a method "
            "that holds rows out, such as '10-fold'."
        )
    information = _fisher_information(model, X, columns, sample_weight)
    active_coefficients = np.flatnonzero(is_active.ravel())
    F = information[np.ix_(active_coefficients, active_coefficients)]
    P = np.diag(np.tile(penalty, len(coefficients))[active_coefficients])
    return float(np.trace(np.linalg.pinv(F + P, hermitian=True) @ F))


def linear_discriminant_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom of linear discriminant analysis: (K − 1)(p + 1) coefficients.

    K is the number of classes, and p is the number of dimensions that the rows span.
    """
    _refuse_shrinkage(model, model.shrinkage is None and model.covariance_estimator is None)
    return float((len(model.classes_) - 1) * (1 + _spanned_dimensions(X)))


def quadratic_discriminant_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom of quadratic discriminant analysis.

    These are (K − 1)(1 + p + p (p + 1)/2), the number of coefficients of K quadratic functions. K
    is the number of classes, and p is the number of dimensions that the rows span.
    """
    _refuse_shrinkage(model, not model.reg_param and getattr(model, "shrinkage", None) is None)
    p = _spanned_dimensions(X)
    return (len(model.classes_) - 1) * (1 + p + p * (p + 1) / 2)


def naive_bayes_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom of naive Bayes: (K − 1)(1 + 2p) coefficients.

    The coefficients are those of discriminants without products of features. K is the number of
    classes, and p is the number of features that vary.
    """
    n_varying = int((np.ptp(to_dense(X), axis=0) > 0).sum())
    return float((len(model.classes_) - 1) * (1 + 2 * n_varying))


def _spanned_dimensions(X: Any) -> int:
    """Return the number of dimensions that the rows of X span around their mean."""
    rows = to_dense(X)
    return numerical_rank(rows - rows.mean(axis=0))


def _refuse_shrinkage(model: Any, is_unshrunken: bool) -> None:
    if not is_unshrunken:
        raise Refusal(
            f"no formula is stated for the degrees of freedom of a shrunken "
            f"{type(model).__name__}: use it without shrinkage, or a method that holds rows out."
        )


def penalty_weights(model: Any) -> tuple[float, float]:
    """Return the weights of a model's two penalties: the L1 norm, and half the squared L2 norm."""
    name = getattr(model, "penalty", "deprecated")
    if name is None or np.isinf(model.C):
        return 0.0, 0.0
    l1_ratio = {"l1": 1.0, "l2": 0.0}.get(name, model.l1_ratio)
    return l1_ratio / model.C, (1 - l1_ratio) / model.C


def _design_matrix(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the design matrix, intercept first, and a mask of its penalised columns."""
    rows = to_dense(X)
    is_penalised = np.ones(rows.shape[1], dtype=bool)
    if not model.fit_intercept:
        return rows, is_penalised
    # The solver liblinear penalises the intercept like the other coefficients.
    penalises_intercept = model.solver == "liblinear"
    intercept_column = np.full(
        (len(rows), 1), float(model.intercept_scaling) if penalises_intercept else 1.0
    )
    return np.hstack([intercept_column, rows]), np.append(penalises_intercept, is_penalised)


def _fisher_information(
    model: Any, X: Any, columns: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Return the Fisher information of the coefficients of all classes, as one matrix.

    For two classes it is that of the second class's coefficients.
    """
    probabilities = np.asarray(model.predict_proba(X))
    row_weights = np.ones(len(probabilities)) if weights is None else weights
    if probabilities.shape[1] == 2:
        return columns.T @ (
            columns * (row_weights * probabilities[:, 0] * probabilities[:, 1])[:, None]
        )
    n_classes, n_columns = probabilities.shape[1], columns.shape[1]
    information = np.empty((n_classes * n_columns, n_classes * n_columns))
    for class_a in range(n_classes):
        for class_b in range(n_classes):
            curvature = (
                row_weights
                * probabilities[:, class_a]
                * ((class_a == class_b) - probabilities[:, class_b])
            )
            block = columns.T @ (columns * curvature[:, None])
            information[
                class_a * n_columns : (class_a + 1) * n_columns,
                class_b * n_columns : (class_b + 1) * n_columns,
            ] = block
    return information


def constant_model_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom of a model that predicts the same for all rows.

    A mean has one degree of freedom, and the shares of K classes have K − 1.
    """
    if model.strategy not in ("mean", "prior"):
        raise Refusal(
            f"strategy='{model.strategy}' is no maximum of the likelihood: use 'mean' for numbers "
            "and 'prior' for classes."
        )
    return float(_count_free_classes(model))


def nearest_neighbours_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom of k nearest neighbours, n/k.

    This is the trace of the matrix that averages each row's k neighbours, including the row itself.
    For K classes the result is multiplied by K − 1, because K − 1 class shares are averaged. Equal
    rows can exclude a row from its own neighbourhood, in which case n/k exceeds the trace.
    """
    if model.weights not in ("uniform", None):
        raise Refusal(
            "nearest neighbours weighted by distance pass through every label: their degrees of "
            "freedom are the number of rows; use weights='uniform'."
        )
    return float(model.n_samples_fit_ / model.n_neighbors * _count_free_classes(model))


def tree_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom of a tree: its number of leaves, times K − 1 for K classes.

    The splits are treated as given: the degrees of freedom of their search are not counted.
    """
    if model.criterion in ("absolute_error", "poisson") or getattr(model, "class_weight", None):
        raise Refusal(
            "the leaves of this tree do not hold the means of their labels (criterion or "
            "class_weight): degrees of freedom are stated for squared error, gini and entropy."
        )
    return float(model.get_n_leaves() * _count_free_classes(model))


def _count_free_classes(model: Any) -> int:
    """Return the number of free class shares, K − 1 for K classes; 1 for a regression."""
    classes = getattr(model, "classes_", None)
    return 1 if classes is None else len(classes) - 1


LOGISTIC_PATH = "truerisk.models.logistic_path:LogisticPath"
STANDARD_SCALER = "sklearn.preprocessing:StandardScaler"


def degrees_of_freedom(model: Any, X: Any, sample_weight: np.ndarray | None = None) -> float:
    r"""Return the degrees of freedom of a fitted model, if there is a formula for its class.

    For a fit that is linear in y, :math:`\hat y = H y`, it is the trace of H, including the
    intercept. For a classifier it is the number of free parameters of its probabilities. Other
    models can define a method ``degrees_of_freedom(X)``; without it they are refused. The degrees
    of freedom of a pipeline are those of its last step, provided that the steps before it do not
    use y.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The rows it was fitted on.
    sample_weight : array, optional
        The weights it was fitted with.
    """
    return _DEGREES_OF_FREEDOM(model, X, sample_weight)


def stricter_tolerance(tol: Any) -> Any:
    """Return a tolerance that is strict enough for a fit whose degrees of freedom are computed.

    The degrees of freedom and the likelihood must be computed at the minimum. An invalid tolerance
    is returned unchanged, so that it is refused later.
    """
    if (
        isinstance(tol, bool)
        or not isinstance(tol, Real)
        or not TOLERANCE_AT_MINIMUM < float(tol) <= 1
    ):
        return tol
    return TOLERANCE_AT_MINIMUM


def tighten_tolerance(model: Any) -> None:
    """Lower the tolerance of an unfitted LogisticPath, so that the fit stops near its minimum.

    Its own tolerance is sufficient for predictions, but not for a difference of two likelihoods, on
    which degrees of freedom are used. Learners of other packages keep their tolerance.
    """
    if is_exactly(model, PIPELINE):
        tighten_tolerance(model[-1])
    elif is_exactly(model, LOGISTIC_PATH):
        model.tol = stricter_tolerance(model.tol)


def _reason_without_formula(model: Any, *_: Any) -> str:
    name = type(model).__name__
    if any(hasattr(model, attribute) for attribute in ("best_estimator_", "alpha_", "C_")):
        return (
            f"{name} chooses its setting within the fit, and no formula counts the choice as "
            f"degrees of freedom: give the model itself with a grid, or {ADVICE_HELD_OUT_ROWS}"
        )
    return (
        f"no formula is known for the degrees of freedom of {name}: give it a method "
        f"degrees_of_freedom(X), or {ADVICE_HELD_OUT_ROWS}"
    )


def _transform_without_y(pipeline: Any, X: Any) -> Any:
    """Return the rows that the last step of a pipeline gets; refuse steps that use y.

    A step that uses y has degrees of freedom, which the formula for the last step does not count.
    """
    rows = X
    for _, step in pipeline.steps[:-1]:
        if step is None or isinstance(step, str):  # A "passthrough" step changes nothing.
            continue
        rows_before, rows = rows, step.transform(rows)
        step_using_y = next(
            (estimator for estimator in _iter_nested_estimators(step) if _uses_y(estimator)), None
        )
        if step_using_y is None and not _is_same_without_y(step, rows_before, rows):
            step_using_y = step
        if step_using_y is not None:
            raise Refusal(
                f"{type(step_using_y).__name__} looks at y before {type(pipeline[-1]).__name__} "
                "does, so the degrees of freedom of the last step understate those of the "
                f"pipeline: {ADVICE_HELD_OUT_ROWS}"
            )
    return rows


def _iter_nested_estimators(step: Any) -> Iterator[Any]:
    """Yield a step of a pipeline and every estimator among its parameters."""
    yield step
    if hasattr(step, "get_params"):
        for value in step.get_params(deep=True).values():
            if hasattr(value, "fit"):
                yield value


def _uses_y(estimator: Any) -> bool:
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils import get_tags

    if isinstance(estimator, SelectorMixin):
        return not is_exactly(estimator, "sklearn.feature_selection:VarianceThreshold")
    return hasattr(estimator, "__sklearn_tags__") and bool(get_tags(estimator).target_tags.required)


def _is_same_without_y(step: Any, X: Any, transformed_rows: Any) -> bool:
    """Return True if a step gives the same rows with and without y in its fit.

    A class may use y without declaring it.
    """
    from sklearn.base import clone

    try:
        rows_without_y = to_dense(clone(step).fit(X).transform(X))
        return rows_without_y.shape == np.shape(transformed_rows) and np.allclose(
            rows_without_y, to_dense(transformed_rows)
        )
    # A step written by the user may raise any exception.
    except Exception:  # noqa: BLE001  a user's step may raise anything
        return False


def _transformed_target_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom of a model with a transformed target.

    The transform of y may only shift and scale it.

    Shifted and scaled targets give the same model only if the fit has an intercept.
    """
    regressor = model.regressor_
    has_no_function = model.func is None and model.inverse_func is None
    only_scales = model.transformer is None or is_exactly(model.transformer, STANDARD_SCALER)
    if not has_no_function or not only_scales:
        raise Refusal(
            "the likelihood of a transformed y is not that of y: leave the transformation of y "
            f"out, or {ADVICE_HELD_OUT_ROWS}"
        )
    if model.transformer is not None and not getattr(regressor, "fit_intercept", True):
        raise Refusal(f"{type(regressor).__name__} has no intercept, and y is centred: use one.")
    return _DEGREES_OF_FREEDOM(model.regressor_, X, sample_weight)


_DEGREES_OF_FREEDOM = ModelQuantity[float](
    "degrees_of_freedom",
    call_own_method=lambda model, X, _: float(model.degrees_of_freedom(X)),
    formulas={
        "sklearn.compose:TransformedTargetRegressor": _transformed_target_dof,
        "sklearn.dummy:DummyRegressor": constant_model_dof,
        "sklearn.dummy:DummyClassifier": constant_model_dof,
        "sklearn.neighbors:KNeighborsRegressor": nearest_neighbours_dof,
        "sklearn.neighbors:KNeighborsClassifier": nearest_neighbours_dof,
        "sklearn.tree:DecisionTreeRegressor": tree_dof,
        "sklearn.tree:DecisionTreeClassifier": tree_dof,
        "sklearn.linear_model:LinearRegression": regressions.least_squares_dof,
        "sklearn.linear_model:Ridge": regressions.ridge_dof,
        "sklearn.linear_model:Lasso": regressions.lasso_dof,
        "sklearn.linear_model:LassoLars": regressions.lasso_dof,
        "sklearn.linear_model:ElasticNet": regressions.elastic_net_dof,
        "sklearn.kernel_ridge:KernelRidge": regressions.kernel_ridge_dof,
        "sklearn.linear_model:LogisticRegression": logistic_dof,
        LOGISTIC_PATH: logistic_path_dof,
        "sklearn.discriminant_analysis:LinearDiscriminantAnalysis": linear_discriminant_dof,
        "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis": quadratic_discriminant_dof,
        "sklearn.naive_bayes:GaussianNB": naive_bayes_dof,
    },
    fallback=_reason_without_formula,
    rows=_transform_without_y,
)
