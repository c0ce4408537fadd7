"""Criteria along ridge penalties and least squares: degrees of freedom from one decomposition."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr


@pytest.mark.parametrize("word", ["cp", "gcv", "aic", "aicc", "bic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_criteria_are_those_of_the_fitted_models(word, weighted):
    """One pass gives the degrees of freedom of all penalties, collinear columns and all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 7))
    X[:, 3], X[:, 4] = X[:, 2], 1.0
    y = X[:, 0] + rng.normal(size=40)
    weights = rng.uniform(0.2, 2, 40) if weighted else None
    families = (
        (Ridge(), {"alpha": [0.0, 1e-3, 1.0, 100.0], "fit_intercept": [True, False]}),
        (LinearRegression(), {"fit_intercept": [True, False]}),
    )
    for model, grid in families:
        ours, generic = (
            tr.risk_curve(model, grid, X, y, cv=word, sample_weight=weights, engine=engine)
            for engine in ("least-squares", "generic")
        )
        assert np.allclose(ours.values, generic.values, rtol=1e-8, atol=0, equal_nan=True)


def test_degrees_of_freedom_behind_other_steps_are_left_to_the_fits():
    """A step before may look at y, which a hat matrix does not tell."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    piped = make_pipeline(StandardScaler(), Ridge())
    estimate = tr.estimate_risk(piped, X, X[:, 0], cv="gcv")
    assert estimate.engine == "generic"
    assert "other steps" in estimate.refusals["least-squares"]
