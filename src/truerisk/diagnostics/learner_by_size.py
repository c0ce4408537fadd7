"""Test an estimator on training sets of several sizes, to measure its learning curve."""

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
from truerisk.core.formats import prefix_errors
from truerisk.core.frozen import frozen
from truerisk.core.progress import listen, stage
from truerisk.data.data import Data
from truerisk.estimation.problem import EstimationProblem
from truerisk.estimation.run import Computation, compute_risks, to_procedure_estimate, to_risk_curve
from truerisk.intervals.choice import provided_evidence
from truerisk.methods.parts.averages import Averaged, influences_by_row
from truerisk.methods.parts.paired_losses import joint_covariance
from truerisk.methods.parts.procedure import Procedure, make_nested_procedure
from truerisk.methods.subsampled import Subsampled
from truerisk.plan.leaks import refuse_overlapping_rows
from truerisk.plan.plan import Plan
from truerisk.results.interval import Basis
from truerisk.results.learning_curve import MIN_N_SIZES, LearningCurve
from truerisk.results.results import RiskEstimate


@frozen(eq=False)
class LearnerBySize:
    """Estimator to be tested at several training sizes, with the methods that test and tune it."""

    problem: EstimationProblem
    method: Averaged
    select_by: Method | None = None
    store: Any = None

    @property
    def n_inner_folds(self) -> int:
        """Number of inner folds used to choose a setting in a training set; 0 without tuning."""
        if self.select_by is None or len(self.problem.family) == 1:
            return 0
        return int(getattr(self.select_by, "k", 10))

    def full_size_plan(self) -> Plan:
        """Return the splits with full training sets; raise if they test rows unequally often.

        Every row must be in equally many test sets.
        """
        plan = self._draw_plan(self.method)
        if self.method.has_given_splits:
            refuse_overlapping_rows(self.method.name, plan)
        provided_bases = provided_evidence(self.method, self.problem.data, plan)
        if self.method.respects_time or not {Basis.MEAN, Basis.EQUALLY_OFTEN} <= provided_bases:
            raise Refusal(
                f"'{self.method.name}' does not test all rows equally often (splits that go "
                "forward in time mix more rows with later ones): use folds, such as '10-fold' or "
                "'5x10-fold'."
            )
        return plan

    def subsampled_plan(self, n_train: int) -> Plan:
        """Return the splits of the method with training sets reduced to `n_train` random rows."""
        return self._draw_plan(Subsampled(n_train, self.method))

    def _draw_plan(self, method: Method) -> Plan:
        random_streams = Streams(self.problem.seed)
        if self.select_by is not None:
            random_streams = random_streams.child(
                "outer"
            )  # `Nested` uses the child stream "outer" for its outer folds.
        return method.plan(self.problem.data, random_streams)

    def method_for_size(self, n_train: int) -> Method:
        """Return the method that tests fits on `n_train` rows, including any tuning in the fits."""
        subsampled_method = Subsampled(n_train, self.method)
        return (
            subsampled_method
            if self.select_by is None
            else make_nested_procedure(subsampled_method, self.select_by)
        )

    def plans(self, n_train: int) -> list[tuple[Plan, int]]:
        """Return the plans of all fits on `n_train` rows, each with its number of settings."""
        problem, method = self.problem, self.method_for_size(n_train)
        plan, n_settings = method.plan(problem.data, Streams(problem.seed)), len(problem.family)
        if not isinstance(method, Procedure):
            return [(plan, n_settings)]
        plans_with_n_settings = [(plan.part_named("outer"), 1)]
        if method.asks_inside(n_settings):
            plans_with_n_settings.append((plan.part_named("inner"), n_settings))
        return plans_with_n_settings


def subsampleable_method(method: Any) -> Averaged:
    """Return the method, or raise an error if its training sets cannot be subsampled."""
    return Subsampled(1, method).method


MAX_SIZES = 8
MIN_SIZE_RATIO = 1.25  # Each training size is at least MIN_SIZE_RATIO times the next smaller one.
MAX_SIZE_RATIO = 16  # The largest training size is at most MAX_SIZE_RATIO times the smallest.
MIN_TRAINING_ROWS = 10


