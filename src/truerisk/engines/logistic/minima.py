"""Minima of penalised logistic likelihoods: paths of LogisticPath, and ridge fits in batches.

Leave-one-out scores of training rows are approximated to first order, for every penalty.

`predict_ridge_samples` fits ridge logistic regression of two classes to many samples at once, by
simultaneous Newton steps: the Hessians of all fits are one product of the weights with the pairwise
products of the columns. All fits start from the minimum of their mean objective. Once no step
changes a linear predictor by more than 1e-4, one more step with the same Hessians leaves an error
below 1e-10: this step changes the predictor by the remaining error, which must be below 1e-6, and
the step's own error is 1e-4 times that. Fits that do not converge in this way are solved one by one
by the path algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_, itemgetter
from typing import Any

import numpy as np
from scipy.special import expit

from truerisk.core.frozen import frozen
from truerisk.engines.logistic.path_answers import (
    MIN_LABEL_MARGIN,
    RowsOfTestSet,
    class_margins,
    has_near_ties,
    predictions_from_scores,
)
from truerisk.engines.settings import Group
from truerisk.engines.templates.fits_of_one_table import WeightedFits, products_of
from truerisk.engines.templates.task import Task
from truerisk.kernels.logistic import logistic_path
from truerisk.kernels.logistic import to_column_major as to_column_major
from truerisk.models.logistic_places import check_path_parameters, position_on_path, solve_path
from truerisk.models.stated.degrees_of_freedom import stricter_tolerance
from truerisk.models.stated.without_a_row import leave_one_out_log_odds, weighted_column_variances
from truerisk.plan.answers import class_code_dtype
from truerisk.plan.extras.linear_rules import LinearRules

# Iterations end if the squared change of the linear predictor is below MAX_SQUARED_CHANGE.
# The linear predictor then has ten correct digits.
MAX_SQUARED_CHANGE = 1e-20
MAX_PASSES = 300_000
SKLEARN_TOL, SKLEARN_MAX_ITER = 1e-4, 100
L1_RATIO_BY_PENALTY = {"l1": 1.0, "l2": 0.0}
# Rounding may decide the order of two scores that differ by at most RANK_TOLERANCE.
RANK_TOLERANCE = 1e-12


def path_refusal(settings: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why the settings of LogisticPath are invalid, or None if they are valid.

    Successive settings usually select penalties on the same path, which is therefore checked once.
    """
    path_parameters = itemgetter(*(name for name in settings[0] if name != "at"))
    checked_values: tuple[Any, ...] = ()
    n_lambdas = 0
    try:
        for setting in settings:
            path_values, path_index = path_parameters(setting), setting["at"]
            if not checked_values or not all(map(is_, path_values, checked_values)):
                check_path_parameters(setting)
                lambdas, checked_values = setting["lambdas"], path_values
                n_lambdas = int(setting["n_lambdas"]) if lambdas is None else len(lambdas)
            if path_index is not None and not (
                type(path_index) is int and 0 <= path_index < n_lambdas
            ):
                position_on_path(path_index, np.ones(n_lambdas))
    except (TypeError, ValueError) as error:
        return f"LogisticPath cannot be set so: {str(error).splitlines()[0].rstrip('.')}."
    return None


def minimum_refusal(setting: Mapping[str, Any]) -> str | None:
    """Return why a LogisticRegression would not attain the minimum of its objective, or None."""
    solver = setting["solver"]
    if solver == "liblinear":
        return "solver='liblinear' penalises the intercept, another objective."
    if l1_ratio_of_setting(setting) is None:
        return f"penalty={setting.get('penalty')!r} is none that it knows."
    if l1_ratio_of_setting(setting) != 0 and solver != "saga":
        return f"solver='{solver}' has no L1 penalty."
    if solver not in ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"):
        return f"solver={solver!r} is none that it knows."
    required_values = {
        "fit_intercept": True,
        "dual": False,
        "warm_start": False,
        "class_weight": None,
    }
    for name, value in required_values.items():
        if setting[name] is not value:
            return f"{name}={setting[name]!r} is not served."
    if setting.get("multi_class", "auto") not in ("auto", "deprecated"):
        return f"multi_class={setting['multi_class']!r} is not served."
    tol, max_iter = setting["tol"], setting["max_iter"]
    if not 0 < tol <= SKLEARN_TOL:
        return f"tol={tol!r} does not ask for the minimum: set tol to {SKLEARN_TOL:g} or less."
    if not max_iter >= SKLEARN_MAX_ITER:
        return f"max_iter={max_iter!r} stops the solver short of the minimum."
    return None


