"""Calibration of held-out probabilities: the line, the curve, and their distance from ideal.

The line regresses logit P(event) on logit p, with a slope and an intercept. The flexible curve is
the share of events as a smooth function of the probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, TypeVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.formats import number
from truerisk.core.frozen import frozen
from truerisk.core.tables import Block
from truerisk.results.interval import quantile_of_t
from truerisk.results.records import FINITE, Column, Points, Record, Share
from truerisk.validation.calibration_fits import (
    IDENTITY,
    LOGIT,
    LineFit,
    Link,
    LogisticFit,
    knot_shares,
    log_likelihood,
    spline_columns,
)
from truerisk.validation.measures import Measured, MeasuredPart
from truerisk.validation.outcomes import Outcomes


@frozen(eq=False)
class Recalibration:
    r"""The calibration line `logit P(y = 1) = a + b logit p` (Cox, 1958) with slope b, intercept a.

    The intercept "in the large" is fitted with b = 1. Let L₀ be the log-likelihood of the share of
    events alone, L₁ that of the unchanged probabilities, L that of the line, and n the weight of
    the rows. Then `R² = (1 − e^{2(L₀−L)/n})/(1 − e^{2L₀/n})` (Nagelkerke, 1991), `D = (2(L−L₀) −
    1)/n`, `U = (2(L−L₁) − 2)/n` and `Q = D − U` (Harrell, 2015), as in `validate` of the R package
    rms. For numeric y the line is `mean of y = a + b f` with the prediction f, by least squares,
    and R² is that of the unchanged predictions, `1 − Σ(y − f)²/Σ(y − ȳ)²`.

    Of numbers the line is `mean of y = a + b f`, f the answer, by least squares, and R² that of the
    answers as they are, `1 − Σ(y − f)²/Σ(y − ȳ)²`.
    """

    line: LineFit
    in_the_large: LineFit
    explained: Mapping[str, float]

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes) -> Recalibration:
        """Fit the line; raise if it does not exist."""
        why = why_no_line(outcomes)
        if why is not None:
            raise Refusal(why)
        y, w, linear = outcomes.observed, outcomes.weights, outcomes.linear
        constant, fit = np.ones((len(y), 1)), outcomes.link.fits.fit
        line, large = fit(np.column_stack([constant, linear]), y, w), fit(constant, y, w, linear)
        if line is None or large is None:
            raise Refusal(
                "the calibration line cannot be fitted: Newton's method does not converge. The "
                "probabilities are too near to 0 and 1, or to each other."
            )
        by_line = _of_likelihood(outcomes, line) if isinstance(line, LogisticFit) else {}
        return cls(line, large, by_line or _of_squares(outcomes))

    def measures(self) -> dict[str, float]:
        """Return the measures by name."""
        intercept, slope = map(float, self.line.coef)
        large = float(self.in_the_large.coef[0])
        return {**self.explained, "intercept": intercept, "slope": slope, "in-the-large": large}

    def std_errors(self, members: np.ndarray) -> dict[str, float]:
        """Return sandwich standard errors, with the rows of one member summed first."""
        a, b = np.sqrt(np.diag(self.line.covariance(members)))
        large = np.sqrt(self.in_the_large.covariance(members)[0, 0])
        return {"intercept": float(a), "slope": float(b), "in-the-large": float(large)}


def _of_likelihood(outcomes: Outcomes, line: LogisticFit) -> dict[str, float]:
    """Return what the line explains of the events, and its gain over the probabilities."""
    y, w, n = outcomes.observed, outcomes.weights, outcomes.n
    share, best = outcomes.mean(y), line.log_likelihood
    null = log_likelihood(np.full(len(y), np.log(share / (1 - share))), y, w)
    unchanged = log_likelihood(outcomes.linear, y, w)
    r2 = (1 - np.exp(2 * (null - best) / n)) / (1 - np.exp(2 * null / n))
    d, u = (2 * (best - null) - 1) / n, (2 * (best - unchanged) - 2) / n
    return {"r2": float(r2), "d": float(d), "u": float(u), "q": float(d - u)}


def _of_squares(outcomes: Outcomes) -> dict[str, float]:
    """Return the explained share of the squares of y, and the mean squared error."""
    residual = outcomes.mean((outcomes.observed - outcomes.predictions) ** 2)
    total = outcomes.mean((outcomes.observed - outcomes.mean(outcomes.observed)) ** 2)
    return {"explained": 1 - residual / total, "squared": residual}


def why_no_line(outcomes: Outcomes) -> str | None:
    """Return why there is no calibration line, or None."""
    if outcomes.link is IDENTITY:
        if not np.isfinite(outcomes.predictions).all():
            return "some answers are not finite numbers."
        for values, what in ((outcomes.predictions, "answers"), (outcomes.observed, "values of y")):
            if np.ptp(values) <= 1e-12 * np.abs(values).max():
                return f"all {what} are equal: there is no slope."
        return None
    if outcomes.of_one_class:
        rows = "in every row" if outcomes.n_events else "in no row"
        return f"the event occurred {rows}: there is nothing to compare probabilities with."
    p = outcomes.predictions
    extreme = int(np.count_nonzero((p <= 0) | (p >= 1)))
    if extreme:
        return (
            f"{extreme} of {outcomes.n_answers} probabilities are exactly 0 or 1, and their logit "
            "is infinite: give clip=0.001, which takes them for 0.001 and 0.999, or a learner with "
            "less extreme probabilities."
        )
    if (p == p[0]).all():
        return "all probabilities are equal: they have no slope."
    events, others = (outcomes.linear[outcomes.observed == event] for event in (1, 0))
    if others.max() <= events.min() or events.max() <= others.min():
        return (
            "the probabilities separate events from other rows without an error: the slope is "
            "infinite. More rows would show where it ends."
        )
    return None


N_BINS = 20
FEW_EVENTS = 200
FEW = (
    "{} rows of the rarer outcome: Van Calster et al. (2016) ask for {} before a curve is read in "
    "its details."
)
FEWEST = 10  # minimum number of rows, of each class if there are two
N_POINTS = 101
LOST = ", since it reaches 0 or 1 within the range of the probabilities"
SHOWN = 0.01, 0.99  # The curve is shown between these quantiles of the probabilities.


@frozen(eq=False)
class CalibrationFit:
    r"""The curve `logit P(y = 1) = s(logit p)` with a restricted cubic spline s.

    See Harrell (2015) and Austin (2019). For numeric y it is `mean of y = s(f)` with the prediction
    f. If the probabilities are right, s is the identity, whatever the knots. ICI, E50, E90 and Emax
    are the mean, median, 90 % quantile and maximum over rows of |p − s|, on the scale of
    probabilities (Austin and Steyerberg, 2019).

    Where the probabilities are right s is the identity, whatever the knots. ICI, E50, E90 and Emax
    are the mean, median, 90 % quantile and maximum over rows of |p − s|, on the scale of
    probabilities (Austin and Steyerberg, 2019).
    """

    knots: np.ndarray
    fit: LineFit
    link: Link = LOGIT

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes) -> CalibrationFit:
        """Fit the curve; raise if there is no line, or if a class has fewer than 10 rows."""
        why = why_no_line(outcomes) or _too_few(outcomes)
        if why is not None:
            raise Refusal(why)
        shares = knot_shares(outcomes.n_rows)
        knots = np.unique(outcomes.quantiles(outcomes.linear, shares))
        columns = spline_columns(outcomes.linear, knots)
        fit = outcomes.link.fits.fit(columns, outcomes.observed, outcomes.weights)
        if fit is None:
            lost = "" if outcomes.link is IDENTITY else LOST
            raise Refusal(
                f"the calibration curve cannot be fitted{lost}: there are too few rows for it."
            )
        return cls(knots, fit, outcomes.link)

    def event_share_at(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the smoothed share of events at these probabilities."""
        return self.link.back(self._columns(probabilities) @ self.fit.coef)

    def band(
        self, probabilities: np.ndarray, outcomes: Outcomes, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return pointwise limits by the sandwich on the link's scale, with whole members."""
        columns = self._columns(probabilities)
        covariance = self.fit.covariance(outcomes.members)
        spread = np.einsum("ij,jk,ik->i", columns, covariance, columns)
        half = quantile_of_t(level, outcomes.degrees) * np.sqrt(np.maximum(spread, 0))
        middle = columns @ self.fit.coef
        return self.link.back(middle - half), self.link.back(middle + half)

    def errors(self, outcomes: Outcomes) -> dict[str, float]:
        """Return mean, median, 90 % quantile and maximum of |p − s|."""
        off = np.abs(outcomes.predictions - self.event_share_at(outcomes.predictions))
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
    """Return why there are too few rows for a curve, or None."""
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
    """Return the points at which the curve is shown.

    They are equally spaced between the 1 % and the 99 % quantile.
    """
    low, high = outcomes.quantiles(outcomes.predictions, SHOWN)
    return np.linspace(low, high, N_POINTS)


def line_and_curve(outcomes: Outcomes) -> tuple[Recalibration | str, CalibrationFit | str]:
    """Return the line and the curve, each of them replaced by the reason if there is none."""
    return _or_reason(Recalibration, outcomes), _or_reason(CalibrationFit, outcomes)


def _or_reason(kind: type[Fit], outcomes: Outcomes) -> Fit | str:
    try:
        return kind.from_outcomes(outcomes)
    except Refusal as refusal:
        return str(refusal)


Fit = TypeVar("Fit", Recalibration, CalibrationFit)


@frozen(eq=False)
class CalibrationCurve(Record):
    """The smoothed share of events, or mean of y, at `predicted`, with a pointwise band.

    `observed` is from held-out rows, and `apparent` from the final model on its own rows.
    `corrected` is the latter minus its optimism (None without bootstrap samples). There is no band
    for rows in order of time.
    """

    predicted: Points
    observed: Points
    low: Points | None
    high: Points | None
    apparent: Points | None
    corrected: Points | None
    confidence_level: Share = 0.95
    of_event: bool = True

    @classmethod
    def from_fit(
        cls,
        fit: CalibrationFit,
        outcomes: Outcomes,
        grid: np.ndarray,
        *,
        apparent: np.ndarray,
        corrected: np.ndarray,
        confidence_level: float,
        is_certain: bool,
    ) -> CalibrationCurve:
        """Collect the curve on held-out rows and the fit's on all; no band unless `is_certain`."""
        low, high = fit.band(grid, outcomes, confidence_level) if is_certain else (None, None)
        return cls(
            predicted=grid,
            observed=fit.event_share_at(grid),
            low=low,
            high=high,
            apparent=apparent if np.isfinite(apparent).all() else None,
            corrected=corrected if np.isfinite(corrected).all() else None,
            confidence_level=confidence_level,
            of_event=outcomes.link is not IDENTITY,
        )

    def blocks(self) -> list[Block]:
        """Return at most ten of the points, evenly spaced."""
        columns = {"given": self.predicted, "held out": self.observed}
        if self.low is not None and self.high is not None:
            columns |= {"low": self.low, "high": self.high}
        at = np.unique(np.linspace(0, len(self.predicted) - 1, 10).round().astype(int))
        rows = [[number(float(column[i])) for column in columns.values()] for i in at]
        return [Block("Calibration curve", list(columns), rows)]


@frozen(eq=False)
class SmoothCalibration(MeasuredPart):
    """Slope, intercept and distances (`measures`), the flexible `curve`, and the probabilities.

    `counts` are the weights of held-out rows in 20 equal bins of the probability, which `edges`
    delimit: those with the event, and the others. For numeric y, when `event` is None, they are
    those of all rows. Without a curve `missing` gives the reason.
    """

    event: str | None
    measures: Mapping[str, Measured]
    curve: CalibrationCurve | None = field(repr=False)
    counts: Annotated[np.ndarray, Column(n_axes=2, least=1, numbers=FINITE)] = field(repr=False)
    edges: Annotated[np.ndarray, Column(numbers=FINITE)] = field(repr=False)
    missing: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_outcomes(
        cls,
        outcomes: Outcomes,
        event: str | None,
        measures: Mapping[str, Measured],
        curve: CalibrationCurve | str,
        notes: tuple[str, ...],
    ) -> SmoothCalibration:
        """Collect the parts, with a note if the rarer outcome has few rows."""
        if event is not None and outcomes.n_rarer < FEW_EVENTS:
            notes = (*notes, FEW.format(outcomes.n_rarer, FEW_EVENTS))
        edges, counts = _bins(outcomes)
        drawn = None if isinstance(curve, str) else curve
        missing = curve if isinstance(curve, str) else None
        return cls(event, measures, drawn, counts, edges, missing, notes)

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Reason why a record read from a file is invalid, or None."""
        n = self.counts.shape[1] + 1
        return None if len(self.edges) == n else ("edges", f"an array of {n} numbers")

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with its band (needs matplotlib)."""
        if self.curve is None:
            raise Refusal(f"there is no calibration curve: {self.missing}")
        return super().plot(ax)


def _bins(outcomes: Outcomes) -> tuple[np.ndarray, np.ndarray]:
    """Return edges of equal bins of the predictions, and the weights of the rows per outcome."""
    if outcomes.link is not IDENTITY:
        edges = np.linspace(0, 1, N_BINS + 1)
        sides = [outcomes.observed == 1, outcomes.observed == 0]
    else:
        edges = np.linspace(outcomes.predictions.min(), outcomes.predictions.max(), N_BINS + 1)
        sides = [np.ones(outcomes.n_answers, dtype=bool)]
    counts = [
        np.histogram(outcomes.predictions[side], edges, weights=outcomes.weights[side])[0]
        for side in sides
    ]
    return edges, np.array(counts)
