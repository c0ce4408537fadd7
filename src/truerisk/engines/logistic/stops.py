"""LogisticRegression at the point where L-BFGS-B stops, which is not the minimum.

The solver's steps are computed from 0, as in scikit-learn, and a second time with noise of the size
of rounding error in every sum. The difference between the two end points shows how much rounding
errors have grown on this table; scikit-learn's own fit amounts to a third run with other rounding
errors. scikit-learn's estimator is fitted if the difference is too large for the requested
predictions, if the two runs stop after different numbers of steps, or if a test within the solver
is passed very narrowly. If `max_iter` ends the solver, its steps up to this iteration are followed
in the same way; scikit-learn's estimator is fitted once for the warning that all such fits share.

Starting from 0, no step leaves the span of the rows, and rotated coordinates change neither lengths
nor inner products of the steps. If there are many more columns than rows, the steps are therefore
computed in as many columns as there are rows. Only the largest component of the gradient, which is
the stopping criterion, is evaluated in the original columns. One more coordinate represents all
directions orthogonal to the rows, in which steps are caused by rounding only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.logistic.path_answers import (
    RowsOfTestSet,
    class_margins,
    has_near_ties,
    predictions_from_scores,
)
from truerisk.engines.prepared import call_or_none
from truerisk.engines.settings import Group
from truerisk.engines.templates.task import Task
from truerisk.engines.templates.turned import RotatedRows, rotate_rows
from truerisk.kernels import native_module

UNCERTAIN_OUTCOME, CONVERGED, LIMIT_REACHED = range(
    3
)  # codes by which the compiled solver reports its outcome
# Each fit is run twice, once with added noise of the size of rounding errors.
RUNS_PER_FIT = 2
MAX_FOLLOWED_STEPS = (
    200  # After more than MAX_FOLLOWED_STEPS steps, rounding errors may have grown to any size.
)
# Scores count as equal if the two runs differ by less than EQUAL_SCORES_TOLERANCE in them.
EQUAL_SCORES_TOLERANCE = 1e-11
# A label is certain if its margin exceeds MIN_LABEL_MARGIN plus a multiple of the runs' difference.
LABEL_SAFETY_FACTOR, MIN_LABEL_MARGIN = 1e3, 1e-9
# If two runs differ by more than MAX_RUN_DIFFERENCE, they say nothing about scikit-learn's
# rounding.
MAX_RUN_DIFFERENCE = 1e-5
# No observed error exceeded OBSERVED_ERROR_SHARE times its bound in `rough_error_bounds`.
OBSERVED_ERROR_SHARE = 0.01
# Largest accepted difference between scores and those of scikit-learn's solver.
MAX_SCORE_DIFFERENCE = 1e-9
# Rotation is worthwhile if there are at least MIN_COLUMNS_PER_ROW times as many columns as rows.
MIN_COLUMNS_PER_ROW = 2


@frozen(eq=False)
class StoppedModels:
    """Coefficients at which the solver stops, for every candidate and in each of two runs.

    The two runs differ in rounding only.
    """

    candidates: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    has_converged: np.ndarray
    has_reached_limit: np.ndarray
    rough_error_bounds: np.ndarray
    present_classes: np.ndarray
    rotated_rows: RotatedRows | None = None

    def answers(self, task: Task, fit: int, tests: Sequence[RowsOfTestSet]) -> list[np.ndarray]:
        """Return predictions for every test set; leave uncertain candidates to scikit-learn."""
        # p is the number of columns after any rotation of the table.
        n_candidates, n_runs, n_functions, p = self.coefficients.shape
        flat_coefficients = self.coefficients.reshape(-1, p)
        predictions = []
        is_unresolved = ~(self.has_converged | self.has_reached_limit)
        for test_set_rows, test_set_number in zip(tests, task.questions(fit), strict=True):
            test_table = (
                test_set_rows.X
                if test_set_rows.rows is None
                else test_set_rows.X[test_set_rows.rows]
            )
            rows = (
                test_table
                if self.rotated_rows is None
                else np.column_stack(self.rotated_rows.rotate(test_table))
            )
            dot_products = (flat_coefficients @ rows.T).reshape(
                n_candidates, n_runs, n_functions, -1
            )
            scores = dot_products.transpose(0, 3, 1, 2) + self.intercepts[:, None]
            scores_by_run = scores[:, :, 0], scores[:, :, 1]
            run_difference = (
                np.abs(scores_by_run[0] - scores_by_run[1]).max(axis=(1, 2))
                + OBSERVED_ERROR_SHARE * self.rough_error_bounds
            )
            is_unresolved = is_unresolved | self._is_unresolved(
                task, int(test_set_number), scores_by_run[0], run_difference
            )
            predictions.append(
                predictions_from_scores(scores_by_run[0], self.present_classes, task)
            )
        task.leave_open(fit, self.candidates[is_unresolved])
        task.warn_alike(fit, self.candidates[self.has_reached_limit & ~is_unresolved])
        return predictions

    def _is_unresolved(
        self, task: Task, test_set_number: int, scores: np.ndarray, run_difference: np.ndarray
    ) -> np.ndarray:
        """Return True for candidates with a prediction that other rounding errors may change."""
        min_certain_margin = LABEL_SAFETY_FACTOR * run_difference + MIN_LABEL_MARGIN
        if task.request.response == "label":
            has_close_label = np.asarray(
                (class_margins(scores) < min_certain_margin[:, None]).any(axis=1)
            )
            return has_close_label | ~(run_difference <= MAX_RUN_DIFFERENCE)
        is_unresolved = ~np.asarray(run_difference <= EQUAL_SCORES_TOLERANCE)
        if task.request.response == "score" and task.data.codes is not None:
            codes = task.data.codes[task.plan.test_rows(test_set_number)[0]]
            is_unresolved |= has_near_ties(
                scores[..., 0], codes, np.minimum(min_certain_margin, MIN_LABEL_MARGIN)
            )
        return is_unresolved


def fit_until_stop(
    group: Group, X: np.ndarray, codes: np.ndarray, weights: np.ndarray, rows: np.ndarray
) -> StoppedModels | None:
    """Run the solver on these rows of X and return where it stops.

    Return None if a class has weight 0.
    """
    present_classes = np.flatnonzero(np.bincount(codes))
    if (np.bincount(codes, weights)[present_classes] <= 0).any():
        return None
    setting = group.settings[0]
    iteration_limit = int(setting["max_iter"])
    rotated_table, X, rows, solver_options = _rotate_if_wide(X, rows)
    solver_stops = logistic_lbfgs(
        X,
        rows,
        np.searchsorted(present_classes, codes),
        weights,
        n_classes=len(present_classes),
        penalties=1.0 / (group.values("C").astype(np.float64) * weights.sum()),
        tolerance=float(setting["tol"]),
        max_iterations=min(iteration_limit, MAX_FOLLOWED_STEPS),
        **solver_options,
    )
    end_points = solver_stops.coefficients, solver_stops.intercepts
    has_reached_limit = solver_stops.reached_max_iter & (
        iteration_limit <= MAX_FOLLOWED_STEPS
    )  # scikit-learn warns only if `max_iter` itself is reached.
    return StoppedModels(
        group.candidates,
        *end_points,
        solver_stops.has_converged,
        has_reached_limit,
        solver_stops.interpolation_error,
        present_classes,
        rotated_table,
    )


def _rotate_if_wide(
    X: np.ndarray, rows: np.ndarray
) -> tuple[RotatedRows | None, np.ndarray, np.ndarray, dict[str, Any]]:
    """Rotate the rows of X if there are many more columns than rows.

    Also return options for the solver.
    """
    is_used = np.zeros(len(X), dtype=bool)
    is_used[rows] = True
    if MIN_COLUMNS_PER_ROW * np.count_nonzero(is_used) > X.shape[1]:
        return None, X, rows, {}
    used_rows, row_indices = X[is_used], np.cumsum(is_used)[rows] - 1
    rotated_table = rotate_rows(used_rows)
    largest_cells_norm = float(np.linalg.norm(np.abs(used_rows).max(axis=0)))
    solver_options = {"directions": rotated_table.directions, "size_of_columns": largest_cells_norm}
    return (
        rotated_table,
        np.column_stack([rotated_table.train_rows, np.zeros(len(used_rows))]),
        row_indices,
        solver_options,
    )


def solver_refusal(setting: Mapping[str, Any]) -> str | None:
    """Return why LogisticRegression's solver would take other steps than the engine, or None."""
    for name, value in _required_defaults().items():
        if setting[name] is not value and setting[name] != value:
            return (
                f"{name}={setting[name]!r}: it follows the solver lbfgs at scikit-learn's defaults "
                "(but for C, tol and max_iter). For the minimum of the objective instead ask by "
                "engine=tr.engines.LogisticPaths(minimiser=True)."
            )
    tol, max_iter = setting["tol"], setting["max_iter"]
    if (
        isinstance(tol, bool)
        or not isinstance(tol, int | float | np.number)
        or not 0 < tol < np.inf
    ):
        return f"tol={tol!r} is no bound of a gradient."
    if isinstance(max_iter, bool) or not isinstance(max_iter, int | np.integer) or max_iter < 1:
        return f"max_iter={max_iter!r} is no number of steps."
    return None


