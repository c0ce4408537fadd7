"""The degrees of freedom of a fitted model, the number of free parameters of its fit."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.identity import PIPELINE, is_exactly
from truerisk.models.stated import freedom_of_regressions as regressions
from truerisk.models.stated.freedom_of_regressions import rank_of, table
from truerisk.models.stated.question import INSTEAD, Question

AT_MINIMUM = 1e-12  # the tolerance of a path if degrees of freedom are computed
# Maximum size of the information matrix of a penalised fit, which is inverted.
MOST_PARAMETERS = 3000


def logistic(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    r"""Return the number of nonzero coefficients; with a ridge penalty the trace of F (F + P)⁻¹.

    F is the Fisher information of intercepts and coefficients at the fit, P the second derivative
    of the penalty. Without a penalty that is the rank of (1, X) times K − 1 for K classes.
    """
    several = len(model.classes_) > 2
    if model.class_weight is not None:
        raise Refusal(
            "class_weight makes the fit maximise another likelihood than the criterion counts: "
            "leave it out, or use a method that holds rows out."
        )
    if several and (model.solver == "liblinear" or getattr(model, "multi_class", "") == "ovr"):
        raise Refusal(
            "one class against the others, class by class, maximises no common likelihood: use "
            "the multinomial fit (solver='lbfgs')."
        )
    lasso, ridge = penalties(model)
    columns, held = _design(model, X)
    n_free = len(model.classes_) - 1
    if lasso == 0 and ridge == 0:
        return float(rank_of(columns) * n_free)
    if ridge == 0:
        return float(np.count_nonzero(model.coef_) + bool(model.fit_intercept) * n_free)
    penalty = np.where(held, ridge, 0.0)
    return _trace(model, X, columns, penalty, sample_weight, selects=lasso > 0)


def logistic_path(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the same at the λ that the path predicts with.

    The penalty is per unit of row weight.
    """
    if model.l1_ratio == 1:
        return float(np.count_nonzero(model.coef_) + len(model.classes_) - 1)
    rows = table(X)
    weights = np.ones(len(rows)) if sample_weight is None else sample_weight
    ridge = model.lambda_ * (1 - model.l1_ratio) * weights.sum()
    penalty = np.full(rows.shape[1], ridge)
    if model.standardize:
        centre = np.average(rows, axis=0, weights=weights)
        penalty *= np.average((rows - centre) ** 2, axis=0, weights=weights)
    columns = np.hstack([np.ones((len(rows), 1)), rows])
    held = np.append(0.0, penalty)
    return _trace(model, X, columns, held, sample_weight, selects=model.l1_ratio > 0)


def _trace(
    model: Any,
    X: Any,
    columns: np.ndarray,
    penalty: np.ndarray,
    sample_weight: np.ndarray | None,
    *,
    selects: bool,
) -> float:
    """Return the trace of F (F + P)⁻¹, over the nonzero coefficients if the penalty selects."""
    coefficients = np.atleast_2d(model.coef_)
    active = np.ones((len(coefficients), columns.shape[1]), dtype=bool)
    if selects:
        active[:, -coefficients.shape[1] :] = coefficients != 0
    if active.sum() > MOST_PARAMETERS:
        raise Refusal(
            f"the effective degrees of freedom of {active.sum():,} penalised coefficients need "
            f"their information matrix, which is stated up to {MOST_PARAMETERS:,}: use a method "
            "that holds rows out, such as '10-fold'."
        )
    information = _information(model, X, columns, sample_weight)
    keep = np.flatnonzero(active.ravel())
    F = information[np.ix_(keep, keep)]
    P = np.diag(np.tile(penalty, len(coefficients))[keep])
    return float(np.trace(np.linalg.pinv(F + P, hermitian=True) @ F))


