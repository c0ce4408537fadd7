"""Problems with a known risk: pairs of Gaussian classes, and intervals on a line (Kearns)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.core.arguments import check_count, check_number, to_random_generator
from truerisk.core.errors import BadData
from truerisk.core.frozen import frozen
from truerisk.datasets.bundle import Bundle
from truerisk.datasets.gaussian import (
    GaussianProblem,
    Seed,
    TrueRisk,
    Vector,
    get_predict_function,
)

_IDENTITY_COVARIANCE = ((1.0, 0.0), (0.0, 1.0))

make_simple = GaussianProblem(
    name="simple",
    means=((0.0, 0.0), (2.0, 0.0)),
    covariances=(_IDENTITY_COVARIANCE, _IDENTITY_COVARIANCE),
    description="N((0,0), I) against N((2,0), I)",
    source="PRTools gendats with means 2 apart (its default is 1)",
)
"""Two Gaussian classes with identity covariance, means 2 apart; Bayes risk Phi(-1) = .1587."""


_NARROW_COVARIANCE = ((1.0, 0.0), (0.0, 40.0))

_AXIS_ALIGNED_DIFFICULT = GaussianProblem(
    name="difficult",
    means=((0.0, 0.0), (3.0, 3.0)),
    covariances=(_NARROW_COVARIANCE, _NARROW_COVARIANCE),
    description="variances 1 and 40, means (3,3) apart, then rotated by 45 degrees",
    source="PRTools gendatd, form of 2006",
)

make_difficult = replace(_AXIS_ALIGNED_DIFFICULT.rotated(45), name="difficult")
"""Variances 1 and 40, means (3, 3) apart, rotated by 45 degrees; the Bayes risk is .0644.

Rows are multiplied by [[1,-1],[1,1]]/sqrt(2).
"""


make_highleyman = GaussianProblem(
    name="highleyman",
    means=((1.0, 1.0), (2.0, 0.0)),
    covariances=(((1.0, 0.0), (0.0, 0.25)), ((0.01, 0.0), (0.0, 4.0))),
    description="N((1,1), diag(1,.25)) against N((2,0), diag(.01,4))",
    source="Highleyman (1962); PRTools gendath",
)
"""Highleyman's two classes, Bayes risk .0555.

`make_highleyman.rotated(45)` rotates them, so that they are no longer aligned with the axes.
"""


make_colon2d = GaussianProblem(
    name="colon-2d",
    means=((1.2073, 0.7410), (0.0745, -0.0097)),
    covariances=(((0.3042, 0.0592), (0.0592, 0.1765)), ((0.2663, 0.1253), (0.1253, 0.1013))),
    description="genes Hsa.37937 and Hsa.36689 of normal (0) and tumour (1) tissue as Gaussians",
    source=(
        "means and covariances of the colon data (Alon et al., 1999): log10, arrays standardised; "
        "Wallman (2005) used such a pair and did not publish its parameters"
    ),
)
"""Normal against tumour tissue in two genes, Bayes risk .0960.