@cache
def _required_defaults() -> dict[str, Any]:
    """Return the parameters that must have their default values, with these values.

    Otherwise the engine does not apply. `random_state` may have any value, since lbfgs does not use
    it.
    """
    from sklearn.linear_model import LogisticRegression

    changeable_params = {"C", "tol", "max_iter", "random_state"}
    params = LogisticRegression().get_params()
    return {name: value for name, value in params.items() if name not in changeable_params}


@cache
def matches_installed_solver(is_multiclass: bool) -> bool:
    """Return True if the solver of the installed LogisticRegression steps as `logistic_lbfgs` does.

    This is checked once per process on small problems, dense and sparse. A problem of three classes
    is checked only if the data have more than two classes, since each check takes some
    milliseconds. Another release may stop elsewhere or scale its objective in another way.
    """
    test_cases = [(2, False), (2, True), *([(3, False)] if is_multiclass else [])]
    return all(_agrees(*test_case) for test_case in test_cases)


def _agrees(n_classes: int, is_sparse: bool) -> bool:
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    codes = np.arange(40) % n_classes
    X = rng.normal(size=(40, 4)) + codes[:, None] * np.array([1.0, 0.5, 0.0, -0.2])
    weights = rng.uniform(0.5, 2.0, 40)
    sklearn_table = csr_array(X) if is_sparse else X
    model = call_or_none(lambda: LogisticRegression(C=0.7).fit(sklearn_table, codes, weights))
    if model is None:
        return False
    solver_stops = logistic_lbfgs(
        X,
        np.arange(40),
        codes,
        weights,
        n_classes=n_classes,
        penalties=np.array([1 / (0.7 * weights.sum())]),
        tolerance=1e-4,
        max_iterations=100,
    )
    scores = np.squeeze(X @ solver_stops.coefficients[0, 0].T + solver_stops.intercepts[0, 0])
    has_same_steps = bool(solver_stops.has_converged[0]) and int(
        solver_stops.n_iterations[0]
    ) == int(np.max(model.n_iter_))
    return has_same_steps and bool(
        np.abs(scores - model.decision_function(sklearn_table)).max() < MAX_SCORE_DIFFERENCE
    )


