"""What a model and its table are made of: steps, coefficients, cells without a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.core import present
from truerisk.core.identity import PIPELINE, is_a
from truerisk.core.table.columns import is_missing
from truerisk.core.table.rows import column_arrays, column_names, n_columns

MOST_COEFFICIENTS = 30  # in a paragraph


def coefficients_of(model: Any, X: Any, *, of_first_class: bool) -> dict[str, float]:
    """The intercept and what each feature of the last step has; {} of no line, or of a long one.

    A line of two classes speaks of the second: `of_first_class` turns its signs.
    """
    before, learner = (model[:-1], model[-1]) if is_a(model, PIPELINE) else (None, model)
    coef, intercept = (np.ravel(getattr(learner, f"{one}_", ())) for one in ("coef", "intercept"))
    numbered = [f"column {k}" for k in range(n_columns(X) or 0)]
    names = [str(name) for name in column_names(X) or numbered]
    try:
        names = names if before is None else list(before.get_feature_names_out(names))
    except (AttributeError, ValueError):  # a step that names nothing
        return {}
    if len(intercept) != 1 or len(coef) != len(names) or len(coef) > MOST_COEFFICIENTS:
        return {}
    values = np.array([*intercept, *coef], dtype=float) * (-1 if of_first_class else 1) + 0.0
    pairs = zip(["intercept", *names], values.tolist(), strict=True)
    return {present.clean(name, 40): value for name, value in pairs}


def inside(model: Any) -> list[Any]:
    """The model and everything that it is made of, in parts of tables, too."""
    return [model, *model.get_params(deep=True).values()]


def _all_steps(model: Any) -> Iterator[Any]:
    if not is_a(model, PIPELINE):
        yield model
        return
    for _, step in model.steps:
        yield from _all_steps(step)


def steps_of(model: Any) -> tuple[str, ...]:
    """The classes of its steps, the learner's the last."""
    steps = (step for step in _all_steps(model) if step is not None)
    return tuple(
        step if isinstance(step, str) else present.clean(type(step).__name__, 40) for step in steps
    )


def gaps_in(X: Any) -> np.ndarray | None:
    """Which cells have no value; None where X is no table of cells."""
    if column_names(X) is not None:
        columns = [np.asarray(column).tolist() for column in column_arrays(X)]
        return np.array([[is_missing(cell) for cell in column] for column in columns]).T
    if hasattr(X, "tocsr") or getattr(X, "ndim", 0) != 2:
        return None
    cells = np.asarray(X)
    if cells.dtype.kind == "f":
        return np.isnan(cells)
    if cells.dtype.kind != "O":
        return np.zeros(cells.shape, dtype=bool)
    return np.array([[is_missing(cell) for cell in row] for row in cells.tolist()])
