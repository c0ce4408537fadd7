"""The flexible calibration curve: the share of events as a smooth function of the probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.validation.cubic_spline import knot_shares, spline_columns
from truerisk.core.validation.logistic_fit import LogisticFit
from truerisk.core.validation.outcomes import Outcomes
from truerisk.core.validation.recalibration import why_no_line

__all__ = ["FEWEST", "CalibrationFit", "grid_of"]

FEWEST = 10  # rows of either class
N_POINTS = 101
SHOWN = 0.01, 0.99  # quantiles of the probabilities between which the curve is shown


@dataclass(frozen=True, eq=False)
class CalibrationFit:
    r"""`logit P(y = 1) = s(logit p)`, s a restricted cubic spline (Harrell, 2015; Austin, 2019).

    Where the probabilities are right s is the identity, whatever the knots. ICI, E50, E90 and Emax
    are the mean, median, 90 % quantile and maximum over rows of |p − s|, on the scale of
    probabilities (Austin and Steyerberg, 2019).
    """

    knots: np.ndarray
    fit: LogisticFit

    @classmethod
    def of(cls, outcomes: Outcomes) -> CalibrationFit:
        """Refused where there is no line, or where either class has fewer than 10 rows."""
        why = why_no_line(outcomes)
        if why is not None:
            raise Refusal(why)
        if outcomes.n_rarer < FEWEST:
            raise Refusal(
                f"{outcomes.n_rarer} rows of the rarer outcome: a curve needs {FEWEST} of either "
                "at least, and hundreds to be of use."
            )
        shares = knot_shares(outcomes.n_rows)
        knots = np.unique(outcomes.quantiles(outcomes.logit, shares))
        columns = spline_columns(outcomes.logit, knots)
        fit = LogisticFit.of(columns, outcomes.came, outcomes.weights)
        if fit is None:
            raise Refusal(
                "the calibration curve could not be found: it runs off to 0 or 1 within the "
                "probabilities. There are too few rows for it."
            )
        return cls(knots, fit)

    def at(self, probabilities: np.ndarray) -> np.ndarray:
        """The smoothed share of events at these probabilities."""
        from scipy.special import expit

        return np.asarray(expit(self._columns(probabilities) @ self.fit.coef))

    def band(
        self, probabilities: np.ndarray, members: np.ndarray, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Point by point, on the logit scale by the sandwich with members whole."""
        from scipy.special import expit, ndtri

        columns = self._columns(probabilities)
        spread = np.einsum("ij,jk,ik->i", columns, self.fit.covariance(members), columns)
        half = float(ndtri((1 + level) / 2)) * np.sqrt(np.maximum(spread, 0))
        middle = columns @ self.fit.coef
        return expit(middle - half), expit(middle + half)

    def errors(self, outcomes: Outcomes) -> dict[str, float]:
        """Mean, median, 90 % quantile and maximum of |p − s|."""
        off = np.abs(outcomes.given - self.at(outcomes.given))
        median, high = outcomes.quantiles(off, (0.5, 0.9)).tolist()
        return {
            "ici": outcomes.mean(off),
            "e50": median,
            "e90": high,
            "emax": float(off.max()),
        }

    def _columns(self, probabilities: np.ndarray) -> np.ndarray:
        from scipy.special import logit

        return spline_columns(np.asarray(logit(probabilities)), self.knots)


def grid_of(outcomes: Outcomes) -> np.ndarray:
    """Where the curve is shown: equal steps between the 1 % and the 99 % quantile."""
    low, high = outcomes.quantiles(outcomes.given, SHOWN)
    return np.linspace(low, high, N_POINTS)
