"""Highleyman's problem is the stated one, along the axes and rotated."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.datasets import make_highleyman


def test_bayes_risk_of_highleyman_is_half_the_overlap() -> None:
    """A plain sum of the smaller density over a fine grid gives the same number."""
    x1 = np.linspace(1, 3, 2001)  # class 1 has standard deviation .1 around 2: all of it is here
    x2 = np.linspace(-8, 8, 2001)
    a = np.exp(-((x1 - 1) ** 2) / 2)[:, None] * np.exp(-((x2 - 1) ** 2) / 0.5)
    b = np.exp(-((x1 - 2) ** 2) / 0.02)[:, None] * np.exp(-(x2**2) / 8)
    a, b = a / (2 * np.pi * 0.5), b / (2 * np.pi * 0.1 * 2)
    overlap = np.minimum(a, b).sum() * (x1[1] - x1[0]) * (x2[1] - x2[0])
    assert make_highleyman.bayes_risk == pytest.approx(overlap / 2, abs=1e-5)
    assert make_highleyman.bayes_risk == pytest.approx(0.0554721408, abs=1e-9)


def test_rotation_keeps_the_bayes_risk() -> None:
    """A rotation changes the axes, not the overlap."""
    turned = make_highleyman.rotated(45)
    assert turned.bayes_risk == pytest.approx(make_highleyman.bayes_risk, abs=1e-9)
    assert turned.covariances != make_highleyman.covariances
