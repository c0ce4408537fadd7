"""scikit-learn's and users' scorers, as equal losses of this library or as they are.

A scorer of one class uses the label 1 for it. scikit-learn's scorers refuse text labels, and for
the classes 1 and 2 they rate the first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from math import inf
from typing import Any

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.errors import Refusal, UnknownName, is_failure
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import closest
from truerisk.data.data import Data
from truerisk.losses.loss import Events, Loss, class_named
from truerisk.losses.row_losses import registry
from truerisk.results.interval import Scale

_TWO, _CLASSES, _NUMBERS = "two classes", "classes", "numbers"
_SCORERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "accuracy": (_CLASSES, "zero-one", {}),
    "average_precision": (_TWO, "average-precision", {}),
    "balanced_accuracy": (_CLASSES, "balanced-accuracy", {}),
    "f1": (_TWO, "f1", {}),
    "f1_macro": (_CLASSES, "f1", {"average": "macro"}),
    "f1_weighted": (_CLASSES, "f1", {"average": "weighted"}),
    "matthews_corrcoef": (_CLASSES, "mcc", {}),
    "neg_brier_score": (_CLASSES, "brier", {}),
    "neg_log_loss": (_CLASSES, "log", {}),
    "neg_mean_absolute_error": (_NUMBERS, "absolute", {}),
    "neg_mean_squared_error": (_NUMBERS, "squared", {}),
    "precision": (_TWO, "precision", {}),
    "precision_macro": (_CLASSES, "precision", {"average": "macro"}),
    "precision_weighted": (_CLASSES, "precision", {"average": "weighted"}),
    "r2": (_NUMBERS, "r2", {}),
    "recall": (_TWO, "recall", {}),
    "recall_macro": (_CLASSES, "recall", {"average": "macro"}),
    "recall_weighted": (_CLASSES, "recall", {"average": "weighted"}),
    "roc_auc": (_TWO, "auc", {}),
    "roc_auc_ovr": (_CLASSES, "auc", {"average": "macro"}),
    "roc_auc_ovr_weighted": (_CLASSES, "auc", {"average": "weighted"}),
}
"""scikit-learn's names of scores: the kind of y, our name of the same loss, and its arguments."""


_METRICS = {
    "f1_score": "f1",
    "fbeta_score": "f1",
    "precision_score": "precision",
    "recall_score": "recall",
}
"""scikit-learn's metrics that rate one class, or each of them in turn, from labels."""


def same_as_scorer(name: str, n_classes: int, positive: Any = None) -> Loss | None:
    """Return our loss that is equal to a scikit-learn scorer; None if there is none.

    Its usual average is the mean over folds, as in `cross_val_score`, and its name is the scorer's.
    `n_classes` is 0 for regression. Scores of one class rate the greater of two labels. For more
    classes `positive` names one.

    >>> loss = same_as_scorer("f1", 2)
    >>> loss.name, loss.usual_average, same_as_scorer("f1", 3)
    ('f1', 'fold', None)
    """
    if name not in _SCORERS:
        return None
    of_what, own_name, arguments = _SCORERS[name]
    has_two = n_classes == 2 or (n_classes > 2 and positive is not None)
    fits = {_TWO: has_two, _CLASSES: n_classes > 0, _NUMBERS: n_classes == 0}
    return _as_scorer(registry.load(own_name)(**arguments), name) if fits[of_what] else None


def _as_scorer(loss: Loss, name: str) -> Loss:
    loss.name, loss.usual_average, loss.is_score = name, "fold", True
    return loss


def loss_of_name(name: str, data: Data, positive: Any) -> Loss:
    """Return the loss that a name of scikit-learn stands for; an unknown name is refused."""
    same = same_as_scorer(name, data.n_classes, positive)
    if same is not None:
        return same
    from sklearn.metrics import get_scorer, get_scorer_names

    if name in WANT_A_CLASS and data.n_classes == 2:
        label = data.label(1) if positive is None else positive
        return ScorerLoss(PositiveScorer(name, label), name, data)
    if name in get_scorer_names():
        return ScorerLoss(get_scorer(name), name, data)
    nearest = closest(name, [*registry, *get_scorer_names()]) or "."
    raise UnknownName(
        f"there is no scoring {shown(name)}{nearest} "
        f"Known: {', '.join(registry)}, and scikit-learn's scorer names."
    )


def own_score_of(score: Any, data: Data, positive: Any) -> Loss:
    """Return the loss of a scorer, or minus its score if that of a perfect rule is not known."""
    name = scorer_name(score)
    if data.task in ("other", "survival"):
        return OwnScore(score, name)
    try:
        return loss_of_scorer(score, data, positive)
    except Refusal:
        if getattr(score, "_response_method", None) == "predict":
            raise  # It depends on y and predictions only, so that it fails for models as well.
        return OwnScore(score, name)


def own_score_named(name: str) -> OwnScore | None:
    """Return minus the score that scikit-learn has by this name; None for an unknown one."""
    from sklearn.metrics import get_scorer, get_scorer_names

    return OwnScore(get_scorer(name), name) if name in get_scorer_names() else None


