"""Results of a method: risks, the winning candidates of outer splits, and their predictions.

Predictions of held-out rows are stored per row, with the influence of each row on a cross-validated
value, from which the difference of two values is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, overload

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.plan.answers import Answers, Response
from truerisk.plan.plan import Plan
from truerisk.results.finding import Finding
from truerisk.results.interval import Interval


class LazyInterval(Protocol):
    """Standard error and interval of a risk, which are computed when they are first read."""

    def std_error(self) -> float | None:
        """Return the standard error, or None if there is none."""
        ...

    def interval(self) -> Interval:
        """Return the interval at the requested confidence level."""
        ...


Target = Literal["Err", "Err_XY", "CER", "training"]


@frozen(eq=False)
class Tested:
    """Risk of one candidate with its standard error, interval, losses and notes.

    The name and the provenance of the risk are added later.

    `losses[j]` is the loss of row `loss_rows[j]`; `split_risks` holds the risk in each fold or
    split. `later` computes the standard error and the interval on demand, if that takes longer than
    everything else. `rank` orders candidates if the values themselves are too small to distinguish
    them, for example by the logarithm of the value. `table` holds the named numbers from which the
    value was computed. `influences` holds the influence of each row on the value, for differences
    of two values. `findings` were noticed in the answers; the notes contain them as well.

    Parameters
    ----------
    value : float
        The risk, as a loss.
    std_error : float, optional
        The standard error of the value.
    interval : Interval, optional
        The interval of the value.
    losses : array, optional
        The losses of single rows.
    loss_rows : array of int, optional
        The row of each loss.
    split_risks : array, optional
        The risk in each fold or split.
    notes : tuple of str, optional
        Notes for the reader.
    later : LazyInterval, optional
        Computes the standard error and the interval on demand, if that takes longer than everything
        else.
    rank : float, optional
        Orders candidates if the values themselves are too small to distinguish them, for example
        the logarithm of the value.
    table : mapping of str to float, optional
        The named numbers from which the value was computed.
    influences : Influences, optional
        The influence of each row on the value, for differences of two values.
    findings : tuple of Finding, optional
        What was noticed in the predictions; the notes contain it as well.

    See Also
    --------
    truerisk.extend.tested_by_average : Compute such risks as means of losses.
    RiskEstimate : The estimate that users get.

    Examples
    --------
    >>> from truerisk.extend import Tested
    >>> Tested(0.25, notes=("a note",)).value
    0.25
    """

    value: float
    std_error: float | None = None
    interval: Interval | None = None
    losses: np.ndarray | None = None
    loss_rows: np.ndarray | None = None
    split_risks: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    later: LazyInterval | None = None
    rank: float | None = None
    table: Mapping[str, float] | None = None
    influences: Influences | None = None
    findings: tuple[Finding, ...] = ()

    def read_std_error(self) -> float | None:
        """Return the standard error, computed now if it was deferred.

        Returns
        -------
        float or None
            The standard error, or None if there is none.
        """
        return self.std_error if self.later is None else self.later.std_error()

    def read_interval(self) -> Interval | None:
        """Return the interval, computed now if it was deferred.

        Returns
        -------
        Interval or None
            The interval, or None if there is none.
        """
        return self.interval if self.later is None else self.later.interval()


@frozen(eq=False)
class RiskArrays(Sequence[Tested]):
    """Risks of many candidates, stored as arrays of values and ranks.

    Usually only these two arrays and a few candidates are read. `risk_at(c)` assembles the
    estimate of candidate c when it is read.
    """

    values: np.ndarray
    ranks: np.ndarray
    risk_at: Callable[[int], Tested]

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, candidate: int) -> Tested: ...

    @overload
    def __getitem__(self, candidate: slice) -> tuple[Tested, ...]: ...

    def __getitem__(self, candidate: int | slice) -> Tested | tuple[Tested, ...]:
        candidates = range(len(self))[candidate]
        if isinstance(candidates, range):
            return tuple(self.risk_at(c) for c in candidates)
        return self.risk_at(candidates)


@dataclass(eq=False)
class LazyRisks(Sequence[Tested]):
    """Risks of all candidates, which are computed together when the first of them is read."""

    compute_risks: Callable[[], Sequence[Tested]]
    n_candidates: int

    def __len__(self) -> int:
        return self.n_candidates

    @cached_property
    def _all_risks(self) -> tuple[Tested, ...]:
        return tuple(self.compute_risks())

    def __getitem__(self, candidate: Any) -> Any:
        return self._all_risks[candidate]

    def __reduce__(self) -> Any:
        return tuple, (self._all_risks,)


def risk_values(candidate_risks: Sequence[Tested]) -> np.ndarray:
    """Return the estimated risks of all candidates as an array."""
    if isinstance(candidate_risks, RiskArrays):
        return candidate_risks.values
    return np.array([risk.value for risk in candidate_risks])


def risk_ranks(candidate_risks: Sequence[Tested]) -> np.ndarray | None:
    """Return the ranks of all candidates, or None if any candidate has no rank."""
    if isinstance(candidate_risks, RiskArrays):
        return candidate_risks.ranks
    ranks = np.empty(len(candidate_risks))
    for index, risk in enumerate(candidate_risks):
        if risk.rank is None:
            return None
        ranks[index] = risk.rank
    return ranks


def risk_std_errors(candidate_risks: Sequence[Tested]) -> np.ndarray:
    """Return the standard errors of all candidates' risks, NaN for a candidate without one."""
    std_errors = (risk.read_std_error() for risk in candidate_risks)
    return np.array([np.nan if std_error is None else std_error for std_error in std_errors])


