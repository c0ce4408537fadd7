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

from truerisk.core.arguments import as_array, is_number, mention, repr_on_one_line
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.frozen import frozen

PriorName = Literal["proper", "improper", "flat", "jeffreys", "empirical"]
PRIOR_NAMES = get_args(PriorName)
FLAT_NU, PROPER_NU = 0.0, 0.5
_KAPPA_TOO_SMALL_MESSAGE = (
    "kappa={:.15g} makes no distribution of covariances: an inverse Wishart prior of p features "
    "needs κ > p − 1; the default is p + 2. The words 'flat' and 'jeffreys' have κ = −(p + 2) and "
    "0, without S."
)


@frozen(eq=False)
class ClassPrior:
    """Prior of one class, with the parameters κ − p (`kappa_minus_p`), ν, S and m.

    S is the scale matrix and m the mean. A scale or mean of None is estimated from the rows.
    `kappa_minus_p` does not change when features are left out: a block of an inverse Wishart matrix
    has a κ that is smaller by the number of features left out.
    """

    kappa_minus_p: float
    nu: float
    scale: float | np.ndarray | None
    mean: float | np.ndarray | None

    @property
    def is_default(self) -> bool:
        """True if the prior has the default parameters κ = p + 2, ν = ½, S = I and m = 0."""
        if isinstance(self.scale, np.ndarray) or isinstance(self.mean, np.ndarray):
            return False
        return (self.nu, self.kappa_minus_p, self.scale, self.mean) == (PROPER_NU, 2, 1, 0)

    def scatter(self, slopes: np.ndarray, squared_norms: np.ndarray) -> np.ndarray:
        """Return βᵀSβ of every rule, where β are its coefficients and S is the scale matrix."""
        if isinstance(self.scale, np.ndarray):
            return np.asarray(np.einsum("ri,ij,rj->r", slopes, self.scale, slopes))
        return np.asarray(squared_norms * float(self.scale or 0.0))

    def score_at_mean(self, slopes: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
        """Return the score of every rule at the prior mean m."""
        if isinstance(self.mean, np.ndarray):
            return np.asarray(intercepts + slopes @ self.mean)
        return np.asarray(intercepts + float(self.mean or 0.0) * slopes.sum(axis=1))

    def refuse_improper(self, p: int) -> None:
        """Raise Refusal if S is not 0 and κ is too small for a distribution of covariances."""
        if self.kappa_minus_p <= -1 and (self.scale is None or np.any(self.scale)):
            raise Refusal(
                f"{_KAPPA_TOO_SMALL_MESSAGE.format(self.kappa_minus_p + p)} Here p is {p}: give a "
                "kappa above "
                f"{p - 1}, or scale=0."
            )

    def refuse_too_few_rows(self, name: str, n: int, p: int) -> None:
        """Raise Refusal if the class has too few rows for a proper posterior of the covariance."""
        min_rows = max(
            int(np.floor(-self.kappa_minus_p)), 1
        )  # This number of rows makes α = (n + κ − p + 1)/2 positive.
        if self.scale is not None and not np.any(self.scale):
            min_rows = max(
                min_rows, p + (self.nu == 0)
            )  # With S = 0, only the rows can give the scatter matrix full rank.
        if n < min_rows:
            raise Refusal(
                f"prior '{name}' has no posterior from {n} rows of a class and {p} features: "
                f"{min_rows} rows are the fewest. The prior 'proper' needs one."
            )


def check_prior(prior: Any) -> None:
    """Raise BadArgument if the name of the prior is unknown."""
    if not isinstance(prior, str) or prior not in PRIOR_NAMES:
        names_text = ", ".join(f"'{name}'" for name in PRIOR_NAMES)
        raise BadArgument(f"{mention('prior', prior)} is unknown: it is one of {names_text}.")


def check_parameters(prior: str, **arguments: Any) -> None:
    """Raise BadArgument if a parameter of the prior is invalid, whatever the data.

    The sizes of arrays are checked later, against the number of features.
    """
    parameters = {name: value for name, value in arguments.items() if value is not None}
    if prior == "improper" and parameters:
        raise BadArgument(
            f"{mention('prior', 'improper')} is one form without parameters, and "
            f"{', '.join(parameters)} is given: take 'proper', whose parameters they are."
        )
    for name, value in parameters.items():
        for class_value in _values_by_class(value):
            _check_parameter(name, class_value)
    if prior in ("proper", "empirical") and all(
        np.any(scale) for scale in _values_by_class(parameters.get("scale", 1))
    ):
        for kappa in _values_by_class(parameters.get("kappa", 1)):
            if not kappa > 0:
                raise BadArgument(_KAPPA_TOO_SMALL_MESSAGE.format(kappa))


def _values_by_class(value: Any) -> Sequence[Any]:
    """Return the values of a parameter in all classes, or its single value if they share it."""
    return tuple(value.values()) if isinstance(value, Mapping) else (value,)


def as_tuples(value: Any) -> Any:
    """Convert arrays to nested tuples, also inside a mapping, and return other values unchanged."""
    if isinstance(value, Mapping):
        return {label: as_tuples(class_value) for label, class_value in value.items()}
    if np.ndim(value) == 0:
        return value.item() if isinstance(value, np.ndarray) else value
    return tuple(as_tuples(class_value) for class_value in np.asarray(value).tolist())


def _check_parameter(name: str, value: Any) -> None:
    if name in ("kappa", "nu"):
        if not is_number(value) or not np.isfinite(float(value)) or (name == "nu" and value < 0):
            requirement = "a number" if name == "kappa" else "a number of rows, 0 or more"
            raise BadArgument(
                f"{mention(name, value)} is not {requirement}; one for each class is a mapping "
                f"from the labels of y, such as {name}={{0: 7, 1: 8}}."
            )
        return
    try:
        array = as_array(value, np.float64)
    except ValueError:
        array = np.array(np.nan)
    max_dims = 2 if name == "scale" else 1
    is_valid = (
        np.isfinite(array).all() and array.ndim in (0, max_dims) and not isinstance(value, bool)
    )
    if is_valid and name == "scale":
        is_valid = bool(array >= 0) if array.ndim == 0 else _is_covariance(array)
    if not is_valid:
        requirement = (
            "a number from 0 on, or a symmetric matrix whose eigenvalues are above 0"
            if name == "scale"
            else "a number, or one for each feature"
        )
        raise BadArgument(f"{mention(name, value)} is not {requirement}.")


def _is_covariance(matrix: np.ndarray) -> bool:
    if matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T):
        return False
    eigenvalues = np.linalg.eigvalsh(matrix)
    return bool(eigenvalues.size and eigenvalues.min() > 1e-12 * abs(eigenvalues).max())


