"""Calibration of held-out probabilities: calibration line, smooth curve, distance from ideal.

The line regresses logit P(event) on logit p, with a slope and an intercept. The flexible curve is
the share of events as a smooth function of the probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, TypeVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.formats import format_number
from truerisk.core.frozen import frozen
from truerisk.core.tables import Block
from truerisk.results.interval import t_quantile
from truerisk.results.records import FINITE_RANGE, Column, PointArray, Record, Share
from truerisk.validation.calibration_fits import (
    IDENTITY,
    LOGIT,
    LineFit,
    Link,
    LogisticFit,
    knot_quantile_levels,
    log_likelihood,
    spline_columns,
)
from truerisk.validation.measures import Measured, MeasuredPart
from truerisk.validation.outcomes import Outcomes


@frozen(eq=False)
class CalibrationLine:
    """The calibration line `logit P(y = 1) = a + b logit p` (Cox, 1958) with slope b, intercept a.

    The intercept "in the large" is fitted with b = 1. Let L₀ be the log-likelihood of the share of
    events alone, L₁ that of the unchanged probabilities, L that of the line, and n the weight of
    the rows. Then `R² = (1 − e^{2(L₀−L)/n})/(1 − e^{2L₀/n})` (Nagelkerke, 1991), `D = (2(L−L₀) −
    1)/n`, `U = (2(L−L₁) − 2)/n` and `Q = D − U` (Harrell, 2015), as in `validate` of the R package
    rms. For numeric y the line is `mean of y = a + b f` with the prediction f, by least squares,
    and R² is that of the unchanged predictions, `1 − Σ(y − f)²/Σ(y − ȳ)²`.
    """

    line_fit: LineFit
    in_the_large_fit: LineFit
    fit_measures: Mapping[str, float]

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes) -> CalibrationLine:
        """Fit the calibration line to outcomes; raise Refusal if the line does not exist."""
        reason = missing_line_reason(outcomes)
        if reason is not None:
            raise Refusal(reason)
        y, weights, linear_predictions = (
            outcomes.observed,
            outcomes.weights,
            outcomes.linear_predictions,
        )
        constant_column, fit_regression = np.ones((len(y), 1)), outcomes.link.fit_class.fit
        calibration_line, line_in_the_large = (
            fit_regression(np.column_stack([constant_column, linear_predictions]), y, weights),
            fit_regression(constant_column, y, weights, linear_predictions),
        )
        if calibration_line is None or line_in_the_large is None:
            raise Refusal(
                "the calibration line cannot be fitted: Newton's method does not converge. The "
                "probabilities are too near to 0 and 1, or to each other."
            )
        likelihood_measures = (
            _likelihood_measures(outcomes, calibration_line)
            if isinstance(calibration_line, LogisticFit)
            else {}
        )
        return cls(
            calibration_line,
            line_in_the_large,
            likelihood_measures or _squared_error_measures(outcomes),
        )

    def measures(self) -> dict[str, float]:
        """Return slope, intercepts and explained variation, by the name of the measure."""
        intercept, slope = map(float, self.line_fit.coef)
        intercept_in_the_large = float(self.in_the_large_fit.coef[0])
        return {
            **self.fit_measures,
            "intercept": intercept,
            "slope": slope,
            "in-the-large": intercept_in_the_large,
        }

    def std_errors(self, members: np.ndarray) -> dict[str, float]:
        """Return sandwich standard errors of slope and intercepts, clustered by row or group."""
        intercept_error, slope_error = np.sqrt(np.diag(self.line_fit.covariance(members)))
        in_the_large_error = np.sqrt(self.in_the_large_fit.covariance(members)[0, 0])
        return {
            "intercept": float(intercept_error),
            "slope": float(slope_error),
            "in-the-large": float(in_the_large_error),
        }


def _likelihood_measures(outcomes: Outcomes, calibration_line: LogisticFit) -> dict[str, float]:
    """Compute Nagelkerke's R² and Harrell's D, U and Q from the log-likelihood of the line."""
    y, weights, n = outcomes.observed, outcomes.weights, outcomes.n
    event_share, line_likelihood = outcomes.mean(y), calibration_line.log_likelihood
    null_likelihood = log_likelihood(
        np.full(len(y), np.log(event_share / (1 - event_share))), y, weights
    )
    prediction_likelihood = log_likelihood(outcomes.linear_predictions, y, weights)
    r2 = (1 - np.exp(2 * (null_likelihood - line_likelihood) / n)) / (
        1 - np.exp(2 * null_likelihood / n)
    )
    discrimination_index, unreliability_index = (
        (2 * (line_likelihood - null_likelihood) - 1) / n,
        (2 * (line_likelihood - prediction_likelihood) - 2) / n,
    )
    return {
        "r2": float(r2),
        "d": float(discrimination_index),
        "u": float(unreliability_index),
        "q": float(discrimination_index - unreliability_index),
    }


def _squared_error_measures(outcomes: Outcomes) -> dict[str, float]:
    """Return R² of the unchanged predictions of numeric y, and their mean squared error."""
    squared_error = outcomes.mean((outcomes.observed - outcomes.predictions) ** 2)
    variance = outcomes.mean((outcomes.observed - outcomes.mean(outcomes.observed)) ** 2)
    return {"explained": 1 - squared_error / variance, "squared": squared_error}


def missing_line_reason(outcomes: Outcomes) -> str | None:
    """Return why no calibration line can be fitted to the outcomes, or None if one can."""
    if outcomes.link is IDENTITY:
        if not np.isfinite(outcomes.predictions).all():
            return "some answers are not finite numbers."
        for values, quantity_name in (
            (outcomes.predictions, "answers"),
            (outcomes.observed, "values of y"),
        ):
            if np.ptp(values) <= 1e-12 * np.abs(values).max():
                return f"all {quantity_name} are equal: there is no slope."
        return None
    if outcomes.has_one_class:
        rows_text = "in every row" if outcomes.n_events else "in no row"
        return f"the event occurred {rows_text}: there is nothing to compare probabilities with."
    p = outcomes.predictions
    n_extreme = int(np.count_nonzero((p <= 0) | (p >= 1)))
    if n_extreme:
        return (
            f"{n_extreme} of {outcomes.n_predictions} probabilities are exactly 0 or 1, and their "
            "logit is infinite: give clip=0.001, which takes them for 0.001 and 0.999, or a "
            "learner with less extreme probabilities."
        )
    if (p == p[0]).all():
        return "all probabilities are equal: they have no slope."
    event_logits, other_logits = (
        outcomes.linear_predictions[outcomes.observed == outcome] for outcome in (1, 0)
    )
    if other_logits.max() <= event_logits.min() or event_logits.max() <= other_logits.min():
        return (
            "the probabilities separate events from other rows perfectly: the slope is infinite. "
            "It can be estimated from more rows."
        )
    return None


N_BINS = 20
RECOMMENDED_EVENTS = 200
FEW_EVENTS_NOTE = (
    "the rarer outcome has {} rows: Van Calster et al. (2016) recommend {} before details of a "
    "calibration curve are interpreted."
)
MIN_CURVE_ROWS = (
    10  # minimum number of rows for a curve; with two classes, of the rows in each class
)
N_CURVE_POINTS = 101
DIVERGENCE_TEXT = ", since it reaches 0 or 1 within the range of the probabilities"
CURVE_RANGE_QUANTILES = (
    0.01,
    0.99,
)  # The curve is drawn between these quantiles of the probabilities.


@frozen(eq=False)
class CalibrationFit:
    """Flexible calibration curve `logit P(y = 1) = s(logit p)` with a restricted cubic spline s.

    See Harrell (2015) and Austin (2019). For numeric y it is `mean of y = s(f)` with the prediction
    f. If the probabilities are right, s is the identity, whatever the knots. ICI, E50, E90 and Emax
    are the mean, median, 90 % quantile and maximum over rows of |p − s|, on the scale of
    probabilities (Austin and Steyerberg, 2019).
    """

    knots: np.ndarray
    spline_fit: LineFit
    link: Link = LOGIT

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes) -> CalibrationFit:
        """Fit the curve; raise Refusal if no line exists or a class has fewer than 10 rows."""
        reason = missing_line_reason(outcomes) or _too_few_rows_reason(outcomes)
        if reason is not None:
            raise Refusal(reason)
        knot_levels = knot_quantile_levels(outcomes.n_rows)
        knots = np.unique(outcomes.quantiles(outcomes.linear_predictions, knot_levels))
        columns = spline_columns(outcomes.linear_predictions, knots)
        spline_fit = outcomes.link.fit_class.fit(columns, outcomes.observed, outcomes.weights)
        if spline_fit is None:
            divergence_text = "" if outcomes.link is IDENTITY else DIVERGENCE_TEXT
            raise Refusal(
                f"the calibration curve cannot be fitted{divergence_text}: there are too few rows "
                "for it."
            )
        return cls(knots, spline_fit, outcomes.link)

    def event_share_at(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the smoothed share of events at these predicted probabilities."""
        return self.link.inverse(self._spline_columns(probabilities) @ self.spline_fit.coef)

    def confidence_band(
        self, probabilities: np.ndarray, outcomes: Outcomes, confidence_level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return pointwise confidence limits of the curve, from a sandwich covariance by group."""
        columns = self._spline_columns(probabilities)
        covariance = self.spline_fit.covariance(outcomes.clusters)
        variances = np.einsum("ij,jk,ik->i", columns, covariance, columns)
        half_widths = t_quantile(confidence_level, outcomes.degrees_of_freedom) * np.sqrt(
            np.maximum(variances, 0)
        )
        curve = columns @ self.spline_fit.coef
        return self.link.inverse(curve - half_widths), self.link.inverse(curve + half_widths)

    def errors(self, outcomes: Outcomes) -> dict[str, float]:
        """Return ICI, E50, E90 and Emax, summaries of the distances of predictions from the curve.

        They are the mean, median, 90 % quantile and maximum over rows of |p − s|.
        """
        distances = np.abs(outcomes.predictions - self.event_share_at(outcomes.predictions))
        median, quantile_90 = outcomes.quantiles(distances, (0.5, 0.9)).tolist()
        return {
            "ici": outcomes.mean(distances),
            "e50": median,
            "e90": quantile_90,
            "emax": float(distances.max()),
        }

    def _spline_columns(self, predictions: np.ndarray) -> np.ndarray:
        return spline_columns(self.link.transform(predictions), self.knots)


def _too_few_rows_reason(outcomes: Outcomes) -> str | None:
    """Return why there are too few rows to fit a curve, or None if there are enough."""
    if outcomes.link is IDENTITY:
        n = outcomes.n_rows
        return (
            None if n >= MIN_CURVE_ROWS else f"{n} rows: a curve needs {MIN_CURVE_ROWS} at least."
        )
    if outcomes.n_rarer_rows >= MIN_CURVE_ROWS:
        return None
    return (
        f"{outcomes.n_rarer_rows} rows of the rarer outcome: a curve needs at least "
        f"{MIN_CURVE_ROWS} rows of each outcome, and hundreds to be of use."
    )


def curve_grid(outcomes: Outcomes) -> np.ndarray:
    """Return the predictions at which the calibration curve is drawn.

    They are equally spaced between the 1 % and the 99 % quantile.
    """
    low, high = outcomes.quantiles(outcomes.predictions, CURVE_RANGE_QUANTILES)
    return np.linspace(low, high, N_CURVE_POINTS)


def fit_line_and_curve(outcomes: Outcomes) -> tuple[CalibrationLine | str, CalibrationFit | str]:
    """Fit the calibration line and curve; in place of a fit that fails, return the reason."""
    return _fit_or_reason(CalibrationLine, outcomes), _fit_or_reason(CalibrationFit, outcomes)


def _fit_or_reason(fit_class: type[FitType], outcomes: Outcomes) -> FitType | str:
    try:
        return fit_class.from_outcomes(outcomes)
    except Refusal as refusal:
        return str(refusal)


FitType = TypeVar("FitType", CalibrationLine, CalibrationFit)


@frozen(eq=False)
class CalibrationCurve(Record):
    """Smoothed share of events, or mean of y, at predictions `predicted`, with a pointwise band.

    `observed` is computed from held-out rows, and `apparent` by the final model on its own training
    rows. `corrected` is `apparent` minus its optimism (None without bootstrap samples). There is no
    band for rows in order of time.
    """

    predicted: PointArray
    observed: PointArray
    low: PointArray | None
    high: PointArray | None
    apparent: PointArray | None
    corrected: PointArray | None
    confidence_level: Share = 0.95
    of_event: bool = True

    @classmethod
    def from_fit(
        cls,
        fit: CalibrationFit,
        outcomes: Outcomes,
        grid: np.ndarray,
        *,
        apparent_curve: np.ndarray,
        corrected_curve: np.ndarray,
        confidence_level: float,
        is_certain: bool,
    ) -> CalibrationCurve:
        """Create the record from a fitted curve; it has a confidence band only if `is_certain`."""
        low, high = (
            fit.confidence_band(grid, outcomes, confidence_level) if is_certain else (None, None)
        )
        return cls(
            predicted=grid,
            observed=fit.event_share_at(grid),
            low=low,
            high=high,
            apparent=apparent_curve if np.isfinite(apparent_curve).all() else None,
            corrected=corrected_curve if np.isfinite(corrected_curve).all() else None,
            confidence_level=confidence_level,
            of_event=outcomes.link is not IDENTITY,
        )

    def blocks(self) -> list[Block]:
        """Return a table of at most ten evenly spaced points of the curve."""
        columns = {"given": self.predicted, "held out": self.observed}
        if self.low is not None and self.high is not None:
            columns |= {"low": self.low, "high": self.high}
        indices = np.unique(np.linspace(0, len(self.predicted) - 1, 10).round().astype(int))
        rows = [[format_number(float(column[i])) for column in columns.values()] for i in indices]
        return [Block("Calibration curve", list(columns), rows)]


@frozen(eq=False)
class SmoothCalibration(MeasuredPart):
    """Calibration slope, intercept and errors (`measures`), the flexible `curve`, and a histogram.

    `counts` are the weights of held-out rows in 20 equal bins of the probability, which `edges`
    delimit: first the weights of rows with the event, then those of the other rows. For numeric y,
    when `event` is None, `counts` has one line for all rows. Without a curve `missing` gives the
    reason.
    """

    event: str | None
    measures: Mapping[str, Measured]
    curve: CalibrationCurve | None = field(repr=False)
    counts: Annotated[np.ndarray, Column(n_axes=2, least=1, numbers=FINITE_RANGE)] = field(
        repr=False
    )
    edges: Annotated[np.ndarray, Column(numbers=FINITE_RANGE)] = field(repr=False)
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
        """Create the record with its histogram, and a note if the rarer outcome has few rows."""
        if event is not None and outcomes.n_rarer_rows < RECOMMENDED_EVENTS:
            notes = (*notes, FEW_EVENTS_NOTE.format(outcomes.n_rarer_rows, RECOMMENDED_EVENTS))
        edges, counts = _histogram(outcomes)
        curve_or_none = None if isinstance(curve, str) else curve
        missing_reason = curve if isinstance(curve, str) else None
        return cls(event, measures, curve_or_none, counts, edges, missing_reason, notes)

    @classmethod
    def from_linear_predictors(
        cls,
        has_event: np.ndarray,
        linear_predictors: np.ndarray,
        event: str,
        measures: Mapping[str, Measured],
        reason: str,
    ) -> SmoothCalibration:
        """Create the record for linear predictors: a histogram without a calibration curve."""
        edges = np.linspace(linear_predictors.min(), linear_predictors.max(), N_BINS + 1)
        counts = [
            np.histogram(linear_predictors[has_event == outcome], edges)[0] for outcome in (1, 0)
        ]
        return cls(event, measures, None, np.array(counts, dtype=float), edges, reason)

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Reason why a record read from a file is invalid, or None."""
        n_edges = self.counts.shape[1] + 1
        return None if len(self.edges) == n_edges else ("edges", f"an array of {n_edges} numbers")

    def plot(self, ax: Any = None) -> Any:
        """Draw the calibration curve with its confidence band (needs matplotlib)."""
        if self.curve is None:
            raise Refusal(f"there is no calibration curve: {self.missing}")
        return super().plot(ax)


def _histogram(outcomes: Outcomes) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges of equally wide bins of predictions, and each bin's weight by outcome."""
    if outcomes.link is not IDENTITY:
        edges = np.linspace(0, 1, N_BINS + 1)
        outcome_masks = [outcomes.observed == 1, outcomes.observed == 0]
    else:
        edges = np.linspace(outcomes.predictions.min(), outcomes.predictions.max(), N_BINS + 1)
        outcome_masks = [np.ones(outcomes.n_predictions, dtype=bool)]
    counts = [
        np.histogram(outcomes.predictions[mask], edges, weights=outcomes.weights[mask])[0]
        for mask in outcome_masks
    ]
    return edges, np.array(counts)
