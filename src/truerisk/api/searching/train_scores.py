"""`return_train_score`: the scores of every fit on the rows that it was fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truerisk.api.road.compute import Computed, compute
from truerisk.api.road.problem import Problem, method_of
from truerisk.core.answers import Answers
from truerisk.core.contracts import Keeper, Streams
from truerisk.core.plan.training_rows import with_training_rows
from truerisk.methods.parts.set_risks import split_risks

__all__ = ["computed_with_train_scores"]


def computed_with_train_scores(
    problem: Problem,
    method: Any,
    *,
    keeper: Keeper | None = None,
    known: Sequence[Answers | None] = (),
) -> tuple[Computed, list[np.ndarray]]:
    """What `compute` finds, and the scores of every setting on the train set of every split.

    Those of the loss, and of each further score.
    """
    plan = method_of(problem, method).plan(problem.data, Streams(problem.seed))
    answers = problem.asking(keeper=keeper, known=known)(with_training_rows(plan))
    questions = np.arange(plan.n_questions)
    computed = compute(problem, method, plan=plan, known=[answers.only(questions)])
    trained = answers.only(questions + plan.n_questions)
    told = zip((trained, *trained.also), computed.problem.losses, strict=True)
    return computed, [
        np.asarray(loss.score(split_risks(answers, problem.data, loss))) for answers, loss in told
    ]
