"""How a search compares its settings on all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.api.road.problem import Problem
from truerisk.api.road.scorecard import told_by
from truerisk.core.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.methods.interval_forms import as_form
from truerisk.methods.nested import Nested
from truerisk.methods.words import as_method

__all__ = ["as_grid_search_averages", "of_tuning"]


def of_tuning(problem: Problem, method: Method) -> Problem:
    """The problem of tuning: of intervals only one that counts the choice belongs to it."""
    counted = problem.interval is not None and as_form(problem.interval).counts_choice
    return replace(
        problem,
        interval=problem.interval if counted else None,
        scores=told_by(method, problem.scores, problem.data),
    )


def as_grid_search_averages(select_by: Any) -> Method:
    """The method, losses of rows as means over folds unless a Method says otherwise.

    That is GridSearchCV's mean. Ratios, such as F1, stay of all answers, as the honest risk is.
    """
    method = as_method(select_by)
    if isinstance(method, Nested):
        raise Refusal(
            f"select_by='{method.word}' tests what was tuned inside, and rates no setting on all "
            f"rows: use select_by='{method.inner_method.word}' with "
            f"outer='{method.outer_method.word}'."
        )
    if isinstance(select_by, Method) or getattr(method, "average", "") is not None:
        return method
    return replace(method, average="rows by fold")  # type: ignore[type-var]
