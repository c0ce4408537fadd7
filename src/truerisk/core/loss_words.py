"""From what a user writes as `loss=` to a Loss: a word, a loss, a callable, a scorer.

Some words are ours and scikit-learn's. Ours are taken of all answers of a repetition where these
compare; `same_as_scorer` gives what scikit-learn means by a name, the mean over folds.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from truerisk.core.arguments import refuse_class, shown
from truerisk.core.errors import FitFailed, Refusal, TrueRiskError, UnknownName, is_failure
from truerisk.core.loss import NO_PREDICTIONS
from truerisk.core.losses import (
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
    RowLoss,
    Squared,
    ZeroOne,
)
from truerisk.core.positive import WANT_A_CLASS, PositiveScorer
from truerisk.core.present import clean
from truerisk.core.registry import Line, Registry, closest
from truerisk.core.table.data import Data

__all__ = [
    "CallableLoss",
    "RatedLoss",
    "ScorerLoss",
    "as_loss",
    "perfect_rule",
    "registry",
    "same_as_scorer",
]

_HERE = "truerisk.core.losses"
_TABLE = "truerisk.core.scores.confusion"
_RANKED = "truerisk.core.scores.ranked"
registry = Registry(
    "loss",
    {
        "zero-one": Line(f"{_HERE}:ZeroOne", "1 for a wrong label, else 0 (classifiers' default)"),
        "cost": Line(f"{_HERE}:Cost", "a cost matrix: tr.losses.Cost([[0, 1], [5, 0]])"),
        "log": Line(f"{_HERE}:Log", "minus the log of the true class's probability"),
        "brier": Line(f"{_HERE}:Brier", "squared distance of the probabilities to the truth"),
        "squared": Line(f"{_HERE}:Squared", "(y - f)^2 (regressors' default)"),
        "absolute": Line(f"{_HERE}:Absolute", "|y - f|"),
        "auc": Line(f"{_RANKED}:AUC", "1 - AUC, by test sets"),
        "average-precision": Line(f"{_RANKED}:AveragePrecision", "1 - AP, by test sets"),
        "balanced-accuracy": Line(f"{_TABLE}:BalancedAccuracy", "1 - mean recall of the classes"),
        "f1": Line(f"{_TABLE}:FBeta", "1 - F1; F2 is tr.losses.FBeta(2)"),
        "precision": Line(f"{_TABLE}:Precision", "1 - precision"),
        "recall": Line(f"{_TABLE}:Recall", "1 - recall"),
        "sensitivity": Line(f"{_TABLE}:Sensitivity", "the same as recall"),
        "specificity": Line(f"{_TABLE}:Specificity", "1 - specificity"),
        "mcc": Line(f"{_TABLE}:MCC", "1 - Matthews' correlation"),
        "kappa": Line(f"{_TABLE}:Kappa", "1 - Cohen's kappa"),
        "g-mean": Line(f"{_TABLE}:GMean", "1 - geometric mean of the classes' recalls"),
        "r2": Line("truerisk.core.scores.explained:R2", "1 - R^2"),
        "ece": Line("truerisk.core.scores.reliability:ECE", "expected calibration error"),
    },
)

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
}
"""scikit-learn's names of scores that a loss of ours is made of, and what y they are for."""


def same_as_scorer(word: str, n_classes: int) -> Loss | None:
    """The loss of ours that means what scikit-learn means by a name; None where there is none.

    Its usual average is the mean over folds, that of `cross_val_score`, and its word is the name.
    `n_classes` is 0 for regression. Scores of one class rate the greater of two labels.

    >>> loss = same_as_scorer("f1", 2)
    >>> loss.word, loss.usual_average, same_as_scorer("f1", 3)
    ('f1', 'fold', None)
    """
    of_what, made = _SCORERS.get(word, ("", None))
    fits = {_TWO: n_classes == 2, _CLASSES: n_classes > 0, _NUMBERS: n_classes == 0}
    if made is None or not fits[of_what]:
        return None
    loss = made()
    loss.word, loss.usual_average, loss.is_score = word, "fold", True
    return loss


class CallableLoss(RowLoss):
    """`function(y_true, y_pred)` that returns one loss per row."""

    tasks = ("classification", "regression")
    lower = None

    def __init__(self, function: Callable[..., Any], data: Data) -> None:
        self.function = function
        self.word = getattr(function, "__name__", type(function).__name__)
        self.response = "label" if data.task == "classification" else "value"

    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        losses = [_call(self, data, rows, row) for row in answers]
        for one in losses:
            if np.shape(one) != (len(rows),):
                raise Refusal(
                    f"loss {self.word} gave shape {np.shape(one)} for {len(rows)} rows; "
                    "it must give one loss per row, as it did for all of y."
                )
        return np.array(losses)


class RatedLoss(Loss):
    """`function(y_true, y_pred)` that returns one number for a whole test set."""

    per_row = False
    tasks = ("classification", "regression")

    def __init__(self, function: Callable[..., Any], data: Data) -> None:
        self.function = function
        self.word = getattr(function, "__name__", type(function).__name__)
        self.response = "label" if data.task == "classification" else "value"

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        if weights is not None:
            raise Refusal(
                f"loss {self.word} rates a whole test set, so truerisk cannot weight its rows; "
                "return one loss per row instead."
            )
        rated = [_call(self, data, rows, row) for row in answers]
        if any(np.shape(one) != () for one in rated):
            raise Refusal(
                f"loss {self.word} gave shape {np.shape(rated[0])} for {len(rows)} rows; "
                "it must give one number for them all, as it did for all of y."
            )
        return np.array(rated)