def l1_ratio_of_setting(setting: Mapping[str, Any]) -> float | None:
    """Return the share of the L1 penalty in a LogisticRegression; None for unsupported penalties.

    Up to scikit-learn 1.7 the penalty has a name; from 1.8 on, `l1_ratio` alone determines it.
    """
    penalty, l1_ratio_given = setting.get("penalty", "deprecated"), setting["l1_ratio"]
    if isinstance(penalty, str) and penalty in L1_RATIO_BY_PENALTY:
        return L1_RATIO_BY_PENALTY[penalty]
    if penalty not in ("deprecated", "elasticnet"):
        return None
    l1_ratio = 0.0 if l1_ratio_given is None and penalty == "deprecated" else l1_ratio_given
    if isinstance(l1_ratio, bool) or not isinstance(l1_ratio, int | float | np.number):
        return None
    return float(l1_ratio) if 0 <= l1_ratio <= 1 else None


@frozen(eq=False)
class LogisticFits:
    """Fitted logistic regressions of all candidates on one training set.

    `coefficients` have shape (candidate, score function, column). `used_columns` are the
    columns that some candidate may use, and `present_classes` the classes in the training set.
    Labels are certain only if the scores are farther than `margin` from a tie. `candidates` are
    indices in the family.
    """

    candidates: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    converged: np.ndarray
    used_columns: np.ndarray
    present_classes: np.ndarray
    margin: float
    penalty: Penalty

    def answers(self, task: Task, fit: int, tests: Sequence[RowsOfTestSet]) -> list[np.ndarray]:
        """Return predictions for every test set; scikit-learn will fit uncertain candidates."""
        # If the minimum is not reached, predictions depend on where scikit-learn's solver stops.
        if not self.converged.all():
            task.leave_open(fit, self.candidates[~self.converged])
        linear_rules = self._record_linear_rules(task, fit)
        used_columns, (n_candidates, n_score_functions, _) = (
            linear_rules.used,
            self.coefficients.shape,
        )
        flat_coefficients = np.take(
            self.coefficients.reshape(n_candidates * n_score_functions, -1), used_columns, axis=1
        )
        predictions = []
        for test_rows, test_set_number in zip(tests, task.questions(fit), strict=True):
            scores = (
                test_rows.multiply(used_columns, flat_coefficients)
                .reshape(-1, n_candidates, n_score_functions)
                .transpose(1, 0, 2)
            )
            scores = scores + self.intercepts[:, None]
            if test_rows.training_rows is not None:
                scores = test_rows.training_rows.leave_one_out_scores(
                    scores, self.coefficients, self.penalty
                )
            task.leave_open(
                fit,
                self.candidates[self._is_decided_by_rounding(task, int(test_set_number), scores)],
            )
            predictions.append(predictions_from_scores(scores, self.present_classes, task))
        return predictions

    def _is_decided_by_rounding(
        self, task: Task, test_set_number: int, scores: np.ndarray
    ) -> np.ndarray:
        """Return True for candidates with a label or an order of rows that rounding may decide."""
        response = task.request.response
        if response == "label":
            return class_margins(scores).min(axis=1, initial=np.inf) < self.margin
        if response != "score" or task.data.codes is None:
            return np.zeros(len(scores), dtype=bool)
        codes = task.data.codes[task.plan.test_rows(test_set_number)[0]]
        largest_gap = np.where(
            self.coefficients.any(axis=(1, 2)), RANK_TOLERANCE, -1.0
        )  # If all coefficients are 0, the scores are constant and have no rounding error.
        return has_near_ties(scores[..., 0], codes, largest_gap)

    def _record_linear_rules(self, task: Task, fit: int) -> LinearRules:
        """Return the linear rules of the candidates; store them if they are requested.

        The degrees of freedom are stored as well if they are requested.
        """
        candidate_rows = (
            self.candidates if task.run.candidate_by_fit is None else np.zeros(1, dtype=np.intp)
        )
        class_codes = tuple(int(class_code) for class_code in self.present_classes)
        linear_rules = LinearRules(
            fit,
            candidate_rows,
            self.coefficients,
            self.intercepts,
            class_codes,
            among=self.used_columns,
        )
        if task.collected.extra is not None and fit in task.collected.extra.rule_fits:
            task.collected.extra.rules.append(linear_rules)
        if task.collected.extra is not None and fit in task.collected.extra.freedom_fits:
            n_nonzero = np.count_nonzero(self.coefficients, axis=(1, 2))
            n_present = len(self.present_classes)
            task.collected.extra.freedom[candidate_rows, fit] = n_nonzero + n_present - 1
        return linear_rules


