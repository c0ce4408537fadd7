"""`scoring` of several scores: which they are, and what each of them found."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.api.road.compute import Computed
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument
from truerisk.core.scorer_losses import perfect_rule
from truerisk.core.table.data import Data

__all__ = ["are_several", "by_function", "named", "told_by_name"]


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


def told_by_name(computed: Computed, *, several: bool) -> dict[str, Computed]:
    """What every score found, under the name that `cv_results_` has for it."""
    return computed.scores if several else {"score": computed}


def by_function(function: Callable[..., Any], data: Data) -> dict[str, Callable[..., Any]]:
    """The scores of a function that gives a dict of them; none where it gives a number.

    It is asked about a rule that answers with y itself; where that fails, it has one score.
    """
    rows = np.arange(data.n_rows)[:, None]
    try:
        with warnings.catch_warnings():  # nobody asked about such a rule
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
