"""EarlyStopping: boosting that stops when rows set aside from the training rows no longer gain."""

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
from truerisk.core.identity import is_a, known_class
from truerisk.data.rows import take_rows

Part = list[Any]
"""X, y and the weights (or None) of some rows."""


def stopped(model: Any, fitted: Part, aside: Part, rounds: int) -> tuple[Any, int]:
    """Fit the model on one part until the other no longer gains.

    Return it and its number of trees.
    """
    for places, way in WAYS:
        if is_a(model, *places):
            return model, way(model, fitted, aside, rounds)
    raise ValueError(
        f"{type(model).__name__} takes no rows that end its fit: give a booster of another "
        "class, histogram boosting of scikit-learn, or one of XGBoost, LightGBM or CatBoost."
    )


def _histograms(model: Any, fitted: Part, aside: Part, rounds: int) -> int:
    if "X_val" not in signature(model.fit).parameters:
        raise ValueError(
            "histogram boosting takes rows that end its fit from scikit-learn 1.7 on: use a newer "
            "one, or early_stopping=True, which sets rows aside at random."
        )
    X, y, weights = fitted
    model.set_params(early_stopping=True, n_iter_no_change=rounds)
    more = {} if weights is None else {"sample_weight": weights, "sample_weight_val": aside[2]}
    model.fit(X, y, X_val=aside[0], y_val=aside[1], **more)
    return int(model.n_iter_)


def _xgboost(model: Any, fitted: Part, aside: Part, rounds: int) -> int:
    X, y, weights = fitted
    model.set_params(early_stopping_rounds=rounds)
    more = {}
    if weights is not None:
        more = {"sample_weight": weights, "sample_weight_eval_set": [aside[2]]}
    model.fit(X, y, eval_set=[(aside[0], aside[1])], verbose=False, **more)
    return int(model.best_iteration) + 1


def _lightgbm(model: Any, fitted: Part, aside: Part, rounds: int) -> int:
    from lightgbm import early_stopping

    X, y, weights = fitted
    more: dict[str, Any] = {"eval_set": [(aside[0], aside[1])]}
    if weights is not None:
        more |= {"sample_weight": weights, "eval_sample_weight": [aside[2]]}
    with warnings.catch_warnings():
        # LightGBM 4.7 announces eval_X and eval_y as replacements of eval_set, but does not encode
        # labels of eval_y.
        warnings.filterwarnings("ignore", "The argument 'eval_set' is deprecated")
        model.fit(X, y, callbacks=[early_stopping(rounds, verbose=False)], **more)
    return int(model.best_iteration_)


def _catboost(model: Any, fitted: Part, aside: Part, rounds: int) -> int:
    pool = known_class("catboost.core:Pool")
    assert pool is not None  # The package is imported, because the model is of its class.
    X, y, weights = fitted
    levels = model.get_params().get("cat_features")
    ends = pool(aside[0], aside[1], weight=aside[2], cat_features=levels)
    model.fit(X, y, sample_weight=weights, eval_set=ends, early_stopping_rounds=rounds)
    return int(model.tree_count_)


_SKLEARN = "sklearn.ensemble"
WAYS: tuple[tuple[tuple[str, ...], Callable[[Any, Part, Part, int], int]], ...] = (
    (
        (
            f"{_SKLEARN}:HistGradientBoostingClassifier",
            f"{_SKLEARN}:HistGradientBoostingRegressor",
        ),
        _histograms,
    ),
    (("xgboost.sklearn:XGBModel",), _xgboost),
    (("lightgbm.sklearn:LGBMModel",), _lightgbm),
    (("catboost.core:CatBoostClassifier", "catboost.core:CatBoostRegressor"), _catboost),
)


