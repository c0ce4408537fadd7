"""A finished model and other people's rows: one question to a fit that sees no row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri, stdtrit
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from tests.support.survival import PAIRS, Exponential, drawn_times

from truerisk.contracts import Streams
from truerisk.core.family import Family
from truerisk.estimation.problem import pose
from truerisk.estimation.run import compute, procedure_of
from truerisk.methods.external import External
from truerisk.results.roc import RocCurve

RNG = np.random.default_rng(3)
X = RNG.standard_normal((240, 2))
Y = (X[:, 0] + RNG.logistic(size=240) > 0).astype(int)
MODEL = LogisticRegression().fit(X[:60], Y[:60])
OTHERS = X[60:], Y[60:]


def computed_of(problem):
    """Test a finished model as it is, with the calibrated interval."""
    return compute(replace(problem, calibrated=True), External())


def computed_with(**words):
    """Test the model on rows that it has not seen."""
    return computed_of(pose(Family.of(FrozenEstimator(MODEL)), *OTHERS, **words))


def test_its_plan_is_one_test_set_and_no_training_row():
    """All rows are asked about, once."""
    plan = External().plan(computed_with().problem.data, Streams(0))
    assert (plan.n_fits, plan.n_questions, plan.parts) == (1, 1, ("outer",))
    assert plan.train_sizes.tolist() == [0]
    np.testing.assert_array_equal(plan.test_rows(0)[0], np.arange(180))


def test_no_fit_is_counted_and_none_is_made():
    """The risk is that of this rule."""
    risk = procedure_of(computed_with())
    assert (risk.n_fits, risk.method, risk.target) == (0, "external", "Err_XY")
    assert risk.value == np.mean(MODEL.predict(OTHERS[0]) != OTHERS[1])
    assert risk.splits.tolist() == [[0, 0, 180]]


def test_rows_are_independent_tests_of_one_rule():
    """No factor of cross-validation: DeLong's error without the bias of few, on the logit scale."""
    risk = procedure_of(computed_with(scoring="auc"))
    scores = MODEL.decision_function(OTHERS[0])
    area, z = roc_auc_score(OTHERS[1], scores), ndtri(0.975)
    assert risk.value == pytest.approx(area)
    delong = RocCurve.of(OTHERS[1] == 1, scores)
    assert risk.std_error == pytest.approx(delong.std_error, rel=0.03)
    m, n = OTHERS[1].sum(), 180
    more = m / (m - 1) * (n - m) / (n - m - 1) * (n - 1) / n
    half = z * risk.std_error * more**0.5 / (area * (1 - area))
    interval = risk.interval
    assert [interval.low, interval.high] == pytest.approx(
        [expit(logit(area) - half), expit(logit(area) + half)]
    )


def test_few_events_of_a_survival_model_have_an_interval_by_student():
    """Two events tell the variance badly, and 40 rows in 8 groups have 7 degrees."""
    rng = np.random.default_rng(5)
    X, risk = rng.standard_normal((40, 3)), FrozenEstimator(Exponential().fit(*drawn_times()))
    came = np.arange(40) < 2
    y = np.array(list(zip(came, rng.permutation(40) + 1.0)), dtype=PAIRS)
    two = procedure_of(computed_of(pose(Family.of(risk), X, y)))
    low, high = two.interval.low, two.interval.high
    share, t = two.value, stdtrit(1, 0.975)
    half = t * two.std_error * (39**2 / (38 * 37)) ** 0.5 / (share * (1 - share))
    assert [low, high] == pytest.approx([expit(logit(share) - half), expit(logit(share) + half)])
    grouped = pose(Family.of(risk), X, y, groups=np.arange(40) % 8)
    of_groups = procedure_of(computed_of(grouped))
    half = stdtrit(7, 0.975) * of_groups.std_error / (share * (1 - share))
    assert of_groups.interval.high == pytest.approx(expit(logit(share) + half))
