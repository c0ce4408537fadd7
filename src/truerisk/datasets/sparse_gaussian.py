"""Two Gaussian classes, 14 features that tell them apart and others that do not: document 002."""

from __future__ import annotations

from truerisk.core.arguments import check_count
from truerisk.datasets.gaussian import GaussianProblem, Matrix, Vector

__all__ = ["CORRELATION", "GAP", "PAIRS", "make_sparse_gaussian", "sparse_gaussian"]

PAIRS, CORRELATION, GAP = 7, 0.6, 1.2095  # the classes are 4 apart: a Bayes risk of Phi(-2)


def sparse_gaussian(n_noise: int = 6) -> GaussianProblem:
    """The problem with another number of features that tell nothing.

    Seven pairs of features: in the first of each the means are 1.2095 apart, the second has no
    difference and a correlation of .6 with the first, so it helps to remove noise. Document 002
    describes such a problem (its §4.1.1) and does not print the covariance.

    >>> X, y = sparse_gaussian(100)(30, random_state=0)
    >>> X.shape
    (30, 114)
    """
    check_count("n_noise", n_noise, 0, "it is no number of features")
    half = (GAP / 2, 0.0) * PAIRS + (0.0,) * n_noise
    covariance = _covariance(len(half))
    return GaussianProblem(
        name="sparse-gaussian",
        means=(tuple(-value for value in half), half),
        covariances=(covariance, covariance),
        description=f"{2 * PAIRS} features that tell two Gaussians apart, {n_noise} that do not",
        source="after Huttunen and Tohka (2015), §4.1.1",
    )


def _covariance(n_features: int) -> Matrix:
    """Ones on the diagonal, the correlation within each pair."""
    return tuple(_row(i, n_features) for i in range(n_features))


def _row(i: int, n_features: int) -> Vector:
    partner = i + 1 - 2 * (i % 2) if i < 2 * PAIRS else i
    return tuple(1.0 if j == i else CORRELATION if j == partner else 0.0 for j in range(n_features))


make_sparse_gaussian = sparse_gaussian()
"""14 features that tell the classes apart and 6 that do not; the Bayes risk is .0227."""
