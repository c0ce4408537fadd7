"""Solutions of LogisticPath at several values of its parameter `at`, all from one path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.kernels.logistic import LogisticPathFit, logistic_path

PATH_PARAMETERS = (
    "l1_ratio",
    "n_lambdas",
    "lambdas",
    "standardize",
    "least_ratio",
    "tol",
    "max_iter",
)
"""Names of the parameters of LogisticPath on which the path of solutions depends."""

# Two values of λ with a smaller relative difference are considered equal.
LAMBDA_TOLERANCE = 1e-9
DEFAULT_LEAST_RATIO, DEFAULT_LEAST_RATIO_WIDE = 1e-4, 1e-2


@frozen(eq=False)
class PathSolutions:
    """Solutions of LogisticPath: the whole path, and the solution for each value of `at`.

    A solution consists of coefficients and intercepts. The path has f score functions and p
    features: coefficients (f, p) and intercepts (f,).

    `warning` is a message if `max_iter` was insufficient for some penalty, otherwise None.
    """

    path: LogisticPathFit
    lambdas: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    converged: np.ndarray
    warning: str | None


def solve_path(
    setting: Mapping[str, Any],
    at_values: Sequence[float | None],
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    rows: np.ndarray | None = None,
) -> PathSolutions:
    """Fit the path of LogisticPath, and find the solution for every value of `at`.

    `setting` maps parameter names to values. `rows`, if given, are the rows of X in the fit, to
    which `codes` and `weights` belong. The solution for a λ that is not on the path starts from the
    next larger λ on the path, and no other solution starts from it. The result for one `at`
    therefore does not depend on the other values of `at`.
    """
    check_path_parameters(setting)
    n_rows = np.count_nonzero(weights)
    least_ratio = setting["least_ratio"]
    if least_ratio is None:
        least_ratio = DEFAULT_LEAST_RATIO_WIDE if n_rows < X.shape[1] else DEFAULT_LEAST_RATIO
    lambdas = setting["lambdas"]
    if lambdas is not None:
        lambdas = np.sort(np.asarray(lambdas, dtype=np.float64))[::-1]
    n_path_lambdas = int(setting["n_lambdas"]) if lambdas is None else len(lambdas)
    requested_lambdas = [
        float(at_value) for at_value in at_values if at_value is not None and _is_lambda(at_value)
    ]
    solutions = logistic_path(
        X,
        codes,
        weights,
        n_classes=n_classes,
        rows=rows,
        lambdas=lambdas,
        n_lambdas=n_path_lambdas,
        least_ratio=float(least_ratio),
        aside=np.array(
            [
                at_value
                for at_value in requested_lambdas
                if lambdas is None or position_on_path(at_value, lambdas) is None
            ]
        ),
        l1_ratio=float(setting["l1_ratio"]),
        standardize=bool(setting["standardize"]),
        tolerance=float(setting["tol"]),
        max_passes=int(setting["max_iter"]),
    )
    solution_positions = _as_slice(
        _solution_positions(at_values, solutions.lambdas, n_path_lambdas)
    )
    path = _slice_solutions(solutions, slice(0, n_path_lambdas))
    return PathSolutions(
        path,
        solutions.lambdas[solution_positions],
        solutions.coefficients[solution_positions],
        solutions.intercepts[solution_positions],
        solutions.has_converged[solution_positions],
        _convergence_warning(solutions, int(setting["max_iter"])),
    )


def position_on_path(at_value: float, lambdas: np.ndarray) -> int | None:
    """Return the position on the path that `at_value` stands for; None for a λ not on the path.

    >>> position_on_path(-1, np.array([2.0, 1.0])), position_on_path(2.0, np.array([2.0, 1.0]))
    (1, 0)
    """
    if _is_lambda(at_value):
        equal_positions = np.flatnonzero(
            np.abs(lambdas - at_value) <= LAMBDA_TOLERANCE * np.abs(lambdas)
        )
        return int(equal_positions[0]) if len(equal_positions) else None
    if type(at_value) is not int and (
        isinstance(at_value, bool) or not isinstance(at_value, Integral)
    ):
        raise ValueError(f"at={at_value!r} is neither a place on the path (int) nor a λ (float).")
    if not -len(lambdas) <= at_value < len(lambdas):
        raise ValueError(
            f"at={at_value!r}: the path has {len(lambdas)} places, 0 ... {len(lambdas) - 1}."
        )
    return int(at_value) % len(lambdas)


def check_sample_weight(sample_weight: Any, X: Any) -> np.ndarray:
    """Check the sample weights and return one weight per row."""
    n = X.shape[0]
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        return np.full(n, float(sample_weight))
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("Negative or non-finite values in data passed to `sample_weight`")
    return weights


def check_path_parameters(setting: Mapping[str, Any]) -> None:
    """Raise a ValueError for the first invalid parameter of LogisticPath."""
    bounds = {"l1_ratio": (0.0, 1.0), "tol": (0.0, 1.0), "least_ratio": (0.0, 1.0)}
    for name, (lowest, highest) in bounds.items():
        value = setting[name]
        if name == "least_ratio" and value is None:
            continue
        is_real = type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))
        numeric_value = float(value) if is_real else np.nan
        if not lowest <= numeric_value <= highest or (numeric_value == 0 and name != "l1_ratio"):
            raise ValueError(f"{name}={value!r} is no number between {lowest:g} and {highest:g}.")
    for name in ("n_lambdas", "max_iter"):
        value = setting[name]
        is_integer = type(value) is int or (
            isinstance(value, Integral) and not isinstance(value, bool)
        )
        if not is_integer or int(value) < 1:
            raise ValueError(f"{name}={value!r} is no whole number >= 1.")
    lambdas = setting["lambdas"]
    if lambdas is not None:
        lambdas = np.asarray(lambdas, dtype=np.float64)
        if (
            lambdas.ndim != 1
            or not len(lambdas)
            or not (np.isfinite(lambdas) & (lambdas > 0)).all()
        ):
            raise ValueError("lambdas must be positive finite numbers, at least one.")


def _is_lambda(at_value: Any) -> bool:
    # Integers are tested first: a grid has many, and the checks of abstract types below are slow.
    if type(at_value) is int:
        return False
    if not isinstance(at_value, Real) or isinstance(at_value, Integral):
        return False
    if not 0 < float(at_value) < np.inf:
        raise ValueError(f"at={at_value!r} is no penalty: give a positive finite λ.")
    return True


def _solution_positions(
    at_values: Sequence[Any], lambdas: np.ndarray, n_path_lambdas: int
) -> np.ndarray:
    """Return for every value of `at` the position of its solution in the list of all solutions.

    Solutions on the path come first, then those for a λ that is not on the path.
    """
    int_positions = [
        at_value
        for at_value in at_values
        if type(at_value) is int and -n_path_lambdas <= at_value < n_path_lambdas
    ]
    # In most grids every `at` is a position on the path, so that all are looked up together.
    if len(int_positions) == len(at_values):
        return np.array(int_positions) % n_path_lambdas
    return np.array(
        [_solution_position(at_value, lambdas, n_path_lambdas) for at_value in at_values]
    )


def _as_slice(solution_positions: np.ndarray) -> np.ndarray | slice:
    """Convert consecutive positions to a slice, because indexing by a slice copies nothing."""
    first_position, n = int(solution_positions[0]), len(solution_positions)
    if n > 1 and np.array_equal(solution_positions, np.arange(first_position, first_position + n)):
        return slice(first_position, first_position + n)
    return solution_positions


def _solution_position(at_value: float | None, lambdas: np.ndarray, n_path_lambdas: int) -> int:
    """Return the position of the solution for one `at` among all solutions."""
    if at_value is None:
        return n_path_lambdas - 1
    if _is_lambda(at_value):
        extra_positions = np.flatnonzero(lambdas[n_path_lambdas:] == at_value)
        if len(extra_positions):
            return n_path_lambdas + int(extra_positions[0])
    path_position = position_on_path(at_value, lambdas[:n_path_lambdas])
    # Every λ is on the path, or has a solution of its own, which was computed in addition.
    assert path_position is not None
    return path_position


def _slice_solutions(solutions: LogisticPathFit, path_slice: slice) -> LogisticPathFit:
    return LogisticPathFit(
        solutions.lambdas[path_slice],
        solutions.coefficients[path_slice],
        solutions.intercepts[path_slice],
        solutions.n_passes[path_slice],
        solutions.has_converged[path_slice],
        solutions.used_columns,
    )


def _convergence_warning(solutions: LogisticPathFit, max_iter: int) -> str | None:
    failed_indices = np.flatnonzero(~solutions.has_converged)
    if not len(failed_indices):
        return None
    return (
        f"{len(failed_indices)} of {len(solutions.lambdas)} penalties did not converge in "
        f"max_iter={max_iter} passes, the first at λ = {solutions.lambdas[failed_indices[0]]:.4g}: "
        "their coefficients are not the minimiser (see converged_). Raise max_iter, or end the "
        "path at a larger λ."
    )
