"""The area under a ROC curve and its variance, against sums over all pairs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from truerisk.core.statistics.operating_points import area, covariance, placements

RNG = np.random.default_rng(0)
POSITIVE = np.r_[np.ones(9, bool), np.zeros(7, bool)]
TIED = RNG.integers(0, 5, (2, 16)).astype(float)


def kernel(a, b):
    """1 for the right order, one half for a tie."""
    return float(a > b) + 0.5 * float(a == b)


def brute_components(scores, positive):
    """V10 and V01 as DeLong et al. define them, pair by pair."""
    up, down = scores[positive], scores[~positive]
    v10 = [np.mean([kernel(a, b) for b in down]) for a in up]
    v01 = [np.mean([kernel(a, b) for a in up]) for b in down]
    return np.array(v10), np.array(v01)


def test_the_area_counts_pairs() -> None:
    """The area is the mean of the kernel over all pairs, to the last digit, ties half."""
    for scores in (*TIED, RNG.normal(size=16)):
        pairs = [kernel(a, b) for a, b in product(scores[POSITIVE], scores[~POSITIVE])]
        assert area(scores, POSITIVE) == sum(pairs) / len(pairs)


def test_weights_are_copies() -> None:
    """Whole weights count rows as often; scikit-learn agrees on any."""
    counts = RNG.integers(1, 4, 16)
    copies = np.repeat(np.arange(16), counts)
    weighted = area(TIED[0], POSITIVE, counts.astype(float))
    assert weighted == pytest.approx(area(TIED[0][copies], POSITIVE[copies]), rel=1e-14)
    w = RNG.random(16)
    peer = roc_auc_score(POSITIVE, TIED[0], sample_weight=w)
    assert area(TIED[0], POSITIVE, w) == pytest.approx(peer, rel=1e-12)


def test_placements_are_the_structural_components() -> None:
    """Every row's share of pairs in order, ties half; the mean of either class is the area."""
    for scores in TIED:
        found = placements(scores, POSITIVE)
        v10, v01 = brute_components(scores, POSITIVE)
        np.testing.assert_allclose(found[POSITIVE], v10, rtol=1e-14)
        np.testing.assert_allclose(found[~POSITIVE], v01, rtol=1e-14)
        assert found[POSITIVE].mean() == pytest.approx(area(scores, POSITIVE), rel=1e-14)


def test_the_variance_is_delongs() -> None:
    """S10/m + S01/n from pairwise components, for two scores and their covariance."""
    parts = [brute_components(scores, POSITIVE) for scores in TIED]
    expected = np.cov([p[0] for p in parts]) / 9 + np.cov([p[1] for p in parts]) / 7
    found = covariance(np.array([placements(s, POSITIVE) for s in TIED]), POSITIVE)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_variance_is_unbiased_over_all_samples() -> None:
    """Its mean over all samples of 2 + 2 exceeds the variance of the area by a known O(1/mn).

    The area varies by rows/m + columns/n + interaction/mn; the estimate counts the interaction
    once per class.
    """
    up, down = [0.0, 1.0, 2.0], [0.0, 1.0, 3.0]
    areas, estimates = [], []
    positive = np.array([True, True, False, False])
    for a, b, c, d in product(up, up, down, down):
        scores = np.array([a, b, c, d])
        areas.append(area(scores, positive))
        found = covariance(placements(scores, positive)[None, :], positive)
        estimates.append(found[0, 0])
    table = np.array([[kernel(a, b) for b in down] for a in up])
    rows, columns = table.mean(axis=1).var(), table.mean(axis=0).var()
    interaction = table.var() - rows - columns
    assert np.var(areas) == pytest.approx(rows / 2 + columns / 2 + interaction / 4, rel=1e-12)
    assert np.mean(estimates) == pytest.approx(rows / 2 + columns / 2 + interaction / 2, rel=1e-12)


def brute_clustered(scores, positive, groups):
    """Obuchowski's variance as printed, cluster by cluster."""
    v = placements(scores, positive)
    theta, m, n = area(scores, positive), positive.sum(), (~positive).sum()
    labels = np.unique(groups)
    ten = {g: (v[positive & (groups == g)] - theta).sum() for g in labels}
    one = {g: (v[~positive & (groups == g)] - theta).sum() for g in labels}
    i10, i01 = len(set(groups[positive])), len(set(groups[~positive]))
    s10 = i10 / ((i10 - 1) * m) * sum(x * x for x in ten.values())
    s01 = i01 / ((i01 - 1) * n) * sum(x * x for x in one.values())
    i = len(labels)
    s11 = i / (i - 1) * sum(ten[g] * one[g] for g in labels)
    return s10 / m + s01 / n + 2 * s11 / (m * n)


def test_groups_are_obuchowskis_clusters() -> None:
    """Rows of one group are summed before they are squared, and the classes covary by group."""
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 0, 1, 2, 3, 4, 5, 5])
    found = covariance(placements(TIED[0], POSITIVE)[None, :], POSITIVE, groups)
    expected = brute_clustered(TIED[0], POSITIVE, groups)
    assert found[0, 0] == pytest.approx(expected, rel=1e-12)


def test_two_of_each_class_are_needed() -> None:
    """One row or one group of a class has no spread: there is no variance."""
    parts = np.array([[1.0, 1.0, 0.5]])
    assert covariance(parts, np.array([True, True, False])) is None
    four = np.array([[1.0, 1.0, 0.5, 0.5]])
    halves = np.array([True, True, False, False])
    assert covariance(four, halves, np.array([0, 0, 1, 2])) is None
