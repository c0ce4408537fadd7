"""ROC curves of spam: rates along the lines of a curve, and GAM above two trees."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk import datasets
from truerisk.core.errors import BadData
from truerisk.core.statistics.roc import RocCurve
from truerisk.datasets.documents import FOLDER
from truerisk.papers import mehta_spam as module
from truerisk.papers import reproduce
from truerisk.papers.mehta_spam import MODELS, RATES


def test_rates_lie_on_the_lines_between_thresholds():
    """Four of each class, scores 3 > 2 > 1: (0, 0), (¼, ½), (½, 1) and (1, 1) by hand."""
    truth = np.repeat([1, 0], 4)
    curve = RocCurve.of(truth, [3, 3, 2, 2, 3, 2, 1, 1], positive=1)
    negatives = dict(zip(RATES, 1 - module._along(curve.tpr, curve.fpr, RATES), strict=True))
    found = module._along(curve.fpr[::-1], curve.tpr[::-1], 1 - np.array(RATES))
    positives = dict(zip(RATES, found, strict=True))
    assert negatives[0.5] == pytest.approx(0.75)
    assert negatives[0.8] == pytest.approx(0.75 - 0.25 * 0.6)
    assert negatives[1.0] == pytest.approx(0.5)
    assert positives[0.5] == pytest.approx(1.0)
    assert positives[0.9] == pytest.approx(0.2)
    assert positives[1.0] == pytest.approx(0.0)


def test_thresholds_lie_on_the_curves():
    """By hand: one of two spams and one of three good mails at β = .5, two and one at .3."""
    curve = RocCurve.of([1, 1, 0, 0, 0], [0.9, 0.3, 0.6, 0.1, 0.05], positive=1)
    high, low = curve.at(0.5), curve.at(0.3)
    assert (high.sensitivity, high.specificity) == pytest.approx((1 / 2, 2 / 3))
    sensitivity, specificity = low.sensitivity, low.specificity
    rates = np.array([1 / 2, sensitivity]), np.array([2 / 3, specificity])
    assert module.precision(*rates, np.array(2 / 5)) == pytest.approx([1 / 2, 2 / 3])
    (alarms,) = module._along(curve.tpr, curve.fpr, [sensitivity])
    assert 1 - alarms == pytest.approx(specificity)


def test_areas_are_those_of_scikit_learn():
    """Two splits of the real messages, where they are; the file is made by R's kernlab.

    rows = list(csv.reader(gzip.open("spam.csv.gz", "rt")))[1:]
    X = np.log(np.array([row[:-1] for row in rows], float) + 0.1)
    y = np.array([row[-1] == "spam" for row in rows])
    order = np.random.default_rng([0, number, *b"mehta spam"]).permutation(4601)
    roc_auc_score(y[order[:1536]], p), p from the three models, fitted to the rows order[1536:]
    """
    try:
        datasets.load("spam")
    except BadData:
        pytest.skip(f"{FOLDER} names no folder with spam.csv.gz")
    report = reproduce("mehta-spam", replicates=2)
    areas = {row.name: row.ours for row in report.tables[0].rows}
    assert list(areas) == list(MODELS)
    assert list(areas.values()) == pytest.approx([0.98400484, 0.93584393, 0.89731452], abs=2e-6)


def test_claims_are_of_all_models_at_all_rates():
    """Curves made by hand: GAM best everywhere, everything lost at a true positive rate of 1."""
    rng = np.random.default_rng(0)
    levels = np.array([0.98, 0.9, 0.8])[:, None]
    rates = np.where(np.array(RATES) == 1, 0.05, levels)
    ranks = 1 - module.GRID**4 * np.ones((12, 3, 1))
    draws = {
        "curve": ranks,
        "at β": np.full((12, 3, len(module.MARKS), 2), 0.5),
        "share of spam": np.full(12, 0.4),
        "AUC": levels[:, 0] + 0.001 * rng.normal(size=(12, 3)),
        "true negative rate": rates + 0.001 * rng.normal(size=(12, 3, len(RATES))),
        "true positive rate": rates + 0.001 * rng.normal(size=(12, 3, len(RATES))),
    }
    found = module.mehta_spam.findings(draws)
    assert [claim.verdict for claim in found.claims] == ["holds"] * 4
    assert len(found.claims[0].quantities) == 2 * (len(RATES) - 1)
    for panel in found.figures[0].panels:
        assert [line.label for line in panel.series][:3] == list(MODELS)
    roc, precision = found.figures[0].panels
    assert (roc.series[0].x[0], roc.series[0].x[-1], len(roc.series[0].x)) == (0, 1, 201)
    assert [one.label for one in roc.series[3:7]] == ["β = 0.9", "β = 0.5", "β = 0.1", "β = 0.02"]
    assert precision.series[-1].y.tolist() == pytest.approx([0.4, 0.4])
    assert precision.series[0].y[-1] == pytest.approx(0.4)
    assert precision.series[4].y == pytest.approx([0.4] * 3)
    worse = {**draws, "true positive rate": draws["true positive rate"][:, ::-1]}
    assert module.mehta_spam.findings(worse).claims[0].verdict == "does not hold"