def linear_discriminants(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return (K − 1)(p + 1): the coefficients of the linear discriminant functions."""
    _refuse_shrunken(model, model.shrinkage is None and model.covariance_estimator is None)
    return float((len(model.classes_) - 1) * (1 + _spread(X)))


def quadratic_discriminants(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return (K − 1)(1 + p + p (p + 1)/2), the number of quadratic coefficients."""
    _refuse_shrunken(model, not model.reg_param and getattr(model, "shrinkage", None) is None)
    p = _spread(X)
    return (len(model.classes_) - 1) * (1 + p + p * (p + 1) / 2)


def naive_bayes(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return (K − 1)(1 + 2p): the coefficients of discriminants without products of features."""
    varying = int((np.ptp(table(X), axis=0) > 0).sum())
    return float((len(model.classes_) - 1) * (1 + 2 * varying))


def _spread(X: Any) -> int:
    """Return the number of dimensions that the rows span."""
    rows = table(X)
    return rank_of(rows - rows.mean(axis=0))


def _refuse_shrunken(model: Any, is_plain: bool) -> None:
    if not is_plain:
        raise Refusal(
            f"no formula is stated for the degrees of freedom of a shrunken "
            f"{type(model).__name__}: use it without shrinkage, or a method that holds rows out."
        )


def penalties(model: Any) -> tuple[float, float]:
    """Return the weights of the absolute values and of half the squares of the coefficients."""
    name = getattr(model, "penalty", "deprecated")
    if name is None or np.isinf(model.C):
        return 0.0, 0.0
    share = {"l1": 1.0, "l2": 0.0}.get(name, model.l1_ratio)
    return share / model.C, (1 - share) / model.C


def _design(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of the fit, intercept first, and which of them are penalised."""
    rows = table(X)
    held = np.ones(rows.shape[1], dtype=bool)
    if not model.fit_intercept:
        return rows, held
    alike = model.solver == "liblinear"  # Its intercept is penalised like the other coefficients.
    first = np.full((len(rows), 1), float(model.intercept_scaling) if alike else 1.0)
    return np.hstack([first, rows]), np.append(alike, held)


def _information(model: Any, X: Any, columns: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the Fisher information of each class's coefficients (of two: the second's)."""
    p = np.asarray(model.predict_proba(X))
    w = np.ones(len(p)) if weights is None else weights
    if p.shape[1] == 2:
        return columns.T @ (columns * (w * p[:, 0] * p[:, 1])[:, None])
    n_classes, size = p.shape[1], columns.shape[1]
    full = np.empty((n_classes * size, n_classes * size))
    for a in range(n_classes):
        for b in range(n_classes):
            curvature = w * p[:, a] * ((a == b) - p[:, b])
            block = columns.T @ (columns * curvature[:, None])
            full[a * size : (a + 1) * size, b * size : (b + 1) * size] = block
    return full


def constant(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return 1 for a mean, and the number of classes minus one for class shares."""
    if model.strategy not in ("mean", "prior"):
        raise Refusal(
            f"strategy='{model.strategy}' is no maximum of the likelihood: use 'mean' for numbers "
            "and 'prior' for classes."
        )
    return float(_free_classes(model))


def neighbours(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return n/k, the trace of the matrix that averages k neighbours, including the row itself.

    For K classes K − 1 shares are averaged. Equal rows can exclude a row from its own
    neighbourhood, in which case n/k exceeds the trace.
    """
    if model.weights not in ("uniform", None):
        raise Refusal(
            "nearest neighbours weighted by distance pass through every label: their degrees of "
            "freedom are the number of rows; use weights='uniform'."
        )
    return float(model.n_samples_fit_ / model.n_neighbors * _free_classes(model))


def leaves(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the number of leaves, times K − 1 for K classes.

    The splits are treated as given: the degrees of freedom of their search are not counted.
    """
    if model.criterion in ("absolute_error", "poisson") or getattr(model, "class_weight", None):
        raise Refusal(
            "the leaves of this tree do not hold the means of their labels (criterion or "
            "class_weight): degrees of freedom are stated for squared error, gini and entropy."
        )
    return float(model.get_n_leaves() * _free_classes(model))


def _free_classes(model: Any) -> int:
    """Return 1 for numbers, K − 1 for K classes."""
    classes = getattr(model, "classes_", None)
    return 1 if classes is None else len(classes) - 1


PATH = "truerisk.models.logistic_path:LogisticPath"
SCALER = "sklearn.preprocessing:StandardScaler"


def degrees_of_freedom(model: Any, X: Any, sample_weight: np.ndarray | None = None) -> float:
    r"""Return the number of free parameters of the fitted model, if there is a formula.

    For a fit that is linear in y, :math:`\hat y = H y`, it is the trace of H, including the
    intercept. For a classifier it is the number of free parameters of its probabilities. Other
    models can define a method ``degrees_of_freedom(X)``; without it they are refused. For a
    pipeline it is that of the last step, provided that the steps before it do not use y.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The rows it was fitted on.
    sample_weight : array, optional
        The weights it was fitted with.
    """
    return _QUESTION(model, X, sample_weight)


def tolerance_at_minimum(tol: Any) -> Any:
    """Return the tolerance for a fit whose degrees of freedom are computed.

    They, and the likelihood next to them, are computed at the minimum. An invalid tolerance is
    returned unchanged, to be refused later.
    """
    if isinstance(tol, bool) or not isinstance(tol, Real) or not AT_MINIMUM < float(tol) <= 1:
        return tol
    return AT_MINIMUM


def bring_to_minimum(model: Any) -> None:
    """Set an unfitted model to stop near its minimum, where degrees of freedom are computed.

    The tolerance of a `LogisticPath` is sufficient for its predictions, but not for a difference of
    two likelihoods. Learners of other packages are used at their own stopping point.
    """
    if is_exactly(model, PIPELINE):
        bring_to_minimum(model[-1])
    elif is_exactly(model, PATH):
        model.tol = tolerance_at_minimum(model.tol)


def _unknown(model: Any, *_: Any) -> str:
    name = type(model).__name__
    if any(hasattr(model, chosen) for chosen in ("best_estimator_", "alpha_", "C_")):
        return (
            f"{name} chooses its setting within the fit, and no formula counts the choice as "
            f"degrees of freedom: give the model itself with a grid, or {INSTEAD}"
        )
    return (
        f"no formula is known for the degrees of freedom of {name}: give it a method "
        f"degrees_of_freedom(X), or {INSTEAD}"
    )


def _unsupervised_rows(pipeline: Any, X: Any) -> Any:
    """Return the rows that the last step sees, if no step before it has used y.

    A step that uses y takes degrees of freedom that are not counted in the last step.
    """
    rows = X
    for _, step in pipeline.steps[:-1]:
        if step is None or isinstance(step, str):  # "passthrough"
            continue
        before, rows = rows, step.transform(rows)
        seeing = next((part for part in _parts(step) if _sees_y(part)), None)
        if seeing is None and not _is_same_without_y(step, before, rows):
            seeing = step
        if seeing is not None:
            raise Refusal(
                f"{type(seeing).__name__} looks at y before {type(pipeline[-1]).__name__} does, "
                "so the degrees of freedom of the last step understate those of the pipeline: "
                f"{INSTEAD}"
            )
    return rows


def _parts(step: Any) -> Iterator[Any]:
    """Yield the step and every estimator inside it."""
    yield step
    if hasattr(step, "get_params"):
        for value in step.get_params(deep=True).values():
            if hasattr(value, "fit"):
                yield value


def _sees_y(part: Any) -> bool:
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils import get_tags

    if isinstance(part, SelectorMixin):
        return not is_exactly(part, "sklearn.feature_selection:VarianceThreshold")
    return hasattr(part, "__sklearn_tags__") and bool(get_tags(part).target_tags.required)


def _is_same_without_y(step: Any, X: Any, rows: Any) -> bool:
    """Return True if a step gives the same rows without y; a class may use y undeclared."""
    from sklearn.base import clone

    try:
        again = table(clone(step).fit(X).transform(X))
        return again.shape == np.shape(rows) and np.allclose(again, table(rows))
    # A user's step may raise anything.
    except Exception:  # noqa: BLE001  a user's step may raise anything
        return False


def _of_transformed(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom behind a target transform that only shifts and scales.

    Shifted and scaled targets give the same model only if the fit has an intercept.
    """
    inner = model.regressor_
    plain = model.func is None and model.inverse_func is None
    scaled = model.transformer is None or is_exactly(model.transformer, SCALER)
    if not plain or not scaled:
        raise Refusal(
            "the likelihood of a transformed y is not that of y: leave the transformation of y "
            f"out, or {INSTEAD}"
        )
    if model.transformer is not None and not getattr(inner, "fit_intercept", True):
        raise Refusal(f"{type(inner).__name__} has no intercept, and y is centred: use one.")
    return _QUESTION(model.regressor_, X, sample_weight)


_QUESTION = Question[float](
    "degrees_of_freedom",
    own=lambda model, X, _: float(model.degrees_of_freedom(X)),
    formulas={
        "sklearn.compose:TransformedTargetRegressor": _of_transformed,
        "sklearn.dummy:DummyRegressor": constant,
        "sklearn.dummy:DummyClassifier": constant,
        "sklearn.neighbors:KNeighborsRegressor": neighbours,
        "sklearn.neighbors:KNeighborsClassifier": neighbours,
        "sklearn.tree:DecisionTreeRegressor": leaves,
        "sklearn.tree:DecisionTreeClassifier": leaves,
        "sklearn.linear_model:LinearRegression": regressions.least_squares,
        "sklearn.linear_model:Ridge": regressions.ridge,
        "sklearn.linear_model:Lasso": regressions.lasso,
        "sklearn.linear_model:LassoLars": regressions.lasso,
        "sklearn.linear_model:ElasticNet": regressions.elastic_net,
        "sklearn.kernel_ridge:KernelRidge": regressions.kernel_ridge,
        "sklearn.linear_model:LogisticRegression": logistic,
        PATH: logistic_path,
        "sklearn.discriminant_analysis:LinearDiscriminantAnalysis": linear_discriminants,
        "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis": quadratic_discriminants,
        "sklearn.naive_bayes:GaussianNB": naive_bayes,
    },
    unknown=_unknown,
    rows=_unsupervised_rows,
)
