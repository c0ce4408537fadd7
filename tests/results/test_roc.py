"""ROC curves as values: scikit-learn's points, a published example, refusals."""

from itertools import product

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)
from sklearn.multiclass import OutputCodeClassifier
from sklearn.svm import LinearSVC

from truerisk import RocCurve
from truerisk.extend import BadData, Refusal
from truerisk.results.operating_points import area_under_roc_curve, covariance_of_areas, placements

# DeLong, DeLong and Clarke-Pearson (1988): 43 patients with ovarian cancer, three screening tests
# (albumin, total protein, 10 − K-G score); the data and results as in SAS/STAT's PROC LOGISTIC,
# example "Comparing Receiver Operating Characteristic Curves".
OVARIAN = """
3.0 5.8 10 0 3.2 6.3 5 1 3.9 6.8 3 1 2.8 4.8 6 0 3.2 5.8 3 1 0.9 4.0 5 0 2.5 5.7 8 0 1.6 5.6 5 1
3.8 5.7 5 1 3.7 6.7 6 1 3.2 5.4 4 1 3.8 6.6 6 1 4.1 6.6 5 1 3.6 5.7 5 1 4.3 7.0 4 1 3.6 6.7 4 0
2.3 4.4 6 1 4.2 7.6 4 0 4.0 6.6 6 0 3.5 5.8 6 1 3.8 6.8 7 1 3.0 4.7 8 0 4.5 7.4 5 1 3.7 7.4 5 1
3.1 6.6 6 1 4.1 8.2 6 1 4.3 7.0 5 1 4.3 6.5 4 1 3.2 5.1 5 1 2.6 4.7 6 1 3.3 6.8 6 0 1.7 4.0 7 0
3.7 6.1 5 1 3.3 6.3 7 1 4.2 7.7 6 1 3.5 6.2 5 1 2.9 5.7 9 0 2.1 4.8 7 1 2.8 6.2 8 0 4.0 7.0 7 1
3.3 5.7 6 1 3.7 6.9 5 1 3.6 6.6 5 1
"""
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 80)
SCORES = np.round(Y + 1.5 * RNG.normal(size=80), 1)
EXAMPLE = RocCurve.from_scores(Y, SCORES)


def ovarian():
    """The curves of albumin, total protein and the K-G score."""
    table = np.array(OVARIAN.split(), float).reshape(-1, 4)
    scores = table[:, 0], table[:, 1], 10 - table[:, 2]
    return [RocCurve.from_scores(table[:, 3].astype(int), s) for s in scores]


@pytest.mark.parametrize(
    ("test", "auc", "error", "low", "high"),
    [
        (0, 0.7366, 0.0927, 0.5549, 0.9182),
        (1, 0.6478, 0.1000, 0.4518, 0.8439),
        (2, 0.7258, 0.1028, 0.5243, 0.9273),
    ],
)
def test_roc_curve_has_delongs_own_example(test, auc, error, low, high):
    roc = ovarian()[test]
    found = roc.auc, roc.std_error, roc.interval.low, roc.interval.high
    assert found == pytest.approx((auc, error, low, high), abs=5.1e-5)
    assert roc.interval.method == "delong"


def test_minus_has_delongs_own_comparison():
    """Paired differences to the K-G score: estimate, standard error, chi-square, p-value."""
    albumin, protein, score = ovarian()
    first, second = albumin.minus(score), protein.minus(score)
    assert (first.difference, first.std_error) == pytest.approx((0.0108, 0.0953), abs=5.1e-5)
    assert (first.z**2, first.p_value) == pytest.approx((0.0127, 0.9102), abs=5.1e-5)
    assert (second.difference, second.std_error) == pytest.approx((-0.0780, 0.1046), abs=5.1e-5)
    assert (second.z**2, second.p_value) == pytest.approx((0.5554, 0.4561), abs=5.1e-5)


def test_roc_curve_has_scikit_learns_points():
    """With all points of `roc_curve`; precision without the invented one at recall 0."""
    roc = RocCurve.from_scores(Y, SCORES)
    fpr, tpr, thresholds = roc_curve(Y, SCORES, drop_intermediate=False)
    np.testing.assert_array_equal(roc.thresholds, thresholds)
    np.testing.assert_allclose(roc.fpr, fpr, rtol=1e-15)
    np.testing.assert_allclose(roc.tpr, tpr, rtol=1e-15)
    assert roc.auc == pytest.approx(roc_auc_score(Y, SCORES), rel=1e-14)
    assert str(roc).startswith(f"AUC {roc.auc:.4f}, 95 % interval [")
    curve = roc.precision_recall()
    precision, recall, thresholds = precision_recall_curve(Y, SCORES)
    np.testing.assert_allclose(curve.precision, precision[:-1][::-1], rtol=1e-15)
    np.testing.assert_allclose(curve.recall, recall[:-1][::-1], rtol=1e-15)
    np.testing.assert_array_equal(curve.thresholds, thresholds[::-1])
    peer = average_precision_score(Y, SCORES)
    assert curve.average_precision == pytest.approx(peer, rel=1e-13)
    assert str(curve).startswith("average precision 0.")


