"""What tuned learners say of rows that took part in neither their tuning nor their fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from truerisk.api.compute import Problem
from truerisk.core import present
from truerisk.core.answers import Answers
from truerisk.core.calibration import Calibration
from truerisk.core.contracts import Request, Run
from truerisk.core.errors import FitFailed, Refusal
from truerisk.core.plan import Plan
from truerisk.core.roc import RocCurve
from truerisk.engines.choice import choose_engine
from truerisk.methods.tuning import by_fit

__all__ = ["OutOfFold", "calibration_of", "out_of_fold", "roc_of"]

POOLED = "scores of different models are pooled: their scales may differ from fold to fold."
OVERLAP = (
    "the interval takes the rows as tests of one rule; it does not count that every fold had one "
    "of its own, trained on rows that overlap."
)


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """One answer per row of `rows`, by the model of outer split `split` that did not see the row.

    `values` are class probabilities (a column per class) or decision values of the second class,
    as `response` says. Rows that were tested more often keep their first test.
    """

    response: Literal["probability", "score"]
    rows: np.ndarray
    split: np.ndarray
    values: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        """Higher means rather the second class."""
        return self.values if self.values.ndim == 1 else self.values[:, 1]


def out_of_fold(
    problem: Problem, tested: Answers | None, chosen: Any, *, compared_inside: bool
) -> OutOfFold | None:
    """Fit each outer split's winner again and keep probabilities, or decision values.

    `tested` are the answers of the outer splits, `chosen` the candidate of each, and
    `compared_inside` says whether inner splits were asked before them. The models are those that
    were tested: same rows, same settings, same seeds. None for regression, where a fit failed, and
    for a model that gives neither.
    """
    if problem.data.task != "classification" or tested is None:
        return None
    plan, settings = tested.plan, np.asarray(chosen)
    if plan.n_questions != len(settings) or not tested.answered.all():
        return None
    if tested.response == "probability":
        return _first(plan, tested.values[0], "probability")
    kinds: tuple[Literal["probability", "score"], ...] = ("probability", "score")
    for response in kinds if problem.data.n_classes == 2 else kinds[:1]:
        try:
            answers = _ask(problem, plan, settings, response, int(compared_inside))
        except (FitFailed, Refusal):  # the model gives no such answers
            continue
        if answers.answered.all() and np.isfinite(answers.values).all():
            return _first(plan, answers.values[0], response)
    return None


def roc_of(found: OutOfFold, problem: Problem) -> RocCurve | None:
    """The ROC curve of the second class; None but for two classes that were both tested."""
    data = problem.data
    if data.n_classes != 2 or len(np.unique(data.codes_of(found.rows))) < 2:
        return None
    curve = RocCurve.of(
        data.codes_of(found.rows),
        found.scores,
        weights=data.weights(found.rows),
        groups=None if data.groups is None else data.groups[found.rows],
        rows=found.rows,
        confidence_level=problem.confidence_level,
        method=f"out-of-fold {'probabilities' if found.response == 'probability' else 'scores'}",
        notes=(OVERLAP,) if found.response == "probability" else (POOLED, OVERLAP),
    )
    return replace(curve, positive=present.plain(data.label(1)))


def calibration_of(found: OutOfFold, problem: Problem) -> Calibration | None:
    """Calibration of the second of two classes, or of the answered one of several."""
    data = problem.data
    if found.response != "probability":
        return None
    codes = data.codes_of(found.rows)
    if data.n_classes == 2:
        event, came, given = str(data.label(1)), codes == 1, found.values[:, 1]
    else:
        event = "the most probable class"
        came, given = found.values.argmax(axis=1) == codes, found.values.max(axis=1)
    return Calibration.of(
        came,
        np.clip(given, 0, 1),
        event=event,
        weights=data.weights(found.rows),
        dependent=data.groups is not None,
        confidence_level=problem.confidence_level,
    )


def _ask(problem: Problem, plan: Plan, settings: np.ndarray, response: Any, before: int) -> Answers:
    """The winners' answers, by whichever engine gives them, with the seed of that very pass."""
    request = Request(response)
    engine, _ = choose_engine("auto", problem.family, problem.data, plan, request)
    seed = np.random.SeedSequence([problem.seed, before]).generate_state(1)[0]
    run = Run(problem.executor, int(seed), by_fit(plan, settings))
    return engine.run(problem.family, problem.data, plan, request, run)


def _first(plan: Plan, values: np.ndarray, response: Any) -> OutOfFold:
    rows = np.concatenate([plan.test_rows(q)[0] for q in range(plan.n_questions)])
    split = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    kept, first = np.unique(rows, return_index=True)
    return OutOfFold(response, kept, split[first], values[first])
