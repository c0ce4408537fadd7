"""ThresholdClassifier: a classifier whose threshold is tuned for a cost or a required rate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
    cross_val_predict,
)
from sklearn.utils import assert_all_finite
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d

from truerisk.core.arguments import repr_on_one_line
from truerisk.models.early_stopping import WrappedEstimator
from truerisk.results.operating_points import RATE_NAMES, ThresholdCounts, check_cost, check_rate

RESPONSE_METHODS = ("predict_proba", "decision_function")
# Fit parameters whose names end with this text are row weights.
WEIGHT_SUFFIX = "sample_weight"


class ThresholdClassifier(ClassifierMixin, WrappedEstimator):
    """Classifier of two classes with a tuned threshold on the score of another classifier.

    A row is positive if its score is at least the threshold. The threshold is chosen on out-of-fold
    scores of the training rows, pooled over `cv` folds: either the threshold with the smallest mean
    `cost`, or the threshold that reaches a required `sensitivity`, `specificity` or `precision` and
    is best in the other rate. Then the classifier is fitted on all rows. Because the choice is part
    of `fit`, ``tr.estimate_risk`` of this model is the honest risk *at the tuned threshold*; the
    rates in `operating_point_` were optimised and are optimistic.

    Unlike scikit-learn's ``TunedThresholdClassifierCV`` it accepts a required rate, considers every
    threshold that separates two rows, and treats ties together. Probabilities are on one scale in
    all folds; decision values may not be.

    Its labels, its decision values and its threshold agree: a decision value is the distance of a
    row's score from the threshold. A probability of ½ is no longer a threshold, so that
    probabilities are only available from the inner classifier, ``estimator_.predict_proba(X)``.

    Parameters
    ----------
    estimator : classifier
        A classifier with ``predict_proba`` or ``decision_function``.
    cost : tuple of float, optional
        The costs of a false positive and of a false negative. The default is (1, 1), the share of
        wrong predictions, if no rate is required.
    sensitivity : float, optional
        The required sensitivity. At most one rate is required, and then there is no cost.
    specificity : float, optional
        The required specificity.
    precision : float, optional
        The required precision.
    cv : int, splitter or iterable, default=5
        The folds; stratified and shuffled for an int.
    positive : label, optional
        The positive class. The default is the second class in sorted order.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        The scores; "auto" uses probabilities if they exist.
    random_state : int, RandomState or None, optional
        The seed of the folds.

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted on all rows.
    threshold_ : float
        A row is positive if its score is at least this number.
    operating_point_ : OperatingPoint
        The rates of the threshold on the out-of-fold scores.
    scores_ : array, shape (n_samples,)
        Out-of-fold scores of the training rows.
    classes_ : array, shape (2,)
        The classes, in sorted order.

    See Also
    --------
    RocCurve : ROC curve, with the thresholds of a cost or a rate.
    truerisk.losses.Cost : Loss with a cost of each mistake.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(100, random_state=0)
    >>> model = tr.models.ThresholdClassifier(GaussianNB(), sensitivity=0.95, random_state=0)
    >>> point = model.fit(X, y).operating_point_
    >>> round(point.threshold, 4), point.sensitivity, point.specificity
    (0.1048, 0.96, 0.46)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cost: tuple[float, float] | None = None,
        sensitivity: float | None = None,
        specificity: float | None = None,
        precision: float | None = None,
        cv: Any = 5,
        positive: Any = None,
        response_method: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.sensitivity = sensitivity
        self.specificity = specificity
        self.precision = precision
        self.cv = cv
        self.positive = positive
        self.response_method = response_method
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None, **params: Any) -> ThresholdClassifier:
        """Choose the threshold on out-of-fold scores, then fit the classifier on all rows.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The training rows.
        y : array, shape (n_samples,)
            Labels of two classes.
        groups : array, shape (n_samples,), optional
            Rows of one group stay in one fold.
        **params
            Fit parameters of every fit of the classifier. ``sample_weight`` (in a pipeline that of
            its last step, ``step__sample_weight``) also weights the rates and costs.

        Returns
        -------
        ThresholdClassifier
            The fitted model.
        """
        if y is None:
            raise ValueError("this model requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        required_rate = self._required_rate()
        self.classes_, self._positive_code = _classes_and_positive_code(y, self.positive)
        self._method = _response_method(self.estimator, self.response_method)
        fit_params = {name: value for name, value in params.items() if value is not None}
        weights = _checked_weights(
            next((fit_params[n] for n in fit_params if n.endswith(WEIGHT_SUFFIX)), None), y
        )
        predictions = cross_val_predict(
            clone(self.estimator),
            X,
            y,
            groups=groups,
            cv=_make_splitter(self.cv, y, groups, self.random_state),
            method=self._method,
            params=fit_params,
        )
        self.scores_ = self._positive_class_scores(np.asarray(predictions, dtype=np.float64))
        operating_points = ThresholdCounts.from_scores(
            self.scores_, y == self.classes_[self._positive_code], weights
        )
        if required_rate:
            self.operating_point_ = operating_points.at_rate(required_rate)
        else:
            self.operating_point_ = operating_points.at_cost(*_cost_pair(self.cost))
        self.threshold_ = self.operating_point_.threshold
        self.estimator_ = clone(self.estimator).fit(X, y, **self._route_fit_params(fit_params))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the positive class for scores of at least the threshold, else the other class.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The predicted labels.
        """
        differences = self.decision_function(X)
        return self.classes_[(differences > 0).astype(np.intp)]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return each score minus the threshold, with the sign that is positive for `classes_[1]`.

        The differences order rows as the scores of the classifier do.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The distances.
        """
        check_is_fitted(self)
        scores = self._positive_class_scores(np.asarray(getattr(self.estimator_, self._method)(X)))
        # With an infinite threshold no row is positive, whatever its score.
        if np.isinf(self.threshold_):
            differences = scores / (1 + np.abs(scores)) - 1
        # A row whose score equals the threshold is positive.
        # Its decision value must therefore be above 0 if classes_[1] is the positive class.
        else:
            threshold = self.threshold_
            differences = scores - (
                np.nextafter(threshold, -np.inf) if self._positive_code else threshold
            )
        return differences if self._positive_code else -differences

    def _required_rate(self) -> dict[str, float]:
        """Return a dict with the required rate by its name; it is empty if no rate is required.

        Raise ValueError if a cost is given as well.
        """
        required_rate = {
            name: getattr(self, name) for name in RATE_NAMES if getattr(self, name) is not None
        }
        if required_rate:
            check_rate(required_rate)
            if self.cost is not None:
                raise ValueError("give a cost or a demanded rate, not both.")
        else:
            check_cost(*_cost_pair(self.cost))
        return required_rate

    def _positive_class_scores(self, predictions: np.ndarray) -> np.ndarray:
        """Convert the classifier's output to scores that are higher for the positive class."""
        if predictions.ndim == 2:
            return predictions[:, self._positive_code]
        return predictions if self._positive_code == 1 else -predictions

    def _route_fit_params(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Return the fit parameters for the inner classifier, under the names that it expects."""
        if not get_config()["enable_metadata_routing"] or not fit_params:
            return fit_params
        return dict(process_routing(self, "fit", **fit_params).estimator.fit)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing: `fit` passes fit parameters to the classifier.

        It uses `groups` itself.

        Returns
        -------
        MetadataRouter
            The routing, as scikit-learn's metadata routing expects it.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        estimator_tags = getattr(self.estimator, "__sklearn_tags__", None)
        if estimator_tags is not None:
            tags.input_tags = estimator_tags().input_tags
        return tags


def _cost_pair(cost: Any) -> tuple[float, float]:
    if cost is None:
        return 1.0, 1.0
    try:
        false_positive, false_negative = cost
        return float(false_positive), float(false_negative)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"cost={repr_on_one_line(cost)}: give two numbers, of a false positive and of a false "
            "negative."
        ) from None


def _classes_and_positive_code(y: np.ndarray, positive: Any) -> tuple[np.ndarray, int]:
    """Return the two classes in sorted order, and the code (0 or 1) of the positive class."""
    target_type = type_of_target(y, input_name="y", raise_unknown=True)
    if target_type != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {target_type}."
        )
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError("y holds one class only: there is nothing to distinguish.")
    if positive is None:
        return classes, 1
    if positive not in classes.tolist():
        raise ValueError(f"positive={positive!r} is no class of y: {classes[0]}, {classes[1]}.")
    return classes, classes.tolist().index(positive)


def _checked_weights(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    """Check and return the row weights; raise ValueError if a class has no positive weight."""
    if sample_weight is None:
        return None
    weights: np.ndarray = check_array(sample_weight, ensure_2d=False, dtype=np.float64)
    if weights.shape != y.shape:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {y.shape}.")
    if (weights < 0).any():
        raise ValueError("sample_weight must not be negative.")
    if len(np.unique(y[weights > 0])) < 2:
        raise ValueError("sample_weight is 0 in all of a class: there is nothing to distinguish.")
    return weights


def _response_method(estimator: Any, response_method: str) -> str:
    if response_method != "auto" and response_method not in RESPONSE_METHODS:
        raise ValueError(
            f"response_method={response_method!r} is unknown: use 'auto', "
            f"{' or '.join(RESPONSE_METHODS)}."
        )
    for method in RESPONSE_METHODS if response_method == "auto" else (response_method,):
        if hasattr(estimator, method):
            return method
    missing_methods = (
        "predict_proba or decision_function" if response_method == "auto" else response_method
    )
    raise ValueError(
        f"{type(estimator).__name__} has no {missing_methods}: there is no score to threshold."
    )


def _make_splitter(cv: Any, y: np.ndarray, groups: Any, random_state: Any) -> Any:
    """Return the splitter for `cv`.

    An int gives stratified and shuffled folds, which keep groups whole.
    """
    if not isinstance(cv, int | np.integer):
        return check_cv(cv, y, classifier=True)
    if np.unique(y, return_counts=True)[1].min() < 2:
        raise ValueError(
            "a class has n_samples=1: the fold that tests it would be fitted without this class."
        )
    splitter_class = StratifiedKFold if groups is None else StratifiedGroupKFold
    return splitter_class(int(cv), shuffle=True, random_state=random_state)
