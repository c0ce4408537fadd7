"""`scoring=` and scorers of scikit-learn: as losses of ours that mean the same, or as they are."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import numpy as np

from truerisk.core.arguments import refuse_class, shown
from truerisk.core.errors import BadArgument, Refusal, UnknownName, is_failure
from truerisk.core.present import of_class
from truerisk.data.data import Data
from truerisk.losses.confusion_scores import OfOneClass
from truerisk.losses.loss import Events, PositiveScorer, class_named
from truerisk.losses.row_losses import (
    AUC,
    MCC,
    R2,
    Absolute,
    AveragePrecision,
    BalancedAccuracy,
    Brier,
    FBeta,
    Log,
    Loss,
    Precision,
    Recall,
    Squared,
    ZeroOne,
)
from truerisk.results.interval import Scale

_TWO, _CLASSES, _NUMBERS = "two classes", "classes", "numbers"
_SCORERS: dict[str, tuple[str, Callable[[], Loss]]] = {
    "accuracy": (_CLASSES, ZeroOne),
    "average_precision": (_TWO, AveragePrecision),
    "balanced_accuracy": (_CLASSES, BalancedAccuracy),
    "f1": (_TWO, FBeta),
    "f1_macro": (_CLASSES, partial(FBeta, average="macro")),
    "f1_weighted": (_CLASSES, partial(FBeta, average="weighted")),
    "matthews_corrcoef": (_CLASSES, MCC),
    "neg_brier_score": (_CLASSES, Brier),
    "neg_log_loss": (_CLASSES, Log),
    "neg_mean_absolute_error": (_NUMBERS, Absolute),
    "neg_mean_squared_error": (_NUMBERS, Squared),
    "precision": (_TWO, Precision),
    "precision_macro": (_CLASSES, partial(Precision, average="macro")),
    "precision_weighted": (_CLASSES, partial(Precision, average="weighted")),
    "r2": (_NUMBERS, R2),
    "recall": (_TWO, Recall),
    "recall_macro": (_CLASSES, partial(Recall, average="macro")),
    "recall_weighted": (_CLASSES, partial(Recall, average="weighted")),
    "roc_auc": (_TWO, AUC),
    "roc_auc_ovr": (_CLASSES, partial(AUC, average="macro")),
    "roc_auc_ovr_weighted": (_CLASSES, partial(AUC, average="weighted")),
}
"""scikit-learn's names of scores that a loss of ours is made of, and what y they are for."""


_METRICS: dict[str, Callable[..., OfOneClass]] = {
    "f1_score": FBeta,
    "fbeta_score": FBeta,
    "precision_score": Precision,
    "recall_score": Recall,
}
"""Functions of scikit-learn that rate one class, or all of them in turn, from labels."""


def same_as_scorer(word: str, n_classes: int, positive: Any = None) -> Loss | None:
    """The loss of ours that means what scikit-learn means by a name; None where there is none.

    Its usual average is the mean over folds, that of `cross_val_score`, and its word is the name.
    `n_classes` is 0 for regression. Scores of one class rate the greater of two labels; of more
    classes `positive` names one.

    >>> loss = same_as_scorer("f1", 2)
    >>> loss.word, loss.usual_average, same_as_scorer("f1", 3)
    ('f1', 'fold', None)
    """
    of_what, made = _SCORERS.get(word, ("", None))
    has_two = n_classes == 2 or (n_classes > 2 and positive is not None)
    fits = {_TWO: has_two, _CLASSES: n_classes > 0, _NUMBERS: n_classes == 0}
    if made is None or not fits[of_what]:
        return None
    return _as_scorer(made(), word)


def _as_scorer(loss: Loss, word: str) -> Loss:
    loss.word, loss.usual_average, loss.is_score = word, "fold", True
    return loss


def loss_of_scorer(scorer: Callable[..., Any], data: Data, positive: Any = None) -> Loss:
    """A scorer as an error: by a loss of ours where `make_scorer` made it of what one means."""
    same = _same_as_made(scorer, data, positive)
    return ScorerLoss(scorer, scorer_word(scorer), data) if same is None else same


def scorer_word(scorer: Any) -> str:
    """What a scorer is called: its own name, or that of its metric with what that is given."""
    made = getattr(scorer, "__dict__", {})
    if "_score_func" not in made:
        return str(getattr(scorer, "__name__", scorer))
    metric = made["_score_func"]
    options = ", ".join(f"{name}={shown(value)}" for name, value in made["_kwargs"].items())
    name = getattr(metric, "__name__", type(metric).__name__)
    return f"{name}({options})" if options else name


