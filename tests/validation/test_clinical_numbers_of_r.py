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


@pytest.fixture(scope="module", params=["gbsg", "lung"])
def in_time(request):
    """Numbers of R, predictions, and the validations of risks and of linear predictors."""
    expected = R[request.param]
    rows = pd.read_csv(FOLDER / f"{request.param}_predictions.csv")
    y = rows[["event", "time"]]
    horizon = expected["horizon"]
    risks = tr.validate_predictions(
        y, rows["p"], horizon=horizon, scoring=["uno", f"brier-at-{horizon}"],
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
    at = expected["at_horizon"]
    met(risks.measure("auc").honest, at["auc"][0]["AUC"])
    met(risks.measure("brier").honest, at["brier"][0]["Brier"])
    check_lines(risks.calibration, at["calibration"])


def test_validation_of_a_glm_has_the_numbers_of_rms_and_proc():
    found, expected = tr.validate_predictions(HEART["chd"], HEART["p"]), R["sa_heart"]
    check_lines(found.calibration, expected["calibration"])
    met(found.measure("auc").honest, expected["auc"]["value"])
    met(found.measure("brier").honest, expected["brier"])
