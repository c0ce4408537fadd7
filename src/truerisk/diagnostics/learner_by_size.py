"""A learner tested with fewer rows: its sizes, its fits, and its errors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.contracts import FitStore, Method, Streams
from truerisk.core.arguments import is_count, mention
from truerisk.core.errors import (
    BadArgument,
    BadData,
    FitFailed,
    LeakWarning,
    Refusal,
    TrueRiskWarning,
    warn,
)
from truerisk.core.formats import named
from truerisk.core.frozen import frozen
from truerisk.core.progress import listen, stage
from truerisk.data.data import Data
from truerisk.estimation.problem import Problem
from truerisk.estimation.run import Computed, compute, curve_of, procedure_of
from truerisk.intervals.choice import gives
from truerisk.methods.parts.averages import Averaged, influences_by_row
from truerisk.methods.parts.paired_losses import joint_covariance
from truerisk.methods.parts.procedure import Procedure, nested
from truerisk.methods.subsampled import Subsampled
from truerisk.plan.leaks import refuse_known_rows
from truerisk.plan.plan import Plan
from truerisk.results.interval import Basis
from truerisk.results.learning_curve import FEWEST_SIZES, LearningCurve
from truerisk.results.results import RiskEstimate


@frozen(eq=False)
class LearnerBySize:
    """A problem, the splits that test it, and the method that compares its settings, if any."""

    problem: Problem
    method: Averaged
    select_by: Method | None = None
    store: Any = None

    @property
    def n_inner(self) -> int:
        """Number of folds that compare settings within a training set; 0 without tuning."""
        if self.select_by is None or len(self.problem.family) == 1:
            return 0
        return int(getattr(self.select_by, "k", 10))

    def full_size_plan(self) -> Plan:
        """Return the splits with all training rows.

        Raise unless every row is tested equally often.
        """
        plan = self._drawn(self.method)
        if self.method.has_given_splits:
            refuse_known_rows(self.method.name, plan)
        bases = gives(self.method, self.problem.data, plan)
        if self.method.respects_time or not {Basis.MEAN, Basis.EQUALLY_OFTEN} <= bases:
            raise Refusal(
                f"'{self.method.name}' does not test all rows equally often (splits that go "
                "forward in time mix more rows with later ones): use folds, such as '10-fold' or "
                "'5x10-fold'."
            )
        return plan

    def cut(self, n_train: int) -> Plan:
        """Return the splits with this number of training rows."""
        return self._drawn(Subsampled(n_train, self.method))

    def _drawn(self, method: Method) -> Plan:
        streams = Streams(self.problem.seed)
        if self.select_by is not None:
            streams = streams.child("outer")  # `Nested` draws its outer folds from this stream.
        return method.plan(self.problem.data, streams)

    def testing(self, n_train: int) -> Method:
        """Return the method that tests fits on this number of rows, tuned or not."""
        cut = Subsampled(n_train, self.method)
        return cut if self.select_by is None else nested(cut, self.select_by)

    def plans(self, n_train: int) -> list[tuple[Plan, int]]:
        """Return the plans of fits on this number of rows, with their numbers of settings."""
        problem, method = self.problem, self.testing(n_train)
        plan, settings = method.plan(problem.data, Streams(problem.seed)), len(problem.family)
        if not isinstance(method, Procedure):
            return [(plan, settings)]
        parts = [(plan.part_named("outer"), 1)]
        if method.asks_inside(settings):
            parts.append((plan.part_named("inner"), settings))
        return parts


def testing(method: Any) -> Averaged:
    """Return the method, or raise if its training sets cannot be cut."""
    return Subsampled(1, method).method


MOST_SIZES = 8
CLOSEST = 1.25  # minimum ratio of two neighbouring sizes
WIDEST = 16  # ratio of the largest to the smallest
FEWEST = 10


def checked_sizes(sizes: Any, whole: Plan) -> list[int]:
    """Return the requested sizes in ascending order; raise if one exceeds the training sets."""
    if isinstance(sizes, str) or not isinstance(sizes, Sequence | np.ndarray):
        raise BadArgument(f"{mention('sizes', sizes)}: give a list of numbers of training rows.")
    numbers = np.asarray(sizes).tolist()
    if not all(is_count(size) for size in numbers):
        raise BadArgument(
            f"{mention('sizes', sizes)}: they are numbers of training rows, whole and at least one."
        )
    each, most = sorted(set(numbers)), int(whole.train_sizes.max())
    if len(each) < FEWEST_SIZES:
        raise BadArgument(
            f"{mention('sizes', sizes)}: the law a + b n^-c has three unknowns, and {len(each)} "
            f"sizes do not determine them: give at least {FEWEST_SIZES}."
        )
    if each[-1] > most:
        raise BadData(
            f"{mention('sizes', sizes)}: there are no {each[-1]} training rows. Of {whole.n_rows} "
            f"rows the training sets hold {most} at most, since the others test; curve.at(n) says "
            "what to expect of more."
        )
    return each


def usual_sizes(learner: LearnerBySize, whole: Plan) -> list[int]:
    """Return at most eight sizes, in a geometric series up to all training rows."""
    most, data = int(whole.train_sizes.max()), learner.problem.data
    least = max(_fewest_rows(data, tuned=learner.n_inner), -(-most // WIDEST))
    least = _fitted_from(learner, least, most)
    steps = int(np.log(max(1.0, most / least)) / np.log(CLOSEST) + 1e-9)
    if steps + 1 < FEWEST_SIZES:
        raise BadData(
            f"{most} training rows are too few for a learning curve: the smallest size that keeps "
            f"some rows of every class, group and inner fold is {least}. sizes= of "
            "tr.learning_curve overrides that."
        )
    return [round(size) for size in np.geomspace(least, most, min(MOST_SIZES, steps + 1))]


def _fitted_from(learner: LearnerBySize, least: int, most: int) -> int:
    """Return the smallest size that every setting can be fitted on: 25 neighbours need 25 rows.

    If this leaves too few sizes, it is `least`, and the fits report what is wrong.
    """
    size = least
    while size * CLOSEST ** (FEWEST_SIZES - 1) <= most:
        try:
            plan = learner.plans(size)[-1][0]
            part = plan.select(np.flatnonzero(plan.fit == plan.train_sizes.argmin()))
            with listen(None), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                learner.problem.asking(executor=None)(part, None)
        except FitFailed:
            size = int(np.ceil(size * CLOSEST))
        else:
            return size
    return least


def _fewest_rows(data: Data, tuned: int) -> int:
    """Return the number of rows that contain every class and several groups.

    There are two for each of `tuned` inner folds. A stratified part of m rows has m times the share
    of a class, to within less than 2.
    """
    least = max(FEWEST, 2 * tuned)
    if data.codes is not None:
        rarest = data.class_sizes.min()
        least = max(least, -(-(3 if tuned else 2) * data.n_rows // int(max(1, rarest))))
    if data.groups is not None:
        n_groups = len(np.unique(data.groups))
        least = max(least, -(-(tuned + 2) * data.n_rows // n_groups))  # Folds contain whole groups.
    return int(least)


def measure(
    learner: LearnerBySize, sizes: Sequence[int], fit_store: FitStore | None
) -> LearningCurve:
    """Measure every size separately, the smallest first, so that failing fits are found early."""
    runs: list[Computed] = []
    estimates: list[RiskEstimate] = []
    for size in sizes:
        with (
            named(f"with {size} training rows (see sizes=)"),
            stage(f"{size} rows"),
            warnings.catch_warnings(),
        ):
            if size != sizes[-1]:  # Warnings about the rows are given once, with the largest size.
                warnings.simplefilter("ignore", LeakWarning)
            _warn_of_missing_classes(learner, size)
            problem = replace(learner.problem, calibrated=True)
            each = compute(problem, learner.testing(size), fit_store=fit_store)
            runs.append(each)
            estimates.append(_estimate(each))
    plans = [each.all_answers.plan for each in runs]
    rows = np.array([plan.train_sizes[plan.fit].mean() for plan in plans])
    if (np.diff(rows) <= 0).any():
        at = int(np.flatnonzero(np.diff(rows) <= 0)[0])
        raise BadData(
            f"sizes {sizes[at]} and {sizes[at + 1]} are fitted on equally many rows, "
            f"{rows[at]:.4g} on average, since groups stay whole: give sizes further apart."
        )
    covariance, why = _covariance(learner, runs, estimates)
    loss = learner.problem.loss
    curve = LearningCurve(
        sizes=rows,
        estimates=tuple(estimates),
        covariance=covariance,
        confidence_level=learner.problem.confidence_level,
        lower=loss.lower,
        upper=loss.upper,
        lacking=None if why is None else f"{why}: there is no band.",
    )
    try:
        if curve.law is not None:
            curve.law.check()
    except Refusal as refusal:  # A law that does not fit is omitted.
        return replace(curve, lacking=str(refusal))
    return curve


def _estimate(computed: Computed) -> RiskEstimate:
    estimate = procedure_of(computed) or curve_of(computed)[0]
    if estimate.value is None or not np.isfinite(estimate.value):
        failure = next((note for note in estimate.notes if "failed" in note), "some fits failed.")
        raise Refusal(f"{failure} Leave small sizes out of sizes=.")
    return estimate


def _covariance(
    learner: LearnerBySize, computations: Sequence[Computed], estimates: Sequence[RiskEstimate]
) -> tuple[np.ndarray | None, str | None]:
    loss, data = computations[0].problem.loss, learner.problem.data
    average = learner.method.average_of(loss)
    if not (loss.per_row or (loss.tells_influences and (average == "fold" or loss.one_scale))):
        return None, f"loss '{loss.name}' has no formula for what a single row does to it"
    every = [
        influences_by_row(computed.all_answers, data, loss, average) for computed in computations
    ]
    influences = np.stack([lines[0] for _, lines in every])
    if data.time is not None or learner.method.respects_time:
        return None, "rows depend on each other in time"
    groups = None if data.clusters is None else data.clusters[every[0][0]]
    values = np.array([computed.loss_value for computed in estimates], dtype=float)
    covariance = joint_covariance(influences, values, groups, loss)
    return (
        covariance,
        None if covariance is not None else "at some size all rows have the same loss",
    )


def _warn_of_missing_classes(learner: LearnerBySize, size: int) -> None:
    """Warn how many fits see no row of a class, which they never predict, or fail."""
    data = learner.problem.data
    if data.codes is None:
        return
    plan = learner.cut(size)
    classes = np.arange(data.n_classes)
    has_class = np.array(
        [np.isin(classes, data.codes_of(plan.train_rows(fit)[0])) for fit in range(plan.n_fits)]
    )
    lacking = (~has_class).sum(axis=0)
    if lacking.any():
        worst = int(lacking.argmax())
        warn(
            f"with {size} training rows {lacking[worst]} of {plan.n_fits} fits have no row of "
            f"class {data.label(worst)!r}: leave such small sizes out (sizes=).",
            TrueRiskWarning,
        )
