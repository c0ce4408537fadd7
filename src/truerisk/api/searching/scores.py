"""Scores by which a search is told to choose: own ones, functions of a user, several at once."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.losses import Loss
from truerisk.core.scorer_losses import loss_of_scorer, perfect_rule, scorer_word
from truerisk.core.table.data import Data
from truerisk.models.stated.question import usual_score


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
        if data.task == "other":  # a density has no right or wrong answers
            return OwnScore(self.function, word)
        try:
            return loss_of_scorer(self.function, data, positive)
        except Refusal:
            return OwnScore(self.function, word)


def on(loss: Any, data: Data, positive: Any = None) -> Any:
    """A function of the user on its data; whatever else was asked for as it is."""
    return loss.on(data, positive) if isinstance(loss, Scorer) else loss


def _takes_two(function: Callable[..., Any]) -> bool:
    """Whether it cannot be given three arguments by their places."""
    try:
        given = [one.kind for one in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return False  # a function in C may have no signature
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


def are_several(scoring: Any) -> bool:
    """Whether it names several scores: a list, a tuple, a set or a dict of them."""
    return isinstance(scoring, list | tuple | set | Mapping)


def named(scoring: Any) -> dict[str, Any]:
    """The scores by their names; an empty one, other names than text and a name twice are refused.

    >>> named(["accuracy", "roc_auc"])
    {'accuracy': 'accuracy', 'roc_auc': 'roc_auc'}
    """
    names = list(scoring)
    if not names or not all(isinstance(name, str) for name in names):
        raise BadArgument(
            f"scoring={shown(scoring)}: give a list of names of scores, or a dict of scorers by "
            "name, and at least one."
        )
    if len(set(names)) < len(names):
        raise BadArgument(f"scoring={shown(scoring)} names a score twice: name each once.")
    return dict(scoring) if isinstance(scoring, Mapping) else {name: name for name in names}


def by_function(function: Callable[..., Any], data: Data) -> dict[str, Callable[..., Any]]:
    """The scores of a function that gives a dict of them; none where it gives a number.

    It is asked about a rule that answers with y itself; where that fails, it has one score.
    """
    rows = np.arange(data.n_rows)[:, None]
    try:
        with warnings.catch_warnings():  # the probing rule is ours, and so are its warnings
            warnings.simplefilter("ignore")
            found = function(perfect_rule(data), rows, *data.targets(data.y))
    except Exception:  # noqa: BLE001  a user's function may raise anything
        return {}
    if not isinstance(found, Mapping):
        return {}
    whole = _Remembered(function)
    return {name: _OneOf(whole, name) for name in named(list(found))}


@dataclass
class _Remembered:
    """A function that is called once for all scores of a model and its test set."""

    function: Callable[..., Any]
    last: tuple[Any, Any, Any] | None = field(default=None, repr=False, compare=False)

    def __call__(self, model: Any, X: Any, *more: Any, **options: Any) -> Any:
        if self.last is None or self.last[0] is not model or self.last[1] is not X:
            self.last = model, X, self.function(model, X, *more, **options)
        return self.last[2]

    def __getstate__(self) -> dict[str, Any]:
        return {"function": self.function, "last": None}


@dataclass(frozen=True)
class _OneOf:
    """One score of a function that gives several."""

    whole: _Remembered
    name: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, model: Any, X: Any, *more: Any, **options: Any) -> Any:
        return self.whole(model, X, *more, **options)[self.name]
