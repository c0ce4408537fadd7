"""Whether the steps that are followed are those of the installed SciPy and scikit-learn."""

from __future__ import annotations

from functools import cache

import numpy as np

from truerisk.engines.preparation.prepared import unless_it_fails
from truerisk.kernels.lbfgs import logistic_lbfgs

__all__ = ["follows_the_solver"]

SAME = 1e-9


@cache
def follows_the_solver() -> bool:
    """Asked once per process, on three small problems; some milliseconds.

    Another release may stop elsewhere or scale its objective in another way.
    """
    return all(_agrees(*one) for one in ((2, False), (3, False), (2, True)))


def _agrees(n_classes: int, sparse: bool) -> bool:
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    codes = np.arange(40) % n_classes
    X = rng.normal(size=(40, 4)) + codes[:, None] * np.array([1.0, 0.5, 0.0, -0.2])
    weights = rng.uniform(0.5, 2.0, 40)
    theirs = csr_array(X) if sparse else X
    model = unless_it_fails(lambda: LogisticRegression(C=0.7).fit(theirs, codes, weights))
    if model is None:
        return False
    found = logistic_lbfgs(
        X,
        np.arange(40),
        codes,
        weights,
        n_classes=n_classes,
        penalties=np.array([1 / (0.7 * weights.sum())]),
        tolerance=1e-4,
        most=100,
    )
    scores = np.squeeze(X @ found.coefficients[0, 0].T + found.intercepts[0, 0])
    steps = bool(found.sure[0]) and int(found.iterations[0]) == int(np.max(model.n_iter_))
    return steps and bool(np.abs(scores - model.decision_function(theirs)).max() < SAME)
