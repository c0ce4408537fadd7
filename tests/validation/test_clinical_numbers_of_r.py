"""The numbers of R for three clinical models, which `tests/golden/clinical/clinical.R` wrote."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import truerisk as tr

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
        for rule, name in (("minus_none", ""), ("minus_all", "over_all"), ("all", "treat_all")):
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
    check_benefits(found.net_benefit, expected["net_benefit"])
    for level in found.subgroups.calibration:
        of_level = expected["by_famhist"][level.subgroup.level]
        check_lines(level.measures, of_level)
        check_ratio(level.measures["oe"], of_level["observed_to_expected"])
