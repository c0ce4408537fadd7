"""002, Figures 1 and 4: many curves of cross-validation, one Bayesian; seconds; its prior."""

import numpy as np
import pytest

import truerisk as tr
from truerisk.datasets import make_sparse_gaussian
from truerisk.experiments import bee_figures as module
from truerisk.experiments import reproduce
from truerisk.experiments.bee_choosing import LAMBDAS, TRAINING_SIZES, draw_sparse_gaussian
from truerisk.experiments.bee_figures import (
    FIVE_FOLDS_ONLY,
    FLAT,
    FOUR_CLASS_PROBLEM,
    JEFFREYS,
    KAPPAS,
    N_FEATURES,
    PROPER,
    SVM_ENGINE_CHOICE,
    TIMING_LINE_STYLES,
    bee_figure_4,
    bee_priors,
)
from truerisk.experiments.experiment import replicate_rng
from truerisk.extend import TrueRiskError
from truerisk.models import LogisticPath


def test_bee_figure_1_depends_on_the_folds_by_cross_validation_alone(draws_of, findings_of):
    draws = draws_of("bee-figure-1")
    for name in ("true", "BEEp", "BEEi"):
        assert (draws[name] == draws[name][0]).all()
        assert draws[name].shape == (len(draws["CV-5"]), len(LAMBDAS))
    assert len(np.unique(draws["CV-5"], axis=0)) == len(draws["CV-5"])
    found = findings_of("bee-figure-1")
    errors = {row.name: row.ours for row in found.tables[0].rows}
    assert min(errors.values()) == errors["oracle"] < 0.1
    assert [row.name for row in found.tables[1].rows][-1] == "oracle"
    panels = found.figures[0].panels
    assert [panel.kind for panel in panels] == ["lines", "lines", "bars"]
    assert "every path converged" in found.notes[-1]
    assert panels[2].series[0].y.sum() == len(draws["CV-5"])


def test_bee_figure_4_times_every_choice(monkeypatch):
    assert FOUR_CLASS_PROBLEM.n_features == N_FEATURES == 408
    monkeypatch.setattr(module, "TRAINING_SIZES_4", (40, 60))
    seconds, ratios = reproduce("bee-figure-4", replicates=2).tables
    assert [row.name for row in seconds.rows] == list(TIMING_LINE_STYLES)
    assert all(mean > 0 for row in seconds.rows for mean in row.means)
    assert ratios.rows[0].name == "LR CV-5 / LR BEEp"


def test_bee_figure_4_ratios_are_judged():
    rng = np.random.default_rng(0)
    draws = {
        name: 1 + 0.01 * rng.random((10, 4)) for name in (*TIMING_LINE_STYLES, FIVE_FOLDS_ONLY)
    }
    for times, verdict in ((3.3, "holds"), (2.0, "does not hold"), (4.0, "does not hold")):
        draws |= {name: times * np.ones((10, 4)) for name in ("LR CV-5", "SVM CV-5")}
        found = bee_figure_4.findings(draws)
        assert [claim.verdict for claim in found.claims[:2]] == [verdict] * 2
    assert found.tables[1].rows[2].name == f"{SVM_ENGINE_CHOICE} / SVM BEEp"


def test_bee_figure_4_counts_a_hundred_times_five_folds_and_one_fit():
    draws = {name: np.ones((10, 4)) for name in TIMING_LINE_STYLES}
    for folds, verdict in ((4.0, "holds"), (6.0, "does not hold")):
        draws |= {FIVE_FOLDS_ONLY: np.full((10, 4), folds), "LR CV-5": np.full((10, 4), folds + 1)}
        repeated = bee_figure_4.findings(draws).claims[2]
        assert repeated.verdict == verdict
        assert repeated.quantities[0].value == 100 * folds + 1


GIVEN = {FLAT: {"prior": "flat"}, JEFFREYS: {"prior": "jeffreys"}}


@pytest.mark.parametrize("kappa", [FLAT, JEFFREYS, PROPER, 160])
def test_bee_priors_replicate_is_the_bayesian_error_of_every_rule(kappa):
    found, n_rows = bee_priors.replicate(0, 2), TRAINING_SIZES[2]
    X, y, _ = draw_sparse_gaussian(replicate_rng(f"bee-synthetic {n_rows}", 0, 2), n_rows)
    path = LogisticPath(lambdas=LAMBDAS).fit(X, y)
    given = GIVEN.get(kappa, {"prior": "proper", "kappa": kappa})
    told = []
    for at in range(len(LAMBDAS)):
        slopes, intercept = path.coef_path_[[at]], path.intercept_path_[at]
        bee = tr.bayesian_error(slopes, intercept, X, y, standardize=False, **given)
        told.append((bee.value, make_sparse_gaussian.true_risk_linear(slopes, intercept)))
    estimates, errors = np.array(told).T
    place = 2, KAPPAS.index(kappa)
    assert found["estimate"][place] == pytest.approx(estimates.min())
    assert found["error"][place] == pytest.approx(errors[estimates.argmin()])
    assert found["oracle"][2] == pytest.approx(errors.min())


def test_bee_priors_without_a_posterior_have_no_error(findings_of):
    missing = np.isnan(bee_priors.replicate(0, 0)["error"])
    lacking = {(j, i) for j, i in np.argwhere(missing).tolist()}
    assert lacking == {(0, 0), (0, 1), (1, 0)}
    X, y, _ = draw_sparse_gaussian(np.random.default_rng(0), 82)  # 41 of each
    with pytest.raises(TrueRiskError):
        tr.estimate_risk(LogisticPath(at=5), X, y, cv=tr.methods.BayesianError("flat"))
    panels = findings_of("bee-priors").figures[0].panels
    assert [len(panel.series[0].x) for panel in panels] == [5, 6, 7, 7]
    assert panels[0].series[0].x.tolist() == [20, 22, 40, 80, 160]
