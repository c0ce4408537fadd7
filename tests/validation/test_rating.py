"""The numbers of a validation: numbers as rms has them, and intervals that count the pairs."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from tests.support.rms_data import REVIEW, drawn

import truerisk as tr
from truerisk.validation.calibration import CalibrationLine
from truerisk.validation.calibration_fits import IDENTITY, LOGIT
from truerisk.validation.outcomes import Outcomes

X, Y, SAMPLES = drawn()
AMOUNT = X[:, 0] + X[:, 1] ** 2 / 2 + np.sin(5 * X[:, 2])
WORDS = ("slope", "intercept", "in-the-large")


@pytest.fixture(scope="module")
def amounts():
    """Least squares on the samples that R was given."""
    return tr.validate(LinearRegression(), X, AMOUNT, samples=SAMPLES)


@pytest.mark.parametrize(
    ("place", "word"), [(0, "explained"), (1, "squared"), (2, "intercept"), (3, "slope")]
)
def test_validate_of_numbers_is_validate_ols(amounts, place, word):
    one = amounts.calibration[word]
    told = [one.apparent, one.training, one.test, one.optimism, one.corrected, one.n]
    assert told == pytest.approx(REVIEW["ols"][place], abs=1e-9)


def test_validate_of_numbers_is_of_the_held_out_rows(amounts):
    """R² and line of the answers that the validation keeps; the squared error is the risk."""
    held = amounts.held_out
    slope, intercept = np.polyfit(held.answers, held.truth, 1)
    assert amounts.calibration["slope"].honest == pytest.approx(slope)
    assert amounts.calibration["intercept"].honest == pytest.approx(intercept)
    left = np.mean((held.truth - held.answers) ** 2)
    assert amounts.calibration["explained"].honest == pytest.approx(1 - left / AMOUNT.var())
    assert amounts.calibration["squared"].honest == pytest.approx(amounts.risk.value)
    assert amounts.calibration["squared"].interval == amounts.risk.interval
    curve = amounts.calibration.curve
    assert (curve.low < curve.observed).all()
    assert (curve.observed < curve.high).all()
    assert amounts.calibration.counts.sum() == 120
    # The squared error by level, and moves of the models of samples about that of all rows.
    site = np.arange(120) % 3
    found = tr.validate(LinearRegression(), X, AMOUNT, replicates=0, subgroups={"site": site})
    held, squared = found.held_out, found.subgroups["squared"]
    for one, code in zip(squared.levels, range(3), strict=True):
        mine = site[held.rows] == code
        assert one.value == pytest.approx(np.mean((held.truth - held.answers)[mine] ** 2))
        assert one.subgroup.n_events is None
    assert found.stability.predictions.n_models == 4
    moved = amounts.stability.predictions
    assert moved.event is None
    assert moved.predictions == pytest.approx(LinearRegression().fit(X, AMOUNT).predict(X))
    first = LinearRegression().fit(X[SAMPLES[0]], AMOUNT[SAMPLES[0]]).predict(X)
    assert moved.others[0] == pytest.approx(first)


def test_validate_of_numbers_follows_the_unit():
    """In hundredths, moved by 7: slope, R² and their intervals stay, intercepts follow."""
    one = tr.validate(LinearRegression(), X, AMOUNT, replicates=0).calibration
    other = tr.validate(LinearRegression(), X, 100 * AMOUNT + 7, replicates=0).calibration
    assert other["explained"].honest == pytest.approx(one["explained"].honest)
    for end in ("low", "high"):
        ends = [getattr(part["slope"].interval, end) for part in (one, other)]
        assert ends[0] == pytest.approx(ends[1])
        large = [getattr(part["in-the-large"].interval, end) for part in (one, other)]
        assert 100 * large[0] == pytest.approx(large[1])
    assert other.curve.observed == pytest.approx(100 * one.curve.observed + 7)


@pytest.mark.parametrize("of_event", [True, False])
def test_calibration_intervals_count_what_leaving_out_a_fold_does(of_event):
    """By plain loops: the line without fold j, of models that lack a row's own fold and j."""
    model, y = (GaussianNB(), Y) if of_event else (Ridge(3.0), AMOUNT)
    found = tr.validate(model, X, y, replicates=0, clip=1e-6 if of_event else None)
    held = found.held_out
    fold = np.empty(120, dtype=int)
    fold[held.rows] = held.fold

    def answers(rows, others):
        fitted = model.fit(X[others], y[others])
        return fitted.predict_proba(X[rows])[:, 1] if of_event else fitted.predict(X[rows])

    without = []
    for j in range(5):
        told = np.full(120, np.nan)
        for i in set(range(5)) - {j}:
            told[fold == i] = answers(fold == i, (fold != i) & (fold != j))
        kept = fold != j
        without.append(_line(y[kept], told[kept], of_event))
    whole = held.answers[:, 1] if of_event else held.answers
    own = _line(held.truth, whole, of_event)
    for word in WORDS:
        measured, left = found.calibration[word], np.array([one[word] for one in without])
        spread = measured.std_error**2 + 0.8 * ((left - left.mean()) ** 2).sum()
        middle, half = 2 * own[word] - left.mean(), 1.959963984540054 * spread**0.5
        ends = (measured.interval.low, measured.interval.high)
        assert ends == pytest.approx((middle - half, middle + half), rel=1e-6)
        assert measured.interval.method == "sandwich-pairs"


def _line(came, given, of_event):
    given = np.clip(given, 1e-6, 1 - 1e-6) if of_event else given
    outcomes = Outcomes.from_predictions(came, given, link=LOGIT if of_event else IDENTITY)
    return CalibrationLine.from_outcomes(outcomes).measures()


def test_calibration_intervals_without_pairs_count_rows_alone():
    """Nested folds: the sandwich of the held-out rows, and a note that says so."""
    search = tr.HonestSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, outer="5-fold")
    found = tr.validate(search, X, Y, replicates=0)
    slope = found.calibration["slope"]
    assert slope.interval.method == "sandwich"
    half = 1.959963984540054 * slope.std_error
    assert slope.interval.high == pytest.approx(slope.honest + half)
    assert "trained on overlapping rows" in found.calibration.notes[0]


def test_calibration_interval_needs_every_fold():
    """One event that is not separated: without its fold the outcomes are, and there is no line.

    A model of a pair of folds says 0, which has no logit; the models of the folds do not.
    """
    x = np.arange(120.0)[:, None]
    y = (x[:, 0] >= 60).astype(int)
    y[3] = 1
    separated = tr.validate(GaussianNB(), x, y, replicates=0).calibration["slope"]
    assert separated.honest is not None
    assert "it cannot be computed without one of the folds" in separated.reason
    x, y = np.random.default_rng(0).normal(size=(120, 2)), np.arange(120) % 2
    sure = tr.validate(SureOfFewRows(), x, y, replicates=0).calibration["slope"]
    assert "interval is not known: 4 of 96 probabilities are exactly 0 or 1" in sure.reason
    assert "give clip=0.001" in sure.reason
    assert (separated.interval, sure.interval) == (None, None)


class SureOfFewRows(GaussianNB):
    """Of fewer than 80 rows it makes one probability 0."""

    def predict_proba(self, X):
        told = super().predict_proba(X)
        if self.class_count_.sum() < 80:
            told[0] = (1.0, 0.0)
        return told
