"""Compare the risk of the setting that the model was given with the risk of the tuned model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from truerisk.core.family import Family
from truerisk.core.formats import clean, number, params_text, signed, unsigned
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.estimation.problem import Problem
from truerisk.results.evaluation import Evaluation
from truerisk.results.interval import ERROR, Scale
from truerisk.results.results import RiskCurve, RiskEstimate

_NOTHING = 1e-12


@frozen
class Paired:
    """Mean paired difference with its standard error over `n_units` rows, or groups of rows.

    `scale` is the largest loss; a spread far below it is rounding error.
    """

    mean: float
    std_error: float
    n_units: int
    scale: float = 1.0

    def exceeds_noise(self, level: float) -> bool:
        """Return True if 0 lies outside the t interval of this level."""
        if self.std_error <= _NOTHING * self.scale:
            return False  # equal losses have no spread, so that their error is unknown
        from scipy.special import stdtrit

        return bool(abs(self.mean) > stdtrit(self.n_units - 1, (1 + level) / 2) * self.std_error)


def paired_difference(
    first: np.ndarray, second: np.ndarray, rows: np.ndarray, data: Data
) -> Paired | None:
    r"""Return the weighted mean of d = first − second with its standard error, clustered by groups.

    se² = m/(m−1) · Σ_g (Σ_{i∈g} w_i (d_i − mean))² with Σ w = 1 over m groups, or m rows if there
    are no groups. Return None if there are fewer than two of them.
    """
    weights = data.weights(rows)
    weights = np.ones(len(rows)) if weights is None else weights
    share = weights / weights.sum()
    differences = first - second
    mean = float(share @ differences)
    residuals = share * (differences - mean)
    if data.clusters is not None:
        residuals = np.bincount(np.unique(data.clusters[rows], return_inverse=True)[1], residuals)
    m = len(residuals)
    if m < 2:
        return None
    scale = float(max(np.abs(first).max(), np.abs(second).max()))
    return Paired(mean, float(np.sqrt(m / (m - 1) * (residuals**2).sum())), m, scale)


SHARES = {  # parameters for which 1 is a count and 1.0 is a share
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
class AsGiven:
    """The given setting compared with the tuned model; `gain` is the mean loss that tuning saves.

    `risk` and `gain` are losses; `scale` is the scale on which the printed sentence reports them.
    """

    params: Mapping[str, Any]
    risk: float
    gain: Paired
    scale: Scale = ERROR

    def suffices(self, level: float) -> bool:
        """Return True if the paired losses do not show, beyond noise, that tuning is better."""
        return not (self.gain.mean > 0 and self.gain.exceeds_noise(level))

    def __str__(self) -> str:
        beside, gap = self.risk, self.scale.gap(self.gain.mean)
        return (
            f"the untuned setting ({clean(params_text(self.params), 80)}) has a "
            f"{self.scale.noun} of {number(self.scale.value(self.risk))} on the same rows "
            f"({signed(gap, beside)}, paired standard error "
            f"{unsigned(self.gain.std_error, beside)})"
        )


def as_given(
    problem: Problem, tuned: Evaluation, curve: RiskCurve, tested: Evaluation, risk: RiskEstimate
) -> AsGiven | None:
    """Compare the given setting with the tuned model, if it is a setting that was not chosen.

    Return None also if the losses are not from the same fits and rows, or if rows are tested in the
    order of time, because the uncertainty of their difference is then unknown.
    """
    place = number_as_given(problem.family)
    if place is None or place == curve.best or risk.loss_value is None or risk.ordered:
        return None
    if tuned.answers is None or tested.answers is None:
        return None
    if not tested.answers.plan.asks_like(tuned.answers.plan):
        return None
    usual = curve[place]
    if usual.losses is None or risk.losses is None:
        return None
    if (
        usual.loss_rows is None
        or risk.loss_rows is None
        or usual.scoring != risk.scoring
        or not np.array_equal(usual.loss_rows, risk.loss_rows)
    ):
        return None
    gain = paired_difference(usual.losses, risk.losses, risk.loss_rows, problem.data)
    if gain is None or not np.isfinite(gain.mean):
        return None
    return AsGiven(curve.candidates[place], risk.loss_value + gain.mean, gain, risk.scale)


def number_as_given(family: Family) -> int | None:
    """Return the candidate that equals the model's present setting, or None if none does."""
    if len(family) < 2:
        return None
    own = family.estimator.get_params(deep=True)
    for place, params in enumerate(family.candidates):
        is_own = bool(params)
        for name, value in params.items():
            is_own = is_own and name in own and _is_same(name, own[name], value)
        if is_own:
            return place
    return None


def _is_same(name: str, own: Any, value: Any) -> bool:
    """Return True if two parameter values are equivalent, as 1 and 1.0 are except for shares."""
    if own is value:
        return True
    own = own.item() if isinstance(own, np.generic) else own
    value = value.item() if isinstance(value, np.generic) else value
    numbers = isinstance(own, int | float) and isinstance(value, int | float)
    flags = isinstance(own, bool) or isinstance(value, bool)
    if numbers and not flags and name.rpartition("__")[2] not in SHARES:
        return bool(own == value)
    if type(own) is not type(value) or not isinstance(own, bool | int | float | str | tuple):
        return False
    return bool(own == value)
