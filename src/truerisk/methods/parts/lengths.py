"""Lengths that spatial methods are given, and classes that their distances take from a model."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from truerisk.core.arguments import is_number, shown
from truerisk.core.errors import BadArgument, TrueRiskWarning
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

__all__ = ["check_length", "said_length", "told_of_classes"]


def check_length(name: str, given: Any, least: float | None = None) -> None:
    """Refuse what is no length: positive, or at least `least`; None is left to the method."""
    wanted = "positive" if least is None else f"at least {least:g}"
    fits = is_number(given) and np.isfinite(given) and (given > 0 or given == least)
    if given is not None and not fits:
        raise BadArgument(
            f"{name}={shown(given)}: a length in the unit of block= is wanted, {wanted}."
        )


def said_length(name: str, given: float | None) -> str:
    """What is said of a length in the name of a method: nothing where it is not given."""
    return "" if given is None else f" ({name} {given:g})"


def told_of_classes(plan: Plan, data: Data) -> Plan:
    """The plan; a warning names a class that a model does not see and is tested on."""
    if data.codes is None or data.row_ids is not None:  # said once, of the whole data
        return plan
    for q in range(plan.n_questions):
        seen = np.unique(data.codes_of(plan.train_rows(int(plan.fit[q]))[0]))
        lost = np.setdiff1d(data.codes_of(plan.test_rows(q)[0]), seen)
        if len(lost):
            warnings.warn(
                f"all rows of class {data.label(int(lost[0]))!r} lie in or near the blocks of fold "
                f"{int(plan.fold[q])}: its model never saw the class and is tested on it. Use "
                "smaller blocks or a smaller radius, or merge classes.",
                TrueRiskWarning,
                stacklevel=2,
            )
            break
    return plan
