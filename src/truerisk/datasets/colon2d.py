"""The 'colon' problem in the plane: two genes of the colon data as two Gaussians."""

from __future__ import annotations

from truerisk.datasets.gaussian import GaussianProblem

__all__ = ["make_colon2d"]

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