def test_roc_curve_is_of_the_second_class_unless_one_is_named():
    labels = np.where(Y == 1, "sick", "healthy")
    usual, turned = (
        RocCurve.from_scores(labels, SCORES),
        RocCurve.from_scores(labels, SCORES, positive="healthy"),
    )
    assert usual.positive == "sick"
    assert turned.auc == pytest.approx(1 - usual.auc, rel=1e-13)


def test_roc_curve_without_interval_says_why():
    weighted = RocCurve.from_scores(Y, SCORES, weights=np.ones(80))
    single = RocCurve.from_scores([0, 0, 1], [1, 2, 1.5])
    separated = RocCurve.from_scores([0, 0, 1, 1], [1, 2, 3, 4])
    for roc, note in ((weighted, "weighted"), (single, "two rows"), (separated, "no spread")):
        assert roc.std_error is None
        assert roc.interval is None
        assert note in roc.notes[0]
        assert note in roc._repr_html_()
    assert weighted.auc == pytest.approx(RocCurve.from_scores(Y, SCORES).auc, rel=1e-14)
    assert separated.auc == 1


def test_roc_curve_of_doubled_rows_has_the_error_of_their_groups():
    y, s, g = np.repeat(Y, 2), np.repeat(SCORES, 2), np.repeat(np.arange(80), 2)
    once, grouped = RocCurve.from_scores(Y, SCORES), RocCurve.from_scores(y, s, groups=g)
    assert grouped.interval.method == "delong-grouped"
    assert grouped.std_error == pytest.approx(once.std_error, rel=1e-12)
    assert RocCurve.from_scores(y, s).std_error < 0.75 * once.std_error


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [1, 2, 3]), {}, "one label and one score"),
        (([0, 1, 1], np.ones((3, 2))), {}, "one label and one score"),
        (([0, 1, 1], [1, np.nan, 2]), {}, "score of row 1 is nan"),
        (([0, 1], ["a", "b"]), {}, "scores are no numbers"),
        (([0, 1, None], [1, 2, 3]), {}, "y has no label in row 2"),
        (([0.0, 1.0, np.nan], [1, 2, 3]), {}, "y has no label in row 2"),
        (([0, 1], [1, 2]), {"groups": [1.0, np.nan]}, "groups has no label in row 1"),
        (([0, 0], [1, 2]), {}, "holds 1 classes"),
        (([0, 1, 2], [1, 2, 3]), {}, "holds 3 classes"),
        (([0, 1], [1, 2]), {"positive": 7}, "positive=7 is no class"),
        (([0, 1], [1, 2]), {"weights": [1]}, "weights has shape"),
        (([0, 1], [1, 2]), {"weights": [1, -1]}, "not negative"),
        (([0, 1], [1, 2]), {"weights": [1, 0]}, "no weight at all"),
        (([0, 1], [1, 2]), {"confidence_level": 95}, "between 0 and 1"),
    ],
)
def test_roc_curve_refuses_wrong_rows(arguments, options, message):
    with pytest.raises(BadData, match=message):
        RocCurve.from_scores(*arguments, **options)


def test_minus_refuses_areas_of_other_rows():
    roc = RocCurve.from_scores(Y, SCORES)
    with pytest.raises(Refusal, match="different rows"):
        roc.minus(RocCurve.from_scores(Y[::-1], SCORES[::-1]))
    with pytest.raises(Refusal, match="weighted"):
        roc.minus(RocCurve.from_scores(Y, SCORES, weights=np.ones(80)))
    assert roc.minus(roc).std_error is None
    assert "no spread" in roc.minus(roc).notes[0]


# ---------------- The area under a ROC curve and its variance, against sums over all pairs


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


def test_area_counts_pairs_and_weights():
    """It is the mean of the kernel over all pairs, to the last digit; whole weights are copies."""
    for scores in (*TIED, RNG.normal(size=16)):
        pairs = [kernel(a, b) for a, b in product(scores[POSITIVE], scores[~POSITIVE])]
        assert area_under_roc_curve(scores, POSITIVE) == sum(pairs) / len(pairs)
    counts = RNG.integers(1, 4, 16)
    copies = np.repeat(np.arange(16), counts)
    weighted = area_under_roc_curve(TIED[0], POSITIVE, counts.astype(float))
    assert weighted == pytest.approx(
        area_under_roc_curve(TIED[0][copies], POSITIVE[copies]), rel=1e-14
    )
    w = RNG.random(16)
    peer = roc_auc_score(POSITIVE, TIED[0], sample_weight=w)
    assert area_under_roc_curve(TIED[0], POSITIVE, w) == pytest.approx(peer, rel=1e-12)


