"""Whether a fitted step drew random numbers: many have a `random_state` and hardly ever use it.

PCA draws for two of its solvers only, and says which one it took; quantiles are taken of a sample
only where the rows are many. A step that is not named here is taken to have drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from truerisk.core.identity import entry_of

__all__ = ["drew", "may_not_draw"]

EXACT = ("full", "covariance_eigh")
UNDECIDED = ("auto", *EXACT)


def _pca(step: Any, n_rows: int) -> bool:
    return getattr(step, "_fit_svd_solver", None) not in EXACT


def _quantiles(step: Any, n_rows: int) -> bool:
    return step.subsample is not None and n_rows > step.subsample


def _bins(step: Any, n_rows: int) -> bool:
    return step.strategy == "kmeans" or _quantiles(step, n_rows)


DRAWS: Mapping[str, Callable[[Any, int], bool]] = {
    "sklearn.decomposition:PCA": _pca,
    "sklearn.preprocessing:QuantileTransformer": _quantiles,
    "sklearn.preprocessing:KBinsDiscretizer": _bins,
}


def may_not_draw(step: Any) -> bool:
    """Whether a step without a seed may turn out, once it is fitted, to have drawn nothing."""
    solver = getattr(step, "svd_solver", "auto")
    return entry_of(step, DRAWS) is not None and solver in UNDECIDED


def drew(steps: Iterable[Any], n_rows: int) -> bool:
    """Whether some fitted step that has no seed drew random numbers, fitted on so many rows."""
    return any(
        draws(step, n_rows)
        for step in steps
        if getattr(step, "random_state", 0) is None and (draws := entry_of(step, DRAWS)) is not None
    )