def _same_as_made(scorer: Any, data: Data, positive: Any) -> Loss | None:
    """The class is that of ``pos_label``, else `positive`, else the 1 that scikit-learn takes."""
    from sklearn.metrics import get_scorer

    if type(scorer) is not type(get_scorer("accuracy")):
        return None
    options = dict(vars(scorer)["_kwargs"])
    word = next((word for word in _SCORERS if vars(get_scorer(word)) == vars(scorer)), "")
    if word == "roc_auc" or _SCORERS.get(word, (_TWO,))[0] != _TWO:
        return same_as_scorer(word, data.n_classes, positive)
    labels = [data.label(code) for code in range(data.n_classes)]
    label = options.pop("pos_label", 1 if positive is None else positive)
    if word == "average_precision":  # of the lesser label it reads other numbers than we do
        return same_as_scorer(word, data.n_classes) if labels[1:] == [label] else None
    made, average = _METRICS.get(_metric(scorer)), options.pop("average", "binary")
    if made is None or options.keys() - {"beta"}:
        return None
    if average in ("macro", "weighted"):
        loss: Loss = made(**options, average=average)
        return _as_scorer(loss, loss.word.replace("-", "_"))
    if average != "binary" or len(labels) != 2 or label not in labels:
        return None
    loss = made(**options, positive=label)
    return _as_scorer(loss, loss.word)


def _metric(scorer: Any) -> str:
    """The name of a function of scikit-learn that rates labels, larger is better."""
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
"""Beginnings of the names of scikit-learn's scores that rest on the rows of single classes."""


class ScorerLoss(Loss):
    """A scikit-learn scorer turned into an error: the score of a perfect rule minus the score.

    The perfect rule answers with y itself (and certainty), so accuracy and R² become 1 − score and
    `neg_mean_squared_error` becomes the mean squared error, without knowing the scorer.
    """

    response, per_row, is_score = "scored", False, True
    tasks = ("classification", "regression")

    def __init__(self, scorer: Callable[..., Any], word: str, data: Data) -> None:
        self.scorer = scorer
        self.word = self.metric = word
        self.perfect = self._rate_perfect_rule(data) + 0.0  # that of minus an error is no -0.0
        if not np.isfinite(self.perfect):
            raise Refusal(
                f"scorer {word} gives {self.perfect} for a perfect rule: it cannot become an error."
            )

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
            with warnings.catch_warnings():  # the perfect rule is ours, and so are its warnings
                warnings.simplefilter("ignore")
                return float(self.scorer(perfect_rule(data), rows, *data.targets(data.y)))
        except BaseException as error:  # a user's scorer may raise anything
            if not is_failure(error):
                raise
            raise Refusal(
                f"scorer {self.word} cannot rate even a perfect rule on this y "
                f"({type(error).__name__}: {error}); use another scorer, or make_scorer with the "
                "arguments it lacks."
            ) from error

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return self.perfect - answers


def perfect_rule(data: Data) -> Any:
    """An estimator whose X is the row number and whose answer is y."""
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
    """Minus a score, the loss of a score of which no best value is known."""

    response, per_row, lower, is_score = "scored", False, None, True
    tasks = ("classification", "regression", "survival", "other")

    def __init__(self, scorer: Callable[..., Any], word: str) -> None:
        self.scorer, self.word = scorer, word

    @property
    def scale(self) -> Scale:
        return Scale(inf)

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return -answers


@dataclass(frozen=True)
class Scoring:
    """A member of `scoring=`: it becomes a loss once there is a y to try it on.

    Parameters
    ----------
    score : str, Loss or callable
        A name of scikit-learn, a word of ours, a loss, or a function of the user.
    name : str, default ""
        The name that the user gave it; results call it by that name.
    """

    score: Any
    name: str = ""

    def on(self, data: Data, positive: Any) -> Any:
        """Return the loss that the score stands for, or a word that is left to `as_loss`.

        It is the distance to the score of a rule without error, or minus the score if that is not
        known. A name is scikit-learn's where there is such a score, else a word of ours.
        """
        refuse_class("scoring", self.score)
        if callable(self.score) and not is_loss_function(self.score):
            return self._by_function(data, positive)
        if not isinstance(self.score, str):
            return self.score
        if data.task == "other":  # a density has no right or wrong answers
            from sklearn.metrics import get_scorer, get_scorer_names

            known = self.score in get_scorer_names()
            return OwnScore(get_scorer(self.score), self.score) if known else self.score
        same = same_as_scorer(self.score, data.n_classes, positive)
        return self.score if same is None else same

    def _by_function(self, data: Data, positive: Any) -> Loss:
        word = scorer_word(self.score)
        if data.task in ("other", "survival"):
            return OwnScore(self.score, word)
        try:
            return loss_of_scorer(self.score, data, positive)
        except Refusal:
            if getattr(self.score, "_response_method", None) == "predict":
                raise  # it sees y and predictions alone, and fails for models as well
            return OwnScore(self.score, word)


