"""Warnings about leaks into training sets, and about model components fitted in advance.

Leaks are copies of test rows, rows of their groups, and later rows.
"""

from __future__ import annotations

from truerisk.contracts import Method
from truerisk.core.errors import (
    DuplicateRowsWarning,
    FittedPartWarning,
    GroupLeakWarning,
    LeakWarning,
    SpaceLeakWarning,
    TimeLeakWarning,
    warn,
)
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.plan.leaks import Leak, describe_copies, find_leaks, find_overlapping_rows
from truerisk.plan.plan import Plan


def warn_of_leaks(
    data: Data, method: Method, plan: Plan, estimate_name: str = "The estimate"
) -> list[str]:
    """Warn about test rows whose model was trained on them, a copy, their group or a later row.

    Return the warnings, because a result has to repeat them. If a method tunes inside, only its
    outer test sets are examined: a leak in an inner one may change which setting is chosen, but the
    choice is tested on other rows.
    """
    tested = method
    if method.tunes_inside:
        plan, tested = plan.part_named("outer"), method.outer_method
    leak_kinds: list[Leak] = ["groups", "copies"]
    if method.splits and not tested.respects_time:
        leak_kinds.append("late")
    if method.splits and not tested.respects_space:
        leak_kinds.append("near")
    leaking_rows_by_kind = find_leaks(data, plan, *leak_kinds)
    texts: dict[str, type[LeakWarning]] = {}
    if len(leaking_rows := leaking_rows_by_kind["groups"]):
        texts[
            f"groups are given but method '{method.name}' ignores them: {len(leaking_rows)} rows "
            f"(first: row {leaking_rows[0]}) are tested by models that saw their group. "
            f"{estimate_name} is too good; use a word such as '10-fold' or a Group splitter."
        ] = GroupLeakWarning
    if len(late_rows := leaking_rows_by_kind["late"]):
        texts[
            f"time is given but method '{method.name}' ignores it: "
            f"{len(late_rows)} rows (first: row {late_rows[0]}) are tested by models that saw "
            f"rows of the same or of a later time. {estimate_name} "
            "is too good where rows depend on those before them; use a word such as "
            "'forward-5', or 'purged-5' where later rows are meant to be seen."
        ] = TimeLeakWarning
    if 2 * len(near_rows := leaking_rows_by_kind["near"]) > (
        n_tested := len(leaking_rows_by_kind["apart"])
    ):
        texts[
            f"block is given but method '{method.name}' ignores it: {len(near_rows)} of {n_tested} "
            f"rows (first: row {near_rows[0]}) are tested by models that saw the row next to them. "
            f"{estimate_name} is too good for places away from the training rows; use a word such "
            "as 'blocks-5' or 'buffered'."
        ] = SpaceLeakWarning
    if method.has_given_splits and len(trained_rows := find_overlapping_rows(plan)):
        texts[
            f"{len(trained_rows)} rows (first: row {trained_rows[0]}) are "
            f"tested by models that were trained on "
            f"them, as '{method.name}' has it: the estimate is too good. Give test rows that are "
            "no training rows."
        ] = DuplicateRowsWarning
    if len(leaking_rows := leaking_rows_by_kind["copies"]):
        texts[f"{describe_copies(data, leaking_rows)} Remove the copies, or give groups=."] = (
            DuplicateRowsWarning
        )
    for text, category in texts.items():
        warn(text, category)
    return list(texts)


def warn_of_fitted_parts(family: Family, method: Method) -> None:
    """Warn about model components that keep an earlier fit in every fold.

    They may have been fitted on the test rows.
    """
    fitted_parts = parts_that_stay_fitted(family) if method.splits else []
    if fitted_parts:
        warn(
            f"clone keeps what {', '.join(fitted_parts)} learned, and so does every fold: if it "
            "has seen these rows, the estimate is too good. Give unfitted parts; where it learned "
            "from other rows, ignore this warning.",
            FittedPartWarning,
        )


def parts_that_stay_fitted(family: Family) -> list[str]:
    """Return the components of a model that `clone` does not reset, each as name and class.

    The list is sorted. Only a class that defines `__sklearn_clone__` can stay fitted.
    """
    from sklearn.base import BaseEstimator, clone

    named_components = [("", family.estimator), *family.estimator.get_params(deep=True).items()]
    for setting in family.candidates:
        named_components += setting.items()
    fitted_names = set()
    for parameter_path, component in named_components:
        clone_method = getattr(
            type(component), "__sklearn_clone__", BaseEstimator.__sklearn_clone__
        )
        if clone_method is BaseEstimator.__sklearn_clone__ or not hasattr(component, "fit"):
            continue
        cloned_part = clone(component)
        if cloned_part is component or any(
            attribute.endswith("_") for attribute in vars(cloned_part) if attribute[0] != "_"
        ):
            fitted_names.add(
                f"{parameter_path} ({type(component).__name__})"
                if parameter_path
                else type(component).__name__
            )
    return sorted(fitted_names)
