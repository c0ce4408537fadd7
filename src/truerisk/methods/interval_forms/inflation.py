r"""By how much cross-validation of a tuned learner varies more than a mean of independent losses.

Folds share training rows, so the mean of n out-of-fold losses has a larger variance than s²/n. No
unbiased estimate of it exists (Bengio and Grandvalet, 2004). Over the battery of
`python -m benchmarks.calibration` the factor is 1.1 to 2 for one K-fold; a part of it is the
drawing of the folds, which R repetitions divide by R:

.. math:: c(R) = 1.3 + 0.3/R
"""

from __future__ import annotations

import numpy as np

from truerisk.methods.interval_forms.form import Evidence, IntervalForm
from truerisk.methods.interval_forms.wald import variance_of_mean

__all__ = ["BETWEEN", "WITHIN", "enlarged_variance"]

BETWEEN, WITHIN = 1.3, 0.3


def enlarged_variance(evidence: Evidence, form: IntervalForm) -> tuple[float, float]:
    """c(R) times the variance of a mean of independent units, and how many they are, over c(R)."""
    losses, weights, plan = evidence.losses, evidence.weights, evidence.plan
    if losses is None or weights is None or plan is None:
        raise form.lacks("losses of single rows", "use a K-fold word")
    times = np.unique(np.bincount(plan.positions[0]))
    times = times[times > 0]
    if len(times) > 1:
        raise form.lacks("rows that are tested equally often", "use a K-fold word")
    factor = BETWEEN + WITHIN / int(times[0])
    variance, units = variance_of_mean(losses, weights, evidence.value, evidence.groups)
    if evidence.squares is not None and units > 1:  # of one row's losses around their mean
        within = np.maximum(evidence.squares - losses**2, 0.0)
        variance += units / (units - 1) * float((weights**2 * within).sum())
    none = variance <= (1e-12 * max(1.0, abs(evidence.value))) ** 2
    return 0.0 if none else factor * variance, units / factor
