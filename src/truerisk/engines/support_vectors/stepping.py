"""libsvm's own solution for every pair of classes of one training set, and the votes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.frozen import frozen
from truerisk.engines.prepared import unless_it_fails
from truerisk.engines.settings import Group
from truerisk.engines.support_vectors.gram import Gram, GramRows, Products, as_called, in_order
from truerisk.engines.support_vectors.svm_steps import stepped_answers, steps_of_each
from truerisk.plan.answers import code_type


@frozen(eq=False)
class Stepped:
    """Decision values (pair, candidate, row) of SVC; a pair's second class has values ≥ 0."""

    pairs: tuple[tuple[int, int], ...]
    values: np.ndarray

    def answers(self, request: Request, n_classes: int) -> np.ndarray:
        """Return the predictions of every candidate."""
        if request.response == "score":
            return self.values[0]
        votes = np.zeros((*self.values.shape[1:], n_classes), dtype=np.int32)
        for (first, second), values in zip(self.pairs, self.values, strict=True):
            of_second = values >= 0
            votes[..., second] += of_second
            votes[..., first] += ~of_second
        # Ties go to the lower class code.
        return votes.argmax(axis=-1).astype(code_type(n_classes))


def stepped(
    gram: Gram, rows: GramRows, group: Group, classes: Any, test_rows: np.ndarray
) -> Stepped | None:
    """Return decision values for columns of the Gram matrix, or None if SVC has to be fitted.

    This is the case if only one class is left, if a row has weight 0, or if the matrix, a step or a
    prediction overflows.
    """
    copies = np.arange(len(rows.codes))
    copies = copies if rows.times is None else np.repeat(copies, rows.times)
    codes = rows.codes[copies]
    present = np.unique(codes)
    setting = group.settings[0]
    weights = np.ones(len(codes)) if rows.weights is None else rows.weights[copies]
    of_class = _class_weights(codes, setting, classes)
    positive = (
        np.isfinite(weights * of_class).all() and (weights > 0).all() and (of_class > 0).all()
    )
    if len(present) < 2 or not positive or not gram.finite:
        return None
    pairs = tuple((int(a), int(b)) for a, b in combinations(present, 2))
    members = [[np.flatnonzero(codes == code) for code in pair] for pair in pairs]
    at = np.concatenate([part for pair in members for part in pair])
    sizes = [[len(part) for part in pair] for pair in members]
    sign = np.repeat(np.tile([1.0, -1.0], len(pairs)), np.ravel(sizes))
    starts = np.concatenate([[0], np.cumsum(np.sum(sizes, axis=1))])
    Cs, places = group.values("C").astype(np.float64), rows.places[copies][at]
    beta, intercept = steps_of_each(
        gram.single,
        gram.diagonal,
        places,
        starts,
        sign,
        (weights[at], of_class[at]),
        Cs,
        tolerance=float(setting["tol"]),
        shrinking=bool(setting["shrinking"]),
    )
    if not np.isfinite(beta).all():
        return None
    resting = _resting_on(beta, starts, len(Cs))
    used = np.unique(places[resting])
    cells = gram.towards(used, test_rows)
    values = np.empty((len(pairs), len(Cs), len(test_rows)))
    for p, (start, end) in enumerate(pairwise(starts)):
        own = beta[len(Cs) * start : len(Cs) * end].reshape(len(Cs), -1)[:, resting[start:end]]
        lines = np.searchsorted(used, places[start:end][resting[start:end]])
        np.negative(stepped_answers(cells, lines, own, intercept[p]), out=values[p])
    return Stepped(pairs, values) if np.isfinite(values).all() else None


def _resting_on(beta: np.ndarray, starts: np.ndarray, n_Cs: int) -> np.ndarray:
    """Return a mask of rows that are support vectors at some C; the others contribute nothing."""
    parts = [
        (beta[n_Cs * start : n_Cs * end].reshape(n_Cs, -1) != 0.0).any(axis=0)
        for start, end in pairwise(starts)
    ]
    return np.concatenate(parts)


def _class_weights(codes: np.ndarray, setting: Mapping[str, Any], classes: Any) -> np.ndarray:
    """Return the class weight of each row of a fit, including copies."""
    if setting["class_weight"] is None:
        return np.ones(len(codes))
    from sklearn.utils.class_weight import compute_class_weight

    present, which = np.unique(codes, return_inverse=True)
    weights: np.ndarray = compute_class_weight(
        setting["class_weight"], classes=classes[present], y=classes[codes]
    )
    return weights[which]


N_CLASSES = 3
GAPS = 0.4  # share of zeros among the cells of a sparse table
SETTINGS: tuple[tuple[dict[str, Any], int], ...] = (
    ({"kernel": "rbf", "gamma": 0.3, "C": 30.0}, 3),
    ({"kernel": "rbf", "gamma": 0.01, "C": 200.0, "shrinking": False}, 37),
    ({"kernel": "linear", "C": 3.0, "class_weight": {0: 0.7, 1: 1.3, 2: 2.1}}, 5),
    ({"kernel": "linear", "C": 0.1, "tol": 1e-6}, 70),
    ({"kernel": "poly", "gamma": 0.07, "coef0": 0.3, "degree": 3, "C": 10.0}, 6),
)


@cache
def takes_the_same_steps() -> bool:
    """Return True if the kernel takes the same steps as SVC.

    It is tested once per process, in some milliseconds.
    """
    return all(_agree(*one) for one in SETTINGS)


@cache
def takes_the_same_steps_on_sparse() -> bool:
    """Return True if this also holds for sparse rows, whose sums SVC computes differently."""
    return all(_agree(*one, sparse=True) for one in SETTINGS)


def _agree(params: dict[str, Any], columns: int, *, sparse: bool = False) -> bool:
    """Compare all decision values of all class pairs, on rows with copies, weights and ties."""
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