@frozen(eq=False)
class SolverStops:
    """Points at which the solver stops, for each penalty and in each of two runs.

    The two runs differ in rounding only. `coefficients` have shape (penalty, run, f, p) and
    `intercepts` (penalty, run, f), where f is 1 for two classes (the second against the first),
    else the number of classes, and p is the number of columns. `has_converged` is True if both runs
    converged after the same number of iterations (`n_iterations`, per penalty), and no test within
    the solver was passed very narrowly. `reached_max_iter` is True if, instead, both runs reached
    the maximum number of iterations. The difference between the two end points shows how much
    rounding errors have grown. `interpolation_error` bounds the error of a linear predictor if a
    step was interpolated from nearly equal values.
    """

    coefficients: np.ndarray
    intercepts: np.ndarray
    n_iterations: np.ndarray
    has_converged: np.ndarray
    reached_max_iter: np.ndarray
    interpolation_error: np.ndarray


def logistic_lbfgs(
    X: np.ndarray,
    rows: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    *,
    n_classes: int,
    penalties: np.ndarray,
    tolerance: float,
    max_iterations: int,
    directions: np.ndarray | None = None,
    size_of_columns: float = 0.0,
) -> SolverStops:
    r"""Run L-BFGS-B for every penalty λ, from coefficients 0 to the point where it stops.

    The solver is run twice for every penalty. It minimises

    .. math:: \sum_i \tilde w_i\,\ell_i + \lambda|\beta|^2/2

    Here the weights :math:`\tilde w` sum to one, and the intercept is not penalised. In the second
    run every sum has noise of the size of its rounding error. Both runs and all penalties are
    computed together, so that the rows are read once per evaluation of all of them.

    Parameters
    ----------
    X : array, shape (n, p)
        Table in float64, in row or column order, of which the solver uses `rows`.
    rows : array of int
        Training rows; a row may occur several times.
    codes, weights : arrays, shape (len(rows),)
        Class codes 0 ... n_classes − 1 of these rows, and their weights. The total weight of each
        class is positive.
    n_classes : int
        Number of classes.
    penalties : array
        The penalties λ.
    tolerance : float
        The solver stops when the largest component of the gradient is at most this.
    max_iterations : int
        Maximum number of iterations.
    directions : array, shape (columns, p − 1), optional
        Given if X holds rotated rows: the columns of X except the last, which is 0, as orthonormal
        directions in the original columns. The solver evaluates the gradient in the original
        columns.
    size_of_columns : float
        The length of the vector of the largest cells of the original columns, which determines the
        rounding error there.

    Returns
    -------
    Stops
        The end points of both runs at each penalty.

    Raises
    ------
    ValueError
        If a shape or a bound is wrong.
    Refusal
        If the compiled module is missing.
    """
    X = np.asarray(X, dtype=np.float64)
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    penalties = np.ascontiguousarray(penalties, dtype=np.float64)
    _check(X, rows, codes, weights, n_classes)
    rotation = np.zeros((0, 0)) if directions is None else np.ascontiguousarray(directions)
    if rotation.ndim != 2 or (len(rotation) and rotation.shape[1] != X.shape[1] - 1):
        raise ValueError(f"directions of shape {rotation.shape} do not turn {X.shape[1]} columns.")
    n_functions, p, n_penalties = 1 if n_classes == 2 else n_classes, X.shape[1], len(penalties)
    end_points = np.zeros((n_penalties, RUNS_PER_FIT, n_functions * (p + 1)))
    iterations = np.zeros(n_penalties, dtype=np.int64)
    outcomes, rough_errors = (
        np.full(n_penalties, UNCERTAIN_OUTCOME, dtype=np.uint8),
        np.zeros(n_penalties),
    )
    native_module().logistic_lbfgs(
        X,
        rows,
        weights,
        codes,
        int(n_classes),
        penalties,
        float(tolerance),
        int(max_iterations),
        rotation,
        float(size_of_columns),
        end_points,
        iterations,
        outcomes,
        rough_errors,
    )
    end_points = end_points.reshape(n_penalties, RUNS_PER_FIT, n_functions, p + 1)
    return SolverStops(
        end_points[..., :p],
        end_points[..., p],
        iterations,
        outcomes == CONVERGED,
        outcomes == LIMIT_REACHED,
        rough_errors,
    )


def _check(
    X: np.ndarray, rows: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int
) -> None:
    """Raise ValueError if the compiled code would read out of bounds or divide by zero."""
    if rows.ndim != 1 or not len(rows) or not 0 <= rows.min() <= rows.max() < X.shape[0]:
        raise ValueError(f"rows are at least one and below {X.shape[0]}.")
    if codes.shape != rows.shape or weights.shape != rows.shape:
        raise ValueError(f"{len(rows)} rows have {codes.shape} codes and {weights.shape} weights.")
    if not (weights.min() >= 0 and weights.max() < np.inf):  # NaN weights fail this test as well.
        raise ValueError("weights must be finite and not negative.")
    if n_classes < 2 or not 0 <= codes.min() <= codes.max() < n_classes:
        raise ValueError(f"codes must give each row a class below {n_classes}.")
    if (np.bincount(codes, weights=weights, minlength=n_classes) <= 0).any():
        raise ValueError("a class has no weight: there is nothing to fit to.")
