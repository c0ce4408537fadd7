"""The setting that a model was given with: whether tuning is shown to do better than to leave it.

A search can end behind the defaults that it started from, since the best of many noisy numbers is
lucky (Schneider, Bischl and Feurer, 2025, arXiv 2506.19540: in one case of ten). Where the tuned
model is tested on the very folds that compared the settings, the losses of the given setting on the
same rows, by fits on the same training sets, are known already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.api.assessing.paired_difference import Paired, paired_difference
from truerisk.api.road.compute import Computed
from truerisk.core.family import Family
from truerisk.core.present import clean, number, params_text, signed, unsigned
from truerisk.core.results import RiskCurve, RiskEstimate

__all__ = ["AsGiven", "as_given", "number_as_given"]

SHARES = {  # of which 1 is a count and 1.0 a share
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


@dataclass(frozen=True)
class AsGiven:
    """The given setting against the tuned model: `gain` is the mean loss that tuning spares."""

    params: Mapping[str, Any]
    risk: float
    gain: Paired

    def suffices(self, level: float) -> bool:
        """Whether tuning is not shown to be better, beyond the noise of the paired losses."""
        return not (self.gain.mean > 0 and self.gain.exceeds_noise(level))

    def __str__(self) -> str:
        beside = self.risk
        return (
            f"the setting as given ({clean(params_text(self.params), 80)}) has a risk of "
            f"{number(self.risk)} on the same rows ({signed(self.gain.mean, beside)}, paired "
            f"standard error {unsigned(self.gain.std_error, beside)})"
        )


def as_given(
    tuned: Computed, honest: Computed, curve: RiskCurve, risk: RiskEstimate
) -> AsGiven | None:
    """The given setting where it is among the settings and was not chosen.

    None as well where the losses are not those of the same fits on the same rows, or go forward in
    time, so that nothing says how sure their difference is.
    """
    place = number_as_given(tuned.problem.family)
    if place is None or place == curve.best or risk.value is None or risk.ordered:
        return None
    known, tested = tuned.evaluation.answers, honest.evaluation.answers
    if known is None or tested is None or not tested.plan.asks_like(known.plan):
        return None
    given = curve[place]
    if given.losses is None or risk.losses is None:
        return None
    if (
        given.loss_rows is None
        or risk.loss_rows is None
        or given.loss != risk.loss
        or not np.array_equal(given.loss_rows, risk.loss_rows)
    ):
        return None
    gain = paired_difference(given.losses, risk.losses, risk.loss_rows, tuned.problem.data)
    if gain is None or not np.isfinite(gain.mean):
        return None
    return AsGiven(curve.candidates[place], risk.value + gain.mean, gain)


def number_as_given(family: Family) -> int | None:
    """Which of several candidates sets what the model already has; None where none of them does."""
    if len(family) < 2:
        return None
    own = family.estimator.get_params(deep=True)
    for place, params in enumerate(family.candidates):
        if params and all(name in own and _is(name, own[name], v) for name, v in params.items()):
            return place
    return None


def _is(name: str, own: Any, value: Any) -> bool:
    """Whether two values of a parameter mean the same: 1 and 1.0 do, unless one is a share."""
    if own is value:
        return True
    own, value = (one.item() if isinstance(one, np.generic) else one for one in (own, value))
    numbers = all(isinstance(one, int | float) for one in (own, value))
    flags = isinstance(own, bool) or isinstance(value, bool)
    if numbers and not flags and name.rpartition("__")[2] not in SHARES:
        return bool(own == value)
    if type(own) is not type(value) or not isinstance(own, bool | int | float | str | tuple):
        return False
    return bool(own == value)
