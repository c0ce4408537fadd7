"""Whether the compiled steps are those of the libsvm in the scikit-learn that is installed.

The order of sums, the pair that is moved of equal ones, the rows that are set aside: another
release may do it otherwise, another compiler or BLAS round otherwise. So before the steps are used
for the first time in a process, a few small problems are fitted by both and compared bit by bit.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from truerisk.core.contracts import Request
from truerisk.engines.preparation.prepared import unless_it_fails
from truerisk.engines.settings import Group
from truerisk.engines.support_vectors.gram import GramRows, Products, as_called, in_order
from truerisk.engines.support_vectors.stepping import stepped

__all__ = ["takes_the_same_steps", "takes_the_same_steps_on_sparse"]

N_CLASSES = 3
GAPS = 0.4  # of the cells of a sparse table
SETTINGS: tuple[tuple[dict[str, Any], int], ...] = (
    ({"kernel": "rbf", "gamma": 0.3, "C": 30.0}, 3),
    ({"kernel": "rbf", "gamma": 0.01, "C": 200.0, "shrinking": False}, 37),
    ({"kernel": "linear", "C": 3.0, "class_weight": {0: 0.7, 1: 1.3, 2: 2.1}}, 5),
    ({"kernel": "linear", "C": 0.1, "tol": 1e-6}, 70),
    ({"kernel": "poly", "gamma": 0.07, "coef0": 0.3, "degree": 3, "C": 10.0}, 6),
)


@cache
def takes_the_same_steps() -> bool:
    """Asked once per process; some milliseconds."""
    return all(_agree(*one) for one in SETTINGS)


@cache
def takes_the_same_steps_on_sparse() -> bool:
    """The same of sparse rows, of which SVC forms its sums otherwise."""
    return all(_agree(*one, sparse=True) for one in SETTINGS)


def _agree(params: dict[str, Any], columns: int, *, sparse: bool = False) -> bool:
    """Every decision value of every pair of classes, on rows with copies, weights and ties."""
    from scipy.sparse import csr_array
    from sklearn.svm import SVC

    rng = np.random.default_rng(columns)
    X = np.round(rng.normal(size=(140, columns)), columns % 2)
    if sparse:
        X = np.where(rng.random(X.shape) < GAPS, 0.0, X)
    table = csr_array(X) if sparse else X
    codes = (X[:, 0] + X[:, 1] + rng.normal(size=140) > 0).astype(np.int64)
    codes[rng.random(140) < 0.3] = 2
    rows, times = np.unique(rng.integers(0, 110, 110), return_counts=True)
    weights = rng.choice([0.5, 1.0, 2.3], 140)
    every = np.repeat(rows, times)
    model = SVC(decision_function_shape="ovo", **params)
    theirs = unless_it_fails(lambda: model.fit(table[every], codes[every], weights[every]))
    if theirs is None:
        return False
    setting = theirs.get_params()
    gram = Products(X, sums=in_order if sparse else as_called).gram(setting, setting["gamma"])
    ours = stepped(
        gram,
        GramRows(rows, codes[rows], times, weights[rows]),
        Group(np.zeros(1, dtype=np.int64), (setting,)),
        np.arange(N_CLASSES),
        np.arange(140),
    )
    if ours is None:
        return False
    labels = ours.answers(Request("label"), N_CLASSES)
    values = -ours.values[:, 0].T
    return np.array_equal(values, theirs.decision_function(table)) and np.array_equal(
        labels[0], theirs.predict(table)
    )
