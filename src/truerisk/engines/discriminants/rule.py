"""Hyperparameters of linear discriminants: priors, divisor, solver, and the supported values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.arguments import as_array
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present
from truerisk.engines.discriminants.scatter import (
    FLAT_COLUMN_RATIO,
    RowsByClass,
    ScatterRoot,
    ScatterSpectrum,
    compute_scatter_root,
)
from truerisk.kernels.spectral import EPS
from truerisk.plan.answers import class_code_dtype

MAX_CONDITION_NUMBER = 1e8  # Largest accepted condition number of a shrunk scatter matrix.
# A difference between class means that is a smaller share of their size is rounding error.
MIN_SHARE_ABOVE_ROUNDING = 1e-12
TOLERANCE_SAFETY_FACTOR = 1.001
# MAX_ROUNDING_ERROR is the largest accepted bound on the rounding error of a score, relative to
# the score.
# Few data sets reach this bound, and the actual rounding error is seldom nearly as large.
MAX_ROUNDING_ERROR = 1e-8
# lstsq may drop directions with an eigenvalue below LSTSQ_CUTOFF times the largest.
LSTSQ_CUTOFF = 1e-13


@frozen(eq=False)
class DiscriminantRule:
    """Hyperparameters that determine how class means and a scatter matrix become class scores."""

    solver: str
    tol: float
    priors: np.ndarray | None
    divisor: str
    n_components: int | None

    @classmethod
    def from_settings(cls, settings: Sequence[Mapping[str, Any]]) -> DiscriminantRule:
        """Return one rule for hyperparameter settings that differ only in shrinkage and `tol`.

        The largest `tol` is used, since every smaller `tol` keeps the directions that it keeps.
        """
        check_present("truerisk.models.discriminant_analysis")
        from truerisk.models.discriminant_analysis import sklearn_lda_divides_by_n

        setting = settings[0]
        priors = setting["priors"]
        # Only settings with shrinkage may have the solver "auto", which then stands for "lsqr".
        solver = "lsqr" if setting["solver"] == "auto" else setting["solver"]
        return cls(
            solver,
            max(float(setting["tol"]) for setting in settings),
            None if priors is None else np.asarray(priors, dtype=np.float64),
            setting.get("divisor", "n" if sklearn_lda_divides_by_n(solver) else "n-K"),
            setting.get("n_components"),
        )

    @property
    def weighs_classes(self) -> bool:
        """True if the covariances of the classes are weighted by priors that the user gave."""
        return self.priors is not None and self.solver != "svd"

    def can_fit(self, class_sizes: np.ndarray, n_features: int) -> bool:
        """Return True if scikit-learn would fit classes of these sizes without an error."""
        n_classes, n_rows = len(class_sizes), class_sizes.sum()
        if (
            n_classes < 2
            or n_rows <= n_classes
            or (self.priors is not None and len(self.priors) != n_classes)
        ):
            return False
        return self.n_components is None or self.n_components <= min(n_classes - 1, n_features)

    def has_covariances(self, class_sizes: np.ndarray) -> np.ndarray:
        """Return True if each class has two rows, the minimum for scikit-learn's covariances."""
        return np.asarray((class_sizes > 1).all(axis=-1) | (self.solver == "svd"))

    def has_distinct_means(self, means: np.ndarray) -> np.ndarray:
        """Return True if the class means differ by more than rounding error.

        If they are equal, scikit-learn divides 0 by 0 and warns.
        """
        max_mean_difference, max_abs_mean = (
            np.ptp(means, axis=-2).max(axis=-1),
            np.abs(means).max(axis=(-1, -2)),
        )
        return np.asarray(
            (max_mean_difference > MIN_SHARE_ABOVE_ROUNDING * max_abs_mean)
            | (self.solver == "lsqr")
        )

    def log_priors(self, class_sizes: np.ndarray) -> np.ndarray:
        """Return the logarithms of the given priors, or of the class frequencies."""
        if self.priors is not None:
            return np.broadcast_to(np.log(self.priors), class_sizes.shape)
        return np.log(class_sizes / class_sizes.sum(axis=-1, keepdims=True))

    def distance_factor(self, sizes: np.ndarray) -> Any:
        """Return the factor for squared distances that accounts for the divisor of the scatter.

        It is 1 if the divisor is n.
        """
        n_rows = sizes.sum(axis=-1)
        return (
            (n_rows - sizes.shape[-1]) / n_rows if self.divisor == "n-K" else np.ones_like(n_rows)
        )

    def scatter_factors(self, class_sizes: np.ndarray) -> np.ndarray:
        """Return for each class the factor of its scatter matrix in the pooled scatter matrix."""
        if self.priors is not None and self.weighs_classes:
            return self.priors / class_sizes
        return np.broadcast_to(1 / class_sizes.sum(axis=-1, keepdims=True), class_sizes.shape)

    def has_full_rank(self, least_eigenvalue: np.ndarray) -> np.ndarray:
        """Return True if the scatter matrix has full rank by scikit-learn's criterion.

        `least_eigenvalue` is a lower bound on the eigenvalues of the scatter of the scaled columns.
        """
        if self.solver != "svd":
            return np.ones(np.shape(least_eigenvalue), dtype=bool)
        return np.asarray(least_eigenvalue > self.tol**2 * TOLERANCE_SAFETY_FACTOR)

    def keeps_all_directions(self, least_eigenvalue: Any, trace: Any) -> np.ndarray:
        """Return True if the least-squares solver drops no direction of a scatter matrix.

        The matrix is given by its trace and a lower bound on its eigenvalues. The solver drops
        eigenvalues below EPS times the largest eigenvalue of the unscaled columns.
        """
        if self.solver != "lsqr":
            return np.ones(np.shape(least_eigenvalue), dtype=bool)
        return np.asarray(least_eigenvalue > LSTSQ_CUTOFF * trace)

    def has_small_rounding_error(
        self, condition_number: Any, max_abs_value: float, coefficients: np.ndarray
    ) -> Any:
        """Return True if rounding in scikit-learn's estimator changes no score noticeably.

        Unless the solver is "svd", scikit-learn solves for uncentred class means with a scatter of
        this condition number, and multiplies the solution by uncentred rows. If the rows are far
        from 0 relative to the scatter, scores are small differences of large numbers.
        """
        if self.solver == "svd":
            return np.ones(np.shape(condition_number), dtype=bool)
        max_coefficient_norm = np.sqrt((coefficients**2).sum(axis=-1)).max(axis=-1)
        with np.errstate(over="ignore", invalid="ignore"):
            return (
                EPS * condition_number * max_abs_value * max_coefficient_norm <= MAX_ROUNDING_ERROR
            )

    def unshrunk_slopes(self, classes: RowsByClass) -> np.ndarray | None:
        """Return the product of the inverse scatter matrix and each centred class mean.

        These are the slopes without shrinkage. The result is None if scikit-learn would have to
        decide a rank, or if the result would have too few correct digits.
        """
        if classes.has_flat_columns:
            return None
        scatter_root = compute_scatter_root(
            *classes.scatter_rows(self.scatter_factors(classes.sizes))
        )
        centred_means = classes.means - classes.means.mean(axis=0)
        return self._reliable_slopes(scatter_root, classes, centred_means)

    def _reliable_slopes(
        self, scatter_root: ScatterRoot | None, classes: RowsByClass, centred_means: np.ndarray
    ) -> np.ndarray | None:
        if scatter_root is None or not self._accepts_root(scatter_root):
            return None
        condition_number = scatter_root.scatter_trace / scatter_root.unscaled_eigenvalue_bound
        if not self.has_small_rounding_error(
            condition_number, classes.max_abs_value, scatter_root.solve(classes.means)
        ):
            return None
        if self.solver == "svd" and len(centred_means) > 2:
            whitened_means = scatter_root.whiten(centred_means)
            class_priors = np.exp(self.log_priors(classes.sizes))
            if not has_distinct_means_for_svd(
                (whitened_means @ whitened_means.T)[None], class_priors[None], self.tol
            )[0]:
                return None
        return scatter_root.solve(centred_means)

    def _accepts_root(self, scatter_root: ScatterRoot) -> bool:
        return bool(
            self.keeps_all_directions(
                scatter_root.unscaled_eigenvalue_bound, scatter_root.scatter_trace
            )
        ) and bool(
            self.has_full_rank(np.asarray(scatter_root.scaled_eigenvalue_bound))
            or self.has_full_rank(np.asarray(scatter_root.smallest_scaled_eigenvalue()))
        )

    def scores(self, classes: RowsByClass, slopes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the log of prior times density of each row in each class, without a constant.

        The omitted constant is the same for all classes.
        """
        overall_mean = classes.means.mean(axis=0)
        centred_means = classes.means - overall_mean
        linear_scores = (rows - overall_mean) @ slopes.T - np.einsum(
            "kj,kj->k", centred_means, slopes
        ) / 2
        return self.log_priors(classes.sizes) + self.distance_factor(classes.sizes) * linear_scores


def solve_shrunk_system(
    spectrum: ScatterSpectrum, rows: np.ndarray, shrinkage: float, max_abs_value: float
) -> tuple[np.ndarray, float] | None:
    """Multiply rows by the inverse of a shrunk scatter matrix; also return its condition number.

    The shrunk matrix is (1 − s) A + s tr(A)/p I, where A is the scatter matrix, s the shrinkage and
    p the number of columns. The result is None if it would have too few correct digits.
    """
    added_variance = shrinkage * spectrum.trace / spectrum.n_features
    shrunk_eigenvalues = (1 - shrinkage) * spectrum.values + added_variance
    smallest_eigenvalue = added_variance if spectrum.has_null_space else shrunk_eigenvalues.min()
    if not (
        shrunk_eigenvalues.max() < MAX_CONDITION_NUMBER * smallest_eigenvalue
        and (FLAT_COLUMN_RATIO * max_abs_value) ** 2 <= added_variance
    ):
        return None
    rotated_rows = rows @ spectrum.vectors
    solution: np.ndarray = (rotated_rows / shrunk_eigenvalues) @ spectrum.vectors.T
    if spectrum.has_null_space:
        solution += (rows - rotated_rows @ spectrum.vectors.T) / added_variance
    return solution, float(shrunk_eigenvalues.max() / smallest_eigenvalue)


def has_distinct_means_for_svd(
    mean_products: np.ndarray, class_priors: np.ndarray, tol: float
) -> np.ndarray:
    """Return True for fits whose class means differ in all directions by scikit-learn's SVD solver.

    This solver drops directions in which the class means hardly differ. `products[i]` holds the
    inner products of the class means (from any origin) in the metric of the scatter.
    """
    centred_products = (
        mean_products - np.einsum("ij,ijk->ik", class_priors, mean_products)[:, None, :]
    )
    centred_products = (
        centred_products - np.einsum("ij,ikj->ik", class_priors, centred_products)[:, :, None]
    )
    is_finite = np.isfinite(centred_products).all(axis=(1, 2))
    root_priors = np.sqrt(class_priors)
    weighted_products = (
        root_priors[:, :, None]
        * np.where(is_finite[:, None, None], centred_products, 0)
        * root_priors[:, None, :]
    )
    eigenvalues = np.linalg.eigvalsh(weighted_products)
    largest_eigenvalue = eigenvalues[:, -1:]
    is_dropped = (eigenvalues > MIN_SHARE_ABOVE_ROUNDING * largest_eigenvalue) & (
        eigenvalues <= tol**2 * TOLERANCE_SAFETY_FACTOR * largest_eigenvalue
    )
    return is_finite & ~is_dropped.any(axis=1)


def shrinkage_of_setting(setting: Mapping[str, Any]) -> float:
    """Return the shrinkage of a hyperparameter setting, which is 0 if nothing is shrunk."""
    return float(setting["shrinkage"] or 0)


def setting_refusal(setting: Mapping[str, Any]) -> str | None:
    """Return why the engine does not support a hyperparameter setting, or None if it does."""
    solver, shrinkage = setting["solver"], setting["shrinkage"]
    if solver == "auto" and not shrinkage:
        return "solver='auto' stands for 'svd' if nothing is shrunk, and 'lsqr' else."
    if solver not in ("svd", "lsqr", "eigen", "auto"):
        return f"solver={solver!r} is no solver that it knows."
    if setting.get("covariance_estimator") is not None:
        return "a covariance_estimator is given."
    if isinstance(shrinkage, str):
        return f"shrinkage={shrinkage!r} is estimated anew on every train set."
    if shrinkage is not None and (solver == "svd" or not is_number_between(shrinkage, 0, 1)):
        return f"shrinkage={shrinkage!r} is none that solver '{solver}' takes."
    if not is_number_between(setting["tol"], 0, np.inf):
        return f"tol={setting['tol']!r} is no tolerance."
    if setting.get("divisor", "n") not in ("n", "n-K"):
        return f"divisor={setting['divisor']!r} is unknown."
    n_components = setting.get("n_components")
    if n_components is not None and not isinstance(n_components, int | np.integer):
        return f"n_components={n_components!r} is no number of components."
    if n_components is not None and n_components < 1:
        return f"n_components={n_components!r} is no number of components."
    return priors_refusal(setting["priors"])


def is_number_between(value: Any, lower_limit: float, upper_limit: float) -> bool:
    """Return True if a value is a number (not a bool) between two limits, inclusive."""
    is_number = isinstance(value, int | float | np.integer | np.floating)
    return is_number and not isinstance(value, bool) and bool(lower_limit <= value <= upper_limit)


def priors_refusal(priors: Any) -> str | None:
    """Return why class priors given by the user are invalid, or None if they are valid."""
    if priors is None:
        return None
    try:
        prior_array = as_array(priors, np.float64)
    except ValueError:
        return f"priors={priors!r} are no numbers."
    if (
        prior_array.ndim != 1
        or not (prior_array > 0).all()
        or not abs(prior_array.sum() - 1) <= 1e-5
    ):
        return "the priors are not positive shares that sum to 1."
    return None


TIE_TOLERANCE = 1e-9


def predictions_from_scores(
    scores: np.ndarray, present_classes: np.ndarray, request: Request, n_classes: int
) -> np.ndarray:
    """Convert class scores to the requested predictions; the last axis holds the present classes.

    `present_classes` holds the codes of these classes in ascending order.

    Scores are logarithms of joint densities, up to a constant that all classes share. A class that
    is not present has probability 0.
    """
    if request.response == "label":
        if len(present_classes) == 2:  # For two classes a comparison is faster than argmax.
            best_class = (scores[..., 1] > scores[..., 0]).astype(np.intp)
        else:
            best_class = scores.argmax(axis=-1)
        return present_classes.astype(class_code_dtype(n_classes))[best_class]
    if request.response == "score":
        return scores[..., 1] - scores[..., 0]
    joint_densities = np.exp(scores - scores.max(axis=-1, keepdims=True))
    probabilities = np.zeros((*scores.shape[:-1], n_classes))
    probabilities[..., present_classes] = joint_densities / joint_densities.sum(
        axis=-1, keepdims=True
    )
    return probabilities


def has_tied_labels(scores: np.ndarray, request: Request) -> np.ndarray:
    """Return True for rows whose two highest class scores are equal up to rounding.

    If no labels are requested, such ties do not matter and the mask is False everywhere.
    """
    if request.response != "label":
        return np.zeros(scores.shape[:-1], dtype=bool)
    two_best_scores = (
        scores if scores.shape[-1] == 2 else np.partition(scores, -2, axis=-1)[..., -2:]
    )
    margin, largest_score = (
        np.abs(two_best_scores[..., 1] - two_best_scores[..., 0]),
        np.abs(scores[..., 0]),
    )
    for class_index in range(1, scores.shape[-1]):
        largest_score = np.maximum(largest_score, np.abs(scores[..., class_index]))
    return margin <= TIE_TOLERANCE * (1 + largest_score)
