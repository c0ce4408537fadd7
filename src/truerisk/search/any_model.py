"""Conversion of a search or any other model, with its rows, into an estimation problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.core.errors import Refusal
from truerisk.core.family import Family, tunes_inside
from truerisk.core.identity import is_honest_search
from truerisk.estimation.problem import EstimationProblem, problem_from_arguments
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.procedure import make_nested_procedure
from truerisk.methods.words import as_method, name_default_method
from truerisk.search.search_problem import problem_from_search, sort_fit_arguments


def problem_from_model(
    model: Any,
    X: Any,
    y: Any,
    groups: Any,
    params: dict[str, Any],
    *,
    random_state: Any = 0,
    **row_order: Any,
) -> EstimationProblem:
    """Return the estimation problem of a HonestSearchCV or of any other model.

    A HonestSearchCV uses its own options. Any other model is tested by leaving out pairs of its
    default folds. A model that tunes inside its own fit, as searches of other libraries do, is
    tested by plain folds. `row_order` holds the times and places of the rows; if there are any, the
    splits respect them.
    """
    if is_honest_search(model):
        problem, _ = problem_from_search(
            model, y, sort_fit_arguments(model, X, groups, params, **row_order)
        )
        if model.param_grid is None and tunes_inside(problem.family):
            raise Refusal(
                f"{problem.family.name} tunes inside its own fit: give it as it is, without "
                "HonestSearchCV around it."
            )
        return problem
    sample_weight = params.pop("sample_weight", None)
    if params:
        raise Refusal(
            f"{', '.join(params)}: fit parameters go to a HonestSearchCV; of another model "
            "only sample_weight is known."
        )
    row_attributes = {"groups": groups, "sample_weight": sample_weight, **row_order}
    problem = problem_from_arguments(
        Family.from_grid(model), X, y, random_state=random_state, is_event=True, **row_attributes
    )
    default_method = name_default_method(problem.data)
    uses_pairs = not problem.data.dependent and not tunes_inside(problem.family)
    testing_method = (
        Pairs() if uses_pairs else make_nested_procedure(default_method, default_method)
    )
    return replace(problem, tuning_method=as_method(default_method), testing_method=testing_method)
