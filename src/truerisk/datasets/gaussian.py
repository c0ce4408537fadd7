"""Problems with two Gaussian classes, for which the Bayes risk and the risk of rules are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.core.arguments import check_count, is_count, mention, to_random_generator
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.datasets.bundle import Bundle

Seed = int | np.random.Generator | np.random.SeedSequence | None

Array = NDArray[np.float64]
Vector = tuple[float, ...]
Matrix = tuple[Vector, ...]

_TEST_ROWS = 100_000
_CHUNK_ROWS = 10_000


@frozen
class TrueRisk:
    """Risk measured on fresh rows, with the standard error of that measurement.

    Parameters
    ----------
    value : float
        The risk.
    std_error : float
        The standard error; 0 if the risk is exact.
    n_test : int
        The number of fresh rows; 0 if the risk is exact.

    See Also
    --------
    truerisk.datasets.GaussianProblem.true_risk : Measure the risk of a rule.

    Examples
    --------
    >>> import truerisk as tr
    >>> simple = tr.datasets.make_simple
    >>> risk = simple.true_risk(simple.bayes_rule, n_test=1000)
    >>> round(risk.value, 4), round(risk.std_error, 4), risk.n_test
    (0.161, 0.0116, 1000)
    """

    value: float
    std_error: float
    n_test: int


@frozen
class GaussianProblem:
    """Problem of two equally likely classes 0 and 1, with X ~ N(mean, covariance) in each class.

    Calling the problem draws rows from it.

    Parameters
    ----------
    name : str
        Name of the problem.
    means : tuple of two tuples of float
        The class means.
    covariances : tuple of two matrices
        The class covariances, as tuples of rows.
    description : str, optional
        What the problem is.
    source : str, optional
        Where the problem comes from.

    See Also
    --------
    truerisk.datasets.sparse_gaussian : Two normal classes with many noise features.
    truerisk.datasets.FourClassProblem : Problem with four normal classes.

    Examples
    --------
    >>> problem = GaussianProblem("pair", ((0.0,), (2.0,)), (((1.0,),), ((1.0,),)))
    >>> X, y = problem(10, random_state=0)
    >>> X.shape, y.tolist().count(1)
    ((10, 1), 5)
    >>> round(problem.bayes_risk, 4), round(problem.true_risk_linear([1.0], -1.0), 4)
    (0.1587, 0.1587)
    """

    name: str
    means: tuple[Vector, Vector]
    covariances: tuple[Matrix, Matrix]
    description: str = ""
    source: str = ""

    def __call__(
        self,
        n_samples: int | tuple[int, int] = 50,
        *,
        shuffle: bool = True,
        random_state: Seed = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Draw rows and labels; both classes get the same number of rows, or the given numbers.

        Parameters
        ----------
        n_samples : int or tuple of (int, int), default=50
            The number of rows, divided equally between the classes (class 0 gets an odd one), or
            the number of rows of each class.
        shuffle : bool, default=True
            Shuffle the rows; otherwise class 0 comes first.
        random_state : int, Generator or None, optional
            The seed, or the source of random numbers.

        Returns
        -------
        X : array, shape (n_samples, n_features)
            The features.
        y : array, shape (n_samples,)
            The labels 0 and 1.
        """
        n_per_class = _rows_per_class("n_samples", n_samples)
        rng = to_random_generator(random_state)
        X = np.vstack([self._draw_class_rows(rng, c, n_per_class[c]) for c in (0, 1)])
        y = np.repeat(np.array([0, 1]), n_per_class)
        row_order = rng.permutation(len(y)) if shuffle else np.arange(len(y))
        return X[row_order], y[row_order]

    def bundle(self, n_samples: int = 50, *, random_state: Seed = 0) -> Bundle:
        """Draw rows and return them as a data set; with the default seed they are always the same.

        Parameters
        ----------
        n_samples : int, default=50
            The number of rows.
        random_state : int, Generator or None, default=0
            The seed, or the source of random numbers.

        Returns
        -------
        Bundle
            The rows with names, task, description and source.
        """
        X, y = self(n_samples, random_state=random_state)
        return Bundle(
            name=self.name,
            X=X,
            y=y,
            feature_names=tuple(f"x{j}" for j in range(1, self.n_features + 1)),
            task="classification",
            description=f"{n_samples} rows drawn: {self.description}",
            source=self.source,
            class_names=("class 0", "class 1"),
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.means[0])

    @cached_property
    def bayes_risk(self) -> float:
        """Smallest risk that any rule can have, computed by an exact formula or by integration."""
        first_covariance, second_covariance = (
            np.array(covariance) for covariance in self.covariances
        )
        difference = np.subtract(self.means[1], self.means[0])
        # With equal covariances the risk is Phi(-half the Mahalanobis distance).
        if np.array_equal(first_covariance, second_covariance):
            distance = np.sqrt(difference @ np.linalg.solve(first_covariance, difference))
            return _normal_cdf(-distance / 2)
        return quadratic_bayes_risk(difference, first_covariance, second_covariance)

    def bayes_rule(self, X: ArrayLike) -> NDArray[np.int64]:
        """Predict the labels of rows by the best rule: the class with the larger density.

        Parameters
        ----------
        X : array, shape (n_rows, n_features)
            The rows.

        Returns
        -------
        array of int, shape (n_rows,)
            Labels 0 and 1.
        """
        rows = np.asarray(X, dtype=np.float64)
        log_densities = [_log_density(rows, self.means[c], self.covariances[c]) for c in (0, 1)]
        return (log_densities[1] > log_densities[0]).astype(np.int64)

    def true_risk_linear(self, coef: ArrayLike, intercept: float | ArrayLike) -> float:
        """Return the exact risk of the rule "class 1 where coef . x + intercept > 0".

        Given class c the score is normal, so that the error is a value of its distribution
        function.

        Parameters
        ----------
        coef : array, shape (n_features,)
            The coefficients of the rule.
        intercept : float
            The intercept of the rule.

        Returns
        -------
        float
            The risk.
        """
        coefficients = np.asarray(coef, dtype=np.float64).ravel()
        if len(coefficients) != self.n_features:
            raise BadData(
                f"coef has {len(coefficients)} entries and {self.name} has {self.n_features} "
                "features: "
                "give one coefficient per feature."
            )
        intercept_value = float(np.asarray(intercept, dtype=np.float64).reshape(()).item())
        return float(self.true_risks_linear(coefficients[None], np.array([intercept_value]))[0])

    def true_risks_linear(self, coefs: Array, intercepts: Array) -> Array:
        """Return the exact risks of many linear rules, "class 1 where coef . x + intercept > 0".

        Parameters
        ----------
        coefs : array, shape (n_rules, n_features)
            The coefficients of each rule.
        intercepts : array, shape (n_rules,)
            The intercept of each rule.

        Returns
        -------
        array, shape (n_rules,)
            The risk of each rule.
        """
        from scipy.special import ndtr

        errors = []
        for label, (mean, covariance) in enumerate(zip(*self._means_and_covariances, strict=True)):
            with np.errstate(divide="ignore", invalid="ignore"):
                mean_scores = coefs @ mean + intercepts
                score_deviations = np.sqrt((coefs @ covariance * coefs).sum(axis=1))
                error_rates = ndtr(
                    mean_scores / (score_deviations if label == 0 else -score_deviations)
                )
            # If a rule's scores have no spread within a class, it predicts one label for all its
            # rows.
            errors.append(np.where(score_deviations == 0, (mean_scores > 0) != label, error_rates))
        return np.mean(errors, axis=0)

    def true_risk(
        self,
        rule: Any,
        *,
        n_test: int = _TEST_ROWS,
        random_state: Seed = 0,
    ) -> TrueRisk:
        """Measure the risk of a rule on `n_test` fresh rows, half of them from each class.

        Parameters
        ----------
        rule : fitted classifier or callable
            A model with `predict`, or a function of rows that returns labels.
        n_test : int, default=100000
            The number of fresh rows.
        random_state : int, Generator or None, default=0
            The seed of the fresh rows. It is fixed by default, so that two rules are measured on
            the same rows.

        Returns
        -------
        TrueRisk
            The measured risk with its standard error.
        """
        predict = get_predict_function(rule)
        n_per_class = _rows_per_class("n_test", n_test)
        rng = to_random_generator(random_state)
        error_rates = [
            self._count_errors(predict, rng, c, n_per_class[c]) / n_per_class[c] for c in (0, 1)
        ]
        variance = sum(
            rate * (1 - rate) / n_class_rows
            for rate, n_class_rows in zip(error_rates, n_per_class, strict=True)
        )
        return TrueRisk(sum(error_rates) / 2, float(np.sqrt(variance)) / 2, sum(n_per_class))

    @cached_property
    def _means_and_covariances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.array(self.means), np.array(self.covariances)

    def rotated(self, degrees: float) -> GaussianProblem:
        """Return the problem with rows multiplied by [[cos, -sin], [sin, cos]] (two features only).

        The Bayes risk does not change, but the problem becomes harder for rules that depend on the
        axes.

        Parameters
        ----------
        degrees : float
            The angle in degrees.

        Returns
        -------
        GaussianProblem
            The rotated problem.
        """
        if self.n_features != 2:
            raise BadData(f"{self.name} has {self.n_features} features; only a plane is rotated.")
        angle = np.deg2rad(degrees)
        cos, sin = np.cos(angle), np.sin(angle)
        rotation = np.array([[cos, -sin], [sin, cos]])
        means, covariances = self.means, self.covariances
        return replace(
            self,
            name=f"{self.name}, rotated {degrees:.15g} degrees",
            means=(_rotate_mean(means[0], rotation), _rotate_mean(means[1], rotation)),
            covariances=(
                _rotate_covariance(covariances[0], rotation),
                _rotate_covariance(covariances[1], rotation),
            ),
        )

    def _draw_class_rows(self, rng: np.random.Generator, label: int, n: int) -> NDArray[np.float64]:
        cholesky_factor = np.linalg.cholesky(np.array(self.covariances[label]))
        noise = rng.standard_normal((n, self.n_features))
        return np.array(self.means[label]) + noise @ cholesky_factor.T

    def _count_errors(
        self, predict: Callable[[Any], Any], rng: np.random.Generator, label: int, n: int
    ) -> int:
        n_wrong = 0
        for first_row in range(0, n, _CHUNK_ROWS):
            rows = self._draw_class_rows(rng, label, min(_CHUNK_ROWS, n - first_row))
            n_wrong += int((np.asarray(predict(rows)).ravel() != label).sum())
        return n_wrong


