"""Comparison of the untuned model's risk with the risk of the tuned model.

The untuned model has the hyperparameters that it was passed with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from truerisk.core.family import Family
from truerisk.core.formats import (
    escape_and_truncate,
    format_number,
    format_params,
    signed_number,
    unsigned_number,
)
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.estimation.problem import EstimationProblem
from truerisk.results.evaluation import Evaluation
from truerisk.results.interval import LOSS_SCALE, Scale
from truerisk.results.results import RiskCurve, RiskEstimate

ROUNDING_ERROR = 1e-12


@frozen
class PairedDifference:
    """Mean difference between two paired losses, with its standard error.

    The error is computed from `n_units` rows or groups of rows. `largest_loss` is the largest of
    the losses; a spread far below it is rounding error.
    """

    mean: float
    std_error: float
    n_units: int
    largest_loss: float = 1.0

    def exceeds_noise(self, level: float) -> bool:
        """Return True if the t interval of the mean difference at level `level` excludes 0."""
        if self.std_error <= ROUNDING_ERROR * self.largest_loss:
            return False  # Equal losses have no spread, so the standard error is unknown.
        from scipy.special import stdtrit

        return bool(abs(self.mean) > stdtrit(self.n_units - 1, (1 + level) / 2) * self.std_error)


def paired_difference(
    first_losses: np.ndarray, second_losses: np.ndarray, rows: np.ndarray, data: Data
) -> PairedDifference | None:
    r"""Return the weighted mean difference of two paired losses, with its standard error.

    The difference is d = first − second. The standard error is clustered by groups.

    se² = m/(m−1) · Σ_g (Σ_{i∈g} w_i (d_i − mean))², where w are the row weights with Σ w = 1, over
    m groups, or over m rows if there are no groups. Return None if m < 2.
    """
    row_weights = data.weights(rows)
    row_weights = np.ones(len(rows)) if row_weights is None else row_weights
    normalized_weights = row_weights / row_weights.sum()
    differences = first_losses - second_losses
    mean = float(normalized_weights @ differences)
    weighted_residuals = normalized_weights * (differences - mean)
    if data.clusters is not None:
        weighted_residuals = np.bincount(
            np.unique(data.clusters[rows], return_inverse=True)[1], weighted_residuals
        )
    n_units = len(weighted_residuals)
    if n_units < 2:
        return None
    largest_loss = float(max(np.abs(first_losses).max(), np.abs(second_losses).max()))
    return PairedDifference(
        mean,
        float(np.sqrt(n_units / (n_units - 1) * (weighted_residuals**2).sum())),
        n_units,
        largest_loss,
    )


# Parameters of scikit-learn for which the integer 1 is a count and the float 1.0 a share.
COUNT_OR_SHARE_PARAMETERS = {
    "max_features",
    "max_samples",
    "min_samples_leaf",
    "min_samples_split",
    "min_frequency",
    "n_components",
    "n_features_to_select",
    "max_df",
    "min_df",
}


@frozen
class UntunedComparison:
    """Comparison of the untuned setting with the tuned model.

    It holds the risk of the untuned setting, and the mean loss that tuning saves (`tuning_gain`).

    `risk` and `tuning_gain` are losses; `scale` is the scale on which the printed sentence reports
    them.
    """

    params: Mapping[str, Any]
    risk: float
    tuning_gain: PairedDifference
    scale: Scale = LOSS_SCALE

    def is_untuned_sufficient(self, level: float) -> bool:
        """Return True if the tuned model is not significantly better than the untuned setting.

        The test uses the paired losses of both.
        """
        return not (self.tuning_gain.mean > 0 and self.tuning_gain.exceeds_noise(level))

    def __str__(self) -> str:
        risk, gain_on_scale = self.risk, self.scale.convert_difference(self.tuning_gain.mean)
        return (
            f"the untuned setting ({escape_and_truncate(format_params(self.params), 80)}) has a "
            f"{self.scale.noun} of {format_number(self.scale.value(self.risk))} on the same rows "
            f"({signed_number(gain_on_scale, risk)}, paired standard error "
            f"{unsigned_number(self.tuning_gain.std_error, risk)})"
        )


def compare_with_untuned(
    problem: EstimationProblem,
    tuning: Evaluation,
    curve: RiskCurve,
    testing: Evaluation,
    risk: RiskEstimate,
) -> UntunedComparison | None:
    """Compare the untuned setting with the tuned model, or return None if that is impossible.

    It is impossible if the untuned setting is no candidate or was chosen itself; if the losses are
    not from the same fits and rows; and if rows are tested in the order of time, because the
    uncertainty of the difference is then unknown.
    """
    untuned_index = find_untuned_candidate(problem.family)
    if (
        untuned_index is None
        or untuned_index == curve.best
        or risk.loss_value is None
        or risk.ordered
    ):
        return None
    if tuning.answers is None or testing.answers is None:
        return None
    if not testing.answers.plan.asks_like(tuning.answers.plan):
        return None
    untuned_risk = curve[untuned_index]
    if untuned_risk.losses is None or risk.losses is None:
        return None
    if (
        untuned_risk.loss_rows is None
        or risk.loss_rows is None
        or untuned_risk.scoring != risk.scoring
        or not np.array_equal(untuned_risk.loss_rows, risk.loss_rows)
    ):
        return None
    gain = paired_difference(untuned_risk.losses, risk.losses, risk.loss_rows, problem.data)
    if gain is None or not np.isfinite(gain.mean):
        return None
    return UntunedComparison(
        curve.candidates[untuned_index], risk.loss_value + gain.mean, gain, risk.scale
    )


def find_untuned_candidate(family: Family) -> int | None:
    """Return the number of the candidate whose setting is that of the untuned model, or None."""
    if len(family) < 2:
        return None
    untuned_params = family.estimator.get_params(deep=True)
    for candidate, setting in enumerate(family.candidates):
        is_untuned = bool(setting)
        for parameter_name, parameter_value in setting.items():
            is_untuned = (
                is_untuned
                and parameter_name in untuned_params
                and _is_same_value(parameter_name, untuned_params[parameter_name], parameter_value)
            )
        if is_untuned:
            return candidate
    return None


def _is_same_value(parameter_name: str, untuned_value: Any, value: Any) -> bool:
    """Return True if two values of a parameter have the same meaning.

    1 and 1.0 have the same meaning, except for a parameter whose float values are shares.
    """
    if untuned_value is value:
        return True
    untuned_value = untuned_value.item() if isinstance(untuned_value, np.generic) else untuned_value
    value = value.item() if isinstance(value, np.generic) else value
    are_numbers = isinstance(untuned_value, int | float) and isinstance(value, int | float)
    has_bool = isinstance(untuned_value, bool) or isinstance(value, bool)
    if (
        are_numbers
        and not has_bool
        and parameter_name.rpartition("__")[2] not in COUNT_OR_SHARE_PARAMETERS
    ):
        return bool(untuned_value == value)
    if type(untuned_value) is not type(value) or not isinstance(
        untuned_value, bool | int | float | str | tuple
    ):
        return False
    return bool(untuned_value == value)