@frozen
class OuterSplit:
    """Result of one outer split: the candidate chosen by inner splits and its risk on test rows."""

    repeat: int
    fold: int
    candidate: int
    inner_risk: float
    risk: float
    n_train: int
    n_test: int


@frozen(eq=False)
class ChosenCandidates:
    """The candidate that a procedure chose for each of its last fits, with its inner risk.

    A question is one fit with the rows that it predicts. Every question has a candidate, including
    those that are no split (the apparent risk in .632+). `has_inner_risks` is True if candidates
    were compared by inner splits before; otherwise `inner_risk` is NaN.
    """

    candidate: np.ndarray
    inner_risk: np.ndarray
    has_inner_risks: bool


@frozen(eq=False)
class Evaluation:
    """Result of a method: a risk per candidate and, if it tunes, the risk of the procedure.

    Parameters
    ----------
    plan : Plan
        The plan whose predictions were computed.
    tested : sequence of Tested
        The estimate of each candidate.
    n_fits : int
        The number of fits.
    procedure : Tested, optional
        The honest risk of "tune, then fit" as a whole (nested, three-way).
    units : tuple of OuterSplit, optional
        The outer splits of the procedure.
    winners : Winners, optional
        The candidate that was tested in each question of `answers`.
    answers : Answers, optional
        The predictions behind the estimates.
    left_two_out : Answers, optional
        Predictions of the same winners for the same rows by models that lack further training rows,
        if the method has them.
    scores : tuple of Evaluation, optional
        The evaluations in further losses of the same fits, if the terms request them. All choices
        are made by the first loss.

    See Also
    --------
    truerisk.extend.Method.evaluate : The method that returns it.
    truerisk.extend.Tested : One risk.

    Examples
    --------
    >>> from truerisk.extend import Evaluation, PlanBuilder, Tested
    >>> builder = PlanBuilder(4)
    >>> first, second = builder.partition([0, 0, 1, 1])
    >>> builder.ask(train=(first, ()), test=(second, ()))
    >>> Evaluation(builder.build(), [Tested(0.25)], n_fits=1).tested[0].value
    0.25
    """

    plan: Plan
    tested: Sequence[Tested]
    n_fits: int
    procedure: Tested | None = None
    units: tuple[OuterSplit, ...] = ()
    winners: ChosenCandidates | None = None
    answers: Answers | None = None
    left_two_out: Answers | None = None
    scores: tuple[Evaluation, ...] = ()


def to_compact_losses(losses: np.ndarray) -> np.ndarray:
    """Return the losses with one byte each if all are 0 or 1, and unchanged otherwise."""
    is_error = losses == 1
    return is_error.view(np.int8) if (is_error | (losses == 0)).all() else losses


# Number of losses that are processed at once, to save memory.
# Every row has K - 1 losses, by models fitted without its own fold and a second fold.
LOSSES_PER_SLICE = 1 << 15


