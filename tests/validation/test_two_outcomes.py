"""The numbers of `validate` are those of rms, sample by sample, and of formulas written out."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.support.rms_data import REVIEW, RMS, drawn

import truerisk as tr

X, Y, SAMPLES = drawn()
WORDS = {"R2": "r2", "Intercept": "intercept", "Slope": "slope", "D": "d", "U": "u", "Q": "q"}


@pytest.fixture(scope="module")
def found():
    """A logistic regression without penalty, on the samples that R was given."""
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=500)
    return tr.validate(model, X, Y, samples=SAMPLES)


@pytest.mark.parametrize("name", ["Dxy", *WORDS, "B"])
def test_validate_is_validate_of_rms(found, name):
    """index.orig, training, test, optimism, index.corrected and n on the same samples."""
    if name == "Dxy":
        one, scale, shift = found.discrimination["auc"], 2, 1
    elif name in ("R2", "D"):
        one, scale, shift = found.discrimination[WORDS[name]], 1, 0
    else:
        one, scale, shift = found.calibration[WORDS.get(name, "brier")], 1, 0
    values = [scale * v - shift for v in (one.apparent, one.training, one.test)]
    values += [scale * one.optimism, scale * one.corrected - shift, one.n]
    assert values == pytest.approx(RMS["validate"][name], abs=2e-6)


def test_validate_measures_the_held_out_rows(found):
    """The line through the held-out logits, the Brier score, and the risk of the same answers.

    The curve is told held out within its band, apparent, and corrected.
    """
    held = found.held_out
    assert set(held.rows) == set(range(120))
    p, y = held.answers[:, 1], held.truth
    assert found.calibration["brier"].honest == pytest.approx(np.mean((p - y) ** 2))
    line = LogisticRegression(C=np.inf, tol=1e-12).fit(np.log(p / (1 - p))[:, None], y)
    slope = found.calibration["slope"]
    assert slope.honest == pytest.approx(line.coef_[0, 0], abs=1e-4)
    assert slope.interval.low < line.coef_[0, 0] < slope.interval.high
    assert found.risk.value == pytest.approx(np.mean((p >= 0.5) != y))
    assert found.calibration.counts.sum() == 120
    curve, benefit = found.calibration.curve, found.net_benefit
    assert (curve.low < curve.observed).all()
    assert (curve.observed < curve.high).all()
    assert len(curve.predicted) == len(curve.apparent) == len(curve.corrected) == 101
    assert len(benefit.thresholds) == len(benefit.corrected) == 99


def test_validate_tunes_anew_in_every_sample():
    """The apparent score is of the search, and two worker processes find the same to the digit."""
    search = tr.HonestSearchCV(
        LogisticRegression(), {"C": [1e-3, 1.0]}, cv="3-fold", scoring="log"
    ).fit(X, Y)
    alone, spread = (
        tr.validate(search, X, Y, samples=SAMPLES[:4], n_jobs=executor) for executor in (None, 2)
    )
    assert alone.calibration["slope"].n == 4
    apparent = np.mean((search.predict_proba(X)[:, 1] - Y) ** 2)
    assert alone.calibration["brier"].apparent == pytest.approx(apparent)
    assert alone.calibration["brier"].optimism < 0  # a smaller score on the sample's own rows
    for name in ("discrimination", "calibration", "net_benefit", "stability"):
        assert getattr(alone, name).to_dict() == getattr(spread, name).to_dict(), name


@pytest.mark.parametrize(
    ("place", "word"), [(0, "auc"), (1, "brier"), (2, "intercept"), (3, "slope")]
)
def test_validate_is_boot_optimism_of_pminternal(found, place, word):
    part = found.discrimination if word == "auc" else found.calibration
    one = part[word]
    told = [one.apparent, one.optimism, one.corrected]
    expected = [REVIEW[name][place] for name in ("apparent", "optimism", "corrected")]
    assert told == pytest.approx(expected, abs=2e-6)


def test_validate_moves_predictions_as_pminternal_says(found):
    """Every row's mean absolute prediction error and share of other classes, and the 95 % range."""
    moved = found.stability.predictions
    average, *rows = REVIEW["mape"]
    assert moved.mape == pytest.approx(average, abs=1e-6)
    assert moved.by_row == pytest.approx(np.array(rows), abs=1e-5)
    assert moved.otherwise == pytest.approx(np.array(REVIEW["cii"]))
    low, high = moved.ranges
    assert (high - low).mean() == pytest.approx(REVIEW["width"], abs=1e-5)
    assert (moved.n_models, moved.factor) == (len(SAMPLES), 1)
    assert "bootstrap" in str(moved)
    # The corrected Brier score is that of `optimism` on the same samples.
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=500)
    method = tr.methods.Bootstrap("optimism", samples=SAMPLES)
    risk = tr.estimate_risk(model, X, Y, cv=method, scoring="brier")
    assert found.calibration["brier"].corrected == pytest.approx(risk.value)
    assert found.calibration["brier"].apparent == pytest.approx(risk.table["apparent"])
