"""Engine for quadratic discriminants: one decomposition per class serves all left-out rows.

The scatter matrix B of a class of n_c rows is decomposed once: for every value r of `reg_param` the
covariance (1 − r) B/n_c + r I has the eigenvectors of B. If a row x of class c is left out, only
that class changes. With the class mean m_c, d = x − m_c and a = n_c/(n_c − 1), its scatter is
B − a d d'. In the metric of (1 − r) B/(n_c − 1) + r I let t = d'd, and let g be the factor by which
d d' is subtracted there. Then the squared distance becomes a² t / (1 − g t), and the determinant is
multiplied by 1 − g t. If scikit-learn would warn of a deficient rank, its estimator is fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.discriminants.left_out import LeaveOneOutFits
from truerisk.engines.discriminants.rule import (
    has_tied_labels,
    is_number_between,
    predictions_from_scores,
    priors_refusal,
)
from truerisk.engines.discriminants.scatter import (
    FLAT_COLUMN_RATIO,
    RowsByClass,
    ScatterRoot,
    compute_scatter_root,
    compute_scatter_spectrum,
    squared_row_lengths,
)
from truerisk.engines.settings import Group
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.plan.plan import Plan

# Smallest accepted value of 1 − leverage; at 0 the scatter matrix without the row is singular.
MIN_ONE_MINUS_LEVERAGE = 1e-5


@frozen
class QuadraticDiscriminants(OnePass):
    """Engine for QuadraticDiscriminantAnalysis and QuadraticDiscriminant, also in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.LinearDiscriminants : Engine for linear discriminant analysis.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> engine = tr.engines.QuadraticDiscriminants()
    >>> tr.estimate_risk(tr.models.QuadraticDiscriminant(), X, y, engine=engine).engine
    'quadratic'
    """

    name: ClassVar[str] = "quadratic"
    along: ClassVar[tuple[str, ...]] = ("reg_param",)
    weighted: ClassVar[bool] = False

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

        check_present("truerisk.models.discriminant_analysis")
        from truerisk.models.discriminant_analysis import QuadraticDiscriminant

        return QuadraticDiscriminantAnalysis, QuadraticDiscriminant

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        return _setting_refusal(setting)

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        prior_lengths = {
            len(setting["priors"]) for setting in family.settings if setting["priors"] is not None
        }
        if prior_lengths - {data.n_classes}:
            return f"there are {min(prior_lengths)} priors, and y has {data.n_classes} classes."
        if family.is_piped:
            return None
        sizes, p = data.class_sizes, np.shape(data.X)[1]
        if sizes.min() <= p:
            rarest_label = data.label(int(sizes.argmin()))
            return (
                f"the scatter of class {rarest_label!r} ({sizes.min()} rows, {p} columns) has no "
                "inverse."
            )
        return None

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        is_computed = np.zeros(task.plan.n_fits, dtype=bool)
        loo_fits = LeaveOneOutFits.from_plan(task.plan)
        if task.X is None or not len(loo_fits.fits):
            return is_computed
        classes = RowsByClass.from_rows(task.X, task.data.class_codes)
        class_distributions = _class_distributions(classes, task.group)
        if class_distributions is None:
            return is_computed
        scores, is_reliable = _scores_without_each_row(
            classes, class_distributions, task.group.settings[0]
        )
        sorted_positions = classes.position_of_row[loo_fits.rows]
        is_computed[loo_fits.fits] = True
        for candidate_index in range(len(scores)):
            is_requested, is_row_reliable = (
                loo_fits.needs_candidate(task, candidate_index),
                is_reliable[candidate_index, sorted_positions],
            )
            can_be_stored = is_requested & is_row_reliable
            loo_fits.take(can_be_stored).store_predictions(
                task,
                candidate_index,
                scores[candidate_index, sorted_positions[can_be_stored]],
                classes.present_classes,
            )
            is_computed[loo_fits.fits[is_requested & ~is_row_reliable]] = False
        return is_computed

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        classes = RowsByClass.from_rows(shown.X, shown.y, shown.times)
        setting = group.settings[0]
        class_distributions = _class_distributions(classes, group)
        priors = setting["priors"]
        if class_distributions is None or (
            priors is not None and len(priors) != len(classes.present_classes)
        ):
            return None
        predictions = []
        is_unresolved = ~np.all(
            [distribution.has_full_rank for distribution in class_distributions], axis=0
        )
        for rows in tests:
            scores = np.stack(
                [distribution.log_densities(rows) for distribution in class_distributions], axis=-1
            )
            scores += _log_priors(setting, classes.sizes)
            is_unresolved |= has_tied_labels(scores, task.request).any(axis=1)
            predictions.append(
                predictions_from_scores(
                    scores, classes.present_classes, task.request, task.data.n_classes
                )
            )
        if is_unresolved.any():
            task.leave_open(shown.fit, group.candidates[is_unresolved])
        return predictions


def _class_distributions(classes: RowsByClass, group: Group) -> list[ClassDistribution] | None:
    """Return the normal distribution of each class; None if one is singular for a candidate."""
    if len(classes.present_classes) < 2:
        return None
    reg_params = group.values("reg_param").astype(np.float64)
    setting = group.settings[0]
    class_distributions = [
        class_distribution_of_rows(classes, class_index, reg_params, setting)
        for class_index in range(len(classes.present_classes))
    ]
    return (
        None
        if any(distribution is None for distribution in class_distributions)
        else [
            class_distribution
            for class_distribution in class_distributions
            if class_distribution is not None
        ]
    )


def _scores_without_each_row(
    classes: RowsByClass, class_distributions: list[ClassDistribution], setting: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the class scores of each row by the fits without it, and a mask of reliable scores.

    The rows are in the order of `classes.centred_table`.
    """
    class_sizes, n_classes = classes.sizes, len(class_distributions)
    has_full_rank = np.array(
        [class_distribution.has_full_rank for class_distribution in class_distributions]
    )
    scores = np.zeros((has_full_rank.shape[1], n_classes, len(classes.centred_table)))
    is_reliable = np.zeros((len(scores), len(classes.centred_table)), dtype=bool)
    centred_buffer = np.empty((int(class_sizes.max()), classes.n_features))
    for reduced_class in range(n_classes):
        smaller_distribution = class_distributions[reduced_class].with_class_size(
            class_sizes[reduced_class] - 1
        )
        if smaller_distribution is None:
            continue
        row_slice = classes.class_slice(reduced_class)
        is_reduced_class = np.arange(n_classes) == reduced_class
        have_others_full_rank = has_full_rank[~is_reduced_class].all(axis=0)
        log_priors = _log_priors(setting, class_sizes - is_reduced_class)
        for class_index, class_distribution in enumerate(class_distributions):
            squared_coordinates = class_distribution.squared_coordinates(
                classes.centre_on_class(class_index, reduced_class, centred_buffer)
            )
            if class_index == reduced_class:
                log_densities, is_row_reliable = _log_densities_without_row(
                    smaller_distribution, squared_coordinates
                )
                is_reliable[:, row_slice] = is_row_reliable & have_others_full_rank[:, None]
            else:
                log_densities = class_distribution.log_densities_from_squares(squared_coordinates)
            np.add(log_densities, log_priors[class_index], out=scores[:, class_index, row_slice])
    return scores.transpose(0, 2, 1), is_reliable


