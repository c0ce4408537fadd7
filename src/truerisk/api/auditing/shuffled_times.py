"""Whether a search that mixes past and future flatters: its choice, tested in stretches of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.api.auditing.claim import Claim
from truerisk.api.auditing.score_scale import ScoreScale
from truerisk.api.findings.finding import Finding
from truerisk.api.road.compute import compute
from truerisk.api.road.problem import Problem, pose
from truerisk.core.errors import BadData, FitFailed, Refusal
from truerisk.core.family import Family
from truerisk.core.plan.leaks import leaks_in_time
from truerisk.core.plan.plan import Plan
from truerisk.core.present import number
from truerisk.core.table.data import Data
from truerisk.core.table.rows import column_names
from truerisk.methods.purged import Purged

__all__ = ["time_findings", "times_of_table"]

MOST_STRETCHES = 10
SHARE = 0.1  # of the risk in stretches of time; less is no collapse
ERRORS = 2.0  # standard errors of the mean of the stretches


def time_findings(
    claim: Claim, scale: ScoreScale, problem: Problem, plan: Plan, given: Any
) -> Iterator[Finding]:
    """The claim, and the risk of the chosen setting where each stretch of time is left out whole.

    As many stretches as the search had splits, so that models see about as many rows. Said where
    the risk of them is larger by more than a tenth and two standard errors: then the rows depend on
    those near them, and the search rated how well it remembers the neighbours of a row.
    """
    data = problem.data
    times, place = (data.time, "time=") if data.time is not None else times_of_table(data.X)
    if times is None or scale.whole is None or len(np.unique(times)) < 2:
        return
    data = replace(data, time=times)
    n_mixed = len(leaks_in_time(data, plan))
    if not n_mixed:
        return
    method = Purged(min(max(plan.n_questions, 2), MOST_STRETCHES), average="fold")
    found = _tested(claim, scale, data, method, given)
    if found is None or found.value is None or found.split_risks is None:
        return
    claimed = float(scale.risk(claim.score))
    risks = found.split_risks
    error = float(risks.std(ddof=1) / np.sqrt(len(risks)))
    lost = found.value - claimed
    if lost > max(SHARE * found.value, ERRORS * error):
        yield Finding(
            "time-shuffled",
            f"The rows have times ({place}), and {n_mixed} of {data.n_rows} were tested by models "
            f"that saw later ones. The search claims a risk of {number(claimed)} for its choice; "
            f"in {method.k} stretches of time, each left out whole, it is {number(found.value)}: "
            f"the claim shrinks by {number(lost)}.",
            "Search in the order of time: cv=TimeSeriesSplit(), or HonestSearchCV and fit(X, y, "
            "time=...).",
        )


def _tested(claim: Claim, scale: ScoreScale, data: Data, method: Purged, given: Any) -> Any:
    """The chosen setting in stretches of time; None where it cannot be tested so."""
    asked = {**given, "time": data.time, "loss": scale.whole}
    family = Family(claim.estimator, (claim.candidates[claim.best],))
    try:
        computed = compute(pose(family, data.X, data.y, **asked), method)
    except (BadData, FitFailed, Refusal):  # a class may lie in one stretch alone
        return None
    return computed.evaluation.tested[0]


def times_of_table(X: Any) -> tuple[np.ndarray | None, str]:
    """The dates that a frame is sorted by, its index or a column, and where they are.

    >>> times_of_table(np.zeros((3, 1)))
    (None, '')
    """
    index = getattr(X, "index", None)
    if column_names(X) is None:
        return None, ""
    if _are_sorted_dates(getattr(index, "dtype", None), index):
        return np.asarray(index), "the index"
    for place, name in enumerate(column_names(X) or ()):
        column = X.iloc[:, place] if hasattr(X, "iloc") else X[name]
        if _are_sorted_dates(getattr(column, "dtype", None), column):
            return np.asarray(column), f"column {name!r}"
    return None, ""


def _are_sorted_dates(kind: Any, values: Any) -> bool:
    """Whether these are dates, none missing, and none before the one above it."""
    if not str(kind).lower().startswith(("datetime", "date")):
        return False
    dates = np.asarray(values)
    if dates.dtype.kind != "M" or np.isnat(dates).any():
        return False
    return bool((dates[1:] >= dates[:-1]).all())
