"""The numbers of R for three clinical models, which `tests/golden/clinical/clinical.R` wrote."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import truerisk as tr
from truerisk.report.validation_figures import draw_roc_curve

FOLDER = Path(__file__).parents[1] / "golden" / "clinical"
R = {
    name: json.loads((FOLDER / f"{name}.json").read_text()) for name in ("sa_heart", "gbsg", "lung")
}
HEART = pd.read_csv(FOLDER / "sa_heart.csv")
LINES = ("intercept", "slope", "in_the_large")


def met(value, expected):
    assert value == pytest.approx(expected, rel=1e-6, abs=1e-6)


def check_lines(measures, expected):
    """Intercept, slope and calibration in the large, with their sandwich standard errors."""
    for name, std_error in zip(LINES, expected["sandwich_se"], strict=True):
        measured = measures[name.replace("_", "-")]
        met(measured.honest, expected[name])
        met(measured.std_error, std_error)


def check_ratio(measured, expected):
    """O/E, with its interval on the log scale."""
    met(measured.honest, expected["value"])
    met(measured.std_error / measured.honest, expected["se_log"])
    met((measured.interval.low, measured.interval.high), (expected["low"], expected["high"]))


def check_benefits(benefit, expected):
    """Net benefit and its differences from treating everybody and nobody, with their limits."""
    for at in expected:
        place = int(np.flatnonzero(np.isclose(benefit.thresholds, at["threshold"]))[0])
        rules = {"minus_none": "", "minus_all": "gain_over_treat_all", "all": "treat_all"}
        for rule, name in rules.items():
            value = getattr(benefit, name or "honest")[place]
            met(value, at[rule]["value"])
            low, high = (
                getattr(benefit, f"{name}_{end}".strip("_"))[place] for end in ("low", "high")
            )
            met((low, high), (at[rule]["low"], at[rule]["high"]))


@pytest.fixture(scope="module", params=["gbsg", "lung"])
def in_time(request):
    """Numbers of R, predictions, and the validations of risks and of linear predictors."""
    expected = R[request.param]
    rows = pd.read_csv(FOLDER / f"{request.param}_predictions.csv")
    y = rows[["event", "time"]]
    taus = [f"uno-{one['tau']}" for one in expected["uno"][1:]]
    horizon = expected["horizon"]
    risks = tr.validate_predictions(
        y, rows["p"], horizon=horizon, scoring=[*taus, f"brier-at-{horizon}"],
        subgroups=rows[["subgroup"]], thresholds=[
            one["threshold"] for one in expected["net_benefit_weighted"]],
    )  # fmt: skip
    return expected, risks, tr.validate_predictions(y, rows["lp"])


def test_validation_of_a_coxph_has_the_numbers_of_survival_and_riskregression(in_time):
    expected, risks, linear = in_time
    for found in (risks, linear):
        met(found.measure("concordance").honest, expected["concordance"]["value"])
        met(found.measure("uno").honest, expected["uno"][0]["value"])
        slope, n = found.measure("cox-slope"), expected["n"]
        met(slope.honest, expected["cox_slope"]["value"])
        met(slope.std_error, expected["cox_slope"]["robust_se"] * np.sqrt(n / (n - 1)))
    scores = {risks.risk.scoring: risks.risk, **risks.risk.scores}
    for one in expected["uno"][1:]:
        met(scores[f"uno-{one['tau']}"].value, one["value"])
    at = expected["at_horizon"]
    met(risks.measure("auc").honest, at["auc"][0]["AUC"])
    met(risks.measure("brier").honest, at["brier"][0]["Brier"])
    check_lines(risks.calibration, at["calibration"])
    check_ratio(risks.measure("oe"), at["observed_to_expected"])
    met(risks.measure("scaled-brier").honest, at["scaled_brier"])
    check_benefits(risks.net_benefit, expected["net_benefit_weighted"])
    for level in risks.subgroups.calibration:
        of_level = expected["subgroups"][level.subgroup.level]
        check_lines(level.measures, of_level["at_horizon"])
        check_ratio(level.measures["oe"], of_level["observed_to_expected"])
        met(level.measures["cox-slope"].honest, of_level["cox_slope"])


def test_validation_of_a_glm_has_the_numbers_of_rms_and_proc():
    expected, families = R["sa_heart"], HEART[["famhist"]]
    found = tr.validate_predictions(HEART["chd"], HEART["p"], subgroups=families)
    check_lines(found.calibration, expected["calibration"])
    met(found.measure("auc").honest, expected["auc"]["value"])
    for name in ("brier", "scaled-brier"):
        met(found.measure(name).honest, expected[name.replace("-", "_")])
    check_ratio(found.measure("oe"), expected["observed_to_expected"])
    figure = draw_roc_curve(found.discrimination, found)
    assert figure.keys[0].text.startswith(f"new rows: AUC {expected['auc']['value']:.4f} [")
    check_benefits(found.net_benefit, expected["net_benefit"])
    for level in found.subgroups.calibration:
        of_level = expected["by_famhist"][level.subgroup.level]
        check_lines(level.measures, of_level)
        check_ratio(level.measures["oe"], of_level["observed_to_expected"])


class Cox(BaseEstimator):
    """R's coefficients of a coxph, and the baseline hazard of its rows, with Efron's ties."""

    def __init__(self, coef, rows):
        self.coef, self.rows = coef, rows
        self.coef_ = np.array(list(coef.values()))

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        raise AssertionError

    def predict(self, X):
        return X[list(self.coef)].to_numpy() @ self.coef_

    def cum_baseline_hazard_(self, times):
        time, event = self.rows[["time", "event"]].to_numpy().T
        scores, hazard = np.exp(self.predict(self.rows)), np.zeros(np.shape(times))
        for t in np.unique(time[event == 1]):
            dead = (time == t) & (event == 1)
            shares = np.arange(dead.sum()) / dead.sum()
            step = (1 / (scores[time >= t].sum() - shares * scores[dead].sum())).sum()
            hazard = hazard + step * (t <= np.asarray(times))
        return hazard

    def predict_survival_function(self, X):
        scores = np.exp(self.predict(X))
        return [lambda t, e=e: np.exp(-self.cum_baseline_hazard_(t) * e) for e in scores]


@pytest.mark.parametrize("name", ["gbsg", "lung"])
def test_validation_of_a_finished_cox_model_needs_no_fit_for_scores_over_time(name):
    """Uno's C and the integrated Brier score; item 22 states coefficients and baseline hazard."""
    expected, rows = (
        R[name],
        pd.read_csv(FOLDER / f"{name}.csv").rename(columns={"ph.ecog": "ph_ecog"}),
    )
    developed = rows["part"] == "development"
    model = Cox(expected["models"]["efron"]["coef"], rows[developed])
    others, horizon = rows[~developed], expected["horizon"]
    y = np.rec.fromarrays([others["event"] == 1, others["time"]], names="event,time")
    X = others[list(model.coef)]
    scores = ["uno", "integrated-brier"]
    found = tr.validate(model, X, y, prefit=True, horizon=horizon, scoring=scores)
    met(found.risk.value, expected["uno"][0]["value"])
    integrated = found.risk.scores["integrated-brier"].value
    met(integrated, expected["integrated_brier"]["trapezoid_50"])
    hazard = expected["models"]["efron"]["baseline_hazard_at_horizon"]
    met(model.cum_baseline_hazard_(horizon), hazard)
    told = str(found.checklist)
    assert f"Coefficients of Cox: baseline cumulative hazard at {horizon}: {hazard:.6g}; " in told
    assert all(f"; {word}: {value:.6g}" in told for word, value in model.coef.items())
