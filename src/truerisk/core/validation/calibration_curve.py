"""The flexible calibration curve: the share of events as a smooth function of the probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.validation.cubic_spline import knot_shares, spline_columns
from truerisk.core.validation.line_fit import LineFit
from truerisk.core.validation.link import IDENTITY, LOGIT, Link
from truerisk.core.validation.outcomes import Outcomes
from truerisk.core.validation.recalibration import why_no_line

__all__ = ["FEWEST", "CalibrationFit", "grid_of"]

FEWEST = 10  # rows, of either class where there are two
N_POINTS = 101
LOST = ", since it runs off to 0 or 1 within the probabilities"
SHOWN = 0.01, 0.99  # quantiles of the probabilities between which the curve is shown


@dataclass(frozen=True, eq=False)
class CalibrationFit:
    r"""`logit P(y = 1) = s(logit p)`, s a restricted cubic spline (Harrell, 2015; Austin, 2019).

    Of numbers it is `mean of y = s(f)`, f the answer.

    Where the probabilities are right s is the identity, whatever the knots. ICI, E50, E90 and Emax
    are the mean, median, 90 % quantile and maximum over rows of |p − s|, on the scale of
    probabilities (Austin and Steyerberg, 2019).
    """

    knots: np.ndarray
    fit: LineFit
    link: Link = LOGIT

    @classmethod
    def of(cls, outcomes: Outcomes) -> CalibrationFit:
        """Refused where there is no line, or where either class has fewer than 10 rows."""
        why = why_no_line(outcomes)
        if why is not None:
            raise Refusal(why)
        why = _too_few(outcomes)
        if why is not None:
            raise Refusal(why)
        shares = knot_shares(outcomes.n_rows)
        knots = np.unique(outcomes.quantiles(outcomes.linear, shares))
        columns = spline_columns(outcomes.linear, knots)
        fit = outcomes.link.fits.of(columns, outcomes.came, outcomes.weights)
        if fit is None:
            lost = "" if outcomes.link is IDENTITY else LOST
            raise Refusal(
                f"the calibration curve could not be found{lost}: there are too few rows for it."
            )
        return cls(knots, fit, outcomes.link)

    def at(self, probabilities: np.ndarray) -> np.ndarray:
        """The smoothed share of events at these probabilities."""
        return self.link.back(self._columns(probabilities) @ self.fit.coef)

    def band(
        self, probabilities: np.ndarray, members: np.ndarray, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Point by point, on the scale of the link by the sandwich with members whole."""
        from scipy.special import ndtri

        columns = self._columns(probabilities)
        spread = np.einsum("ij,jk,ik->i", columns, self.fit.covariance(members), columns)
        half = float(ndtri((1 + level) / 2)) * np.sqrt(np.maximum(spread, 0))
        middle = columns @ self.fit.coef
        return self.link.back(middle - half), self.link.back(middle + half)

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

    def _columns(self, given: np.ndarray) -> np.ndarray:
        return spline_columns(self.link.of(given), self.knots)


def _too_few(outcomes: Outcomes) -> str | None:
    """Why there are not rows enough for a curve, or None."""
    if outcomes.link is IDENTITY:
        n = outcomes.n_rows
        return None if n >= FEWEST else f"{n} rows: a curve needs {FEWEST} at least."
    if outcomes.n_rarer >= FEWEST:
        return None
    return (
        f"{outcomes.n_rarer} rows of the rarer outcome: a curve needs {FEWEST} of either at least, "
        "and hundreds to be of use."
    )


def grid_of(outcomes: Outcomes) -> np.ndarray:
    """Where the curve is shown: equal steps between the 1 % and the 99 % quantile."""
    low, high = outcomes.quantiles(outcomes.given, SHOWN)
    return np.linspace(low, high, N_POINTS)
