"""A finished model and other people's rows: one question to a fit that sees no row."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri, stdtrit
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from tests.support.data import normal_rows
from tests.support.plans import drawn, sets_of
from tests.support.survival import PAIRS, Exponential, drawn_times

import truerisk as tr
from truerisk.estimation.problem import problem_from_arguments
from truerisk.estimation.run import compute_risks, to_procedure_estimate
from truerisk.extend import Family
from truerisk.methods.external import External

X, Y, _ = normal_rows(240, seed=3)
MODEL = LogisticRegression().fit(X[:60], Y[:60])
OTHERS = X[60:], Y[60:]


def computed(model=MODEL, X=OTHERS[0], y=OTHERS[1], **words):
    """Test a finished model on rows that it has not seen, with the calibrated interval."""
    problem = problem_from_arguments(Family.from_grid(FrozenEstimator(model)), X, y, **words)
    return compute_risks(replace(problem, uses_calibrated_interval=True), External())


def test_external_asks_about_all_rows_once_and_fits_nothing():
    every = computed()
    plan, risk = drawn(External(), every.problem.data), to_procedure_estimate(every)
    assert sets_of(plan) == [([], list(range(180)))]
    assert plan.parts == ("outer",)
    assert (risk.n_fits, risk.method, risk.target) == (0, "external", "Err_XY")
    assert risk.value == np.mean(MODEL.predict(OTHERS[0]) != OTHERS[1])
    assert risk.splits.tolist() == [[0, 0, 180]]


def test_external_rows_are_independent_tests_of_one_rule():
    """No factor of cross-validation: DeLong's error without the bias of few, on the logit scale."""
    risk = to_procedure_estimate(computed(scoring="auc"))
    scores = MODEL.decision_function(OTHERS[0])
    area = roc_auc_score(OTHERS[1], scores)
    assert risk.value == pytest.approx(area)
    delong = tr.RocCurve.from_scores(OTHERS[1] == 1, scores)
    assert risk.std_error == pytest.approx(delong.std_error, rel=0.03)
    m, n = OTHERS[1].sum(), 180
    more = m / (m - 1) * (n - m) / (n - m - 1) * (n - 1) / n
    half = ndtri(0.975) * risk.std_error * more**0.5 / (area * (1 - area))
    ends = expit(logit(area) + np.array([-half, half]))
    assert [risk.interval.low, risk.interval.high] == pytest.approx(ends)


def test_external_survival_model_has_students_interval_where_events_are_few():
    """Two events tell the variance badly, and 40 rows in 8 groups have 7 degrees."""
    rng = np.random.default_rng(5)
    rows, model = rng.standard_normal((40, 3)), Exponential().fit(*drawn_times())
    y = np.array(list(zip(np.arange(40) < 2, rng.permutation(40) + 1.0)), dtype=PAIRS)
    two = to_procedure_estimate(computed(model, rows, y))
    scale = two.value * (1 - two.value)
    half = stdtrit(1, 0.975) * two.std_error * (39**2 / (38 * 37)) ** 0.5 / scale
    ends = expit(logit(two.value) + np.array([-half, half]))
    assert [two.interval.low, two.interval.high] == pytest.approx(ends)
    grouped = to_procedure_estimate(computed(model, rows, y, groups=np.arange(40) % 8))
    half = stdtrit(7, 0.975) * grouped.std_error / scale
    assert grouped.interval.high == pytest.approx(expit(logit(two.value) + half))
