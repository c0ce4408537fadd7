"""Mehta: validation flatters, the memoriser errs on positives, GAM lies above two trees."""

import numpy as np
import pytest
from scipy.special import ndtr

import truerisk as tr
from truerisk import RocCurve
from truerisk.datasets.documents import FOLDER_VARIABLE
from truerisk.experiments import mehta, reproduce
from truerisk.experiments.mehta import (
    BETAS,
    MEAN_DIFFERENCE,
    MODEL_NAMES,
    RARE,
    REPORTED_RATES,
    N,
    mehta_rules,
)
from truerisk.experiments.reproducing import draw_replicates
from truerisk.extend import BadData


def test_mehta_picture_of_three_parts_has_the_numbers_of_the_table(findings_of):
    found = findings_of("mehta-three-way")
    rows = {row.name: row.ours for row in found.tables[0].rows}
    errors, away = found.figures[0].panels
    means = {one.label: one.y.mean() for one in errors.series}
    assert means["validation error"] == pytest.approx(rows["validation error of the selected"])
    assert means["true risk, 10-fold"] == pytest.approx(rows["10-fold: its true risk, all rows"])
    gaps = {one.label: one.y.mean() for one in away.series}
    (gap,) = found.claims[4].quantities
    full = {row.name: row.ours for row in found.tables[1].rows}
    assert gap.value == pytest.approx(full["10-fold: mean"] - full["true risk"])
    for way in ("10-fold", "leave-one-out"):
        error, risk = f"{way}: error of the selected", f"{way}: its true risk, all rows"
        assert gaps[f"{way} error"] == pytest.approx(rows[error] - rows[risk])
    true = rows["true risk of the refitted"]
    assert gaps["test error"] == pytest.approx(rows["test error of the refitted"] - true)


def test_mehta_errors_of_constant_are_the_negative_shares():
    training, test, learned, tested = mehta_rules.replicate(0, 1)["constant"]
    assert training == pytest.approx(1 - learned)
    assert test == pytest.approx(1 - tested)
    assert learned * N == pytest.approx(round(learned * N))


def test_mehta_rates_are_those_of_two_gaussians():
    found = mehta_rules.findings(draw_replicates(mehta_rules, 50))
    grid = {row.name: row for row in found.tables[1].rows}
    odds = np.array(BETAS) / (1 - np.array(BETAS)) * (1 - RARE) / RARE
    cut = (np.log(odds) + MEAN_DIFFERENCE**2 / 2) / MEAN_DIFFERENCE
    for name, exact in (
        ("true positive rate", ndtr(MEAN_DIFFERENCE - cut)),
        ("true negative rate", ndtr(cut)),
    ):
        for mean, error, known in zip(grid[name].means, grid[name].std_errors, exact, strict=True):
            assert abs(mean - known) < 4 * error


def test_mehta_rates_lie_on_the_lines_between_thresholds():
    truth = np.repeat([1, 0], 4)
    curve = RocCurve.from_scores(truth, [3, 3, 2, 2, 3, 2, 1, 1], positive=1)
    negatives = dict(
        zip(
            REPORTED_RATES,
            1 - mehta._interpolate_rate(curve.tpr, curve.fpr, REPORTED_RATES),
            strict=True,
        )
    )
    found = mehta._interpolate_rate(curve.fpr[::-1], curve.tpr[::-1], 1 - np.array(REPORTED_RATES))
    positives = dict(zip(REPORTED_RATES, found, strict=True))
    assert negatives[0.5] == pytest.approx(0.75)
    assert negatives[0.8] == pytest.approx(0.75 - 0.25 * 0.6)
    assert negatives[1.0] == pytest.approx(0.5)
    assert positives[0.5] == pytest.approx(1.0)
    assert positives[0.9] == pytest.approx(0.2)
    assert positives[1.0] == pytest.approx(0.0)


def test_mehta_thresholds_lie_on_the_curves():
    curve = RocCurve.from_scores([1, 1, 0, 0, 0], [0.9, 0.3, 0.6, 0.1, 0.05], positive=1)
    high, low = curve.at(0.5), curve.at(0.3)
    assert (high.sensitivity, high.specificity) == pytest.approx((1 / 2, 2 / 3))
    sensitivity, specificity = low.sensitivity, low.specificity
    rates = np.array([1 / 2, sensitivity]), np.array([2 / 3, specificity])
    assert mehta.precision(*rates, np.array(2 / 5)) == pytest.approx([1 / 2, 2 / 3])
    (alarms,) = mehta._interpolate_rate(curve.tpr, curve.fpr, [sensitivity])
    assert 1 - alarms == pytest.approx(specificity)


def test_mehta_spam_areas_are_those_of_scikit_learn():
    try:
        tr.datasets.load("spam")
    except BadData:
        pytest.skip(f"{FOLDER_VARIABLE} names no folder with spam.csv.gz")
    report = reproduce("mehta-spam", replicates=2)
    areas = {row.name: row.ours for row in report.tables[0].rows}
    assert list(areas) == list(MODEL_NAMES)
    assert list(areas.values()) == pytest.approx([0.98400484, 0.93584393, 0.89731452], abs=2e-6)


def test_mehta_spam_claims_are_of_all_models_at_all_rates():
    rng = np.random.default_rng(0)
    levels = np.array([0.98, 0.9, 0.8])[:, None]
    rates = np.where(np.array(REPORTED_RATES) == 1, 0.05, levels)
    ranks = 1 - mehta.RATE_GRID**4 * np.ones((12, 3, 1))
    draws = {
        "curve": ranks,
        "at β": np.full((12, 3, len(mehta.MARKERS_BY_BETA), 2), 0.5),
        "share of spam": np.full(12, 0.4),
        "AUC": levels[:, 0] + 0.001 * rng.normal(size=(12, 3)),
        "true negative rate": rates + 0.001 * rng.normal(size=(12, 3, len(REPORTED_RATES))),
        "true positive rate": rates + 0.001 * rng.normal(size=(12, 3, len(REPORTED_RATES))),
    }
    found = mehta.mehta_spam.findings(draws)
    assert [claim.verdict for claim in found.claims] == ["holds"] * 4
    assert len(found.claims[0].quantities) == 2 * (len(REPORTED_RATES) - 1)
    for panel in found.figures[0].panels:
        assert [line.label for line in panel.series][:3] == list(MODEL_NAMES)
    roc, precision = found.figures[0].panels
    assert (roc.series[0].x[0], roc.series[0].x[-1], len(roc.series[0].x)) == (0, 1, 201)
    assert [one.label for one in roc.series[3:7]] == ["β = 0.9", "β = 0.5", "β = 0.1", "β = 0.02"]
    assert precision.series[-1].y.tolist() == pytest.approx([0.4, 0.4])
    assert precision.series[0].y[-1] == pytest.approx(0.4)
    assert precision.series[4].y == pytest.approx([0.4] * 3)
    worse = {**draws, "true positive rate": draws["true positive rate"][:, ::-1]}
    assert mehta.mehta_spam.findings(worse).claims[0].verdict == "does not hold"
