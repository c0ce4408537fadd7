"""The path engine answers what LogisticPath's own fits answer, and LogisticRegression's minimiser."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.core.contracts import Request, Run, Streams
from truerisk.core.data import Data
from truerisk.core.family import Family
from truerisk.engines.generic import Generic
from truerisk.engines.logistic import LogisticPaths
from truerisk.models import LogisticPath
from truerisk.testing import engine_checks

FAMILIES = [
    Family.of(LogisticPath(n_lambdas=8, least_ratio=0.05), {"at": [0, 3, 0.02, 7, 0.1]}),
    Family.of(LogisticPath(0.5, lambdas=[0.2, 0.05, 0.01], standardize=False), {"at": [0, 1, 2]}),
    Family.of(
        make_pipeline(StandardScaler(), LogisticPath(0.0, n_lambdas=5, least_ratio=0.01)),
        {"logisticpath__at": [1, 4]},
    ),
    Family.of(
        LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000), {"C": [0.3, 1.0]}
    ),
]


CHECKS = [
    pytest.param(check, id=f"{number}-{check}")
    for number, family in enumerate(FAMILIES)
    for check in engine_checks(LogisticPaths(), family, examples=15)
]


@pytest.mark.parametrize("check", CHECKS)
def test_conforms(check):
    """The published checks of any engine."""
    check()
