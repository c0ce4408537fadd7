"""Treat each score of a function that returns a dict of scores as a scorer of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.core.errors import is_failure
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.losses.loss_words import named
from truerisk.losses.scorer_losses import perfect_rule


def by_function(function: Callable[..., Any], data: Data) -> dict[str, Callable[..., Any]]:
    """Return the scores of a function that returns a dict, or {} if it returns a number.

    The function is called with a rule that predicts y itself; if that fails, it has one score.
    """
    rows = np.arange(data.n_rows)[:, None]
    try:
        with warnings.catch_warnings():  # warnings about the probing rule are not the user's
            warnings.simplefilter("ignore")
            found = function(perfect_rule(data), rows, *data.targets(data.y))
    except BaseException as error:  # A user's function may raise anything.
        if not is_failure(error):
            raise
        return {}
    if not isinstance(found, Mapping):
        return {}
    whole = _Remembered(function)
    return {name: _OneOf(whole, name) for name in named(list(found))}


def one_of_function(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return one of the scores of a function that returns a dict of scores, as a scorer."""
    return _OneOf(_Remembered(function), name)


@dataclass
class _Remembered:
    """A function that is called once for all scores of one model on one test set."""

    function: Callable[..., Any]
    last: tuple[Any, Any, Any] | None = field(default=None, repr=False, compare=False)

    def __call__(self, model: Any, X: Any, *more: Any, **options: Any) -> Any:
        if self.last is None or self.last[0] is not model or self.last[1] is not X:
            self.last = model, X, self.function(model, X, *more, **options)
        return self.last[2]

    def __getstate__(self) -> dict[str, Any]:
        return {"function": self.function, "last": None}


@frozen
class _OneOf:
    """One score of a function that returns several."""

    whole: _Remembered
    name: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, model: Any, X: Any, *more: Any, **options: Any) -> Any:
        return self.whole(model, X, *more, **options)[self.name]