def test_placements_and_covariance_are_delongs():
    """Shares of pairs in order, ties half; S10/m + S01/n from the components of two scores."""
    parts = [brute_components(scores, POSITIVE) for scores in TIED]
    placed = np.array([placements(scores, POSITIVE) for scores in TIED])
    for scores, found, (v10, v01) in zip(TIED, placed, parts, strict=True):
        np.testing.assert_allclose(found[POSITIVE], v10, rtol=1e-14)
        np.testing.assert_allclose(found[~POSITIVE], v01, rtol=1e-14)
        assert found[POSITIVE].mean() == pytest.approx(
            area_under_roc_curve(scores, POSITIVE), rel=1e-14
        )
    expected = np.cov([p[0] for p in parts]) / 9 + np.cov([p[1] for p in parts]) / 7
    np.testing.assert_allclose(covariance_of_areas(placed, POSITIVE), expected, rtol=1e-12)


def test_covariance_needs_two_rows_and_groups_of_each_class():
    parts = np.array([[1.0, 1.0, 0.5]])
    assert covariance_of_areas(parts, np.array([True, True, False])) is None
    four = np.array([[1.0, 1.0, 0.5, 0.5]])
    halves = np.array([True, True, False, False])
    assert covariance_of_areas(four, halves, np.array([0, 0, 1, 2])) is None


def test_covariance_of_all_samples_has_the_known_bias():
    """Its mean over all samples of 2 + 2 exceeds the variance of the area by a known O(1/mn).

    The area varies by rows/m + columns/n + interaction/mn; the estimate counts the interaction
    once per class.
    """
    up, down = [0.0, 1.0, 2.0], [0.0, 1.0, 3.0]
    areas, estimates = [], []
    positive = np.array([True, True, False, False])
    for a, b, c, d in product(up, up, down, down):
        scores = np.array([a, b, c, d])
        areas.append(area_under_roc_curve(scores, positive))
        found = covariance_of_areas(placements(scores, positive)[None, :], positive)
        estimates.append(found[0, 0])
    table = np.array([[kernel(a, b) for b in down] for a in up])
    rows, columns = table.mean(axis=1).var(), table.mean(axis=0).var()
    interaction = table.var() - rows - columns
    assert np.var(areas) == pytest.approx(rows / 2 + columns / 2 + interaction / 4, rel=1e-12)
    assert np.mean(estimates) == pytest.approx(rows / 2 + columns / 2 + interaction / 2, rel=1e-12)


def brute_clustered(scores, positive, groups):
    """Obuchowski's variance as printed, cluster by cluster."""
    v = placements(scores, positive)
    theta, m, n = area_under_roc_curve(scores, positive), positive.sum(), (~positive).sum()
    labels = np.unique(groups)
    ten = {g: (v[positive & (groups == g)] - theta).sum() for g in labels}
    one = {g: (v[~positive & (groups == g)] - theta).sum() for g in labels}
    i10, i01 = len(set(groups[positive])), len(set(groups[~positive]))
    s10 = i10 / ((i10 - 1) * m) * sum(x * x for x in ten.values())
    s01 = i01 / ((i01 - 1) * n) * sum(x * x for x in one.values())
    i = len(labels)
    s11 = i / (i - 1) * sum(ten[g] * one[g] for g in labels)
    return s10 / m + s01 / n + 2 * s11 / (m * n)


def test_covariance_of_groups_is_obuchowskis():
    """Rows of one group are summed before they are squared, and the classes covary by group."""
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 0, 1, 2, 3, 4, 5, 5])
    found = covariance_of_areas(placements(TIED[0], POSITIVE)[None, :], POSITIVE, groups)
    expected = brute_clustered(TIED[0], POSITIVE, groups)
    assert found[0, 0] == pytest.approx(expected, rel=1e-12)


def test_plot_models_draws_all_models_on_test_rows():
    """Scores are of the positive class, from probabilities or decision values of either sign."""
    X = np.column_stack([SCORES, RNG.normal(size=80)])
    models = {"lda": LinearDiscriminantAnalysis().fit(X, Y), "svm": LinearSVC().fit(X, Y)}
    texts = RocCurve.plot_models(models, X, Y).get_legend().get_texts()
    area = roc_auc_score(Y, models["svm"].decision_function(X))
    assert texts[-1].get_text().startswith(f"svm: AUC {area:.3f} [")
    first = RocCurve.plot_models(models, X, Y, positive=0).get_legend().get_texts()
    assert [one.get_text() for one in first] == [one.get_text() for one in texts]
    for wrong, said in (
        ({}, "give a dict"),
        (models["svm"], "give a dict"),
        ({"new": LinearSVC()}, "'new' has no class 1"),
        ({"c": OutputCodeClassifier(LinearSVC()).fit(X, Y)}, "'c' gives neither"),
    ):
        with pytest.raises(BadData, match=said):
            RocCurve.plot_models(wrong, X, Y)
