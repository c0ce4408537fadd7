r"""By how much cross-validation of a tuned learner varies more than a mean of independent losses.

Folds share training rows, so the mean of n out-of-fold losses has a larger variance than s²/n. No
unbiased estimate of it exists (Bengio and Grandvalet, 2004). Over the battery of
`python -m benchmarks.calibration` it is 1 to 2 times as large, and the more so the more a learner
depends on which rows it was trained on. One drawing of the folds does not show that: `ONCE` serves
all learners. Several drawings do, as the *instability* u: it is 0 for a rule that says the same
whatever the folds, whose tests are those of independent rows (Bayle et al., 2020).

With repetitions s² is the variance of the rows' *mean* losses. What changes from one drawing of the
folds to the next, within a row, is averaged out of the value and of s² alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.methods.interval_forms.form import Evidence, IntervalForm
from truerisk.methods.interval_forms.wald import variance_of_mean

__all__ = ["MOST", "ONCE", "SLOPE", "Enlarged", "enlarged", "factor"]

ONCE = 1.8  # one drawing of the folds
SLOPE, MOST = 5.0, 2.0  # several


def factor(instability: float | None, stable: float = 1.0) -> float:
    """By how much the variance of independent rows is enlarged; None: the folds were drawn once.

    `stable` is the factor of a learner without instability.

    >>> factor(None), factor(0.0), factor(0.1), factor(0.5)
    (1.8, 1.0, 1.5, 2.0)
    """
    return ONCE if instability is None else min(MOST, stable + SLOPE * instability)


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


def enlarged(evidence: Evidence, form: IntervalForm, stable: float = 1.0) -> Enlarged:
    """`factor` times the variance of a mean of independent rows or groups."""
    losses, weights, plan = evidence.losses, evidence.weights, evidence.plan
    if losses is None or weights is None or plan is None:
        raise form.lacks("losses of single rows", "use a K-fold word")
    times = np.bincount(plan.positions[0])
    if len(np.unique(times[times > 0])) > 1:
        raise form.lacks("rows that are tested equally often", "use a K-fold word")
    plain, units = variance_of_mean(losses, weights, evidence.value, evidence.groups)
    if plain <= (1e-12 * max(1.0, abs(evidence.value))) ** 2:
        plain = 0.0
    told = _instability_of(evidence) if plain > 0 else None  # equal losses tell nothing
    more = factor(told, stable)
    return Enlarged(more * plain, plain, units / more)


def _instability_of(evidence: Evidence) -> float | None:
    unstable = evidence.unstable
    return None if unstable is None else float(unstable[evidence.candidate])
