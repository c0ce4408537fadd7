"""The flexible curve is that of R's spline; right probabilities lie on it."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t
from tests.support.rms_data import RMS, drawn, foreign

from truerisk.extend import Refusal
from truerisk.validation.calibration import CalibrationFit, CalibrationLine, curve_grid
from truerisk.validation.calibration_fits import IDENTITY, LOGIT
from truerisk.validation.outcomes import Outcomes

X, Y, _ = drawn()
ROWS, ONES = Outcomes.from_predictions(Y, foreign(X)), np.ones(len(Y))


def test_calibration_fit_is_the_spline_of_r():
    """ICI, E50, E90 and Emax of glm(y ~ rcspline.eval(logit p))."""
    found = CalibrationFit.from_outcomes(ROWS).errors(ROWS)
    assert found == pytest.approx({w: RMS["by hand"][w] for w in found}, abs=1e-7)


def test_calibration_band_holds_what_is_right():
    """Of 100 samples with right probabilities the band leaves the diagonal out at few points."""
    rng = np.random.default_rng(0)
    at = np.array([0.2, 0.5, 0.8])
    held = np.zeros(3)
    for _ in range(100):
        p = expit(rng.normal(size=400))
        rows = Outcomes.from_predictions(rng.random(400) < p, p)
        low, high = CalibrationFit.from_outcomes(rows).confidence_band(at, rows, 0.95)
        held += (low <= at) & (at <= high)
    assert (held >= 88).all()


def test_calibration_band_of_groups_has_the_t_quantile():
    """A covariance by the sums of 20 groups has 19 degrees of freedom."""
    rows = Outcomes.from_predictions(Y, foreign(X), members=np.arange(len(Y)) % 20)
    fitted, at = CalibrationFit.from_outcomes(rows), np.array([0.2, 0.5])
    columns = fitted._spline_columns(at)
    spread = np.diag(columns @ fitted.spline_fit.covariance(rows.clusters) @ columns.T)
    half = np.diff(logit(fitted.confidence_band(at, rows, 0.95)), axis=0)[0] / 2
    assert half == pytest.approx(t.ppf(0.975, 19) * np.sqrt(spread))
    grid = curve_grid(
        Outcomes.from_predictions(np.zeros(101), np.linspace(0, 1, 101))
    )  # without the ends
    assert (grid[0], grid[-1]) == pytest.approx((0.01, 0.99))


def test_calibration_fit_weights_are_repeated_rows():
    times = np.random.default_rng(1).integers(1, 4, len(Y))
    where = np.repeat(np.arange(len(Y)), times)
    weighted, often = (
        Outcomes.from_predictions(Y, ROWS.predictions, times),
        Outcomes.from_predictions(Y[where], ROWS.predictions[where]),
    )
    one, other = CalibrationFit.from_outcomes(weighted), CalibrationFit.from_outcomes(often)
    assert one.knots == pytest.approx(other.knots, abs=0.1)
    assert one.errors(weighted) == pytest.approx(other.errors(often), abs=0.01)


def test_calibration_fit_refuses_few_events():
    """Nine rows with the event are too few, also where each was answered three times."""
    rows = np.tile(np.arange(60), 3)
    given, ones = np.random.default_rng(0).random(180), np.ones(180)
    found = Outcomes(ones * (rows < 9), given, ones / 3, rows, rows)
    assert (found.n_rows, found.n_events, found.n_rarer_rows, found.n_predictions) == (
        60,
        9,
        9,
        180,
    )
    for few in (found, Outcomes.from_predictions(np.arange(60) < 9, np.tile([0.2, 0.3, 0.4], 20))):
        with pytest.raises(Refusal, match="9 rows of the rarer outcome"):
            CalibrationFit.from_outcomes(few)


def test_recalibration_is_val_prob_of_rms():
    found, R = CalibrationLine.from_outcomes(ROWS).measures(), RMS["val.prob"]
    for word, name in (("intercept", "Intercept"), ("slope", "Slope"), ("u", "U")):
        assert found[word] == pytest.approx(R[name], abs=1e-7)
    assert found["in-the-large"] == pytest.approx(RMS["by hand"]["large"], abs=1e-7)
    assert found["q"] == found["d"] - found["u"]


def test_recalibration_follows_the_logit_and_not_the_unit_of_weights():
    """A logit times 2 has half the slope, the same intercept and the same R²."""
    once = CalibrationLine.from_outcomes(ROWS).measures()
    extreme = 1 / (1 + np.exp(-2 * ROWS.linear_predictions))
    twice = CalibrationLine.from_outcomes(Outcomes.from_predictions(Y, extreme)).measures()
    for word, factor in (("slope", 0.5), ("intercept", 1), ("r2", 1)):
        assert twice[word] == pytest.approx(factor * once[word])
    weights = np.random.default_rng(2).integers(1, 4, len(Y)).astype(float)
    whole, cents = (
        Outcomes.from_predictions(Y, ROWS.predictions, unit * weights) for unit in (1, 0.01)
    )
    assert CalibrationLine.from_outcomes(cents).measures() == pytest.approx(
        CalibrationLine.from_outcomes(whole).measures()
    )
    # Every row three times, in groups of the three: the errors are those of the rows alone.
    thrice = np.repeat(np.arange(len(Y)), 3)
    one = np.ones(len(thrice))
    rows = Outcomes(
        Y[thrice].astype(float), ROWS.predictions[thrice], one, thrice, np.arange(len(one))
    )
    grouped = CalibrationLine.from_outcomes(rows).std_errors(rows.clusters)
    assert grouped == pytest.approx(CalibrationLine.from_outcomes(ROWS).std_errors(ROWS.clusters))


@pytest.mark.parametrize(
    ("y", "given", "link", "said"),
    [
        ([1, 1, 1], [0.2, 0.5, 0.7], LOGIT, "occurred in every row"),
        ([0, 0, 0], [0.2, 0.5, 0.7], LOGIT, "occurred in no row"),
        ([0, 1, 0, 1], [0.0, 0.5, 0.7, 1.0], LOGIT, "2 of 4 probabilities are exactly 0 or 1"),
        ([0, 1, 0], [0.3, 0.3, 0.3], LOGIT, "all probabilities are equal"),
        ([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9], LOGIT, "separate events from other rows"),
        ([1, 1, 0, 0], [0.1, 0.2, 0.2, 0.9], LOGIT, "separate events from other rows"),
        (X[:, 0], np.zeros(len(Y)), IDENTITY, "all answers are equal: there is"),
        (ONES, X[:, 0], IDENTITY, "values of y are equal"),
    ],
    ids=[
        *(
            "every row",
            "no row",
            "certain",
            "equal probabilities",
            "separated",
            "separated by ties",
        ),
        *("equal answers", "equal numbers"),
    ],
)
def test_recalibration_refuses(y, given, link, said):
    outcomes = Outcomes.from_predictions(np.array(y), np.array(given), link=link)
    with pytest.raises(Refusal, match=said):
        CalibrationLine.from_outcomes(outcomes)
