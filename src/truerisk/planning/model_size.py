"""How many rows a prediction model needs, to be developed or to be validated, by what is foreseen.

Development: Riley et al., Statistics in Medicine 38 (2019), 1262 (outcomes that are numbers) and
1276 (binary ones and times to an event). Validation: Riley et al., Statistics in Medicine 40
(2021), 4230 (binary), Archer et al., 133 (numbers). Where they simulate a linear predictor, its
mean is taken by quadrature here.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.results.interval import normal_quantile as normal_quantile

FURTHEST, NODES = 9.0, 20_001  # standard deviations to either side, and points of the quadrature
MOST_ROWS = 10**9
SHRINKAGE, OPTIMISM, MARGIN, RATIO = 0.9, 0.05, 0.05, 1.1  # what Riley et al. ask
WIDTH, NARROW = 0.2, 0.1  # of intervals: of observed over expected events and slope; of AUC and R²


def _rows(n: float) -> int:
    """Whole rows, no more than anybody has."""
    if not n <= MOST_ROWS:
        raise Refusal(
            f"more than {MOST_ROWS:.0e} rows are needed: foresee a larger R² or AUC, an event that "
            "is less rare, a mean farther from 0, or ask for less."
        )
    return math.ceil(n)


def likelihood_of_classes(prevalence: float) -> float:
    """The mean log-likelihood of a model that knows the prevalence alone."""
    other = 1 - prevalence
    return prevalence * math.log(prevalence) + other * math.log(other)


def likelihood_of_times(events: float) -> float:
    """The same of a constant hazard, by the mean number of events of a person."""
    return events * math.log(events) - events


def largest_r2(likelihood: float) -> float:
    """The R² of Cox and Snell that a perfect model has, by the likelihood without a predictor."""
    return -math.expm1(2 * likelihood)


def rows_of_likelihood(
    parameters: int,
    r2: float,
    largest: float,
    *,
    shrinkage: float = SHRINKAGE,
    optimism: float = OPTIMISM,
) -> list[int]:
    """Rows of which effects are expected to be shrunken to `shrinkage` at least.

    And those of which the R² of Nagelkerke is told no more than `optimism` too high.
    """
    wanted = (shrinkage, r2 / (r2 + optimism * largest))
    return [_rows(parameters / ((s - 1) * math.log1p(-r2 / s))) for s in wanted]


def rows_for_risk(rate: float, horizon: float, follow_up: float, margin: float, z: float) -> int:
    """Rows of which the risk up to a horizon is known to within ± margin, hazards being constant.

    The interval is that of the rate: the farther of its two ends counts.
    """
    risk = -math.expm1(-rate * horizon)
    near = -math.log(1 - min(risk + margin, 1.0)) / horizon if risk + margin < 1 else math.inf
    below = -math.log1p(-max(risk - margin, 0.0)) / horizon
    spread = min(near - rate, rate - below if risk > margin else math.inf)
    if math.isinf(spread):
        return 1
    return _rows(rate / follow_up * (z / spread) ** 2 if spread > 0 else math.inf)


def rows_of_line(
    parameters: int,
    r2: float,
    *,
    shrinkage: float = SHRINKAGE,
    optimism: float = OPTIMISM,
    ratio: float = RATIO,
    tail: float = 0.025,
) -> list[int]:
    """Rows for a linear model: by its shrinkage, its R² and its residuals."""

    def of_effects(n: int) -> bool:
        unexplained = (1 - r2) * (n - parameters - 1) / (n - 1)
        return -n * math.log(unexplained) >= (parameters - 2) / (1 - shrinkage)

    return [
        _least(of_effects, parameters + 2),
        _rows(1 + parameters * (1 - r2) / optimism),
        rows_for_residuals(parameters, ratio, tail),
    ]


def rows_for_residuals(parameters: int, ratio: float, tail: float) -> int:
    """Rows of which the residual standard deviation is known to within a factor, by χ²."""
    from scipy.special import chdtri

    def enough(n: int) -> bool:
        freedom = n - parameters - 1  # the upper end is the farther one
        return bool(freedom / chdtri(freedom, 1 - tail) <= ratio**2)

    return _least(enough, parameters + 2)


def rows_for_mean(parameters: int, spread: float, reach: float, tail: float) -> int:
    """Rows of which a mean is known to within ± reach, by Student's t and the residuals' spread."""
    from scipy.special import stdtrit

    def enough(n: int) -> bool:
        return bool(-stdtrit(n - parameters - 1, tail) * spread / math.sqrt(n) <= reach)

    return _least(enough, parameters + 2)


def _least(enough: Callable[[int], bool], low: int) -> int:
    """Return the smallest count from `low` on that is enough; all beyond it are."""
    return _rows(low + bisect_left(range(low, MOST_ROWS + 1), True, key=enough))


# ---------------------------------------------------------------- a linear predictor


@frozen(eq=False)
class LinearPredictor:
    """The log odds that a calibrated model gives to people: values and how much of them each is."""

    values: np.ndarray
    weights: np.ndarray

    @classmethod
    def normal(cls, mean: float, sd: float) -> LinearPredictor:
        """Normal over all people."""
        nodes, weights = _normal_nodes()
        return cls(mean + sd * nodes, weights)

    @classmethod
    def of_auc(cls, auc: float, prevalence: float) -> LinearPredictor:
        """Normal with one spread in people with the event and without; a calibrated model's."""
        from scipy.special import logit, ndtri

        nodes, weights = _normal_nodes()
        variance = 2 * ndtri(auc) ** 2
        middle = logit(prevalence)
        without, having = (
            middle + side * variance / 2 + math.sqrt(variance) * nodes for side in (-1, 1)
        )
        both = np.concatenate([(1 - prevalence) * weights, prevalence * weights])
        return cls(np.concatenate([without, having]), both)

    def mean(self, of: np.ndarray) -> float:
        """The mean over people of what stands for each value."""
        return float(self.weights @ of)

    @property
    def chances(self) -> np.ndarray:
        from scipy.special import expit

        return np.asarray(expit(self.values))

    @property
    def prevalence(self) -> float:
        """Of the event."""
        return self.mean(self.chances)

    @property
    def auc(self) -> float:
        """The chance that somebody with the event has the larger value; half of equal ones."""
        order = np.argsort(self.values, kind="stable")
        chances, weights = self.chances[order], self.weights[order]
        having, without = weights * chances, weights * (1 - chances)
        below = np.cumsum(without) - without / 2
        return float(having @ below / (having.sum() * without.sum()))

    @property
    def r2(self) -> float:
        """The R² of Cox and Snell: how much likelier outcomes are than by the prevalence alone."""
        chances = self.chances
        from scipy.special import xlog1py, xlogy

        own = self.mean(xlogy(chances, chances) + xlog1py(1 - chances, -chances))
        return -math.expm1(2 * (likelihood_of_classes(self.prevalence) - own))

    def rates(self, threshold: float) -> tuple[float, float]:
        """Sensitivity and specificity of acting from a probability on."""
        chances, acted = self.chances, self.chances >= threshold
        having, without = self.weights * chances, self.weights * (1 - chances)
        return float(having @ acted / having.sum()), float(without @ ~acted / without.sum())

    def slope_error(self) -> float:
        """Of the calibration slope: its standard error in one row."""
        spread = self.chances * (1 - self.chances)
        of_level, of_both, of_slope = (self.mean(spread * self.values**k) for k in (0, 1, 2))
        information = of_level * of_slope - of_both**2
        if not information > 0:
            raise Refusal(
                "this linear predictor is the same, or sure, of everybody: no slope tells."
            )
        return math.sqrt(of_level / information)


