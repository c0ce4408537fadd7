"""The apparent risk: that of one setting on the very rows that it was fitted on."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from truerisk.api.road.problem import Problem, drawn
from truerisk.api.road.run import Computed, curve_of
from truerisk.core.contracts import Keeper, Terms
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
    problem, _, plan = drawn(replace(problem, scores={}, interval=None), method)
    data = problem.data
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