def fit_path(
    task: Task,
    group: Group,
    fit: int,
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray | None,
) -> LogisticFits:
    """Fit a regularization path for all candidates of the group to the listed rows of X.

    If `rows` is None, all rows are used.
    """
    present_classes = np.flatnonzero(np.bincount(codes, weights))
    codes = np.minimum(np.searchsorted(present_classes, codes), len(present_classes) - 1)
    setting = group.settings[0]
    if "C" in setting:
        l1_ratio = l1_ratio_of_setting(setting) or 0.0
        ridge_penalties = 1.0 / group.values("C").astype(np.float64)
        penalties = ridge_penalties / weights.sum()
        path_fit = logistic_path(
            X,
            codes,
            weights,
            n_classes=len(present_classes),
            rows=rows,
            lambdas=penalties,
            l1_ratio=l1_ratio,
            standardize=False,
            tolerance=MAX_SQUARED_CHANGE,
            max_passes=MAX_PASSES,
        )
        fit_arrays = (
            path_fit.coefficients,
            path_fit.intercepts,
            path_fit.has_converged,
            path_fit.used_columns,
        )
        penalty = Penalty((1 - l1_ratio) * ridge_penalties, l1_ratio > 0, standardize=False)
        return LogisticFits(
            group.candidates, *fit_arrays, present_classes, MIN_LABEL_MARGIN, penalty
        )
    path_indices = [setting["at"] for setting in group.settings]
    if task.collected.extra is not None and fit in task.collected.extra.freedom_fits:
        setting = {**setting, "tol": stricter_tolerance(setting["tol"])}
    paths = solve_path(setting, path_indices, X, codes, weights, len(present_classes), rows)
    if paths.warning is not None:
        from sklearn.exceptions import ConvergenceWarning

        task.collected.fit_warnings.append((ConvergenceWarning, paths.warning))
    all_converged = np.ones(
        len(path_indices), dtype=bool
    )  # The fit of LogisticPath itself would stop at the same step.
    l1_ratio = float(setting["l1_ratio"])
    ridge_penalties = (1 - l1_ratio) * paths.lambdas * weights.sum()
    penalty = Penalty(ridge_penalties, l1_ratio > 0, bool(setting["standardize"]))
    fit_arrays = paths.coefficients, paths.intercepts, all_converged, paths.path.used_columns
    return LogisticFits(group.candidates, *fit_arrays, present_classes, 0.0, penalty)


@frozen(eq=False)
class Penalty:
    """Ridge penalty of each candidate, as a term of the objective that the fit minimises.

    The other term is the negative log-likelihood, summed over rows. The penalty is `ridge` times
    half the sum of the squared coefficients. With `standardize` each square is multiplied by the
    variance of its column. With `selects_columns` only columns with a nonzero coefficient are in
    the fit.
    """

    ridge: np.ndarray
    selects_columns: bool
    standardize: bool


