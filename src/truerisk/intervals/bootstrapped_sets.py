"""Bootstrap bias correction for a choice by a score that rates whole test sets, such as AUC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.progress import report_progress
from truerisk.intervals.bootstrapped_choice import BiasCorrectedRisk, draw_row_counts
from truerisk.results.interval import are_tied

CANDIDATES_PER_REPORT = 256


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
    starts = range(0, len(full_risks), CANDIDATES_PER_REPORT)
    tested_risks, chosen_candidates, n_done = [], [], 0
    for drawn_samples in draw_row_counts(n_rows, groups, replicates, len(full_risks), rng):
        row_counts = drawn_samples[:, tested_rows]
        risk_parts = []
        for start in starts:
            n_rated = len(drawn_samples) * start // len(full_risks)
            report_progress(n_done + n_rated, replicates, "samples")
            risk_parts.append(mean_risks(slice(start, start + CANDIDATES_PER_REPORT), row_counts))
        n_done += len(drawn_samples)
        chosen_by_sample = _least_risk_candidates(np.concatenate(risk_parts, axis=1))
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
    """Return the mean of 1 − AUC over test sets, as an array of shape (samples, candidates).

    It is NaN if no test set has weights of both classes.

    >>> scores, positive = np.array([[0.1, 0.4, 0.4, 0.8]]), np.array([False, False, True, True])
    >>> weights = np.array([[1.0, 1, 1, 1], [1, 0, 1, 0]])
    >>> mean_auc_risks(scores, positive, [slice(0, 4)], weights).tolist()
    [[0.125], [0.0]]
    """
    risk_sums = np.zeros((len(candidate_scores), len(weights)))
    counts = np.zeros(len(weights))
    for test_slice in test_slices:
        is_set_positive, set_scores = is_positive[test_slice], candidate_scores[:, test_slice]
        # Samples lie along the last axis, so that each row's weights are added by one operation.
        set_weights = np.ascontiguousarray(weights[:, test_slice].T)
        positive_weights = set_weights[is_set_positive]
        negative_weights = set_weights[~is_set_positive]
        pair_weights = positive_weights.sum(axis=0) * negative_weights.sum(axis=0)
        counts += pair_weights > 0
        pair_weights[pair_weights == 0] = np.inf
        for risks, scores in zip(risk_sums, set_scores, strict=True):
            negative_scores, positive_scores = scores[~is_set_positive], scores[is_set_positive]
            order = np.argsort(negative_scores, kind="stable")
            weights_below = _cumulative_sums(negative_weights[order])
            n_below, n_not_above = (
                np.searchsorted(negative_scores[order], positive_scores, side)
                for side in ("left", "right")
            )
            correct = np.einsum("ij,ij->j", weights_below[n_below], positive_weights)
            if (n_below < n_not_above).any():
                with_ties = np.einsum("ij,ij->j", weights_below[n_not_above], positive_weights)
                correct = (correct + with_ties) / 2
            risks += np.where(np.isinf(pair_weights), 0.0, 1 - correct / pair_weights)
    with np.errstate(invalid="ignore"):
        return np.asarray((risk_sums / np.where(counts > 0, counts, np.nan)).T)


def _cumulative_sums(rows: np.ndarray) -> np.ndarray:
    """Return the sums of the first 0, 1, 2, ... rows, followed by rows without meaning.

    The rows are added up in blocks. With 200 or more columns, `np.cumsum` along the first axis
    takes up to three times as long.
    """
    n_blocks = isqrt(len(rows)) + 1
    sums = np.zeros((1 + n_blocks * (len(rows) // n_blocks + 1), rows.shape[1]))
    sums[1 : 1 + len(rows)] = rows
    blocks = sums[1:].reshape(n_blocks, -1, rows.shape[1])
    for row in range(1, blocks.shape[1]):
        blocks[:, row] += blocks[:, row - 1]
    for previous, block in pairwise(blocks):
        block += previous[-1]
    return sums


def _least_risk_candidates(risks: np.ndarray) -> np.ndarray:
    """Return the candidate with the smallest risk in each bootstrap sample, the first if tied.

    It is −1 for a sample in which all risks are NaN.
    """
    has_no_risk = np.isnan(risks).all(axis=1)
    filled_risks = np.where(np.isnan(risks), np.inf, risks)
    least_risks = filled_risks.min(axis=1, keepdims=True)
    return np.where(has_no_risk, -1, are_tied(filled_risks, least_risks).argmax(axis=1))
