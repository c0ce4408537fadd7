"""`param_grid` and `n_iter`: which settings are compared."""

from __future__ import annotations

from typing import Any

from truerisk.api.road.provenance import settings_seed
from truerisk.core.family import Family

__all__ = ["family_of"]


def family_of(search: Any, seed: int) -> Family:
    """Every setting of the grid, or `n_iter` that are drawn of it, once, before a row is seen.

    Where GridSearchCV's word `cv` is spoken they are those of RandomizedSearchCV with this seed.
    """
    if search.n_iter is None:
        return Family.of(search.estimator, search.param_grid)
    drawn_as = settings_seed(seed, plain=search.cv is not None)
    return Family.drawn(search.estimator, search.param_grid, search.n_iter, drawn_as)
