"""The risk in every subgroup, from predictions for held-out rows, without further fits.

A loss of rows is averaged over the rows of a level. A score of whole test sets is computed from all
predictions for the level's rows in a repetition as one test set, because a fold may contain none of
them. Every level has the interval that cross-validation uses for the loss (`intervals`), at the
level at which all of them hold together (`truerisk/validation/many_levels.py`).
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
from truerisk.intervals.calibrated import enlarged
from truerisk.intervals.choice import calibrated_name
from truerisk.intervals.form import Sureness
from truerisk.intervals.instability import instability
from truerisk.losses.loss import Loss, RowLoss
from truerisk.methods.parts.averages import average_weights, means_by_row, row_losses
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import ORDERED, order_of
from truerisk.results.evaluation import LeftTwoOut
from truerisk.validation.many_levels import (
    StableScale,
    level_of_each,
    simultaneous_quantile,
)
from truerisk.validation.subgroups import (
    FEWEST,
    Levels,
    Subgroup,
    SubgroupRisk,
    SubgroupRisks,
)

POOLED = (
    "a score of all rows is averaged as it is elsewhere. Of a subgroup, of which a fold may hold "
    "few rows, all answers are one test set: where they rank rows, those of different models are "
    "pooled, and their scales may differ from fold to fold."
)
FAILED = "a fit failed, so some rows have no answer."
SCORED = "a scorer rates one fitted model on its test set, and says nothing of single rows."
UNCALIBRATED = "no interval was calibrated for this loss."
DEPENDENT = (
    "rows that were taken one after the other, or near each other, may depend on each other, and "
    "no interval of subgroups was calibrated for that."
)


def subgroup_risks(
    answers: Answers,
    left_two_out: LeftTwoOut | None,
    data: Data,
    loss: Loss,
    terms: Terms,
    columns: Sequence[Levels],
    came: np.ndarray | None = None,
) -> SubgroupRisks:
    """Return one loss of the first candidate in every level of these columns, and overall.

    `answers` are predictions by models that had not seen the rows. `left_two_out` are losses of the
    same rows by models that lack a further fold, if there are any. Rows in which the event `came`
    are counted.
    """
    tested = _TestedRows(answers, left_two_out, data, loss, terms, came)
    whole = tested.part(Subgroup("", "all rows", 0), np.ones(data.n_rows, dtype=bool))
    parts = [
        tested.part(Subgroup(column.column, name, 0), column.codes == code)
        for column in columns
        for code, name in enumerate(column.names)
    ]
    quantile = _simultaneous_quantile(tested, [part for part in parts if part.varies])
    overall = whole.risk(terms.confidence_level)
    levels = [part.risk(part.level(quantile)) for part in parts]
    spreads: dict[str, float] = {}
    for column in columns:
        places = [i for i, part in enumerate(parts) if part.subgroup.column == column.column]
        spreads |= _shrink(column.column, levels, [i for i in places if parts[i].varies], parts)
    notes, label = tuple(_notes(tested, levels)), loss.label(data)
    return SubgroupRisks(loss.name, overall, tuple(levels), quantile, spreads, notes, label)


def _notes(tested: _TestedRows, levels: Sequence[SubgroupRisk]) -> Iterator[str]:
    several = tested.answers.plan.n_questions > 1
    if several and not tested.loss.per_row and any(level.value is not None for level in levels):
        yield POOLED
    if tested.depends:
        yield DEPENDENT
    elif tested.ordered:
        yield ORDERED
    elif tested.interval_name is None:
        yield f"{tested.loss.name}: {UNCALIBRATED}"


def _simultaneous_quantile(tested: _TestedRows, parts: Sequence[_Part]) -> float | None:
    """Return the number of standard errors at which the intervals hold simultaneously."""
    if not parts:
        return None
    influences = np.zeros((len(parts), tested.data.n_rows))
    for influence, part in zip(influences, parts, strict=True):
        influence[part.evidence.rows] = part.influences
    groups = tested.data.groups
    if groups is not None:
        member = np.unique(groups, return_inverse=True)[1].ravel()
        influences = np.array([np.bincount(member, influence) for influence in influences])
    covariance = influences @ influences.T
    constant = np.diag(covariance) == 0  # Constant losses have no covariance with others.
    covariance[constant, constant] = 1.0
    return simultaneous_quantile(covariance, tested.terms.confidence_level)


def _shrink(
    column: str, levels: list[SubgroupRisk], places: list[int], parts: Sequence[_Part]
) -> dict[str, float]:
    """Store the shrunken values of a column's levels; return the spread between them."""
    if not places:
        return {}
    loss = parts[places[0]].tested_rows.loss
    fit = StableScale(loss.lower, loss.upper, logit=not loss.per_row).shrinkage(
        np.array([levels[i].loss_value for i in places], dtype=float),
        np.array([float(parts[i].subgroup.n_rows) for i in places]),
        np.array([parts[i].variance for i in places]),
    )
    if fit is None:
        return {}
    shrunken = loss.scale.values(fit.values).tolist()
    for i, value, share in zip(places, shrunken, fit.own_shares.tolist(), strict=True):
        levels[i] = replace(levels[i], shrunken=value, own_share=share)
    return {column: fit.spread}


