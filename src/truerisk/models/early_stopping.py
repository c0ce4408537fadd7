"""EarlyStopping: boosting that stops when the loss on held-back training rows stops improving."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import assert_all_finite, check_random_state, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from truerisk.core.arguments import check_share
from truerisk.core.documented import DocumentedEstimator
from truerisk.core.identity import imported_class, is_a
from truerisk.data.rows import take_rows

RowSubset = list[Any]
"""Subset of rows as a list: X, y and the sample weights (or None)."""


def fit_until_no_gain(
    model: Any, training_rows: RowSubset, validation_rows: RowSubset, rounds: int
) -> tuple[Any, int]:
    """Fit a booster on training rows until its loss on validation rows no longer improves.

    Return the fitted model and its number of trees. Raise ValueError if the model is no booster.
    """
    for class_names, fit_with_early_stopping in FIT_FUNCTIONS_BY_CLASS:
        if is_a(model, *class_names):
            return model, fit_with_early_stopping(model, training_rows, validation_rows, rounds)
    raise ValueError(
        f"{type(model).__name__} takes no rows that end its fit: give a booster of another "
        "class, histogram boosting of scikit-learn, or one of XGBoost, LightGBM or CatBoost."
    )


def _fit_histogram_booster(
    model: Any, training_rows: RowSubset, validation_rows: RowSubset, rounds: int
) -> int:
    if "X_val" not in signature(model.fit).parameters:
        raise ValueError(
            "histogram boosting takes rows that end its fit from scikit-learn 1.7 on: use a newer "
            "one, or early_stopping=True, which sets rows aside at random."
        )
    X, y, weights = training_rows
    model.set_params(early_stopping=True, n_iter_no_change=rounds)
    weight_arguments = (
        {}
        if weights is None
        else {"sample_weight": weights, "sample_weight_val": validation_rows[2]}
    )
    model.fit(X, y, X_val=validation_rows[0], y_val=validation_rows[1], **weight_arguments)
    return int(model.n_iter_)


def _fit_xgboost(
    model: Any, training_rows: RowSubset, validation_rows: RowSubset, rounds: int
) -> int:
    X, y, weights = training_rows
    model.set_params(early_stopping_rounds=rounds)
    weight_arguments = {}
    if weights is not None:
        weight_arguments = {
            "sample_weight": weights,
            "sample_weight_eval_set": [validation_rows[2]],
        }
    model.fit(
        X, y, eval_set=[(validation_rows[0], validation_rows[1])], verbose=False, **weight_arguments
    )
    return int(model.best_iteration) + 1


def _fit_lightgbm(
    model: Any, training_rows: RowSubset, validation_rows: RowSubset, rounds: int
) -> int:
    from lightgbm import early_stopping

    X, y, weights = training_rows
    fit_arguments: dict[str, Any] = {"eval_set": [(validation_rows[0], validation_rows[1])]}
    if weights is not None:
        fit_arguments |= {"sample_weight": weights, "eval_sample_weight": [validation_rows[2]]}
    with warnings.catch_warnings():
        # LightGBM 4.7 deprecates eval_set in favour of eval_X and eval_y.
        # It does not encode the labels in eval_y, however, so that eval_set is still needed.
        warnings.filterwarnings("ignore", "The argument 'eval_set' is deprecated")
        model.fit(X, y, callbacks=[early_stopping(rounds, verbose=False)], **fit_arguments)
    return int(model.best_iteration_)


def _fit_catboost(
    model: Any, training_rows: RowSubset, validation_rows: RowSubset, rounds: int
) -> int:
    pool_class = imported_class("catboost.core:Pool")
    # CatBoost is imported already, because the model is an instance of one of its classes.
    assert pool_class is not None
    X, y, weights = training_rows
    categorical_columns = model.get_params().get("cat_features")
    validation_pool = pool_class(
        validation_rows[0],
        validation_rows[1],
        weight=validation_rows[2],
        cat_features=categorical_columns,
    )
    model.fit(X, y, sample_weight=weights, eval_set=validation_pool, early_stopping_rounds=rounds)
    return int(model.tree_count_)


_SKLEARN_MODULE = "sklearn.ensemble"
FIT_FUNCTIONS_BY_CLASS: tuple[
    tuple[tuple[str, ...], Callable[[Any, RowSubset, RowSubset, int], int]], ...
] = (
    (
        (
            f"{_SKLEARN_MODULE}:HistGradientBoostingClassifier",
            f"{_SKLEARN_MODULE}:HistGradientBoostingRegressor",
        ),
        _fit_histogram_booster,
    ),
    (("xgboost.sklearn:XGBModel",), _fit_xgboost),
    (("lightgbm.sklearn:LGBMModel",), _fit_lightgbm),
    (("catboost.core:CatBoostClassifier", "catboost.core:CatBoostRegressor"), _fit_catboost),
)


class WrappedEstimator(DocumentedEstimator, MetaEstimatorMixin, BaseEstimator):
    """Base class of models that wrap an `estimator`; the fitted copy is usually `estimator_`."""

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X in the training rows."""
        check_is_fitted(self)
        return int(self._estimator_with_input().n_features_in_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Column names of the training rows; they exist only if X was a data frame."""
        check_is_fitted(self)
        return np.asarray(self._estimator_with_input().feature_names_in_)

    def _estimator_with_input(self) -> Any:
        """Return the fitted estimator whose input was X with the columns that the user passed."""
        return self.estimator_

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or R² of a regressor.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to score.
        y : array, shape (n_samples,)
            The targets of these rows.
        sample_weight : array, shape (n_samples,), optional
            The weights of the rows.

        Returns
        -------
        float
            The score; higher is better.
        """
        from sklearn.metrics import accuracy_score, r2_score

        metric = accuracy_score if is_classifier(self) else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))


