"""Why a fit failed: the step that raised, its own words, and what is wrong with the cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.errors import BadData, first_line, kind_of, said_by
from truerisk.core.identity import PIPELINE, is_a
from truerisk.core.present import clean
from truerisk.core.table.columns import unreadable
from truerisk.core.table.data import Data, non_finite
from truerisk.core.table.targets import as_shown

__all__ = ["reason_of"]


def reason_of(model: Any, data: Data, y: np.ndarray, error: BaseException) -> tuple[str, str]:
    """What a failing fit says, and the kind of its error: of the data where these are at fault.

    `y` are the targets of the rows that it was to learn from.
    """
    why = f"{_step_of(model, error)}{said_by(error)}{_advice(error)}"
    where = non_finite(data.X)
    if where is not None and _speaks_of_missing(error):  # a pipeline may impute them
        return f"{where} ({why})", BadData.__name__
    what = unreadable(data.X) if _speaks_of_cells(error) or "float() argument" in why else None
    if what is not None and what.startswith("X has dates"):  # NumPy's words are long and tell less
        return f"{_step_of(model, error)}{what}", BadData.__name__
    if what is not None and _speaks_of_cells(error):
        return f"{what} ({why})", BadData.__name__
    if data.classes is not None and len(np.unique(y)) == 1:
        only = clean(repr(as_shown(y[0])), 40)
        return f"its training rows hold class {only} only ({why})", kind_of(error)
    return why, kind_of(error)


def _step_of(model: Any, error: BaseException) -> str:
    """The step of a pipeline, before its learner, whose code raised the error; or nothing."""
    steps = model.steps[:-1] if is_a(model, PIPELINE) else []
    names = {id(step): name for name, step in steps}
    trace = error.__traceback__
    while trace is not None:
        name = names.get(id(trace.tb_frame.f_locals.get("self")))
        if name is not None:
            return f"step '{name}': "
        trace = trace.tb_next
    return ""


def _advice(error: BaseException) -> str:
    """What to do about what is common: a new level, no memory, a fit that lacks rows to end it."""
    if isinstance(error, MemoryError):
        return " (use fewer workers, fewer rows, or a setting of the model that needs less memory)"
    said = first_line(error)
    if "unknown categories" in said:
        return " (a level that no training row had: set handle_unknown='ignore' of the encoder)"
    if "early stopping" in said.lower() and "at least" in said:
        return " (tr.models.EarlyStopping(model) sets rows of each training set aside for it)"
    return ""


def _speaks_of_cells(error: BaseException) -> bool:
    """Whether the complaint is that text, dates or equal names were read as columns of numbers."""
    said = f"{type(error).__name__} {first_line(error)}".lower()
    return any(word in said for word in ("to float", "dtype", "unique column names"))


def _speaks_of_missing(error: BaseException) -> bool:
    """Whether scikit-learn's complaint (there is no kind of its own for it) is about NaN."""
    return any(word in first_line(error).lower() for word in ("nan", "infinity", "missing"))