def _normal_nodes() -> tuple[np.ndarray, np.ndarray]:
    """Evenly spaced: sums of smooth functions are exact, and a threshold cuts one point at most."""
    nodes = np.linspace(-FURTHEST, FURTHEST, NODES)
    weights = np.exp(-(nodes**2) / 2)
    return nodes, weights / weights.sum()


# ---------------------------------------------------------------- validation


def rows_for_error(error_of_one: float, reach: float) -> int:
    """Rows of which a mean is known to within ± reach, by its standard error in one row and z."""
    return _rows((error_of_one / reach) ** 2)


def rows_for_auc(auc: float, prevalence: float, error: float) -> int:
    """Rows of which the AUC has this standard error, by the formula of Newcombe (2006)."""
    a = (1 - auc) / (2 - auc) + auc / (1 + auc)
    k = error**2 * prevalence * (1 - prevalence) / (auc * (1 - auc))
    return _rows((a / 2 + math.sqrt(a**2 / 4 + 4 * k * (1 - a))) / (2 * k))


def rows_to_validate(
    prevalence: float,
    auc: float,
    slope_error: float,
    z: float,
    *,
    oe_width: float = WIDTH,
    slope_width: float = WIDTH,
    auc_width: float = NARROW,
) -> list[int]:
    """Rows of which a calibrated model's intervals are no wider than these.

    Of observed over expected events, of the calibration slope and of the AUC.
    """
    odds = (1 - prevalence) / prevalence
    return [
        rows_for_error(math.sqrt(odds), math.asinh(oe_width / 2) / z),
        rows_for_error(slope_error, slope_width / (2 * z)),
        rows_for_auc(auc, prevalence, auc_width / (2 * z)),
    ]