def checked_sizes(sizes: Any, full_size_plan: Plan) -> list[int]:
    """Return the requested training sizes, ascending; raise if they are invalid or too large."""
    if isinstance(sizes, str) or not isinstance(sizes, Sequence | np.ndarray):
        raise BadArgument(f"{mention('sizes', sizes)}: give a list of numbers of training rows.")
    listed_sizes = np.asarray(sizes).tolist()
    if not all(is_count(training_size) for training_size in listed_sizes):
        raise BadArgument(
            f"{mention('sizes', sizes)}: they are numbers of training rows, whole and at least one."
        )
    distinct_sizes, largest_train_size = (
        sorted(set(listed_sizes)),
        int(full_size_plan.train_sizes.max()),
    )
    if len(distinct_sizes) < MIN_N_SIZES:
        raise BadArgument(
            f"{mention('sizes', sizes)}: the law a + b n^-c has three unknowns, and "
            f"{len(distinct_sizes)} sizes do not determine them: give at least {MIN_N_SIZES}."
        )
    if distinct_sizes[-1] > largest_train_size:
        raise BadData(
            f"{mention('sizes', sizes)}: there are no {distinct_sizes[-1]} training rows. Of "
            f"{full_size_plan.n_rows} rows the training sets hold {largest_train_size} at most, "
            "since the others test; curve.at(n) says what to expect of more."
        )
    return distinct_sizes