@frozen(eq=False)
class LeftTwoOut:
    """Losses of each row by models that were trained without its own fold and a second fold.

    `losses[c, t]` is candidate c's loss of row `rows[t]` by the model that lacks fold
    `second_folds[t]` as well as the row's own fold.
    """

    rows: np.ndarray
    second_folds: np.ndarray
    losses: np.ndarray

    @classmethod
    def from_answers(cls, predictions: Answers, losses: np.ndarray) -> LeftTwoOut:
        """Collect the losses of models fitted without two folds (the inner splits of the plan)."""
        plan = predictions.plan
        second_folds = plan.unit.astype(np.min_scalar_type(int(plan.unit.max(initial=0))))
        return cls(
            plan.positions[0], np.repeat(second_folds, plan.test_sizes), to_compact_losses(losses)
        )

    def mean_loss_by_row(self, candidate: int, rows: np.ndarray) -> np.ndarray:
        """Return the mean loss of each row over all models of a candidate that predicted it."""
        loss_sums, loss_counts = np.zeros(len(rows)), np.zeros(len(rows))
        for loss_slice, row_positions in self.iterate_slices(rows):
            np.add.at(
                loss_sums, row_positions, self.losses[candidate, loss_slice].astype(np.float64)
            )
            np.add.at(loss_counts, row_positions, 1.0)
        return loss_sums / loss_counts

    def iterate_slices(self, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of the losses, and the position of each loss's row in the sorted `rows`."""
        has_all_rows = rows[-1] + 1 == len(rows)  # Each row number then equals its index.
        for slice_start in range(0, len(self.rows), LOSSES_PER_SLICE):
            loss_slice = slice(slice_start, slice_start + LOSSES_PER_SLICE)
            yield (
                loss_slice,
                self.rows[loss_slice]
                if has_all_rows
                else np.searchsorted(rows, self.rows[loss_slice]),
            )

    def subtract(self, other: LeftTwoOut) -> LeftTwoOut:
        """Subtract the losses in `other`, on the same rows and folds, from these losses."""
        return LeftTwoOut(self.rows, self.second_folds, self.losses - other.losses)


@frozen(eq=False)
class Influences:
    """One loss for each row; the weighted mean of these losses is the estimated risk.

    Such losses exist only if each row was tested once.

    For a score that rates whole test sets, the loss of a row is the value plus the row's influence.
    `losses[j]` belongs to row `rows[j]`, `weights` sum to 1, and `groups` are the groups of the
    rows. `k` is the number of folds. `one_row` is the change of the value if the predicted label of
    a single row changes, and 0 if predictions are not labels. `left_two_out` holds the losses by
    models that lack a second fold.
    """

    losses: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    groups: np.ndarray | None
    k: float
    one_row: float
    left_two_out: LeftTwoOut | None

    @property
    def has_left_two_out(self) -> bool:
        """True if there are losses by models that were trained without a second fold.

        They show how losses change with the training rows.
        """
        return self.left_two_out is not None


# Variance of a result of cross-validation, divided by its variance if rows were independent.
# The factor holds for cross-validation with one partition into folds, and was calibrated.
FOLD_VARIANCE_FACTOR = 1.8


@frozen(eq=False)
class CandidateLosses:
    """Losses of several candidates on the same rows, and the weights of the rows in a risk.

    `losses[c, j]` is the loss of candidate c on row j. The `row_weights` sum to 1.

    The losses of a candidate without a risk are NaN. Rows of one of the `groups` may depend on each
    other. `one_row[c]` is the change of the risk of candidate c if the predicted label of one row
    changes, if predictions are labels. `variance_factors[c]` is the factor by which the variance of
    its difference from the winner exceeds that of independent rows; it is None without fits that
    lack a second fold.
    """

    losses: np.ndarray
    row_weights: np.ndarray
    groups: np.ndarray | None = None
    one_row: np.ndarray | None = None
    variance_factors: np.ndarray | None = None

    def contributions_by_unit(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the contribution of each row (or group) to each risk, and the weight of the row.

        There is a risk for each candidate.
        """
        contributions, unit_weights = self.losses * self.row_weights, self.row_weights
        if self.groups is not None:
            group_numbers = np.unique(self.groups, return_inverse=True)[1].ravel()
            contributions = np.array(
                [np.bincount(group_numbers, candidate_losses) for candidate_losses in contributions]
            )
            unit_weights = np.bincount(group_numbers, unit_weights)
        is_positive = unit_weights > 0
        return contributions[:, is_positive], unit_weights[is_positive]


class CandidateLossSource(Protocol):
    """Object that holds the losses of several candidates on the same rows."""

    def losses(self) -> CandidateLosses:
        """Return the candidates' losses on the same rows; if none exist, raise an error.

        The message of the error gives the reason.
        """
        ...


ROW_RESPONSES: tuple[Response, ...] = ("label", "probability", "score", "value")


@frozen(eq=False)
class RowPredictions:
    """Predictions for the test rows of a plan, and the true outcomes.

    The predictions are made by all candidates or by one of them.

    `answers` are the predictions for the loss and for further requests; those of `candidate` are
    shown. `truth` is y, or the codes of its labels, which are `classes` in the order of the codes
    (None for numbers). `times` are the times of all rows, if they have any; `has_coordinates` is
    True if they have places. For an outcome in time, probabilities are those of the intervals
    between the `horizons`.
    """

    answers: tuple[Answers, ...]
    truth: np.ndarray
    classes: np.ndarray | None
    candidate: int = 0
    times: np.ndarray | None = None
    has_coordinates: bool = False
    horizons: tuple[float, ...] = ()

    @classmethod
    def from_answers(cls, predictions: Answers | None, data: Data) -> RowPredictions | None:
        """Collect the predictions that fits returned for the test rows.

        The result is None if the fits returned only scores or losses.
        """
        if predictions is None:
            return None
        # The order of the keys is the order in which the kinds of predictions are shown.
        predictions_by_response: dict[Response, Answers | None] = dict.fromkeys(ROW_RESPONSES)
        for response_predictions in (*predictions.also, predictions):
            if response_predictions.response in predictions_by_response:
                predictions_by_response[response_predictions.response] = response_predictions
        row_predictions = tuple(filter(None, predictions_by_response.values()))
        if not row_predictions:
            return None
        return cls(
            row_predictions,
            data.y if data.codes is None else data.codes,
            data.classes,
            times=data.time,
            has_coordinates=data.block is not None,
            horizons=data.horizons,
        )

    @property
    def is_unseen(self) -> np.ndarray:
        """Boolean mask that is True for a prediction by a model that was not trained on this row.

        A bootstrap also has predictions for training rows.
        """
        plan = self.answers[0].plan
        seen_masks = [
            plan.seen(question) & ~plan.without_row[question]
            for question in range(plan.n_questions)
        ]
        return ~np.concatenate(seen_masks)