def get_predict_function(rule: Any) -> Callable[[Any], Any]:
    """Return the function that predicts labels of rows: `rule.predict` if present, else `rule`."""
    predict: Any = getattr(rule, "predict", rule)
    if not callable(predict) or isinstance(rule, type):
        raise BadArgument(
            f"{mention('rule', rule)}: give a fitted classifier, or a function from rows to labels."
        )
    return predict


def _rows_per_class(name: str, n_rows: Any) -> tuple[int, int]:
    """Return the number of rows of each class, given both numbers or one number to be halved."""
    if not isinstance(n_rows, tuple):
        check_count(name, n_rows, 2, "give at least 2, a whole number: no class may lack rows")
        return (n_rows + 1) // 2, n_rows // 2
    if len(n_rows) != 2 or not all(map(is_count, n_rows)):
        raise BadArgument(
            f"{mention(name, n_rows)}: give the rows of both classes, at least one of each: (30, "
            "20)."
        )
    return n_rows[0], n_rows[1]


def _rotate_mean(mean: Vector, rotation: NDArray[np.float64]) -> Vector:
    return tuple((np.array(mean) @ rotation).tolist())


def _rotate_covariance(covariance: Matrix, rotation: NDArray[np.float64]) -> Matrix:
    matrix = rotation.T @ np.array(covariance) @ rotation
    return tuple(tuple(row) for row in ((matrix + matrix.T) / 2).tolist())


