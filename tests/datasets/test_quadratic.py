"""The Bayes risk of classes with different covariances agrees with other formulas."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.datasets import make_simple
from truerisk.datasets.gaussian import GaussianProblem


@pytest.mark.parametrize("variance", [4.0, 0.25, 1e-4, 1e-8])
def test_bayes_risk_of_round_classes_is_that_of_a_ball(variance: float) -> None:
    """Where both classes are round the border is a circle: two non-central chi-squares."""
    from scipy.stats import ncx2

    means = ((0.0, 0.0), (1.0, 0.5))
    round_ = ((variance, 0.0), (0.0, variance))
    problem = GaussianProblem("round", means, (make_simple.covariances[0], round_))
    # |x - m|^2 / v - |x|^2 + 2 log v = 0 is |x - c|^2 = radius
    squared, factor = 1.25, 1 / variance - 1
    away = 1 / (variance * factor)  # c = away * m
    radius = (away**2 * squared) - (squared / variance + 2 * np.log(variance)) / factor
    near = [
        ncx2.cdf(radius, 2, away**2 * squared),
        ncx2.cdf(radius / variance, 2, (away - 1) ** 2 * squared / variance),
    ]
    inside = near[0] + 1 - near[1]
    risk = inside / 2 if variance < 1 else 1 - inside / 2
    assert problem.bayes_risk == pytest.approx(risk, rel=1e-6, abs=1e-10)


def test_bayes_risk_with_one_idle_feature_is_that_of_the_other() -> None:
    """A second feature without information leaves N(0,1) against N(0,1/4)."""
    from scipy.special import ndtr

    half = ((0.25, 0.0), (0.0, 1.0))
    problem = GaussianProblem("idle", ((0.0, 0.0), (0.0, 0.0)), (make_simple.covariances[0], half))
    border = np.sqrt(np.log(4) / 3)  # x^2 / 2 - 2 x^2 + log 2 = 0
    risk = (2 * ndtr(border) - 1 + 2 * ndtr(-2 * border)) / 2
    assert problem.bayes_risk == pytest.approx(risk, abs=1e-11)


def test_quadratic_and_linear_formulas_meet() -> None:
    """Covariances that differ by nothing to speak of have the risk of equal ones."""
    nearly = ((1.0 + 1e-7, 0.0), (0.0, 1.0))
    problem = GaussianProblem("near", make_simple.means, (make_simple.covariances[0], nearly))
    assert problem.bayes_risk == pytest.approx(make_simple.bayes_risk, abs=1e-6)
