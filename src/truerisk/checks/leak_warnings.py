"""Warnings of what a training set tells too much: copies, groups, later rows, fitted parts."""

from __future__ import annotations

from typing import Any

from truerisk.contracts import Method
from truerisk.core.errors import (
    DuplicateRowsWarning,
    FittedPartWarning,
    GroupLeakWarning,
    SpaceLeakWarning,
    TimeLeakWarning,
    warn,
)
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.plan.leaks import Leak, known_rows, leaks_of
from truerisk.plan.plan import Plan


def warn_of_leaks(data: Data, method: Method, plan: Plan) -> None:
    """Count tested rows that were in the training set, or a copy, their group or a later row."""
    kinds: list[Leak] = ["groups", "copies"]
    if method.splits and not method.respects_time:
        kinds.append("late")
    if method.splits and not method.respects_space:
        kinds.append("near")
    leaks = leaks_of(data, plan, *kinds)
    if len(leaking := leaks["groups"]):
        warn(
            f"groups are given but method '{method.word}' ignores them: {len(leaking)} rows "
            f"(first: row {leaking[0]}) are tested by models that saw their group. "
            "The estimate is too good; use a word such as '10-fold' or a Group splitter.",
            GroupLeakWarning,
        )
    if len(late := leaks["late"]):
        warn(
            f"time is given but method '{method.word}' ignores it: {len(late)} rows (first: row "
            f"{late[0]}) are tested by models that saw rows of the same or of a later time. The "
            "estimate is too good where rows depend on those before them; use a word such as "
            "'forward-5', or 'purged-5' where later rows are meant to be seen.",
            TimeLeakWarning,
        )
    if 2 * len(near := leaks["near"]) > (n_tested := len(leaks["apart"])):
        warn(
            f"block is given but method '{method.word}' ignores it: {len(near)} of {n_tested} "
            f"rows (first: row {near[0]}) are tested by models that saw the row next to them. "
            "The estimate is too good for places away from the training rows; use a word such "
            "as 'blocks-5' or 'buffered'.",
            SpaceLeakWarning,
        )
    if method.has_given_splits and len(seen := known_rows(plan)):
        warn(
            f"{len(seen)} rows (first: row {seen[0]}) are tested by models that were trained on "
            f"them, as '{method.word}' has it: the estimate is too good. Give test rows that are "
            "no training rows.",
            DuplicateRowsWarning,
        )
    if len(leaking := leaks["copies"]):
        warn(
            f"{len(leaking)} rows of X (first: row {leaking[0]}) have an exact copy in a training "
            "set that they test: if they are copies of one case the estimate is too good. "
            "Remove the copies, or give groups=.",
            DuplicateRowsWarning,
        )


def warn_of_fitted_parts(family: Family, method: Method) -> None:
    """Name the parts that no fold fits anew: they may have learned from the rows that it tests."""
    fitted = parts_that_stay_fitted(family) if method.splits else []
    if fitted:
        warn(
            f"clone keeps what {', '.join(fitted)} learned, and so does every fold: if it "
            "has seen these rows, the estimate is too good. Give unfitted parts; where it learned "
            "from other rows, ignore this warning.",
            FittedPartWarning,
        )


def parts_that_stay_fitted(family: Family) -> list[str]:
    """By name and class, in order."""
    parts = [("", family.estimator), *family.estimator.get_params(deep=True).items()]
    parts += [item for setting in family.candidates for item in setting.items()]
    fitted = set()
    for name, part in parts:
        if hasattr(part, "fit") and not isinstance(part, type) and _keeps_its_state(part):
            fitted.add(f"{name} ({type(part).__name__})" if name else type(part).__name__)
    return sorted(fitted)


def _keeps_its_state(part: Any) -> bool:
    """Whether `clone` gives back what was fitted: only a class that says so itself can do that."""
    from sklearn.base import BaseEstimator, clone

    own = getattr(type(part), "__sklearn_clone__", None)
    if own is None or own is BaseEstimator.__sklearn_clone__:
        return False
    twin = clone(part)
    return twin is part or any(name.endswith("_") for name in vars(twin) if name[0] != "_")
