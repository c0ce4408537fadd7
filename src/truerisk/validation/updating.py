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
from truerisk.core.formats import number
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.tables import Block, text_table
from truerisk.estimation.problem import pose
from truerisk.estimation.run import compute, procedure_of
from truerisk.methods.pairs import Pairs
from truerisk.results.interval import Interval, ends_of
from truerisk.results.records import Column, Finite, Record, Share, Size
from truerisk.results.results import RiskEstimate
from truerisk.validation.calibration import Recalibration
from truerisk.validation.calibration_fits import IDENTITY, LOGIT, Link
from truerisk.validation.measures import rounded
from truerisk.validation.outcomes import Outcomes

Fitted = Literal["nothing", "intercept", "intercept and slope"]
FEWEST, OF_RARER = 10, " of the rarer outcome"
NAMES: tuple[Fitted, ...] = ("nothing", "intercept", "intercept and slope")


class Updated(BaseEstimator):
    """Predictions of a finished model, the only column of X, with coefficients fitted to y."""

    link: ClassVar[Link]

    def __init__(self, fits: Fitted = "nothing") -> None:
        self.fits = fits

    def _fitted(self, X: Any, y: np.ndarray, sample_weight: Any) -> Self:
        predictions = np.asarray(X, dtype=np.float64)[:, 0]
        self.coef_ = np.array([0.0, 1.0])
        if self.fits == "nothing":
            return self
        eta, constant = self.link.of(predictions), np.ones((len(y), 1))
        both = self.fits == "intercept and slope"
        columns = np.column_stack([constant, eta]) if both else constant
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        fit = self.link.fits.fit(columns, y.astype(np.float64), weights, 0.0 if both else eta)
        if fit is None:
            raise ValueError("the line has no maximum: an outcome is separated, or missing")
        self.coef_[: len(fit.coef)] = fit.coef
        return self

    def _answers(self, X: Any) -> np.ndarray:
        predictions = np.asarray(X, dtype=np.float64)[:, 0]
        if self.fits == "nothing":  # A probability of 0 or 1 has no logit.
            return predictions
        return self.link.back(self.coef_[0] + self.coef_[1] * self.link.of(predictions))


