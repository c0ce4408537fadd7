"""SVC's decision values from libsvm's solver steps, for every pair of classes of a training set.

The predicted class is the one with the most votes among the pairs.
"""

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
from truerisk.engines.support_vectors.gram import (
    Gram,
    GramRows,
    Products,
    dense_products,
    sparse_products,
)
from truerisk.engines.support_vectors.svm_steps import solve_problems, stepped_answers
from truerisk.plan.answers import code_type


@frozen(eq=False)
class DecisionValues:
    """Decision values of SVC, in an array (class pair, candidate, row).

    A value ≥ 0 is a vote for the second class of the pair.
    """

    pairs: tuple[tuple[int, int], ...]
    values: np.ndarray

    def answers(self, request: Request, n_classes: int) -> np.ndarray:
        """Return decision values if scores are requested, otherwise the predicted class codes."""
        if request.response == "score":
            return self.values[0]
        votes = np.zeros((*self.values.shape[1:], n_classes), dtype=np.int32)
        for (first_class, second_class), values in zip(self.pairs, self.values, strict=True):
            votes_for_second = values >= 0
            votes[..., second_class] += votes_for_second
            votes[..., first_class] += ~votes_for_second
        # If classes have equally many votes, argmax returns the lowest class code, as SVC does.
        return votes.argmax(axis=-1).astype(code_type(n_classes))


def compute_decision_values(
    gram: Gram, train_rows: GramRows, group: Group, classes: Any, test_rows: np.ndarray
) -> DecisionValues | None:
    """Compute SVC's decision values of the test rows for every C, or return None.

    The test rows are columns of the Gram matrix. None means that SVC itself has to be fitted: only
    one class is left, a row has weight 0, or the matrix, a solver step or a prediction overflows.
    """
    row_indices = np.arange(len(train_rows.codes))
    row_indices = (
        row_indices if train_rows.copies is None else np.repeat(row_indices, train_rows.copies)
    )
    codes = train_rows.codes[row_indices]
    present_classes = np.unique(codes)
    setting = group.settings[0]
    weights = np.ones(len(codes)) if train_rows.weights is None else train_rows.weights[row_indices]
    row_class_weights = _class_weights(codes, setting, classes)
    has_valid_weights = (
        np.isfinite(weights * row_class_weights).all()
        and (weights > 0).all()
        and (row_class_weights > 0).all()
    )
    if len(present_classes) < 2 or not has_valid_weights or not gram.finite:
        return None
    pairs = tuple(
        (int(first_class), int(second_class))
        for first_class, second_class in combinations(present_classes, 2)
    )
    rows_of_pairs = [[np.flatnonzero(codes == class_code) for class_code in pair] for pair in pairs]
    problem_rows = np.concatenate(
        [class_members for pair in rows_of_pairs for class_members in pair]
    )
    class_sizes = [[len(class_members) for class_members in pair] for pair in rows_of_pairs]
    signs = np.repeat(np.tile([1.0, -1.0], len(pairs)), np.ravel(class_sizes))
    problem_starts = np.concatenate([[0], np.cumsum(np.sum(class_sizes, axis=1))])
    C_values, gram_indices = (
        group.values("C").astype(np.float64),
        train_rows.gram_indices[row_indices][problem_rows],
    )
    beta, intercept = solve_problems(
        gram.single_precision,
        gram.diagonal,
        gram_indices,
        problem_starts,
        signs,
        (weights[problem_rows], row_class_weights[problem_rows]),
        C_values,
        tolerance=float(setting["tol"]),
        shrinking=bool(setting["shrinking"]),
    )
    if not np.isfinite(beta).all():
        return None
    is_support_vector = _support_vector_mask(beta, problem_starts, len(C_values))
    support_rows = np.unique(gram_indices[is_support_vector])
    kernel_values = gram.test_kernel(support_rows, test_rows)
    values = np.empty((len(pairs), len(C_values), len(test_rows)))
    for pair_number, (problem_start, problem_end) in enumerate(pairwise(problem_starts)):
        support_beta = beta[len(C_values) * problem_start : len(C_values) * problem_end].reshape(
            len(C_values), -1
        )[:, is_support_vector[problem_start:problem_end]]
        kernel_rows = np.searchsorted(
            support_rows,
            gram_indices[problem_start:problem_end][is_support_vector[problem_start:problem_end]],
        )
        np.negative(
            stepped_answers(kernel_values, kernel_rows, support_beta, intercept[pair_number]),
            out=values[pair_number],
        )
    return DecisionValues(pairs, values) if np.isfinite(values).all() else None


