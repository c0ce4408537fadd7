"""The leading preprocessing steps with a closed form, and their output for each training set."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.core.registry import is_present
from truerisk.data.data import Data
from truerisk.engines.preparation import CLOSED_FORMS
from truerisk.engines.preparation.closed.agreement import agrees_on_frame_class, agrees_with_sklearn
from truerisk.engines.preparation.closed.coded_data import SourceCells, SourceTable
from truerisk.engines.preparation.closed.step_tables import (
    Apply,
    ClosedForm,
    FittedStep,
    NoClosedForm,
    Table,
    as_learner_input,
)

Key = TypeVar("Key")
CachedValue = TypeVar("CachedValue")

SOURCE_TABLES: WeakKeyDictionary[Data, SourceTable | None] = WeakKeyDictionary()


@frozen(eq=False)
class ClosedOutput:
    """Output of the first steps of a preparation, computed without calling scikit-learn.

    `n_steps` is the number of these steps.
    """

    n_steps: int
    training_table: Any
    test_tables: list[Any]


@frozen(eq=False)
class _ClosedPrefix:
    """Closed form of the first steps of a preparation, up to the first step that has none."""

    closed_form: ClosedForm
    n_steps: int
    covers_all_steps: bool


CLOSED_PREFIXES: WeakKeyDictionary[Any, _ClosedPrefix | None] = WeakKeyDictionary()


def fit_closed_steps(
    preparation: Any,
    data: Data,
    train_rows: np.ndarray,
    y: np.ndarray,
    test_sets: Sequence[np.ndarray],
) -> ClosedOutput | None:
    """Return the output of those first steps that have a closed form, or None if none has one.

    `train_rows` holds row numbers, repeated for copies, and `y` their labels or targets. If a step
    refuses any of the training or test rows, None is returned, and scikit-learn fits all steps.
    Therefore no warning is given twice.
    """
    prefix, source = (
        _cached(CLOSED_PREFIXES, preparation, _closed_prefix),
        _cached(SOURCE_TABLES, data, _make_source),
    )
    if prefix is None or source is None:
        return None
    convert: Callable[[Table], Any] = (
        as_learner_input if prefix.covers_all_steps else _input_of_next_step
    )
    try:
        # NumPy need not warn of non-finite numbers: they are refused here or found at the end.
        with np.errstate(all="ignore"):
            table, apply = prefix.closed_form(SourceCells.from_source(source, train_rows), y)
            tests = [convert(apply(SourceCells.from_source(source, rows))) for rows in test_sets]
            return ClosedOutput(prefix.n_steps, convert(table), tests)
    except NoClosedForm:
        return None


def _cached(
    cache: MutableMapping[Key, CachedValue | None],
    key: Key,
    compute_value: Callable[[Key], CachedValue],
) -> CachedValue | None:
    if key not in cache:
        try:
            cache[key] = compute_value(key)
        except NoClosedForm:
            cache[key] = None
    return cache[key]


def _make_source(data: Data) -> SourceTable:
    source = SourceTable(data.X)
    if source.frame is not None and not agrees_on_frame_class(source.frame, find_closed_form):
        raise NoClosedForm("frames that this release of scikit-learn takes otherwise")
    return source


def _closed_prefix(preparation: Any) -> _ClosedPrefix:
    from sklearn import get_config

    config = get_config()
    if config["transform_output"] != "default" or config.get("sparse_interface", "") == "sparray":
        raise NoClosedForm("tables of another kind between steps")
    closed_forms: list[ClosedForm] = []
    for _, step in preparation.steps:
        try:
            closed_forms.append(find_closed_form(step))
        except NoClosedForm:
            if not closed_forms:
                raise
            break
    return _ClosedPrefix(
        chain_forms(closed_forms), len(closed_forms), len(closed_forms) == len(preparation.steps)
    )


def _input_of_next_step(table: Table) -> Any:
    """Return a table in the form and memory order in which scikit-learn's next step receives it."""
    if table.sparse:
        return as_learner_input(table)
    if isinstance(table, SourceCells) or table.kind != "f":
        raise NoClosedForm("a table of another kind than doubles")
    return table.numbers()


def chain_forms(closed_forms: Sequence[ClosedForm]) -> ClosedForm:
    """Return one closed form for several steps, each fitted on the output of the step before."""

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        apply_functions: list[Apply] = []
        for closed_form in closed_forms:
            table, apply = closed_form(table, y)
            apply_functions.append(apply)

        def apply_all(other_rows: Table) -> Table:
            for apply in apply_functions:
                other_rows = apply(other_rows)
            return other_rows

        return table, apply_all

    return fit


def find_closed_form(step: Any) -> ClosedForm:
    """Return the closed form of a step with its parameters, or raise NoClosedForm."""
    class_path = next(
        (candidate_path for candidate_path in CLOSED_FORMS if is_exactly(step, candidate_path)),
        None,
    )
    if class_path is None or not is_present(CLOSED_FORMS[class_path].module):
        raise NoClosedForm(f"{type(step).__name__} is not known in closed form")
    make_form = CLOSED_FORMS[class_path].load()
    closed_form: ClosedForm = make_form(step)
    if not agrees_with_sklearn(class_path, make_form):
        raise NoClosedForm(f"{type(step).__name__} does otherwise in this release of scikit-learn")
    return closed_form
