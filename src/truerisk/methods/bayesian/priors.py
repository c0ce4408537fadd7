r"""Priors of the Bayesian error estimator: normal means and inverse Wishart covariances per class.

.. math:: \Sigma_c \sim \mathrm{IW}(\kappa, S), \qquad \mu_c \mid \Sigma_c \sim N(m, \Sigma_c / \nu)

The density of the covariance is proportional to :math:`|\Sigma|^{-(\kappa + p + 1)/2}
e^{-\mathrm{tr}(S \Sigma^{-1})/2}`. The name of a prior sets all four parameters. Each parameter can
also be set alone, as one value or as a mapping from class labels to values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from truerisk.core.arguments import as_array, is_number, mention, shown
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.frozen import frozen

Prior = Literal["proper", "improper", "flat", "jeffreys", "empirical"]
PRIORS = get_args(Prior)
FLAT_NU, PROPER_NU = 0.0, 0.5
_NO_DISTRIBUTION = (
    "kappa={:.15g} makes no distribution of covariances: an inverse Wishart prior of p features "
    "needs κ > p − 1; the default is p + 2. The words 'flat' and 'jeffreys' have κ = −(p + 2) and "
    "0, without S."
)


@frozen(eq=False)
class ClassPrior:
    """The prior of one class: κ, ν, the scale matrix S and the mean.

    A scale or mean of None is estimated from the rows. `excess` is κ − p, which does not change
    when features are left out: a block of an inverse Wishart matrix has a κ that is smaller by the
    number of features left out.
    """

    excess: float
    nu: float
    scale: float | np.ndarray | None
    mean: float | np.ndarray | None

    @property
    def is_usual(self) -> bool:
        """True if neither the number of features nor their order matters."""
        if isinstance(self.scale, np.ndarray) or isinstance(self.mean, np.ndarray):
            return False
        return (self.nu, self.excess, self.scale, self.mean) == (PROPER_NU, 2, 1, 0)

    def scatter(self, slopes: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Return βᵀSβ of every rule."""
        if isinstance(self.scale, np.ndarray):
            return np.asarray(np.einsum("ri,ij,rj->r", slopes, self.scale, slopes))
        return np.asarray(squares * float(self.scale or 0.0))

    def centre(self, slopes: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
        """Return the score of every rule at the prior mean m."""
        if isinstance(self.mean, np.ndarray):
            return np.asarray(intercepts + slopes @ self.mean)
        return np.asarray(intercepts + float(self.mean or 0.0) * slopes.sum(axis=1))

    def refuse_improper(self, p: int) -> None:
        """Raise if S is given and κ is too small for a distribution of covariances."""
        if self.excess <= -1 and (self.scale is None or np.any(self.scale)):
            raise Refusal(
                f"{_NO_DISTRIBUTION.format(self.excess + p)} Here p is {p}: give a kappa above "
                f"{p - 1}, or scale=0."
            )

    def refuse_too_few(self, name: str, n: int, p: int) -> None:
        """Raise if the class has too few rows for a proper posterior of the covariance."""
        least = max(int(np.floor(-self.excess)), 1)  # α = (n + κ − p + 1)/2 must be positive
        if self.scale is not None and not np.any(self.scale):
            least = max(least, p + (self.nu == 0))  # S is 0: the scatter itself must have full rank
        if n < least:
            raise Refusal(
                f"prior '{name}' has no posterior from {n} rows of a class and {p} features: "
                f"{least} rows are the fewest. The prior 'proper' needs one."
            )


def check_prior(prior: Any) -> None:
    """Raise if the name of the prior is unknown."""
    if not isinstance(prior, str) or prior not in PRIORS:
        words = ", ".join(f"'{name}'" for name in PRIORS)
        raise BadArgument(f"{mention('prior', prior)} is unknown: it is one of {words}.")


def check_parameters(prior: str, **given: Any) -> None:
    """Raise if parameters are invalid for every class.

    Sizes are checked later, against the rows.
    """
    parameters = {name: value for name, value in given.items() if value is not None}
    if prior == "improper" and parameters:
        raise BadArgument(
            f"{mention('prior', 'improper')} is one form without parameters, and "
            f"{', '.join(parameters)} is given: take 'proper', whose parameters they are."
        )
    for name, value in parameters.items():
        for one in _values_by_class(value):
            _check(name, one)
    if prior in ("proper", "empirical") and all(
        np.any(s) for s in _values_by_class(parameters.get("scale", 1))
    ):
        for kappa in _values_by_class(parameters.get("kappa", 1)):
            if not kappa > 0:
                raise BadArgument(_NO_DISTRIBUTION.format(kappa))


def _values_by_class(value: Any) -> Sequence[Any]:
    """Return the values of all classes, or the single value that all classes share, as a tuple."""
    return tuple(value.values()) if isinstance(value, Mapping) else (value,)


def as_tuples(value: Any) -> Any:
    """Convert arrays to nested tuples, also inside a mapping, and return other values unchanged."""
    if isinstance(value, Mapping):
        return {label: as_tuples(one) for label, one in value.items()}
    if np.ndim(value) == 0:
        return value.item() if isinstance(value, np.ndarray) else value
    return tuple(as_tuples(one) for one in np.asarray(value).tolist())


def _check(name: str, value: Any) -> None:
    if name in ("kappa", "nu"):
        if not is_number(value) or not np.isfinite(float(value)) or (name == "nu" and value < 0):
            what = "a number" if name == "kappa" else "a number of rows, 0 or more"
            raise BadArgument(
                f"{mention(name, value)} is not {what}; one for each class is a mapping from the "
                f"labels of y, such as {name}={{0: 7, 1: 8}}."
            )
        return
    try:
        array = as_array(value, np.float64)
    except ValueError:
        array = np.array(np.nan)
    most = 2 if name == "scale" else 1
    sound = np.isfinite(array).all() and array.ndim in (0, most) and not isinstance(value, bool)
    if sound and name == "scale":
        sound = bool(array >= 0) if array.ndim == 0 else _is_covariance(array)
    if not sound:
        what = (
            "a number from 0 on, or a symmetric matrix whose eigenvalues are above 0"
            if name == "scale"
            else "a number, or one for each feature"
        )
        raise BadArgument(f"{mention(name, value)} is not {what}.")


def _is_covariance(matrix: np.ndarray) -> bool:
    if matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T):
        return False
    values = np.linalg.eigvalsh(matrix)
    return bool(values.size and values.min() > 1e-12 * abs(values).max())


