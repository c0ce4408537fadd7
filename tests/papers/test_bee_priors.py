"""The prior as a knob: κ moves the estimate of an error, and hardly the choice of the rule."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr
from truerisk.core.errors import TrueRiskError
from truerisk.models import LogisticPath
from truerisk.papers.bee_choosing import LAMBDAS, draw, true_errors
from truerisk.papers.bee_priors import FLAT, JEFFREYS, KAPPAS, PROPER, SIZES, bee_priors
from truerisk.papers.experiment import stream

GIVEN = {FLAT: {"prior": "flat"}, JEFFREYS: {"prior": "jeffreys"}}


@pytest.mark.parametrize("kappa", [FLAT, JEFFREYS, PROPER, 160])
def test_a_replicate_is_the_bayesian_error_of_every_rule(kappa):
    """Rule by rule along the path: the least estimate, and the exact error of the rule it is of."""
    found, n_rows = bee_priors.replicate(0, 2), SIZES[2]
    X, y = draw(stream(f"bee-synthetic {n_rows}", 0, 2), n_rows)
    path = LogisticPath(lambdas=LAMBDAS).fit(X, y)
    given = GIVEN.get(kappa, {"prior": "proper", "kappa": kappa})
    told = []
    for at in range(len(LAMBDAS)):
        slopes, intercept = path.coef_path_[[at]], path.intercept_path_[at]
        bee = tr.bayesian_error(slopes, intercept, X, y, standardize=False, **given)
        told.append((bee.value, true_errors(slopes, intercept)[0]))
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
    X, y = draw(np.random.default_rng(0), 82)  # 41 of each
    with pytest.raises(TrueRiskError):
        tr.estimate_risk(LogisticPath(at=5), X, y, method=tr.methods.BayesianError("flat"))


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