We estimated the parameters from the colon data, because the publication does not print its own.
"""


# The class means are 4 standard deviations apart, so that the Bayes risk is Φ(−2).
N_FEATURE_PAIRS, PAIR_CORRELATION, MEAN_DIFFERENCE = 7, 0.6, 1.2095


def sparse_gaussian(n_noise: int = 6) -> GaussianProblem:
    """Return a problem like `make_sparse_gaussian` with the given number of noise features.

    There are seven pairs of features. In the first feature of each pair the class means are 1.2095
    apart; the second one has equal means and a correlation of .6 with the first, so that it helps
    to remove noise. Document 002 (the reference below) describes such a problem in its §4.1.1
    and does not print the covariance.

    Parameters
    ----------
    n_noise : int, default=6
        The number of noise features.

    Returns
    -------
    GaussianProblem
        The problem.

    See Also
    --------
    truerisk.datasets.FourClassProblem : Problem with four normal classes.

    References
    ----------
    Huttunen H, Tohka J (2015). Model selection for linear classifiers using Bayesian error
    estimation. Pattern Recognition 48:3739–3748.

    Examples
    --------
    >>> X, y = sparse_gaussian(100)(30, random_state=0)
    >>> X.shape
    (30, 114)
    """
    check_count("n_noise", n_noise, 0, "it is no number of features")
    half_difference = (MEAN_DIFFERENCE / 2, 0.0) * N_FEATURE_PAIRS + (0.0,) * n_noise
    # The covariance has ones on the diagonal and the correlation within each pair of features.
    n_features = len(half_difference)
    covariance = tuple(_covariance_row(i, n_features) for i in range(n_features))
    return GaussianProblem(
        name="sparse-gaussian",
        means=(tuple(-value for value in half_difference), half_difference),
        covariances=(covariance, covariance),
        description=f"{2 * N_FEATURE_PAIRS} features that tell two Gaussians apart, {n_noise} "
        "that do not",
        source="after Huttunen and Tohka (2015), §4.1.1",
    )


def _covariance_row(feature: int, n_features: int) -> Vector:
    paired_feature = feature + 1 - 2 * (feature % 2) if feature < 2 * N_FEATURE_PAIRS else feature
    return tuple(
        1.0 if j == feature else PAIR_CORRELATION if j == paired_feature else 0.0
        for j in range(n_features)
    )


make_sparse_gaussian = sparse_gaussian()
"""Two classes with 14 informative and 6 noise features; the Bayes risk is .0227."""


_TEST_ROWS = 100_000


@frozen
class KearnsProblem:
    r"""Problem with one feature, in which labels alternate between intervals of [0, 1].

    A share `noise` of the labels is wrong. X is uniform. The `n_intervals` intervals are equally
    long and labelled 0, 1, 0, 1 …, so that the target is :math:`f(x) = \lfloor d x \rfloor \bmod
    2`. A rule φ has the risk :math:`\eta + (1 - 2\eta)\,|\{\varphi \ne f\}|`, exactly (Kearns et
    al., 1997).

    Parameters
    ----------
    noise : float, default=0.2
        The probability η of a wrong label.
    n_intervals : int, default=10
        The number d of intervals.

    See Also
    --------
    truerisk.models.IntervalClassifier : The learner that suits this problem.
    truerisk.datasets.GaussianProblem : Problem with two normal classes.

    References
    ----------
    Kearns M, Mansour Y, Ng AY, Ron D (1997). An experimental and theoretical comparison of model
    selection methods. Machine Learning 27:7–50.

    Examples
    --------
    >>> problem = KearnsProblem(noise=0.1)
    >>> X, y = problem(20, random_state=0)
    >>> X.shape, problem.bayes_risk
    ((20, 1), 0.1)
    >>> round(problem.true_risk_intervals([0.5], [0, 1]), 6)  # right on 3 of 5, 3 of 5
    0.42
    """

    noise: float = 0.2
    n_intervals: int = 10

    def __post_init__(self) -> None:
        check_number("noise", self.noise, 0, 0.5, "it is no share of wrong labels from 0 to 0.5")
        check_count("n_intervals", self.n_intervals, 1, "[0, 1] is at least one interval")

    def with_noise(self, noise: float) -> KearnsProblem:
        """Return a problem with the same intervals and the given probability of a wrong label.

        Parameters
        ----------
        noise : float
            The probability of a wrong label.

        Returns
        -------
        KearnsProblem
            The problem.
        """
        return replace(self, noise=noise)

    def __call__(
        self, n_samples: int = 50, *, random_state: Seed = None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Draw rows and labels: x is uniform on [0, 1], and some labels are wrong.

        Parameters
        ----------
        n_samples : int, default=50
            The number of rows.
        random_state : int, Generator or None, optional
            The seed, or the source of random numbers.

        Returns
        -------
        X : array, shape (n_samples, 1)
            The feature.
        y : array, shape (n_samples,)
            The labels 0 and 1.
        """
        check_count("n_samples", n_samples)
        rng = to_random_generator(random_state)
        x = rng.random(n_samples)
        has_wrong_label = rng.random(n_samples) < self.noise
        return x[:, None], self.target(x) ^ has_wrong_label

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
            name="kearns",
            X=X,
            y=y,
            feature_names=("x",),
            task="classification",
            description=f"{n_samples} rows drawn: {self.n_intervals} intervals of [0, 1], "
            f"labels alternate and {100 * self.noise:g} % of them are wrong",
            source="Kearns, Mansour, Ng, Ron (1997)",
            class_names=("class 0", "class 1"),
        )

    @property
    def bayes_risk(self) -> float:
        """Smallest risk that any rule can have, which is the probability of a wrong label."""
        return self.noise

    def target(self, x: ArrayLike) -> NDArray[np.int64]:
        """Return the true label of x, without noise: the label of the interval that contains x.

        The last interval contains x = 1.

        Parameters
        ----------
        x : array
            Numbers from 0 to 1.

        Returns
        -------
        array of int
            Labels 0 and 1.
        """
        interval = np.floor(self.n_intervals * np.asarray(x, dtype=np.float64)).astype(np.int64)
        return np.clip(interval, 0, self.n_intervals - 1) % 2

    def bayes_rule(self, X: ArrayLike) -> NDArray[np.int64]:
        """Predict the labels of rows by the best rule: the label before noise (`target`).

        Parameters
        ----------
        X : array, shape (n_rows, 1) or (n_rows,)
            The rows.

        Returns
        -------
        array of int, shape (n_rows,)
            Labels 0 and 1.
        """
        return self.target(np.asarray(X, dtype=np.float64).ravel())

    def share_of_ones(self, ends: ArrayLike) -> NDArray[np.float64]:
        """Return the total length on which the true label is 1, for each cell of a partition.

        The boundaries `ends` divide [0, 1] into cells. The first cell starts at 0 and the last one
        ends at 1.

        These lengths add up to the total length of the target's intervals with label 1.

        Parameters
        ----------
        ends : array
            The boundaries between the cells, ascending.

        Returns
        -------
        array of float
            The length with label 1 in each cell.
        """
        edges = np.concatenate([[0.0], np.clip(np.asarray(ends, dtype=np.float64), 0, 1), [1.0]])
        scaled_edges = edges * self.n_intervals
        n_complete_intervals = np.floor(scaled_edges)
        # Every second complete interval has label 1.
        # The part of an interval up to an edge counts if the interval has label 1.
        cumulative_length_of_ones = n_complete_intervals // 2 + np.where(
            n_complete_intervals % 2 == 1, scaled_edges - n_complete_intervals, 0.0
        )
        return np.diff(cumulative_length_of_ones) / self.n_intervals

    def true_risk_intervals(self, boundaries: ArrayLike, labels: ArrayLike) -> float:
        """Return the exact risk of a rule that divides [0, 1] into intervals with one label each.

        Parameters
        ----------
        boundaries : array, shape (n_intervals - 1,)
            The boundaries of the rule, ascending.
        labels : array, shape (n_intervals,)
            The labels 0 and 1 of its intervals.

        Returns
        -------
        float
            The risk.
        """
        rule_boundaries = np.asarray(boundaries, dtype=np.float64).ravel()
        predictions = np.asarray(labels).ravel()
        if (
            len(predictions) != len(rule_boundaries) + 1
            or not np.isin(predictions, (0, 1)).all()
            or (np.diff(rule_boundaries) < 0).any()
        ):
            raise BadData(
                f"{len(rule_boundaries)} ascending boundaries make {len(rule_boundaries) + 1} "
                "intervals, each labelled "
                f"0 or 1; {len(predictions)} labels were given."
            )
        lengths_of_ones = self.share_of_ones(rule_boundaries)
        interval_lengths = np.diff(np.concatenate([[0.0], np.clip(rule_boundaries, 0, 1), [1.0]]))
        wrong_length = float(
            np.where(predictions == 1, interval_lengths - lengths_of_ones, lengths_of_ones).sum()
        )
        return self.noise + (1 - 2 * self.noise) * wrong_length

    def true_risk(self, rule: Any, *, n_test: int = _TEST_ROWS, random_state: Seed = 0) -> TrueRisk:
        """Return the risk of a rule, exactly for a rule with `boundaries_` and `labels_`.

        The risk of any other rule is estimated. Only the part of [0, 1] where the rule differs from
        the target is measured, on `n_test` fresh x, because the noise is known.

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
            The risk with its standard error.
        """
        if hasattr(rule, "boundaries_") and hasattr(rule, "labels_"):
            return TrueRisk(self.true_risk_intervals(rule.boundaries_, rule.labels_), 0.0, 0)
        predict = get_predict_function(rule)
        check_count("n_test", n_test)
        X = to_random_generator(random_state).random((n_test, 1))
        wrong_share = float((np.asarray(predict(X)).ravel() != self.bayes_rule(X)).mean())
        noise_factor = 1 - 2 * self.noise
        std_error = noise_factor * float(np.sqrt(wrong_share * (1 - wrong_share) / n_test))
        return TrueRisk(self.noise + noise_factor * wrong_share, std_error, n_test)


make_kearns = KearnsProblem()
"""Ten intervals with 20 % wrong labels; `make_kearns.with_noise(.1)` has 10 % wrong labels."""