def refuse_singular(n: int, n_classes: int, p: int) -> None:
    """Raise if the covariance within the classes, estimated from the rows, has no full rank."""
    if n - n_classes < p:
        raise Refusal(
            f"prior 'empirical' takes the covariance within the classes for S, and that of {n} "
            f"rows in {n_classes} classes has no full rank for {p} features: use 'proper'."
        )


def class_priors(
    prior: str, given: Mapping[str, Any], labels: Sequence[Any], n_columns: int, p: int
) -> dict[int, ClassPrior]:
    """Return the prior of each class by its code; `p` of `n_columns` features have a spread."""
    return {
        code: _class_prior(
            prior, {name: _describe(name, value, label) for name, value in given.items()}, p
        )
        for code, label in enumerate(_sized(given, labels, n_columns))
    }


def _sized(given: Mapping[str, Any], labels: Sequence[Any], n_columns: int) -> Sequence[Any]:
    """Return the labels after checking that mappings cover all classes and arrays fit the table."""
    for name, value in given.items():
        every = value if isinstance(value, Mapping) else dict.fromkeys(labels, value)
        if isinstance(value, Mapping) and set(value) != set(labels):
            raise BadData(
                f"{name} has values for {shown(list(value))}, and the classes are "
                f"{shown(list(labels))}: give one for each class."
            )
        for one in every.values():
            if np.ndim(one) and np.shape(one)[0] != n_columns:
                raise BadData(f"{name} is for {np.shape(one)[0]} features; X has {n_columns}.")
    return labels


def _describe(name: str, value: Any, label: Any) -> Any:
    if isinstance(value, Mapping):
        value = value[label]
    if value is None or np.ndim(value) == 0:
        return value
    return np.asarray(value, dtype=np.float64)


def _class_prior(prior: str, given: Mapping[str, Any], p: int) -> ClassPrior:
    flat = prior in ("flat", "jeffreys")
    usual: dict[str, Any] = {
        "kappa": {"flat": -(p + 2), "jeffreys": 0}.get(prior, p + 2),
        "nu": FLAT_NU if flat else PROPER_NU,
        "scale": 0.0 if flat else None if prior == "empirical" else 1.0,
        "mean": None if prior == "empirical" else 0.0,
    }
    values = {name: usual[name] if value is None else value for name, value in given.items()}
    return ClassPrior(values["kappa"] - p, values["nu"], values["scale"], values["mean"])
