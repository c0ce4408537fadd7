"""What a drawing holds, and the risk of a fitted rule on rows whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.losses.loss_words import as_loss
from truerisk.losses.row_losses import Cost, registry

__all__ = ["Drawn", "Rows", "asked", "rated", "without_average"]

Rows = np.ndarray
MISSED = 5.0  # what a positive row costs that is not found, in wrongly found negative ones
BY_FOLDS = " by folds"  # ends the words of scores that are averaged over folds
POOLED = " pooled"
POOLED_WORDS = ("balanced-accuracy", "f1", "kappa", "mcc", "r2")


class Drawn(NamedTuple):
    """Rows to tune and test on; `risk(rule, loss)` is what a rule that was fitted to them risks."""

    X: Rows
    y: Rows
    risk: Callable[[Any, str], float]
    groups: Rows | None = None
    weights: Rows | None = None


def asked(word: str, y: Rows) -> Loss | str | None:
    """Return the scoring of a word: costs need a matrix, and no word means the usual loss.

    Of several classes a wrong answer costs as much as it is places away. "f1 by folds" is the mean
    of the F1 of single folds, and "f1 pooled" is the F1 of all answers of a repetition together,
    as is plain "f1" in the cells of `--scores`.
    """
    for end, average in ((BY_FOLDS, "fold"), (POOLED, "pooled")):
        if word.endswith(end):
            loss: Loss = registry.load(word.removesuffix(end))()
            loss.name, loss.usual_average = word, average
            return loss
    if word in POOLED_WORDS:
        loss = registry.load(word)()
        loss.usual_average = "pooled"
        return loss
    if word != "cost":
        return word or None
    classes = np.arange(int(y.max()) + 1)
    far = np.abs(np.subtract.outer(classes, classes)).astype(float)
    return Cost(far if len(classes) > 2 else [[0, 1], [MISSED, 0]])


def without_average(word: str) -> str:
    """Return the word of the score itself: "f1" of "f1 by folds" and of "f1 pooled"."""
    return word.removesuffix(BY_FOLDS).removesuffix(POOLED)


def rated(rule: Any, X: Rows, y: Rows, task: Any, loss: str, weights: Rows | None = None) -> float:
    """The loss of a rule on these rows; y may be several times as long, X's rows over and over."""
    data = Data.check(np.zeros((len(y), 1)), y, task=task)
    by = as_loss(asked(loss, y), data)
    said = np.concatenate([_answers(rule, X, by.response)] * (len(y) // len(X)))
    return float(by.of_set(data, np.arange(len(y)), said[None], weights)[0])


def _answers(rule: Any, X: Rows, response: str) -> Rows:
    """What a loss asks of a rule: labels or values, probabilities, or scores to rank by."""
    if response in ("label", "value"):
        return np.asarray(rule.predict(X))
    if response == "score" and hasattr(rule, "decision_function"):
        return np.asarray(rule.decision_function(X))
    chances = np.asarray(rule.predict_proba(X))
    return chances[:, 1] if response == "score" else chances