def _support_vector_mask(
    beta: np.ndarray, problem_starts: np.ndarray, n_C_values: int
) -> np.ndarray:
    """Return a mask of the rows that are support vectors for at least one value of C."""
    masks = [
        (
            beta[n_C_values * problem_start : n_C_values * problem_end].reshape(n_C_values, -1)
            != 0.0
        ).any(axis=0)
        for problem_start, problem_end in pairwise(problem_starts)
    ]
    return np.concatenate(masks)


def _class_weights(codes: np.ndarray, setting: Mapping[str, Any], classes: Any) -> np.ndarray:
    """Return the class weight of each row of a fit, including copies of rows."""
    if setting["class_weight"] is None:
        return np.ones(len(codes))
    from sklearn.utils.class_weight import compute_class_weight

    present_classes, class_indices = np.unique(codes, return_inverse=True)
    weights: np.ndarray = compute_class_weight(
        setting["class_weight"], classes=classes[present_classes], y=classes[codes]
    )
    return weights[class_indices]


N_CLASSES = 3
ZERO_CELL_SHARE = 0.4  # Share of the cells of a simulated sparse table that are set to zero.
SETTINGS: tuple[tuple[dict[str, Any], int], ...] = (
    ({"kernel": "rbf", "gamma": 0.3, "C": 30.0}, 3),
    ({"kernel": "rbf", "gamma": 0.01, "C": 200.0, "shrinking": False}, 37),
    ({"kernel": "linear", "C": 3.0, "class_weight": {0: 0.7, 1: 1.3, 2: 2.1}}, 5),
    ({"kernel": "linear", "C": 0.1, "tol": 1e-6}, 70),
    ({"kernel": "poly", "gamma": 0.07, "coef0": 0.3, "degree": 3, "C": 10.0}, 6),
)


@cache
def takes_the_same_steps() -> bool:
    """Return True if the compiled solver takes the same steps as SVC on dense tables.

    The comparison runs once per process and takes some milliseconds.
    """
    return all(_steps_agree(*example) for example in SETTINGS)


@cache
def takes_the_same_steps_on_sparse() -> bool:
    """Return True if the compiled solver takes the same steps as SVC on sparse tables.

    SVC adds up the products of sparse rows in another order than those of dense rows.
    """
    return all(_steps_agree(*example, is_sparse=True) for example in SETTINGS)


def _steps_agree(params: dict[str, Any], n_columns: int, *, is_sparse: bool = False) -> bool:
    """Return True if the compiled solver and SVC agree on rows with copies, weights and ties.

    All predicted labels and all decision values of all class pairs must be equal to the last bit.
    """
    from scipy.sparse import csr_array
    from sklearn.svm import SVC

    rng = np.random.default_rng(n_columns)
    X = np.round(rng.normal(size=(140, n_columns)), n_columns % 2)
    if is_sparse:
        X = np.where(rng.random(X.shape) < ZERO_CELL_SHARE, 0.0, X)
    table = csr_array(X) if is_sparse else X
    codes = (X[:, 0] + X[:, 1] + rng.normal(size=140) > 0).astype(np.int64)
    codes[rng.random(140) < 0.3] = 2
    distinct_rows, n_copies = np.unique(rng.integers(0, 110, 110), return_counts=True)
    weights = rng.choice([0.5, 1.0, 2.3], 140)
    row_copies = np.repeat(distinct_rows, n_copies)
    model = SVC(decision_function_shape="ovo", **params)
    svc = unless_it_fails(
        lambda: model.fit(table[row_copies], codes[row_copies], weights[row_copies])
    )
    if svc is None:
        return False
    setting = svc.get_params()
    gram = Products(X, product_function=sparse_products if is_sparse else dense_products).gram(
        setting, setting["gamma"]
    )
    compiled_values = compute_decision_values(
        gram,
        GramRows(distinct_rows, codes[distinct_rows], n_copies, weights[distinct_rows]),
        Group(np.zeros(1, dtype=np.int64), (setting,)),
        np.arange(N_CLASSES),
        np.arange(140),
    )
    if compiled_values is None:
        return False
    labels = compiled_values.answers(Request("label"), N_CLASSES)
    values = -compiled_values.values[:, 0].T
    return np.array_equal(values, svc.decision_function(table)) and np.array_equal(
        labels[0], svc.predict(table)
    )
