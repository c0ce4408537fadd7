"""Run an estimation: draw the plan, let an engine predict, and reduce predictions to risks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import reduce
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.checks.leak_warnings import warn_of_fitted_parts, warn_of_leaks
from truerisk.contracts import FitStore, Method, Streams, Terms, choose_by_rule
from truerisk.core.errors import NoEngine
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.running.executors import reuse_connections
from truerisk.estimation.problem import (
    EstimationProblem,
    check_method,
    check_scores,
    choose_intervals,
    estimable_scores,
    package_versions,
)
from truerisk.intervals import as_form
from truerisk.losses.loss import Loss
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import find_split_order, refuse_overlapping_rows
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, RowPredictions, risk_std_errors
from truerisk.results.results import LazyEstimates, RiskCurve, RiskEstimate, to_estimate

if TYPE_CHECKING:
    from truerisk.results.evaluation import CandidateLosses


@frozen(eq=False, kw_only=True)
class Computation(Evaluation):
    """An evaluation, with the problem, method and engine that produced it.

    `n_new_fits` counts the fits that were made; the predictions of the other fits were known
    before.
    """

    problem: EstimationProblem
    method: Method
    engine: str
    refusals: Mapping[str, str]
    seconds: float
    n_new_fits: int

    @property
    def all_answers(self) -> Answers:
        """Predictions of all candidates, which exist only if the method makes one pass of fits."""
        assert self.answers is not None
        return self.answers

    @property
    def score_computations(self) -> dict[str, Computation]:
        """Dictionary of this computation with each further score as its main loss, by score."""
        computations = {}
        for name, evaluation in zip(self.problem.scores, self.scores, strict=True):
            score = self.problem.scores[name]
            problem = replace(self.problem, loss=score.loss, interval=score.interval, scores={})
            computations[name] = replace(self, problem=problem, **_evaluation_fields(evaluation))
        return computations


def _evaluation_fields(evaluation: Evaluation) -> dict[str, Any]:
    """Return a dictionary of the fields of class Evaluation, without those of subclasses."""
    return {field.name: getattr(evaluation, field.name) for field in fields(Evaluation)}


def compute_risks(
    problem: EstimationProblem,
    method: Any,
    *,
    plan: Plan | None = None,
    new_rows: bool = False,
    fit_store: FitStore | None = None,
    known: Sequence[Answers | None] = (),
) -> Computation:
    """Estimate the risks of a problem by a method: draw its plan, fit, predict and reduce.

    A given `plan` is used instead of a drawn one. Passes whose predictions are `known` from an
    earlier computation are not fitted again. If `new_rows` is true, a plan that tests rows its
    models have seen is refused; otherwise such a plan causes a warning. If no engine supports the
    method, another method may replace it.
    """
    start_time = time.perf_counter()
    requested_problem, method = check_method(problem, method)
    data = requested_problem.data
    check_scores(method, requested_problem.scores, data)
    if plan is None:
        plan = method.plan(data, Streams(requested_problem.seed))
    if new_rows and method.has_given_splits:
        refuse_overlapping_rows(method.name, plan)
    problem = choose_intervals(requested_problem, method, plan)
    estimate_name = "The score of the search" if method is problem.tuning_method else "The estimate"
    leak_texts = warn_of_leaks(data, method, plan, estimate_name)
    warn_of_fitted_parts(problem.family, method)
    if data.time is not None:
        _warn_of_inner_splits(problem)
    rule, n_candidates = problem.rule, len(problem.family)
    terms = Terms(problem.confidence_level, rule, n_candidates, interval=problem.interval)
    scores: tuple[tuple[Loss, Terms], ...] = ()
    for score in problem.scores.values():
        scores += ((score.loss, replace(terms, interval=score.interval)),)
    asking = problem.create_asking(fit_store=fit_store, known=known)
    try:
        with reuse_connections():
            evaluation = method.evaluate(
                asking, data, problem.loss, plan, replace(terms, scores=scores)
            )
    except NoEngine as error:
        fallback_method = method.instead(error.reason)
        if fallback_method is None:
            raise
        computation = compute_risks(requested_problem, fallback_method, fit_store=fit_store)
        replacement_note = (
            f"'{computation.method.name}' was used in place of the requested method: {error.reason}"
        )
        return with_note(computation, replacement_note)
    computation = Computation(
        **_evaluation_fields(evaluation),
        problem=problem,
        method=method,
        engine=asking.engine,
        refusals=asking.refusals,
        seconds=time.perf_counter() - start_time,
        n_new_fits=evaluation.n_fits - asking.n_known,
    )
    return reduce(with_note, leak_texts, computation)


def _warn_of_inner_splits(problem: EstimationProblem) -> None:
    """Warn if the learner contains a search that splits rows at random although they have times."""
    check_present("truerisk.checks.inner_splits")
    from truerisk.checks.inner_splits import warn_of_inner_splits

    warn_of_inner_splits(problem.family)


def tuning_problem(problem: EstimationProblem) -> EstimationProblem:
    """Return the problem of comparing the settings on all rows, to choose one of them.

    The requested interval is dropped unless it accounts for the choice of a setting.
    """
    assert problem.tuning_method is not None
    counts_choice = problem.interval is not None and as_form(problem.interval).counts_choice
    return replace(
        problem,
        interval=problem.interval if counts_choice else None,
        scores=estimable_scores(problem.tuning_method, problem.scores, problem.data),
    )


def with_note(computation: Computation, added_note: str) -> Computation:
    """Return the computation with this note as the first note of every estimate."""
    estimates = tuple(
        replace(estimate, notes=(added_note, *estimate.notes)) for estimate in computation.tested
    )
    procedure = computation.procedure
    if procedure is not None:
        procedure = replace(procedure, notes=(added_note, *procedure.notes))
    return replace(computation, tested=estimates, procedure=procedure)


@frozen(eq=False)
class PairedAnswers:
    """Predictions of all candidates for the same rows, by which candidates can be compared."""

    answers: Answers
    data: Data
    loss: Loss
    method: Method

    def losses(self) -> CandidateLosses:
        """Return each candidate's mean loss for every tested row.

        Raise Refusal if such losses do not exist or do not allow a comparison.
        """
        check_present("truerisk.methods.parts.paired_losses")
        from truerisk.methods.parts.paired_losses import paired_losses

        return paired_losses(self.answers, self.data, self.loss, self.method)


def to_risk_curve(computation: Computation, best_candidate: int | None = None) -> RiskCurve:
    """Return the risk curve of a computation.

    `best_candidate` is the chosen candidate if it was chosen by another loss; by default the rule
    chooses.
    """
    problem, predictions = computation.problem, computation.answers
    best_candidate = _chosen_candidate(computation) if best_candidate is None else best_candidate
    paired_answers = None
    # If only chosen candidates were predicted, candidates cannot be compared.
    if predictions is not None and predictions.n_candidates == len(problem.family):
        paired_answers = PairedAnswers(predictions, problem.data, problem.loss, computation.method)
    candidates, provenance = problem.family.candidates, _shared_fields(computation)
    scores = {}
    for name, scored_computation in computation.score_computations.items():
        scores[name] = to_risk_curve(scored_computation, best_candidate)
    return RiskCurve(
        estimates=LazyEstimates(candidates, computation.tested, provenance, scores),
        best=best_candidate,
        rule=problem.rule.name,
        ties=problem.rule.ties,
        procedure=to_procedure_estimate(computation),
        # A plain Evaluation is stored, because the record must not hold rows, models or executors.
        evaluation=Evaluation(**_evaluation_fields(computation)),
        scores=scores,
        comparable=paired_answers,
    )


def _chosen_candidate(computation: Computation) -> int:
    """Return the number of the candidate that the rule chooses."""
    estimates = computation.tested
    if len(estimates) == 1:
        return 0  # A single candidate is reported even if its fits failed.
    rule, outer_splits = computation.problem.rule, computation.units
    if outer_splits and rule.needs_std_errors and np.isnan(risk_std_errors(estimates)).all():
        # Averaged inner risks have no standard error, so take the setting chosen by most splits.
        return int(np.bincount([outer_split.candidate for outer_split in outer_splits]).argmax())
    return choose_by_rule(estimates, rule)


def to_procedure_estimate(computation: Computation) -> RiskEstimate | None:
    """Return the risk of the whole procedure "tune, then fit", or None if it was not estimated.

    No selection rule is needed for this risk.
    """
    candidates = computation.problem.family.candidates
    if computation.procedure is None:
        return None
    params: Mapping[str, Any] = {}
    if len({outer_split.candidate for outer_split in computation.units}) == 1:
        params = candidates[computation.units[0].candidate]
    scores = {}
    for name, scored_computation in computation.score_computations.items():
        if (score_risk := to_procedure_estimate(scored_computation)) is not None:
            scores[name] = score_risk
    return to_estimate(
        computation.procedure, replace(_shared_fields(computation), scores=scores), params
    )


def _shared_fields(computation: Computation) -> RiskEstimate:
    """Return a template estimate, without a value, that holds the fields common to all estimates.

    These are the method, the loss, the data, the seed, the engine and the notes.
    """
    problem, predictions, splits = computation.problem, computation.answers, None
    data, method, loss = problem.data, computation.method, problem.loss
    average_function = getattr(getattr(method, "outer_method", method), "average_of", None)
    # A score that is usually a mean over folds may be computed from all predictions at once.
    is_fold_mean = not loss.per_row and loss.usual_average == "fold"
    # Plans with randomly drawn training sets have no fixed splits to list.
    if predictions is not None and not predictions.plan.has_drawn_fits:
        plan = predictions.plan
        splits = np.column_stack([plan.repeat, plan.train_sizes[plan.fit], plan.test_sizes])
    return blank_estimate(
        data,
        loss,
        method=method.name,
        target=method.target,
        bias=method.bias,
        n_fits=computation.n_fits,
        seconds=computation.seconds,
        engine=computation.engine,
        seed=problem.seed,
        plan_fingerprint=computation.plan.fingerprint,
        refusals=dict(computation.refusals),
        splits=splits,
        n_groups=None if data.groups is None else len(np.unique(data.groups)),
        weighted=data.sample_weight is not None and len(np.unique(data.sample_weight)) > 1,
        notes=(*loss.notes, *map(attrgetter("note"), problem.findings)),
        findings=problem.findings,
        answered=RowPredictions.from_answers(predictions, data),
        ordered=has_time_order(data, method, predictions),
        placed=data.places is not None,
        pooled=is_fold_mean and average_function is not None and average_function(loss) == "pooled",
    )


def blank_estimate(data: Data, loss: Loss, **other_fields: Any) -> RiskEstimate:
    """Return an estimate without a value yet, for the given rows and loss.

    `other_fields` holds further fields of the estimate. Every estimate is created by this function,
    and `to_estimate` sets its value.
    """
    return RiskEstimate(
        **{
            "value": None,
            "std_error": None,
            "interval": None,
            "params": {},
            "scoring": loss.name,
            "perfect": loss.scale.perfect,
            "positive": loss.label(data),
            "n_rows": data.n_rows,
            "data_fingerprint": data.fingerprint,
            "versions": dict(package_versions()),
            **other_fields,
        }
    )


def has_time_order(data: Data, method: Method, predictions: Answers | None) -> bool:
    """Return True if rows have times, or if the splits go forward in time."""
    if data.time is not None or method.tells_scores.respects_time:
        return True
    return predictions is not None and find_split_order(predictions.plan) is not None
