"""The calibration line: logit P(event) against logit p, its slope and its intercept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.validation.logistic_fit import LogisticFit, log_likelihood
from truerisk.core.validation.outcomes import Outcomes

__all__ = ["Recalibration", "why_no_line"]


@dataclass(frozen=True, eq=False)
class Recalibration:
    r"""`logit P(y = 1) = a + b logit p` (Cox, 1958): b the slope, a the intercept.

    The intercept "in the large" has b held at 1. With L₀ the log-likelihood of the share of events
    alone, L₁ that of the probabilities as they are and L that of the line, n the weight of the
    rows: `R² = (1 − e^{2(L₀−L)/n})/(1 − e^{2L₀/n})` (Nagelkerke, 1991), `D = (2(L−L₀) − 1)/n`,
    `U = (2(L−L₁) − 2)/n`, `Q = D − U` (Harrell, 2015), as validate of the R package rms has them.
    """

    line: LogisticFit
    in_the_large: LogisticFit
    l_none: float
    l_given: float
    n: float

    @classmethod
    def of(cls, outcomes: Outcomes) -> Recalibration:
        """Refused where there is no such line."""
        why = why_no_line(outcomes)
        if why is not None:
            raise Refusal(why)
        y, w, logit = outcomes.came, outcomes.weights, outcomes.logit
        one = np.ones((len(y), 1))
        line = LogisticFit.of(np.column_stack([one, logit]), y, w)
        large = LogisticFit.of(one, y, w, logit)
        if line is None or large is None:
            raise Refusal(
                "the calibration line could not be found: Newton's steps do not end. The "
                "probabilities are too near to 0 and 1, or to each other."
            )
        share = outcomes.mean(y)
        none = log_likelihood(np.full(len(y), np.log(share / (1 - share))), y, w)
        return cls(line, large, none, log_likelihood(logit, y, w), outcomes.n)

    def measures(self) -> dict[str, float]:
        """By their words."""
        best = self.line.log_likelihood
        r2 = (1 - np.exp(2 * (self.l_none - best) / self.n)) / (
            1 - np.exp(2 * self.l_none / self.n)
        )
        d = (2 * (best - self.l_none) - 1) / self.n
        u = (2 * (best - self.l_given) - 2) / self.n
        intercept, slope = map(float, self.line.coef)
        large = float(self.in_the_large.coef[0])
        found = {"r2": r2, "d": d, "u": u, "q": d - u}
        found |= {"intercept": intercept, "slope": slope, "in-the-large": large}
        return {word: float(value) for word, value in found.items()}

    def std_errors(self, members: np.ndarray) -> dict[str, float]:
        """By the sandwich, rows of one member added up first."""
        a, b = np.sqrt(np.diag(self.line.covariance(members)))
        large = np.sqrt(self.in_the_large.covariance(members)[0, 0])
        return {"intercept": float(a), "slope": float(b), "in-the-large": float(large)}


def why_no_line(outcomes: Outcomes) -> str | None:
    """Why there is no calibration line, or None."""
    if outcomes.of_one_class:
        came = "in every row" if outcomes.n_events else "in no row"
        return f"the event came {came}: there is nothing to compare probabilities with."
    p = outcomes.given
    extreme = int(np.count_nonzero((p <= 0) | (p >= 1)))
    if extreme:
        return (
            f"{extreme} of {outcomes.n_answers} probabilities are exactly 0 or 1, and their logit "
            "is infinite: give clip=0.001, which takes them for 0.001 and 0.999, or a learner that "
            "is never so sure."
        )
    if (p == p[0]).all():
        return "all probabilities are equal: they have no slope."
    events, others = outcomes.logit[outcomes.came == 1], outcomes.logit[outcomes.came == 0]
    if others.max() <= events.min() or events.max() <= others.min():
        return (
            "the probabilities separate events from other rows without an error: the slope is "
            "infinite. More rows would show where it ends."
        )
    return None
