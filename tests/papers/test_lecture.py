"""The lecture's kind of data."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers.lecture import NOISE, POINTS, SHARES, curve, polynomials


def test_the_parts_of_the_curve_have_their_shares() -> None:
    """What each degree adds to a least-squares fit of the curve itself, mean square by degree."""
    x = np.linspace(-1, 1, POINTS)
    truth = curve(x)
    left = [((truth - np.polynomial.Polynomial.fit(x, truth, d)(x)) ** 2).mean() for d in range(4)]
    assert -np.diff(left) == pytest.approx([abs(share) for share in SHARES.values()])
    assert left[3] == pytest.approx(0, abs=1e-20)
    assert truth.var() + NOISE == pytest.approx(1, abs=0.03)


def test_every_degree_is_a_candidate() -> None:
    """1 to the largest."""
    degrees = [c["polynomialfeatures__degree"] for c in polynomials(4).candidates]
    assert degrees == [1, 2, 3, 4]