class UpdatedProbabilities(ClassifierMixin, Updated):
    """Updated probabilities of the second of two classes."""

    link: ClassVar[Link] = LOGIT

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients to two classes in sorted order."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        return self._fitted(X, codes, sample_weight)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both classes."""
        event = self._answers(X)
        return np.column_stack([1 - event, event])

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class."""
        return np.asarray(self.classes_[(self._answers(X) > 0.5).astype(int)])


class UpdatedNumbers(RegressorMixin, Updated):
    """Updated predictions of numeric y, by least squares."""

    link: ClassVar[Link] = IDENTITY

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients to numeric y."""
        return self._fitted(X, np.asarray(y), sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Apply the recalibration line to the model's predictions."""
        return self._answers(X)


@frozen
class Update:
    """The coefficients of an update, fitted to all rows, and its honest risk.

    `change` is this risk minus that of the unchanged model; a negative value is a gain.
    """

    fits: str
    intercept: Finite
    slope: Finite
    risk: Size
    brier: Share | None = None
    change: Finite | None = None
    interval: Interval | None = None


HEAD = ["fitted", "intercept", "slope"]


@frozen
class Updating(Record):
    """The unchanged finished model, and its updates of intercept, or of intercept and slope."""

    scoring: str
    updates: Annotated[tuple[Update, ...], Column(least=1, most=10)]

    @property
    def flaw(self) -> tuple[str | int, ...] | None:
        """Return where a record read from a file is invalid, and what is wanted there, or None."""
        with_brier = [update.brier is not None for update in self.updates]
        if any(with_brier) and not all(with_brier):
            return "updates", with_brier.index(False), "brier", "a number, as other updates have it"
        return None

    @classmethod
    def from_outcomes(
        cls, outcomes: Outcomes, line: Recalibration, *, level: float, seed: int, grouped: bool
    ) -> Updating:
        """Compute the updates from predictions; rows of one member stay together if `grouped`."""
        numbers = outcomes.link is IDENTITY
        n_rows, what = (outcomes.n_rows, "") if numbers else (outcomes.n_rarer, OF_RARER)
        if n_rows < FEWEST:
            raise Refusal(f"{n_rows} rows{what}: an update is told of {FEWEST} at least.")
        try:
            risks = [_risk(outcomes, name, level, seed, grouped) for name in NAMES]
        except FitFailed as error:
            raise Refusal(
                "an update cannot be fitted in every fold: the rows are too few, or too well told "
                "apart."
            ) from error
        except BadData as error:  # For example, there may be fewer groups than folds.
            raise Refusal(f"folds of these rows cannot be made: {error}") from error
        measures, updates = line.measures(), []
        ends = (
            (0.0, 1.0),
            (measures["in-the-large"], 1.0),
            (measures["intercept"], measures["slope"]),
        )
        for place, (name, risk, (a, b)) in enumerate(zip(NAMES, risks, ends, strict=True)):
            brier = risk.scores["brier"].value if "brier" in risk.scores else None
            gain = compare(risk, risks[0], confidence_level=level) if place else None
            change, interval = (None, None) if gain is None else (gain.value, gain.interval)
            assert risk.value is not None
            updates.append(Update(name, a, b, risk.value, brier, change, interval))
        return cls(risks[0].scoring, tuple(updates))

    @property
    def named_scoring(self) -> str:
        """The name of the loss in words."""
        return {"log": "log loss", "squared": "squared error"}.get(self.scoring, self.scoring)

    @property
    def sentence(self) -> str:
        """A sentence on the effect of each update."""
        return f"By cross-validation, {'; '.join(map(self._sentence_on, self.updates[1:]))}."

    def _sentence_on(self, update: Update) -> str:
        what = f"updating the {update.fits}"
        if update.change is None or update.interval is None:
            return f"{what} changes nothing that could be told"
        of_change = update.change, update.interval.low, update.interval.high
        change, low, high = (rounded(one, *of_change) for one in of_change)
        by = f"change {change}, {low} to {high}"
        if 0.0 in update.interval:
            return f"{what} is not shown to change the {self.named_scoring} ({by})"
        verb = "lower" if update.change < 0 else "raise"
        before, after = self.updates[0].risk, update.risk
        ends = f"from {rounded(before, after)} to {rounded(after, before)}"
        return f"{what} would {verb} the {self.named_scoring} {ends} ({by})"

    def _rows(self) -> list[list[str]]:
        rows = []
        for one in self.updates:
            brier = [] if one.brier is None else [one.brier]
            change = (one.change, *ends_of(one.interval))
            numbers = (one.intercept, one.slope, one.risk, *brier, *change)
            rows.append([one.fits, *map(number, numbers)])
        return rows

    @property
    def head(self) -> list[str]:
        """Column names of its table."""
        brier = [] if self.updates[0].brier is None else ["Brier"]
        return [*HEAD, self.named_scoring, *brier, "change", "low", "high"]

    def __str__(self) -> str:
        return f"{text_table(self.head, self._rows())}\n{self.sentence}"

    @override
    def blocks(self) -> list[Block]:
        return [Block("Updating", self.head, self._rows())]


def _risk(outcomes: Outcomes, fits: Fitted, level: float, seed: int, grouped: bool) -> RiskEstimate:
    """Return the honest risk of one update, on the splits that all updates share."""
    numbers, weights = outcomes.link is IDENTITY, outcomes.weights
    model = UpdatedNumbers(fits) if numbers else UpdatedProbabilities(fits)
    problem = pose(
        Family.from_grid(model),
        outcomes.predictions[:, None],
        outcomes.observed if numbers else outcomes.observed.astype(int),
        groups=outcomes.members if grouped else None,
        sample_weight=None if np.ptp(weights) == 0 else weights,
        scoring="squared" if numbers else ["log", "brier"],
        confidence_level=level,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DuplicateRowsWarning)  # Rows may have equal predictions.
        risk = procedure_of(compute(replace(problem, calibrated=True), Pairs()))
    assert risk is not None  # The pairs method tests a procedure, so that there is a risk.
    return risk
