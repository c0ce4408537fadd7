"""Two Gaussian classes: 'simple', 'difficult', Highleyman's, 'colon'; intervals on a line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.core.arguments import check_count, check_number, generator_of
from truerisk.core.errors import BadData
from truerisk.core.frozen import frozen
from truerisk.datasets.bundle import Bundle
from truerisk.datasets.gaussian import (
    GaussianProblem,
    Seed,
    TrueRisk,
    Vector,
    prediction_of,
)

_ROUND = ((1.0, 0.0), (0.0, 1.0))

make_simple = GaussianProblem(
    name="simple",
    means=((0.0, 0.0), (2.0, 0.0)),
    covariances=(_ROUND, _ROUND),
    description="N((0,0), I) against N((2,0), I)",
    source="PRTools gendats with means 2 apart (its default is 1)",
)
"""Two identity-covariance Gaussians, means 2 apart; the Bayes risk is Phi(-1) = .1587."""


_NARROW = ((1.0, 0.0), (0.0, 40.0))

_UPRIGHT = GaussianProblem(
    name="difficult",
    means=((0.0, 0.0), (3.0, 3.0)),
    covariances=(_NARROW, _NARROW),
    description="variances 1 and 40, means (3,3) apart, then rotated by 45 degrees",
    source="PRTools gendatd, form of 2006",
)

make_difficult = replace(_UPRIGHT.rotated(45), name="difficult")
"""Variances 1 and 40, means (3, 3) apart, rows times [[1,-1],[1,1]]/sqrt(2); Bayes risk .0644."""


make_highleyman = GaussianProblem(
    name="highleyman",
    means=((1.0, 1.0), (2.0, 0.0)),
    covariances=(((1.0, 0.0), (0.0, 0.25)), ((0.01, 0.0), (0.0, 4.0))),
    description="N((1,1), diag(1,.25)) against N((2,0), diag(.01,4))",
    source="Highleyman (1962); PRTools gendath",
)
"""Highleyman's classes, Bayes risk .0555; `make_highleyman.rotated(45)` turns them off the axes."""


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
"""Normal against tumour tissue in two genes, Bayes risk .0960; the parameters are ours."""


PAIRS, CORRELATION, GAP = 7, 0.6, 1.2095  # the classes are 4 apart: a Bayes risk of Phi(-2)


def sparse_gaussian(n_noise: int = 6) -> GaussianProblem:
    """The problem with another number of features that tell nothing.

    Seven pairs of features: in the first of each the means are 1.2095 apart, the second has no
    difference and a correlation of .6 with the first, so it helps to remove noise. Document 002
    describes such a problem (its §4.1.1) and does not print the covariance.

    >>> X, y = sparse_gaussian(100)(30, random_state=0)
    >>> X.shape
    (30, 114)
    """
    check_count("n_noise", n_noise, 0, "it is no number of features")
    half = (GAP / 2, 0.0) * PAIRS + (0.0,) * n_noise
    # ones on the diagonal, the correlation within each pair
    n_features = len(half)
    covariance = tuple(_row(i, n_features) for i in range(n_features))
    return GaussianProblem(
        name="sparse-gaussian",
        means=(tuple(-value for value in half), half),
        covariances=(covariance, covariance),
        description=f"{2 * PAIRS} features that tell two Gaussians apart, {n_noise} that do not",
        source="after Huttunen and Tohka (2015), §4.1.1",
    )


def _row(i: int, n_features: int) -> Vector:
    partner = i + 1 - 2 * (i % 2) if i < 2 * PAIRS else i
    return tuple(1.0 if j == i else CORRELATION if j == partner else 0.0 for j in range(n_features))


make_sparse_gaussian = sparse_gaussian()
"""14 features that tell the classes apart and 6 that do not; the Bayes risk is .0227."""


_TEST_ROWS = 100_000


