"""Steps fitted on one train set: what they give of it, and of the rows that are asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np

from truerisk.core.table.data import Data
from truerisk.engines.preparation.by_rows import is_by_rows
from truerisk.engines.preparation.chance import drew
from truerisk.engines.preparation.closed.answering import closed_steps
from truerisk.engines.preparation.prepared import OwnArithmetic

__all__ = ["Begin", "fit_and_transform", "fitted_steps"]

Read = TypeVar("Read", bound=Any)


class BegunSteps(Protocol):
    """Steps that are fitted, what they give, and what they make of the asked rows."""

    @property
    def fitted(self) -> list[Any]: ...

    @property
    def table(self) -> Any: ...

    def asked(self, number: int, X: Any) -> Any: ...


Begin = Callable[[Any, np.ndarray], BegunSteps]


def fitted_steps(
    preparation: Any,
    data: Data,
    train: tuple[np.ndarray, np.ndarray | None],
    y: np.ndarray,
    asked: Sequence[np.ndarray],
    read: Callable[[Any], Read],
    begin: Begin | None = None,
) -> tuple[Read, list[Read]]:
    """What `read` makes of a train set after the steps, each row once, and of the asked rows.

    `train` are rows and how often each comes (None: once); the steps are fitted on all copies. `y`
    are their codes or targets. Where the steps drew random numbers, or give out other rows than
    they were given, the learner's own fit is to be asked: that is OwnArithmetic. `begin` knows the
    steps that others fitted on this train set.
    """
    found = closed_steps(preparation, data, train, y, asked, read)
    if found is not None:
        return found
    return _by_fits(preparation, data, train, y, asked, read, begin)


def _by_fits(
    preparation: Any,
    data: Data,
    train: tuple[np.ndarray, np.ndarray | None],
    y: np.ndarray,
    asked: Sequence[np.ndarray],
    read: Callable[[Any], Read],
    begin: Begin | None = None,
) -> tuple[Read, list[Read]]:
    """The same from scikit-learn's own steps."""
    from sklearn.base import clone

    rows, times = train
    steps = [clone(step) for _, step in preparation.steps]
    every = rows if times is None else np.repeat(rows, times)
    said = y if data.classes is None else data.classes[y]
    said = said if times is None else np.repeat(said, times, axis=0)
    begun = None if begin is None else begin(data.rows(every), said)
    if begun is None:
        X = read(_fitted(steps, data.rows(every), said))
    else:
        X, steps = read(begun.table), begun.fitted
    if drew(steps, len(every)):
        raise OwnArithmetic("drawn at random")
    if times is not None and len(X) == len(every):  # equal rows stay equal
        X = X[np.concatenate([[0], np.cumsum(times)[:-1]])]
    if begun is None:
        tests = _asked(steps, data, asked, read)
    else:
        tests = [read(begun.asked(i, data.rows(a))) for i, a in enumerate(asked)]
    if [len(X), *map(len, tests)] != [len(rows), *map(len, asked)]:
        raise OwnArithmetic("other rows than it was given")
    return X, tests


def _fitted(steps: Sequence[Any], X: Any, y: np.ndarray) -> Any:
    for step in steps:
        X = fit_and_transform(step, X, y)
    return X


def fit_and_transform(step: Any, X: Any, y: np.ndarray | None) -> Any:
    """As a pipeline does it."""
    if hasattr(step, "fit_transform"):
        return step.fit_transform(X, y)
    return step.fit(X, y).transform(X)


def _asked(
    steps: Sequence[Any], data: Data, asked: Sequence[np.ndarray], read: Callable[[Any], Read]
) -> list[Read]:
    """The asked rows, those of all questions at once where that makes no difference."""
    if len(asked) < 2 or not all(map(is_by_rows, steps)):
        return [read(_transformed(steps, data.rows(a))) for a in asked]
    every = read(_transformed(steps, data.rows(np.concatenate(asked))))
    ends = np.cumsum([0, *map(len, asked)])
    if len(every) != ends[-1]:
        raise OwnArithmetic("other rows than it was given")
    return [every[np.arange(*ends_of)] for ends_of in pairwise(ends)]


def _transformed(steps: Sequence[Any], X: Any) -> Any:
    for step in steps:
        X = step.transform(X)
    return X
