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
from truerisk.engines.preparation import FORMS
from truerisk.engines.preparation.closed.agreement import agrees, agrees_on
from truerisk.engines.preparation.closed.coded_data import Cells, Source
from truerisk.engines.preparation.closed.step_tables import (
    Apply,
    Fitted,
    Form,
    Refused,
    Table,
    as_learner_input,
)

Key = TypeVar("Key")
Made = TypeVar("Made")

SOURCES: WeakKeyDictionary[Data, Source | None] = WeakKeyDictionary()


@frozen(eq=False)
class Closed:
    """Number of leading steps with a closed form, and their output for training and test rows."""

    n_steps: int
    table: Any
    tests: list[Any]


@frozen(eq=False)
class _Prefix:
    """Closed form of the leading steps of a preparation, up to the first step that has none."""

    form: Form
    n_steps: int
    covers_all_steps: bool


KNOWN: WeakKeyDictionary[Any, _Prefix | None] = WeakKeyDictionary()


def closed_steps(
    preparation: Any,
    data: Data,
    train: np.ndarray,
    y: np.ndarray,
    test_sets: Sequence[np.ndarray],
) -> Closed | None:
    """Return the output of the leading steps with a closed form, or None if there are none.

    `train` holds row numbers, repeated for copies, and `y` their labels or targets. If a step
    refuses any of the training or test rows, None is returned, and scikit-learn fits all steps.
    Therefore no warning is given twice.
    """
    prefix, source = (
        _cached(KNOWN, preparation, _closed_prefix),
        _cached(SOURCES, data, _make_source),
    )
    if prefix is None or source is None:
        return None
    convert: Callable[[Table], Any] = (
        as_learner_input if prefix.covers_all_steps else _input_of_next_step
    )
    try:
        # NumPy's warnings are silenced because non-finite numbers are refused, or found at the end.
        with np.errstate(all="ignore"):
            table, apply = prefix.form(Cells.from_source(source, train), y)
            tests = [convert(apply(Cells.from_source(source, rows))) for rows in test_sets]
            return Closed(prefix.n_steps, convert(table), tests)
    except Refused:
        return None


def _cached(
    cache: MutableMapping[Key, Made | None],
    key: Key,
    compute_value: Callable[[Key], Made],
) -> Made | None:
    if key not in cache:
        try:
            cache[key] = compute_value(key)
        except Refused:
            cache[key] = None
    return cache[key]


def _make_source(data: Data) -> Source:
    source = Source(data.X)
    if source.frame is not None and not agrees_on(source.frame, form_of):
        raise Refused("frames that this release of scikit-learn takes otherwise")
    return source


def _closed_prefix(preparation: Any) -> _Prefix:
    from sklearn import get_config

    config = get_config()
    if config["transform_output"] != "default" or config.get("sparse_interface", "") == "sparray":
        raise Refused("tables of another kind between steps")
    forms: list[Form] = []
    for _, step in preparation.steps:
        try:
            forms.append(form_of(step))
        except Refused:
            if not forms:
                raise
            break
    return _Prefix(chain_forms(forms), len(forms), len(forms) == len(preparation.steps))


def _input_of_next_step(table: Table) -> Any:
    """Return a table as the next step of scikit-learn receives it, in its memory order."""
    if table.sparse:
        return as_learner_input(table)
    if isinstance(table, Cells) or table.kind != "f":
        raise Refused("a table of another kind than doubles")
    return table.numbers()


def chain_forms(forms: Sequence[Form]) -> Form:
    """Return the closed form of several steps, each fitted on the output of the step before it."""

    def fit(table: Table, y: np.ndarray) -> Fitted:
        apply_functions: list[Apply] = []
        for closed_form in forms:
            table, apply = closed_form(table, y)
            apply_functions.append(apply)

        def apply_all(transformed: Table) -> Table:
            for apply in apply_functions:
                transformed = apply(transformed)
            return transformed

        return table, apply_all

    return fit


def form_of(step: Any) -> Form:
    """Return the closed form of a step with its parameters, or raise Refused if it has none."""
    class_path = next(
        (candidate_path for candidate_path in FORMS if is_exactly(step, candidate_path)), None
    )
    if class_path is None or not is_present(FORMS[class_path].module):
        raise Refused(f"{type(step).__name__} is not known in closed form")
    make_form = FORMS[class_path].load()
    closed_form: Form = make_form(step)
    if not agrees(class_path, make_form):
        raise Refused(f"{type(step).__name__} does otherwise in this release of scikit-learn")
    return closed_form
