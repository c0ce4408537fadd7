"""Compute the risk in every subgroup from held-out predictions, without further fits.

A loss of rows is averaged over the rows of a level. A score of whole test sets is computed from all
predictions for the level's rows in a repetition as one test set, because a fold may contain none of
these rows. Every level has the interval that cross-validation uses for the loss (`intervals`), at
the confidence level at which the intervals of all levels hold together
(`truerisk/validation/many_levels.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from truerisk.contracts import Terms
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.intervals import RowEvidence, as_form
from truerisk.intervals.calibrated import enlarge_variance
from truerisk.intervals.choice import calibrated_interval_name
from truerisk.intervals.form import Sureness
from truerisk.intervals.instability import within_row_variance_share
from truerisk.losses.loss import Loss, RowLoss
from truerisk.methods.parts.averages import average_weights, means_by_row, row_losses
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import ORDERED_SPLITS_REASON, find_split_order
from truerisk.results.evaluation import LeftTwoOut
from truerisk.validation.many_levels import (
    StableScale,
    simultaneous_quantile,
    single_interval_level,
)
from truerisk.validation.subgroups import (
    MIN_LEVEL_ROWS,
    ColumnLevels,
    Subgroup,
    SubgroupRisk,
    SubgroupRisks,
)

POOLED_SCORES_NOTE = (
    "a score of all rows is averaged over folds as usual. For a subgroup all predictions are one "
    "test set, because a fold may hold few of its rows. A score that ranks rows, such as AUC, then "
    "compares predictions of different models, whose scales may differ from fold to fold."
)
FAILED_FIT_REASON = "a fit failed, so some rows have no answer."
SCORER_REASON = "a scorer rates one fitted model on its test set, and says nothing of single rows."
UNCALIBRATED_NOTE = "no interval was calibrated for this loss."
DEPENDENT_ROWS_NOTE = (
    "rows that were taken one after the other, or near each other, may depend on each other, and "
    "no interval of subgroups was calibrated for that."
)


def subgroup_risks(
    predictions: Answers,
    left_two_out: LeftTwoOut | None,
    data: Data,
    loss: Loss,
    risk_terms: Terms,
    columns: Sequence[ColumnLevels],
    has_event: np.ndarray | None = None,
) -> SubgroupRisks:
    """Compute one loss of the first candidate in every level of the columns, and in all rows.

    `predictions` are by models that had not seen the rows. `left_two_out` are losses of the same
    rows by models that lack a further fold, if there are any. Rows with the event, marked by
    `has_event`, are counted.
    """
    tested_rows = _TestedRows(predictions, left_two_out, data, loss, risk_terms, has_event)
    all_rows = tested_rows.select_level(
        Subgroup("", "all rows", 0), np.ones(data.n_rows, dtype=bool)
    )
    subgroup_rows = [
        tested_rows.select_level(Subgroup(column.column, name, 0), column.codes == level_code)
        for column in columns
        for level_code, name in enumerate(column.names)
    ]
    quantile = _simultaneous_quantile(
        tested_rows,
        [rows_of_level for rows_of_level in subgroup_rows if rows_of_level.has_positive_variance],
    )
    overall_risk = all_rows.risk(risk_terms.confidence_level)
    level_risks = [
        rows_of_level.risk(rows_of_level.interval_level(quantile))
        for rows_of_level in subgroup_rows
    ]
    spreads: dict[str, float] = {}
    for column in columns:
        indices_of_column = [
            i
            for i, rows_of_level in enumerate(subgroup_rows)
            if rows_of_level.subgroup.column == column.column
        ]
        spreads |= _shrink(
            column.column,
            level_risks,
            [i for i in indices_of_column if subgroup_rows[i].has_positive_variance],
            subgroup_rows,
        )
    notes, label = tuple(_notes(tested_rows, level_risks)), loss.label(data)
    return SubgroupRisks(
        loss.name, overall_risk, tuple(level_risks), quantile, spreads, notes, label
    )


def _notes(tested_rows: _TestedRows, levels: Sequence[SubgroupRisk]) -> Iterator[str]:
    has_several_test_sets = tested_rows.answers.plan.n_questions > 1
    if (
        has_several_test_sets
        and not tested_rows.loss.per_row
        and any(level_risk.value is not None for level_risk in levels)
    ):
        yield POOLED_SCORES_NOTE
    if tested_rows.has_dependent_rows:
        yield DEPENDENT_ROWS_NOTE
    elif tested_rows.is_ordered:
        yield ORDERED_SPLITS_REASON
    elif tested_rows.interval_name is None:
        yield f"{tested_rows.loss.name}: {UNCALIBRATED_NOTE}"


def _simultaneous_quantile(
    tested_rows: _TestedRows, subgroup_rows: Sequence[_SubgroupRows]
) -> float | None:
    """Return the number of standard errors at which all intervals hold simultaneously."""
    if not subgroup_rows:
        return None
    influences = np.zeros((len(subgroup_rows), tested_rows.data.n_rows))
    for influence, rows_of_level in zip(influences, subgroup_rows, strict=True):
        influence[rows_of_level.evidence.rows] = rows_of_level.influences
    groups = tested_rows.data.groups
    if groups is not None:
        group_codes = np.unique(groups, return_inverse=True)[1].ravel()
        influences = np.array([np.bincount(group_codes, influence) for influence in influences])
    covariance = influences @ influences.T
    is_constant = np.diag(covariance) == 0  # Constant losses have no covariance with others.
    covariance[is_constant, is_constant] = 1.0
    return simultaneous_quantile(covariance, tested_rows.terms.confidence_level)


def _shrink(
    column: str,
    level_risks: list[SubgroupRisk],
    indices: list[int],
    subgroup_rows: Sequence[_SubgroupRows],
) -> dict[str, float]:
    """Store the shrunken values of a column's levels; return the spread between these levels."""
    if not indices:
        return {}
    loss = subgroup_rows[indices[0]].tested_rows.loss
    shrinkage = StableScale(loss.lower, loss.upper, is_logit=not loss.per_row).shrink_risks(
        np.array([level_risks[i].loss_value for i in indices], dtype=float),
        np.array([float(subgroup_rows[i].subgroup.n_rows) for i in indices]),
        np.array([subgroup_rows[i].variance for i in indices]),
    )
    if shrinkage is None:
        return {}
    shrunken_values = loss.scale.values(shrinkage.values).tolist()
    for i, shrunken_value, own_share in zip(
        indices, shrunken_values, shrinkage.own_weights.tolist(), strict=True
    ):
        level_risks[i] = replace(level_risks[i], shrunken=shrunken_value, own_share=own_share)
    return {column: shrinkage.between_level_std}