@frozen
class KearnsProblem:
    r"""X uniform on [0, 1]; Y is the label of its interval, wrong with probability `noise`.

    The `n_intervals` intervals are equally long and labelled 0, 1, 0, 1 …, so the target is
    :math:`f(x) = \lfloor d x \rfloor \bmod 2`. A rule φ has the risk
    :math:`\eta + (1 - 2\eta)\,|\{\varphi \ne f\}|`, exactly (Kearns et al., 1997).

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
        """The same intervals with another share of wrong labels."""
        return replace(self, noise=noise)

    def __call__(
        self, n_samples: int = 50, *, random_state: Seed = None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Draw rows and labels.

        Parameters
        ----------
        n_samples : int
        random_state : int, Generator or None

        Returns
        -------
        X : array (n_samples, 1)
        y : array (n_samples,) of 0 and 1
        """
        check_count("n_samples", n_samples)
        rng = generator_of(random_state)
        x = rng.random(n_samples)
        wrong = rng.random(n_samples) < self.noise
        return x[:, None], self.target(x) ^ wrong

    def bundle(self, n_samples: int = 50, *, random_state: Seed = 0) -> Bundle:
        """One draw, always the same by default, in the form of a data set."""
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
        """The least risk any rule can have: the noise."""
        return self.noise

    def target(self, x: ArrayLike) -> NDArray[np.int64]:
        """The label of the interval that holds x; x = 1 belongs to the last one."""
        place = np.floor(self.n_intervals * np.asarray(x, dtype=np.float64)).astype(np.int64)
        return np.clip(place, 0, self.n_intervals - 1) % 2

    def bayes_rule(self, X: ArrayLike) -> NDArray[np.int64]:
        """The labels of the best rule: the target."""
        return self.target(np.asarray(X, dtype=np.float64).ravel())

    def share_of_ones(self, ends: ArrayLike) -> NDArray[np.float64]:
        """How much of each of the cells between 0, the ascending `ends` and 1 the target calls 1.

        A length, so the shares of all cells add up to that of the target's own ones.
        """
        edges = np.concatenate([[0.0], np.clip(np.asarray(ends, dtype=np.float64), 0, 1), [1.0]])
        scaled = edges * self.n_intervals
        whole = np.floor(scaled)
        # ones to the left of an edge: every second interval, and the begun one if it is a one
        ones = whole // 2 + np.where(whole % 2 == 1, scaled - whole, 0.0)
        return np.diff(ones) / self.n_intervals

    def true_risk_intervals(self, boundaries: ArrayLike, labels: ArrayLike) -> float:
        """The exact risk of the rule that says `labels[j]` between boundaries j − 1 and j."""
        ends = np.asarray(boundaries, dtype=np.float64).ravel()
        answers = np.asarray(labels).ravel()
        if (
            len(answers) != len(ends) + 1
            or not np.isin(answers, (0, 1)).all()
            or (np.diff(ends) < 0).any()
        ):
            raise BadData(
                f"{len(ends)} ascending boundaries make {len(ends) + 1} intervals, each labelled "
                f"0 or 1; {len(answers)} labels were given."
            )
        ones = self.share_of_ones(ends)
        lengths = np.diff(np.concatenate([[0.0], np.clip(ends, 0, 1), [1.0]]))
        wrong = float(np.where(answers == 1, lengths - ones, ones).sum())
        return self.noise + (1 - 2 * self.noise) * wrong

    def true_risk(self, rule: Any, *, n_test: int = _TEST_ROWS, random_state: Seed = 0) -> TrueRisk:
        """The risk of any rule: exact for one with `boundaries_` and `labels_`, else measured.

        Only where the rule errs is measured, on `n_test` fresh x: the noise is known.
        """
        if hasattr(rule, "boundaries_") and hasattr(rule, "labels_"):
            return TrueRisk(self.true_risk_intervals(rule.boundaries_, rule.labels_), 0.0, 0)
        predict = prediction_of(rule)
        check_count("n_test", n_test)
        X = generator_of(random_state).random((n_test, 1))
        wrong = float((np.asarray(predict(X)).ravel() != self.bayes_rule(X)).mean())
        slope = 1 - 2 * self.noise
        error = slope * float(np.sqrt(wrong * (1 - wrong) / n_test))
        return TrueRisk(self.noise + slope * wrong, error, n_test)


make_kearns = KearnsProblem()
"""Ten intervals, 20 % of the labels wrong; `make_kearns.with_noise(.1)` has fewer wrong ones."""