@frozen(eq=False)
class TrainingRows:
    """Training rows of a fit for which leave-one-out scores are requested.

    Each row has a class (0 or 1) and a weight.
    """

    X: Any
    rows: np.ndarray
    codes: np.ndarray
    weights: np.ndarray

    def leave_one_out_scores(
        self, scores: np.ndarray, coefficients: np.ndarray, penalty: Penalty
    ) -> np.ndarray:
        """Return approximate leave-one-out scores of all rows.

        `scores` has the shape (candidate, row, 1) and holds the scores of the fit on all rows.
        """
        used_columns = (
            np.flatnonzero(coefficients.any(axis=(0, 1)))
            if penalty.selects_columns
            else slice(None)
        )
        training_rows = self.X[:, used_columns]
        training_rows = (
            training_rows.tocsr()[self.rows].toarray()
            if hasattr(training_rows, "tocsr")
            else training_rows[self.rows]
        )
        slopes = coefficients[:, 0, used_columns]
        column_variances = (
            weighted_column_variances(training_rows, self.weights)
            if penalty.standardize
            else np.ones(training_rows.shape[1])
        )
        left_out_scores = np.empty_like(scores)
        for candidate_index, ridge_penalty in enumerate(penalty.ridge):
            selected_columns = (
                np.flatnonzero(slopes[candidate_index])
                if penalty.selects_columns
                else np.arange(training_rows.shape[1])
            )
            left_out_scores[candidate_index, :, 0] = leave_one_out_log_odds(
                training_rows[:, selected_columns],
                self.codes,
                self.weights,
                scores[candidate_index, :, 0],
                ridge_penalty * column_variances[selected_columns],
            )
        return left_out_scores


MAX_NEWTON_STEPS = 20
# A fit has converged if its last step changes linear predictors by at most MAX_LAST_CHANGE.
# The step before must have changed them by at most MAX_CHANGE_BEFORE_LAST.
MAX_CHANGE_BEFORE_LAST, MAX_LAST_CHANGE = 1e-4, 1e-6
# A fit that only provides a starting point may end once a step changes by MAX_CHANGE_OF_START or
# less.
MAX_CHANGE_OF_START = 0.1
# A fit is abandoned if a step changes a linear predictor by MAX_STEP_CHANGE or more.
MAX_STEP_CHANGE = 100.0


def predict_ridge_samples(task: Task, X: np.ndarray) -> np.ndarray:
    """Store the predictions of ridge-penalised candidates, and return a mask of completed fits."""
    is_computed = np.zeros(task.plan.n_fits, dtype=bool)
    if task.data.n_classes != 2 or task.data.codes is None:
        return is_computed
    rows = np.column_stack([X, np.ones(len(X))])
    column_products = None
    for batch in WeightedFits.batches(task, ~is_computed, rows.shape[1]):
        column_products = products_of(rows) if column_products is None else column_products
        ridge_problem = _RidgeProblem(
            rows, column_products, task.data.codes.astype(np.float64), batch.weights
        )
        is_solved = np.ones(len(batch.fits), dtype=bool)
        solutions = []
        for candidate_index, inverse_penalty in enumerate(
            task.group.values("C").astype(np.float64)
        ):
            is_requested = batch.asks(candidate_index)
            coefficients, has_converged = ridge_problem.solve(1 / inverse_penalty, is_requested)
            is_solved &= has_converged | ~is_requested
            solutions.append((candidate_index, is_requested, coefficients))
        for candidate_index, is_requested, coefficients in solutions:
            storable_fits = np.flatnonzero(is_requested & is_solved)
            if len(storable_fits):
                _store_predictions(
                    batch.select(storable_fits),
                    candidate_index,
                    coefficients[storable_fits] @ rows.T,
                )
        is_computed[batch.fits[is_solved]] = True
    return is_computed