def loss_of_scorer(scorer: Callable[..., Any], data: Data, positive: Any = None) -> Loss:
    """Convert a scorer to a loss, one of this package if `make_scorer` used an equal metric."""
    same = _same_as_made(scorer, data, positive)
    return ScorerLoss(scorer, scorer_name(scorer), data) if same is None else same


def scorer_name(scorer: Any) -> str:
    """Return the name of a scorer: its own, or that of its metric with its arguments."""
    made = getattr(scorer, "__dict__", {})
    if "_score_func" not in made:
        return str(getattr(scorer, "__name__", scorer))
    metric = made["_score_func"]
    options = ", ".join(f"{name}={shown(value)}" for name, value in made["_kwargs"].items())
    name = getattr(metric, "__name__", type(metric).__name__)
    return f"{name}({options})" if options else name


def _same_as_made(scorer: Any, data: Data, positive: Any) -> Loss | None:
    """Return our loss that equals a scorer made by `make_scorer`, or None.

    The class is that of ``pos_label``, else `positive`, else the label 1 that scikit-learn uses.
    """
    from sklearn.metrics import get_scorer

    if type(scorer) is not type(get_scorer("accuracy")):
        return None
    options = dict(vars(scorer)["_kwargs"])
    name = next((name for name in _SCORERS if vars(get_scorer(name)) == vars(scorer)), "")
    if name == "roc_auc" or _SCORERS.get(name, (_TWO,))[0] != _TWO:
        return same_as_scorer(name, data.n_classes, positive)
    labels = [data.label(code) for code in range(data.n_classes)]
    label = options.pop("pos_label", 1 if positive is None else positive)
    if name == "average_precision":  # For the lesser label its values differ from ours.
        return same_as_scorer(name, data.n_classes) if labels[1:] == [label] else None
    own_name, average = _METRICS.get(_metric(scorer)), options.pop("average", "binary")
    if own_name is None or options.keys() - {"beta"}:
        return None
    made = registry.load(own_name)
    if average in ("macro", "weighted"):
        loss: Loss = made(**options, average=average)
        return _as_scorer(loss, loss.name.replace("-", "_"))
    if average != "binary" or len(labels) != 2 or label not in labels:
        return None
    loss = made(**options, positive=label)
    return _as_scorer(loss, loss.name)


def _metric(scorer: Any) -> str:
    """Return the name of scikit-learn's metric for labels in a scorer, or "" for other scorers."""
    from sklearn import metrics

    made = vars(scorer)
    name = str(getattr(made["_score_func"], "__name__", ""))
    as_ours = (made["_sign"], made["_response_method"]) == (1, "predict")
    return name if as_ours and getattr(metrics, name, None) is made["_score_func"] else ""


OF_CLASSES = (
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
        self.perfect = self._rate_perfect_rule(data) + 0.0
        if not np.isfinite(self.perfect):
            raise Refusal(
                f"scorer {name} gives {self.perfect} for a perfect rule: it cannot become an error."
            )

    @override
    def rated(self, data: Data) -> int | None:
        if not isinstance(self.scorer, PositiveScorer):
            return None
        return class_named(self.scorer.positive, data)

    def events(self, data: Data) -> Events | None:
        """Count the rows of a class if the name says that the score rests on single classes."""
        if data.task != "classification" or not self.metric.startswith(OF_CLASSES):
            return None
        return Events.of_class(data, self.rated(data))

    def _rate_perfect_rule(self, data: Data) -> float:
        rows = np.arange(data.n_rows)[:, None]
        try:
            # Its warnings concern our perfect rule, not the user's model.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(self.scorer(perfect_rule(data), rows, *data.targets(data.y)))
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


def perfect_rule(data: Data) -> Any:
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


class OwnScore(Loss):
    """Minus a score, as the loss of a score without a known best value."""

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


WANT_A_CLASS = frozenset(
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
"""Names of scikit-learn's scores that rate one of two classes."""


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

        ones = _ones(y, self.positive)
        return get_scorer(self.name)(_Recoded(estimator, self.positive), X, ones, **options)

    def __str__(self) -> str:
        return self.name

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments that make an equal scorer, from which a store builds its key."""
        return {"name": self.name, "positive": self.positive}


class _Recoded:
    """A fitted classifier whose labels are 1 for the positive class and 0 for the other."""

    def __init__(self, model: Any, positive: Any) -> None:
        self._model, self._positive = model, positive

    @property
    def classes_(self) -> np.ndarray:
        return np.sort(_ones(self._model.classes_, self._positive))

    def predict(self, X: Any) -> np.ndarray:
        return _ones(self._model.predict(X), self._positive)

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._model, name)
        if name not in _TURNED or _ones(self._model.classes_, self._positive).tolist() != [1, 0]:
            return member

        @wraps(member)  # scikit-learn reads the name of the method.
        def turned(X: Any) -> Any:
            return _TURNED[name](member(X))

        return turned


_TURNED: dict[str, Callable[[Any], Any]] = {
    "predict_proba": np.fliplr,
    "predict_log_proba": np.fliplr,
    "decision_function": np.negative,
}
"""Conversions of predictions for two classes to the opposite order of the classes."""


def _ones(labels: Any, positive: Any) -> np.ndarray:
    return (np.asarray(labels) == positive).astype(np.int64)
