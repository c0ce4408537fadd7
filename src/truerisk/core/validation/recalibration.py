"""The calibration line: logit P(event) against logit p, its slope and its intercept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.validation.line_fit import LineFit
from truerisk.core.validation.link import IDENTITY
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

    Of numbers the line is `mean of y = a + b f`, f the answer, by least squares, and R² that of the
    answers as they are, `1 − Σ(y − f)²/Σ(y − ȳ)²`.
    """

    line: LineFit
    in_the_large: LineFit
    explained: Mapping[str, float]

    @classmethod
    def of(cls, outcomes: Outcomes) -> Recalibration:
        """Refused where there is no such line."""
        why = why_no_line(outcomes)
        if why is not None:
            raise Refusal(why)
        y, w, given = outcomes.came, outcomes.weights, outcomes.linear
        one, fitted = np.ones((len(y), 1)), outcomes.link.fits.of
        line, large = fitted(np.column_stack([one, given]), y, w), fitted(one, y, w, given)
        if line is None or large is None:
            raise Refusal(
                "the calibration line could not be found: Newton's steps do not end. The "
                "probabilities are too near to 0 and 1, or to each other."
            )
        by_line = _of_likelihood(outcomes, line) if isinstance(line, LogisticFit) else {}
        return cls(line, large, by_line or _of_squares(outcomes))

    def measures(self) -> dict[str, float]:
        """By their words."""
        intercept, slope = map(float, self.line.coef)
        large = float(self.in_the_large.coef[0])
        return {**self.explained, "intercept": intercept, "slope": slope, "in-the-large": large}

    def std_errors(self, members: np.ndarray) -> dict[str, float]:
        """By the sandwich, rows of one member added up first."""
        a, b = np.sqrt(np.diag(self.line.covariance(members)))
        large = np.sqrt(self.in_the_large.covariance(members)[0, 0])
        return {"intercept": float(a), "slope": float(b), "in-the-large": float(large)}


def _of_likelihood(outcomes: Outcomes, line: LogisticFit) -> dict[str, float]:
    """What the line explains of events, and how much better it is than the probabilities."""
    y, w, n = outcomes.came, outcomes.weights, outcomes.n
    share, best = outcomes.mean(y), line.log_likelihood
    none = log_likelihood(np.full(len(y), np.log(share / (1 - share))), y, w)
    given = log_likelihood(outcomes.linear, y, w)
    r2 = (1 - np.exp(2 * (none - best) / n)) / (1 - np.exp(2 * none / n))
    d, u = (2 * (best - none) - 1) / n, (2 * (best - given) - 2) / n
    return {"r2": float(r2), "d": float(d), "u": float(u), "q": float(d - u)}


def _of_squares(outcomes: Outcomes) -> dict[str, float]:
    """What the answers explain of the squares of y, and their own."""
    left = outcomes.mean((outcomes.came - outcomes.given) ** 2)
    around = outcomes.mean((outcomes.came - outcomes.mean(outcomes.came)) ** 2)
    return {"explained": 1 - left / around, "squared": left}


def _why_no_line_of_numbers(outcomes: Outcomes) -> str | None:
    if not np.isfinite(outcomes.given).all():
        return "some answers are not finite numbers."
    for values, what in ((outcomes.given, "answers"), (outcomes.came, "values of y")):
        if np.ptp(values) <= 1e-12 * np.abs(values).max():
            return f"all {what} are equal: there is no slope."
    return None


def why_no_line(outcomes: Outcomes) -> str | None:
    """Why there is no calibration line, or None."""
    if outcomes.link is IDENTITY:
        return _why_no_line_of_numbers(outcomes)
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
    events, others = (outcomes.linear[outcomes.came == one] for one in (1, 0))
    if others.max() <= events.min() or events.max() <= others.min():
        return (
            "the probabilities separate events from other rows without an error: the slope is "
            "infinite. More rows would show where it ends."
        )
    return None
