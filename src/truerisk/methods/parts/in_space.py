"""What methods share that leave out rows which lie together."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from truerisk.core.arguments import is_number, shown
from truerisk.core.contracts import Target
from truerisk.core.displays import displays
from truerisk.core.errors import BadArgument, TrueRiskWarning
from truerisk.core.losses import Loss
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.core.warned import warn
from truerisk.methods.parts.averages import Average, Averaged

__all__ = ["InSpace", "check_length", "said", "told_of_classes"]


class InSpace(Averaged):
    """A method whose test sets are blocks of rows in space, each row in one of them."""

    target: ClassVar[Target] = "Err"
    respects_space: ClassVar[bool] = True

    average: Average | None

    def average_of(self, loss: Loss) -> Average:
        return loss.averaged(self.average)

    def plot(self, block: Any, **options: Any) -> Any:
        """Draw a split of rows with these coordinates on a map, and return its axes.

        Options are those of `truerisk.plots.fold_map.draw_fold_map`: `y` as it is given to an
        estimate, `fold` (None for all at once), `random_state`, `ax`.
        """
        return displays.load("fold-map")(self, block, **options)


def check_length(name: str, given: Any, least: float | None = None) -> None:
    """Refuse what is no length: positive, or at least `least`; None is left to the method."""
    wanted = "positive" if least is None else f"at least {least:g}"
    fits = is_number(given) and np.isfinite(given) and (given > 0 or given == least)
    if given is not None and not fits:
        raise BadArgument(
            f"{name}={shown(given)}: a length in the unit of block= is wanted, {wanted}."
        )


def said(**given: float | None) -> str:
    """What the name of a method says of numbers: nothing of those that are not given.

    >>> said(radius=0.5, size=None, folds=3), said(size=None)
    (' (radius 0.5, folds 3)', '')
    """
    named = ", ".join(f"{name} {value:g}" for name, value in given.items() if value is not None)
    return f" ({named})" if named else ""


def told_of_classes(plan: Plan, data: Data) -> Plan:
    """The plan; a warning names a class that a model does not see and is tested on."""
    if data.codes is None or data.row_ids is not None:  # said once, of the whole data
        return plan
    for q in range(plan.n_questions):
        seen = np.unique(data.codes_of(plan.train_rows(int(plan.fit[q]))[0]))
        lost = np.setdiff1d(data.codes_of(plan.test_rows(q)[0]), seen)
        if len(lost):
            warn(
                f"all rows of class {data.label(int(lost[0]))!r} lie in or near the blocks of fold "
                f"{int(plan.fold[q])}: its model never saw the class and is tested on it. Use "
                "smaller blocks or a smaller radius, or merge classes.",
                TrueRiskWarning,
            )
            break
    return plan
