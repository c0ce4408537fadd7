"""ROC curves as values: scikit-learn's points, a published example, refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from truerisk.core.errors import BadData, Refusal
from truerisk.core.statistics.roc import RocCurve

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


def ovarian():
    """The curves of albumin, total protein and the K-G score."""
    table = np.array(OVARIAN.split(), float).reshape(-1, 4)
    scores = table[:, 0], table[:, 1], 10 - table[:, 2]
    return [RocCurve.of(table[:, 3].astype(int), s) for s in scores]


@pytest.mark.parametrize(
    ("test", "auc", "error", "low", "high"),
    [
        (0, 0.7366, 0.0927, 0.5549, 0.9182),
        (1, 0.6478, 0.1000, 0.4518, 0.8439),
        (2, 0.7258, 0.1028, 0.5243, 0.9273),
    ],
)
def test_delongs_own_example(test, auc, error, low, high) -> None:
    """Area, standard error and interval of the paper's three screening tests."""
    roc = ovarian()[test]
    found = roc.auc, roc.std_error, roc.interval.low, roc.interval.high
    assert found == pytest.approx((auc, error, low, high), abs=5.1e-5)
    assert roc.interval.method == "delong"


def test_delongs_own_comparison() -> None:
    """Paired differences to the K-G score: estimate, standard error, chi-square, p-value."""
    albumin, protein, score = ovarian()
    first, second = albumin.minus(score), protein.minus(score)
    assert (first.difference, first.std_error) == pytest.approx((0.0108, 0.0953), abs=5.1e-5)
    assert (first.z**2, first.p_value) == pytest.approx((0.0127, 0.9102), abs=5.1e-5)
    assert (second.difference, second.std_error) == pytest.approx((-0.0780, 0.1046), abs=5.1e-5)
    assert (second.z**2, second.p_value) == pytest.approx((0.5554, 0.4561), abs=5.1e-5)


def test_the_points_are_scikit_learns() -> None:
    """Rates and thresholds of `roc_curve` with all its points; the area of the drawn curve."""
    roc = RocCurve.of(Y, SCORES)
    fpr, tpr, thresholds = roc_curve(Y, SCORES, drop_intermediate=False)
    np.testing.assert_array_equal(roc.thresholds, thresholds)
    np.testing.assert_allclose(roc.fpr, fpr, rtol=1e-15)
    np.testing.assert_allclose(roc.tpr, tpr, rtol=1e-15)
    assert roc.auc == pytest.approx(roc_auc_score(Y, SCORES), rel=1e-14)
    under = (np.diff(roc.fpr) * (roc.tpr[1:] + roc.tpr[:-1]) / 2).sum()
    assert under == pytest.approx(roc.auc, rel=1e-14)


def test_precision_and_recall_are_scikit_learns() -> None:
    """Its points without the invented one at recall 0, and its average precision."""
    curve = RocCurve.of(Y, SCORES).precision_recall()
    precision, recall, thresholds = precision_recall_curve(Y, SCORES)
    np.testing.assert_allclose(curve.precision, precision[:-1][::-1], rtol=1e-15)
    np.testing.assert_allclose(curve.recall, recall[:-1][::-1], rtol=1e-15)
    np.testing.assert_array_equal(curve.thresholds, thresholds[::-1])
    peer = average_precision_score(Y, SCORES)
    assert curve.average_precision == pytest.approx(peer, rel=1e-13)
    assert str(curve).startswith("average precision 0.")


def test_the_positive_class_can_be_named() -> None:
    """The second class in order unless named; the other one turns the curve about."""
    labels = np.where(Y == 1, "sick", "healthy")
    assert RocCurve.of(labels, SCORES).positive == "sick"
    assert RocCurve.of(labels, SCORES, positive="healthy").auc == pytest.approx(
        1 - RocCurve.of(labels, SCORES).auc, rel=1e-13
    )


def test_what_has_no_interval_says_why() -> None:
    """Weights, a single row of a class, perfect separation: None and a note."""
    weighted = RocCurve.of(Y, SCORES, weights=np.ones(80))
    single = RocCurve.of([0, 0, 1], [1, 2, 1.5])
    separated = RocCurve.of([0, 0, 1, 1], [1, 2, 3, 4])
    for roc, note in ((weighted, "weighted"), (single, "two rows"), (separated, "no spread")):
        assert roc.std_error is None
        assert roc.interval is None
        assert note in roc.notes[0]
        assert note in roc._repr_html_()
    assert weighted.auc == pytest.approx(RocCurve.of(Y, SCORES).auc, rel=1e-14)
    assert separated.auc == 1


def test_groups_widen_the_interval_by_their_name() -> None:
    """Every row twice is no news: in groups the error stays about, without it shrinks by √2."""
    y, s, g = np.repeat(Y, 2), np.repeat(SCORES, 2), np.repeat(np.arange(80), 2)
    once, grouped = RocCurve.of(Y, SCORES), RocCurve.of(y, s, groups=g)
    assert grouped.interval.method == "delong-grouped"
    assert grouped.std_error == pytest.approx(once.std_error, rel=1e-12)
    assert RocCurve.of(y, s).std_error < 0.75 * once.std_error


def test_it_becomes_json_and_prints() -> None:
    """Plain values under a schema; the text holds area, interval and counts."""
    roc = RocCurve.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    content = json.loads(roc.to_json())
    assert content["schema"] == "truerisk.roc-curve/1"
    assert content["thresholds"] == ["inf", 0.8, 0.4, 0.35, 0.1]
    assert content["interval"]["method"] == "delong"
    assert str(roc).startswith("AUC 0.7500, 95 % interval [")


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
def test_what_has_no_curve_is_refused(arguments, options, message) -> None:
    """Each with what is wrong and where."""
    with pytest.raises(BadData, match=message):
        RocCurve.of(*arguments, **options)


def test_areas_of_other_rows_are_not_paired() -> None:
    """Another order of rows, or weights, have no paired difference; equal scores no spread."""
    roc = RocCurve.of(Y, SCORES)
    with pytest.raises(Refusal, match="different rows"):
        roc.minus(RocCurve.of(Y[::-1], SCORES[::-1]))
    with pytest.raises(Refusal, match="weighted"):
        roc.minus(RocCurve.of(Y, SCORES, weights=np.ones(80)))
    assert roc.minus(roc).std_error is None
    assert "no spread" in roc.minus(roc).notes[0]
