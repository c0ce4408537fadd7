"""Steps fitted on one training set, and their output for it and for the tested rows.

Some fitted steps transform a row in the same way, to the last bit, whichever rows accompany it.
They are called once for all tested rows of a fit. A matrix product (PCA) is not of this kind,
because its rounding depends on the number of rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.core.registry import is_present
from truerisk.data.data import Data
from truerisk.engines.preparation import FORMS
from truerisk.engines.prepared import Begin, BegunSteps, OwnArithmetic, drew, fit_and_transform

if TYPE_CHECKING:
    from truerisk.engines.preparation.closed.first_steps import Closed

Read = TypeVar("Read", bound=Any)

CLOSED = "truerisk.engines.preparation.closed.first_steps"
EVERY = -1  # The question number that stands for all questions of a fit at once.
ROUNDING = 1e-9  # Share of a column's range. Copies of a row differ by less.


@frozen(eq=False)
class _Fitted:
    """Fitted steps that are not shared with other fits."""

    fitted: list[Any]
    table: Any

    def test_table(self, number: int, X: Any) -> Any:
        for step in self.fitted:
            X = step.transform(X)
        return X


def fitted_steps(
    preparation: Any,
    data: Data,
    train: tuple[np.ndarray, np.ndarray | None],
    y: np.ndarray,
    test_sets: Sequence[np.ndarray],
    read: Callable[[Any], Read],
    begin: Begin | None = None,
) -> tuple[Read, list[Read]]:
    """Return `read` of the transformed training set (each row once) and of the tested rows.

    `train` holds rows and their multiplicities (None: once each); the steps are fitted on all
    copies. `y` are their codes or targets. The first steps with a closed form are not fitted, and
    the others are looked up with `begin`, which may know some of them for this training set. If
    steps drew random numbers, or return other rows than they were given, OwnArithmetic is raised,
    since the learner's own fit is needed.
    """
    rows, times = train
    every = rows if times is None else np.repeat(rows, times)
    (targets,) = data.targets(y if data.classes is None else data.classes[y])
    targets = targets if times is None else np.repeat(targets, times, axis=0)
    sets = _join_requested(preparation, test_sets)
    begun, tests = _begun(preparation, data, every, targets, sets, begin)
    X = read(begun.table)
    if drew(begun.fitted, len(every)):
        raise OwnArithmetic("drawn at random")
    if times is not None and len(X) == len(every):
        once = X[np.concatenate([[0], np.cumsum(times)[:-1]])]
        if isinstance(X, np.ndarray) and not _are_copies(X, np.repeat(once, times, axis=0)):
            raise OwnArithmetic("a row and its copy made unequal by rounding")
        X = once
    joined = len(sets) < len(test_sets)
    numbers = [EVERY] if joined else range(len(sets))
    tables = [
        read(begun.test_table(number, test)) for number, test in zip(numbers, tests, strict=True)
    ]
    if [len(X), *map(len, tables)] != [len(rows), *map(len, sets)]:
        raise OwnArithmetic("other rows than it was given")
    return X, _split_reads(tables[0], test_sets) if joined else tables


def _are_copies(X: np.ndarray, copies: np.ndarray) -> bool:
    """Return True if copies of a row are equal up to the last digits of their columns.

    They are not if a column holds nothing but rounding errors, such as a component beyond the rank.
    """
    with np.errstate(invalid="ignore"):
        return not (np.abs(X - copies) > ROUNDING * np.ptp(X, axis=0)).any()


def _begun(
    preparation: Any,
    data: Data,
    every: np.ndarray,
    targets: np.ndarray,
    sets: Sequence[np.ndarray],
    begin: Begin | None,
) -> tuple[BegunSteps, list[Any]]:
    """Fit the steps after those in closed form, and return their input for the tested rows."""
    from sklearn.base import clone

    closed = _closed_steps(preparation, data, every, targets, sets)
    n_closed = 0 if closed is None else closed.n_steps
    table = data.rows(every) if closed is None else closed.table
    tests = [data.rows(one) for one in sets] if closed is None else closed.tests
    left = preparation.steps[n_closed:]
    if begin is not None and left:
        return begin(n_closed, table, targets), tests
    steps = [clone(step) for _, step in left]
    for step in steps:
        table = fit_and_transform(step, table, targets)
    return _Fitted(steps, table), tests


def _closed_steps(
    preparation: Any, data: Data, train: np.ndarray, y: np.ndarray, test_sets: Sequence[np.ndarray]
) -> Closed | None:
    """Return what the first steps give in closed form, None where scikit-learn's are to be fitted.

    The forms are imported for a first step of a class that has one, and are never needed.
    """
    is_known = CLOSED in sys.modules or is_exactly(preparation.steps[0][1], *FORMS)
    if not is_known or not is_present(CLOSED):
        return None
    from truerisk.engines.preparation.closed.first_steps import closed_steps

    return closed_steps(preparation, data, train, y, test_sets)


def _join_requested(preparation: Any, test_sets: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """Return the tested rows, those of all questions at once if the result is the same."""
    if len(test_sets) < 2 or not all(is_by_rows(step) for _, step in preparation.steps):
        return test_sets
    return [np.concatenate(test_sets)]


def _split_reads(every: Read, test_sets: Sequence[np.ndarray]) -> list[Read]:
    ends = np.cumsum([0, *map(len, test_sets)])
    return [every[slice(*ends_of)] for ends_of in pairwise(ends)]


CELLS = tuple(
    f"sklearn.{place}"
    for place in (
        "preprocessing:StandardScaler",
        "preprocessing:MinMaxScaler",
        "preprocessing:MaxAbsScaler",
        "preprocessing:RobustScaler",
        "preprocessing:OneHotEncoder",
        "preprocessing:OrdinalEncoder",
        "preprocessing:Binarizer",
        "impute:SimpleImputer",
        "impute:MissingIndicator",
        "feature_selection:VarianceThreshold",
        "feature_selection:SelectKBest",
        "feature_selection:SelectPercentile",
    )
)
PARTS = {  # The parameter that lists the parts of a composite step.
    "sklearn.pipeline:Pipeline": "steps",
    "sklearn.pipeline:FeatureUnion": "transformer_list",
    "sklearn.compose:ColumnTransformer": "transformers",
}
WORDS = ("passthrough", "drop", None)


def is_by_rows(step: Any) -> bool:
    """Return True if a step and all its parts are exactly of these classes.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.preprocessing import StandardScaler
    >>> is_by_rows(make_pipeline(StandardScaler())), is_by_rows(make_pipeline(PCA()))
    (True, False)
    """
    if step is None or isinstance(step, str):
        return step in WORDS
    if is_exactly(step, *CELLS):
        return True
    return any(is_exactly(step, place) for place in PARTS) and all(map(is_by_rows, _parts(step)))


def _parts(step: Any) -> Iterator[Any]:
    listed = next(getattr(step, name) for place, name in PARTS.items() if is_exactly(step, place))
    yield from (part[1] for part in listed)
    yield getattr(step, "remainder", None)
