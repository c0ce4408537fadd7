"""A search and its rows as a problem: the checked data, and what was asked for on them."""

from __future__ import annotations

from typing import Any

from truerisk.api.road.problem import Problem, problem_on, refuse_unspoken
from truerisk.api.road.provenance import as_seed
from truerisk.api.searching.failed_fits import engine_for
from truerisk.api.searching.grid_search_words import Worded
from truerisk.api.searching.own_score import OwnScore, Scorer, makes_predictions, on, on_each
from truerisk.api.searching.refit_rule import check_chooser
from truerisk.api.searching.routing import Routed
from truerisk.api.searching.settings import family_of
from truerisk.api.searching.several_scores import are_several, by_function
from truerisk.core.table.data import Data, Task

__all__ = ["posed"]


def posed(search: Any, X: Any, y: Any, asked: Worded, routed: Routed) -> tuple[Problem, bool]:
    """The problem of a search, and whether its `scoring` asks for several scores."""
    seed = as_seed(search.random_state)  # of a Generator once: it would draw another each time
    family = family_of(search, seed)
    scored = isinstance(asked.loss, OwnScore | Scorer) and not makes_predictions(search.estimator)
    weights = {"sample_weight": routed.sample_weight}
    task: Task = "other" if scored else family.task
    own = family.takes_y_as_given
    data = Data.check(X, y, task=task, as_given=own, **routed.of_rows, **weights)
    loss, scores = asked.loss, asked.scores
    if isinstance(loss, Scorer) and (several := by_function(loss.function, data)):
        check_chooser(search.refit, several, search.outer)
        scores = {name: Scorer(one) for name, one in several.items()}
        loss = scores.get(search.refit) or next(iter(scores.values()))
    problem = problem_on(
        data,
        family,
        loss=on(loss, data, search.positive),
        scores=on_each(scores, data, search.positive),
        positive=search.positive,
        rule=search.rule,
        fit_params=routed.fit,
        interval=search.interval,
        confidence_level=search.confidence_level,
        engine=engine_for(search.engine, search.error_score, search.outer),
        executor=asked.executor,
        random_state=seed,
        **weights,
    )
    refuse_unspoken(problem)
    return problem, scores is not asked.scores or are_several(search.scoring)
