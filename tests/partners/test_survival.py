"""scikit-survival: its learners as they are, its scores as the losses here say them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.survival import drawn_times

import truerisk as tr
from truerisk.engines.running.answering import predict_all_rows
from truerisk.extend import Data, Refusal, Request
from truerisk.losses.loss_words import as_loss

metrics = pytest.importorskip("sksurv.metrics")

from sksurv.ensemble import RandomSurvivalForest  # noqa: E402
from sksurv.linear_model import CoxPHSurvivalAnalysis  # noqa: E402
from sksurv.svm import FastSurvivalSVM  # noqa: E402

X, Y = drawn_times(150)
GRID = {"alpha": [0.01, 1.0, 100.0]}


def test_honest_search_of_survival_is_grid_search_cv():
    ours = tr.HonestSearchCV(CoxPHSurvivalAnalysis(), GRID, cv=5).fit(X, Y)
    theirs = GridSearchCV(CoxPHSurvivalAnalysis(), GRID, cv=5).fit(X, Y)
    scores = theirs.cv_results_["mean_test_score"]
    assert ours.cv_results_["mean_test_score"] == pytest.approx(scores)
    assert ours.best_params_ == theirs.best_params_
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y))


@pytest.mark.parametrize("word", ["concordance", "uno", "brier-at-2", "auc-at-2"])
def test_survival_scores_are_those_of_scikit_survival(word):
    """Where the censoring is estimated from the rows that are rated."""
    fresh, y = drawn_times(300, seed=4)
    model = CoxPHSurvivalAnalysis().fit(X, Y)
    risk, later = model.predict(fresh), [c(2.0) for c in model.predict_survival_function(fresh)]
    theirs = {
        "concordance": lambda: metrics.concordance_index_censored(y["event"], y["time"], risk)[0],
        "uno": lambda: metrics.concordance_index_ipcw(y, y, risk)[0],
        "brier-at-2": lambda: metrics.brier_score(y, y, np.array(later)[:, None], [2.0])[1][0],
        "auc-at-2": lambda: metrics.cumulative_dynamic_auc(y, y, risk, [2.0])[0][0],
    }
    found = tr.validate(model, fresh, y, prefit=True, horizon=2.0) if word == "auc-at-2" else None
    data = Data.check(fresh, y, task="survival")
    loss = as_loss(word, data)
    data = replace(data, horizons=loss.horizons)
    answers = np.asarray(predict_all_rows(model, data, Request(loss.response)))[None]
    value = loss.of_set(data, np.arange(300), answers, None)[0]
    assert (1 - value if loss.is_score else value) == pytest.approx(theirs[word]())
    if found is not None:
        assert found.measure("auc").honest == pytest.approx(1 - value)


def test_survival_forest_has_curves_and_a_machine_has_none():
    """Words of a time need curves; the order does not."""
    forest = make_pipeline(StandardScaler(), RandomSurvivalForest(10, random_state=0))
    assert tr.estimate_risk(forest, X, Y, scoring="integrated-brier", cv="5-fold").value < 0.25
    machine = FastSurvivalSVM(random_state=0)
    assert tr.estimate_risk(machine, X, Y, cv="5-fold").interval is not None
    with pytest.raises(Refusal, match="FastSurvivalSVM tells no curves of survival"):
        tr.estimate_risk(machine, X, Y, scoring="brier-at-2")


def test_cox_of_many_columns_is_refused_before_its_first_fit(monkeypatch):
    """scikit-survival makes matrices of columns by columns, which do not fit into memory."""
    monkeypatch.setattr("truerisk.engines.running.memory.available_memory", lambda: 2**30)
    wide = np.broadcast_to(np.arange(float(len(Y)))[:, None], (len(Y), 20_000))
    with pytest.raises(Refusal, match="makes a matrix of 20,000 columns by 20,000 columns"):
        tr.estimate_risk(CoxPHSurvivalAnalysis(), wide, Y, cv="2-fold", checks=False)


@pytest.mark.parametrize("steps", [(), (StandardScaler(),)], ids=["alone", "scaled"])
def test_item_22_states_the_cox_model_of_r(steps):
    """R's coxph, with Breslow's ties, gave the coefficients and the baseline hazard of `gbsg`."""
    folder = Path(__file__).parents[1] / "golden" / "clinical"
    expected = json.loads((folder / "gbsg.json").read_text())
    wanted = expected["models"]["breslow"]
    rows = pd.read_csv(folder / "gbsg.csv")
    y = np.rec.fromarrays([rows["event"] == 1, rows["time"].astype(float)], names="event,time")
    X, developed = rows[list(wanted["coef"])], rows["part"] == "development"
    model = make_pipeline(*steps, CoxPHSurvivalAnalysis()).fit(X[developed], y[developed])
    found = tr.validate(model, X[~developed], y[~developed], prefit=True, horizon=1825)
    told = str(found.checklist)
    hazard = wanted["baseline_hazard_at_horizon"]
    assert f"baseline cumulative hazard at 1825: {hazard:.6g}; " in told
    assert all(f"; {name}: {value:.6g}" in told for name, value in wanted["coef"].items())
