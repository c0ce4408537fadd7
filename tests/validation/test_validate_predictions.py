"""`validate_predictions`: predictions of any program, validated as those of a finished model."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests.support.survival import Exponential, drawn_times

import truerisk as tr
from truerisk.exceptions import TrueRiskError
from truerisk.validation.follow_up import CoxFit
from truerisk.validation.observed_expected import estimate_event_share

RNG = np.random.default_rng(4)
X = RNG.standard_normal((150, 3))
TWO = np.where(X[:, 0] + RNG.logistic(size=150) > 0, "ill", "fit")
THREE = np.digitize(X[:, 0] + RNG.logistic(size=150), [-1, 1])
AMOUNT = X[:, 0] + RNG.standard_normal(150)
TX, TIMES = drawn_times(150, seed=5)
EXPONENTIAL = Exponential().fit(*drawn_times())
SIDE, SITE = X[:, 1] > 0, np.arange(150) % 15


def risks(model, X, horizon):
    return np.array([1 - curve(horizon) for curve in model.predict_survival_function(X)])


@pytest.mark.parametrize(
    ("model", "X", "y", "predict", "options"),
    [
        pytest.param(LogisticRegression(), X, TWO, lambda m: m.predict_proba(X)[:, 1], {},
                     id="event"),
        pytest.param(LogisticRegression(), X, TWO, lambda m: m.predict_proba(X)[:, 0],
                     {"positive": "fit", "thresholds": [0.2, 0.5]}, id="the first class"),
        pytest.param(GaussianNB(), X, THREE, lambda m: m.predict_proba(X), {}, id="classes"),
        pytest.param(GaussianNB(), X, THREE.astype(str),
                     lambda m: pd.DataFrame(m.predict_proba(X), columns=m.classes_)[[*"201"]],
                     {"positive": "1"}, id="named columns"),
        pytest.param(LinearRegression(), X, AMOUNT, lambda m: m.predict(X),
                     {"sample_weight": 1.0 + SIDE}, id="amounts"),
        pytest.param(EXPONENTIAL, TX, TIMES, lambda m: risks(m, TX, 2.0),
                     {"horizon": 2.0, "scoring": ["uno", "brier-at-2"]}, id="times"),
    ],
)  # fmt: skip
def test_validate_predictions_is_validate_of_the_model_that_made_them(
    model, X, y, predict, options
):
    """Every measure and interval is the same, for rows in groups and in subgroups as well."""
    model, rows = model.fit(X, y), {"groups": SITE, "subgroups": {"side": SIDE}}
    found = tr.validate_predictions(y, predict(model), **rows, **options)
    same = tr.validate(model, X, y, prefit=True, **rows, **options)
    assert found.parts.keys() == same.parts.keys()
    assert (found.risk.value, found.rows) == (pytest.approx(same.risk.value), same.rows)
    for word, one in same.measures.items():
        assert found.measure(word).honest == pytest.approx(one.honest, rel=1e-9), word
        assert (found.measure(word).interval is None) == (one.interval is None), word
    assert str(found.subgroups) == str(same.subgroups)
    assert found.command.startswith("tr.validate_predictions(y, predictions, ")
    assert found.command in found.to_html().replace("&#39;", "'")


def test_validate_predictions_of_labels_has_their_risk():
    """Text among the predictions is labels, of which there is no more than an error rate."""
    found = tr.validate_predictions(TWO, np.roll(TWO, 1))
    assert found.risk.value == np.mean(np.roll(TWO, 1) != TWO)
    assert "neither probabilities nor decision values" in found.missing["calibration"]


def cox_by_loops(y, column, weights):
    """The slope of Efron's partial likelihood, term by term."""

    def loss(slope):
        total = 0.0
        for time in np.unique(y[y[:, 0] == 1, 1]):
            dead = (y[:, 1] == time) & (y[:, 0] == 1)
            score = weights * np.exp(slope * column)
            total -= slope * (weights * column)[dead].sum()
            for k in range(dead.sum()):
                at_risk = score[y[:, 1] >= time].sum() - k / dead.sum() * score[dead].sum()
                total += weights[dead].mean() * np.log(at_risk)
        return total

    return minimize_scalar(loss, bracket=(0, 1), tol=1e-12).x


