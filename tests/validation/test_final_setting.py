"""The calibration slope of a tuned model: its interval, and when there is none."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

import truerisk as tr
from truerisk.extend import Interval
from truerisk.validation.calibration import CalibrationLine
from truerisk.validation.calibration_fits import IDENTITY, LOGIT
from truerisk.validation.discrimination import net_benefits
from truerisk.validation.final_setting import slope_disagreement_reason
from truerisk.validation.gain import gain_interval
from truerisk.validation.outcomes import Outcomes

GRID = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}
WORDS = ("slope", "intercept", "in-the-large")


def drawn(seed):
    """Draw 150 rows of 15 columns, two of which carry something."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 15))
    log_odds = 1.2 * X[:, 0] + 0.6 * X[:, 1] - 0.5
    return X, (rng.random(150) < 1 / (1 + np.exp(-log_odds))).astype(int)


def tuned(seed, scoring="auc", **words):
    """Validate a logistic regression that is tuned on such rows."""
    X, y = drawn(seed)
    model = LogisticRegression(max_iter=1000)
    search = tr.HonestSearchCV(model, GRID, scoring=scoring, **words).fit(X, y)
    return search, tr.validate(search, X, y, replicates=0)


@pytest.fixture(scope="module")
def agreeing():
    """Validate a search whose folds chose other settings, and whose slopes agree."""
    search, found = tuned(8)
    assert {split.best_index for split in search.outer_} != {search.best_index_}
    return search, found


@pytest.fixture(scope="module")
def disagreeing():
    """Validate a search whose final model has a larger penalty than the models of some folds."""
    search, found = tuned(7)
    assert search.best_params_ == {"C": 0.001}
    return search, found


def folds_of(found):
    """Return the fold that tested each row."""
    fold = np.empty(150, dtype=int)
    fold[found.held_out.rows] = found.held_out.fold
    return fold


def answers_of_setting(search, fold, lacking=()):
    """Predict each fold's rows of data set 8 by the final C, fitted without it and `lacking`."""
    X, y = drawn(8)
    model = LogisticRegression(max_iter=1000, **search.best_params_)
    told = np.empty(150)
    for i in range(5):
        train = ~np.isin(fold, [i, *lacking])
        told[fold == i] = model.fit(X[train], y[train]).predict_proba(X[fold == i])[:, 1]
    return told


def test_slope_interval_rests_on_fits_of_the_final_setting(agreeing):
    """Plain loops over fits of the final C, without each fold and each two folds, give the same."""
    search, found = agreeing
    _, y = drawn(8)
    fold = folds_of(found)

    def line(kept, lacking):
        told = answers_of_setting(search, fold, lacking)
        outcomes = Outcomes.from_predictions(y[kept], told[kept])
        fitted = CalibrationLine.from_outcomes(outcomes)
        return fitted.measures(), fitted.std_errors(outcomes.clusters)

    whole, errors = line(np.ones(150, bool), ())
    without = [line(fold != j, (j,))[0] for j in range(5)]
    for word in WORDS:
        interval = found.calibration[word].interval
        left = np.array([one[word] for one in without])
        spread = errors[word] ** 2 + 0.8 * ((left - left.mean()) ** 2).sum()
        middle, half = 2 * whole[word] - left.mean(), 1.959963984540054 * spread**0.5
        ends = (interval.low, interval.high)
        assert ends == pytest.approx((middle - half, middle + half), rel=2e-3)
        assert found.calibration[word].of_final_model == pytest.approx(middle, rel=2e-3, abs=1e-3)


def test_slope_has_no_interval_where_settings_shrink_differently(disagreeing):
    """The sentence has all three slopes, and advises a loss that bounds the shrinkage."""
    _, found = disagreeing
    slope, intercept = found.calibration["slope"], found.calibration["intercept"]
    assert slope.interval is None
    assert intercept.interval is None
    assert f"the slope is {slope.honest:.2f} over their held-out predictions" in slope.reason
    assert f"and {slope.apparent:.2f} on its own training rows" in slope.reason
    assert slope.reason.endswith("such as scoring='log' or 'brier', which bounds the shrinkage.")
    (said,) = (line for line in found.conclusion.splitlines() if "calibration slope" in line)
    assert said.endswith("; it has no interval, for the reason below the table.")
    assert found.calibration["in-the-large"].interval is not None
    assert found.calibration.curve.low is None


def test_net_benefit_intervals_rest_on_fits_of_the_final_setting(agreeing):
    """Bands and gains are those of the final C in every fold; the held-out values stay."""
    search, found = agreeing
    _, y = drawn(8)
    benefit = found.net_benefit
    outcomes = Outcomes.from_predictions(y, answers_of_setting(search, folds_of(found)))
    middle, error = net_benefits(outcomes, benefit.thresholds)
    half = 1.959963984540054 * error
    assert benefit.low == pytest.approx(middle - half, abs=1e-9)
    assert benefit.high == pytest.approx(middle + half, abs=1e-9)
    assert benefit.of_final_model == pytest.approx(middle, abs=1e-9)
    assert np.abs(benefit.of_final_model - benefit.honest).max() > 0.01
    low, _ = gain_interval(outcomes, benefit.thresholds, 0.95)
    assert benefit.gain_low == pytest.approx(low)
    assert "of net benefit are of the final model" in benefit.notes[-1]
    assert benefit.notes[-1] in found.to_html()