def _log_density(
    rows: NDArray[np.float64], mean: Vector, covariance: Matrix
) -> NDArray[np.float64]:
    """Return the log density of each row, up to the constant that both classes share."""
    matrix = np.array(covariance)
    centred = rows - np.array(mean)
    squared_distances = np.einsum("ij,ij->i", centred, np.linalg.solve(matrix, centred.T).T)
    return -(squared_distances + np.linalg.slogdet(matrix)[1]) / 2


# Integration limits on each side of the mean, in standard deviations.
# The probability outside of these limits is 1e-32.
_LIMITS_IN_DEVIATIONS = (-12, -6, 0, 6, 12)
_NEGLIGIBLE_SLOPE = 1e-12


def quadratic_bayes_risk(
    difference: Array, first_covariance: Array, second_covariance: Array
) -> float:
    """Return half the overlap of the two class densities, accurate to about 1e-10.

    This is the Bayes risk of classes with the distributions N(0, first_covariance) and
    N(difference, second_covariance).

    In the coordinates z in which the classes are N(0, I) and N(m, diag(d)) the log density
    ratio is a sum of one quadratic per axis. Given z1, class 1 is the more likely where a
    quadratic in z2 is positive: a set bounded by its roots, whose probability under each
    class is known. One integral over z1 remains.
    """
    if len(difference) != 2:
        raise Refusal(
            f"the Bayes risk of {len(difference)} features with unequal covariances is not "
            "covered: only two features are; measure it with true_risk(problem.bayes_rule)."
        )
    m, d = _standardise_classes(difference, first_covariance, second_covariance)
    a = (1 - 1 / d) / 2
    b = m / d
    # The log density ratio is sum_j a_j z_j^2 + b_j z_j + c_j.
    c = -(m**2 / d + np.log(d)) / 2
    # If only one axis has a quadratic term, the inner integral is over this axis.
    if abs(a[1]) < _NEGLIGIBLE_SLOPE:
        m, d, a, b, c = m[::-1], d[::-1], a[::-1], b[::-1], c[::-1]
    return _overlap_of_normals(m, d, a, b, c) / 2


