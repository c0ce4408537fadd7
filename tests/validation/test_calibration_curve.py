"""The flexible curve is that of R's spline; right probabilities lie on it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t
from tests.support.rms_data import RMS, drawn, foreign

from truerisk.core.errors import Refusal
from truerisk.validation.calibration import CalibrationFit, Recalibration, grid_of
from truerisk.validation.calibration_fits import knot_shares, spline_columns
from truerisk.validation.outcomes import Outcomes

X, Y, _ = drawn()
ROWS = Outcomes.of(Y, foreign(X))


def test_it_is_the_spline_of_r():
    """ICI, E50, E90 and Emax of glm(y ~ rcspline.eval(logit p))."""
    found = CalibrationFit.of(ROWS).errors(ROWS)
    assert found == pytest.approx({w: RMS["by hand"][w] for w in found}, abs=1e-7)


def test_the_band_holds_what_is_right():
    """Of 100 samples with right probabilities the band leaves the diagonal out at few points."""
    rng = np.random.default_rng(0)
    at = np.array([0.2, 0.5, 0.8])
    held = np.zeros(3)
    for _ in range(100):
        p = expit(rng.normal(size=400))
        rows = Outcomes.of(rng.random(400) < p, p)
        low, high = CalibrationFit.of(rows).band(at, rows, 0.95)
        held += (low <= at) & (at <= high)
    assert (held >= 88).all()


def test_band_of_groups_has_the_t_quantile():
    """A covariance by the sums of 20 groups has 19 degrees of freedom."""
    rows = Outcomes.of(Y, foreign(X), members=np.arange(len(Y)) % 20)
    fitted, at = CalibrationFit.of(rows), np.array([0.2, 0.5])
    columns = fitted._columns(at)
    spread = np.diag(columns @ fitted.fit.covariance(rows.members) @ columns.T)
    half = np.diff(logit(fitted.band(at, rows, 0.95)), axis=0)[0] / 2
    assert half == pytest.approx(t.ppf(0.975, 19) * np.sqrt(spread))


def test_the_grid_leaves_the_ends_out():
    """From the 1 % to the 99 % quantile."""
    grid = grid_of(Outcomes.of(np.zeros(101), np.linspace(0, 1, 101)))
    assert (grid[0], grid[-1]) == pytest.approx((0.01, 0.99))


def test_whole_weights_are_repeated_rows():
    """Knots and all four errors are about those of the rows so often."""
    times = np.random.default_rng(1).integers(1, 4, len(Y))
    where = np.repeat(np.arange(len(Y)), times)
    weighted, often = (
        Outcomes.of(Y, ROWS.predictions, times),
        Outcomes.of(Y[where], ROWS.predictions[where]),
    )
    one, other = CalibrationFit.of(weighted), CalibrationFit.of(often)
    assert one.knots == pytest.approx(other.knots, abs=0.1)
    assert one.errors(weighted) == pytest.approx(other.errors(often), abs=0.01)


def test_a_row_asked_repeatedly_is_one_row():
    """Nine rows with the event are too few, also where each was answered three times."""
    rows = np.tile(np.arange(60), 3)
    given, ones = np.random.default_rng(0).random(180), np.ones(180)
    found = Outcomes(ones * (rows < 9), given, ones / 3, rows, rows)
    assert (found.n_rows, found.n_events, found.n_rarer, found.n_answers) == (60, 9, 9, 180)
    with pytest.raises(Refusal, match="9 rows of the rarer outcome"):
        CalibrationFit.of(found)


def test_few_events_have_no_curve():
    """Nine rows with the event are too few."""
    y = np.arange(60) < 9
    with pytest.raises(Refusal, match="9 rows of the rarer outcome"):
        CalibrationFit.of(Outcomes.of(y, np.tile([0.2, 0.3, 0.4], 20)))


# ---------------- The calibration line is that of val.prob; where there is none a sentence says why


def test_it_is_val_prob_of_rms():
    """Intercept, slope and U of probabilities that were not fitted to y."""
    found, R = Recalibration.of(ROWS).measures(), RMS["val.prob"]
    for word, name in (("intercept", "Intercept"), ("slope", "Slope"), ("u", "U")):
        assert found[word] == pytest.approx(R[name], abs=1e-7)
    assert found["in-the-large"] == pytest.approx(RMS["by hand"]["large"], abs=1e-7)
    assert found["q"] == found["d"] - found["u"]


def test_probabilities_twice_as_extreme_have_half_the_slope():
    """A logit times 2 has the slope divided by 2 and the same intercept and R²."""
    once = Recalibration.of(ROWS).measures()
    extreme = 1 / (1 + np.exp(-2 * ROWS.linear))
    twice = Recalibration.of(Outcomes.of(Y, extreme)).measures()
    assert twice["slope"] == pytest.approx(once["slope"] / 2)
    assert twice["intercept"] == pytest.approx(once["intercept"])
    assert twice["r2"] == pytest.approx(once["r2"])


def test_the_unit_of_the_weights_is_nothing():
    """A hundredth of every weight changes no measure."""
    weights = np.random.default_rng(2).integers(1, 4, len(Y)).astype(float)
    whole, cents = (Outcomes.of(Y, ROWS.predictions, unit * weights) for unit in (1, 0.01))
    assert Recalibration.of(cents).measures() == pytest.approx(Recalibration.of(whole).measures())


def test_rows_of_one_group_count_as_one():
    """Every row three times, in groups of the three: the errors are those of the rows alone."""
    thrice = np.repeat(np.arange(len(Y)), 3)
    one = np.ones(len(thrice))
    rows = Outcomes(
        Y[thrice].astype(float), ROWS.predictions[thrice], one, thrice, np.arange(len(one))
    )
    grouped = Recalibration.of(rows).std_errors(rows.members)
    assert grouped == pytest.approx(Recalibration.of(ROWS).std_errors(ROWS.members))


@pytest.mark.parametrize(
    ("y", "p", "said"),
    [
        ([1, 1, 1], [0.2, 0.5, 0.7], "occurred in every row"),
        ([0, 0, 0], [0.2, 0.5, 0.7], "occurred in no row"),
        ([0, 1, 0, 1], [0.0, 0.5, 0.7, 1.0], "2 of 4 probabilities are exactly 0 or 1"),
        ([0, 1, 0], [0.3, 0.3, 0.3], "all probabilities are equal"),
        ([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9], "separate events from other rows"),
        ([1, 1, 0, 0], [0.1, 0.2, 0.2, 0.9], "separate events from other rows"),
    ],
)
def test_a_sentence_says_why_there_is_none(y, p, said):
    """One outcome, no logit, no spread, no error."""
    with pytest.raises(Refusal, match=said):
        Recalibration.of(Outcomes.of(np.array(y), np.array(p)))


# Restricted cubic splines: smooth, straight beyond the outer knots, with the knots of Harrell


KNOTS = np.array([-1.0, 0.0, 0.5, 2.0])


def test_it_is_rcspline_eval():
    """Rscript -e 'library(Hmisc); rcspline.eval(c(-2,.3,1,3), knots=c(-1,0,.5,2))' of Hmisc 4.8."""
    found = spline_columns(np.array([-2.0, 0.3, 1.0, 3.0]), KNOTS)[:, 2:]
    expected = [
        [0.0, 0.0],
        [0.2441111111, 0.003],
        [0.8611111111, 0.0925925926],
        [3.75, 0.7222222222],
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-9)


def test_it_is_straight_beyond_the_outer_knots():
    """Second differences vanish there, and nowhere inside."""
    for place, straight in ((-3.0, True), (2.5, True), (1.0, False)):
        around = spline_columns(place + np.array([-0.1, 0.0, 0.1]), KNOTS)[:, 2]
        assert bool(abs(around[0] - 2 * around[1] + around[2]) < 1e-12) is straight


def test_few_rows_have_few_knots():
    """Three below a hundred rows; fewer than three leave the line alone."""
    assert (len(knot_shares(99)), len(knot_shares(100))) == (3, 4)
    assert spline_columns(np.arange(3.0), np.array([0.0, 1.0])).shape == (3, 2)
