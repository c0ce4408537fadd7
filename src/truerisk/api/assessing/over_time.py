"""The course of a learner's honest risk along the times of the rows."""

from __future__ import annotations

from truerisk.api.risk_over_time import RiskOverTime, risk_over_time
from truerisk.core.errors import BadData, Refusal
from truerisk.core.results import RiskEstimate
from truerisk.core.table.data import Data

__all__ = ["course_of"]


def course_of(risk: RiskEstimate, data: Data) -> RiskOverTime | str:
    """The course, or why there is none: nothing is said where rows have no times."""
    if data.time is None:
        return ""
    try:
        return risk_over_time(risk, data.time)
    except (BadData, Refusal) as error:
        return str(error)