@frozen(eq=False)
class _TestedRows:
    """Held-out predictions, from which the risks of subgroups are computed."""

    answers: Answers
    left_two_out: LeftTwoOut | None
    data: Data
    loss: Loss
    terms: Terms
    has_event: np.ndarray | None = None

    @property
    def interval_name(self) -> str | None:
        """Name of the interval formula that was calibrated for this loss, or None."""
        return calibrated_interval_name(self.loss, self.data)

    @property
    def has_dependent_rows(self) -> bool:
        """True if rows may depend on others outside their group."""
        return self.data.time is not None or self.data.places is not None

    @cached_property
    def is_ordered(self) -> bool:
        """True if models were tested on rows after their training rows."""
        return find_split_order(self.answers.plan) is not None

    @property
    def has_known_variance(self) -> bool:
        """True if the variance of a subgroup's risk is known, as intervals and shrinkage need."""
        return self.interval_name is not None and not (self.has_dependent_rows or self.is_ordered)

    @cached_property
    def missing_reason(self) -> str | None:
        """Reason why no subgroup has a value, or None."""
        if self.answers.response in ("scored", "loss"):
            return SCORER_REASON
        return None if self.answers.answered.all() else FAILED_FIT_REASON

    @cached_property
    def mean_losses_by_row(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Tested rows, their losses (0 for set scores), weights, and whether rows are repeated."""
        weights, _ = average_weights(self.data, self.answers.plan, "pooled")
        return means_by_row(self.prediction_losses, weights, self.answers.plan)

    @cached_property
    def prediction_losses(self) -> np.ndarray:
        if isinstance(self.loss, RowLoss):
            return row_losses(self.answers, self.data, self.loss)
        return np.zeros((1, len(self.answers.plan.positions[0])))

    def select_level(self, subgroup: Subgroup, is_member: np.ndarray) -> _SubgroupRows:
        """Select the tested rows of a level; `is_member` marks the level's rows in the table.

        Rows of weight 0 are excluded.
        """
        rows = self.answers.plan.positions[0]
        is_tested = np.zeros(self.data.n_rows, dtype=bool)
        is_tested[rows] = True
        if self.data.sample_weight is not None:
            is_tested &= self.data.sample_weight > 0
        is_in_level = is_tested & is_member
        n_events = None if self.has_event is None else int(self.has_event[is_in_level].sum())
        return _SubgroupRows(
            self, replace(subgroup, n_rows=int(is_in_level.sum()), n_events=n_events), is_in_level
        )


@frozen(eq=False)
class _SubgroupRows:
    """Tested rows of one level, which `is_member` marks among the rows of the table."""

    tested_rows: _TestedRows
    subgroup: Subgroup
    is_member: np.ndarray

    @cached_property
    def missing_reason(self) -> str | None:
        """Reason why the risk of the level has no value, or None."""
        tested_rows, n = self.tested_rows, self.subgroup.n_rows
        if tested_rows.missing_reason is not None:
            return tested_rows.missing_reason
        if not n and tested_rows.data.sample_weight is not None:
            return "all its rows have a sample_weight of 0."
        if n < MIN_LEVEL_ROWS:
            return f"{n} {'row' if n == 1 else 'rows'}: at least {MIN_LEVEL_ROWS} are needed."
        if tested_rows.data.groups is not None:
            n_groups = len(np.unique(tested_rows.data.groups[self.is_member]))
            if n_groups < MIN_LEVEL_ROWS:
                return (
                    f"{n_groups} {'group' if n_groups == 1 else 'groups'} of rows: at least "
                    f"{MIN_LEVEL_ROWS} are needed."
                )
        return None if tested_rows.loss.per_row else self._rare_class_reason

    @property
    def _rare_class_reason(self) -> str | None:
        """Reason why a class has too few rows for a score that weighs classes, or None."""
        data = self.tested_rows.data
        if data.task != "classification":
            return None
        class_counts = np.bincount(data.class_codes[self.is_member], minlength=data.n_classes)
        rarest_class_code = int(class_counts.argmin())
        if class_counts[rarest_class_code] >= MIN_LEVEL_ROWS:
            return None
        count_text = (
            "no row is"
            if class_counts[rarest_class_code] == 0
            else f"{class_counts[rarest_class_code]} of {class_counts.sum()} rows "
            f"{'is' if class_counts[rarest_class_code] == 1 else 'are'}"
        )
        return (
            f"{count_text} '{data.label(rarest_class_code)}': "
            f"at least {MIN_LEVEL_ROWS} of each class are needed."
        )

    @cached_property
    def has_positive_variance(self) -> bool:
        """True if the risk of the level has a value and a positive variance."""
        return (
            self.missing_reason is None
            and self.tested_rows.has_known_variance
            and self.variance > 0
        )

    @cached_property
    def variance(self) -> float:
        """Variance of the level's mean loss; with fewer than two errors, at least that with two."""
        if not self.tested_rows.loss.tells_influences:
            return 0.0
        enlarged_variance = enlarge_variance(self.evidence, 0)
        n_rows = self.subgroup.n_rows
        if not self.tested_rows.loss.binary or self.evidence.values[0] * n_rows >= 2:
            return enlarged_variance.variance
        variance_factor = (
            n_rows / enlarged_variance.n_effective_units
            if enlarged_variance.n_effective_units > 0
            else 1.0
        )
        share_of_two_errors = 2 / (n_rows + 4)
        return max(
            enlarged_variance.variance,
            variance_factor * share_of_two_errors * (1 - share_of_two_errors) / n_rows,
        )

    @property
    def influences(self) -> np.ndarray:
        """Contribution of each row of the level to the error of the level's risk."""
        evidence = self.evidence
        return np.asarray((evidence.losses[0] - evidence.values[0]) * evidence.weights)

    def interval_level(self, quantile: float | None) -> float:
        """Return the confidence level of an interval of this many standard errors.

        The variance of a mean loss is estimated from few rows. The variance of counted errors
        follows from their rate, and the variance of a set score has a minimum given by the effect
        of a single row.
        """
        loss = self.tested_rows.loss
        if quantile is None:
            return self.tested_rows.terms.confidence_level
        is_estimated = loss.per_row and not loss.binary and self.missing_reason is None
        return single_interval_level(quantile, self.n_units if is_estimated else None)

    @property
    def n_units(self) -> int:
        """Number of rows of the level, or of groups of rows."""
        groups = self.tested_rows.data.groups
        return self.subgroup.n_rows if groups is None else len(np.unique(groups[self.is_member]))

    def risk(self, confidence_level: float) -> SubgroupRisk:
        """Return the level's risk, with its interval at this confidence level."""
        loss_scale = self.tested_rows.loss.scale
        if self.missing_reason is not None:
            return SubgroupRisk(
                self.subgroup, reason=self.missing_reason, perfect=loss_scale.perfect
            )
        std_error, interval, notes = self._error_and_interval(confidence_level)
        return SubgroupRisk(
            self.subgroup,
            loss_scale.value(float(self.evidence.values[0])),
            std_error,
            loss_scale.interval(interval),
            reason=notes[-1] if interval is None and notes else None,
            perfect=loss_scale.perfect,
        )

    def _error_and_interval(self, confidence_level: float) -> Sureness:
        tested_rows = self.tested_rows
        if tested_rows.interval_name is None or not tested_rows.has_known_variance:
            return None, None, ()
        level_terms = replace(tested_rows.terms, confidence_level=confidence_level)
        return as_form(tested_rows.interval_name).compute(
            replace(self.evidence, terms=level_terms), 0
        )

    @cached_property
    def evidence(self) -> RowEvidence:
        """Losses of the level's rows, in the form that interval formulas need."""
        tested_rows = self.tested_rows
        rows, losses_by_row, weights, is_repeated = tested_rows.mean_losses_by_row
        is_in_level = self.is_member[rows]
        is_level_prediction = self.is_member[tested_rows.answers.plan.positions[0]]
        rows, weights = rows[is_in_level], weights[is_in_level]
        losses, row_effect, total_weight = losses_by_row[:, is_in_level], None, weights.sum()
        # Summing before dividing keeps 6/12 at exactly 0.5.
        level_risk = losses @ weights / total_weight
        if not tested_rows.loss.per_row:
            level_risk, losses, row_effect = self._set_scores(rows)
        left_two_out = tested_rows.left_two_out if tested_rows.loss.per_row else None
        if left_two_out is not None:
            is_inside = self.is_member[left_two_out.rows]
            left_two_out = LeftTwoOut(
                left_two_out.rows[is_inside],
                left_two_out.second_folds[is_inside],
                left_two_out.losses[:, is_inside],
            )
        groups = tested_rows.data.groups
        return _LevelEvidence(
            values=level_risk,
            loss=tested_rows.loss,
            terms=tested_rows.terms,
            groups=None if groups is None else groups[rows],
            data=tested_rows.data,
            plan=tested_rows.answers.plan,
            rows=rows,
            losses=losses,
            weights=weights / total_weight,
            repeatedly=is_repeated,
            by_position=tested_rows.prediction_losses[:, is_level_prediction],
            split_risks=level_risk[:, None],
            left_two_out=left_two_out,
            one_row=row_effect,
            row_indices=np.searchsorted(
                rows, tested_rows.answers.plan.positions[0][is_level_prediction]
            ),
        )

    def _set_scores(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a set score, the score plus each row's influence, and the effect of a single row.

        All three are averaged over repetitions of the folds.
        """
        tested_rows = self.tested_rows
        plan, loss, data = tested_rows.answers.plan, tested_rows.loss, tested_rows.data
        repetition_of_prediction = np.repeat(plan.repeat, plan.test_sizes)
        set_scores, row_values, row_effects = [], [], []
        for repetition in np.unique(repetition_of_prediction):
            test_positions = np.flatnonzero(
                (repetition_of_prediction == repetition) & self.is_member[plan.positions[0]]
            )
            test_positions = test_positions[
                np.argsort(plan.positions[0][test_positions], kind="stable")
            ]
            set_rows = plan.positions[0][test_positions]
            test_set = (
                data,
                set_rows,
                tested_rows.answers.values[:1][:, test_positions],
                data.weights(set_rows),
            )
            set_score = loss.of_set(*test_set)
            set_scores.append(set_score)
            row_effects.append(loss.of_one_row(*test_set))
            values_of_rows = np.repeat(set_score[:, None], len(rows), axis=1)
            if loss.tells_influences:
                values_of_rows[:, np.searchsorted(rows, set_rows)] += loss.influences(
                    *test_set, set_score
                )
            row_values.append(values_of_rows)
        return (
            np.mean(set_scores, axis=0),
            np.mean(row_values, axis=0),
            np.mean(row_effects, axis=0),
        )


@frozen(eq=False, kw_only=True)
class _LevelEvidence(RowEvidence):
    """Losses of a subset of the tested rows; `row_of` is the row index of each prediction."""

    row_indices: np.ndarray

    @cached_property
    def instability(self) -> np.ndarray | None:
        if not self.repeatedly:
            return super().instability
        prediction_counts = np.bincount(self.row_indices)
        if not self.loss.per_row or np.ptp(prediction_counts) or prediction_counts[0] < 2:
            return None
        return within_row_variance_share(
            self.by_position, self.losses, self.weights, self.row_indices
        )
