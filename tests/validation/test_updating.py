"""What new coefficients gain for a finished model: fits of one or two numbers, told honestly."""

import re

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, mean_squared_error

import truerisk as tr
from truerisk.extend import Interval, Refusal
from truerisk.methods import Pairs
from truerisk.validation.calibration import CalibrationLine
from truerisk.validation.calibration_fits import IDENTITY
from truerisk.validation.outcomes import Outcomes
from truerisk.validation.updating import ModelUpdates, RecalibratedClassifier, Update

RNG = np.random.default_rng(5)
ETA = RNG.standard_normal(400)
P = expit(ETA)


def events(shift=0.0, slope=1.0):
    """Whether they came, where the model is off by so much."""
    return (RNG.random(400) < expit(shift + slope * ETA)).astype(int)


def updated(outcomes, *, grouped=False):
    """With seed 0, at 95 %."""
    line = CalibrationLine.from_outcomes(outcomes)
    return ModelUpdates.from_outcomes(outcomes, line, level=0.95, seed=0, grouped=grouped)


SHIFTED = events(shift=-1.0)


@pytest.fixture(scope="module")
def found():
    """Events are rarer than the model says."""
    return updated(Outcomes.from_predictions(SHIFTED, P))


def test_updating_has_the_risks_of_cross_validation(found):
    """As it is: its own losses. With both: an unpenalised logistic regression on the same folds.

    In the large the slope is 1; intercept and slope are fitted together.
    """
    as_it_is, _, both = found.updates
    assert as_it_is.risk == pytest.approx(log_loss(SHIFTED, P))
    assert as_it_is.brier == pytest.approx(brier_score_loss(SHIFTED, P))
    plain = LogisticRegression(C=np.inf, tol=1e-10)
    direct = tr.estimate_risk(
        plain, ETA[:, None], SHIFTED, cv=Pairs(), scoring="log", random_state=0
    )
    assert both.risk == pytest.approx(direct.value, abs=1e-6)
    assert both.brier > 0
    line = CalibrationLine.from_outcomes(Outcomes.from_predictions(SHIFTED, P)).measures()
    told = [(one.intercept, one.slope) for one in found.updates]
    assert told == [(0, 1), (line["in-the-large"], 1), (line["intercept"], line["slope"])]
    again = ModelUpdates.from_json(found.to_json())
    assert again.sentence == found.sentence
    assert re.search(rf"intercept +{found.updates[1].intercept:.4f}  1.0000", str(again))


def test_updated_probabilities_fit_one_number_with_the_other_held():
    """The intercept alone makes predictions right on average, whatever the slope."""
    model = RecalibratedClassifier("intercept").fit(P[:, None], SHIFTED)
    assert model.predict_proba(P[:, None])[:, 1].mean() == pytest.approx(SHIFTED.mean())
    assert logit(model.predict_proba(P[:, None])[:, 1]) - ETA == pytest.approx(model.coef_[0])
    assert (model.predict(P[:, None]) == (model.predict_proba(P[:, None])[:, 1] > 0.5)).all()
    said = np.r_[P, 0.0, 1.0]
    kept = RecalibratedClassifier().fit(P[:, None], SHIFTED).predict_proba(said[:, None])
    np.testing.assert_array_equal(kept[:, 1], said)  # to the last digit


def test_updating_tells_a_gain_and_not_noise(found):
    """Each update against the model as it is, so that a gain of both together is seen."""
    as_it_is, intercept, both = found.updates
    assert intercept.change == pytest.approx(intercept.risk - as_it_is.risk)
    assert both.change == pytest.approx(both.risk - as_it_is.risk)
    assert "updating the intercept would lower the log loss from 0." in found.sentence
    assert "updating the intercept and slope would lower the log loss from 0." in found.sentence
    right = updated(Outcomes.from_predictions(events(), P))
    assert "updating the intercept is not shown to change the log loss (change" in right.sentence
    steep = updated(Outcomes.from_predictions(events(slope=0.2), P))
    assert "updating the intercept and slope would lower the log loss" in steep.sentence
    # A loss is told, too, and what no row tells apart.
    worse = Interval(0.01, 0.03, "paired-cv", 0.95)
    lines = (
        Update("nothing", 0, 1, 0.5),
        Update("intercept", 0.1, 1, 0.52, None, 0.02, worse),
        Update("intercept and slope", 0.1, 1, 0.52),
    )
    assert ModelUpdates("squared", lines).sentence == (
        "By cross-validation, updating the intercept would raise the squared error from 0.500 "
        "to 0.520 (change 0.020, 0.010 to 0.030); updating the intercept and slope changes nothing "
        "that could be told."
    )


def test_updating_of_numbers_is_by_least_squares():
    """Squared error, on the folds of a linear regression; small numbers have digits."""
    y = 1 + 0.5 * ETA + RNG.standard_normal(400)
    found = updated(Outcomes.from_predictions(y, ETA, link=IDENTITY))
    assert found.updates[0].risk == pytest.approx(mean_squared_error(y, ETA))
    direct = tr.estimate_risk(LinearRegression(), ETA[:, None], y, cv=Pairs(), random_state=0)
    assert found.updates[2].risk == pytest.approx(direct.value)
    assert (found.scoring, found.updates[0].brier) == ("squared", None)
    said = updated(Outcomes.from_predictions(y / 50, ETA / 50, link=IDENTITY)).sentence
    assert "from 0.00" in said
    assert "0.000 " not in said


def test_updating_counts_groups_and_weights():
    """Copies in their group tell no more than the rows: in intervals, and in folds.

    Weights count in the coefficients of all rows, and in the losses.
    """
    thrice = np.tile(np.arange(100), 3)
    alone = updated(Outcomes.from_predictions(SHIFTED[:100], P[:100]))
    copies = Outcomes.from_predictions(SHIFTED[thrice], P[thrice], members=thrice)
    grouped = updated(copies, grouped=True).updates[1]
    assert grouped.interval.method == "paired-cv-grouped"
    assert grouped.interval.width == pytest.approx(alone.updates[1].interval.width, rel=0.1)
    w = np.where(ETA > 0, 3.0, 1.0)
    found = updated(Outcomes.from_predictions(SHIFTED, P, w))
    assert found.updates[0].risk == pytest.approx(log_loss(SHIFTED, P, sample_weight=w))
    model = RecalibratedClassifier("intercept").fit(P[:, None], SHIFTED, w)
    answers = model.predict_proba(P[:, None])[:, 1]
    assert np.average(answers, weights=w) == pytest.approx(np.average(SHIFTED, weights=w))


def test_updating_refuses():
    """A fold whose training rows are separated has no line; few rows, and few groups, no folds."""
    y, p = np.repeat([0, 1], 12), expit(np.linspace(-3, 3, 24))
    y[[11, 12]] = 1, 0
    with pytest.raises(Refusal, match="cannot be fitted in every fold"):
        updated(Outcomes.from_predictions(y, p))
    with pytest.raises(Refusal, match="9 rows of the rarer outcome: an update needs at least 10"):
        updated(Outcomes.from_predictions(y[3:], p[3:]))
    two = np.arange(400) % 2
    with pytest.raises(Refusal, match="folds of these rows cannot be made"):
        updated(Outcomes.from_predictions(SHIFTED, P, members=two), grouped=True)
