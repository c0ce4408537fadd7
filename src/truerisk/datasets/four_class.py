"""Four normal classes at equal distances: the multi-class problem of Huttunen and Tohka (2015).

The publication is called document 002 here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.core.arguments import check_count, check_flag, is_number, mention, to_random_generator
from truerisk.core.errors import BadArgument
from truerisk.core.frozen import frozen
from truerisk.datasets.bundle import Bundle
from truerisk.datasets.gaussian import Seed, TrueRisk, get_predict_function

N_GROUPS, FEATURES_PER_GROUP, N_CLASSES = 5, 3, 4
# The four points are the vertices of a regular tetrahedron with edges of length √2, one per class.
TETRAHEDRON_VERTICES = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / 2
# With `paired`, the class means in feature group g are the vertices times PAIRED_MEAN_FACTORS[g].
PAIRED_MEAN_FACTORS = np.array([1.3, 0, 1.3, 0, 1.3])
_TEST_ROWS = 100_000
_CHUNK_ROWS = 10_000


@frozen
class FourClassProblem:
    """Four equally likely normal classes with 15 informative features, and noise features.

    The 15 features form five groups of three; in each group the mean of class c is vertex c of a
    regular tetrahedron with edges √2. All variances are 1. In the first four groups the features
    have correlations of ± `correlation`, from one common factor along a vertex, which differs from
    group to group; hence any two classes are equally far from each other, and the difference
    between the error and the pairwise error is as large as it can be. The last group and the noise
    are independent.

    With `paired` the second and the fourth group have means of 0. Alone they are not informative,
    but each of their features has this correlation with the corresponding feature of the group
    before, whose noise it removes. The other three groups are 1.3 times as far apart; classes
    remain equally far from each other.

    Document 002 (the reference below) describes such a problem in its §4.2.1 and does not print the
    covariance. The covariance of the authors' own generator differs.

    Parameters
    ----------
    n_noise : int, default=6
        The number of noise features.
    correlation : float, default=0.6
        The absolute correlation within the first four groups.
    paired : bool, default=False
        If True, two groups inform only together with other groups.

    See Also
    --------
    truerisk.datasets.GaussianProblem : Problem with two normal classes.
    truerisk.datasets.sparse_gaussian : Problem with two classes and noise features.

    References
    ----------
    Huttunen H, Tohka J (2015). Model selection for linear classifiers using Bayesian error
    estimation. Pattern Recognition 48:3739–3748.

    Examples
    --------
    >>> problem = FourClassProblem()
    >>> X, y = problem(60, random_state=0)
    >>> X.shape, np.bincount(y).tolist(), round(problem.bayes_risk, 4)
    ((60, 21), [15, 15, 15, 15], 0.0533)
    """

    n_noise: int = 6
    correlation: float = 0.6
    paired: bool = False

    def __post_init__(self) -> None:
        check_count("n_noise", self.n_noise, 0, "it is no number of features")
        check_flag("paired", self.paired)
        if not is_number(self.correlation) or not 0 <= self.correlation < 1:
            raise BadArgument(
                f"{mention('correlation', self.correlation)} is not in 0 <= correlation < 1."
            )

    def with_noise_features(self, n_noise: int) -> FourClassProblem:
        """Return a problem with the same classes and the given number of noise features.

        Parameters
        ----------
        n_noise : int
            The number of noise features.

        Returns
        -------
        FourClassProblem
            The problem.
        """
        return replace(self, n_noise=n_noise)

    def __call__(
        self, n_samples: int = 100, *, shuffle: bool = True, random_state: Seed = None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Draw rows and labels; the numbers of rows of two classes differ by at most one.

        Parameters
        ----------
        n_samples : int, default=100
            The number of rows, divided equally among the classes; the first classes get the rows
            that remain.
        shuffle : bool, default=True
            Shuffle the rows; otherwise class 0 comes first.
        random_state : int, Generator or None, optional
            The seed, or the source of random numbers.

        Returns
        -------
        X : array, shape (n_samples, 15 + n_noise)
            The features.
        y : array, shape (n_samples,)
            The labels 0 to 3.
        """
        check_count(
            "n_samples",
            n_samples,
            N_CLASSES,
            "give at least 4, a whole number: no class may lack rows",
        )
        rng = to_random_generator(random_state)
        y = np.sort(np.arange(n_samples) % N_CLASSES)
        X = rng.standard_normal((n_samples, self.n_features))
        if self.paired:
            X[:] = X @ np.linalg.cholesky(self.covariance).T
        else:
            # The features of each of the first four groups share one random factor.
            # The direction of the factor is another vertex in each group.
            common_factors = rng.standard_normal((len(X), len(TETRAHEDRON_VERTICES)))
            for group, vertex in enumerate(TETRAHEDRON_VERTICES):
                group_columns = X[:, FEATURES_PER_GROUP * group : FEATURES_PER_GROUP * (group + 1)]
                group_columns *= np.sqrt(1 - self.correlation)
                group_columns += (
                    np.sqrt(self.correlation) * common_factors[:, [group]] * np.sign(vertex)
                )
        X += self.means[y]
        row_order = rng.permutation(n_samples) if shuffle else np.arange(n_samples)
        return X[row_order], y[row_order]

    def bundle(self, n_samples: int = 100, *, random_state: Seed = 0) -> Bundle:
        """Draw rows and return them as a data set; with the default seed they are always the same.

        Parameters
        ----------
        n_samples : int, default=100
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
            name="four-class",
            X=X,
            y=y,
            feature_names=tuple(f"x{j}" for j in range(1, self.n_features + 1)),
            task="classification",
            description=f"{n_samples} rows drawn: four normal classes around the vertices of a "
            f"tetrahedron, 15 features that tell them apart and {self.n_noise} that do not",
            source="after Huttunen and Tohka (2015), §4.2.1",
            class_names=tuple(f"class {c}" for c in range(N_CLASSES)),
        )

    @property
    def n_features(self) -> int:
        """Number of features: 15 informative features plus the noise features."""
        return N_GROUPS * FEATURES_PER_GROUP + self.n_noise

    @property
    def means(self) -> NDArray[np.float64]:
        """Class means, with one row per class and one column per feature."""
        mean_factors = np.repeat(PAIRED_MEAN_FACTORS, FEATURES_PER_GROUP) if self.paired else 1.0
        return np.hstack(
            [
                mean_factors * np.tile(TETRAHEDRON_VERTICES, N_GROUPS),
                np.zeros((N_CLASSES, self.n_noise)),
            ]
        )

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Covariance matrix of the features, which is the same within each class."""
        matrix = np.eye(self.n_features)
        if self.paired:
            for feature in (
                *range(FEATURES_PER_GROUP),
                *range(2 * FEATURES_PER_GROUP, 3 * FEATURES_PER_GROUP),
            ):
                paired_feature = feature + FEATURES_PER_GROUP
                matrix[feature, paired_feature] = matrix[paired_feature, feature] = self.correlation
            return matrix
        for group, vertex in enumerate(TETRAHEDRON_VERTICES):
            signs, group_slice = (
                np.sign(vertex),
                slice(FEATURES_PER_GROUP * group, FEATURES_PER_GROUP * (group + 1)),
            )
            matrix[group_slice, group_slice] += self.correlation * (
                np.outer(signs, signs) - np.eye(FEATURES_PER_GROUP)
            )
        return matrix

    @property
    def distance(self) -> float:
        """Mahalanobis distance between any two class means, which is equal for all pairs."""
        mean_difference = self.means[1] - self.means[0]
        return float(np.sqrt(mean_difference @ np.linalg.solve(self.covariance, mean_difference)))

    @property
    def bayes_risk(self) -> float:
        r"""Bayes risk, :math:`1 - \int \varphi(t)\,\Phi(t + D/\sqrt2)^3\,dt` (D: class distance).

        The class means are the vertices of a regular tetrahedron with edges of length D. The best
        rule finds the class of a row if the row is farther along its vertex than along the three
        others, which are four independent directions in one more dimension.
        """
        from scipy.integrate import quad
        from scipy.special import ndtr

        shift = self.distance / np.sqrt(2)

        def error_density(t: float) -> float:
            probability_right = ndtr(t + shift) ** (N_CLASSES - 1)
            return float(np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi) * (1 - probability_right))

        return float(quad(error_density, -10, 10, epsabs=1e-12, limit=200)[0])

    def bayes_rule(self, X: ArrayLike) -> NDArray[np.int64]:
        """Predict the labels of rows by the best rule: the class with the largest density.

        Parameters
        ----------
        X : array, shape (n_rows, n_features)
            The rows.

        Returns
        -------
        array of int, shape (n_rows,)
            Labels from 0 to 3.
        """
        slopes = np.linalg.solve(self.covariance, self.means.T)
        intercepts = -(self.means.T * slopes).sum(axis=0) / 2
        return np.argmax(np.asarray(X) @ slopes + intercepts, axis=1)

    def true_risk(self, rule: Any, *, n_test: int = _TEST_ROWS, random_state: Seed = 0) -> TrueRisk:
        """Measure the risk of a rule on `n_test` fresh rows, a quarter of them from each class.

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
        check_count("n_test", n_test, N_CLASSES)
        rng = to_random_generator(random_state)
        n_wrong, n_rows_of_class = np.zeros(N_CLASSES), np.zeros(N_CLASSES)
        for first_row in range(0, n_test, _CHUNK_ROWS):
            n_chunk_rows = max(min(_CHUNK_ROWS, n_test - first_row), N_CLASSES)
            X, y = self(n_chunk_rows, shuffle=False, random_state=rng)
            is_wrong = np.asarray(predict(X)).ravel() != y
            n_wrong += np.bincount(y[is_wrong], minlength=N_CLASSES)
            n_rows_of_class += np.bincount(y, minlength=N_CLASSES)
        error_rates = n_wrong / n_rows_of_class
        std_error = np.sqrt((error_rates * (1 - error_rates) / n_rows_of_class).sum()) / N_CLASSES
        return TrueRisk(float(error_rates.mean()), float(std_error), int(n_rows_of_class.sum()))


make_four_class = FourClassProblem()
"""Four classes with 15 informative and 6 noise features; the Bayes risk is .0533."""
