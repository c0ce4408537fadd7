"""Sample sizes to develop or validate a prediction model, from its anticipated performance.

Development: Riley et al., Statistics in Medicine 38 (2019), 1262 (continuous outcomes) and 1276
(binary outcomes and times to an event). Validation: Riley et al., Statistics in Medicine 40 (2021),
4230 (binary), Archer et al., 133 (continuous). These papers simulate values of a linear predictor;
here means over its distribution are computed by quadrature.
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

# The quadrature has N_NODES nodes and covers MAX_DISTANCE_IN_SD standard deviations on each side.
MAX_DISTANCE_IN_SD, N_NODES = 9.0, 20_001
MAX_ROWS = 10**9
MIN_SHRINKAGE_FACTOR, MAX_R2_OPTIMISM, MAX_RISK_MARGIN, MAX_SD_RATIO = (
    0.9,
    0.05,
    0.05,
    1.1,
)  # These criteria are recommended by Riley et al.
# The intervals of AUC and R² are narrower by default than the intervals of other measures.
DEFAULT_WIDTH, AUC_AND_R2_WIDTH = 0.2, 0.1


def _round_up_rows(n_rows: float) -> int:
    """Return a number of rows rounded up; raise Refusal if the number is unattainably large."""
    if not n_rows <= MAX_ROWS:
        raise Refusal(
            f"more than {MAX_ROWS:.0e} rows are needed: anticipate a larger R² or AUC, an event "
            "that is less rare, a mean farther from 0, or ask for less."
        )
    return math.ceil(n_rows)


def binary_null_log_likelihood(prevalence: float) -> float:
    """Return the mean log-likelihood of a model that predicts the prevalence for everybody."""
    share_without_event = 1 - prevalence
    return prevalence * math.log(prevalence) + share_without_event * math.log(share_without_event)


def survival_null_log_likelihood(events_per_person: float) -> float:
    """Return the mean log-likelihood of a model with a constant hazard.

    `events_per_person` is the mean number of events per person.
    """
    return events_per_person * math.log(events_per_person) - events_per_person


def largest_r2(null_log_likelihood: float) -> float:
    """Return the Cox-Snell R² of a perfect model, given the log-likelihood without predictors."""
    return -math.expm1(2 * null_log_likelihood)


def rows_for_shrinkage_and_r2(
    n_parameters: int,
    r2: float,
    perfect_r2: float,
    *,
    shrinkage: float = MIN_SHRINKAGE_FACTOR,
    optimism: float = MAX_R2_OPTIMISM,
) -> list[int]:
    """Return the numbers of rows for an acceptable shrinkage, and for little optimism of R².

    With the first number of rows, the expected shrinkage factor of effects is at least `shrinkage`.
    With the second number, the apparent R² of Nagelkerke is too high by at most `optimism`.
    """
    shrinkage_factors = (shrinkage, r2 / (r2 + optimism * perfect_r2))
    return [
        _round_up_rows(n_parameters / ((shrinkage_factor - 1) * math.log1p(-r2 / shrinkage_factor)))
        for shrinkage_factor in shrinkage_factors
    ]


def rows_for_risk(
    rate: float, horizon: float, follow_up: float, margin: float, normal_quantile_value: float
) -> int:
    """Return the number of rows to estimate the risk up to a horizon with this margin of error.

    A constant hazard is assumed. The interval of the risk is computed from that of the event rate,
    and the limit farther from the estimate determines the number of rows.
    """
    risk = -math.expm1(-rate * horizon)
    upper_rate = -math.log(1 - min(risk + margin, 1.0)) / horizon if risk + margin < 1 else math.inf
    lower_rate = -math.log1p(-max(risk - margin, 0.0)) / horizon
    rate_margin = min(upper_rate - rate, rate - lower_rate if risk > margin else math.inf)
    if math.isinf(rate_margin):
        return 1
    return _round_up_rows(
        rate / follow_up * (normal_quantile_value / rate_margin) ** 2
        if rate_margin > 0
        else math.inf
    )


def rows_for_linear_model(
    n_parameters: int,
    r2: float,
    *,
    shrinkage: float = MIN_SHRINKAGE_FACTOR,
    optimism: float = MAX_R2_OPTIMISM,
    ratio: float = MAX_SD_RATIO,
    tail_probability: float = 0.025,
) -> list[int]:
    """Return the numbers of rows for a linear model by three criteria: shrinkage, R², residuals."""

    def limits_shrinkage(n_rows: int) -> bool:
        residual_variance_share = (1 - r2) * (n_rows - n_parameters - 1) / (n_rows - 1)
        return -n_rows * math.log(residual_variance_share) >= (n_parameters - 2) / (1 - shrinkage)

    return [
        _smallest_sufficient_count(limits_shrinkage, n_parameters + 2),
        _round_up_rows(1 + n_parameters * (1 - r2) / optimism),
        rows_for_residuals(n_parameters, ratio, tail_probability),
    ]


def rows_for_residuals(n_parameters: int, ratio: float, tail_probability: float) -> int:
    """Return the number of rows that determines the residual standard deviation to within a factor.

    The factor is `ratio`. The interval comes from the χ² distribution.
    """
    from scipy.special import chdtri

    def is_enough(n: int) -> bool:
        # The upper limit of the interval decides, because it is farther from the estimate.
        degrees_of_freedom = n - n_parameters - 1
        return bool(
            degrees_of_freedom / chdtri(degrees_of_freedom, 1 - tail_probability) <= ratio**2
        )

    return _smallest_sufficient_count(is_enough, n_parameters + 2)


def rows_for_mean(
    n_parameters: int, residual_sd: float, half_width: float, tail_probability: float
) -> int:
    """Return the number of rows that determines the mean outcome to within ± `half_width`.

    The interval is Student's t interval. The standard error is computed from the standard deviation
    of the residuals.
    """
    from scipy.special import stdtrit

    def is_enough(n: int) -> bool:
        return bool(
            -stdtrit(n - n_parameters - 1, tail_probability) * residual_sd / math.sqrt(n)
            <= half_width
        )

    return _smallest_sufficient_count(is_enough, n_parameters + 2)


def _smallest_sufficient_count(is_enough: Callable[[int], bool], least_count: int) -> int:
    """Return the smallest number ≥ `least_count` that is enough.

    All larger numbers must be enough, too, because the search is by bisection.
    """
    return _round_up_rows(
        least_count + bisect_left(range(least_count, MAX_ROWS + 1), True, key=is_enough)
    )


# ---------------------------------------------------------------- a linear predictor


@frozen(eq=False)
class LinearPredictor:
    """Distribution of a calibrated model's log odds, as discrete `values` with `weights`."""

    values: np.ndarray
    weights: np.ndarray

    @classmethod
    def from_normal(cls, mean: float, sd: float) -> LinearPredictor:
        """Return a linear predictor with a normal distribution over all people."""
        nodes, weights = _normal_nodes()
        return cls(mean + sd * nodes, weights)

    @classmethod
    def from_auc(cls, auc: float, prevalence: float) -> LinearPredictor:
        """Return a linear predictor that is normal among people with and without the event.

        Both normal distributions have the same variance, as calibration requires.
        """
        from scipy.special import logit, ndtri

        nodes, weights = _normal_nodes()
        variance = 2 * ndtri(auc) ** 2
        mean_log_odds = logit(prevalence)
        values_without_event, values_with_event = (
            mean_log_odds + sign * variance / 2 + math.sqrt(variance) * nodes for sign in (-1, 1)
        )
        all_weights = np.concatenate([(1 - prevalence) * weights, prevalence * weights])
        return cls(np.concatenate([values_without_event, values_with_event]), all_weights)

    def mean(self, quantity: np.ndarray) -> float:
        """Return the mean over people of a quantity, given at each value of the log odds."""
        return float(self.weights @ quantity)

    @property
    def probabilities(self) -> np.ndarray:
        """Probabilities of the event at the values of the log odds."""
        from scipy.special import expit

        return np.asarray(expit(self.values))

    @property
    def prevalence(self) -> float:
        """Prevalence of the event, which is the mean predicted probability."""
        return self.mean(self.probabilities)

    @property
    def auc(self) -> float:
        """Probability that a person with the event has a larger value than one without (ties ½)."""
        value_order = np.argsort(self.values, kind="stable")
        probabilities, weights = self.probabilities[value_order], self.weights[value_order]
        event_weights, non_event_weights = weights * probabilities, weights * (1 - probabilities)
        weights_below = np.cumsum(non_event_weights) - non_event_weights / 2
        return float(
            event_weights @ weights_below / (event_weights.sum() * non_event_weights.sum())
        )

    @property
    def r2(self) -> float:
        """Cox-Snell R²: the gain in likelihood over predicting the prevalence for everybody."""
        probabilities = self.probabilities
        from scipy.special import xlog1py, xlogy

        model_log_likelihood = self.mean(
            xlogy(probabilities, probabilities) + xlog1py(1 - probabilities, -probabilities)
        )
        return -math.expm1(2 * (binary_null_log_likelihood(self.prevalence) - model_log_likelihood))

    def sensitivity_and_specificity(self, threshold: float) -> tuple[float, float]:
        """Return sensitivity and specificity of predicting the event from this probability on."""
        probabilities, is_positive = self.probabilities, self.probabilities >= threshold
        event_weights, non_event_weights = (
            self.weights * probabilities,
            self.weights * (1 - probabilities),
        )
        return float(event_weights @ is_positive / event_weights.sum()), float(
            non_event_weights @ ~is_positive / non_event_weights.sum()
        )

    def slope_std_error(self) -> float:
        """Return the standard error of the calibration slope for one row.

        For n rows, the standard error is divided by the square root of n.
        """
        outcome_variances = self.probabilities * (1 - self.probabilities)
        intercept_information, cross_information, slope_information = (
            self.mean(outcome_variances * self.values**k) for k in (0, 1, 2)
        )
        information_determinant = intercept_information * slope_information - cross_information**2
        if not information_determinant > 0:
            raise Refusal(
                "this linear predictor is the same, or sure, of everybody: no slope tells."
            )
        return math.sqrt(intercept_information / information_determinant)