def benefit_error(
    prevalence: float, threshold: float, sensitivity: float, specificity: float
) -> tuple[float, float]:
    """The standardised net benefit of a threshold, and its standard error in one row."""
    weight = (1 - prevalence) / prevalence * threshold / (1 - threshold)
    variance = (
        sensitivity * (1 - sensitivity) / prevalence
        + weight**2 * specificity * (1 - specificity) / (1 - prevalence)
        + weight**2 * (1 - specificity) ** 2 / (prevalence * (1 - prevalence))
    )
    return sensitivity - weight * (1 - specificity), math.sqrt(max(variance, 0.0))


# ---------------------------------------------------------------- by what was found


class FollowUp(NamedTuple):
    """Events per person and unit of time, the horizon of the risks, and the mean time observed."""

    rate: float
    horizon: float
    follow_up: float

    @classmethod
    def until(cls, horizon: float, y: np.ndarray) -> FollowUp:
        """Return that of outcomes in time: whether the event came, and after which time."""
        came, lasted = y.T
        return cls(float(came.sum() / lasted.sum()), float(horizon), float(lasted.mean()))


def rows_needed(
    n_features: int | None, share: float | None, r2: float | None, times: FollowUp | None = None
) -> int | None:
    """Return how many rows the criteria of Riley et al. (2019) ask for to develop the model.

    `r2` is that of Nagelkerke, of numbers the share of variance explained. Classes have a `share`
    of the event and outcomes in time their `times`; numbers have neither, and their mean need not
    be known. The result is None where r2 is not above 0.
    """
    if not n_features or r2 is None or not 0 < r2 < 1:
        return None
    with suppress(Refusal):  # more rows than anybody has
        if times is None and share is None:
            return max(rows_of_line(n_features, r2))
        z = normal_quantile(0.95)
        if times is not None:
            likelihood = likelihood_of_times(times.rate * times.follow_up)
            overall = rows_for_risk(*times, margin=MARGIN, z=z)
        else:
            assert share is not None
            likelihood = likelihood_of_classes(share)
            spread = math.sqrt(share * (1 - share))
            overall = rows_for_error(spread, MARGIN / z)
        largest = largest_r2(likelihood)
        return max(*rows_of_likelihood(n_features, r2 * largest, largest), overall)
    return None


def rows_to_test(share: float | None, auc: float | None) -> int | None:
    """In other people, a calibrated model of this AUC, by the `share` of the event."""
    if share is None or auc is None or not 0.5 < auc < 1:
        return None
    with suppress(Refusal):
        error = LinearPredictor.of_auc(auc, share).slope_error()
        z = normal_quantile(0.95)
        return max(rows_to_validate(share, auc, error, z))
    return None
