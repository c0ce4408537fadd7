"""`refit`: whether to fit on all rows, or a function that chooses a setting from `cv_results_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument

__all__ = ["check_refit", "chosen_by"]


def check_refit(refit: Any, scoring: Any, outer: Any) -> None:
    """Refuse what says neither whether to refit nor how to choose."""
    if isinstance(refit, bool) or (isinstance(refit, str) and refit == scoring):
        return
    if not callable(refit):
        raise BadArgument(
            f"refit={shown(refit)}: use True, False, or a function that gives the number of a "
            "setting for cv_results_."
        )
    if outer is not None:
        raise BadArgument(
            f"refit={shown(refit)} chooses from cv_results_, which the outer splits of the honest "
            "risk do not have: use a rule=, by which they choose as well, or outer=None."
        )


def chosen_by(refit: Callable[..., Any], results: Mapping[str, Any]) -> int:
    """The number of the setting that the function chooses."""
    number, n_settings = refit(results), len(results["params"])
    if not isinstance(number, int | np.integer):
        raise BadArgument(
            f"best_index_ returned is not an integer: refit={shown(refit)} gave {shown(number)}."
        )
    if not 0 <= number < n_settings:
        raise IndexError(
            f"best_index_ index out of range: refit={shown(refit)} gave {number}, and there are "
            f"{n_settings} settings, from 0 on."
        )
    return int(number)