def test_cox_slope_is_that_of_the_linear_predictors():
    """Ties are Efron's, weights count; risks by a horizon are those of their linear predictors."""
    y = np.column_stack([TIMES["event"], np.ceil(2 * TIMES["time"])]).astype(float)
    column, weights = EXPONENTIAL.predict(TX), 1.0 + SIDE
    fit = CoxFit.fit(y, column, weights)
    assert fit.coef[0] == pytest.approx(cox_by_loops(y, column, weights), abs=1e-6)
    assert fit.influences.sum() == pytest.approx(0, abs=1e-9)
    scaled = CoxFit.fit(y, 5 - 2 * column, weights)  # The intercept and the unit do not matter.
    assert scaled.coef[0] == pytest.approx(-fit.coef[0] / 2)
    # An influence is minus the derivative of the slope by the row's weight.
    for row in (0, 7, 70):
        more = weights + 1e-5 * (np.arange(150) == row)
        change = (CoxFit.fit(y, column, more).coef[0] - fit.coef[0]) / 1e-5
        assert fit.influences[row, 0] / weights[row] == pytest.approx(change, rel=1e-3)
    linear = tr.validate_predictions(TIMES, column)
    at_horizon = tr.validate_predictions(TIMES, risks(EXPONENTIAL, TX, 2.0), horizon=2.0)
    slope = linear.measure("cox-slope")
    assert slope.honest == pytest.approx(at_horizon.measure("cox-slope").honest)
    assert slope.interval.low < slope.honest < slope.interval.high
    assert linear.missing.keys() == {"net_benefit", "stability"}
    n_events = int(TIMES["event"].sum())
    assert f"\n\nevent in {n_events} of 150 rows\n" in str(linear)
    assert f"of whom {n_events} had the event during follow-up" in str(linear.checklist)
    assert "Validation on 150 rows<" in linear.to_html()
    assert linear.calibration.missing.startswith("linear predictors tell no probabilities")
    pairs = np.column_stack([TIMES["event"], TIMES["time"]])
    assert str(tr.validate_predictions(pairs, column).risk) == str(linear.risk)


def test_intervals_of_times_hold_in_simulated_validations():
    """O/E by a horizon and the Cox slope of calibrated models, in 500 tables of 300 rows."""
    rng, z, n, hits = np.random.default_rng(7), norm.ppf(0.975), 300, []
    for _ in range(500):
        predictor = rng.normal(0, 0.9, n)
        event, lost = rng.exponential(6 * np.exp(-predictor)), rng.exponential(8, n)
        y = np.column_stack([event <= lost, np.minimum(event, lost)]).astype(float)
        share, variance = estimate_event_share(y, None, 4.0)
        log_ratio = np.log(share / np.mean(1 - np.exp(-np.exp(predictor) * 4 / 6)))
        fit = CoxFit.fit(y, predictor, np.ones(n))
        error = np.sqrt(fit.covariance(np.arange(n))[0, 0])
        hits.append(
            (abs(log_ratio) <= z * np.sqrt(variance) / share, abs(fit.coef[0] - 1) <= z * error)
        )
    for_ratio, for_slope = np.mean(hits, axis=0)
    assert 0.95 <= for_ratio <= 0.99  # E is taken as known, which widens the interval.
    assert 0.93 <= for_slope <= 0.97


EVENTS, SURE = np.arange(40) % 2, np.linspace(0.01, 0.99, 40)
PAIRS = np.column_stack([EVENTS, 1 + np.arange(40)])


@pytest.mark.parametrize(
    ("y", "predictions", "options", "said"),
    [
        (EVENTS, SURE + 0.5, {}, "20 of 40 values are not between .*: 1.01.* in row 20"),
        (EVENTS, -SURE, {}, "40 of 40 values are not between 0 and 1"),
        (EVENTS, np.where(SURE > 0.98, np.nan, SURE), {}, "1 of 40 values is .*: nan in row 39"),
        (EVENTS, SURE[:-1], {}, "different numbers of rows, 39 and 40"),
        (EVENTS, 0.5, {}, "predictions have 0 dimensions"),
        (EVENTS.astype(str), ["0"], {}, "numbers of rows, 1 and 40"),
        (EVENTS, list("ab") * 20, {}, "'a' in row 0 is no class of y"),
        (np.ones(40, int), SURE, {}, "only one class"),
        (EVENTS, SURE, {"subgroups": "sex"}, "validate_predictions has no X: pass the"),
        (EVENTS, SURE, {"subgroups": list("fm") * 20}, "pass the values as an array"),
        (EVENTS.astype(str), SURE[:, None].repeat(3, axis=1) / 3, {}, "3 columns, and y has 2"),
        (np.arange(40).astype(str), SURE, {}, "are of one of two classes, and y has 40"),
        (EVENTS, pd.DataFrame({"a": SURE, "b": 1 - SURE}), {}, "y has the classes 0 and 1"),
        (SURE, np.where(SURE > 0.9, np.inf, SURE), {}, "4 of 40 values are .* inf in row 36"),
        (SURE, SURE, {"horizon": 3}, "horizon=3 is a time of an outcome in time"),
        (PAIRS[:, ::-1], SURE, {}, "the first is not whether the event came"),
        (PAIRS * [0, 1], SURE, {}, "the event came in no row"),
        (PAIRS, SURE * 2, {"horizon": 9}, "values are not between 0 and 1"),
        (PAIRS, SURE, {"horizon": 99}, "no row was followed past the time 99"),
        (PAIRS, SURE, {"horizon": 9, "scoring": "brier-at-8"}, "by the time 9, and say nothing"),
        (PAIRS, SURE, {"scoring": "integrated-brier"}, "linear predictors, from which no prob"),
        (PAIRS * [1, np.nan], SURE, {}, "time of row 0 is nan"),
    ],
)  # fmt: skip
def test_validate_predictions_refuses(y, predictions, options, said):
    with pytest.raises(TrueRiskError, match=said):
        tr.validate_predictions(y, predictions, **options)


