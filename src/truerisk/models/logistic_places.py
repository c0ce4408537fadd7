"""Solutions of LogisticPath at the positions of a list of `at`, all from one path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.kernels.logistic import Solutions, logistic_path

SETTING = ("l1_ratio", "n_lambdas", "lambdas", "standardize", "least_ratio", "tol", "max_iter")
"""The parameters of LogisticPath that its path depends on."""

SAME = 1e-9  # Values of λ with a smaller relative difference are considered equal.
RATIO, RATIO_FEW_ROWS = 1e-4, 1e-2


@frozen(eq=False)
class PathPlaces:
    """The path, and for each `at`: its λ, coefficients (f, p), intercepts (f,), convergence.

    `warning` says where `max_iter` was insufficient.
    """

    path: Solutions
    lambdas: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    converged: np.ndarray
    warning: str | None


def paths_of(
    setting: Mapping[str, Any],
    ats: Sequence[float | None],
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    rows: np.ndarray | None = None,
) -> PathPlaces:
    """Fit the path of a setting (the parameters of LogisticPath) and look up every `at`.

    `rows`, if given, are the rows of X in the fit, to which `codes` and `weights` belong. A λ that
    is not on the path starts from its larger neighbour on it and is not a start for others, so that
    the result for one `at` does not depend on the other ones.
    """
    check_setting(setting)
    n_rows = np.count_nonzero(weights)
    ratio = setting["least_ratio"]
    if ratio is None:
        ratio = RATIO_FEW_ROWS if n_rows < X.shape[1] else RATIO
    lambdas = setting["lambdas"]
    if lambdas is not None:
        lambdas = np.sort(np.asarray(lambdas, dtype=np.float64))[::-1]
    n_main = int(setting["n_lambdas"]) if lambdas is None else len(lambdas)
    more = [float(at) for at in ats if at is not None and _is_lambda(at)]
    solved = logistic_path(
        X,
        codes,
        weights,
        n_classes=n_classes,
        rows=rows,
        lambdas=lambdas,
        n_lambdas=n_main,
        least_ratio=float(ratio),
        aside=np.array([at for at in more if lambdas is None or place_of(at, lambdas) is None]),
        l1_ratio=float(setting["l1_ratio"]),
        standardize=bool(setting["standardize"]),
        tolerance=float(setting["tol"]),
        max_passes=int(setting["max_iter"]),
    )
    places = _as_slice(_places(ats, solved.lambdas, n_main))
    path = _part(solved, slice(0, n_main))
    return PathPlaces(
        path,
        solved.lambdas[places],
        solved.coefficients[places],
        solved.intercepts[places],
        solved.converged[places],
        _warning(solved, int(setting["max_iter"])),
    )


def place_of(at: float, lambdas: np.ndarray) -> int | None:
    """Return the position of `at` among descending λ's; None for a λ that is not among them.

    >>> place_of(-1, np.array([2.0, 1.0])), place_of(2.0, np.array([2.0, 1.0]))
    (1, 0)
    """
    if _is_lambda(at):
        near = np.flatnonzero(np.abs(lambdas - at) <= SAME * np.abs(lambdas))
        return int(near[0]) if len(near) else None
    if type(at) is not int and (isinstance(at, bool) or not isinstance(at, Integral)):
        raise ValueError(f"at={at!r} is neither a place on the path (int) nor a λ (float).")
    if not -len(lambdas) <= at < len(lambdas):
        raise ValueError(
            f"at={at!r}: the path has {len(lambdas)} places, 0 ... {len(lambdas) - 1}."
        )
    return int(at) % len(lambdas)


def row_weights(given: Any, X: Any) -> np.ndarray:
    """Return one validated weight per row."""
    n = X.shape[0]
    if given is None:
        return np.ones(n)
    if isinstance(given, Real):
        return np.full(n, float(given))
    weights = np.asarray(given, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("Negative or non-finite values in data passed to `sample_weight`")
    return weights


def check_setting(setting: Mapping[str, Any]) -> None:
    """Raise a ValueError that names an invalid parameter."""
    bounds = {"l1_ratio": (0.0, 1.0), "tol": (0.0, 1.0), "least_ratio": (0.0, 1.0)}
    for name, (low, high) in bounds.items():
        value = setting[name]
        if name == "least_ratio" and value is None:
            continue
        number = type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))
        size = float(value) if number else np.nan
        if not low <= size <= high or (size == 0 and name != "l1_ratio"):
            raise ValueError(f"{name}={value!r} is no number between {low:g} and {high:g}.")
    for name in ("n_lambdas", "max_iter"):
        value = setting[name]
        whole = type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))
        if not whole or int(value) < 1:
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


def _is_lambda(at: Any) -> bool:
    if type(at) is int:  # A grid has many integers, and checks of abstract types are slow.
        return False
    if not isinstance(at, Real) or isinstance(at, Integral):
        return False
    if not 0 < float(at) < np.inf:
        raise ValueError(f"at={at!r} is no penalty: give a positive finite λ.")
    return True


def _places(ats: Sequence[Any], lambdas: np.ndarray, n_main: int) -> np.ndarray:
    """Return the positions of the solutions for every `at`, on the path or next to it."""
    plain = [at for at in ats if type(at) is int and -n_main <= at < n_main]
    # If all are positions, as in most grids, they are looked up together.
    if len(plain) == len(ats):
        return np.array(plain) % n_main
    return np.array([_place(at, lambdas, n_main) for at in ats])


def _as_slice(places: np.ndarray) -> np.ndarray | slice:
    """Return a slice for several consecutive positions, which avoids a copy."""
    first, n = int(places[0]), len(places)
    if n > 1 and np.array_equal(places, np.arange(first, first + n)):
        return slice(first, first + n)
    return places


def _place(at: float | None, lambdas: np.ndarray, n_main: int) -> int:
    """Return the position of the solution for `at`, on the path or next to it."""
    if at is None:
        return n_main - 1
    if _is_lambda(at):
        beside = np.flatnonzero(lambdas[n_main:] == at)
        if len(beside):
            return n_main + int(beside[0])
    place = place_of(at, lambdas[:n_main])
    assert place is not None  # Every λ is on the path or next to it.
    return place


def _part(solved: Solutions, where: slice) -> Solutions:
    return Solutions(
        solved.lambdas[where],
        solved.coefficients[where],
        solved.intercepts[where],
        solved.passes[where],
        solved.converged[where],
        solved.used,
    )


def _warning(solved: Solutions, max_iter: int) -> str | None:
    short = np.flatnonzero(~solved.converged)
    if not len(short):
        return None
    return (
        f"{len(short)} of {len(solved.lambdas)} penalties did not converge in max_iter={max_iter} "
        f"passes, the first at λ = {solved.lambdas[short[0]]:.4g}: their coefficients are not the "
        "minimiser (see converged_). Raise max_iter, or end the path at a larger λ."
    )
