"""A score whose best is not known: that of the estimator itself, or of a function of the user."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.losses import Loss
from truerisk.core.scorer_losses import loss_of_scorer, scorer_word
from truerisk.core.table.data import Data
from truerisk.models.stated.usual_score import usual_score

__all__ = ["OwnScore", "Scorer", "has_own_score", "makes_predictions", "on", "on_each", "own_score"]


class OwnScore(Loss):
    """Minus a score: whoever cannot be compared with a rule without error has this risk."""

    response, per_row, lower = "scored", False, None
    tasks = ("classification", "regression", "other")
    notes = ("the risk is minus the score, since the score of a rule without error is not known",)

    def __init__(self, scorer: Callable[..., Any], word: str) -> None:
        self.scorer, self.word = scorer, word

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return -answers


@dataclass(frozen=True)
class Scorer:
    """A function of the user, larger is better: an error once there is a y to try it on."""

    function: Callable[..., Any]

    @classmethod
    def of(cls, function: Callable[..., Any], y: Any) -> Scorer:
        """Refuse a metric of (y_true, y_pred), which may be larger for worse answers."""
        if y is not None and _takes_two(function):
            raise BadArgument(
                f"scoring={shown(function)} takes two arguments, as a metric of (y_true, y_pred) "
                "does, and a scorer takes (estimator, X, y): use sklearn.metrics.make_scorer, "
                "which is told whether larger is better, or loss= where smaller is better."
            )
        return cls(function)

    def on(self, data: Data, positive: Any) -> Loss:
        """What it lacks of the score of a rule without error, or minus the score if it has none."""
        word = scorer_word(self.function)
        if data.task == "other":  # nothing there is right or wrong
            return OwnScore(self.function, word)
        try:
            return loss_of_scorer(self.function, data, positive)
        except Refusal:
            return OwnScore(self.function, word)


def on(loss: Any, data: Data, positive: Any = None) -> Any:
    """A function of the user on its data; whatever else was asked for as it is."""
    return loss.on(data, positive) if isinstance(loss, Scorer) else loss


def on_each(scores: Any, data: Data, positive: Any = None) -> Any:
    """The same of scores by name."""
    if not isinstance(scores, Mapping):
        return scores
    return {name: on(score, data, positive) for name, score in scores.items()}


def _takes_two(function: Callable[..., Any]) -> bool:
    """Whether it cannot be given three arguments by their places."""
    try:
        given = [one.kind for one in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return False  # nothing is known of it
    named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Parameter.VAR_POSITIONAL not in given and sum(k in named for k in given) == 2


def own_score(estimator: Any) -> OwnScore:
    """The estimator's own `score`."""
    from sklearn.metrics import check_scoring

    return OwnScore(check_scoring(estimator), "own score")


def makes_predictions(estimator: Any) -> bool:
    """Whether its predictions can be compared with y."""
    from sklearn.base import is_classifier, is_regressor

    return bool(is_classifier(estimator) or is_regressor(estimator))


def has_own_score(estimator: Any) -> bool:
    """Whether its `score` is another than the share of right answers, or R²."""
    return hasattr(estimator, "score") and usual_score(estimator) is None
