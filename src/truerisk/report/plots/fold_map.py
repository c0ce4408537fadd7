"""Draw a map of a split in space: the tested block, its buffer, and the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.contracts import Method, Streams
from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData
from truerisk.data.data import Data, TaskName
from truerisk.data.rows import n_rows
from truerisk.plan.plan import Plan
from truerisk.report.plots.marks import get_or_create_axes

# Label, colour, marker and size of each kind of row. Markers differ for colour-blind readers.
ROW_KIND_STYLES = (
    ("training", "C0", "o", 12.0),
    ("buffer", "0.6", "x", 16.0),
    ("tested", "C3", "s", 20.0),
)


def draw_fold_map(
    method: Method,
    block: Any,
    *,
    y: Any = None,
    fold: int | None = 0,
    random_state: int = 0,
    ax: Any = None,
) -> Any:
    """Draw a map of the training and test rows of a split, and return its axes.

    Parameters
    ----------
    method : Method
        Such as `tr.methods.Blocks(5)`, whose `plot` this is.
    block : array (n, 1 to 3)
        The coordinates of the rows; the first two are drawn.
    y : array, optional
        The target. Folds may be stratified by its classes; without it they are not.
    fold : int or None
        The number of the split; None draws all test sets, each in a colour of its own.
    random_state : int
        The random state of the estimate whose folds are drawn.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_field(100, random_state=0)
    >>> tr.methods.Buffered().plot(X[:, :2], y=y, fold=3).get_title()
    'buffered, fold 3'
    """
    y_values = np.zeros(n_rows(block)) if y is None else np.asarray(y)
    task: TaskName = "regression" if y_values.dtype.kind == "f" else "classification"
    data = Data.check(np.zeros((len(y_values), 1)), y_values, task=task, block=block)
    if data.places is None:
        raise BadData(f"{mention('block')} holds labels, and a map needs coordinates.")
    coordinates = np.column_stack([data.places, np.zeros(data.n_rows)])[:, :2]
    # This plan has the same splits as an estimate with the same method and random state.
    plan = method.plan(data, Streams(random_state))
    ax = get_or_create_axes(ax, (5.0, 5.0))
    if fold is None:
        _draw_all_folds(ax, plan, coordinates)
        ax.set_title(method.name, fontsize="medium")
    else:
        if fold not in range(plan.n_questions):
            raise BadArgument(
                f"{mention('fold', fold)}: '{method.name}' has splits 0 … {plan.n_questions - 1} "
                "here; None draws all."
            )
        _draw_one_fold(ax, plan, coordinates, fold)
        ax.set_title(f"{method.name}, fold {fold}", fontsize="medium")
    ax.set_aspect("equal")
    return ax


def _draw_one_fold(ax: Any, plan: Plan, coordinates: np.ndarray, fold: int) -> None:
    """Draw the training rows, the test rows, and the buffer rows, which are in neither set."""
    row_kinds = np.ones(len(coordinates), dtype=int)
    row_kinds[plan.train_rows(int(plan.fit[fold]))[0]] = 0
    row_kinds[plan.test_rows(fold)[0]] = 2
    for kind_number, (label, colour, marker, marker_size) in enumerate(ROW_KIND_STYLES):
        kind_coordinates = coordinates[row_kinds == kind_number]
        if len(kind_coordinates):
            legend_label = f"{label} ({len(kind_coordinates)})"
            ax.scatter(
                *kind_coordinates.T,
                s=marker_size,
                c=colour,
                marker=marker,
                linewidths=0.8,
                label=legend_label,
            )
    _add_legend(ax)


def _draw_all_folds(ax: Any, plan: Plan, coordinates: np.ndarray) -> None:
    """Draw the test set of each fold in its own colour and marker."""
    for fold in range(plan.n_questions):
        fold_coordinates = coordinates[plan.test_rows(fold)[0]]
        label = f"fold {fold} ({len(fold_coordinates)})" if plan.n_questions <= 10 else None
        ax.scatter(
            *fold_coordinates.T,
            s=14,
            color=f"C{fold % 10}",
            marker="osD^vP*Xph"[fold % 10],
            label=label,
        )
    if plan.n_questions <= 10:
        _add_legend(ax)


def _add_legend(ax: Any) -> None:
    """Add a legend to the right of the map, so that it hides no point."""
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
