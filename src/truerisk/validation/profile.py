"""All numbers of a validation in one array, so that optimism is a single subtraction.

`FoldJackknife` estimates how they vary with the rows for tuning, fitting and testing, by leaving
out folds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.results.operating_points import Sweep, area
from truerisk.results.roc import PrecisionRecall
from truerisk.validation.calibration import CalibrationFit, Recalibration, line_and_curve
from truerisk.validation.discrimination import net_benefits
from truerisk.validation.measures import OF_EVENTS, OF_RANKS
from truerisk.validation.outcomes import Outcomes


@frozen(eq=False)
class Profile:
    """The numbers computed from outcomes: measures, the curve at `grid`, and net benefits.

    Net benefits are at `thresholds`. `words` are the measures; decision values have only rank
    scores.
    """

    grid: np.ndarray
    thresholds: np.ndarray
    words: tuple[str, ...] = OF_EVENTS

    def compute(
        self,
        outcomes: Outcomes,
        fits: tuple[Recalibration | str, CalibrationFit | str] | None = None,
    ) -> np.ndarray:
        """Return the array of numbers, NaN for undefined ones.

        `fits` are line and curve if known.
        """
        if self.words == OF_RANKS:
            ranks = _of_ranks(outcomes)
            return np.array([ranks.get(name, np.nan) for name in self.words])
        line, curve = fits or line_and_curve(outcomes)
        errors = outcomes.mean((outcomes.predictions - outcomes.observed) ** 2)
        numbers = {"brier": errors, "squared": errors}
        numbers |= _of_ranks(outcomes) if "auc" in self.words else {}
        numbers |= {} if isinstance(line, str) else line.measures()
        numbers |= {} if isinstance(curve, str) else curve.errors(outcomes)
        measures = [numbers.get(name, np.nan) for name in self.words]
        absent = np.full(len(self.grid), np.nan)
        drawn = absent if isinstance(curve, str) else curve.event_share_at(self.grid)
        return np.concatenate([measures, drawn, net_benefits(outcomes, self.thresholds)[0]])

    @property
    def nothing(self) -> np.ndarray:
        """Array of numbers none of which exists."""
        return np.full(len(self.words) + len(self.grid) + len(self.thresholds), np.nan)

    def measures(self, numbers: np.ndarray) -> dict[str, float]:
        """Return the measures in one or several such arrays by name."""
        return dict(zip(self.words, numbers[..., : len(self.words)].T.tolist(), strict=True))

    def curve(self, numbers: np.ndarray) -> np.ndarray:
        """Return the curve at the grid."""
        start = len(self.words)
        return numbers[..., start : start + len(self.grid)]

    def net_benefit(self, numbers: np.ndarray) -> np.ndarray:
        """Return the net benefit at the thresholds."""
        return numbers[..., len(self.words) + len(self.grid) :]


def _of_ranks(outcomes: Outcomes) -> dict[str, float]:
    """Return AUC and average precision, from probabilities or decision values."""
    if outcomes.of_one_class:
        return {}
    positive = outcomes.observed == 1
    sweep = Sweep.from_scores(outcomes.predictions, positive, outcomes.weights)
    return {
        "auc": area(outcomes.predictions, positive, outcomes.weights),
        "average-precision": PrecisionRecall.from_sweep(sweep, "").average_precision,
    }


@frozen(eq=False)
class Optimism:
    r"""The amount by which a model looks better on its own rows (Efron, 1983; Harrell, 2015).

    A model fitted on bootstrap sample b is tested on the sample (training) and on all rows (test).
    `optimism = mean_b (training − test)`, and `corrected = apparent − optimism`. Samples in which a
    number does not exist, such as those with a single class, are ignored for it, so that `n`
    samples remain.
    """

    apparent: np.ndarray
    training: np.ndarray
    test: np.ndarray
    n: np.ndarray

    @classmethod
    def from_profiles(
        cls, apparent: np.ndarray, training: Sequence[np.ndarray], test: Sequence[np.ndarray]
    ) -> Optimism:
        """Average the numbers of every sample."""
        none = np.empty((0, len(apparent)))
        own, other = (np.array(part) if len(part) else none for part in (training, test))
        exists = np.isfinite(own) & np.isfinite(other)
        n = exists.sum(axis=0)

        def mean(part: np.ndarray) -> np.ndarray:
            total = np.where(exists, part, 0).sum(axis=0)
            return np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)

        return cls(apparent, mean(own), mean(other), n)

    @property
    def corrected(self) -> np.ndarray:
        """Apparent − (training − test)."""
        return self.apparent - (self.training - self.test)


@frozen(eq=False)
class FoldJackknife:
    r"""Numbers θ from all K folds, and θ₋ⱼ: the same without fold j in training and test.

    Every pair of folds has its model: without fold j, row i is predicted by the model that lacks
    both its own fold and j. The delete-a-fold jackknife (Quenouille, 1956; Shao and Tu, 1995) has

    .. math:: V = \frac{K-1}{K} \sum_j (\theta_{-j} - \bar\theta_-)^2 .

    `carried` is θ plus θ − θ̄₋: the models of the folds lack a fold that the model of all rows has,
    and the effect of removing one more fold is added once.

    >>> found = FoldJackknife.from_values(np.array([1.0]), [np.array([v]) for v in (0.8, 1.0, 0.9)])
    >>> found.carried.round(3).tolist(), found.variance.round(4).tolist()
    ([1.1], [0.0133])
    """

    values: np.ndarray
    carried: np.ndarray
    variance: np.ndarray

    @classmethod
    def from_values(cls, values: np.ndarray, without: Sequence[np.ndarray]) -> FoldJackknife:
        """Compute the estimate; it is NaN if a number does not exist without one of the folds."""
        left = np.array(without)
        mean = left.mean(axis=0)
        spread = (len(left) - 1) / len(left) * ((left - mean) ** 2).sum(axis=0)
        return cls(values, 2 * values - mean, spread)
