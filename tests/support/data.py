"""Small data sets that many tests share."""

import numpy as np

from truerisk.extend import Data

__all__ = ["NINE", "checked", "normal_rows"]

NINE = (
    np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None],
    np.array([0, 0, 1, 0, 1, 1, 0, 1, 1]),
)
"""X and y of nine rows, for which risks of nearest neighbours are known as fractions."""


def normal_rows(n_rows, n_columns=2, seed=0):
    """Return X, two overlapping classes, and numbers; the first column of X carries the signal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    numbers = X[:, 0] + rng.normal(size=n_rows)
    return X, (numbers > 0).astype(int), numbers


def checked(X, y, **more):
    """Check X and y as data: of whole numbers as classes, of others as numbers."""
    kinds = {"i": "classification", "b": "classification", "U": "classification"}
    return Data.check(X, y, task=kinds.get(np.asarray(y).dtype.kind, "regression"), **more)
