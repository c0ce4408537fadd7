"""Highleyman's problem: a flat cloud crossed by a narrow one."""

from __future__ import annotations

from truerisk.datasets.gaussian import GaussianProblem

__all__ = ["make_highleyman"]

make_highleyman = GaussianProblem(
    name="highleyman",
    means=((1.0, 1.0), (2.0, 0.0)),
    covariances=(((1.0, 0.0), (0.0, 0.25)), ((0.01, 0.0), (0.0, 4.0))),
    description="N((1,1), diag(1,.25)) against N((2,0), diag(.01,4))",
    source="Highleyman (1962); PRTools gendath",
)
"""Highleyman's classes, Bayes risk .0555; `make_highleyman.rotated(45)` turns them off the axes."""