@pytest.mark.parametrize(
    ("predictions", "options", "said"),
    [
        (np.full(40, 0.3), {"horizon": 9}, "all linear predictors are equal"),
        (np.full(40, 2.0), {}, "all linear predictors are equal"),
        (-PAIRS[:, 1], {}, "the slope of the Cox model is infinite"),
        (np.where(SURE > 0.5, 1.0, SURE), {"horizon": 9}, "exactly 0 or 1"),
        (1e200 * np.sin(PAIRS[:, 1]), {}, None),
    ],
)  # fmt: skip
def test_cox_slope_gives_its_reason_if_there_is_none(predictions, options, said):
    """Constant, perfectly ordered and infinite predictions have no slope, and say so."""
    slope = tr.validate_predictions(PAIRS, predictions, **options).measure("cox-slope")
    assert (slope.honest is None) == (said is not None)
    assert said is None or said in slope.reason


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["event", "risk", "linear"]))
@example(30166, "risk")  # Its weighted AUC was rounded to more than 1.
def test_validate_predictions_of_hostile_rows_is_finite_or_gives_a_reason(seed, kind):
    """Ties, zeros and ones, one event, few groups and empty levels end in no number by chance."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 50))
    p, event = rng.random(n).round(int(rng.integers(1, 3))), rng.random(n) < rng.random()
    rows = {"groups": rng.integers(0, 6, n), "subgroups": {"of": rng.integers(0, 2, n)}}
    y = event if kind == "event" else np.column_stack([event, rng.integers(1, 5, n)])
    horizon = {"horizon": 3} if kind == "risk" else {}
    refusal = None
    try:
        found = tr.validate_predictions(y, p, **rows, **horizon)
    except TrueRiskError as error:
        refusal = str(error)
    if refusal is not None:
        known = "one class|one level|event came in no row|no row was followed"
        assert re.search(known, refusal)
        return
    levels = found.subgroups.calibration if found.subgroups else ()
    for measures in (found.measures, *(level.measures for level in levels)):
        for word, one in measures.items():
            assert one.honest is None or np.isfinite(one.honest), word
            assert one.interval is None or one.interval.low <= one.honest <= one.interval.high, word
    assert str(tr.Validation.from_json(found.to_json())) == str(found)


@pytest.mark.parametrize(
    ("y", "predictions", "options", "said"),
    [
        (EVENTS, 0.6 - EVENTS / 2, {}, "^AUC is 0.0000, .* predictions of the opposite"),
        (PAIRS, PAIRS[:, 1] / 50, {"horizon": 9}, "^AUC is .* predictions of the opposite"),
        (PAIRS, PAIRS[:, 1], {}, "^Harrell's C is .* predictions of the opposite"),
        (PAIRS, -PAIRS[:, 1] / 50 + 1, {}, "between 0 and 1, but without a horizon"),
        (PAIRS, -PAIRS[:, 1] / 50 + 1, {"horizon": 9}, None),
        (PAIRS, -PAIRS[:, 1], {}, None),
        (EVENTS, EVENTS / 2 + 0.1, {}, None),
    ],
)
def test_predictions_that_look_like_other_numbers_bring_a_note(y, predictions, options, said):
    notes = tr.validate_predictions(y, predictions, **options).notes
    found = [note for note in notes if "opposite" in note or "without a horizon" in note]
    assert len(found) == (said is not None), notes
    assert all(re.search(said, note) for note in found)
