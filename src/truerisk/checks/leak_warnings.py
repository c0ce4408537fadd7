"""Warnings of leaks from training sets: copies, groups, later rows, parts that stay fitted."""

from __future__ import annotations

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
    """Warn of tested rows that leak: their model saw them, a copy, their group or a later row."""
    kinds: list[Leak] = ["groups", "copies"]
    if method.splits and not method.respects_time:
        kinds.append("late")
    if method.splits and not method.respects_space:
        kinds.append("near")
    leaks = leaks_of(data, plan, *kinds)
    if len(leaking := leaks["groups"]):
        warn(
            f"groups are given but method '{method.name}' ignores them: {len(leaking)} rows "
            f"(first: row {leaking[0]}) are tested by models that saw their group. "
            "The estimate is too good; use a word such as '10-fold' or a Group splitter.",
            GroupLeakWarning,
        )
    if len(late := leaks["late"]):
        warn(
            f"time is given but method '{method.name}' ignores it: {len(late)} rows (first: row "
            f"{late[0]}) are tested by models that saw rows of the same or of a later time. The "
            "estimate is too good where rows depend on those before them; use a word such as "
            "'forward-5', or 'purged-5' where later rows are meant to be seen.",
            TimeLeakWarning,
        )
    if 2 * len(near := leaks["near"]) > (n_tested := len(leaks["apart"])):
        warn(
            f"block is given but method '{method.name}' ignores it: {len(near)} of {n_tested} "
            f"rows (first: row {near[0]}) are tested by models that saw the row next to them. "
            "The estimate is too good for places away from the training rows; use a word such "
            "as 'blocks-5' or 'buffered'.",
            SpaceLeakWarning,
        )
    if method.has_given_splits and len(seen := known_rows(plan)):
        warn(
            f"{len(seen)} rows (first: row {seen[0]}) are tested by models that were trained on "
            f"them, as '{method.name}' has it: the estimate is too good. Give test rows that are "
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
    """Warn of parts that no fold fits again: they may have learned from the rows that it tests."""
    fitted = parts_that_stay_fitted(family) if method.splits else []
    if fitted:
        warn(
            f"clone keeps what {', '.join(fitted)} learned, and so does every fold: if it "
            "has seen these rows, the estimate is too good. Give unfitted parts; where it learned "
            "from other rows, ignore this warning.",
            FittedPartWarning,
        )


def parts_that_stay_fitted(family: Family) -> list[str]:
    """Return the parts that `clone` returns fitted, by name and class, in order.

    This is only possible for a class that defines `__sklearn_clone__`.
    """
    from sklearn.base import BaseEstimator, clone

    parts = [("", family.estimator), *family.estimator.get_params(deep=True).items()]
    for setting in family.candidates:
        parts += setting.items()
    fitted = set()
    for name, part in parts:
        own = getattr(type(part), "__sklearn_clone__", BaseEstimator.__sklearn_clone__)
        if own is BaseEstimator.__sklearn_clone__ or not hasattr(part, "fit"):
            continue
        twin = clone(part)
        if twin is part or any(n.endswith("_") for n in vars(twin) if n[0] != "_"):
            fitted.add(f"{name} ({type(part).__name__})" if name else type(part).__name__)
    return sorted(fitted)
