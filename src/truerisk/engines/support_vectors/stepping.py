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
from truerisk.engines.prepared import call_or_none
from truerisk.engines.settings import Group
from truerisk.engines.support_vectors.gram import (
    GramMatrix,
    GramRows,
    InnerProducts,
    dense_products,
    sparse_products,
)
from truerisk.engines.support_vectors.svm_steps import solve_binary_problems, stepped_answers
from truerisk.plan.answers import class_code_dtype


@frozen(eq=False)
class DecisionValues:
    """Decision values of SVC for every class pair, candidate and test row.

    A value ≥ 0 is a vote for the second class of the pair.
    """

    class_pairs: tuple[tuple[int, int], ...]
    values: np.ndarray

    def answers(self, request: Request, n_classes: int) -> np.ndarray:
        """Return decision values if the request is for scores, otherwise predicted class codes."""
        if request.response == "score":
            return self.values[0]
        votes = np.zeros((*self.values.shape[1:], n_classes), dtype=np.int32)
        for (first_class, second_class), values in zip(self.class_pairs, self.values, strict=True):
            votes_for_second = values >= 0
            votes[..., second_class] += votes_for_second
            votes[..., first_class] += ~votes_for_second
        # If classes have equally many votes, argmax returns the lowest class code, as SVC does.
        return votes.argmax(axis=-1).astype(class_code_dtype(n_classes))


def compute_decision_values(
    gram: GramMatrix, train_rows: GramRows, group: Group, classes: Any, test_rows: np.ndarray
) -> DecisionValues | None:
    """Compute SVC's decision values of the test rows for every C, or return None.

    The test rows are columns of the Gram matrix. None means that SVC itself has to be fitted: only
    one class is left, a row has weight 0, or the matrix, a solver step or a prediction overflows.
    """
    row_indices = np.arange(len(train_rows.class_codes))
    row_indices = (
        row_indices
        if train_rows.copy_counts is None
        else np.repeat(row_indices, train_rows.copy_counts)
    )
    class_codes = train_rows.class_codes[row_indices]
    present_classes = np.unique(class_codes)
    setting = group.settings[0]
    weights = (
        np.ones(len(class_codes)) if train_rows.weights is None else train_rows.weights[row_indices]
    )
    row_class_weights = _class_weights(class_codes, setting, classes)
    has_valid_weights = (
        np.isfinite(weights * row_class_weights).all()
        and (weights > 0).all()
        and (row_class_weights > 0).all()
    )
    if len(present_classes) < 2 or not has_valid_weights or not gram.is_finite:
        return None
    class_pairs = tuple(
        (int(first_class), int(second_class))
        for first_class, second_class in combinations(present_classes, 2)
    )
    class_rows_of_pairs = [
        [np.flatnonzero(class_codes == class_code) for class_code in pair] for pair in class_pairs
    ]
    rows_of_all_pairs = np.concatenate(
        [class_rows for pair in class_rows_of_pairs for class_rows in pair]
    )
    class_sizes = [[len(class_rows) for class_rows in pair] for pair in class_rows_of_pairs]
    class_signs = np.repeat(np.tile([1.0, -1.0], len(class_pairs)), np.ravel(class_sizes))
    pair_starts = np.concatenate([[0], np.cumsum(np.sum(class_sizes, axis=1))])
    C_values, gram_indices = (
        group.values("C").astype(np.float64),
        train_rows.gram_indices[row_indices][rows_of_all_pairs],
    )
    beta, intercept = solve_binary_problems(
        gram.float32_kernel,
        gram.diagonal,
        gram_indices,
        pair_starts,
        class_signs,
        (weights[rows_of_all_pairs], row_class_weights[rows_of_all_pairs]),
        C_values,
        tolerance=float(setting["tol"]),
        shrinking=bool(setting["shrinking"]),
    )
    if not np.isfinite(beta).all():
        return None
    is_support_vector = _support_vector_mask(beta, pair_starts, len(C_values))
    support_rows = np.unique(gram_indices[is_support_vector])
    kernel_values = gram.compute_test_kernel(support_rows, test_rows)
    values = np.empty((len(class_pairs), len(C_values), len(test_rows)))
    for pair_number, (pair_start, pair_end) in enumerate(pairwise(pair_starts)):
        support_beta = beta[len(C_values) * pair_start : len(C_values) * pair_end].reshape(
            len(C_values), -1
        )[:, is_support_vector[pair_start:pair_end]]
        kernel_row_indices = np.searchsorted(
            support_rows,
            gram_indices[pair_start:pair_end][is_support_vector[pair_start:pair_end]],
        )
        np.negative(
            stepped_answers(
                kernel_values, kernel_row_indices, support_beta, intercept[pair_number]
            ),
            out=values[pair_number],
        )
    return DecisionValues(class_pairs, values) if np.isfinite(values).all() else None


