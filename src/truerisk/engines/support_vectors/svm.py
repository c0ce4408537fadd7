"""The support vector engine, which predicts as SVC does from one Gram matrix per kernel.

The inner products of all rows are computed once. Each kernel and gamma turns them into one Gram
matrix, and every training set is a list of rows of that matrix. With gamma='scale' the value of
gamma differs between training sets, so that each training set needs its own matrix.

The predictions are SVC's to the last bit (decision 22): the compiled code takes the very steps of
libsvm with the same arithmetic (which differs for sparse rows), and stops where libsvm stops. Once
per process it is compared with SVC. If they differ, the engine refuses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.core.progress import report_progress
from truerisk.data.data import Data
from truerisk.engines.prepared import LearnerFitNeeded, as_dense, can_be_dense, to_dense_float64
from truerisk.engines.settings import Group, group_candidates
from truerisk.engines.support_vectors.gram import (
    SYMMETRY_TOLERANCE,
    GramMatrix,
    GramRows,
    InnerProducts,
    ProductFunction,
    dense_products,
    sparse_products,
)
from truerisk.engines.support_vectors.stepping import (
    compute_decision_values,
    solver_matches_svc,
    solver_matches_svc_on_sparse,
)
from truerisk.engines.templates.one_pass import OnePass, task_of_group
from truerisk.engines.templates.task import Shown, Task
from truerisk.plan.plan import Plan

MAX_ROWS = 8_000  # With this many rows a Gram matrix and its inner products take 1.8 GB.
KERNEL_PARAMETERS = ("kernel", "gamma", "degree", "coef0")


class SupportVectors(OnePass):
    """Engine for scikit-learn's SVC with any C, gamma and kernel, alone or last in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.names : List the names of engines.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.svm import SVC
    >>> X, y = tr.datasets.make_simple(50, random_state=0)
    >>> tr.estimate_risk(SVC(), X, y, engine=tr.engines.SupportVectors()).engine
    'svm'
    """

    name: ClassVar[str] = "svm"
    along: ClassVar[tuple[str, ...]] = ("C", *KERNEL_PARAMETERS)
    compiled: ClassVar[bool] = True
    cuts_columns: ClassVar[bool] = True

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.svm import SVC

        return (SVC,)

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        return _kernel_refusal(setting) or _solver_refusal(setting)

    @override
    def rounds(self, group: Group) -> bool:
        return False  # The engine's scores equal SVC's to the last bit, including ties.

    @override
    def table_refusal(self, family: Family, data: Data) -> str | None:
        if not hasattr(data.X, "tocsr") or family.is_piped or _has_precomputed_kernel(family):
            return super().table_refusal(family, data)
        if data.X.dtype.kind not in "biuf" or len(data.X.shape) != 2 or not data.X.shape[1]:
            return "X is no table of numbers."
        if data.X.dtype.kind == "f" and data.X.dtype.itemsize < 8:
            return self.single_refusal(family)
        if data.non_finite:
            return "X has cells that are not finite."
        if not can_be_dense(data.X):
            return "X is sparse, and too large, or too empty, to be made a dense table."
        if not solver_matches_svc_on_sparse():
            return "X is sparse, and this scikit-learn's libsvm takes other steps than the engine."
        return None

    @override
    def fits(self, numbers: Any) -> bool:
        return super().fits(dense_cells(numbers))

    @override
    def read(self, group: Group, table: Any) -> Any:
        if not hasattr(table, "toarray"):
            return super().read(group, table)
        if not solver_matches_svc_on_sparse():
            raise LearnerFitNeeded("sparse")
        return SparseRows.from_table(table)

    @override
    def table(self, group: Group, data: Data) -> Any:
        is_sparse = group.rowwise is None and hasattr(data.X, "toarray")
        return self.read(group, data.X) if is_sparse else super().table(group, data)

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if data.codes is None or data.codes.ndim != 1:
            return "y is not one class per row."
        if data.n_rows > MAX_ROWS:
            return f"the Gram matrix of {data.n_rows} rows is too large (at most {MAX_ROWS})."
        if _has_precomputed_kernel(family):
            reason = _precomputed_refusal(family, data)
            if reason is not None:
                return reason
        for param_values in data.fit_params.values():
            weights = np.asarray(param_values, dtype=np.float64)
            if not (np.isfinite(weights).all() and (weights > 0).all()):
                return "weights are not all finite and positive."
        if not solver_matches_svc():
            return "this scikit-learn's libsvm takes other steps than the engine."
        return None

    def costs(self, family: Family, data: Data, plan: Plan) -> tuple[float, float] | None:
        """Compare the time for the Gram matrices with the time that libsvm needs for its own fits.

        The engine computes all inner products and one Gram matrix per kernel. libsvm computes only
        the kernel columns that it reads. It reads few of them if the classes are separated, as in
        the tables of the calibration: the estimate is the smallest time that SVC takes.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits and the test sets that they predict.

        Returns
        -------
        tuple of float or None
            The seconds of this engine and of scikit-learn's own fits.
        """
        p, n = int(np.shape(data.X)[1]), plan.least_train_sizes.astype(np.float64)
        n_test_rows = np.bincount(plan.fit, plan.test_sizes, plan.n_fits)
        seconds_per_kernel_value = (1.7e-9 + 0.7e-9 * data.n_classes) * (1 + p / 100)
        svc_seconds = (
            len(family) * (1.2e-3 + seconds_per_kernel_value * n * (n + n_test_rows)).sum()
        )
        engine_seconds, n_gram_cells, n_gram_cells_of_fits = (
            0.0,
            float(data.n_rows**2),
            float((n**2).sum()),
        )
        for group in group_candidates(family, self.along):
            has_no_steps = group.preparation is None
            engine_seconds += (1.2e-8 + 4e-10 * p) * (
                n_gram_cells if has_no_steps else n_gram_cells_of_fits
            )
            for kernel_group in _split_by_kernel(group):
                setting = kernel_group.settings[0]
                has_scaled_gamma = uses_gamma(setting["kernel"]) and setting["gamma"] == "scale"
                engine_seconds += 8e-9 * (
                    n_gram_cells if has_no_steps and not has_scaled_gamma else n_gram_cells_of_fits
                )
        return engine_seconds, float(svc_seconds)

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        done_mask = np.zeros(task.plan.n_fits, dtype=bool)
        if task.X is None:
            return done_mask
        inner_products = InnerProducts(
            dense_cells(task.X), product_function=_product_function(task.X)
        )
        for kernel_group in _split_by_kernel(task.group):
            kernel_task = task_of_group(task, kernel_group)
            setting = kernel_group.settings[0]
            gram: GramMatrix | None = None
            if not uses_gamma(setting["kernel"]) or setting["gamma"] != "scale":
                gram = inner_products.compute_gram(setting, resolve_gamma(setting, task.X, None))
            for fit in range(task.plan.n_fits):
                _predict_from_gram(kernel_task, fit, inner_products, gram)
        done_mask[:] = True
        report_progress(task.plan.n_fits, task.plan.n_fits)
        return done_mask

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        if any(
            isinstance(test_table, SparseRows) is not isinstance(shown.X, SparseRows)
            for test_table in tests
        ):
            # SVC may refuse to predict sparse rows after a fit on dense rows, and conversely.
            return None
        test_cells = stack_cells(tests)
        inner_products = InnerProducts(dense_cells(shown.X), test_cells, _product_function(shown.X))
        rows = GramRows(np.arange(len(shown.rows)), shown.y, shown.times, shown.weights)
        test_columns = np.arange(len(test_cells))
        masks_and_predictions: list[tuple[np.ndarray, np.ndarray]] = []
        for kernel_group in _split_by_kernel(group):
            setting = kernel_group.settings[0]
            gram = inner_products.compute_gram(
                setting, resolve_gamma(setting, shown.X, shown.times)
            )
            decision_values = compute_decision_values(
                gram, rows, kernel_group, task.data.classes, test_columns
            )
            if decision_values is None:
                return None
            predictions = decision_values.answers(task.request, task.data.n_classes)
            masks_and_predictions.append(
                (np.isin(group.candidates, kernel_group.candidates), predictions)
            )
        first_predictions = masks_and_predictions[0][1]
        all_predictions = np.zeros(
            (len(group.candidates), first_predictions.shape[1]), dtype=first_predictions.dtype
        )
        for has_this_kernel, predictions in masks_and_predictions:
            all_predictions[has_this_kernel] = predictions
        return np.split(
            all_predictions, np.cumsum([len(test_table) for test_table in tests])[:-1], axis=1
        )


def _product_function(X: Any) -> ProductFunction:
    return sparse_products if isinstance(X, SparseRows) else dense_products


def _predict_from_gram(
    task: Task, fit: int, inner_products: InnerProducts, gram: GramMatrix | None
) -> None:
    """Predict the test sets of one fit for all candidates with one kernel.

    `gram` is the Gram matrix of all rows, or None if the training set needs its own.
    """
    group = task.of_fit(fit)
    if group is None:
        return
    test_row_lists = [
        task.plan.test_rows(int(test_set_number))[0] for test_set_number in task.questions(fit)
    ]
    rows, copy_counts = task.plan.train_rows(fit)
    setting, gram_indices = group.settings[0], rows
    # With gamma='scale' this training set has its own gamma, and hence its own Gram matrix.
    if gram is None:
        gamma = resolve_gamma(setting, task.X[rows], copy_counts)
        gram, gram_indices = (
            inner_products.compute_gram(setting, gamma, row_subset=rows),
            np.arange(len(rows)),
        )
    weights = None if task.weights is None else task.weights[rows]
    train_rows = GramRows(gram_indices, task.labels(fit)[rows], copy_counts, weights)
    decision_values = compute_decision_values(
        gram, train_rows, group, task.data.classes, np.concatenate(test_row_lists)
    )
    if decision_values is None:
        task.leave_open(fit, group.candidates)
        return
    predictions = decision_values.answers(task.request, task.data.n_classes)
    split_points = np.cumsum([len(test_rows) for test_rows in test_row_lists])[:-1]
    for test_set, test_predictions in zip(
        task.questions(fit), np.split(predictions, split_points, 1), strict=True
    ):
        task.place(int(test_set), group, test_predictions)


def _has_precomputed_kernel(family: Family) -> bool:
    return any(setting["kernel"] == "precomputed" for setting in family.settings)


def _precomputed_refusal(family: Family, data: Data) -> str | None:
    if family.is_piped:
        return "a Gram matrix that goes through other steps is left to SVC."
    X = np.asarray(data.X)
    if X.shape != (data.n_rows, data.n_rows):
        return "kernel='precomputed' takes a Gram matrix, and X is not square."
    if not np.abs(X - X.T).max() <= SYMMETRY_TOLERANCE * np.abs(np.diagonal(X)).max():
        return "the Gram matrix is not symmetric."
    return None


def _split_by_kernel(group: Group) -> Iterator[Group]:
    """Split a group into groups of candidates that share a Gram matrix."""
    indices_by_kernel: dict[tuple[Any, ...], list[int]] = {}
    for setting_index, setting in enumerate(group.settings):
        kernel = setting["kernel"]
        key = (
            (kernel, *(setting[name] for name in KERNEL_PARAMETERS[1:]))
            if uses_gamma(kernel)
            else (kernel,)
        )
        key = key[:2] if kernel == "rbf" else key
        indices_by_kernel.setdefault(key, []).append(setting_index)
    for setting_indices in indices_by_kernel.values():
        yield Group(
            group.candidates[setting_indices],
            tuple(group.settings[setting_index] for setting_index in setting_indices),
            group.preparation,
            group.rowwise,
        )


def _kernel_refusal(setting: dict[str, Any]) -> str | None:
    kernel = setting["kernel"]
    if not isinstance(kernel, str) or kernel not in ("linear", "rbf", "poly", "precomputed"):
        return f"kernel={kernel!r} is not linear, rbf, poly or precomputed."
    if not uses_gamma(kernel):
        return None
    gamma = setting["gamma"]
    if gamma not in ("scale", "auto") and not _is_positive(gamma):
        return f"gamma={gamma!r} is neither a positive number nor 'scale' or 'auto'."
    if kernel == "poly":
        degree, coef0 = setting["degree"], setting["coef0"]
        if isinstance(degree, bool) or not isinstance(degree, Integral) or degree < 1:
            return f"degree={degree!r} is no whole number above 0."
        if not _is_finite_number(coef0):
            return f"coef0={coef0!r} is no number."
    return None


def _solver_refusal(setting: dict[str, Any]) -> str | None:
    if not _is_positive(setting["C"]):
        return f"C={setting['C']!r} is no positive number."
    if setting["probability"] not in (False, "deprecated"):
        return "probability=True cross-validates inside with random folds."
    if setting["max_iter"] != -1:
        return f"max_iter={setting['max_iter']!r} may stop the solver at any step."
    if not _is_positive(setting["tol"]):
        return f"tol={setting['tol']!r} is no positive number."
    if not isinstance(setting["shrinking"], bool | np.bool_):
        return f"shrinking={setting['shrinking']!r} is neither True nor False."
    if setting["break_ties"]:
        return "break_ties=True settles ties of votes by sums of decision values."
    return None


def uses_gamma(kernel: str) -> bool:
    """Return True if the kernel has the parameter gamma.

    For gamma='scale' its value is computed from the training rows.
    """
    return kernel not in ("linear", "precomputed")


def _is_finite_number(value: Any) -> bool:
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and math.isfinite(value)


def _is_positive(value: Any) -> bool:
    return _is_finite_number(value) and value > 0


class SparseRows:
    """Rows of a sparse table as SVC converts it, which can be selected by index."""

    def __init__(self, table: Any) -> None:
        self.table = table

    @classmethod
    def from_table(cls, table: Any) -> SparseRows:
        """Convert a sparse table as SVC does, or raise LearnerFitNeeded.

        It raises if SVC would reject the table or process its cells in another order.
        """
        from sklearn.utils import check_array

        checked_table = check_array(
            table, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )
        sorted_copy = checked_table.copy()
        sorted_copy.sort_indices()
        if not sorted_copy.has_canonical_format:
            raise LearnerFitNeeded("with a cell that is given twice")
        sparse_rows = cls(checked_table)
        to_dense_float64(sparse_rows.cells)
        return sparse_rows

    @cached_property
    def cells(self) -> np.ndarray:
        """Dense array of all cells, including the zeros."""
        return np.ascontiguousarray(as_dense(self.table))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        n_rows, n_columns = self.table.shape
        return int(n_rows), int(n_columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: np.ndarray) -> SparseRows:
        return SparseRows(self.table[rows])


def dense_cells(table: np.ndarray | SparseRows) -> np.ndarray:
    """Return the cells of a dense or sparse table as a dense array."""
    return table.cells if isinstance(table, SparseRows) else table


def stack_cells(tables: Sequence[np.ndarray | SparseRows]) -> np.ndarray:
    """Stack the cells of several tables vertically, as one dense array."""
    return np.vstack([dense_cells(table) for table in tables])


def resolve_gamma(
    setting: Mapping[str, Any], X: np.ndarray | SparseRows, copy_counts: np.ndarray | None
) -> float:
    """Return gamma as a number; 'scale' and 'auto' are computed from the training rows.

    Copies of a training row count as often as they occur.
    """
    gamma = setting["gamma"]
    if not uses_gamma(setting["kernel"]) or gamma == "auto":
        return 1.0 / float(X.shape[1])
    if gamma != "scale":
        return float(gamma)
    rows_with_copies = X if copy_counts is None else X[np.repeat(np.arange(len(X)), copy_counts)]
    # SVC computes the variance of a sparse table from its moments.
    if isinstance(rows_with_copies, SparseRows):
        squares = rows_with_copies.table.multiply(rows_with_copies.table)
        variance = float(squares.mean() - rows_with_copies.table.mean() ** 2)
    else:
        variance = float(rows_with_copies.var())
    return float(1.0 / (X.shape[1] * variance)) if variance != 0 else 1.0
