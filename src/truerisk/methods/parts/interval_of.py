"""Which interval a mean of losses has: what was asked for, what the rows demand, or why none."""

from __future__ import annotations

from dataclasses import dataclass

from truerisk.core.contracts import Terms
from truerisk.core.errors import Refusal
from truerisk.core.loss import Loss
from truerisk.core.plan.order import ORDERED, is_in_row_order, is_ordered
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms import as_form
from truerisk.methods.interval_forms.form import word_of_dependence

__all__ = ["Choice", "interval_of"]


@dataclass(frozen=True)
class Choice:
    """The `word` of the interval, None for that of plain rows, or why one is `unsure`.

    `in_time` says that the tested rows stand in the order of time.
    """

    word: str | None
    unsure: str | None
    in_time: bool


def interval_of(
    plan: Plan, data: Data, loss: Loss, terms: Terms, unsure: str | None, usual: str | None
) -> Choice:
    """What the terms name, else what the dependence of the rows demands, else the `usual` one."""
    asked = terms.interval if terms.with_errors else None
    in_time = data.time is not None
    if terms.with_errors and loss.per_row and is_ordered(plan):
        in_time = in_time or is_in_row_order(plan)
        if not in_time or asked not in (None, "hac"):
            unsure = unsure or ORDERED
    if asked is not None:
        if unsure is not None:
            raise Refusal(f"interval '{asked}' is not to be had from this method: {unsure}")
        as_form(asked).check(data, loss)
    return Choice(asked or word_of_dependence(loss, data, in_time) or usual, unsure, in_time)
