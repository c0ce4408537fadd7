"""A map of one split in space: the tested block, its buffer, and the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.contracts import Method, Streams
from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData
from truerisk.data.data import Data, TaskWord
from truerisk.data.rows import n_rows
from truerisk.plan.plan import Plan
from truerisk.report.plots.marks import axes_of

# The entries are label, colour, marker and size. They can be distinguished in grey as well.
KINDS = (
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
    """Draw where the rows of a split lie, and return its axes.

    Parameters
    ----------
    method : Method
        Such as `tr.methods.Blocks(5)`, whose `plot` this is.
    block : array (n, 1 to 3)
        The coordinates of the rows; the first two are drawn.
    y : array, optional
        The target, by whose classes folds may be balanced; else rows are dealt without.
    fold : int or None
        Which split is drawn; None draws all at once, each test set in a colour of its own.
    random_state : int
        That of the estimate whose folds these are.
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
    target = np.zeros(n_rows(block)) if y is None else np.asarray(y)
    task: TaskWord = "regression" if target.dtype.kind == "f" else "classification"
    data = Data.check(np.zeros((len(target), 1)), target, task=task, block=block)
    if data.places is None:
        raise BadData(f"{mention('block')} holds labels, and a map needs coordinates.")
    places = np.column_stack([data.places, np.zeros(data.n_rows)])[:, :2]
    plan = method.plan(data, Streams(random_state))  # This is the plan that an estimate would draw.
    ax = axes_of(ax, (5.0, 5.0))
    if fold is None:
        _draw_all(ax, plan, places)
        ax.set_title(method.name, fontsize="medium")
    else:
        if fold not in range(plan.n_questions):
            raise BadArgument(
                f"{mention('fold', fold)}: '{method.name}' has splits 0 … {plan.n_questions - 1} "
                "here; None draws all."
            )
        _draw_one(ax, plan, places, fold)
        ax.set_title(f"{method.name}, fold {fold}", fontsize="medium")
    ax.set_aspect("equal")
    return ax


def _draw_one(ax: Any, plan: Plan, places: np.ndarray, fold: int) -> None:
    """Draw training rows, rows in neither part, and tested rows."""
    kind = np.ones(len(places), dtype=int)
    kind[plan.train_rows(int(plan.fit[fold]))[0]] = 0
    kind[plan.test_rows(fold)[0]] = 2
    for number, (label, colour, marker, size) in enumerate(KINDS):
        mine = places[kind == number]
        if len(mine):
            named = f"{label} ({len(mine)})"
            ax.scatter(*mine.T, s=size, c=colour, marker=marker, linewidths=0.8, label=named)
    _legend(ax)


def _draw_all(ax: Any, plan: Plan, places: np.ndarray) -> None:
    """Draw each test set in its own colour and marker."""
    for fold in range(plan.n_questions):
        mine = places[plan.test_rows(fold)[0]]
        label = f"fold {fold} ({len(mine)})" if plan.n_questions <= 10 else None
        ax.scatter(
            *mine.T, s=14, color=f"C{fold % 10}", marker="osD^vP*Xph"[fold % 10], label=label
        )
    if plan.n_questions <= 10:
        _legend(ax)


def _legend(ax: Any) -> None:
    """Place the legend next to the map, so that it hides no point."""
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
