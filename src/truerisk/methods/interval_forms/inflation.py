r"""By how much cross-validation of a tuned learner varies more than a mean of independent losses.

Folds share training rows, so the mean of n out-of-fold losses has a larger variance than s²/n. No
unbiased estimate of it exists (Bengio and Grandvalet, 2004). Over the battery of
`python -m benchmarks.calibration` the factor is 1.1 to 2 for one K-fold; a part of it is the
drawing of the folds, which R repetitions divide by R:

.. math:: c(R) = 1.35 + 0.35/R
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.methods.interval_forms.form import Evidence, IntervalForm
from truerisk.methods.interval_forms.wald import variance_of_mean

__all__ = ["BETWEEN", "WITHIN", "Enlarged", "enlarged"]

BETWEEN, WITHIN = 1.35, 0.35


@dataclass(frozen=True)
class Enlarged:
    """The variance of a cross-validated mean, `plain` that of as many independent units.

    `units` are the rows, or groups, that were tested, divided by the factor as well.
    """

    variance: float
    plain: float
    units: float

    @property
    def std_error(self) -> float:
        """The usual one, of independent units; the interval rests on `variance`."""
        usual: float = self.plain**0.5
        return usual


def enlarged(evidence: Evidence, form: IntervalForm) -> Enlarged:
    """c(R) times the variance of a mean of independent rows or groups."""
    losses, weights, plan = evidence.losses, evidence.weights, evidence.plan
    if losses is None or weights is None or plan is None:
        raise form.lacks("losses of single rows", "use a K-fold word")
    times = np.unique(np.bincount(plan.positions[0]))
    times = times[times > 0]
    if len(times) > 1:
        raise form.lacks("rows that are tested equally often", "use a K-fold word")
    factor = BETWEEN + WITHIN / int(times[0])
    plain, units = variance_of_mean(losses, weights, evidence.value, evidence.groups)
    if evidence.squares is not None and units > 1:  # of one row's losses around their mean
        within = np.maximum(evidence.squares - losses**2, 0.0)
        plain += units / (units - 1) * float((weights**2 * within).sum())
    if plain <= (1e-12 * max(1.0, abs(evidence.value))) ** 2:
        plain = 0.0
    return Enlarged(factor * plain, plain, units / factor)