@frozen(eq=False)
class _TestedRows:
    """Predictions of rows, from which the risks of subsets are computed."""

    answers: Answers
    left_two_out: LeftTwoOut | None
    data: Data
    loss: Loss
    terms: Terms
    came: np.ndarray | None = None

    @property
    def interval_name(self) -> str | None:
        """Name of the interval that was calibrated for this loss, or None."""
        return calibrated_name(self.loss, self.data)

    @property
    def depends(self) -> bool:
        """True if rows may depend on others outside their group."""
        return self.data.time is not None or self.data.places is not None

    @cached_property
    def ordered(self) -> bool:
        """True if models were tested on rows after their training rows."""
        return order_of(self.answers.plan) is not None

    @property
    def is_independent(self) -> bool:
        """True if the variance of a subset is known, as intervals and shrinkage require."""
        return self.interval_name is not None and not (self.depends or self.ordered)

    @cached_property
    def lacking(self) -> str | None:
        """Reason why no subset has a value, or None."""
        if self.answers.response in ("scored", "loss"):
            return SCORED
        return None if self.answers.answered.all() else FAILED

    @cached_property
    def by_row(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Tested rows, their losses (0 for set scores), weights, and whether they are repeated."""
        weights, _ = average_weights(self.data, self.answers.plan, "pooled")
        return means_by_row(self.by_position, weights, self.answers.plan)

    @cached_property
    def by_position(self) -> np.ndarray:
        if isinstance(self.loss, RowLoss):
            return row_losses(self.answers, self.data, self.loss)
        return np.zeros((1, len(self.answers.plan.positions[0])))

    def part(self, subgroup: Subgroup, member: np.ndarray) -> _Part:
        """Return the tested rows of a level, of which `member` marks those of the table.

        Rows of weight 0 are excluded.
        """
        rows = self.answers.plan.positions[0]
        tested = np.zeros(self.data.n_rows, dtype=bool)
        tested[rows] = True
        if self.data.sample_weight is not None:
            tested &= self.data.sample_weight > 0
        in_part = tested & member
        n_events = None if self.came is None else int(self.came[in_part].sum())
        return _Part(self, replace(subgroup, n_rows=int(in_part.sum()), n_events=n_events), in_part)


@frozen(eq=False)
class _Part:
    """The tested rows of one level, which `member` marks among those of the table."""

    tested_rows: _TestedRows
    subgroup: Subgroup
    member: np.ndarray

    @cached_property
    def lacking(self) -> str | None:
        """Reason why there is no value, or None."""
        tested, n = self.tested_rows, self.subgroup.n_rows
        if tested.lacking is not None:
            return tested.lacking
        if not n and tested.data.sample_weight is not None:
            return "all its rows have a sample_weight of 0."
        if n < FEWEST:
            return f"{n} {'row' if n == 1 else 'rows'}: at least {FEWEST} are needed."
        if tested.data.groups is not None:
            m = len(np.unique(tested.data.groups[self.member]))
            if m < FEWEST:
                return (
                    f"{m} {'group' if m == 1 else 'groups'} of rows: at least {FEWEST} are needed."
                )
        return None if tested.loss.per_row else self._few_of_a_class

    @property
    def _few_of_a_class(self) -> str | None:
        """Reason why a class has too few rows for a score that weighs classes, or None."""
        data = self.tested_rows.data
        if data.task != "classification":
            return None
        counts = np.bincount(data.class_codes[self.member], minlength=data.n_classes)
        code = int(counts.argmin())
        if counts[code] >= FEWEST:
            return None
        have = "no row is" if counts[code] == 0 else f"{counts[code]} of {counts.sum()} rows are"
        return f"{have} '{data.label(code)}': at least {FEWEST} of each class are needed."

    @cached_property
    def varies(self) -> bool:
        """True if there is a value with a variance."""
        return self.lacking is None and self.tested_rows.is_independent and self.variance > 0

    @cached_property
    def variance(self) -> float:
        """Variance of a cross-validated mean; with fewer than two errors at least that of two."""
        if not self.tested_rows.loss.tells_influences:
            return 0.0
        spread = enlarged(self.evidence, 0)
        m = self.subgroup.n_rows
        if not self.tested_rows.loss.binary or self.evidence.values[0] * m >= 2:
            return spread.variance
        factor = m / spread.units if spread.units > 0 else 1.0
        two = 2 / (m + 4)
        return max(spread.variance, factor * two * (1 - two) / m)

    @property
    def influences(self) -> np.ndarray:
        """Contribution of each of its rows to the error of its value."""
        evidence = self.evidence
        return np.asarray((evidence.losses[0] - evidence.values[0]) * evidence.weights)

    def level(self, quantile: float | None) -> float:
        """Return the level of an interval that extends over this number of standard errors.

        The variance of a mean loss is estimated from few rows. That of counted errors follows from
        their rate, and that of a set score has a minimum given by the effect of a single row.
        """
        loss = self.tested_rows.loss
        if quantile is None:
            return self.tested_rows.terms.confidence_level
        estimated = loss.per_row and not loss.binary and self.lacking is None
        return level_of_each(quantile, self.n_units if estimated else None)

    @property
    def n_units(self) -> int:
        """Number of rows, or of groups."""
        groups = self.tested_rows.data.groups
        return self.subgroup.n_rows if groups is None else len(np.unique(groups[self.member]))

    def risk(self, level: float) -> SubgroupRisk:
        """Return its value and interval at this level."""
        scale = self.tested_rows.loss.scale
        if self.lacking is not None:
            return SubgroupRisk(self.subgroup, reason=self.lacking, perfect=scale.perfect)
        error, interval, notes = self._sureness(level)
        return SubgroupRisk(
            self.subgroup,
            scale.value(float(self.evidence.values[0])),
            error,
            scale.interval(interval),
            reason=notes[-1] if interval is None and notes else None,
            perfect=scale.perfect,
        )

    def _sureness(self, level: float) -> Sureness:
        tested = self.tested_rows
        if tested.interval_name is None or not tested.is_independent:
            return None, None, ()
        terms = replace(tested.terms, confidence_level=level)
        return as_form(tested.interval_name).compute(replace(self.evidence, terms=terms), 0)

    @cached_property
    def evidence(self) -> RowEvidence:
        """The tests of its rows in the form that intervals need."""
        tested = self.tested_rows
        rows, per_row, weights, repeatedly = tested.by_row
        in_part = self.member[rows]
        tests = self.member[tested.answers.plan.positions[0]]
        rows, weights = rows[in_part], weights[in_part]
        losses, one_row, total = per_row[:, in_part], None, weights.sum()
        value = losses @ weights / total  # Whole numbers stay whole, so that 6/12 is 0.5.
        if not tested.loss.per_row:
            value, losses, one_row = self._of_sets(rows)
        left_two_out = tested.left_two_out if tested.loss.per_row else None
        if left_two_out is not None:
            inside = self.member[left_two_out.rows]
            left_two_out = LeftTwoOut(
                left_two_out.rows[inside],
                left_two_out.other[inside],
                left_two_out.losses[:, inside],
            )
        groups = tested.data.groups
        return _Evidence(
            values=value,
            loss=tested.loss,
            terms=tested.terms,
            groups=None if groups is None else groups[rows],
            data=tested.data,
            plan=tested.answers.plan,
            rows=rows,
            losses=losses,
            weights=weights / total,
            repeatedly=repeatedly,
            by_position=tested.by_position[:, tests],
            split_risks=value[:, None],
            left_two_out=left_two_out,
            one_row=one_row,
            row_of=np.searchsorted(rows, tested.answers.plan.positions[0][tests]),
        )

    def _of_sets(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the score, its value plus each row's influence, and the effect of a row.

        All are averaged over repetitions.
        """
        tested = self.tested_rows
        plan, loss, data = tested.answers.plan, tested.loss, tested.data
        repeat = np.repeat(plan.repeat, plan.test_sizes)
        values, lines, changes = [], [], []
        for r in np.unique(repeat):
            tests = np.flatnonzero((repeat == r) & self.member[plan.positions[0]])
            tests = tests[np.argsort(plan.positions[0][tests], kind="stable")]
            set_rows = plan.positions[0][tests]
            test_set = data, set_rows, tested.answers.values[:1][:, tests], data.weights(set_rows)
            value = loss.of_set(*test_set)
            values.append(value)
            changes.append(loss.of_one_row(*test_set))
            line = np.repeat(value[:, None], len(rows), axis=1)
            if loss.tells_influences:
                line[:, np.searchsorted(rows, set_rows)] += loss.influences(*test_set, value)
            lines.append(line)
        return np.mean(values, axis=0), np.mean(lines, axis=0), np.mean(changes, axis=0)


@frozen(eq=False, kw_only=True)
class _Evidence(RowEvidence):
    """Evidence for a subset of the tested rows; `row_of` is the index of each test's row."""

    row_of: np.ndarray

    @cached_property
    def instability(self) -> np.ndarray | None:
        if not self.repeatedly:
            return super().instability
        times = np.bincount(self.row_of)
        if not self.loss.per_row or np.ptp(times) or times[0] < 2:
            return None
        return instability(self.by_position, self.losses, self.weights, self.row_of)
