"""Losses from scikit-learn's and users' scorers: an equal loss of this package, or the scorer.

A scorer of one class uses the label 1 for it. scikit-learn's scorers refuse text labels, and for
the classes 1 and 2 they rate class 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from math import inf
from typing import Any

import numpy as np

from truerisk.core.arguments import repr_on_one_line
from truerisk.core.errors import Refusal, UnknownName, is_failure
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import suggestion_for
from truerisk.data.data import Data
from truerisk.losses.loss import Events, Loss, class_code
from truerisk.losses.row_losses import registry
from truerisk.results.interval import Scale

_TWO_CLASSES, _ANY_CLASSES, _NUMERIC_Y = "two classes", "classes", "numbers"
_LOSS_BY_SCORER: dict[str, tuple[str, str, dict[str, Any]]] = {
    "accuracy": (_ANY_CLASSES, "zero-one", {}),
    "average_precision": (_TWO_CLASSES, "average-precision", {}),
    "balanced_accuracy": (_ANY_CLASSES, "balanced-accuracy", {}),
    "f1": (_TWO_CLASSES, "f1", {}),
    "f1_macro": (_ANY_CLASSES, "f1", {"average": "macro"}),
    "f1_weighted": (_ANY_CLASSES, "f1", {"average": "weighted"}),
    "matthews_corrcoef": (_ANY_CLASSES, "mcc", {}),
    "neg_brier_score": (_ANY_CLASSES, "brier", {}),
    "neg_log_loss": (_ANY_CLASSES, "log", {}),
    "neg_mean_absolute_error": (_NUMERIC_Y, "absolute", {}),
    "neg_mean_squared_error": (_NUMERIC_Y, "squared", {}),
    "precision": (_TWO_CLASSES, "precision", {}),
    "precision_macro": (_ANY_CLASSES, "precision", {"average": "macro"}),
    "precision_weighted": (_ANY_CLASSES, "precision", {"average": "weighted"}),
    "r2": (_NUMERIC_Y, "r2", {}),
    "recall": (_TWO_CLASSES, "recall", {}),
    "recall_macro": (_ANY_CLASSES, "recall", {"average": "macro"}),
    "recall_weighted": (_ANY_CLASSES, "recall", {"average": "weighted"}),
    "roc_auc": (_TWO_CLASSES, "auc", {}),
    "roc_auc_ovr": (_ANY_CLASSES, "auc", {"average": "macro"}),
    "roc_auc_ovr_weighted": (_ANY_CLASSES, "auc", {"average": "weighted"}),
}
"""Kind of y, name in this package, and arguments of the loss for scikit-learn's score names."""


_LOSS_BY_METRIC = {
    "f1_score": "f1",
    "fbeta_score": "f1",
    "precision_score": "precision",
    "recall_score": "recall",
}
"""scikit-learn's metrics of labels that rate one class, or the mean over classes."""


def loss_equal_to_scorer(name: str, n_classes: int, positive: Any = None) -> Loss | None:
    """Return the loss of this package that equals a scikit-learn scorer; None if there is none.

    Its usual average is the mean over folds, as in `cross_val_score`, and its name is the scorer's.
    `n_classes` is 0 for regression. Scores of one class rate the greater of two labels. For more
    classes `positive` names the class.

    >>> loss = loss_equal_to_scorer("f1", 2)
    >>> loss.name, loss.usual_average, loss_equal_to_scorer("f1", 3)
    ('f1', 'fold', None)
    """
    if name not in _LOSS_BY_SCORER:
        return None
    y_kind, loss_name, arguments = _LOSS_BY_SCORER[name]
    rates_one_class = n_classes == 2 or (n_classes > 2 and positive is not None)
    is_possible = {
        _TWO_CLASSES: rates_one_class,
        _ANY_CLASSES: n_classes > 0,
        _NUMERIC_Y: n_classes == 0,
    }
    return (
        _rename_like_scorer(registry.load(loss_name)(**arguments), name)
        if is_possible[y_kind]
        else None
    )


def _rename_like_scorer(loss: Loss, name: str) -> Loss:
    loss.name, loss.usual_average, loss.is_score = name, "fold", True
    return loss


def loss_from_scorer_name(name: str, data: Data, positive: Any) -> Loss:
    """Return the loss that a score name of scikit-learn stands for; raise for an unknown name."""
    equal_loss = loss_equal_to_scorer(name, data.n_classes, positive)
    if equal_loss is not None:
        return equal_loss
    from sklearn.metrics import get_scorer, get_scorer_names

    if name in ONE_CLASS_SCORES and data.n_classes == 2:
        label = data.label(1) if positive is None else positive
        return ScorerLoss(PositiveScorer(name, label), name, data)
    if name in get_scorer_names():
        return ScorerLoss(get_scorer(name), name, data)
    suggestion = suggestion_for(name, [*registry, *get_scorer_names()]) or "."
    raise UnknownName(
        f"there is no scoring {repr_on_one_line(name)}{suggestion} "
        f"Known: {', '.join(registry)}, and scikit-learn's scorer names."
    )