class ScorerLoss(Loss):
    """A scikit-learn scorer turned into an error: the score of a perfect rule minus the score.

    The perfect rule answers with y itself (and certainty), so accuracy and R² become 1 − score and
    `neg_mean_squared_error` becomes the mean squared error, without knowing the scorer.
    """

    response, per_row, is_score = "scored", False, True
    tasks = ("classification", "regression")

    def __init__(self, scorer: Callable[..., Any], word: str, data: Data) -> None:
        self.scorer = scorer
        self.word = word
        self.perfect = self._rate_perfect_rule(data)
        if not np.isfinite(self.perfect):
            raise Refusal(
                f"scorer {word} gives {self.perfect} for a perfect rule: it cannot become an error."
            )

    def _rate_perfect_rule(self, data: Data) -> float:
        rows = np.arange(data.n_rows)[:, None]
        try:
            with warnings.catch_warnings():  # nobody asked about a perfect rule
                warnings.simplefilter("ignore")
                return float(self.scorer(perfect_rule(data), rows, *data.targets(data.y)))
        except Exception as error:  # a user's scorer may raise anything
            raise Refusal(
                f"scorer {self.word} cannot rate even a perfect rule on this y "
                f"({type(error).__name__}: {error}); use another scorer, or make_scorer with the "
                "arguments it lacks."
            ) from error

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return self.perfect - answers


def as_loss(loss: Any, data: Data) -> Loss:
    """The loss a user asked for, checked against the data; None is the task's usual one."""
    if loss is None:
        loss = "zero-one" if data.task == "classification" else "squared"
    if data.task == "other" and not isinstance(loss, Loss):
        raise Refusal(NO_PREDICTIONS.format(shown(loss)))
    found = _resolve(loss, data)
    found.check(data)
    return found


def _resolve(loss: Any, data: Data) -> Loss:
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        return _by_word(loss, data)
    refuse_class("loss", loss)
    if not callable(loss):
        text = clean(" ".join(repr(loss).split()), 80)
        matrix = isinstance(loss, list | np.ndarray)
        hint = " A matrix of costs is given as loss=tr.losses.Cost(matrix)." if matrix else ""
        raise UnknownName(
            f"loss={text} is neither a word ({', '.join(registry)}), a function "
            f"of (y_true, y_pred), nor a scikit-learn scorer.{hint}"
        )
    arguments = _required_arguments(loss)
    if arguments == 3:
        return ScorerLoss(loss, str(loss), data)
    if arguments == 2:
        return _from_function(loss, data)
    raise UnknownName(
        f"loss {loss!r} takes {arguments} arguments; a loss takes (y_true, y_pred), "
        "a scorer takes (estimator, X, y)."
    )


def _by_word(word: str, data: Data) -> Loss:
    if word == "cost":
        raise Refusal("loss 'cost' needs its matrix: loss=tr.losses.Cost([[0, 1], [5, 0]]).")
    if word in registry:
        found: Loss = registry.load(word)()
        return found
    same = same_as_scorer(word, data.n_classes)
    if same is not None:
        return same
    from sklearn.metrics import get_scorer, get_scorer_names

    if word in WANT_A_CLASS and data.n_classes == 2:
        positive = data.label(1)  # the greater one, as for 'auc' and the ROC
        loss = ScorerLoss(PositiveScorer(word, positive), word, data)
        loss.notes = (f"positive class: {clean(repr(positive), 60)}",)
        return loss
    if word in get_scorer_names():
        return ScorerLoss(get_scorer(word), word, data)
    raise UnknownName(
        f"there is no loss {word!r}{closest(word, [*registry, *get_scorer_names()]) or '.'} "
        f"Known: {', '.join(registry)}, and scikit-learn's scorer names."
    )


def _from_function(function: Callable[..., Any], data: Data) -> Loss:
    """Probed once, with y against itself: one value per row, or one for all."""
    word = getattr(function, "__name__", type(function).__name__)
    with _own_code(f"loss {word} failed on y against itself ({data.n_rows} rows)"):
        itself = function(data.y, data.y)
    shape = np.shape(itself)
    if shape == (data.n_rows,):
        return CallableLoss(function, data)
    if shape == () and itself == 1:
        raise Refusal(
            f"loss {word} is 1 for right answers, as a score is, and would be minimised: give it "
            "as sklearn.metrics.make_scorer(...), which says that larger is better, or by its name."
        )
    if shape == ():
        return RatedLoss(function, data)
    raise Refusal(
        f"loss {function!r} gave shape {shape} for {data.n_rows} rows; "
        "return one loss per row, or one number for the whole set."
    )


def _required_arguments(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters)


def _call(loss: Any, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
    if data.classes is not None:
        if (answers < 0).any():
            raise Refusal("a model predicted a label that y does not hold: the loss cannot see it.")
        answers = data.classes[answers]
    with _own_code(f"loss {loss.word} failed on {len(rows)} rows, the first of them row {rows[0]}"):
        return np.asarray(loss.function(data.y[rows], answers), dtype=np.float64)


@contextmanager
def _own_code(what: str) -> Iterator[None]:
    """A user's function may raise anything: what it raises is said with what it was given."""
    try:
        yield
    except TrueRiskError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        raise FitFailed.of(error, what) from error


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
