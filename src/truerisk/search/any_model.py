"""Turn a search or any other model, with its rows, into a problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.core.errors import Refusal
from truerisk.core.family import Family, tunes_inside
from truerisk.core.identity import is_honest_search
from truerisk.estimation.problem import Problem, pose
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.procedure import nested
from truerisk.methods.words import as_method, default_name
from truerisk.search.search_problem import problem_of_search, route


def problem_of_any(
    searched: Any,
    X: Any,
    y: Any,
    groups: Any,
    params: dict[str, Any],
    *,
    random_state: Any = 0,
    **order: Any,
) -> Problem:
    """Return the problem of a search of this package, or of any other model.

    A HonestSearchCV uses its own options. Any other model is tested by pairs of its default folds;
    a model that tunes inside its own fit, as searches of other libraries do, is tested by plain
    folds. `order` holds the times and places of the rows; if there are any, the splits respect
    them.
    """
    if is_honest_search(searched):
        problem, _ = problem_of_search(searched, y, route(searched, X, groups, params, **order))
        if searched.param_grid is None and tunes_inside(problem.family):
            raise Refusal(
                f"{problem.family.name} tunes inside its own fit: give it as it is, without "
                "HonestSearchCV around it."
            )
        return problem
    weight = params.pop("sample_weight", None)
    if params:
        raise Refusal(
            f"{', '.join(params)}: fit parameters go to a HonestSearchCV; of another model "
            "only sample_weight is known."
        )
    rows = {"groups": groups, "sample_weight": weight, **order}
    problem = pose(
        Family.from_grid(searched), X, y, random_state=random_state, is_event=True, **rows
    )
    usual = default_name(problem.data)
    in_pairs = not problem.data.dependent and not tunes_inside(problem.family)
    testing = Pairs() if in_pairs else nested(usual, usual)
    return replace(problem, select_by=as_method(usual), testing=testing)