def usual_sizes(learner: LearnerBySize, full_size_plan: Plan) -> list[int]:
    """Return at most eight training sizes, in a geometric series up to all training rows."""
    largest_size, data = int(full_size_plan.train_sizes.max()), learner.problem.data
    smallest_size = max(
        _min_training_size(data, n_inner_folds=learner.n_inner_folds),
        -(-largest_size // MAX_SIZE_RATIO),
    )
    smallest_size = _smallest_fittable_size(learner, smallest_size, largest_size)
    n_steps = int(np.log(max(1.0, largest_size / smallest_size)) / np.log(MIN_SIZE_RATIO) + 1e-9)
    if n_steps + 1 < MIN_N_SIZES:
        raise BadData(
            f"{largest_size} training rows are too few for a learning curve: the smallest size "
            f"that keeps some rows of every class, group and inner fold is {smallest_size}. sizes= "
            "of tr.learning_curve overrides that."
        )
    return [
        round(training_size)
        for training_size in np.geomspace(smallest_size, largest_size, min(MAX_SIZES, n_steps + 1))
    ]


def _smallest_fittable_size(learner: LearnerBySize, smallest_size: int, largest_size: int) -> int:
    """Return the smallest training size at which all settings can be fitted.

    For instance, 25 nearest neighbours need 25 training rows. If this would leave too few sizes,
    the result is `smallest_size`, and the fits raise their own errors.
    """
    training_size = smallest_size
    while training_size * MIN_SIZE_RATIO ** (MIN_N_SIZES - 1) <= largest_size:
        try:
            plan = learner.plans(training_size)[-1][0]
            one_fit_plan = plan.select(np.flatnonzero(plan.fit == plan.train_sizes.argmin()))
            with listen(None), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                learner.problem.create_asking(executor=None)(one_fit_plan, None)
        except FitFailed:
            training_size = int(np.ceil(training_size * MIN_SIZE_RATIO))
        else:
            return training_size
    return smallest_size


def _min_training_size(data: Data, n_inner_folds: int) -> int:
    """Return a training size large enough for every class, for several groups and for inner folds.

    There are two rows or more for each inner fold. The number of rows of a class in a stratified
    subsample of m rows is m times the share of the class, to within less than 2.
    """
    n_rows = max(MIN_TRAINING_ROWS, 2 * n_inner_folds)
    if data.codes is not None:
        rarest_class_size = data.class_sizes.min()
        n_rows = max(
            n_rows, -(-(3 if n_inner_folds else 2) * data.n_rows // int(max(1, rarest_class_size)))
        )
    if data.groups is not None:
        n_groups = len(np.unique(data.groups))
        # Folds contain whole groups, so there must be at least one group per inner fold.
        n_rows = max(n_rows, -(-(n_inner_folds + 2) * data.n_rows // n_groups))
    return int(n_rows)


def measure_learning_curve(
    learner: LearnerBySize, sizes: Sequence[int], fit_store: FitStore | None
) -> LearningCurve:
    """Estimate the risk at every training size, from the smallest to the largest.

    A failure at a small size thus occurs early.
    """
    computations: list[Computation] = []
    estimates: list[RiskEstimate] = []
    for training_size in sizes:
        with (
            prefix_errors(f"with {training_size} training rows (see sizes=)"),
            stage(f"{training_size} rows"),
            warnings.catch_warnings(),
        ):
            if (
                training_size != sizes[-1]
            ):  # Warnings about leaks are shown once, at the largest size.
                warnings.simplefilter("ignore", LeakWarning)
            _warn_of_missing_classes(learner, training_size)
            problem = replace(learner.problem, uses_calibrated_interval=True)
            computation = compute_risks(
                problem, learner.method_for_size(training_size), fit_store=fit_store
            )
            computations.append(computation)
            estimates.append(_estimate_of_computation(computation))
    plans = [computation.all_answers.plan for computation in computations]
    mean_train_sizes = np.array([plan.train_sizes[plan.fit].mean() for plan in plans])
    if (np.diff(mean_train_sizes) <= 0).any():
        index = int(np.flatnonzero(np.diff(mean_train_sizes) <= 0)[0])
        raise BadData(
            f"sizes {sizes[index]} and {sizes[index + 1]} are fitted on equally many rows, "
            f"{mean_train_sizes[index]:.4g} on average, since groups stay whole: give sizes "
            "further apart."
        )
    covariance, reason_without_covariance = _joint_covariance(learner, computations, estimates)
    loss = learner.problem.loss
    curve = LearningCurve(
        sizes=mean_train_sizes,
        estimates=tuple(estimates),
        covariance=covariance,
        confidence_level=learner.problem.confidence_level,
        lower=loss.lower,
        upper=loss.upper,
        lacking=None
        if reason_without_covariance is None
        else f"{reason_without_covariance}: there is no band.",
    )
    try:
        if curve.law is not None:
            curve.law.check()
    except Refusal as refusal:  # If a + b n^-c does not fit, the curve is returned without it.
        return replace(curve, lacking=str(refusal))
    return curve


def _estimate_of_computation(computation: Computation) -> RiskEstimate:
    estimate = to_procedure_estimate(computation) or to_risk_curve(computation)[0]
    if estimate.value is None or not np.isfinite(estimate.value):
        failure_note = next(
            (note for note in estimate.notes if "failed" in note), "some fits failed."
        )
        raise Refusal(f"{failure_note} Leave small sizes out of sizes=.")
    return estimate


def _joint_covariance(
    learner: LearnerBySize, computations: Sequence[Computation], estimates: Sequence[RiskEstimate]
) -> tuple[np.ndarray | None, str | None]:
    loss, data = computations[0].problem.loss, learner.problem.data
    averaging_mode = learner.method.average_of(loss)
    if not (
        loss.per_row or (loss.tells_influences and (averaging_mode == "fold" or loss.one_scale))
    ):
        return None, f"loss '{loss.name}' has no formula for what a single row does to it"
    rows_and_influences = [
        influences_by_row(size_result.all_answers, data, loss, averaging_mode)
        for size_result in computations
    ]
    influence_table = np.stack([row_influences[0] for _, row_influences in rows_and_influences])
    if data.time is not None or learner.method.respects_time:
        return None, "rows depend on each other in time"
    groups = None if data.clusters is None else data.clusters[rows_and_influences[0][0]]
    values = np.array([size_result.loss_value for size_result in estimates], dtype=float)
    covariance = joint_covariance(influence_table, values, groups, loss)
    return (
        covariance,
        None if covariance is not None else "at some size all rows have the same loss",
    )


def _warn_of_missing_classes(learner: LearnerBySize, training_size: int) -> None:
    """Warn of fits without a training row of some class: they fail, or never predict this class."""
    data = learner.problem.data
    if data.codes is None:
        return
    plan = learner.subsampled_plan(training_size)
    classes = np.arange(data.n_classes)
    has_class = np.array(
        [np.isin(classes, data.codes_of(plan.train_rows(fit)[0])) for fit in range(plan.n_fits)]
    )
    n_fits_without_class = (~has_class).sum(axis=0)
    if n_fits_without_class.any():
        rarest_class = int(n_fits_without_class.argmax())
        warn(
            f"with {training_size} training rows {n_fits_without_class[rarest_class]} of "
            f"{plan.n_fits} "
            f"fits have no row of class {data.label(rarest_class)!r}: leave such small sizes out "
            "(sizes=).",
            TrueRiskWarning,
        )
