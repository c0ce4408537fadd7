"""The calibration line is that of val.prob; where there is none a sentence says why."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.rms_data import RMS, drawn, foreign

from truerisk.core.errors import Refusal
from truerisk.validation.calibration import Recalibration
from truerisk.validation.outcomes import Outcomes

X, Y, _ = drawn()
ROWS = Outcomes.of(Y, foreign(X))


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
