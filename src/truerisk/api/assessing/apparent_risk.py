"""The apparent risk: that of one setting on the very rows that it was fitted on."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from truerisk.api.road.compute import Computed, curve_of
from truerisk.api.road.problem import Problem, loss_by
from truerisk.core.contracts import Keeper, Streams, Terms
from truerisk.core.errors import FitFailed, NoEngine
from truerisk.core.evaluation import Evaluation
from truerisk.core.family import Family
from truerisk.core.results import RiskEstimate
from truerisk.methods.single_fit import Apparent

__all__ = ["apparent_risk"]


def apparent_risk(
    problem: Problem, candidate: int, keeper: Keeper | None = None
) -> RiskEstimate | None:
    """The risk of one setting on the rows of its fit; None where that fails or is refused."""
    started, method = time.perf_counter(), Apparent()
    problem = replace(problem, loss=loss_by(method, problem), scores={})
    data = problem.data
    plan = method.plan(data, Streams(problem.seed))
    asking = problem.asking(keeper=keeper)
    try:
        answers = asking(plan, np.full(plan.n_fits, candidate))
    except (FitFailed, NoEngine):
        return None
    terms = Terms(problem.confidence_level, problem.rule, 1)
    tested = tuple(method.reduce(answers, data, problem.loss, terms))
    alone = Family(problem.family.estimator, (problem.family.candidates[candidate],))
    computed = Computed(
        replace(problem, family=alone),
        method,
        Evaluation(plan, tested, answers.n_fits, answers=answers),
        asking.engine,
        asking.refusals,
        time.perf_counter() - started,
        answers.n_fits,
    )
    return curve_of(computed)[0]
