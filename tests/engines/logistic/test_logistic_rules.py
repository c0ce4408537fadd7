"""The path engine states rules and degrees of freedom of LogisticPath, from one path."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr
from truerisk.models import LogisticPath

GRID = {"at": [0, 3, 0.02, 7]}


def table(n_classes):
    generator = np.random.default_rng(0)
    y = np.arange(60) % n_classes
    return generator.normal(size=(60, 6)) + 1.5 * np.eye(6)[y], y


@pytest.mark.parametrize("method", ["bee", "bee-improper", "ebic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_methods_along_the_path_say_what_single_fits_say(method, n_classes):
    """Risks by coefficients or degrees of freedom are equal from one path and from the fits."""
    X, y = table(n_classes)
    path = LogisticPath(n_lambdas=8, least_ratio=0.05)
    fast = tr.risk_curve(path, GRID, X, y, method=method, engine="logistic-path")
    slow = tr.risk_curve(path, GRID, X, y, method=method, engine="generic")
    np.testing.assert_allclose(fast.values, slow.values, rtol=1e-12)
