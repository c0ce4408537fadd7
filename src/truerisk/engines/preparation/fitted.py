"""Preprocessing steps fitted on one training set, and their output for it and for the test rows.

Some fitted steps transform a row in the same way, to the last bit, whichever rows accompany it.
They are called once for all test rows of a fit. A matrix product (PCA) is not of this kind, because
its rounding depends on the number of rows.
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
from truerisk.engines.preparation import CLOSED_FORMS
from truerisk.engines.prepared import (
    FittedTransformers,
    LearnerFitNeeded,
    StepFitter,
    fit_and_transform,
    has_drawn_numbers,
)

if TYPE_CHECKING:
    from truerisk.engines.preparation.closed.first_steps import ClosedOutput

ConvertedTable = TypeVar("ConvertedTable", bound=Any)

CLOSED_FORMS_MODULE = "truerisk.engines.preparation.closed.first_steps"
ALL_TEST_SETS = -1  # Test set number that means "all test sets of the fit joined".
# Transformed copies of a row may differ by this number times the column's range.
COPY_TOLERANCE = 1e-9


@frozen(eq=False)
class _FittedSteps:
    """Preprocessing steps fitted for one fit of the plan and not shared with other fits."""

    transformers: list[Any]
    train_table: Any

    def transform_test_set(self, number: int, X: Any) -> Any:
        for step in self.transformers:
            X = step.transform(X)
        return X


def fit_preprocessing_steps(
    preparation: Any,
    data: Data,
    rows_and_counts: tuple[np.ndarray, np.ndarray | None],
    y: np.ndarray,
    test_sets: Sequence[np.ndarray],
    convert: Callable[[Any], ConvertedTable],
    step_fitter: StepFitter | None = None,
) -> tuple[ConvertedTable, list[ConvertedTable]]:
    """Return the transformed training set, each row once, and the transformed test sets.

    `convert` converts each of these tables. `rows_and_counts` holds rows and their multiplicities
    (None: once each); the steps are fitted on all copies. `y` are their codes or targets. The first
    steps with a closed form are not fitted, and the others are looked up with `step_fitter`, which
    may know some of them for this training set. If steps drew random numbers, or return other rows
    than they were given, LearnerFitNeeded is raised, since the learner's own fit is needed.
    """
    rows, row_counts = rows_and_counts
    repeated_rows = rows if row_counts is None else np.repeat(rows, row_counts)
    (targets,) = data.targets(y if data.classes is None else data.classes[y])
    targets = targets if row_counts is None else np.repeat(targets, row_counts, axis=0)
    joined_test_sets = _join_test_sets(preparation, test_sets)
    fitted_transformers, test_tables = _fit_remaining_steps(
        preparation, data, repeated_rows, targets, joined_test_sets, step_fitter
    )
    X = convert(fitted_transformers.train_table)
    if has_drawn_numbers(fitted_transformers.transformers, len(repeated_rows)):
        raise LearnerFitNeeded("drawn at random")
    if row_counts is not None and len(X) == len(repeated_rows):
        distinct_rows = X[np.concatenate([[0], np.cumsum(row_counts)[:-1]])]
        if isinstance(X, np.ndarray) and not _are_nearly_equal(
            X, np.repeat(distinct_rows, row_counts, axis=0)
        ):
            raise LearnerFitNeeded("a row and its copy made unequal by rounding")
        X = distinct_rows
    are_joined = len(joined_test_sets) < len(test_sets)
    test_set_numbers = [ALL_TEST_SETS] if are_joined else range(len(joined_test_sets))
    converted_tables = [
        convert(fitted_transformers.transform_test_set(test_set_number, test_table))
        for test_set_number, test_table in zip(test_set_numbers, test_tables, strict=True)
    ]
    if [len(X), *map(len, converted_tables)] != [len(rows), *map(len, joined_test_sets)]:
        raise LearnerFitNeeded("other rows than it was given")
    return X, _split_test_sets(converted_tables[0], test_sets) if are_joined else converted_tables


def _are_nearly_equal(X: np.ndarray, copied_rows: np.ndarray) -> bool:
    """Return True if transformed copies of a row differ only by rounding errors.

    Copies differ by more if a column holds nothing but rounding errors, such as a component beyond
    the rank.
    """
    with np.errstate(invalid="ignore"):
        return not (np.abs(X - copied_rows) > COPY_TOLERANCE * np.ptp(X, axis=0)).any()


def _fit_remaining_steps(
    preparation: Any,
    data: Data,
    repeated_rows: np.ndarray,
    targets: np.ndarray,
    test_sets: Sequence[np.ndarray],
    step_fitter: StepFitter | None,
) -> tuple[FittedTransformers, list[Any]]:
    """Fit those steps that follow the steps with a closed form.

    Return the fitted steps, and the tables of test rows that they have to transform.
    """
    from sklearn.base import clone

    closed_output = _fit_closed_steps(preparation, data, repeated_rows, targets, test_sets)
    n_closed_steps = 0 if closed_output is None else closed_output.n_steps
    table = data.rows(repeated_rows) if closed_output is None else closed_output.training_table
    test_tables = (
        [data.rows(test_rows) for test_rows in test_sets]
        if closed_output is None
        else closed_output.test_tables
    )
    remaining_steps = preparation.steps[n_closed_steps:]
    if step_fitter is not None and remaining_steps:
        return step_fitter(n_closed_steps, table, targets), test_tables
    steps = [clone(step) for _, step in remaining_steps]
    for step in steps:
        table = fit_and_transform(step, table, targets)
    return _FittedSteps(steps, table), test_tables


def _fit_closed_steps(
    preparation: Any,
    data: Data,
    train_rows: np.ndarray,
    y: np.ndarray,
    test_sets: Sequence[np.ndarray],
) -> ClosedOutput | None:
    """Return the output of those first steps that have a closed form, or None if none has one.

    The closed forms are imported only if the first step is of a class that has one.
    """
    may_have_closed_form = CLOSED_FORMS_MODULE in sys.modules or is_exactly(
        preparation.steps[0][1], *CLOSED_FORMS
    )
    if not may_have_closed_form or not is_present(CLOSED_FORMS_MODULE):
        return None
    from truerisk.engines.preparation.closed.first_steps import fit_closed_steps

    return fit_closed_steps(preparation, data, train_rows, y, test_sets)


def _join_test_sets(preparation: Any, test_sets: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """Return the test sets, joined to one if no step lets rows affect the output of other rows."""
    if len(test_sets) < 2 or not all(is_rowwise(step) for _, step in preparation.steps):
        return test_sets
    return [np.concatenate(test_sets)]


def _split_test_sets(
    joined_table: ConvertedTable, test_sets: Sequence[np.ndarray]
) -> list[ConvertedTable]:
    row_ends = np.cumsum([0, *map(len, test_sets)])
    return [joined_table[slice(*start_and_end)] for start_and_end in pairwise(row_ends)]


ROWWISE_CLASSES = tuple(
    f"sklearn.{class_name}"
    for class_name in (
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
SUBSTEP_PARAMETERS = {  # Names the parameter that lists the substeps of each class of steps.
    "sklearn.pipeline:Pipeline": "steps",
    "sklearn.pipeline:FeatureUnion": "transformer_list",
    "sklearn.compose:ColumnTransformer": "transformers",
}
NON_ESTIMATOR_STEPS = ("passthrough", "drop", None)


def is_rowwise(step: Any) -> bool:
    """Return True if a fitted step transforms each row independently of the rows passed with it.

    The step and all its substeps must be exactly of the classes in ROWWISE_CLASSES and
    SUBSTEP_PARAMETERS.
    """
    if step is None or isinstance(step, str):
        return step in NON_ESTIMATOR_STEPS
    if is_exactly(step, *ROWWISE_CLASSES):
        return True
    return any(is_exactly(step, class_path) for class_path in SUBSTEP_PARAMETERS) and all(
        map(is_rowwise, _substeps(step))
    )


def _substeps(step: Any) -> Iterator[Any]:
    substeps = next(
        getattr(step, name)
        for class_path, name in SUBSTEP_PARAMETERS.items()
        if is_exactly(step, class_path)
    )
    yield from (substep[1] for substep in substeps)
    yield getattr(step, "remainder", None)
