r"""Gain of a finished model from an update on these rows, estimated by cross-validation.

Recalibration in the large fits an intercept a to the predictions, and logistic recalibration also
fits a slope b: :math:`\operatorname{logit} P(y = 1) = a + b \operatorname{logit} p` (Cox, 1958;
Steyerberg et al., 2004, Statistics in Medicine 23:2567–2586). For numeric y the line is :math:`a +
b f`. Each update is fitted and tested like any learner, by pairs of folds on the same splits, with
the prediction p or f as its only column.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from truerisk.comparison.paired import compare
from truerisk.core.errors import BadData, DuplicateRowsWarning, FitFailed, Refusal
from truerisk.core.family import Family
from truerisk.core.formats import format_number
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.tables import Block, text_table
from truerisk.estimation.problem import problem_from_arguments
from truerisk.estimation.run import compute_risks, to_procedure_estimate
from truerisk.methods.pairs import Pairs
from truerisk.results.interval import Interval, interval_ends
from truerisk.results.records import Column, FiniteFloat, NonNegative, Record, Share
from truerisk.results.results import RiskEstimate
from truerisk.validation.calibration import CalibrationLine
from truerisk.validation.calibration_fits import IDENTITY, LOGIT, Link
from truerisk.validation.measures import format_rounded
from truerisk.validation.outcomes import Outcomes

UpdatedCoefficients = Literal["nothing", "intercept", "intercept and slope"]
MIN_ROWS, RARER_OUTCOME_TEXT = 10, " of the rarer outcome"
UPDATE_NAMES: tuple[UpdatedCoefficients, ...] = ("nothing", "intercept", "intercept and slope")


class RecalibratedModel(BaseEstimator):
    """Predictions of a finished model (the only column of X), recalibrated by coefficients."""

    link: ClassVar[Link]

    def __init__(self, fits: UpdatedCoefficients = "nothing") -> None:
        self.fits = fits

    def _fit_coefficients(self, X: Any, y: np.ndarray, sample_weight: Any) -> Self:
        predictions = np.asarray(X, dtype=np.float64)[:, 0]
        self.coef_ = np.array([0.0, 1.0])
        if self.fits == "nothing":
            return self
        eta, constant_column = self.link.transform(predictions), np.ones((len(y), 1))
        fits_slope = self.fits == "intercept and slope"
        columns = np.column_stack([constant_column, eta]) if fits_slope else constant_column
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        fit = self.link.fit_class.fit(
            columns, y.astype(np.float64), weights, 0.0 if fits_slope else eta
        )
        if fit is None:
            raise ValueError("the line has no maximum: an outcome is separated, or missing")
        self.coef_[: len(fit.coef)] = fit.coef
        return self

    def _recalibrate(self, X: Any) -> np.ndarray:
        predictions = np.asarray(X, dtype=np.float64)[:, 0]
        if self.fits == "nothing":  # A probability of 0 or 1 has no logit, so none is computed.
            return predictions
        return self.link.inverse(self.coef_[0] + self.coef_[1] * self.link.transform(predictions))


class RecalibratedClassifier(ClassifierMixin, RecalibratedModel):
    """Classifier that recalibrates a finished model's probabilities of the second class."""

    link: ClassVar[Link] = LOGIT

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the recalibration coefficients to two classes in sorted order."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        return self._fit_coefficients(X, codes, sample_weight)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the recalibrated probabilities of both classes."""
        event_probability = self._recalibrate(X)
        return np.column_stack([1 - event_probability, event_probability])

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class."""
        return np.asarray(self.classes_[(self._recalibrate(X) > 0.5).astype(int)])


class RecalibratedRegressor(RegressorMixin, RecalibratedModel):
    """Regressor that recalibrates a finished model's predictions by least squares."""

    link: ClassVar[Link] = IDENTITY

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the recalibration coefficients to numeric y."""
        return self._fit_coefficients(X, np.asarray(y), sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Apply the recalibration line to the model's predictions."""
        return self._recalibrate(X)


@frozen
class Update:
    """Coefficients of an update, fitted to all rows, and its honest risk.

    `change` is this risk minus the risk of the unchanged model; a negative value is a gain.
    """

    fits: str
    intercept: FiniteFloat
    slope: FiniteFloat
    risk: NonNegative
    brier: Share | None = None
    change: FiniteFloat | None = None
    interval: Interval | None = None


TABLE_HEADER = ["fitted", "intercept", "slope"]


