"""The 'simple' problem of double cross-validation studies: two round clouds, two apart."""

from __future__ import annotations

from truerisk.datasets.gaussian import GaussianProblem

__all__ = ["make_simple"]

_ROUND = ((1.0, 0.0), (0.0, 1.0))

make_simple = GaussianProblem(
    name="simple",
    means=((0.0, 0.0), (2.0, 0.0)),
    covariances=(_ROUND, _ROUND),
    description="N((0,0), I) against N((2,0), I)",
    source="PRTools gendats with means 2 apart (its default is 1)",
)
"""Two identity-covariance Gaussians, means 2 apart; the Bayes risk is Phi(-1) = .1587."""