def _normal_nodes() -> tuple[np.ndarray, np.ndarray]:
    """Return evenly spaced nodes and their weights under the standard normal distribution.

    Weighted sums of smooth functions over the nodes are practically exact integrals, and a
    threshold affects at most one node.
    """
    nodes = np.linspace(-MAX_DISTANCE_IN_SD, MAX_DISTANCE_IN_SD, N_NODES)
    weights = np.exp(-(nodes**2) / 2)
    return nodes, weights / weights.sum()


# ---------------------------------------------------------------- validation


def rows_for_std_error(std_error_of_one_row: float, target_std_error: float) -> int:
    """Return the number of rows that reduces the standard error of one row to the target."""
    return _round_up_rows((std_error_of_one_row / target_std_error) ** 2)


def rows_for_auc(auc: float, prevalence: float, target_std_error: float) -> int:
    """Return the number of rows to estimate an AUC with this standard error (Newcombe, 2006)."""
    a = (1 - auc) / (2 - auc) + auc / (1 + auc)
    k = target_std_error**2 * prevalence * (1 - prevalence) / (auc * (1 - auc))
    return _round_up_rows((a / 2 + math.sqrt(a**2 / 4 + 4 * k * (1 - a))) / (2 * k))


def rows_to_validate(
    prevalence: float,
    auc: float,
    slope_std_error: float,
    z: float,
    *,
    oe_width: float = DEFAULT_WIDTH,
    slope_width: float = DEFAULT_WIDTH,
    auc_width: float = AUC_AND_R2_WIDTH,
) -> list[int]:
    """Return the numbers of rows for which a calibrated model's intervals have these widths.

    The intervals are for observed over expected events, for the calibration slope and for the AUC.
    """
    odds_against_event = (1 - prevalence) / prevalence
    return [
        rows_for_std_error(math.sqrt(odds_against_event), math.asinh(oe_width / 2) / z),
        rows_for_std_error(slope_std_error, slope_width / (2 * z)),
        rows_for_auc(auc, prevalence, auc_width / (2 * z)),
    ]