def loss_or_negative_score(score: Any, data: Data, positive: Any) -> Loss:
    """Return the loss for a scorer.

    The loss is minus the score if the score of a perfect rule is unknown.
    """
    name = scorer_name(score)
    if data.task in ("other", "survival"):
        return NegativeScore(score, name)
    try:
        return loss_from_scorer(score, data, positive)
    except Refusal:
        if getattr(score, "_response_method", None) == "predict":
            # This scorer sees only y and predicted labels. If it fails for perfect predictions, it
            # fails for those of any model.
            raise
        return NegativeScore(score, name)


def negative_score_named(name: str) -> NegativeScore | None:
    """Return minus the scikit-learn score of this name; None for an unknown name."""
    from sklearn.metrics import get_scorer, get_scorer_names

    return NegativeScore(get_scorer(name), name) if name in get_scorer_names() else None


def loss_from_scorer(scorer: Callable[..., Any], data: Data, positive: Any = None) -> Loss:
    """Convert a scorer to a loss: one of this package if it has an equal metric."""
    equal_loss = _loss_equal_to_scorer_object(scorer, data, positive)
    return ScorerLoss(scorer, scorer_name(scorer), data) if equal_loss is None else equal_loss


def scorer_name(scorer: Any) -> str:
    """Return the name of a scorer: its own name, or that of its metric with its arguments."""
    scorer_fields = getattr(scorer, "__dict__", {})
    if "_score_func" not in scorer_fields:
        return str(getattr(scorer, "__name__", scorer))
    metric = scorer_fields["_score_func"]
    arguments_text = ", ".join(
        f"{name}={repr_on_one_line(value)}" for name, value in scorer_fields["_kwargs"].items()
    )
    name = getattr(metric, "__name__", type(metric).__name__)
    return f"{name}({arguments_text})" if arguments_text else name


def _loss_equal_to_scorer_object(scorer: Any, data: Data, positive: Any) -> Loss | None:
    """Return the loss of this package that equals a `make_scorer` scorer, or None.

    The positive class is ``pos_label``, or else `positive`, or else the label 1 that scikit-learn
    uses.
    """
    from sklearn.metrics import get_scorer

    if type(scorer) is not type(get_scorer("accuracy")):
        return None
    scorer_arguments = dict(vars(scorer)["_kwargs"])
    name = next((name for name in _LOSS_BY_SCORER if vars(get_scorer(name)) == vars(scorer)), "")
    if name == "roc_auc" or _LOSS_BY_SCORER.get(name, (_TWO_CLASSES,))[0] != _TWO_CLASSES:
        return loss_equal_to_scorer(name, data.n_classes, positive)
    labels = [data.label(code) for code in range(data.n_classes)]
    label = scorer_arguments.pop("pos_label", 1 if positive is None else positive)
    # With the smaller label as positive class, the values of scikit-learn differ from those of
    # this package.
    if name == "average_precision":
        return loss_equal_to_scorer(name, data.n_classes) if labels[1:] == [label] else None
    loss_name, average = (
        _LOSS_BY_METRIC.get(_metric_name(scorer)),
        scorer_arguments.pop("average", "binary"),
    )
    if loss_name is None or scorer_arguments.keys() - {"beta"}:
        return None
    loss_class = registry.load(loss_name)
    if average in ("macro", "weighted"):
        loss: Loss = loss_class(**scorer_arguments, average=average)
        return _rename_like_scorer(loss, loss.name.replace("-", "_"))
    if average != "binary" or len(labels) != 2 or label not in labels:
        return None
    loss = loss_class(**scorer_arguments, positive=label)
    return _rename_like_scorer(loss, loss.name)


def _metric_name(scorer: Any) -> str:
    """Return the name of the scikit-learn metric of labels that a scorer uses, or "" for others."""
    from sklearn import metrics

    scorer_fields = vars(scorer)
    name = str(getattr(scorer_fields["_score_func"], "__name__", ""))
    is_plain_metric = (scorer_fields["_sign"], scorer_fields["_response_method"]) == (1, "predict")
    return (
        name
        if is_plain_metric and getattr(metrics, name, None) is scorer_fields["_score_func"]
        else ""
    )


CLASS_SCORE_PREFIXES = (
    "average_precision",
    "balanced_accuracy",
    "f1",
    "jaccard",
    "matthews",
    "neg_negative_likelihood",
    "positive_likelihood",
    "precision",
    "recall",
    "roc_auc",
)
"""Prefixes of scikit-learn's scores that depend on the rows of single classes."""