class Around(MetaEstimatorMixin, BaseEstimator):
    """A model that fits `estimator` in its own way; the fitted one is usually `estimator_`."""

    @property
    def n_features_in_(self) -> int:
        """Number of columns seen in `fit`."""
        check_is_fitted(self)
        return int(self._first().n_features_in_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns seen in `fit`, if X was a frame."""
        check_is_fitted(self)
        return np.asarray(self._first().feature_names_in_)

    def _first(self) -> Any:
        """Return the fitted part that has seen the columns as they were given."""
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

        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))


def learner_has(name: str) -> Any:
    """Return a check whether the inner learner, fitted or not, has the method."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class EarlyStopping(Around):
    """Booster that is fitted until rows that were set aside no longer improve by further trees.

    The rows are set aside from those that ``fit`` is given, so that within cross-validation they
    are training rows: no test row influences when the fit ends, as it does if it is passed as
    ``eval_set``. The rows that are set aside preserve the shares of the classes, and rows of one
    group stay together. ``tr.estimate_risk`` and the other verbs pass their `groups` on.

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

    copies_as_groups = True  # Copies of a row in a bootstrap sample stay together.

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
        """Set rows aside, and fit on the others until the rows set aside no longer improve.

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
        arrays = (np.asarray(a) if isinstance(a, list) else a for a in (X, y, sample_weight))
        X, y, weights, groups = indexable(*arrays, groups)
        labels = column_or_1d(y, warn=True) if is_classifier(self.estimator) else None
        if labels is not None:
            assert_all_finite(labels, input_name="y")
            check_classification_targets(labels)
        aside = _set_aside(
            self.fraction, len(y), labels, groups, check_random_state(self.random_state)
        )
        self.set_aside_ = np.flatnonzero(aside)
        fitted, ends = [
            [None if array is None else take_rows(array, rows) for array in (X, y, weights)]
            for rows in (np.flatnonzero(~aside), self.set_aside_)
        ]
        self.estimator_, self.n_trees_ = stopped(clone(self.estimator), fitted, ends, self.rounds)
        if labels is not None:
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> Any:
        """Return the predictions of the booster with the trees that improved it.

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

    @available_if(learner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities of the booster.

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

    @available_if(learner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the decision values, if the booster has them.

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
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        tags.input_tags.sparse = False
        return tags


def _set_aside(
    fraction: float, n_rows: int, labels: Any, groups: Any, random: np.random.RandomState
) -> np.ndarray:
    """Return a mask of rows to set aside: for each class its share of rows or groups.

    At least one is left of each class. A group with the last rows of a class is not set aside,
    whatever its most common class is.
    """
    unit = np.arange(n_rows)
    if groups is not None:
        unit = np.unique(np.asarray(groups), return_inverse=True)[1]
    n_units = int(unit.max(initial=-1)) + 1
    what = "row" if groups is None else "group"
    if n_units < 2:
        raise ValueError(
            f"n_samples={n_rows}: {n_units} {what} cannot be set aside and fitted on, too."
        )
    times = _times(unit, n_units, labels)
    stratum = times.argmax(axis=1)
    drawn: list[np.ndarray] = []
    for label in np.unique(stratum):
        members = random.permutation(np.flatnonzero(stratum == label))
        n_taken = min(int(fraction * len(members) + random.uniform()), len(members) - 1)
        drawn.append(members[:n_taken])
    units = _removable(np.concatenate(drawn), times)
    # One is taken from the most common class, so that early stopping has a test set.
    if not len(units):
        common = stratum == np.bincount(stratum).argmax()
        others = np.flatnonzero(~common)
        order = np.concatenate([random.permutation(np.flatnonzero(common)), others])
        units = _removable(order, times)[:1]
    if not len(units):
        raise ValueError(
            f"n_samples={n_rows}: each {what} holds the last rows of a class, so none can be set "
            "aside: use a fixed number of trees."
        )
    aside = np.zeros(n_units, dtype=bool)
    aside[units] = True
    return aside[unit]


def _times(unit: np.ndarray, n_units: int, labels: Any) -> np.ndarray:
    """Return the number of rows of each class in each row or group; one column without classes."""
    if labels is None:
        return np.bincount(unit)[:, None]
    classes, codes = np.unique(labels, return_inverse=True)
    times = np.zeros((n_units, len(classes)), dtype=np.intp)
    np.add.at(times, (unit, codes), 1)
    return times


def _removable(units: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the units that can be removed in turn while a row of every class is left."""
    counts, removable = times.sum(axis=0), []
    for unit in units:
        if (counts > times[unit]).all():
            counts = counts - times[unit]
            removable.append(unit)
    return np.array(removable, dtype=np.intp)
