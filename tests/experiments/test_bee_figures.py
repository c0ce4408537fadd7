"""002, Figures 1 and 4: many curves of cross-validation, one Bayesian; seconds; its prior."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr
from truerisk.core.errors import TrueRiskError
from truerisk.datasets import make_sparse_gaussian
from truerisk.experiments import bee_figures as module
from truerisk.experiments import reproduce
from truerisk.experiments.bee_choosing import LAMBDAS, SHORT, SIZES, draw
from truerisk.experiments.bee_figures import (
    FEATURES,
    FIVE,
    FLAT,
    FOLDS,
    JEFFREYS,
    KAPPAS,
    LINES,
    PROBLEM,
    PROPER,
    bee_figure_1,
    bee_figure_4,
    bee_priors,
)
from truerisk.experiments.experiment import stream
from truerisk.models import LogisticPath


def test_only_cross_validation_depends_on_the_folds(draws_of):
    """One data set: the Bayesian and the true errors are the same in every replicate."""
    draws = draws_of("bee-figure-1")
    for name in ("true", "BEEp", "BEEi"):
        assert (draws[name] == draws[name][0]).all()
        assert draws[name].shape == (20, len(LAMBDAS))
    assert len(np.unique(draws["CV-5"], axis=0)) == 20


def test_the_seed_draws_the_data_set():
    """Another seed, another set."""
    errors = [bee_figure_1.replicate(seed, 0)["true"] for seed in (2, 3)]
    assert not np.array_equal(*errors)


def test_the_report_has_errors_places_and_a_picture(findings_of):
    """No choice errs less than the oracle; the bars count every curve."""
    found = findings_of("bee-figure-1")
    errors = {row.name: row.ours for row in found.tables[0].rows}
    assert min(errors.values()) == errors["oracle"] < 0.1
    assert [row.name for row in found.tables[1].rows][-1] == "oracle"
    panels = found.figures[0].panels
    assert [panel.kind for panel in panels] == ["lines", "lines", "bars"]
    assert "every path converged" in found.notes[-1]
    assert panels[2].series[0].y.sum() == 20


def test_what_the_document_says_is_judged():
    """Minima in two places, one curve of 40 far off: all holds; a third far off does not."""
    grid = np.arange(len(LAMBDAS))

    def curve(place):
        return 0.1 + 0.001 * (grid - place) ** 2

    curves = np.array([curve(18 + i % 2) for i in range(1170)] + [curve(30)] * 30)
    draws = {"CV-5": curves, SHORT: np.zeros(1200)}
    draws |= {name: np.tile(curve(19), (1200, 1)) for name in ("BEEp", "BEEi", "true")}
    assert [c.verdict for c in bee_figure_1.findings(draws).claims] == ["holds"] * 3
    draws |= {"CV-5": np.array([curve(5 + 8 * (i % 3 == 0)) for i in range(1200)])}
    verdicts = [c.verdict for c in bee_figure_1.findings(draws).claims]
    assert verdicts == ["holds", "does not hold", "does not hold"]
    few = {name: values[:9] for name, values in draws.items()}
    assert {c.verdict for c in bee_figure_1.findings(few).claims} == {"undecided"}


def test_every_choice_is_timed(monkeypatch):
    """Four curves and the engine's, over all sizes; on as many features as the MEG data had."""
    assert PROBLEM.n_features == FEATURES == 408
    monkeypatch.setattr(module, "ROWS_4", (40, 60))
    seconds, ratios = reproduce("bee-figure-4", replicates=2).tables
    assert [row.name for row in seconds.rows] == list(LINES)
    assert all(mean > 0 for row in seconds.rows for mean in row.means)
    assert ratios.rows[0].name == "LR CV-5 / LR BEEp"


def test_ratios_are_judged():
    """3.3 times as long holds, twice and four times as long do not: the document has 3 to 3.5."""
    rng = np.random.default_rng(0)
    draws = {name: 1 + 0.01 * rng.random((10, 4)) for name in (*LINES, FOLDS)}
    for times, verdict in ((3.3, "holds"), (2.0, "does not hold"), (4.0, "does not hold")):
        draws |= {name: times * np.ones((10, 4)) for name in ("LR CV-5", "SVM CV-5")}
        found = bee_figure_4.findings(draws)
        assert [claim.verdict for claim in found.claims[:2]] == [verdict] * 2
    assert found.tables[1].rows[2].name == f"{FIVE} / SVM BEEp"


def test_a_hundred_times_five_folds_and_one_fit_of_all_rows_are_counted():
    """Folds of 4 seconds and a fit of one take 401 of the Bayesian second, folds of 6 601."""
    draws = {name: np.ones((10, 4)) for name in LINES}
    for folds, verdict in ((4.0, "holds"), (6.0, "does not hold")):
        draws |= {FOLDS: np.full((10, 4), folds), "LR CV-5": np.full((10, 4), folds + 1)}
        repeated = bee_figure_4.findings(draws).claims[2]
        assert repeated.verdict == verdict
        assert repeated.quantities[0].value == 100 * folds + 1


# ---------------------------------------------------------------- the prior as a knob

GIVEN = {FLAT: {"prior": "flat"}, JEFFREYS: {"prior": "jeffreys"}}


@pytest.mark.parametrize("kappa", [FLAT, JEFFREYS, PROPER, 160])
def test_a_replicate_is_the_bayesian_error_of_every_rule(kappa):
    """Rule by rule along the path: the least estimate, and the exact error of the rule it is of."""
    found, n_rows = bee_priors.replicate(0, 2), SIZES[2]
    X, y, _ = draw(stream(f"bee-synthetic {n_rows}", 0, 2), n_rows)
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


def test_a_prior_without_a_posterior_has_none():
    """The flat prior needs 42 rows of each class, that of Jeffreys 21; all others take any rows."""
    missing = np.isnan(bee_priors.replicate(0, 0)["error"])
    lacking = {(j, i) for j, i in np.argwhere(missing).tolist()}
    assert lacking == {(0, 0), (0, 1), (1, 0)}
    X, y, _ = draw(np.random.default_rng(0), 82)  # 41 of each
    with pytest.raises(TrueRiskError):
        tr.estimate_risk(LogisticPath(at=5), X, y, cv=tr.methods.BayesianError("flat"))


def test_the_estimate_falls_along_kappa_and_the_choice_stays(findings_of):
    """With 100 rows from .20 to below .01, while errors of the choice move by less than .002."""
    estimates, errors, best = findings_of("bee-priors").tables
    means, true = (np.array([row.means for row in of.rows]) for of in (estimates, errors))
    assert (np.diff(means[:, 2]) < 0).all()
    assert np.ptp(means[:, 2]) > 0.15
    assert np.ptp(true[:, 2]) < 0.002
    assert (true[2:] >= np.array(best.rows[0].means)).all()


def test_the_rows_that_flat_lacks_are_counted(findings_of):
    """42 of each class less the 14 and the 25 that there are; the strong prior gains little."""
    *gains, lacking = findings_of("bee-priors").claims
    assert [quantity.value for quantity in lacking.quantities] == [28, 17]
    assert [len(claim.quantities) for claim in gains] == [3, 2]
    assert all(abs(one.value) < 0.002 for claim in gains for one in claim.quantities)


def test_a_panel_has_the_priors_that_there_are(findings_of):
    """Five at n = 28, all seven from 100 on, as far apart as they are."""
    panels = findings_of("bee-priors").figures[0].panels
    assert [len(panel.series[0].x) for panel in panels] == [5, 6, 7, 7]
    assert panels[0].series[0].x.tolist() == [20, 22, 40, 80, 160]