def _standardise_classes(
    difference: Array, first_covariance: Array, second_covariance: Array
) -> tuple[Array, Array]:
    inverse_root = np.linalg.inv(np.linalg.cholesky(first_covariance))
    eigenvalues, eigenvectors = np.linalg.eigh(inverse_root @ second_covariance @ inverse_root.T)
    return eigenvectors.T @ inverse_root @ difference, eigenvalues


def _overlap_of_normals(m: Array, d: Array, a: Array, b: Array, c: Array) -> float:
    from scipy.integrate import quad

    def overlap_density(z1: float) -> float:
        class_1_probabilities = _prob_quadratic_positive(
            a[1], b[1], c[1] + a[0] * z1**2 + b[0] * z1 + c[0], m[1], d[1]
        )
        class_0_probability = 1 - class_1_probabilities[1]
        return (
            _normal_density(z1, 0.0, 1.0) * class_1_probabilities[0]
            + _normal_density(z1, m[0], d[0]) * class_0_probability
        )

    # The range of z1 is cut so that no interval is much wider than the densities in it.
    means_and_deviations = ((0.0, 1.0), (float(m[0]), float(np.sqrt(d[0]))))
    integration_limits = {
        mean + n_deviations * deviation
        for mean, deviation in means_and_deviations
        for n_deviations in _LIMITS_IN_DEVIATIONS
    }
    intervals = list(pairwise(sorted(integration_limits)))
    integrals = [
        quad(overlap_density, low, high, epsabs=1e-12, limit=200)[0] for low, high in intervals
    ]
    return float(sum(integrals))


def _prob_quadratic_positive(
    a: float, b: float, c: float, m: float, d: float
) -> tuple[float, float]:
    """Return the probability that a z^2 + b z + c > 0 under each of two normal distributions of z.

    The distributions are N(0, 1) and N(m, d), where d is a variance.
    """
    if abs(a) < _NEGLIGIBLE_SLOPE:
        return _prob_linear_positive(b, c, 0.0, 1.0), _prob_linear_positive(b, c, m, d)
    discriminant = b * b - 4 * a * c
    if discriminant <= 0:
        constant_probability = float(a > 0)
        return constant_probability, constant_probability
    root_of_discriminant = np.sqrt(discriminant)
    low, high = sorted(
        ((-b - root_of_discriminant) / (2 * a), (-b + root_of_discriminant) / (2 * a))
    )
    probabilities_between = [
        _normal_cdf(high, *mean_and_variance) - _normal_cdf(low, *mean_and_variance)
        for mean_and_variance in ((0.0, 1.0), (m, d))
    ]
    return (
        (1 - probabilities_between[0], 1 - probabilities_between[1])
        if a > 0
        else (probabilities_between[0], probabilities_between[1])
    )


def _prob_linear_positive(b: float, c: float, m: float, d: float) -> float:
    """Return the probability that b z + c > 0 if z has mean m and variance d.

    The distribution of z is normal.
    """
    if b == 0:
        return float(c > 0)
    probability_below = _normal_cdf(-c / b, m, d)
    return 1 - probability_below if b > 0 else probability_below


def _normal_cdf(z: float, mean: float = 0.0, variance: float = 1.0) -> float:
    from scipy.special import ndtr

    return float(ndtr((z - mean) / np.sqrt(variance)))


def _normal_density(z: float, mean: float, variance: float) -> float:
    return float(np.exp(-((z - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance))
