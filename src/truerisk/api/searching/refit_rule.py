"""`refit`: whether to fit on all rows, or a function that chooses a setting from `cv_results_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from truerisk.api.searching.several_scores import are_several, named
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument

__all__ = ["check_chooser", "check_refit", "chosen_by"]


def check_refit(refit: Any, scoring: Any, outer: Any) -> None:
    """Refuse what says neither whether to refit nor how to choose."""
    if callable(refit):
        if outer is not None:
            raise BadArgument(
                f"refit={shown(refit)} chooses from cv_results_, which the outer splits of the "
                "honest risk do not have: use a rule=, by which they choose as well, or outer=None."
            )
    elif are_several(scoring):
        check_chooser(refit, named(scoring), outer)
    elif callable(scoring) and isinstance(refit, str):
        return  # a function may give several scores; `on_y` looks at what it gives
    elif not isinstance(refit, bool) and not (isinstance(refit, str) and refit == scoring):
        raise BadArgument(
            f"refit={shown(refit)}: use True, False, or a function that gives the number of a "
            "setting for cv_results_."
        )


def check_chooser(refit: Any, names: Mapping[str, Any], outer: Any) -> None:
    """Of several scores one chooses, and is named."""
    first = next(iter(names))
    if refit is not False and refit not in names:
        raise BadArgument(
            "For multi-metric scoring, the parameter refit must be set to a scorer key or a "
            f"callable to refit what it chooses, or to False: refit={shown(refit)} is none of the "
            f"scores {shown(list(names))}. Name the one that chooses, such as refit={first!r}."
        )
    if refit is False and outer is not None:
        raise BadArgument(
            "refit=False chooses no setting by several scores, so there is no procedure whose risk "
            f"could be estimated: name a score that chooses, refit={first!r}, or use outer=None."
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
