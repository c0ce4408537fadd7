"""What is validated: a search as it was fitted, or a procedure that is yet to be tested."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from truerisk.api.assessing.own_claim import tunes_inside
from truerisk.api.permuting.asked import posed_model, posed_search
from truerisk.api.road.problem import Problem
from truerisk.api.road.usual_word import usual_word
from truerisk.api.search import HonestSearchCV
from truerisk.core.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.methods.nested import Nested, Pairs
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.words import as_method

__all__ = ["Asked", "asked_of"]


@dataclass(frozen=True, eq=False)
class Asked:
    """The problem, how its settings are compared, and how the procedure is tested.

    `fitted` is the search that was tested already, on these very rows; None where nothing was.
    """

    problem: Problem
    select_by: Method
    testing: Procedure
    fitted: HonestSearchCV | None = None


def asked_of(
    given: Any, X: Any, y: Any, groups: Any, params: dict[str, Any], seed: Any, **order: Any
) -> Asked:
    """A search with its own words; a model by pairs of folds; one that tunes inside by folds.

    `order` are times and places of the rows; where there are any, splits keep rows apart by them.
    """
    if not isinstance(given, HonestSearchCV):
        problem = posed_model(given, X, y, groups, params, random_state=seed, **order)
        usual = usual_word(problem.data)
        in_pairs = not problem.data.dependent and not tunes_inside(problem.family)
        testing: Procedure = Pairs() if in_pairs else Nested(usual, usual)
        return Asked(problem, as_method(usual), testing)
    if given.outer is None:
        raise Refusal(
            "outer=None leaves out the answers about held-out rows, which a validation rests on: "
            "use outer='pairs'."
        )
    problem, select_by, testing = posed_search(given, X, y, groups, params, **order)
    if not hasattr(given, "risk_"):
        return Asked(problem, select_by, testing)
    if given.risk_.data_fingerprint != problem.data.fingerprint:
        raise Refusal(
            "the search was fitted on other rows than these X and y (or with other groups, "
            "weights, times or places): give what it was fitted on, or a search that is not "
            "fitted. Rows that took no part in it are answered by search.predict_proba."
        )
    if given.curve_.candidates != problem.family.candidates:  # a time limit left some out
        family = replace(problem.family, candidates=given.curve_.candidates)
        problem = replace(problem, family=family)
    return Asked(problem, select_by, testing, given)
