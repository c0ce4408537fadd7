"""Posterior densities of an error rate, one or several together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from truerisk.core.present import clean
from truerisk.core.statistics.error_posterior import ErrorPosterior
from truerisk.plots.marks import axes_of

POINTS = 513
TAIL = 1e-4


def draw_posterior(
    posterior: ErrorPosterior,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, ErrorPosterior] | None = None,
    level: float = 0.95,
) -> Any:
    """Draw the density, its mean and its one-sided bound at `level`, and return the axes.

    `others` are drawn along by name. The mass beyond the bound is shaded; what the posterior is of
    stands in the title where it is not one rule.
    """
    ax = axes_of(ax)
    every = {label or _counts(posterior): posterior, **(others or {})}
    grid = _grid(every.values())
    for name, one in every.items():
        (line,) = ax.plot(grid, one.pdf(grid), linewidth=1.3, label=clean(name, 60))
        bound = one.upper(level)
        beyond = np.r_[bound, grid[grid > bound]]
        ax.fill_between(beyond, one.pdf(beyond), color=line.get_color(), alpha=0.25, linewidth=0)
        ax.plot(one.mean, one.pdf(one.mean), "o", markersize=4, color=line.get_color())
    ax.set_xlabel("error")
    ax.set_ylabel("posterior density")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize="small", title=f"shaded: beyond the {level:.0%} bound")
    labels = {one.of for one in every.values()} - {ErrorPosterior(0, 0).of}
    if labels:
        ax.set_title("\n".join(sorted(labels)), fontsize="small", wrap=True)
    return ax


def _grid(posteriors: Any) -> np.ndarray:
    """Errors at which the densities are drawn: all but 1e-4 of the mass at either end.

    An end of a density that is infinite there is left out.
    """
    low = min(posterior.quantile(TAIL) for posterior in posteriors)
    high = max(posterior.quantile(1 - TAIL) for posterior in posteriors)
    return np.clip(np.linspace(low, high, POINTS), TAIL**2, 1 - TAIL**2)


def _counts(posterior: ErrorPosterior) -> str:
    return f"{posterior.errors:g} errors in {posterior.n:g}"