def net_benefit_and_std_error(
    prevalence: float, threshold: float, sensitivity: float, specificity: float
) -> tuple[float, float]:
    """Return the standardised net benefit at a threshold, and its standard error for one row.

    For n rows, the standard error is divided by the square root of n.
    """
    false_positive_weight = (1 - prevalence) / prevalence * threshold / (1 - threshold)
    variance = (
        sensitivity * (1 - sensitivity) / prevalence
        + false_positive_weight**2 * specificity * (1 - specificity) / (1 - prevalence)
        + false_positive_weight**2 * (1 - specificity) ** 2 / (prevalence * (1 - prevalence))
    )
    return sensitivity - false_positive_weight * (1 - specificity), math.sqrt(max(variance, 0.0))


# ---------------------------------------------------------------- from an estimated model


class FollowUp(NamedTuple):
    """Events per person and unit of time, the horizon of the risks, and the mean follow-up."""

    rate: float
    horizon: float
    follow_up: float

    @classmethod
    def from_survival_outcome(cls, horizon: float, y: np.ndarray) -> FollowUp:
        """Return event rate, horizon and mean follow-up of survival outcomes (event, time)."""
        has_event, follow_up_times = y.T
        return cls(
            float(has_event.sum() / follow_up_times.sum()),
            float(horizon),
            float(follow_up_times.mean()),
        )


