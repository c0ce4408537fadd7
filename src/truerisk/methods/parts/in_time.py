"""What methods in the order of time share: their lengths, and that rows have times."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.arguments import is_number, shown
from truerisk.core.contracts import Target, Terms
from truerisk.core.errors import BadArgument
from truerisk.core.evaluation import Tested
from truerisk.core.interval import Basis
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data
from truerisk.methods.parts.ahead import ahead_notes
from truerisk.methods.parts.averages import OF_ROW_MEANS, Average, Averaged, tested_by_average
from truerisk.resampling.in_time import times_of

__all__ = ["InTime", "check_span", "said_spans"]


def check_span(name: str, given: Any, *, may_be_0: bool) -> None:
    """Refuse what is no length of time in any unit; None stands for none at all."""
    if given is None and not may_be_0:
        return
    wanted = "a number or a length of time is wanted, such as np.timedelta64(7, 'D'), "
    wanted += "not negative" if may_be_0 else "more than 0"
    try:
        is_length = isinstance(given, timedelta | np.timedelta64)
        fits = is_length or is_number(given)
        zero = given - given if is_length else 0  # that of a length has its unit
        fits = fits and bool(given >= zero if may_be_0 else given > zero)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise BadArgument(f"{name}={shown(given)}: {wanted}.")


def said_spans(method: Any, **usual: Any) -> str:
    """What is said in the word of a method of lengths that are not the usual ones.

    >>> from types import SimpleNamespace
    >>> said_spans(SimpleNamespace(gap=3, window=None), gap=0, window=None)
    ' (gap 3)'
    """
    given = {name: getattr(method, name) for name in usual}
    told = [f"{n} {v}" for n, v in given.items() if v is not None and (n, v) not in usual.items()]
    return f" ({', '.join(told)})" if told else ""


class InTime(Averaged):
    """A method that tests rows in the order of time, which is that of the rows if none is given."""

    average: Average | None
    target: ClassVar[Target] = "Err"
    respects_time: ClassVar[bool] = True
    gives: ClassVar[frozenset[Basis]] = OF_ROW_MEANS

    def average_of(self, loss: Loss) -> Average:
        return loss.averaged(self.average)

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        timed = data if data.time is not None else replace(data, time=times_of(data).astype(float))
        found = tested_by_average(answers, timed, loss, terms, self.average_of(loss))
        notes = ahead_notes(answers.plan, data) if terms.with_errors else ()
        return [replace(one, notes=(*notes, *one.notes)) for one in found]
