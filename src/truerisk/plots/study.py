"""A study's bias, RMSE, coverage or cost by size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from truerisk.core.errors import BadData
from truerisk.core.registry import check_known
from truerisk.plots.marks import axes_of

# quantity -> its standard error in the summary, what the axis says
QUANTITIES: Mapping[str, tuple[str | None, str]] = {
    "bias": ("bias_error", "bias (estimate − true risk)"),
    "rmse": (None, "root mean squared error"),
    "coverage": ("coverage_error", "coverage"),
    "seconds": (None, "seconds per estimate"),
}


def draw_study(results: Any, *, what: str = "bias", ax: Any = None) -> Any:
    """One line per problem, learner and method, with ± 1 standard error; returns the axes."""
    check_known("there is no", what, QUANTITIES)
    error, label = QUANTITIES[what]
    lines = _lines(results.cells, what, error)
    if not lines:
        raise BadData(f"the study has no {what} to draw: no cell has one.")
    ax = axes_of(ax)
    for name, points in lines.items():
        sizes, values, errors = (
            np.array(column, dtype=float) for column in zip(*points, strict=True)
        )
        order = np.argsort(sizes)
        bars = errors[order] if np.isfinite(errors).all() else None
        ax.errorbar(
            sizes[order], values[order], yerr=bars, fmt="o-", markersize=4, capsize=2, label=name
        )
    if what == "bias":
        ax.axhline(0.0, color="0.6", linewidth=0.8)
    ax.set_xlabel("rows")
    ax.set_ylabel(label)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _lines(cells: Any, what: str, error: str | None) -> dict[str, list[tuple[float, float, float]]]:
    """(size, value, error) by the words that tell lines apart; what all share is left out."""
    parts = ("problem", "learner", "method")
    told = [part for part in parts if len({cell[part] for cell in cells}) > 1] or ["method"]
    lines: dict[str, list[tuple[float, float, float]]] = {}
    for cell in cells:
        if cell[what] is not None:
            bar = np.nan if error is None or cell[error] is None else cell[error]
            name = ", ".join(str(cell[part]) for part in told)
            lines.setdefault(name, []).append((cell["size"], cell[what], bar))
    return lines
