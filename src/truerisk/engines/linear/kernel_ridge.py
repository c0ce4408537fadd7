"""Engine for KernelRidge: one kernel matrix serves all fits, and one decomposition all penalties.

The kernel matrix of a fit is a submatrix of the kernel matrix of all rows. Leaving out each row in
turn costs one decomposition, without subtracting leverages from 1. If rounding could change a
prediction, or if scikit-learn might find no Cholesky factor, its estimator is fitted instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.linear.fit import MAX_ROUNDING_ERROR, SolverSettings, compute_target_scales
from truerisk.engines.linear.least_squares import penalty_refusal, weights_refusal
from truerisk.engines.linear.leverage import leave_out_dual
from truerisk.engines.settings import Group, group_candidates
from truerisk.engines.templates.fits_of_one_table import (
    find_single_row_fits,
    store_single_row_predictions,
)
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.kernels.spectral import (
    EPS,
    Spectrum,
    decompose_product,
    max_solution_norms,
    predictions_at,
    rounding_bounds_at,
)
from truerisk.plan.plan import Plan

MAX_KERNEL_BYTES = 1 << 29  # Largest size in bytes of the kernel matrix of all rows.


@frozen
class KernelRidges(OnePass):
    """Engine for KernelRidge with a kernel that scikit-learn knows by name.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.LeastSquares : Engine for ridge regression.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> X, y = tr.datasets.FieldProblem(task="regression")(60, random_state=0)
    >>> engine = tr.engines.KernelRidges()
    >>> tr.estimate_risk(KernelRidge(), X, y, engine=engine).engine
    'kernel-ridge'
    """

    name: ClassVar[str] = "kernel-ridge"
    along: ClassVar[tuple[str, ...]] = ("alpha",)

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.kernel_ridge import KernelRidge

        return (KernelRidge,)

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

        kernel = setting["kernel"]
        if isinstance(kernel, str) and kernel == "precomputed":
            return "kernel='precomputed' makes X a matrix of rows against rows."
        if not isinstance(kernel, str) or kernel not in PAIRWISE_KERNEL_FUNCTIONS:
            return f"kernel={kernel!r} is none of those that scikit-learn knows by name."
        return penalty_refusal(setting["alpha"]) or _kernel_parameter_refusal(setting)

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        return weights_refusal(data)

    def costs(self, family: Family, data: Data, plan: Plan) -> tuple[float, float] | None:
        """Predict the run times of this engine and of separate fits by scikit-learn.

        The engine decomposes the kernel once per training set. scikit-learn computes the kernel and
        a Cholesky factor for every penalty.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The training and test rows of all fits.

        Returns
        -------
        tuple of float or None
            The seconds that this engine takes, and the seconds that separate fits by scikit-learn
            take.
        """
        groups = group_candidates(family, self.along)
        n_rows = plan.least_train_sizes.astype(np.float64)
        sklearn_seconds = len(family) * (1.1e-3 + 1.2e-8 * n_rows**2 + 1.7e-11 * n_rows**3).sum()
        engine_seconds = 3e-8 * n_rows**2 + 1.6e-10 * n_rows**3
        is_single, _ = find_single_row_fits(
            plan
        )  # The fits that leave out one row share a single decomposition.
        shared_seconds = np.where(np.cumsum(is_single) > 1, ~is_single, True) * engine_seconds
        seconds_by_group = (
            engine_seconds if group.preparation is not None else shared_seconds for group in groups
        )
        return sum(float(seconds_by_fit.sum()) for seconds_by_fit in seconds_by_group), float(
            sklearn_seconds
        )

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        is_computed = np.zeros(task.plan.n_fits, dtype=bool)
        if task.X is None or 8 * len(task.X) ** 2 > MAX_KERNEL_BYTES:
            return is_computed
        try:
            kernel_table = KernelTable.from_task(task)
        except Exception:  # noqa: BLE001  Fitting scikit-learn's estimator raises its own error.
            return task.all_open()
        is_single, left_out_rows = find_single_row_fits(task.plan)
        if is_single.any():
            is_computed[is_single] = kernel_table.store_left_out_predictions(
                np.flatnonzero(is_single), left_out_rows[is_single]
            )
        for fit in np.flatnonzero(~is_computed):
            is_computed[fit] = kernel_table.store_predictions(int(fit))
        return is_computed

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        weights = np.ones(len(shown.X)) if shown.all_weights is None else shown.all_weights
        if not weights.any():
            return None
        test_rows = np.concatenate(tests)
        try:
            kernel_fit = KernelFit.from_rows(
                group.settings[0], shown.X, shown.y, weights, test_rows
            )
        except Exception:  # noqa: BLE001  Some kernels do not allow, for example, negative cells.
            return None
        predictions, is_unresolved = kernel_fit.predict(
            kernel_fit.test_kernel, group.values("alpha").astype(np.float64)
        )
        task.leave_open(shown.fit, group.candidates[is_unresolved])
        predictions = predictions.reshape(*predictions.shape[:2], *task.data.y.shape[1:])
        return np.split(predictions, np.cumsum([len(test) for test in tests])[:-1], axis=1)


def _kernel_parameter_refusal(setting: Mapping[str, Any]) -> str | None:
    """Return why a parameter of the kernel is invalid, or None if all parameters are valid."""
    for name, least_value in (("gamma", 0.0), ("degree", 0.0), ("coef0", -np.inf)):
        value = setting[name]
        if name == "gamma" and value is None:
            continue
        if not isinstance(value, int | float | np.integer | np.floating) or not (
            least_value <= value < np.inf
        ):
            return f"{name}={value!r} is nothing that scikit-learn allows."
    if setting["kernel_params"] is not None:
        return "kernel_params are for kernels that are functions."
    return None


@frozen(eq=False)
class KernelTable:
    """Kernel matrix of all rows, with the rounding error of its elements."""

    task: Task
    kernel: np.ndarray
    rounding_bound: float
    penalties: np.ndarray

    @classmethod
    def from_task(cls, task: Task) -> KernelTable:
        """Compute the kernel of all rows for the task's group of settings."""
        setting, penalties = task.group.settings[0], task.group.values("alpha")
        kernel = compute_kernel(setting, task.X, None)
        return cls(
            task, kernel, kernel_rounding_bound(setting, task.X), penalties.astype(np.float64)
        )

    def kernel_fit_of_rows(
        self, weights: np.ndarray, n_training_rows: int, test_rows: np.ndarray
    ) -> KernelFit:
        """Return the data of one fit: kernels of training and test rows, targets and weights."""
        rows = np.flatnonzero(weights)
        y = self.task.data.y[rows].reshape(len(rows), -1)
        has_all_rows = len(rows) == len(weights)
        train_kernel = self.kernel if has_all_rows else self.kernel[np.ix_(rows, rows)]
        test_kernel = self.kernel[np.ix_(test_rows, rows)]
        return KernelFit(
            train_kernel,
            y,
            np.sqrt(weights[rows]),
            n_training_rows,
            self.rounding_bound,
            test_kernel,
        )

    def store_predictions(self, fit: int) -> bool:
        """Compute and store the predictions of a fit, or leave the fit to scikit-learn.

        Return False if neither is done, because all weights are 0.
        """
        task, plan = self.task, self.task.plan
        group = task.of_fit(fit)
        if group is None:
            return True
        rows, row_counts = plan.train_rows(fit)
        weights = np.zeros(plan.n_rows)
        sample_weights = np.ones(len(rows)) if task.weights is None else task.weights[rows]
        weights[rows] = sample_weights if row_counts is None else sample_weights * row_counts
        if not weights.any():
            return False
        test_set_numbers = task.questions(fit)
        test_sets = [plan.test_rows(int(set_number))[0] for set_number in test_set_numbers]
        n_training_rows = len(rows) if row_counts is None else int(row_counts.sum())
        kernel_fit = self.kernel_fit_of_rows(weights, n_training_rows, np.concatenate(test_sets))
        predictions, is_unresolved = kernel_fit.predict(
            kernel_fit.test_kernel, group.values("alpha").astype(np.float64)
        )
        task.leave_open(fit, group.candidates[is_unresolved])
        predictions = predictions.reshape(*predictions.shape[:2], *task.data.y.shape[1:])
        split_points = np.cumsum([len(rows_of_set) for rows_of_set in test_sets])[:-1]
        for test_set_number, test_predictions in zip(
            test_set_numbers, np.split(predictions, split_points, axis=1), strict=True
        ):
            task.place(int(test_set_number), group, test_predictions)
        return True

    def store_left_out_predictions(self, fits: np.ndarray, left_out_rows: np.ndarray) -> np.ndarray:
        """Compute the predictions of leave-one-out fits, or leave these fits to scikit-learn.

        Return a mask of the fits for which this was done: all or none.
        """
        n_rows = self.task.plan.n_rows
        weights = np.ones(n_rows) if self.task.weights is None else self.task.weights
        if not weights[left_out_rows].all() or np.count_nonzero(weights) < 2:
            return np.zeros(len(fits), dtype=bool)
        kernel_fit = self.kernel_fit_of_rows(weights, n_rows, np.empty(0, np.int64))
        index_of_row = np.cumsum(weights > 0) - 1
        is_stable = kernel_fit.has_cholesky_factor(self.penalties)
        predicted_values = np.zeros((len(is_stable), len(fits), kernel_fit.Y.shape[1]))
        is_unresolved = np.ones((len(is_stable), len(fits)), dtype=bool)
        if is_stable.any():
            penalties, spectrum = self.penalties[is_stable], kernel_fit.spectrum
            left_out_errors = leave_out_dual(
                spectrum.vectors, spectrum, penalties, kernel_fit.target_scales
            )
            row_indices = index_of_row[left_out_rows]
            predicted_values[is_stable] = (
                kernel_fit.Y[row_indices]
                - left_out_errors.prediction_errors[:, row_indices]
                / kernel_fit.root_weights[row_indices, None]
            )
            rounding_errors = (
                left_out_errors.rounding_bounds
                + kernel_fit.kernel_rounding_bounds(penalties)[:, None]
            ) / kernel_fit.root_weights
            is_unresolved[is_stable] = rounding_errors[:, row_indices] > MAX_ROUNDING_ERROR
        predictions = predicted_values.reshape(
            *predicted_values.shape[:2], *self.task.data.y.shape[1:]
        )
        store_single_row_predictions(self.task, fits, predictions, is_unresolved)
        return np.ones(len(fits), dtype=bool)


