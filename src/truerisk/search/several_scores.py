"""Scorers for a function that returns a dict of scores: each score becomes a scorer of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.core.errors import is_failure
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.losses.loss_words import scores_by_name
from truerisk.losses.scorer_losses import make_perfect_estimator


def scorers_of_function(
    scoring_function: Callable[..., Any], data: Data
) -> dict[str, Callable[..., Any]]:
    """Return a scorer for each score in the dict that a scoring function returns.

    The result is {} if the function returns no dict.

    The function is called once with a rule that predicts y itself. If that call fails, or returns a
    number, the function has a single score.
    """
    row_numbers = np.arange(data.n_rows)[:, None]
    try:
        # The function is tried with an artificial model. Do not show its warnings to the user.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = scoring_function(
                make_perfect_estimator(data), row_numbers, *data.targets(data.y)
            )
    except BaseException as error:  # A user's function may raise anything.
        if not is_failure(error):
            raise
        return {}
    if not isinstance(scores, Mapping):
        return {}
    cached_function = _CachedFunction(scoring_function)
    return {
        score_name: _SingleScoreScorer(cached_function, score_name)
        for score_name in scores_by_name(list(scores))
    }


def scorer_of_function(scoring_function: Callable[..., Any], score_name: str) -> Callable[..., Any]:
    """Return a scorer for one of the scores in the dict that a scoring function returns."""
    return _SingleScoreScorer(_CachedFunction(scoring_function), score_name)


@dataclass
class _CachedFunction:
    """Wrapper that calls a function with several scores only once for a model and a test set.

    All scores of the model on this test set come from the same call.
    """

    function: Callable[..., Any]
    last_call: tuple[Any, Any, Any] | None = field(default=None, repr=False, compare=False)

    def __call__(self, model: Any, X: Any, *further_arguments: Any, **options: Any) -> Any:
        if self.last_call is None or self.last_call[0] is not model or self.last_call[1] is not X:
            self.last_call = model, X, self.function(model, X, *further_arguments, **options)
        return self.last_call[2]

    def __getstate__(self) -> dict[str, Any]:
        return {"function": self.function, "last": None}


@frozen
class _SingleScoreScorer:
    """Scorer that returns one entry of a function's dict of scores."""

    cached_function: _CachedFunction
    name: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, model: Any, X: Any, *further_arguments: Any, **options: Any) -> Any:
        return self.cached_function(model, X, *further_arguments, **options)[self.name]
