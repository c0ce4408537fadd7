"""Tuned learners on the ozone data: risks, boxes and ROC curves; nine learners for both tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from truerisk.experiments import insa_ozone as module
from truerisk.experiments.insa_ozone import LEARNERS, ozone_family
from truerisk.experiments.reproducing import reproduce

FEW = ("linear", "tree")


@pytest.fixture
def report(monkeypatch):
    """Two learners on 120 rows whose first column is nearly the concentration."""
    rng = np.random.default_rng(0)
    level = rng.uniform(100, 200, 120)
    X = np.column_stack([level + rng.normal(0, 15, 120), rng.normal(size=(120, 3))])
    monkeypatch.setattr(module, "_forecasts", lambda: (X, level))
    monkeypatch.setattr(module, "LEARNERS", FEW)
    return reproduce(replace(module.insa_ozone, check=tuple), replicates=3, seed=1)


def test_each_learner_has_three_risks(report) -> None:
    """Squared error near the noise, and few rows on the wrong side of 150."""
    squared, wrong, area = report.tables
    assert [[row.name for row in table.rows] for table in (squared, wrong, area)] == [[*FEW]] * 3
    assert 100 < squared.rows[0].ours < 400
    assert 0 < wrong.rows[0].ours < 0.3
    assert 0 < area.rows[0].ours < 0.1


def test_boxes_for_both_tasks_and_a_roc_curve_of_each(report) -> None:
    """One box per learner; each curve from (0, 0) to (1, 1), and the line of chance."""
    (figure,) = report.figures
    assert [panel.kind for panel in figure.panels] == ["boxes", "boxes", "lines"]
    assert [len(panel.series) for panel in figure.panels] == [2, 2, 3]
    assert all(len(series.y) == 3 for series in figure.panels[0].series)
    for curve in figure.panels[2].series[:2]:
        area = np.diff(curve.x) @ (curve.y[1:] + curve.y[:-1]) / 2
        assert curve.label.endswith(f", area {area:.3f}")
    for curve in figure.panels[2].series:
        assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 1)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(250, 4))
NUMBERS = 30 * X[:, 0] + RNG.normal(size=250)


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("word", LEARNERS)
def test_every_setting_can_be_fitted(word, task) -> None:
    """It learns what is plain, and a classifier ranks the rows."""
    family = ozone_family(word, task)
    assert family.task == task
    y = NUMBERS if task == "regression" else (NUMBERS > 0).astype(int)
    model = family.make(len(family) - 1).fit(X, y)
    assert model.score(X, y) > 0.4
    if task == "classification":
        assert hasattr(model, "decision_function") or hasattr(model, "predict_proba")


def test_interactions_are_squares_and_products() -> None:
    """Four columns become fourteen."""
    model = ozone_family("linear, interactions", "regression").make(0).fit(X, NUMBERS)
    assert len(model[-1].coef_) == 14
    assert len(ozone_family("linear", "regression").make(0).fit(X, NUMBERS)[-1].coef_) == 4