def refuse_singular_covariance(n: int, n_classes: int, p: int) -> None:
    """Raise Refusal if the within-class covariance, estimated from n rows, has no full rank."""
    if n - n_classes < p:
        raise Refusal(
            f"prior 'empirical' takes the covariance within the classes for S, and that of {n} "
            f"rows in {n_classes} classes has no full rank for {p} features: use 'proper'."
        )


def class_priors(
    prior: str, parameters: Mapping[str, Any], labels: Sequence[Any], n_columns: int, p: int
) -> dict[int, ClassPrior]:
    """Return a dictionary from class codes to the priors of the classes.

    `p` is the number of features that are not constant, out of `n_columns` features.
    """
    return {
        class_code: _class_prior(
            prior,
            {name: _value_for_class(name, value, label) for name, value in parameters.items()},
            p,
        )
        for class_code, label in enumerate(_check_labels(parameters, labels, n_columns))
    }


def _check_labels(
    parameters: Mapping[str, Any], labels: Sequence[Any], n_columns: int
) -> Sequence[Any]:
    """Check parameters against the classes and columns of the data, and return the class labels.

    BadData is raised if a mapping lacks a class or an array has a wrong size.
    """
    for name, value in parameters.items():
        values_by_class = value if isinstance(value, Mapping) else dict.fromkeys(labels, value)
        if isinstance(value, Mapping) and set(value) != set(labels):
            raise BadData(
                f"{name} has values for {repr_on_one_line(list(value))}, and the classes are "
                f"{repr_on_one_line(list(labels))}: give one for each class."
            )
        for class_value in values_by_class.values():
            if np.ndim(class_value) and np.shape(class_value)[0] != n_columns:
                raise BadData(
                    f"{name} is for {np.shape(class_value)[0]} features; X has {n_columns}."
                )
    return labels


def _value_for_class(name: str, value: Any, label: Any) -> Any:
    if isinstance(value, Mapping):
        value = value[label]
    if value is None or np.ndim(value) == 0:
        return value
    return np.asarray(value, dtype=np.float64)


def _class_prior(prior: str, parameters: Mapping[str, Any], p: int) -> ClassPrior:
    is_flat = prior in ("flat", "jeffreys")
    defaults: dict[str, Any] = {
        "kappa": {"flat": -(p + 2), "jeffreys": 0}.get(prior, p + 2),
        "nu": FLAT_NU if is_flat else PROPER_NU,
        "scale": 0.0 if is_flat else None if prior == "empirical" else 1.0,
        "mean": None if prior == "empirical" else 0.0,
    }
    parameter_values = {
        name: defaults[name] if value is None else value for name, value in parameters.items()
    }
    return ClassPrior(
        parameter_values["kappa"] - p,
        parameter_values["nu"],
        parameter_values["scale"],
        parameter_values["mean"],
    )