class ScorerLoss(Loss):
    """A scikit-learn scorer as a loss: the score of a perfect rule minus the score.

    The perfect rule predicts y itself (with certainty), so that accuracy and R² become 1 − score
    and `neg_mean_squared_error` becomes the mean squared error, without any knowledge of the
    scorer.
    """

    response, per_row, is_score = "scored", False, True
    tasks = ("classification", "regression")

    def __init__(self, scorer: Callable[..., Any], name: str, data: Data) -> None:
        self.scorer = scorer
        self.name = self.metric = name
        # Adding 0.0 turns the -0.0 of a negated error into 0.0.
        self.perfect = self._score_perfect_estimator(data) + 0.0
        if not np.isfinite(self.perfect):
            raise Refusal(
                f"scorer {name} gives {self.perfect} for a perfect rule: it cannot become an error."
            )

    @override
    def rated(self, data: Data) -> int | None:
        if not isinstance(self.scorer, PositiveScorer):
            return None
        return class_code(self.scorer.positive, data)

    def events(self, data: Data) -> Events | None:
        """Count the rows of the rated class if the scorer's name belongs to a score of classes."""
        if data.task != "classification" or not self.metric.startswith(CLASS_SCORE_PREFIXES):
            return None
        return Events.from_class(data, self.rated(data))

    def _score_perfect_estimator(self, data: Data) -> float:
        rows = np.arange(data.n_rows)[:, None]
        try:
            # Warnings here concern the perfect rule, not the user's model.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(self.scorer(make_perfect_estimator(data), rows, *data.targets(data.y)))
        except BaseException as error:  # A user's scorer may raise anything.
            if not is_failure(error):
                raise
            raise Refusal(
                f"scorer {self.name} cannot rate even a perfect rule on this y "
                f"({type(error).__name__}: {error}); use another scorer, or make_scorer with the "
                "arguments it lacks."
            ) from error

    @override
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return self.perfect - answers


def make_perfect_estimator(data: Data) -> Any:
    """Return an estimator that takes row numbers as X and predicts y."""
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    class Truth(BaseEstimator):
        def fit(self, X: Any, y: Any = None) -> Any:
            return self

        def __sklearn_is_fitted__(self) -> bool:
            return True

        def predict(self, X: Any) -> Any:
            return data.y[np.asarray(X)[:, 0]]

    if data.task == "regression":
        return type("PerfectRegressor", (RegressorMixin, Truth), {})()

    class TrueClass(ClassifierMixin, Truth):
        classes_ = data.classes

        def predict_proba(self, X: Any) -> Any:
            return np.eye(data.n_classes)[data.codes[np.asarray(X)[:, 0]]]  # type: ignore[index]

    return TrueClass()


class NegativeScore(Loss):
    """Loss that is minus a score, for scores whose best value is unknown."""

    response, per_row, lower, is_score = "scored", False, None, True
    tasks = ("classification", "regression", "survival", "other")

    def __init__(self, scorer: Callable[..., Any], name: str) -> None:
        self.scorer, self.name = scorer, name

    @property
    @override
    def scale(self) -> Scale:
        return Scale(inf)

    @override
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return -answers


ONE_CLASS_SCORES = frozenset(
    {
        "average_precision",
        "d2_brier_score",
        "f1",
        "jaccard",
        "neg_brier_score",
        "neg_negative_likelihood_ratio",
        "positive_likelihood_ratio",
        "precision",
        "recall",
        "roc_auc",
    }
)
"""Names of scikit-learn's scores that rate only one of two classes."""


@frozen
class PositiveScorer:
    """scikit-learn's scorer of this name, with 1 for the positive class and 0 for the other.

    It passes the scorer labels and a model in terms of 1 and 0. Every score of one class, from
    labels or from probabilities, then equals the one that its metric gives with
    ``pos_label=positive``.
    """

    name: str
    positive: Any

    def __call__(self, estimator: Any, X: Any, y: Any, **options: Any) -> Any:
        """Score the estimator with the positive class recoded to 1 and the other to 0."""
        from sklearn.metrics import get_scorer

        recoded_y = _is_positive(y, self.positive)
        return get_scorer(self.name)(
            _RecodedClassifier(estimator, self.positive), X, recoded_y, **options
        )

    def __str__(self) -> str:
        return self.name

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments that make an equal scorer, from which a store builds its key."""
        return {"name": self.name, "positive": self.positive}


class _RecodedClassifier:
    """A fitted classifier whose labels are 1 for the positive class and 0 for the other."""

    def __init__(self, model: Any, positive: Any) -> None:
        self._model, self._positive = model, positive

    @property
    def classes_(self) -> np.ndarray:
        return np.sort(_is_positive(self._model.classes_, self._positive))

    def predict(self, X: Any) -> np.ndarray:
        return _is_positive(self._model.predict(X), self._positive)

    def __getattr__(self, name: str) -> Any:
        model_method = getattr(self._model, name)
        if name not in _REVERSED_METHODS or _is_positive(
            self._model.classes_, self._positive
        ).tolist() != [1, 0]:
            return model_method

        @wraps(model_method)  # `wraps` keeps the name of the method, because scikit-learn reads it.
        def reversed_method(X: Any) -> Any:
            return _REVERSED_METHODS[name](model_method(X))

        return reversed_method


_REVERSED_METHODS: dict[str, Callable[[Any], Any]] = {
    "predict_proba": np.fliplr,
    "predict_log_proba": np.fliplr,
    "decision_function": np.negative,
}
"""Conversions of predictions for two classes to the opposite order of the classes."""


def _is_positive(labels: Any, positive: Any) -> np.ndarray:
    return (np.asarray(labels) == positive).astype(np.int64)
