"""Steps fitted on one train set: what they give of it, and of the rows that are asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from truerisk.core.branches import is_present
from truerisk.data.data import Data
from truerisk.engines.preparation import FORMS
from truerisk.engines.prepared import OwnArithmetic, drew, is_by_rows

if TYPE_CHECKING:
    from truerisk.engines.preparation.closed.first_steps import Closed

Read = TypeVar("Read", bound=Any)

NAMES = {place.partition(":")[2] for place in FORMS}
EVERY = -1  # the number of all questions of a fit, where they are asked at once
ROUNDING = 1e-9  # of what the rows of a column span: copies of a row differ by less


class BegunSteps(Protocol):
    """Steps that are fitted, what they give, and what they make of the asked rows."""

    @property
    def fitted(self) -> list[Any]: ...

    @property
    def table(self) -> Any: ...

    def test_table(self, number: int, X: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class _Fitted:
    """Steps that nobody else is to find."""

    fitted: list[Any]
    table: Any

    def test_table(self, number: int, X: Any) -> Any:
        for step in self.fitted:
            X = step.transform(X)
        return X


Begin = Callable[[int, Any, np.ndarray], BegunSteps]
"""From the number of steps in closed form, the train set that they give, and its labels."""


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
    are their codes or targets. The first steps that are known in closed form are not fitted, and
    others are looked for where `begin` knows some of this train set. Where steps drew random
    numbers, or give out other rows than they were given, the learner's own fit is to be asked: that
    is OwnArithmetic.
    """
    rows, times = train
    every = rows if times is None else np.repeat(rows, times)
    (targets,) = data.targets(y if data.classes is None else data.classes[y])
    targets = targets if times is None else np.repeat(targets, times, axis=0)
    sets = _asked_together(preparation, asked)
    begun, tests = _begun(preparation, data, every, targets, sets, begin)
    X = read(begun.table)
    if drew(begun.fitted, len(every)):
        raise OwnArithmetic("drawn at random")
    if times is not None and len(X) == len(every):
        once = X[np.concatenate([[0], np.cumsum(times)[:-1]])]
        if isinstance(X, np.ndarray) and not _are_copies(X, np.repeat(once, times, axis=0)):
            raise OwnArithmetic("a row and its copy made unequal by rounding")
        X = once
    joined = len(sets) < len(asked)
    numbers = [EVERY] if joined else range(len(sets))
    tables = [
        read(begun.test_table(number, test)) for number, test in zip(numbers, tests, strict=True)
    ]
    if [len(X), *map(len, tables)] != [len(rows), *map(len, sets)]:
        raise OwnArithmetic("other rows than it was given")
    return X, _apart(tables[0], asked) if joined else tables


def _are_copies(X: np.ndarray, copies: np.ndarray) -> bool:
    """Whether copies of a row stay equal but for the last digits of their columns.

    Where a column holds nothing but rounding, as a component beyond the rank does, they do not.
    """
    with np.errstate(invalid="ignore"):
        return not (np.abs(X - copies) > ROUNDING * np.ptp(X, axis=0)).any()


def _begun(
    preparation: Any,
    data: Data,
    every: np.ndarray,
    said: np.ndarray,
    sets: Sequence[np.ndarray],
    begin: Begin | None,
) -> tuple[BegunSteps, list[Any]]:
    """The other steps fitted after those in closed form, and what the first is asked about."""
    from sklearn.base import clone

    closed = _closed_steps(preparation, data, every, said, sets)
    n_closed = 0 if closed is None else closed.n_steps
    table = data.rows(every) if closed is None else closed.table
    tests = [data.rows(one) for one in sets] if closed is None else closed.tests
    left = preparation.steps[n_closed:]
    if begin is not None and left:
        return begin(n_closed, table, said), tests
    steps = [clone(step) for _, step in left]
    for step in steps:
        table = fit_and_transform(step, table, said)
    return _Fitted(steps, table), tests


def _closed_steps(
    preparation: Any, data: Data, train: np.ndarray, y: np.ndarray, asked: Sequence[np.ndarray]
) -> Closed | None:
    """Return what the first steps give in closed form, None where scikit-learn's are to be fitted.

    The forms are imported if the first step has the name of one that is known, and never needed.
    """
    module = "truerisk.engines.preparation.closed.first_steps"
    if type(preparation.steps[0][1]).__name__ not in NAMES or not is_present(module):
        return None
    from truerisk.engines.preparation.closed.first_steps import closed_steps

    return closed_steps(preparation, data, train, y, asked)


def fit_and_transform(step: Any, X: Any, y: np.ndarray | None) -> Any:
    """As a pipeline does it."""
    if hasattr(step, "fit_transform"):
        return step.fit_transform(X, y)
    return step.fit(X, y).transform(X)


def _asked_together(preparation: Any, asked: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """The asked rows, those of all questions at once where that makes no difference."""
    if len(asked) < 2 or not all(is_by_rows(step) for _, step in preparation.steps):
        return asked
    return [np.concatenate(asked)]


def _apart(every: Read, asked: Sequence[np.ndarray]) -> list[Read]:
    ends = np.cumsum([0, *map(len, asked)])
    return [every[slice(*ends_of)] for ends_of in pairwise(ends)]