def _log_densities_without_row(
    smaller_distribution: ClassDistribution, squared_coordinates: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's log density in its class without the row, and a mask of reliable rows."""
    size_ratio = (smaller_distribution.class_size + 1) / smaller_distribution.class_size
    distances = smaller_distribution.distances(squared_coordinates)
    one_minus_leverage = (
        -size_ratio * (1 - smaller_distribution.reg_params) / smaller_distribution.divisor
    )[:, None] * distances
    one_minus_leverage += 1
    min_one_minus_leverage = np.maximum(
        MIN_ONE_MINUS_LEVERAGE,
        smaller_distribution.tol
        * RANK_SAFETY_FACTOR
        / smaller_distribution.sklearn_eigenvalue_bound,
    )
    is_reliable: np.ndarray = one_minus_leverage > min_one_minus_leverage[:, None]
    if not is_reliable.all():
        one_minus_leverage[~is_reliable] = 1
    distances /= one_minus_leverage
    distances *= -(size_ratio**2) / 2
    log_determinants = np.log(one_minus_leverage, out=one_minus_leverage)
    log_determinants += smaller_distribution.log_determinants[:, None]
    log_determinants /= 2
    distances -= log_determinants
    return distances, is_reliable


def _log_priors(setting: Mapping[str, Any], class_sizes: np.ndarray) -> np.ndarray:
    priors = setting["priors"]
    return np.log(class_sizes / class_sizes.sum() if priors is None else np.asarray(priors))


def _setting_refusal(setting: Mapping[str, Any]) -> str | None:
    if setting.get("solver", "svd") != "svd":
        return f"solver={setting['solver']!r} is not 'svd'."
    if setting.get("shrinkage") is not None or setting.get("covariance_estimator") is not None:
        return "shrinkage or a covariance_estimator is given."
    if not is_number_between(setting["reg_param"], 0, 1):
        return f"reg_param={setting['reg_param']!r} does not lie between 0 and 1."
    if not is_number_between(setting["tol"], 0, np.inf):
        return f"tol={setting['tol']!r} is no tolerance."
    if setting.get("divisor", _sklearn_divisor_name()) not in DIVISOR_REDUCTION:
        return f"divisor={setting['divisor']!r} is unknown."
    return priors_refusal(setting["priors"])


RANK_SAFETY_FACTOR = 1 + 1e-6
# The divisor of a scatter is the number of rows minus DIVISOR_REDUCTION.
DIVISOR_REDUCTION = {"n": 0, "n-1": 1}
# Smallest accepted scale of a column, as a share of the largest column's scale.
MIN_COLUMN_SCALE_RATIO = 1e-11
# An eigenvalue below this share of the largest eigenvalue is nothing but rounding error.
LEAST_EIGENVALUE_RATIO = 1e-13


@frozen(eq=False)
class ClassDistribution:
    """Normal distribution of one class, whose covariance depends on a regularization parameter.

    It is stored for every parameter in `reg_params`. Row j of `inverse_variances` has the inverse
    variances for `reg_params[j]`. `eigenvalues` are those of the scatter matrix, and `axes` its
    eigenvectors. If `axes` is a Cholesky root instead, which whitens the scatter, all eigenvalues
    are 1 and `reg_params` is 0.
    """

    mean: np.ndarray
    class_size: float
    axes: np.ndarray | ScatterRoot
    eigenvalues: np.ndarray
    reg_params: np.ndarray
    setting: Mapping[str, Any]

    @property
    def tol(self) -> float:
        """The parameter `tol` of the group's first candidate."""
        return float(self.setting["tol"])

    @cached_property
    def divisor(self) -> float:
        """Number by which the scatter matrix is divided to get the covariance."""
        return scatter_divisor(self.setting, self.class_size)

    def with_class_size(self, class_size: float) -> ClassDistribution | None:
        """Return the distribution with another number of rows, or None if these are too few."""
        if class_size <= len(self.mean):
            return None
        return ClassDistribution(
            self.mean, class_size, self.axes, self.eigenvalues, self.reg_params, self.setting
        )

    @cached_property
    def inverse_variances(self) -> np.ndarray:
        """Inverse variances along the eigenvectors, one row for each regularization parameter."""
        return 1 / self._variances(self.divisor)

    @cached_property
    def log_determinants(self) -> np.ndarray:
        """Logarithm of the determinant of the covariance, for each regularization parameter."""
        log_inverse_variances: np.ndarray = np.log(self.inverse_variances)
        if isinstance(self.axes, ScatterRoot):  # With a root, all inverse variances are equal.
            log_determinants: np.ndarray = self.axes.log_determinant - log_inverse_variances[
                :, 0
            ] * len(self.mean)
        else:
            log_determinants = -log_inverse_variances.sum(axis=1)
        return log_determinants

    @cached_property
    def sklearn_eigenvalue_bound(self) -> np.ndarray:
        """Lower bound on the eigenvalues that the covariance has with scikit-learn's divisor."""
        sklearn_divisor = scatter_divisor({}, self.class_size)
        if isinstance(self.axes, ScatterRoot):
            lower_bounds: np.ndarray = np.array(
                [self.axes.unscaled_eigenvalue_bound / sklearn_divisor]
            )
        else:
            lower_bounds = self._variances(sklearn_divisor).min(axis=1)
        return lower_bounds

    @cached_property
    def has_full_rank(self) -> np.ndarray:
        """Mask of the candidates for which scikit-learn regards the covariance as of full rank."""
        is_full_rank: np.ndarray = self.sklearn_eigenvalue_bound > self.tol * RANK_SAFETY_FACTOR
        if isinstance(self.axes, ScatterRoot) and not is_full_rank.all():
            sklearn_divisor = scatter_divisor({}, self.class_size)
            exact_bounds = np.array([self.axes.smallest_unscaled_eigenvalue() / sklearn_divisor])
            is_full_rank = exact_bounds > self.tol * RANK_SAFETY_FACTOR
        return is_full_rank

    def squared_coordinates(self, centred_rows: np.ndarray) -> np.ndarray:
        """Return the squared coordinates of centred rows along `axes`.

        If `axes` is a Cholesky root, return only the sum of the squares of each row. The array of
        centred rows may be overwritten.
        """
        if isinstance(self.axes, ScatterRoot):
            whitened_rows = self.axes.whiten(centred_rows, overwrite=True)
            squared_lengths = squared_row_lengths(whitened_rows)
            return squared_lengths.reshape(-1, 1)
        squared_coordinates: np.ndarray = centred_rows @ self.axes
        squared_coordinates *= squared_coordinates
        return squared_coordinates

    def log_densities_from_squares(self, squared_coordinates: np.ndarray) -> np.ndarray:
        """Return the log density of each row for every candidate, without a constant.

        The omitted constant is the same for all classes.
        """
        return -(self.distances(squared_coordinates) + self.log_determinants[:, None]) / 2

    def distances(self, squares: np.ndarray) -> np.ndarray:
        """Return each row's squared Mahalanobis distance from the mean, for every candidate.

        The centred rows are given by the squares of their coordinates.
        """
        weights = (
            self.inverse_variances[:, :1]
            if isinstance(self.axes, ScatterRoot)
            else self.inverse_variances
        )
        return weights @ squares.T

    def log_densities(self, rows: np.ndarray) -> np.ndarray:
        """Compute the log density of each row under this class, up to a constant."""
        return self.log_densities_from_squares(self.squared_coordinates(rows - self.mean))

    def _variances(self, divisor: float) -> np.ndarray:
        reg_params = self.reg_params[:, None]
        return (1 - reg_params) * self.eigenvalues / divisor + reg_params


def class_distribution_of_rows(
    classes: RowsByClass, class_index: int, reg_params: np.ndarray, setting: Mapping[str, Any]
) -> ClassDistribution | None:
    """Return the normal distribution of a class for every regularization parameter.

    It is None if the scatter matrix cannot be inverted or has too few correct digits.
    """
    rows, mean = classes.scatter_rows_of_class(class_index), classes.means[class_index]
    class_size, p = float(classes.sizes[class_index]), classes.n_features
    if len(rows) <= p:
        return None
    if len(reg_params) == 1 and reg_params[0] == 0:
        scatter_root = compute_scatter_root(rows)
        if (
            scatter_root is None
            or (
                scatter_root.column_scales
                <= class_size**0.5 * FLAT_COLUMN_RATIO * classes.max_abs_by_column
            ).any()
        ):
            return None
        # An SVD of the rows would lose a column whose scale is so small relative to the others.
        if (
            scatter_root.column_scales.min()
            < MIN_COLUMN_SCALE_RATIO * scatter_root.column_scales.max()
        ):
            return None
        return ClassDistribution(mean, class_size, scatter_root, np.ones(p), reg_params, setting)
    if (FLAT_COLUMN_RATIO * classes.max_abs_value) ** 2 > reg_params.min() and classes.is_flat(
        class_index
    ):
        return None
    spectrum = compute_scatter_spectrum(rows)
    if (
        reg_params.min() == 0
        and spectrum.values.min() <= LEAST_EIGENVALUE_RATIO * spectrum.values.max()
    ):
        return None
    return ClassDistribution(
        mean, class_size, spectrum.vectors, spectrum.values, reg_params, setting
    )


def scatter_divisor(setting: Mapping[str, Any], n_rows: float) -> float:
    """Return the number by which a scatter matrix of this many rows is divided."""
    return n_rows - DIVISOR_REDUCTION[setting.get("divisor", _sklearn_divisor_name())]


@cache
def _sklearn_divisor_name() -> str:
    check_present("truerisk.models.discriminant_analysis")
    from truerisk.models.discriminant_analysis import sklearn_qda_divides_by_n

    return "n" if sklearn_qda_divides_by_n() else "n-1"
