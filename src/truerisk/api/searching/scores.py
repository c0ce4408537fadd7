"""Scores by which a search chooses: that of the estimator itself, functions that give several."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.core.scorer_losses import perfect_rule
from truerisk.core.scoring import OwnScore, named
from truerisk.core.table.data import Data
from truerisk.models.stated.question import usual_score


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