def _support_vector_mask(beta: np.ndarray, pair_starts: np.ndarray, n_C_values: int) -> np.ndarray:
    """Return a mask of the rows that are support vectors for at least one value of C."""
    masks_of_pairs = [
        (beta[n_C_values * pair_start : n_C_values * pair_end].reshape(n_C_values, -1) != 0.0).any(
            axis=0
        )
        for pair_start, pair_end in pairwise(pair_starts)
    ]
    return np.concatenate(masks_of_pairs)


def _class_weights(class_codes: np.ndarray, setting: Mapping[str, Any], classes: Any) -> np.ndarray:
    """Return the class weight of each row of a fit, including copies of rows."""
    if setting["class_weight"] is None:
        return np.ones(len(class_codes))
    from sklearn.utils.class_weight import compute_class_weight

    present_classes, class_indices = np.unique(class_codes, return_inverse=True)
    weights: np.ndarray = compute_class_weight(
        setting["class_weight"], classes=classes[present_classes], y=classes[class_codes]
    )
    return weights[class_indices]


N_SIMULATED_CLASSES = 3
ZERO_CELL_SHARE = 0.4  # Proportion of zeros in simulated sparse tables.
EXAMPLE_SETTINGS: tuple[tuple[dict[str, Any], int], ...] = (
    ({"kernel": "rbf", "gamma": 0.3, "C": 30.0}, 3),
    ({"kernel": "rbf", "gamma": 0.01, "C": 200.0, "shrinking": False}, 37),
    ({"kernel": "linear", "C": 3.0, "class_weight": {0: 0.7, 1: 1.3, 2: 2.1}}, 5),
    ({"kernel": "linear", "C": 0.1, "tol": 1e-6}, 70),
    ({"kernel": "poly", "gamma": 0.07, "coef0": 0.3, "degree": 3, "C": 10.0}, 6),
)


@cache
def solver_matches_svc() -> bool:
    """Return True if the compiled solver takes the same steps as SVC on dense tables.

    The comparison runs once per process and takes some milliseconds.
    """
    return all(_agrees_with_svc(*example) for example in EXAMPLE_SETTINGS)


@cache
def solver_matches_svc_on_sparse() -> bool:
    """Return True if the compiled solver takes the same steps as SVC on sparse tables.

    SVC adds up the products of sparse rows in another order than those of dense rows.
    """
    return all(_agrees_with_svc(*example, is_sparse=True) for example in EXAMPLE_SETTINGS)


def _agrees_with_svc(params: dict[str, Any], n_columns: int, *, is_sparse: bool = False) -> bool:
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
    class_codes = (X[:, 0] + X[:, 1] + rng.normal(size=140) > 0).astype(np.int64)
    class_codes[rng.random(140) < 0.3] = 2
    distinct_rows, copy_counts = np.unique(rng.integers(0, 110, 110), return_counts=True)
    weights = rng.choice([0.5, 1.0, 2.3], 140)
    repeated_rows = np.repeat(distinct_rows, copy_counts)
    model = SVC(decision_function_shape="ovo", **params)
    svc = call_or_none(
        lambda: model.fit(table[repeated_rows], class_codes[repeated_rows], weights[repeated_rows])
    )
    if svc is None:
        return False
    setting = svc.get_params()
    gram = InnerProducts(
        X, product_function=sparse_products if is_sparse else dense_products
    ).compute_gram(setting, setting["gamma"])
    compiled_decision_values = compute_decision_values(
        gram,
        GramRows(distinct_rows, class_codes[distinct_rows], copy_counts, weights[distinct_rows]),
        Group(np.zeros(1, dtype=np.int64), (setting,)),
        np.arange(N_SIMULATED_CLASSES),
        np.arange(140),
    )
    if compiled_decision_values is None:
        return False
    labels = compiled_decision_values.answers(Request("label"), N_SIMULATED_CLASSES)
    values = -compiled_decision_values.values[:, 0].T
    return np.array_equal(values, svc.decision_function(table)) and np.array_equal(
        labels[0], svc.predict(table)
    )
