"""Sample sizes to develop or to validate a prediction model, from what is anticipated.

Development: Riley et al., Statistics in Medicine 38 (2019), 1262 (continuous outcomes) and 1276
(binary outcomes and times to an event). Validation: Riley et al., Statistics in Medicine 40 (2021),
4230 (binary), Archer et al., 133 (continuous). These papers simulate a linear predictor; here its
mean is computed by quadrature.
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

# standard deviations on each side, and number of points of the quadrature
FURTHEST, NODES = 9.0, 20_001
MOST_ROWS = 10**9
SHRINKAGE, OPTIMISM, MARGIN, RATIO = 0.9, 0.05, 0.05, 1.1  # values recommended by Riley et al.
# Widths of intervals for observed over expected events and the slope, and for AUC and R².
WIDTH, NARROW = 0.2, 0.1


def _rows(n: float) -> int:
    """Return the number of rows rounded up; raise if it is unattainable."""
    if not n <= MOST_ROWS:
        raise Refusal(
            f"more than {MOST_ROWS:.0e} rows are needed: foresee a larger R² or AUC, an event that "
            "is less rare, a mean farther from 0, or ask for less."
        )
    return math.ceil(n)


def likelihood_of_classes(prevalence: float) -> float:
    """Return the mean log-likelihood of a model that knows only the prevalence."""
    other = 1 - prevalence
    return prevalence * math.log(prevalence) + other * math.log(other)


def likelihood_of_times(events: float) -> float:
    """Return the mean log-likelihood of a constant hazard, from the mean events per person."""
    return events * math.log(events) - events


def largest_r2(likelihood: float) -> float:
    """Return the Cox-Snell R² of a perfect model, from the likelihood without predictors."""
    return -math.expm1(2 * likelihood)


def rows_of_likelihood(
    parameters: int,
    r2: float,
    largest: float,
    *,
    shrinkage: float = SHRINKAGE,
    optimism: float = OPTIMISM,
) -> list[int]:
    """Return the numbers of rows for an expected shrinkage, and for little optimism of R².

    With the first one, effects are expected to be shrunken to no less than `shrinkage`. With the
    second one, the R² of Nagelkerke is too high by no more than `optimism`.
    """
    wanted = (shrinkage, r2 / (r2 + optimism * largest))
    return [_rows(parameters / ((s - 1) * math.log1p(-r2 / s))) for s in wanted]


def rows_for_risk(rate: float, horizon: float, follow_up: float, margin: float, z: float) -> int:
    """Return the number of rows for a risk up to a horizon with this margin of error.

    Hazards are constant. The interval is that of the rate, and its farther end counts.
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
    """Return the numbers of rows for a linear model: by its shrinkage, R² and residuals."""

    def of_effects(n: int) -> bool:
        unexplained = (1 - r2) * (n - parameters - 1) / (n - 1)
        return -n * math.log(unexplained) >= (parameters - 2) / (1 - shrinkage)

    return [
        _least_count(of_effects, parameters + 2),
        _rows(1 + parameters * (1 - r2) / optimism),
        rows_for_residuals(parameters, ratio, tail),
    ]


def rows_for_residuals(parameters: int, ratio: float, tail: float) -> int:
    """Return the number of rows for a residual standard deviation within a factor, by χ²."""
    from scipy.special import chdtri

    def enough(n: int) -> bool:
        freedom = n - parameters - 1  # The upper end is farther from the estimate.
        return bool(freedom / chdtri(freedom, 1 - tail) <= ratio**2)

    return _least_count(enough, parameters + 2)


def rows_for_mean(parameters: int, spread: float, reach: float, tail: float) -> int:
    """Return the number of rows for a mean to within ± reach, by Student's t.

    It uses the standard deviation of the residuals.
    """
    from scipy.special import stdtrit

    def enough(n: int) -> bool:
        return bool(-stdtrit(n - parameters - 1, tail) * spread / math.sqrt(n) <= reach)

    return _least_count(enough, parameters + 2)


def _least_count(enough: Callable[[int], bool], low: int) -> int:
    """Return the smallest count from `low` on that is enough; all beyond it are."""
    return _rows(low + bisect_left(range(low, MOST_ROWS + 1), True, key=enough))


# ---------------------------------------------------------------- a linear predictor


