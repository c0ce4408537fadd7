"""The 'difficult' problem: two parallel narrow clouds that lie across the diagonal."""

from __future__ import annotations

from dataclasses import replace

from truerisk.datasets.gaussian import GaussianProblem

__all__ = ["make_difficult"]

_NARROW = ((1.0, 0.0), (0.0, 40.0))

_UPRIGHT = GaussianProblem(
    name="difficult",
    means=((0.0, 0.0), (3.0, 3.0)),
    covariances=(_NARROW, _NARROW),
    description="variances 1 and 40, means (3,3) apart, then rotated by 45 degrees",
    source="PRTools gendatd, form of 2006",
)

make_difficult = replace(_UPRIGHT.rotated(45), name="difficult")
"""Variances 1 and 40, means (3, 3) apart, rows times [[1,-1],[1,1]]/sqrt(2); Bayes risk .0644."""
