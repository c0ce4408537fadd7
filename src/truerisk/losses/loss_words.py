"""From what a user writes as `scoring=` to a Loss: a word, a loss, a callable, a scorer.

Where scikit-learn has a score of that name, the word means it (`same_as_scorer`). A score of whole
test sets is the mean over folds; with " pooled" behind its word it is of all answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np

from truerisk.core.arguments import real_array, refuse_class, shown
from truerisk.core.errors import FitFailed, Refusal, TrueRiskError, UnknownName, is_failure
from truerisk.core.identity import is_from
from truerisk.core.present import clean
from truerisk.core.registry import closest
from truerisk.data.data import Data
from truerisk.losses.loss import NO_PREDICTIONS, WANT_A_CLASS, PositiveScorer
from truerisk.losses.row_losses import Log, Loss, RowLoss, registry
from truerisk.losses.scorer_losses import (
    ScorerLoss,
    Scoring,
    is_loss_function,
    loss_of_scorer,
    same_as_scorer,
)
from truerisk.losses.survival_losses import AT, at_horizon


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
        for each in losses:
            if np.shape(each) != (len(rows),):
                raise Refusal(
                    f"loss {self.word} gave shape {np.shape(each)} for {len(rows)} rows; "
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
        if any(np.shape(each) != () for each in rated):
            raise Refusal(
                f"loss {self.word} gave shape {np.shape(rated[0])} for {len(rows)} rows; "
                "it must give one number for them all, as it did for all of y."
            )
        return np.array(rated)


USUAL = {"classification": "zero-one", "regression": "squared", "survival": "concordance"}


def as_loss(loss: Any, data: Data, positive: Any = None) -> Loss:
    """Return the loss that a user asked for, checked against the data; None is the usual one.

    A score of one class speaks of `positive`, unless it names its class itself.
    """
    if loss is None:
        loss = USUAL.get(data.task, "squared")
    name = ""
    if isinstance(loss, Scoring) and isinstance(loss.score, str) and loss.score.endswith(POOLED):
        return _pooled(loss, data, positive)
    if isinstance(loss, Scoring):
        name, loss = loss.name, loss.on(data, positive)
    if data.task == "other" and not isinstance(loss, Loss):
        raise Refusal(NO_PREDICTIONS.format(shown(loss)))
    resolved = _resolve(loss, data, positive)
    if name:
        resolved.word = name
    if positive is not None:
        resolved = resolved.of_class(positive)
    resolved.check(data)
    if isinstance(loss, RowLoss) and not is_from(loss, "truerisk"):
        _try_rows(loss, data)
    return resolved


POOLED = " pooled"


def _pooled(scoring: Scoring, data: Data, positive: Any) -> Loss:
    """Return the loss of a word such as "f1 pooled", of all answers of a repetition as one set."""
    word = scoring.score.removesuffix(POOLED)
    if word.endswith(POOLED):
        raise UnknownName(f"scoring={shown(scoring.score)}: write 'pooled' once.")
    loss = as_loss(Scoring(word), data, positive)
    if loss.response == "scored":
        raise Refusal(
            f"scoring='{scoring.score}': the scorer {word} rates one fitted model at a time, so "
            f"that answers of several folds cannot be pooled; use scoring='{word}'."
        )
    loss.usual_average, loss.is_pooled = "pooled", True
    loss.word = scoring.name or scoring.score
    return loss


def may_be_word(word: Any) -> bool:
    """Return True for what is a word of a loss or a score, whatever the data."""
    from sklearn.metrics import get_scorer_names

    word = str(word).removesuffix(POOLED)
    if f"{word}-".startswith(CLIPPED):
        return _clipped_log(word) is not None
    return word in registry or word in get_scorer_names()


def _resolve(loss: Any, data: Data, positive: Any) -> Loss:
    if isinstance(loss, Loss):
        return copy(loss)  # a copy is checked against these data; the original may serve others
    if isinstance(loss, str):
        return _by_word(loss, data, positive)
    refuse_class("scoring", loss)
    if not callable(loss):
        text = clean(" ".join(repr(loss).split()), 80)
        matrix = isinstance(loss, list | np.ndarray)
        hint = " A matrix of costs is given as scoring=tr.losses.Cost(matrix)." if matrix else ""
        raise UnknownName(
            f"scoring={text} is neither a word ({', '.join(registry)}), a function "
            f"of (y_true, y_pred), nor a scikit-learn scorer.{hint}"
        )
    return (
        _from_function(loss, data)
        if is_loss_function(loss)
        else loss_of_scorer(loss, data, positive)
    )


def _by_word(word: str, data: Data, positive: Any) -> Loss:
    if word == "cost":
        raise Refusal("loss 'cost' needs its matrix: scoring=tr.losses.Cost([[0, 1], [5, 0]]).")
    in_time = at_horizon(word)
    if in_time is not None:
        return in_time
    if word in AT:
        raise Refusal(f"loss '{word}' needs its time: such as '{word}-5'.")
    if f"{word}-".startswith(CLIPPED):
        return _clipped_log(word)
    if word in registry:
        loss: Loss = registry.load(word)()
        return loss
    same = same_as_scorer(word, data.n_classes, positive)
    if same is not None:
        return same
    from sklearn.metrics import get_scorer, get_scorer_names

    if word in WANT_A_CLASS and data.n_classes == 2:
        label = data.label(1) if positive is None else positive
        return ScorerLoss(PositiveScorer(word, label), word, data)
    if word in get_scorer_names():
        return ScorerLoss(get_scorer(word), word, data)
    nearest = closest(word, [*registry, *get_scorer_names()]) or "."
    raise UnknownName(
        f"there is no scoring {shown(word)}{nearest} "
        f"Known: {', '.join(registry)}, and scikit-learn's scorer names."
    )


CLIPPED = "log-clip-"


def _clipped_log(word: str) -> Loss:
    """Return the log loss of a word that names its clip, such as ``log-clip-0.001``."""
    try:
        return Log(clip=float(word.removeprefix(CLIPPED)))
    except ValueError as error:
        raise UnknownName(
            f"loss {shown(word)}: write how near to 0 and 1 a probability may come, above 0 and "
            "below .5, such as log-clip-0.001."
        ) from error


def _from_function(function: Callable[..., Any], data: Data) -> Loss:
    """Probed once, with y against itself: one value per row, or one for all."""
    if data.task == "survival":
        raise Refusal(
            "a loss of (y_true, y_pred) is not defined for outcomes in time; use concordance, "
            "integrated-brier or a scorer of (estimator, X, y)."
        )
    word = getattr(function, "__name__", type(function).__name__)
    with _own_code(f"loss {word} failed on y against itself ({data.n_rows} rows)"):
        itself = function(data.y, data.y)
    shape = np.shape(itself)
    if np.iscomplexobj(itself):
        raise Refusal(f"loss {word} gave complex numbers, which have no order: give real ones.")
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


def _try_rows(loss: RowLoss, data: Data) -> None:
    """Try a loss that a user made with y against itself, where y is such an answer."""
    if loss.response not in ("label", "value"):
        return
    rows = np.arange(data.n_rows)
    truth = data.y if loss.response == "value" else data.class_codes
    with _own_code(f"loss {loss.word} failed on y against itself ({data.n_rows} rows)"):
        losses = loss.of_rows(data, rows, truth[None])
    if np.iscomplexobj(losses):
        raise Refusal(
            f"loss {loss.word} gave complex numbers, which have no order: give real ones."
        )
    if np.shape(losses) != (1, data.n_rows):
        raise Refusal(
            f"loss {loss.word} gave shape {np.shape(losses)} for one model's answers about "
            f"{data.n_rows} rows: of_rows must give a line for each model, with one loss per row."
        )


def _call(loss: Any, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
    if data.classes is not None:
        if (answers < 0).any():
            raise Refusal("a model predicted a label that y does not hold: the loss cannot see it.")
        answers = data.classes[answers]
    with _own_code(f"loss {loss.word} failed on {len(rows)} rows, the first of them row {rows[0]}"):
        return real_array(loss.function(data.y[rows], answers))


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