@frozen(eq=False)
class LinearPredictor:
    """Distribution of the log odds of a calibrated model: values and their weights."""

    values: np.ndarray
    weights: np.ndarray

    @classmethod
    def normal(cls, mean: float, sd: float) -> LinearPredictor:
        """Return a normal distribution over all people."""
        nodes, weights = _normal_nodes()
        return cls(mean + sd * nodes, weights)

    @classmethod
    def of_auc(cls, auc: float, prevalence: float) -> LinearPredictor:
        """Return normal distributions with and without the event, with equal variances.

        They are those of a calibrated model.
        """
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
        """Return the mean over people of a function of the values."""
        return float(self.weights @ of)

    @property
    def chances(self) -> np.ndarray:
        """Probabilities of the event at the values of the log odds."""
        from scipy.special import expit

        return np.asarray(expit(self.values))

    @property
    def prevalence(self) -> float:
        """Prevalence of the event."""
        return self.mean(self.chances)

    @property
    def auc(self) -> float:
        """Probability that a person with the event has the larger value, with ties counted half."""
        order = np.argsort(self.values, kind="stable")
        chances, weights = self.chances[order], self.weights[order]
        having, without = weights * chances, weights * (1 - chances)
        below = np.cumsum(without) - without / 2
        return float(having @ below / (having.sum() * without.sum()))

    @property
    def r2(self) -> float:
        """The Cox-Snell R²: the gain in likelihood over the prevalence alone."""
        chances = self.chances
        from scipy.special import xlog1py, xlogy

        own = self.mean(xlogy(chances, chances) + xlog1py(1 - chances, -chances))
        return -math.expm1(2 * (likelihood_of_classes(self.prevalence) - own))

    def rates(self, threshold: float) -> tuple[float, float]:
        """Return sensitivity and specificity of acting from this probability on."""
        chances, acted = self.chances, self.chances >= threshold
        having, without = self.weights * chances, self.weights * (1 - chances)
        return float(having @ acted / having.sum()), float(without @ ~acted / without.sum())

    def slope_error(self) -> float:
        """Return the standard error of the calibration slope for a single row."""
        spread = self.chances * (1 - self.chances)
        of_level, of_both, of_slope = (self.mean(spread * self.values**k) for k in (0, 1, 2))
        information = of_level * of_slope - of_both**2
        if not information > 0:
            raise Refusal(
                "this linear predictor is the same, or sure, of everybody: no slope tells."
            )
        return math.sqrt(of_level / information)


def _normal_nodes() -> tuple[np.ndarray, np.ndarray]:
    """Return evenly spaced nodes and their normal weights.

    Sums of smooth functions over them are exact, and a threshold affects at most one point.
    """
    nodes = np.linspace(-FURTHEST, FURTHEST, NODES)
    weights = np.exp(-(nodes**2) / 2)
    return nodes, weights / weights.sum()


# ---------------------------------------------------------------- validation


def rows_for_error(error_of_one: float, reach: float) -> int:
    """Return the number of rows for a mean to within ± reach, from the error for one row and z."""
    return _rows((error_of_one / reach) ** 2)


def rows_for_auc(auc: float, prevalence: float, error: float) -> int:
    """Return the number of rows for an AUC with this standard error (Newcombe, 2006)."""
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
    """Return the numbers of rows for a calibrated model's intervals of these widths.

    The intervals are for observed over expected events, for the calibration slope and for the AUC.
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
    """Return the standardised net benefit at a threshold, and its standard error for one row."""
    weight = (1 - prevalence) / prevalence * threshold / (1 - threshold)
    variance = (
        sensitivity * (1 - sensitivity) / prevalence
        + weight**2 * specificity * (1 - specificity) / (1 - prevalence)
        + weight**2 * (1 - specificity) ** 2 / (prevalence * (1 - prevalence))
    )
    return sensitivity - weight * (1 - specificity), math.sqrt(max(variance, 0.0))


# ---------------------------------------------------------------- by what was found


class FollowUp(NamedTuple):
    """Events per person and unit of time, the horizon of the risks, and the mean follow-up."""

    rate: float
    horizon: float
    follow_up: float

    @classmethod
    def until(cls, horizon: float, y: np.ndarray) -> FollowUp:
        """Return these for survival outcomes: whether the event occurred, and after which time."""
        came, lasted = y.T
        return cls(float(came.sum() / lasted.sum()), float(horizon), float(lasted.mean()))


def rows_needed(
    n_features: int | None, share: float | None, r2: float | None, times: FollowUp | None = None
) -> int | None:
    """Return the number of rows that the criteria of Riley et al. (2019) require.

    `r2` is that of Nagelkerke, or the share of variance explained for numeric y. Classes have a
    `share` of the event and survival outcomes have `times`; numbers have neither, and their mean
    need not be known. The result is None if r2 is not above 0.
    """
    if not n_features or r2 is None or not 0 < r2 < 1:
        return None
    with suppress(Refusal):  # More rows would be needed than are attainable.
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
    """Return the number of other people for a calibrated model with this AUC and event share."""
    if share is None or auc is None or not 0.5 < auc < 1:
        return None
    with suppress(Refusal):
        error = LinearPredictor.of_auc(auc, share).slope_error()
        z = normal_quantile(0.95)
        return max(rows_to_validate(share, auc, error, z))
    return None
