"""The first steps of a preparation in closed form, and their output for each training set."""

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
    rendered,
)

Key = TypeVar("Key")
Made = TypeVar("Made")

SOURCES: WeakKeyDictionary[Data, Source | None] = WeakKeyDictionary()


@frozen(eq=False)
class Closed:
    """The number of steps in closed form, with their output for training and test rows."""

    n_steps: int
    table: Any
    tests: list[Any]


@frozen(eq=False)
class _Prefix:
    """The first steps of a preparation, up to one without a closed form."""

    form: Form
    n_steps: int
    is_all: bool


KNOWN: WeakKeyDictionary[Any, _Prefix | None] = WeakKeyDictionary()


def closed_steps(
    preparation: Any,
    data: Data,
    train: np.ndarray,
    y: np.ndarray,
    test_sets: Sequence[np.ndarray],
) -> Closed | None:
    """Return the output of the steps in closed form, or None if scikit-learn has to fit them.

    `train` holds row numbers, repeated for copies, and `y` their labels or targets. Either
    everything is answered or nothing, so that no warning is given twice.
    """
    known, source = _cached(KNOWN, preparation, _prefix), _cached(SOURCES, data, _source)
    if known is None or source is None:
        return None
    out: Callable[[Table], Any] = rendered if known.is_all else _given_on
    try:
        with np.errstate(all="ignore"):  # Non-finite numbers are refused, or found at the end.
            table, apply = known.form(Cells.from_source(source, train), y)
            tests = [out(apply(Cells.from_source(source, rows))) for rows in test_sets]
            return Closed(known.n_steps, out(table), tests)
    except Refused:
        return None


def _cached(
    cache: MutableMapping[Key, Made | None], key: Key, make: Callable[[Key], Made]
) -> Made | None:
    if key not in cache:
        try:
            cache[key] = make(key)
        except Refused:
            cache[key] = None
    return cache[key]


def _source(data: Data) -> Source:
    source = Source(data.X)
    if source.frame is not None and not agrees_on(source.frame, form_of):
        raise Refused("frames that this release of scikit-learn takes otherwise")
    return source


def _prefix(preparation: Any) -> _Prefix:
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
    return _Prefix(in_turn(forms), len(forms), len(forms) == len(preparation.steps))


def _given_on(table: Table) -> Any:
    """Return a table as the next step of scikit-learn receives it, in its memory order."""
    if table.sparse:
        return rendered(table)
    if isinstance(table, Cells) or table.kind != "f":
        raise Refused("a table of another kind than doubles")
    return table.numbers()


def in_turn(forms: Sequence[Form]) -> Form:
    """Return the form of several steps, each fitted on the output of the step before it."""

    def fit(table: Table, y: np.ndarray) -> Fitted:
        applied: list[Apply] = []
        for form in forms:
            table, apply = form(table, y)
            applied.append(apply)

        def every(other: Table) -> Table:
            for apply in applied:
                other = apply(other)
            return other

        return table, every

    return fit


def form_of(step: Any) -> Form:
    """Return the closed form of a step with these parameters; refuse a step that has none."""
    place = next((one for one in FORMS if is_exactly(step, one)), None)
    if place is None or not is_present(FORMS[place].module):
        raise Refused(f"{type(step).__name__} is not known in closed form")
    make = FORMS[place].load()
    form: Form = make(step)
    if not agrees(place, make):
        raise Refused(f"{type(step).__name__} does otherwise in this release of scikit-learn")
    return form
