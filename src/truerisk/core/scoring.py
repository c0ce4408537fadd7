"""What a user writes as `scoring=`, scikit-learn's word: scores, larger is better, made losses."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.core.arguments import refuse_both, shown
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.losses import Loss
from truerisk.core.scorer_losses import loss_of_scorer, same_as_scorer, scorer_word
from truerisk.core.table.data import Data


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
class Scoring:
    """A score by its name, or a function of the user: an error once there is a y to try it on."""

    score: Any

    def on(self, data: Data, positive: Any) -> Any:
        """What it lacks of the score of a rule without error, or minus the score if it has none.

        A name is scikit-learn's where there is such a score, else a word of ours.
        """
        if callable(self.score):
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
        """A metric of (y_true, y_pred), which may be larger for worse answers, is refused."""
        word = scorer_word(self.score)
        if data.task == "other":
            return OwnScore(self.score, word)
        if _takes_two(self.score):
            raise BadArgument(
                f"scoring={shown(self.score)} takes two arguments, as a metric of (y_true, y_pred) "
                "does, and a scorer takes (estimator, X, y): use sklearn.metrics.make_scorer, "
                "which is told whether larger is better, or loss= where smaller is better."
            )
        try:
            return loss_of_scorer(self.score, data, positive)
        except Refusal:
            return OwnScore(self.score, word)


def _takes_two(function: Callable[..., Any]) -> bool:
    """Whether it cannot be given three arguments by their places."""
    try:
        given = [one.kind for one in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return False  # a function in C may have no signature
    named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Parameter.VAR_POSITIONAL not in given and sum(k in named for k in given) == 2


def by_scoring(scoring: Any, loss: Any, scores: Any) -> tuple[Any, Any]:
    """The loss and the further scores, where scikit-learn's word may stand instead of `loss`.

    Of several scores the first is the loss.
    """
    if scoring is None:
        return loss, scores
    refuse_both("scoring", scoring, "loss", loss)
    if not are_several(scoring):
        return Scoring(scoring), scores
    refuse_both("scoring", scoring, "scores", scores or None)
    each = {name: Scoring(score) for name, score in named(scoring).items()}
    return next(iter(each.values())), each


def are_several(scoring: Any) -> bool:
    """Whether it names several scores: a list, a tuple, a set or a dict of them."""
    return isinstance(scoring, list | tuple | set | Mapping)


def named(scoring: Any) -> dict[str, Any]:
    """The scores by their names; an empty one, other names than text and a name twice are refused.

    >>> named(["accuracy", "roc_auc"])
    {'accuracy': 'accuracy', 'roc_auc': 'roc_auc'}
    """
    names = sorted(scoring) if isinstance(scoring, set) else list(scoring)
    if not names or not all(isinstance(name, str) for name in names):
        raise BadArgument(
            f"scoring={shown(scoring)}: give a list of names of scores, or a dict of scorers by "
            "name, and at least one."
        )
    if len(set(names)) < len(names):
        raise BadArgument(f"scoring={shown(scoring)} names a score twice: name each once.")
    return dict(scoring) if isinstance(scoring, Mapping) else {name: name for name in names}
