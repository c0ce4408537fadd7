"""The tuned procedure and its data, of a search or of a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.api.assessing.own_claim import tunes_inside
from truerisk.api.road.problem import Problem, loss_by, pose
from truerisk.api.road.testing_method import testing_method
from truerisk.api.road.usual_word import usual_word
from truerisk.api.search import HonestSearchCV
from truerisk.api.searching.grid_search_words import compared_by, worded
from truerisk.api.searching.posed import posed
from truerisk.api.searching.routing import route
from truerisk.api.searching.tuning import as_grid_search_averages
from truerisk.core.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.methods.nested import Pairs
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.words import as_method

__all__ = ["asked_of", "posed_model", "posed_search"]


def asked_of(
    search: Any, X: Any, y: Any, groups: Any, params: dict[str, Any], time: Any = None
) -> tuple[Problem, Method]:
    """What is computed anew on every permutation: the honest risk of a search, the risk of a model.

    A search of another library is a model that tunes inside its own fit.
    """
    problem, method = _asked_and_tested(search, X, y, groups, params, time)
    problem = replace(problem, loss=loss_by(method, problem))
    method.check(problem.data, problem.loss)
    return problem, method


def _asked_and_tested(
    search: Any, X: Any, y: Any, groups: Any, params: dict[str, Any], time: Any
) -> tuple[Problem, Method]:
    if not isinstance(search, HonestSearchCV):
        problem = posed_model(search, X, y, groups, params, time=time)
        return problem, as_method(usual_word(problem.data))
    _refuse(search)
    problem, _, testing = posed_search(search, X, y, groups, params, time=time)
    if isinstance(testing, Pairs) and len(problem.family) == 1:
        return problem, testing.outer_method  # nothing is chosen: pairs would tell nothing more
    return problem, testing


def posed_model(
    model: Any,
    X: Any,
    y: Any,
    groups: Any,
    params: dict[str, Any],
    *,
    random_state: Any = 0,
    **order: Any,
) -> Problem:
    """The problem of a model that is no search of ours; `order` are times and places of rows."""
    weight = params.pop("sample_weight", None)
    if params:
        raise Refusal(
            f"{', '.join(params)}: fit parameters go to a HonestSearchCV; of another model "
            "only sample_weight is known."
        )
    given = {"groups": groups, "sample_weight": weight, "random_state": random_state}
    return pose(Family.of(model), X, y, **given, **order)


def posed_search(
    search: HonestSearchCV, X: Any, y: Any, groups: Any, params: dict[str, Any], **order: Any
) -> tuple[Problem, Method, Procedure]:
    """The problem of a search, how it compares its settings, and how it is tested."""
    routed = route(search, groups, params, **order)
    problem, _ = posed(search, X, y, worded(search, y), routed)
    if search.param_grid is None and tunes_inside(problem.family):
        raise Refusal(
            f"{problem.family.name} tunes inside its own fit: give it as it is, without "
            "HonestSearchCV around it."
        )
    usual = usual_word(problem.data)
    select_by = as_grid_search_averages(compared_by(search, y, usual))
    return problem, select_by, testing_method(search.outer, select_by, usual)


def _refuse(search: HonestSearchCV) -> None:
    """Refuse a search without an honest risk, or whose risk does not depend on the labels alone."""
    if search.outer is None:
        raise Refusal("outer=None leaves out the risk that would be tested: use outer='pairs'.")
    if search.time_limit is not None:
        raise Refusal(
            "time_limit: a clock would decide how much of each permutation is searched: leave it "
            "out, and use fewer settings."
        )
    if search.error_score != "raise":
        raise Refusal(
            "error_score: a permutation whose fits fail has no risk to count: use "
            "error_score='raise'."
        )
