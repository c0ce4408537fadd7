"""Replay a search: compute out-of-fold losses of all candidates, and the bias of choosing.

The splits are those of the search, so that the candidates' scores must be equal to the scores that
the search reports. This is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil

import numpy as np

from truerisk.contracts import Streams
from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.core.formats import format_number
from truerisk.core.frozen import frozen
from truerisk.core.progress import stage
from truerisk.data.data import Data
from truerisk.estimation.problem import EstimationProblem
from truerisk.estimation.run import Computation, compute_risks, to_risk_curve
from truerisk.intervals.bootstrapped_choice import (
    BiasCorrectedRisk,
    correct_risk_by_bootstrap,
)
from truerisk.intervals.bootstrapped_sets import correct_set_risk_by_bootstrap, mean_auc_risks
from truerisk.intervals.form import NO_SPREAD, dependence_reason
from truerisk.losses.loss import RowLoss
from truerisk.losses.row_losses import find_infinite_losses
from truerisk.methods.parts.averages import row_losses
from truerisk.methods.words import method_from_splitter
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import ORDERED_SPLITS_REASON
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Tested
from truerisk.results.finding import Finding
from truerisk.results.results import RiskCurve, RiskEstimate, to_estimate
from truerisk.search.claim import Claim, ScoreScale

EXACT_TOLERANCE = 1e-7  # Relative difference of scores that another order of summation may cause.
# Scores may differ by this share if a solver stops at another iteration.
ITERATIVE_TOLERANCE = 0.02


@frozen(eq=False)
class ReplayedSearch:
    """Out-of-fold losses of all candidates on the tested rows, on the scale of the claim.

    `losses[c, i]` is candidate c's mean loss over the splits that test row `rows[i]`, and `weights`
    is the weight of the row in the search's own average of its splits. `split_risks[c, k]` is the
    risk in split k. AUC is not a sum of row losses, so that `auc_predictions` hold the predictions
    of the candidates instead. Other scores of whole test sets have neither. `answers` are the
    predictions of the fits, if any were made.
    """

    losses: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    split_risks: np.ndarray
    common_fields: RiskEstimate
    auc_predictions: Answers | None = None
    findings_by_candidate: Sequence[tuple[Finding, ...]] = ()
    answers: Answers | None = None

    @property
    def has_row_losses(self) -> bool:
        """True if the candidates can be compared on a subset of the rows."""
        return self.auc_predictions is not None or len(self.losses) > 0

    def risks_without_rows(self, excluded_rows: np.ndarray, data: Data | None) -> np.ndarray:
        """Return the risk of each candidate on all rows except `excluded_rows`.

        The risk is NaN for a candidate that has none on the remaining rows.
        """
        if self.auc_predictions is None:
            is_included_row = ~np.isin(self.rows, excluded_rows)
            risks: np.ndarray = self.losses[:, is_included_row] @ self.weights[is_included_row]
            return risks
        assert data is not None  # The AUC is computed from the classes in `data`.
        rows, _ = self.auc_predictions.plan.positions
        test_slices = [
            slice(start, stop) for start, stop in pairwise(self.auc_predictions.plan.test_offsets)
        ]
        is_included_row = (~np.isin(rows, excluded_rows)).astype(np.float64)
        return mean_auc_risks(
            self.auc_predictions.values,
            data.codes_of(rows) == 1,
            test_slices,
            is_included_row[None],
        )[0]


def refuse_bootstrap(scale: ScoreScale) -> None:
    """Raise Refusal if the score of the search is unsuitable for the bootstrap correction.

    The correction draws rows, so the score must be a mean over rows, or the AUC.
    """
    if not scale.is_mean_over_rows and scale.risk_name != "auc":
        raise Refusal(
            f"'{scale.risk_name}' is no mean over rows, and the bootstrap bias correction draws "
            "rows: "
            f"use {mention('level', 'pairs')}, the default, which tests the choice in the folds of "
            f"the search, or {mention('level', 'nested')}."
        )


def replay_search(
    claim: Claim, scale: ScoreScale, problem: EstimationProblem, plan: Plan
) -> ReplayedSearch:
    """Fit every candidate in every split of the search again, by the fastest exact engine."""
    if claim.curve is not None:
        claim.refuse_other_rows(problem.data)
        return _replay_from_stored_curve(claim.curve)
    method = method_from_splitter(claim.splitter(problem.data.y), average="fold")
    with stage("replaying the search"):
        computed_risks = compute_risks(problem, method, plan=plan)
    if not scale.is_mean_over_rows:
        tested_risks, predictions = computed_risks.tested, computed_risks.all_answers
        risks = np.array([tested_risk.split_risks for tested_risk in tested_risks])
        rows = np.unique(predictions.plan.positions[0])
        common_fields = to_risk_curve(computed_risks).common
        no_losses, scores = (
            np.empty((0, len(rows))),
            predictions if scale.risk_name == "auc" else None,
        )
        return ReplayedSearch(
            no_losses, rows, np.ones(len(rows)), risks, common_fields, scores, answers=predictions
        )
    unweighted_replay = _replay_row_losses(claim, scale, computed_risks, None)
    sample_weight = problem.data.fit_params.get("sample_weight")
    if sample_weight is None or _scores_agree(claim, scale, unweighted_replay):
        return unweighted_replay
    weighted_replay = _replay_row_losses(
        claim, scale, computed_risks, np.asarray(sample_weight, dtype=np.float64)
    )
    return weighted_replay if _scores_agree(claim, scale, weighted_replay) else unweighted_replay


def _replay_from_stored_curve(curve: RiskCurve) -> ReplayedSearch:
    """Return the out-of-fold losses that a search of this package has stored; make no fits."""
    assert curve.evaluation is not None
    tested_risks = curve.evaluation.tested
    rows = tested_risks[0].loss_rows
    if rows is None or any(
        test_result.losses is None or test_result.split_risks is None
        for test_result in tested_risks
    ):
        raise Refusal(
            f"method '{curve.common.method}' that chose the setting has no losses of single rows: "
            f"use {mention('level', 'pairs')} or {mention('level', 'nested')}."
        )
    losses = np.array([test_result.losses for test_result in tested_risks])
    risks = np.array([test_result.split_risks for test_result in tested_risks])
    common_fields, findings_by_candidate = (
        replace(curve.common, n_fits=0),
        [tested_risk.findings for tested_risk in tested_risks],
    )
    return ReplayedSearch(
        losses,
        rows,
        np.ones(len(rows)),
        risks,
        common_fields,
        findings_by_candidate=findings_by_candidate,
    )


def _replay_row_losses(
    claim: Claim, scale: ScoreScale, computed_risks: Computation, scorer_weights: np.ndarray | None
) -> ReplayedSearch:
    """Return each candidate's losses per row, scaled like the scorer and averaged over splits.

    `scorer_weights` is for a scorer that weights the rows: newer versions of scikit-learn pass the
    `sample_weight` of fit on to the scorer, older versions do not, and the scores show which.
    """
    predictions, data = computed_risks.all_answers, computed_risks.problem.data
    loss = computed_risks.problem.loss
    assert isinstance(loss, RowLoss)
    losses = row_losses(predictions, data, loss)
    plan = predictions.plan
    tested_rows, _ = plan.positions
    test_slices = [slice(0, len(tested_rows))]
    if not claim.is_pooled:
        test_slices = [slice(start, stop) for start, stop in pairwise(plan.test_offsets)]
    row_weights = (
        np.ones(len(tested_rows)) if scorer_weights is None else scorer_weights[tested_rows]
    )
    loss_factors = np.concatenate(
        [scale.row_factors(data, tested_rows[test_slice]) for test_slice in test_slices]
    )
    weights = np.concatenate(
        [row_weights[test_slice] / row_weights[test_slice].sum() for test_slice in test_slices]
    ) / len(test_slices)
    if not np.isfinite(loss_factors).all():
        raise Refusal(
            "y does not vary in a test set, so R² does not exist there; use larger folds or "
            f"{mention('scoring', 'neg_mean_squared_error')}."
        )
    losses = losses * loss_factors
    slice_starts = [test_slice.start for test_slice in test_slices]
    risks = np.add.reduceat(losses * weights, slice_starts, axis=1) * len(test_slices)
    rows, row_indices = np.unique(tested_rows, return_inverse=True)
    total_weights = np.bincount(row_indices, weights)
    summed_losses = np.array([np.bincount(row_indices, weights * row) for row in losses])
    common_fields = replace(to_risk_curve(computed_risks).common, scoring=scale.risk_name)
    scaled_weights = np.asarray(total_weights * len(rows), dtype=np.float64)
    findings_by_candidate = find_infinite_losses(predictions, data, loss)
    return ReplayedSearch(
        summed_losses / total_weights,
        rows,
        scaled_weights,
        risks,
        common_fields,
        findings_by_candidate=findings_by_candidate,
        answers=predictions,
    )


def bootstrap_corrected_risk(
    claim: Claim, replayed_search: ReplayedSearch, problem: EstimationProblem, replicates: int
) -> RiskEstimate:
    """Return the risk of choosing the best candidate, by the bootstrap bias correction."""
    data = problem.data
    rng = Streams(problem.seed).get("bbc")
    with stage("bias correction"):
        if replayed_search.auc_predictions is not None:
            correction = corrected_auc_risk(replayed_search.auc_predictions, data, rng, replicates)
        else:
            correction = correct_risk_by_bootstrap(
                replayed_search.losses,
                rng,
                replicates=replicates,
                groups=None if data.groups is None else data.groups[replayed_search.rows],
                weights=replayed_search.weights,
            )
    no_interval_reason = _reason_for_no_interval(
        correction, problem, replayed_search.common_fields.ordered
    )
    same_choice_share = (
        correction.selection_counts[claim.best_candidate] / correction.selection_counts.sum()
    )
    findings_and_counts = zip(
        replayed_search.findings_by_candidate, correction.selection_counts, strict=False
    )
    infinite_loss_findings = [
        finding
        for candidate_findings, n_chosen in findings_and_counts
        if n_chosen
        for finding in candidate_findings
    ]
    corrected_risk = Tested(
        correction.value,
        findings=tuple(infinite_loss_findings[:1]),
        interval=None if no_interval_reason else correction.interval(problem.confidence_level),
        notes=(
            (
                f"{same_choice_share:.0%} of the bootstrap samples chose the setting that the "
                "search chose"
            ),
            *claim.notes,
            *([no_interval_reason] if no_interval_reason else []),
        ),
    )
    common_fields = replace(
        replayed_search.common_fields,
        method="bbc",
        target="Err",
        bias="slightly pessimistic: each model sees a part of the rows, each choice 63 % of them",
    )
    return to_estimate(corrected_risk, common_fields, claim.best_params)


def _reason_for_no_interval(
    correction: BiasCorrectedRisk, problem: EstimationProblem, are_rows_ordered: bool
) -> str | None:
    """Return why the bootstrap percentiles are no valid interval, or None if they are valid."""
    if are_rows_ordered and problem.data.time is None:
        return ORDERED_SPLITS_REASON
    n_replicates, fewest_replicates = (
        len(correction.bootstrap_risks),
        ceil(2 / (1 - problem.confidence_level) - 1e-9),
    )
    if n_replicates < fewest_replicates:
        return (
            f"{n_replicates} bootstrap samples have no {problem.confidence_level:.4g} percentiles: "
            f"replicates={fewest_replicates} at least."
        )
    return NO_SPREAD if np.ptp(correction.bootstrap_risks) == 0 else dependence_reason(problem.data)


def replay_findings(
    claim: Claim,
    scale: ScoreScale,
    replayed_search: ReplayedSearch,
    replay_again: Callable[[], ReplayedSearch],
) -> list[Finding]:
    """Return a finding if the replayed scores differ from the scores of the search.

    In this case `replay_again` replays with other seeds. If the scores change once more, the models
    use random numbers without a seed.
    """
    if claim.curve is not None or _scores_agree(claim, scale, replayed_search):
        return []
    largest_gap, _, score_kind = _largest_difference(claim, scale, replayed_search)
    gap_text = f"by up to {format_number(largest_gap)} ({score_kind})"
    if not np.array_equal(replay_again().split_risks, replayed_search.split_risks, equal_nan=True):
        return [
            Finding(
                "random-model",
                f"The models draw at random without a seed, so a replay differs {gap_text}.",
                "Give the estimator a random_state; the honest value is that of the replay.",
            )
        ]
    return [
        Finding(
            "replay-differs",
            f"The same splits give other scores than the search kept, {gap_text}: other rows, "
            "other fit parameters, or a model that keeps state.",
            "Audit with the X, y, groups and fit_params that fit was given.",
        )
    ]


def _scores_agree(claim: Claim, scale: ScoreScale, replayed_search: ReplayedSearch) -> bool:
    largest_gap, score_size, _ = _largest_difference(claim, scale, replayed_search)
    return largest_gap <= (EXACT_TOLERANCE if claim.is_exact else ITERATIVE_TOLERANCE) * score_size


def _largest_difference(
    claim: Claim, scale: ScoreScale, replayed_search: ReplayedSearch
) -> tuple[float, float, str]:
    """Return the largest difference between the stored and the replayed scores.

    Also return the size of the scores and the kind of the scores.
    """
    means = replayed_search.split_risks.mean(axis=1)
    if claim.scores is None:
        stored_scores, replayed_scores = (
            np.array([claim.score]),
            scale.score(means[[claim.best_candidate]]),
        )
        score_kind = "the claimed score"
    elif claim.is_pooled or not claim.is_exact:
        stored_scores, replayed_scores, score_kind = (
            claim.scores.mean(axis=1),
            scale.score(means),
            "mean score of a setting",
        )
    else:
        stored_scores, replayed_scores, score_kind = (
            claim.scores,
            scale.score(replayed_search.split_risks),
            "score of a split",
        )
    is_finite = np.isfinite(stored_scores) & np.isfinite(replayed_scores)
    largest_gap = float(np.abs(stored_scores - replayed_scores)[is_finite].max(initial=0.0))
    return (
        largest_gap,
        max(1.0, float(np.abs(stored_scores[is_finite]).max(initial=0.0))),
        score_kind,
    )


def corrected_auc_risk(
    predictions: Answers, data: Data, rng: np.random.Generator, replicates: int
) -> BiasCorrectedRisk:
    """Return the bootstrap-corrected risk of choosing by AUC, from all candidates' predictions."""
    rows, _ = predictions.plan.positions
    test_slices = [slice(start, stop) for start, stop in pairwise(predictions.plan.test_offsets)]
    is_positive = data.codes_of(rows) == 1
    return correct_set_risk_by_bootstrap(
        lambda candidates, weights: mean_auc_risks(
            predictions.values[candidates], is_positive, test_slices, weights
        ),
        rows,
        rng,
        n_rows=data.n_rows,
        replicates=replicates,
        groups=data.groups,
        remedy=f"use fewer folds, or {mention('level', 'pairs')}.",
    )