def _store_predictions(batch: WeightedFits, candidate_index: int, scores: np.ndarray) -> None:
    """Convert scores `(fit, row)` to the requested predictions of one candidate, and store them."""
    fit_of_row, rows, _ = batch.positions
    score, response = scores[fit_of_row, rows], batch.task.request.response
    if response == "label":
        predictions = (score > 0).astype(class_code_dtype(2))
    elif response == "score":
        predictions = score
    else:
        probability = expit(score)
        # These operations have the order of scikit-learn's, so that the digits agree.
        predictions = np.stack([1 - probability, probability], axis=1)
    batch.store_predictions(candidate_index, predictions, np.abs(score) < MIN_LABEL_MARGIN)


class _RidgeProblem:
    """Ridge logistic regressions of classes 0 and 1, for many fits on one table of rows.

    The fits differ in the weights of the rows.
    """

    def __init__(
        self, rows: np.ndarray, products: np.ndarray, y: np.ndarray, weights: np.ndarray
    ) -> None:
        self.rows, self.products, self.y, self.weights = rows, products, y, weights
        self.starting_point = np.zeros(rows.shape[1])

    def solve(self, penalty: float, is_requested: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the requested fits' coefficients at one penalty, and a mask of convergence."""
        coefficients = np.zeros((len(is_requested), self.rows.shape[1]))
        has_converged = np.zeros(len(is_requested), dtype=bool)
        mean_weights = (
            self.weights[is_requested].mean(axis=0, keepdims=True) if is_requested.any() else None
        )
        if mean_weights is None:
            return coefficients, has_converged
        common_start, _ = self._take_newton_steps(
            mean_weights, self.starting_point[None].copy(), penalty, MAX_CHANGE_OF_START
        )
        if np.isfinite(common_start).all():
            self.starting_point = common_start[0]
        starting_points = np.broadcast_to(
            self.starting_point, (int(is_requested.sum()), len(self.starting_point))
        ).copy()
        coefficients[is_requested], has_converged[is_requested] = self._take_newton_steps(
            self.weights[is_requested], starting_points, penalty, MAX_CHANGE_BEFORE_LAST
        )
        return coefficients, has_converged

    def _take_newton_steps(
        self, weights: np.ndarray, coefficients: np.ndarray, penalty: float, max_change: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take Newton steps in all fits together; return coefficients and a mask of convergence."""
        has_converged = np.zeros(len(coefficients), dtype=bool)
        active_fits = np.arange(len(coefficients))
        ridge = np.append(np.full(coefficients.shape[1] - 1, penalty), 0.0)
        scores = coefficients @ self.rows.T
        is_near_minimum = False
        for _ in range(MAX_NEWTON_STEPS):
            with np.errstate(over="ignore"):  # Faster than expit; an overflow gives 1/inf = 0.
                probabilities = 1 / (1 + np.exp(-scores))
            gradient = (
                weights[active_fits] * (self.y - probabilities)
            ) @ self.rows - ridge * coefficients[active_fits]
            if not is_near_minimum:
                curvature_weights = weights[active_fits] * probabilities * (1 - probabilities)
                hessians = (curvature_weights @ self.products).reshape(-1, len(ridge), len(ridge))
                hessians += np.diag(ridge)
            try:
                step = np.linalg.solve(hessians, gradient[:, :, None])[:, :, 0]
            except np.linalg.LinAlgError:
                break
            coefficients[active_fits] += step
            score_changes = step @ self.rows.T
            scores += score_changes
            largest_changes = np.abs(score_changes).max(axis=1)
            if is_near_minimum:
                has_converged[active_fits] = largest_changes < MAX_LAST_CHANGE
                break
            is_bounded = largest_changes < MAX_STEP_CHANGE
            if not is_bounded.all():
                active_fits, scores, hessians = (
                    active_fits[is_bounded],
                    scores[is_bounded],
                    hessians[is_bounded],
                )
            is_near_minimum = (
                bool(len(active_fits)) and float(largest_changes[is_bounded].max()) < max_change
            )
        return coefficients, has_converged