OF_SCORERS = ("est", "model", "clf", "classif", "reg", "search", "pipe", "self", "fitted")
"""Beginnings of the names that the first parameter of a scorer has."""


def is_loss_function(function: Callable[..., Any]) -> bool:
    """Return True for a loss of (y_true, y_pred), and False for a scorer of (estimator, X, y).

    A scorer of models that need no y takes (estimator, X). A function that takes two arguments or
    three is told by the names of the first two; where they say nothing, it is refused, since either
    would be called in the place of the other.
    """
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True  # a function in C may have no signature, and scorers are no such functions
    named = [one for one in given if one.kind in kinds]
    required = sum(one.default is inspect.Parameter.empty for one in named)
    has_more = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in given)
    if required > 3 or (len(named) < 2 and not has_more):
        raise UnknownName(
            f"scoring={shown(function)} takes {required} arguments; a loss takes (y_true, y_pred), "
            "and a scorer (estimator, X, y)."
        )
    first, second = [*(one.name.lower() for one in named), "", ""][:2]
    if first.startswith(OF_SCORERS) or second == "x" or second.startswith("feature"):
        return False
    if required > 2 or (len(named) < 3 and not has_more):
        return required < 3
    if first.startswith("y") or "tru" in first or "pred" in second:
        return True
    raise BadArgument(
        f"scoring={shown(function)} may be called with two arguments or three: a loss names them "
        "(y_true, y_pred) and a scorer (estimator, X, y). Name them so, or use "
        "sklearn.metrics.make_scorer."
    )


def by_scoring(scoring: Any, chooser: Any = None) -> tuple[Any, list[Scoring]]:
    """Return the score that chooses, and the further ones.

    Parameters
    ----------
    scoring : str, Loss, callable, list or dict, or None
        What a user asks for; None is the usual loss of the data.
    chooser : str, optional
        Name of the score that chooses among several; by default it is the first one.

    Returns
    -------
    Scoring or None
        The score that chooses.
    list of Scoring
        The further scores, in their order.
    """
    if scoring is None or isinstance(scoring, OwnScore | Scoring):
        return scoring, []
    if not are_several(scoring):
        return Scoring(scoring), []
    each, is_dict = named(scoring), isinstance(scoring, Mapping)
    first = chooser if isinstance(chooser, str) and chooser in each else next(iter(each))
    chosen = Scoring(each.pop(first), first if is_dict else "")
    return chosen, [
        Scoring(score, name if is_dict or isinstance(score, str) else "")
        for name, score in each.items()
    ]


def are_several(scoring: Any) -> bool:
    """Return True for several scores: a list, a tuple, a set or a dict of them."""
    return isinstance(scoring, list | tuple | set | Mapping)


def named(scoring: Any) -> dict[str, Any]:
    """Return the scores by their names, those of losses and functions being their own.

    An empty list, None in it, other names than text and a name twice are refused.

    >>> named(["accuracy", "roc_auc"])
    {'accuracy': 'accuracy', 'roc_auc': 'roc_auc'}
    """
    members = sorted(scoring, key=str) if isinstance(scoring, set) else list(scoring)
    is_dict = isinstance(scoring, Mapping)
    each = [scoring[member] for member in members] if is_dict else members
    names = members if is_dict else [_name(score) for score in members]
    is_named = names and all(isinstance(n, str) and n for n in names)
    if not is_named or not all(map(_is_score, each)):
        is_matrix = any(isinstance(each_one, list | tuple) for each_one in each)
        hint = " A matrix of costs is given as scoring=tr.losses.Cost(matrix)." if is_matrix else ""
        raise BadArgument(
            f"scoring={shown(scoring)}: give a list of scores, such as ['roc_auc', 'f1'], or a "
            f"dict of scores by name, and at least one.{hint}"
        )
    if len(set(names)) < len(names):
        raise BadArgument(f"scoring={shown(scoring)} names a score twice: name each once.")
    return dict(zip(names, each, strict=True))


def _is_score(score: Any) -> bool:
    return isinstance(score, str | Loss) or (callable(score) and not isinstance(score, type))


def _name(score: Any) -> str | None:
    """Return the name of a member of a list; None for what is no score."""
    if not _is_score(score):
        return None
    if isinstance(score, str):
        return score
    return of_class(score.word, score.positive) if isinstance(score, Loss) else scorer_word(score)
