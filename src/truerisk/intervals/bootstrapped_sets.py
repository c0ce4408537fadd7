"""Bootstrap bias correction for a choice by a score that rates whole test sets, such as AUC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.progress import report_progress
from truerisk.intervals.bootstrapped_choice import BiasCorrectedRisk, draw_row_counts
from truerisk.results.interval import are_tied


def correct_set_risk_by_bootstrap(
    mean_risks: Callable[[Any, np.ndarray], np.ndarray],
    tested_rows: np.ndarray,
    rng: np.random.Generator,
    *,
    n_rows: int,
    replicates: int,
    groups: np.ndarray | None = None,
    remedy: str,
) -> BiasCorrectedRisk:
    """Return the corrected risk of the candidate with the smallest mean risk over test sets.

    `mean_risks(candidates, weights)` returns the risks of some candidates for each row of
    `weights`, which holds a weight for each of the `tested_rows`: an array of shape (samples,
    candidates), with NaN where the score does not exist. `remedy` ends the message if it exists in
    no bootstrap sample.
    """
    full_risks = mean_risks(slice(None), np.ones((1, len(tested_rows))))[0]
    tested_risks, chosen_candidates, n_done = [], [], 0
    for drawn_samples in draw_row_counts(n_rows, groups, replicates, len(tested_rows), rng):
        report_progress(n_done, replicates, "samples")
        n_done += len(drawn_samples)
        row_counts = drawn_samples[:, tested_rows]
        chosen_by_sample = _least_risk_candidates(mean_risks(slice(None), row_counts))
        chosen_candidates.append(chosen_by_sample)
        out_of_bag = (row_counts == 0).astype(np.float64)
        risks = np.full(len(chosen_by_sample), np.nan)
        for candidate in np.unique(chosen_by_sample[chosen_by_sample >= 0]):
            has_chosen = chosen_by_sample == candidate
            risks[has_chosen] = mean_risks([candidate], out_of_bag[has_chosen])[:, 0]
        tested_risks.append(risks)
    risks, all_choices = np.concatenate(tested_risks), np.concatenate(chosen_candidates)
    is_usable = np.isfinite(risks)
    if not is_usable.any():
        raise Refusal(f"no test set keeps both classes in a bootstrap sample: {remedy}")
    return BiasCorrectedRisk(
        value=float(risks[is_usable].mean()),
        selected_mean_loss=float(np.nanmin(full_risks)),
        bootstrap_risks=risks[is_usable],
        selection_counts=np.bincount(all_choices[is_usable], minlength=len(full_risks)),
    )


def mean_auc_risks(
    candidate_scores: np.ndarray,
    is_positive: np.ndarray,
    test_slices: Sequence[slice],
    weights: np.ndarray,
) -> np.ndarray:
    """Return the mean of 1 − AUC over test sets, as an array of shape (samples, candidates)."""
    risk_sums = np.zeros((len(weights), len(candidate_scores)))
    counts = np.zeros_like(risk_sums)
    for test_slice in test_slices:
        for candidate, scores in enumerate(candidate_scores[:, test_slice]):
            auc_risks = weighted_auc_risk(scores, is_positive[test_slice], weights[:, test_slice])
            is_finite = np.isfinite(auc_risks)
            risk_sums[is_finite, candidate] += auc_risks[is_finite]
            counts[is_finite, candidate] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(counts > 0, risk_sums / counts, np.nan))


def weighted_auc_risk(
    scores: np.ndarray, is_positive: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return 1 − AUC of one test set for each row of `weights`; NaN if a class has no weight.

    >>> scores, positive = np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True])
    >>> weighted_auc_risk(scores, positive, np.array([[1.0, 1, 1, 1], [1, 0, 1, 0]])).tolist()
    [0.125, 0.0]
    """
    score_order = np.argsort(scores, kind="stable")
    tie_starts = np.flatnonzero(np.diff(scores[score_order], prepend=np.nan) != 0)
    sorted_weights = weights[:, score_order]
    positive_weights = np.add.reduceat(
        sorted_weights * is_positive[score_order], tie_starts, axis=1
    )
    negative_weights = np.add.reduceat(
        sorted_weights * ~is_positive[score_order], tie_starts, axis=1
    )
    negatives_below = np.cumsum(negative_weights, axis=1) - negative_weights / 2
    pair_weights = positive_weights.sum(axis=1) * negative_weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        risk: np.ndarray = 1 - (positive_weights * negatives_below).sum(axis=1) / pair_weights
    return risk


def _least_risk_candidates(risks: np.ndarray) -> np.ndarray:
    """Return the candidate with the smallest risk in each bootstrap sample, the first if tied.

    It is −1 for a sample in which all risks are NaN.
    """
    has_no_risk = np.isnan(risks).all(axis=1)
    filled_risks = np.where(np.isnan(risks), np.inf, risks)
    least_risks = filled_risks.min(axis=1, keepdims=True)
    return np.where(has_no_risk, -1, are_tied(filled_risks, least_risks).argmax(axis=1))