RIDGE_SOLVER = SolverSettings(is_penalised=True, intercept=False)


def compute_kernel(setting: Mapping[str, Any], X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
    """Return the kernel of every row of X with every row of Y, as KernelRidge computes it.

    If Y is None, it is X.
    """
    from sklearn.metrics.pairwise import pairwise_kernels

    parameters = {name: setting[name] for name in ("gamma", "degree", "coef0")}
    return pairwise_kernels(X, Y, metric=setting["kernel"], filter_params=True, **parameters)


def kernel_rounding_bound(setting: Mapping[str, Any], *tables: np.ndarray) -> float:
    """Return a bound on the rounding error of kernel elements, divided by the machine precision.

    Squared distances between rows lose digits if the rows are far from zero.
    """
    gamma = 1.0 / tables[0].shape[1] if setting["gamma"] is None else float(setting["gamma"])
    squared_lengths = [np.einsum("ij,ij->i", X, X) for X in tables]
    max_squared_length = max(float(squares.max(initial=0.0)) for squares in squared_lengths)
    if setting["kernel"] == "linear":
        return max_squared_length
    if setting["kernel"] in ("poly", "polynomial"):
        degree = float(setting["degree"])
        return float(
            max(degree, 1.0) * (gamma * max_squared_length + abs(setting["coef0"])) ** degree
        )
    return 1.0 + 4.0 * gamma * max_squared_length


@frozen(eq=False)
class KernelFit:
    """Kernel matrix, targets and weights of one fit.

    `train_kernel` is the kernel of the training rows with each other, and `test_kernel` that of
    test rows with training rows. Rows of weight 0 are dropped; `n_training_rows` counts them,
    and copies of rows.
    """

    train_kernel: np.ndarray
    Y: np.ndarray
    root_weights: np.ndarray
    n_training_rows: int
    rounding_bound: float
    test_kernel: np.ndarray

    @classmethod
    def from_rows(
        cls,
        setting: Mapping[str, Any],
        X: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        test_rows: np.ndarray,
    ) -> KernelFit:
        """Compute the kernel matrices of one fit from its training and test rows."""
        has_weight = weights > 0
        X, Y = X[has_weight], y[has_weight].reshape(int(has_weight.sum()), -1)
        rounding_bound = kernel_rounding_bound(setting, X, test_rows)
        train_kernel, test_kernel = (
            compute_kernel(setting, X, None),
            compute_kernel(setting, test_rows, X),
        )
        return cls(
            train_kernel, Y, np.sqrt(weights[has_weight]), len(weights), rounding_bound, test_kernel
        )

    @cached_property
    def spectrum(self) -> Spectrum:
        """Decompose the weighted kernel of the training rows into eigenvalues and eigenvectors."""
        weighted_kernel = self.train_kernel * np.multiply.outer(
            self.root_weights, self.root_weights
        )
        rounding_noise = self.rounding_bound * float((self.root_weights**2).max())
        return decompose_product(weighted_kernel, self.targets, noise=rounding_noise, dual=True)

    @cached_property
    def targets(self) -> np.ndarray:
        """Targets of the training rows, multiplied by the square roots of the weights."""
        return self.Y * self.root_weights[:, None]

    @cached_property
    def target_scales(self) -> np.ndarray:
        """Spread of each target, against which rounding errors are judged."""
        total_weight = float(self.root_weights @ self.root_weights)
        return compute_target_scales(self.targets, np.zeros(self.Y.shape[1]), total_weight)

    def has_cholesky_factor(self, penalties: np.ndarray) -> np.ndarray:
        """Return True for penalties at which scikit-learn certainly finds a Cholesky factor."""
        eigenvalues = self.spectrum.values
        smallest_eigenvalue = min(float(eigenvalues.min(initial=0.0)), 0.0)
        largest_eigenvalue = float(np.abs(eigenvalues).max(initial=0.0))
        return RIDGE_SOLVER.is_unaffected_by_null_directions(
            smallest_eigenvalue, largest_eigenvalue, self.n_training_rows, penalties
        )

    def kernel_rounding_bounds(self, penalties: np.ndarray) -> np.ndarray:
        """Return for each penalty a bound on the error that test kernels cause in predictions.

        The error is due to rounding in the kernel of the test rows.
        """
        solution_length = max_solution_norms(
            (self.spectrum.target_coordinates / self.target_scales).T, self.spectrum, penalties
        )
        return EPS * self.rounding_bound * float(self.root_weights.max()) * solution_length

    def predict(
        self, test_kernel: np.ndarray, penalties: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Predict test rows; return predictions `(penalty, row, target)` and a mask of penalties.

        The mask marks penalties at which rounding may change a prediction.
        """
        is_stable = self.has_cholesky_factor(penalties)
        predictions = np.zeros((len(penalties), len(test_kernel), self.Y.shape[1]))
        if is_stable.any():
            test_coordinates = (test_kernel * self.root_weights) @ self.spectrum.vectors
            stable_penalties = penalties[is_stable]
            rounding_errors = rounding_bounds_at(
                test_coordinates, 0.0, self.spectrum, stable_penalties, self.target_scales
            )
            rounding_errors += self.kernel_rounding_bounds(stable_penalties)
            predictions[is_stable] = predictions_at(
                test_coordinates, self.spectrum, stable_penalties
            )
            is_stable[is_stable] = rounding_errors <= MAX_ROUNDING_ERROR
        return predictions, ~is_stable