def rows_to_develop(
    n_features: int | None,
    event_share: float | None,
    r2: float | None,
    follow_up: FollowUp | None = None,
) -> int | None:
    """Return the number of rows to develop a model, by the criteria of Riley et al. (2019).

    `r2` is the R² of Nagelkerke, or the share of explained variance for numeric y. For classes give
    the share of the event (`event_share`), for survival outcomes `follow_up`, and for numeric y
    neither; the mean of numeric y need not be known. The result is None if r2 is not above 0.
    """
    if not n_features or r2 is None or not 0 < r2 < 1:
        return None
    with suppress(Refusal):  # The result is None if unattainably many rows would be needed.
        if follow_up is None and event_share is None:
            return max(rows_for_linear_model(n_features, r2))
        normal_quantile_value = normal_quantile(0.95)
        if follow_up is not None:
            null_log_likelihood = survival_null_log_likelihood(follow_up.rate * follow_up.follow_up)
            rows_for_overall_risk = rows_for_risk(
                *follow_up, margin=MAX_RISK_MARGIN, normal_quantile_value=normal_quantile_value
            )
        else:
            assert event_share is not None
            null_log_likelihood = binary_null_log_likelihood(event_share)
            outcome_sd = math.sqrt(event_share * (1 - event_share))
            rows_for_overall_risk = rows_for_std_error(
                outcome_sd, MAX_RISK_MARGIN / normal_quantile_value
            )
        perfect_r2 = largest_r2(null_log_likelihood)
        return max(
            *rows_for_shrinkage_and_r2(n_features, r2 * perfect_r2, perfect_r2),
            rows_for_overall_risk,
        )
    return None


def rows_to_test(event_share: float | None, auc: float | None) -> int | None:
    """Return how many other people are needed to validate a calibrated model, or None.

    `auc` is the AUC of the model, and `event_share` is the share of people with the event.
    """
    if event_share is None or auc is None or not 0.5 < auc < 1:
        return None
    with suppress(Refusal):
        slope_std_error = LinearPredictor.from_auc(auc, event_share).slope_std_error()
        z = normal_quantile(0.95)
        return max(rows_to_validate(event_share, auc, slope_std_error, z))
    return None