def test_paragraph_tells_the_final_model_apart(agreeing):
    """The interval stands behind the estimate that it is around, and not behind the value."""
    search, found = agreeing
    slope = found.calibration["slope"]
    low, high, own = (
        f"{x:.3f}" for x in (slope.interval.low, slope.interval.high, slope.of_final_model)
    )
    assert (
        f"calibration slope {slope.honest:.3f}, of the final model {own} ({low} to {high})"
        in found.checklist.methods_text
    )
    (said,) = (line for line in found.conclusion.splitlines() if "calibration slope" in line)
    assert f"is {slope.honest:.4f} on held-out rows; that of the final model is about" in said
    one = tr.validate(search, *drawn(8), replicates=0, thresholds=0.3)
    benefit, final = one.net_benefit, one.net_benefit.of_final_model[0]
    gain = final - max(benefit.treat_all[0], 0)
    assert f"The gain of the final model over the better of these is {gain:.4f}" in str(benefit)
    assert f", of the final model {final:.3f} (" in one.checklist.methods_text


def test_slope_of_equal_settings_needs_no_further_fit():
    """Tuned by log loss every fold chose the final setting: the interval is that of pairs."""
    X, y = drawn(12)
    search = tr.HonestSearchCV(
        LogisticRegression(max_iter=1000), {"C": [0.1, 100.0]}, scoring="log"
    )
    found = tr.validate(search.fit(X, y), X, y, replicates=0)
    assert {split.best_index for split in search.outer_} == {search.best_index_}
    alone = tr.validate(search.best_estimator_, X, y, replicates=0)
    for word in WORDS:
        one, other = (each.calibration[word].interval for each in (found, alone))
        assert one.low == pytest.approx(other.low, abs=5e-3)
        assert one.high == pytest.approx(other.high, abs=5e-3)
    assert len(found.calibration.notes) == 2
    assert len(found.net_benefit.notes) == 1
    assert found.net_benefit.of_final_model is None
    # Of nested folds the interval is the sandwich's, around the value of the final setting.
    search, found = tuned(8, outer="5-fold")
    slope = found.calibration["slope"]
    assert {split.best_index for split in search.outer_} != {search.best_index_}
    assert slope.interval.method == "sandwich-setting"
    assert slope.of_final_model != pytest.approx(slope.honest)


class FailsWithout(LogisticRegression):
    """A logistic regression whose fits with the setting `c` fail without the row `marker`."""

    c, marker = None, None

    def fit(self, X, y):
        if self.c == self.C and self.marker not in X[:, 0]:
            raise ValueError("no luck")
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.FitFailedWarning")
@pytest.mark.parametrize("outer", ["pairs", "5-fold"])
def test_slope_has_no_interval_where_a_fit_of_the_final_setting_fails(outer, monkeypatch):
    """The pooled slope is that of other settings: its interval is no substitute."""
    X, y = drawn(8)
    search = tr.HonestSearchCV(
        FailsWithout(max_iter=1000), GRID, scoring="auc", outer=outer, error_score=np.nan
    ).fit(X, y)
    first = search.outer_[0]
    assert first.best_index != search.best_index_
    held = tr.validate(search, X, y, replicates=0).held_out
    monkeypatch.setattr(FailsWithout, "c", search.best_params_["C"])
    monkeypatch.setattr(FailsWithout, "marker", X[held.rows[held.fold == first.fold][0], 0])
    found = tr.validate(search, X, y, replicates=0)
    for word in ("slope", "intercept"):
        assert found.calibration[word].interval is None
        assert "a fit of its setting failed in a fold" in found.calibration[word].reason
    assert found.net_benefit.low is None
    assert found.net_benefit.notes[-1].startswith("net benefit has no interval")


def test_slope_of_inner_tuning_has_an_interval_where_spreads_agree():
    """GridSearchCV shows no setting of its folds; the spread of the log-odds shows it."""
    X, y = drawn(7)
    model = GridSearchCV(LogisticRegression(max_iter=1000), GRID, scoring="roc_auc")
    found = tr.validate(model, X, y, replicates=0)
    slope, benefit = found.calibration["slope"], found.net_benefit
    assert slope.interval is None
    assert "the standard deviation of their log-odds is from 0." in slope.reason
    assert (benefit.low, benefit.gain_low) == (None, None)
    assert benefit.notes[-1].startswith("net benefit has no interval")
    model = GridSearchCV(model.estimator, {"C": [0.1, 0.12]}, scoring="neg_log_loss")
    slope = tr.validate(model, *drawn(12), replicates=0).calibration["slope"]
    assert slope.interval.method == "sandwich"


def test_slope_of_tuned_regression_rests_on_the_final_setting():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 10))
    y = X[:, 0] + rng.standard_normal(60)
    search = tr.HonestSearchCV(
        Ridge(), {"alpha": [0.1, 10.0, 20.0, 30.0, 40.0]}, scoring="absolute"
    )
    found = tr.validate(search.fit(X, y), X, y, replicates=0)
    assert {split.best_index for split in search.outer_} != {search.best_index_}
    assert found.calibration["slope"].interval.method == "sandwich-pairs"
    assert "rest on fits of its setting in every fold" in found.calibration.notes[1]


@pytest.mark.parametrize(
    ("pooled", "of_setting", "ends"),
    [(0.6, 26.0, (-1, 50)), (-0.1, 0.1, (-1, 1)), (0.0, 1.0, (-1, 2)), (1.5, 1.0, (0.8, 1.2))],
)
def test_slopes_disagree_by_ratio_sign_and_interval(pooled, of_setting, ends):
    interval = Interval(*ends, "sandwich-pairs", 0.95)
    assert slope_disagreement_reason(pooled, of_setting, interval, None, LOGIT) is not None
    told = slope_disagreement_reason(pooled, of_setting, interval, None, IDENTITY)
    assert told.endswith("rates values, such as scoring='squared', which bounds the shrinkage.")
    interval = Interval(0.3, 1.5, "sandwich-pairs", 0.95)
    assert slope_disagreement_reason(0.6, 1.1, interval, 1.7, LOGIT) is None