@frozen
class ModelUpdates(Record):
    """Unchanged finished model, and its updates of intercept alone, and of intercept and slope."""

    scoring: str
    updates: Annotated[tuple[Update, ...], Column(least=1, most=10)]

    @property
    def flaw(self) -> tuple[str | int, ...] | None:
        """Return the invalid field of a record from a file, and what it must be; None if valid."""
        has_brier = [update.brier is not None for update in self.updates]
        if any(has_brier) and not all(has_brier):
            return "updates", has_brier.index(False), "brier", "a number, as other updates have it"
        return None

    @classmethod
    def from_outcomes(
        cls,
        outcomes: Outcomes,
        calibration_line: CalibrationLine,
        *,
        level: float,
        seed: int,
        grouped: bool,
    ) -> ModelUpdates:
        """Compute the updates from predictions; `grouped` keeps rows of one member together."""
        is_numeric = outcomes.link is IDENTITY
        n_rows, rows_text = (
            (outcomes.n_rows, "") if is_numeric else (outcomes.n_rarer_rows, RARER_OUTCOME_TEXT)
        )
        if n_rows < MIN_ROWS:
            raise Refusal(f"{n_rows} rows{rows_text}: an update needs at least {MIN_ROWS}.")
        try:
            risks = [_risk(outcomes, name, level, seed, grouped) for name in UPDATE_NAMES]
        except FitFailed as error:
            raise Refusal(
                "an update cannot be fitted in every fold: the rows are too few, or too well told "
                "apart."
            ) from error
        except BadData as error:  # For example, there may be fewer groups than folds.
            raise Refusal(f"folds of these rows cannot be made: {error}") from error
        measures, updates = calibration_line.measures(), []
        coefficients = (
            (0.0, 1.0),
            (measures["in-the-large"], 1.0),
            (measures["intercept"], measures["slope"]),
        )
        for index, (name, risk, (intercept, slope)) in enumerate(
            zip(UPDATE_NAMES, risks, coefficients, strict=True)
        ):
            brier = risk.scores["brier"].value if "brier" in risk.scores else None
            gain = compare(risk, risks[0], confidence_level=level) if index else None
            change, interval = (None, None) if gain is None else (gain.value, gain.interval)
            assert risk.value is not None
            updates.append(Update(name, intercept, slope, risk.value, brier, change, interval))
        return cls(risks[0].scoring, tuple(updates))

    @property
    def named_scoring(self) -> str:
        """Name of the loss in words, such as "log loss"."""
        return {"log": "log loss", "squared": "squared error"}.get(self.scoring, self.scoring)

    @property
    def sentence(self) -> str:
        """Sentence on how each update changes the risk."""
        return f"By cross-validation, {'; '.join(map(self._update_sentence, self.updates[1:]))}."

    def _update_sentence(self, update: Update) -> str:
        update_text = f"updating the {update.fits}"
        if update.change is None or update.interval is None:
            return f"{update_text} changes nothing that could be told"
        change_numbers = update.change, update.interval.low, update.interval.high
        change, low, high = (
            format_rounded(change_number, *change_numbers) for change_number in change_numbers
        )
        change_text = f"change {change}, {low} to {high}"
        if 0.0 in update.interval:
            return f"{update_text} is not shown to change the {self.named_scoring} ({change_text})"
        verb = "lower" if update.change < 0 else "raise"
        risk_before, risk_after = self.updates[0].risk, update.risk
        risks_text = (
            f"from {format_rounded(risk_before, risk_after)} to "
            f"{format_rounded(risk_after, risk_before)}"
        )
        return f"{update_text} would {verb} the {self.named_scoring} {risks_text} ({change_text})"

    def _table_rows(self) -> list[list[str]]:
        rows = []
        for update in self.updates:
            brier = [] if update.brier is None else [update.brier]
            change_and_limits = (update.change, *interval_ends(update.interval))
            row_numbers = (update.intercept, update.slope, update.risk, *brier, *change_and_limits)
            rows.append([update.fits, *map(format_number, row_numbers)])
        return rows

    @property
    def table_header(self) -> list[str]:
        """Column names of the printed table."""
        brier = [] if self.updates[0].brier is None else ["Brier"]
        return [*TABLE_HEADER, self.named_scoring, *brier, "change", "low", "high"]

    def __str__(self) -> str:
        return f"{text_table(self.table_header, self._table_rows())}\n{self.sentence}"

    @override
    def blocks(self) -> list[Block]:
        return [Block("Updating", self.table_header, self._table_rows())]


def _risk(
    outcomes: Outcomes,
    updated_coefficients: UpdatedCoefficients,
    confidence_level: float,
    seed: int,
    grouped: bool,
) -> RiskEstimate:
    """Return the honest risk of one update, on the splits that all updates share."""
    is_numeric, weights = outcomes.link is IDENTITY, outcomes.weights
    model = (
        RecalibratedRegressor(updated_coefficients)
        if is_numeric
        else RecalibratedClassifier(updated_coefficients)
    )
    problem = problem_from_arguments(
        Family.from_grid(model),
        outcomes.predictions[:, None],
        outcomes.observed if is_numeric else outcomes.observed.astype(int),
        groups=outcomes.clusters if grouped else None,
        sample_weight=None if np.ptp(weights) == 0 else weights,
        scoring="squared" if is_numeric else ["log", "brier"],
        confidence_level=confidence_level,
        random_state=seed,
    )
    with warnings.catch_warnings():
        # Rows with equal predictions are no duplicates to warn of.
        warnings.simplefilter("ignore", DuplicateRowsWarning)
        risk = to_procedure_estimate(
            compute_risks(replace(problem, uses_calibrated_interval=True), Pairs())
        )
    assert risk is not None  # The pairs method tests a procedure, so there is a risk.
    return risk