def estimator_has_method(name: str) -> Any:
    """Return a function for `available_if` that checks if the wrapped estimator has a method."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class EarlyStopping(WrappedEstimator):
    """Booster that adds trees until its loss on rows set aside no longer improves.

    The rows are set aside from the rows passed to ``fit``, so that within cross-validation they are
    training rows. No test row influences when the fit ends; a test row passed as ``eval_set`` does.
    The rows that are set aside preserve the shares of the classes, and rows of one group stay
    together. ``tr.estimate_risk`` and the other verbs pass their `groups` on.

    Parameters
    ----------
    estimator : booster
        HistGradientBoostingClassifier or -Regressor (scikit-learn 1.7 or newer), or the classifier
        or regressor of XGBoost, LightGBM or CatBoost. Its number of trees is the largest possible
        number.
    fraction : float, default=0.1
        The share of the rows, or of the groups, that is set aside.
    rounds : int, default=10
        The fit ends after this number of successive trees without an improvement.
    random_state : int, RandomState or None, optional
        The seed of the rows that are set aside.

    Attributes
    ----------
    estimator_ : booster
        The booster, fitted on the other rows.
    set_aside_ : array of int
        Positions of the rows that were set aside.
    n_trees_ : int
        The number of trees with which it predicts, or of rounds, if a round has one tree per class.
    classes_ : array, shape (n_classes,)
        The classes, for a classifier.

    See Also
    --------
    sklearn.ensemble.HistGradientBoostingClassifier : A booster of scikit-learn.
    truerisk.models.ThresholdClassifier : Classifier with a tuned threshold.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> X, y = tr.datasets.make_simple(200, random_state=0)
    >>> booster = HistGradientBoostingClassifier(max_iter=2000, random_state=0)
    >>> model = tr.models.EarlyStopping(booster, random_state=0).fit(X, y)
    >>> len(model.set_aside_), model.n_trees_ < 200
    (20, True)
    """

    # Copies of a row in a bootstrap sample must all be set aside, or all be used for training.
    copies_as_groups = True

    def __init__(
        self,
        estimator: Any,
        *,
        fraction: float = 0.1,
        rounds: int = 10,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.fraction = fraction
        self.rounds = rounds
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None
    ) -> EarlyStopping:
        """Fit the booster on most rows until its loss on the rows set aside no longer improves.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The training rows.
        y : array, shape (n_samples,)
            The targets of the training rows.
        sample_weight : array, shape (n_samples,), optional
            The weights of the rows, in both parts.
        groups : array, shape (n_samples,), optional
            Rows of one group stay in one part.

        Returns
        -------
        EarlyStopping
            The fitted model.
        """
        if y is None:
            raise ValueError("this model requires y to be passed, but the target y is None.")
        check_share("fraction", self.fraction)
        arrays = (
            np.asarray(argument) if isinstance(argument, list) else argument
            for argument in (X, y, sample_weight)
        )
        X, y, weights, groups = indexable(*arrays, groups)
        class_labels = column_or_1d(y, warn=True) if is_classifier(self.estimator) else None
        if class_labels is not None:
            assert_all_finite(class_labels, input_name="y")
            check_classification_targets(class_labels)
        is_set_aside = _mask_of_rows_set_aside(
            self.fraction, len(y), class_labels, groups, check_random_state(self.random_state)
        )
        self.set_aside_ = np.flatnonzero(is_set_aside)
        training_rows, validation_rows = [
            [None if array is None else take_rows(array, rows) for array in (X, y, weights)]
            for rows in (np.flatnonzero(~is_set_aside), self.set_aside_)
        ]
        self.estimator_, self.n_trees_ = fit_until_no_gain(
            clone(self.estimator), training_rows, validation_rows, self.rounds
        )
        if class_labels is not None:
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> Any:
        """Return the booster's predictions, with as many trees as gave the smallest loss.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The predicted labels or values.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(estimator_has_method("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the booster's class probabilities, in the order of `classes_`.

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
        return self.estimator_.predict_proba(X)

    @available_if(estimator_has_method("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the booster's decision values; available if the booster has this method.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array
            The decision values of the booster.
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags, estimator_tags = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = estimator_tags.estimator_type
        tags.classifier_tags, tags.regressor_tags = (
            estimator_tags.classifier_tags,
            estimator_tags.regressor_tags,
        )
        tags.input_tags, tags.target_tags = estimator_tags.input_tags, estimator_tags.target_tags
        tags.input_tags.sparse = False
        return tags


def _mask_of_rows_set_aside(
    fraction: float, n_rows: int, labels: Any, groups: Any, random_state: np.random.RandomState
) -> np.ndarray:
    """Return a boolean mask of the rows to set aside for early stopping, stratified by class.

    The fraction refers to rows, or to whole groups if there are groups. At least one row of each
    class is left for training: a group with the last rows of a class is not set aside, whatever its
    most common class is.
    """
    unit_of_row = np.arange(n_rows)
    if groups is not None:
        unit_of_row = np.unique(np.asarray(groups), return_inverse=True)[1]
    n_units = int(unit_of_row.max(initial=-1)) + 1
    unit_name = "row" if groups is None else "group"
    if n_units < 2:
        raise ValueError(
            f"n_samples={n_rows}: {n_units} {unit_name} cannot be set aside and fitted on, too."
        )
    class_counts = _count_classes_by_unit(unit_of_row, n_units, labels)
    stratum_of_unit = class_counts.argmax(axis=1)
    drawn_units: list[np.ndarray] = []
    for stratum in np.unique(stratum_of_unit):
        stratum_units = random_state.permutation(np.flatnonzero(stratum_of_unit == stratum))
        n_drawn = min(
            int(fraction * len(stratum_units) + random_state.uniform()), len(stratum_units) - 1
        )
        drawn_units.append(stratum_units[:n_drawn])
    set_aside_units = _removable_units(np.concatenate(drawn_units), class_counts)
    # At least one row or group must be set aside. If need be, it is one of the most common class.
    if not len(set_aside_units):
        is_most_common = stratum_of_unit == np.bincount(stratum_of_unit).argmax()
        other_units = np.flatnonzero(~is_most_common)
        unit_order = np.concatenate(
            [random_state.permutation(np.flatnonzero(is_most_common)), other_units]
        )
        set_aside_units = _removable_units(unit_order, class_counts)[:1]
    if not len(set_aside_units):
        raise ValueError(
            f"n_samples={n_rows}: each {unit_name} holds the last rows of a class, so none can be "
            "set aside: use a fixed number of trees."
        )
    is_set_aside = np.zeros(n_units, dtype=bool)
    is_set_aside[set_aside_units] = True
    return is_set_aside[unit_of_row]


def _count_classes_by_unit(unit_of_row: np.ndarray, n_units: int, labels: Any) -> np.ndarray:
    """Count the rows of each class in each unit (a row or a group).

    Without classes, the result has a single column with the number of rows.
    """
    if labels is None:
        return np.bincount(unit_of_row)[:, None]
    classes, codes = np.unique(labels, return_inverse=True)
    counts = np.zeros((n_units, len(classes)), dtype=np.intp)
    np.add.at(counts, (unit_of_row, codes), 1)
    return counts


def _removable_units(candidate_units: np.ndarray, class_counts: np.ndarray) -> np.ndarray:
    """Return the units (rows or groups) that can be set aside while every class keeps a row.

    The units are tried one after the other, in the given order.
    """
    remaining_counts, removable_units = class_counts.sum(axis=0), []
    for candidate_unit in candidate_units:
        if (remaining_counts > class_counts[candidate_unit]).all():
            remaining_counts = remaining_counts - class_counts[candidate_unit]
            removable_units.append(candidate_unit)
    return np.array(removable_units, dtype=np.intp)
