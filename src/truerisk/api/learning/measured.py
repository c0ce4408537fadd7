"""The risk at each size, by the same folds, and how the errors of all of them go together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from truerisk.api.learning.tested_learner import TestedLearner
from truerisk.api.road.run import Computed, curve_of, procedure_of
from truerisk.core.contracts import Keeper
from truerisk.core.errors import (
    BadData,
    LeakWarning,
    Refusal,
    TrueRiskWarning,
    named,
)
from truerisk.core.learning_curve import LearningCurve
from truerisk.core.progress import stage
from truerisk.core.results import RiskEstimate
from truerisk.core.warned import warn
from truerisk.methods.parts.averages import influences_by_row
from truerisk.methods.parts.paired_losses import joint_covariance

__all__ = ["measure"]


def measure(learner: TestedLearner, sizes: Sequence[int], keeper: Keeper | None) -> LearningCurve:
    """Every size by itself, the smallest first: what cannot be fitted is known early."""
    found: list[Computed] = []
    estimates: list[RiskEstimate] = []
    for size in sizes:
        with (
            named(f"with {size} training rows (see sizes=)"),
            stage(f"{size} rows"),
            _said_once(size == sizes[-1]),
        ):
            _warn_of_missing_classes(learner, size)
            one = learner.run(size).test(keeper=keeper).honest
            found.append(one)
            estimates.append(_estimate(one))
    rows = np.array([one.answers.plan.train_sizes[one.answers.plan.fit].mean() for one in found])
    if (np.diff(rows) <= 0).any():
        at = int(np.flatnonzero(np.diff(rows) <= 0)[0])
        raise BadData(
            f"sizes {sizes[at]} and {sizes[at + 1]} are fitted on as many rows, {rows[at]:.4g} on "
            "average, since groups stay whole: give sizes further apart."
        )
    covariance, why = _covariance(learner, found, estimates)
    loss = learner.problem.loss
    return _with_law(
        LearningCurve(
            sizes=rows,
            estimates=tuple(estimates),
            covariance=covariance,
            confidence_level=learner.problem.confidence_level,
            lower=loss.lower,
            upper=loss.upper,
            lacking=None if why is None else f"{why}: there is no band.",
        )
    )


def _with_law(curve: LearningCurve) -> LearningCurve:
    """The curve, whose law is left out where it does not fit."""
    try:
        if curve.law is not None:
            curve.law.check()
    except Refusal as refusal:
        return replace(curve, lacking=str(refusal))
    return curve


def _estimate(computed: Computed) -> RiskEstimate:
    estimate = procedure_of(computed) or curve_of(computed)[0]
    if estimate.value is None or not np.isfinite(estimate.value):
        said = next((note for note in estimate.notes if "failed" in note), "some fits failed.")
        raise Refusal(f"{said} sizes= leaves small sizes out.")
    return estimate


def _covariance(
    learner: TestedLearner, found: Sequence[Computed], estimates: Sequence[RiskEstimate]
) -> tuple[np.ndarray | None, str | None]:
    loss, data = found[0].problem.loss, learner.problem.data
    average = learner.method.average_of(loss)
    if not (loss.per_row or (loss.tells_influences and (average == "fold" or loss.one_scale))):
        return None, f"loss '{loss.word}' does not tell what each row does to it"
    every = [influences_by_row(one.answers, data, loss, average) for one in found]
    influences = np.stack([lines[0] for _, lines in every])
    if data.time is not None or learner.method.respects_time:
        return None, "rows depend on each other in time"
    groups = None if data.clusters is None else data.clusters[every[0][0]]
    values = np.array([one.value for one in estimates], dtype=float)
    covariance = joint_covariance(influences, values, groups, loss)
    return (
        covariance,
        None if covariance is not None else "at some size all rows have the same loss",
    )


@contextmanager
def _said_once(last: bool) -> Iterator[None]:
    """What is said of the rows is said with the largest size, and not with each."""
    with warnings.catch_warnings():
        if not last:
            warnings.simplefilter("ignore", LeakWarning)
        yield


def _warn_of_missing_classes(learner: TestedLearner, size: int) -> None:
    """Say how many fits see no row of a class: they never answer it, or fail."""
    data = learner.problem.data
    if data.codes is None:
        return
    plan = learner.cut(size)
    classes = np.arange(data.n_classes)
    held = np.array(
        [np.isin(classes, data.codes_of(plan.train_rows(fit)[0])) for fit in range(plan.n_fits)]
    )
    lacking = (~held).sum(axis=0)
    if lacking.any():
        worst = int(lacking.argmax())
        warn(
            f"with {size} training rows {lacking[worst]} of {plan.n_fits} fits see no row of class "
            f"{data.label(worst)!r}: give sizes= from more rows on.",
            TrueRiskWarning,
        )
