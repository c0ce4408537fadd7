"""Two Gaussian classes by name: 'simple', 'difficult', Highleyman's, 'colon', sparse features."""

from __future__ import annotations

from dataclasses import replace

from truerisk.core.arguments import check_count
from truerisk.datasets.gaussian import GaussianProblem, Matrix, Vector

_ROUND = ((1.0, 0.0), (0.0, 1.0))

make_simple = GaussianProblem(
    name="simple",
    means=((0.0, 0.0), (2.0, 0.0)),
    covariances=(_ROUND, _ROUND),
    description="N((0,0), I) against N((2,0), I)",
    source="PRTools gendats with means 2 apart (its default is 1)",
)
"""Two identity-covariance Gaussians, means 2 apart; the Bayes risk is Phi(-1) = .1587."""


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


make_highleyman = GaussianProblem(
    name="highleyman",
    means=((1.0, 1.0), (2.0, 0.0)),
    covariances=(((1.0, 0.0), (0.0, 0.25)), ((0.01, 0.0), (0.0, 4.0))),
    description="N((1,1), diag(1,.25)) against N((2,0), diag(.01,4))",
    source="Highleyman (1962); PRTools gendath",
)
"""Highleyman's classes, Bayes risk .0555; `make_highleyman.rotated(45)` turns them off the axes."""


make_colon2d = GaussianProblem(
    name="colon-2d",
    means=((1.2073, 0.7410), (0.0745, -0.0097)),
    covariances=(((0.3042, 0.0592), (0.0592, 0.1765)), ((0.2663, 0.1253), (0.1253, 0.1013))),
    description="genes Hsa.37937 and Hsa.36689 of normal (0) and tumour (1) tissue as Gaussians",
    source=(
        "means and covariances of the colon data (Alon et al., 1999): log10, arrays standardised; "
        "Wallman (2005) used such a pair and did not publish its parameters"
    ),
)
"""Normal against tumour tissue in two genes, Bayes risk .0960; the parameters are ours."""


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
