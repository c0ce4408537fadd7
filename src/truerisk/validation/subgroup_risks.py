"""The risk in every subgroup, from answers about rows that were held out: no further fit.

A loss of rows is averaged over the rows of a level. A score of whole test sets is that of all
answers about the level's rows, of a repetition, taken as one test set; a fold may hold none of
them. Every level has the interval that cross-validation has for the loss (`interval_forms`), at the
level at which all of them hold together (`truerisk/validation/many_levels.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Terms
from truerisk.core.evaluation import Shaken
from truerisk.core.loss import Loss, RowLoss
from truerisk.core.plan.leaks import ORDERED, order_of
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms import RowEvidence, as_form
from truerisk.methods.interval_forms.calibrated import enlarged
from truerisk.methods.interval_forms.form import Sureness
from truerisk.methods.interval_forms.instability import instability
from truerisk.methods.parts.averages import average_weights, means_by_row
from truerisk.methods.parts.interval_choice import calibrated_word
from truerisk.methods.parts.set_risks import row_losses
from truerisk.validation.honest import HonestRun, answered_losses
from truerisk.validation.many_levels import (
    StableScale,
    level_of_each,
    simultaneous_quantile,
)
from truerisk.validation.outcomes import Event
from truerisk.validation.subgroups import (
    FEWEST,
    Levels,
    Subgroup,
    SubgroupRisk,
    SubgroupRisks,
    Subgroups,
)

POOLED = (
    "all answers about the rows of a subgroup are one test set; where they are scores for ranks, "
    "those of different models are pooled, and their scales may differ from fold to fold."
)
FAILED = "a fit failed, so some rows have no answer."
SCORED = "a scorer rates one fitted model on its test set, and says nothing of single rows."
UNCALIBRATED = "no interval was calibrated for this loss."
DEPENDENT = (
    "rows that were taken one after the other, or near each other, may depend on each other, and "
    "no interval of subgroups was calibrated for that."
)


def subgroups_of(run: HonestRun, columns: tuple[Levels, ...], event: Event | None) -> Subgroups:
    """Every loss of the problem in every level of the columns, and AUC and Brier's score.

    Rows of the `event` are counted; AUC and Brier's score are the same for either of two classes.
    """
    problem, code = run.problem, None if event is None else event.code
    terms = Terms(problem.confidence_level, problem.rule)
    risks = tuple(
        subgroup_risks(answers, shaken, problem.data, loss, terms, columns, code)
        for loss, answers, shaken in answered_losses(run)
    )
    notes = tuple(one.note for one in columns if one.note is not None)
    return Subgroups(risks, problem.confidence_level, notes)


def subgroup_risks(
    answers: Answers,
    shaken: Shaken | None,
    data: Data,
    loss: Loss,
    terms: Terms,
    columns: Sequence[Levels],
    event: int | None = None,
) -> SubgroupRisks:
    """One loss of the first candidate in every level of these columns, and in all rows.

    `answers` are of models that had not seen the rows; `shaken` are losses of the same rows by
    models that lack a further fold, where there are any. `event` is the code of the class whose
    rows are counted.
    """
    told = _TestedRows(answers, shaken, data, loss, terms, event)
    whole = told.part(Subgroup("", "all rows", 0), np.ones(data.n_rows, dtype=bool))
    parts = [
        told.part(Subgroup(one.column, name, 0), one.codes == code)
        for one in columns
        for code, name in enumerate(one.names)
    ]
    quantile = _quantile(told, [part for part in parts if part.varies])
    first = whole.risk(terms.confidence_level)
    levels = [part.risk(part.level(quantile)) for part in parts]
    spreads: dict[str, float] = {}
    for one in columns:
        mine = [i for i, part in enumerate(parts) if part.subgroup.column == one.column]
        spreads |= _shrink(one.column, levels, [i for i in mine if parts[i].varies], parts)
    notes, label = tuple(_notes(told, levels)), loss.label(data)
    return SubgroupRisks(loss.word, first, tuple(levels), quantile, spreads, notes, label)


def _notes(told: _TestedRows, levels: Sequence[SubgroupRisk]) -> Iterator[str]:
    if not told.loss.per_row and any(one.value is not None for one in levels):
        yield POOLED
    if told.depends:
        yield DEPENDENT
    elif told.ordered:
        yield ORDERED
    elif told.interval_word is None:
        yield f"{told.loss.word}: {UNCALIBRATED}"


def _quantile(told: _TestedRows, parts: Sequence[_Part]) -> float | None:
    """The standard errors at which the intervals of these parts hold together."""
    if not parts:
        return None
    influences = np.zeros((len(parts), told.data.n_rows))
    for line, part in zip(influences, parts, strict=True):
        line[part.evidence.rows] = part.influences
    groups = told.data.groups
    if groups is not None:
        member = np.unique(groups, return_inverse=True)[1].ravel()
        influences = np.array([np.bincount(member, line) for line in influences])
    covariance = influences @ influences.T
    alike = np.diag(covariance) == 0  # equal losses go together with nothing
    covariance[alike, alike] = 1.0
    return simultaneous_quantile(covariance, told.terms.confidence_level)


def _shrink(
    column: str, levels: list[SubgroupRisk], mine: list[int], parts: Sequence[_Part]
) -> dict[str, float]:
    """Put the shrunken values of a column's levels in their places; the spread between them."""
    if not mine:
        return {}
    loss = parts[mine[0]].tested_rows.loss
    found = StableScale(loss.lower, loss.upper, logit=not loss.per_row).shrinkage(
        np.array([levels[i].value for i in mine], dtype=float),
        np.array([float(parts[i].subgroup.n_rows) for i in mine]),
        np.array([parts[i].variance for i in mine]),
    )
    if found is None:
        return {}
    for i, value, share in zip(mine, found.values.tolist(), found.own_shares.tolist(), strict=True):
        levels[i] = replace(levels[i], shrunken=value, own_share=share)
    return {column: found.spread}


@dataclass(frozen=True, eq=False)
class _TestedRows:
    """What was answered about rows, ready to be read for a part of them."""

    answers: Answers
    shaken: Shaken | None
    data: Data
    loss: Loss
    terms: Terms
    event: int | None = None

    @property
    def interval_word(self) -> str | None:
        """The interval that was calibrated for this loss, None where none was."""
        return calibrated_word(self.loss, self.data)

    @property
    def depends(self) -> bool:
        """Whether rows may depend on others of no group of theirs."""
        return self.data.time is not None or self.data.places is not None

    @cached_property
    def ordered(self) -> bool:
        """Whether models were tested on what comes after their training rows."""
        return order_of(self.answers.plan) is not None

    @property
    def is_independent(self) -> bool:
        """Whether the variance of a part is known: its interval rests on it, and what is shrunk."""
        return self.interval_word is not None and not (self.depends or self.ordered)

    @cached_property
    def lacking(self) -> str | None:
        """Why nothing can be said of any part."""
        if self.answers.response in ("scored", "loss"):
            return SCORED
        return None if self.answers.answered.all() else FAILED

    @cached_property
    def by_row(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Tested rows, their losses (0 of a score of sets), weights, whether tested repeatedly."""
        weights, _ = average_weights(self.data, self.answers.plan, "pooled")
        return means_by_row(self.by_position, weights, self.answers.plan)

    @cached_property
    def by_position(self) -> np.ndarray:
        if isinstance(self.loss, RowLoss):
            return row_losses(self.answers, self.data, self.loss)
        return np.zeros((1, len(self.answers.plan.positions[0])))

    def part(self, subgroup: Subgroup, member: np.ndarray) -> _Part:
        """The rows of a level, of which `member` marks those of the table, that were tested.

        A row without any weight is none of them.
        """
        rows = self.answers.plan.positions[0]
        tested = np.zeros(self.data.n_rows, dtype=bool)
        tested[rows] = True
        if self.data.sample_weight is not None:
            tested &= self.data.sample_weight > 0
        mine = tested & member
        n_events = None
        if self.event is not None:
            n_events = int((self.data.class_codes[mine] == self.event).sum())
        return _Part(self, replace(subgroup, n_rows=int(mine.sum()), n_events=n_events), mine)


@dataclass(frozen=True, eq=False)
class _Part:
    """The tested rows of one level, `member` of the table."""

    tested_rows: _TestedRows
    subgroup: Subgroup
    member: np.ndarray

    @cached_property
    def lacking(self) -> str | None:
        """Why there is no value."""
        told, n = self.tested_rows, self.subgroup.n_rows
        if told.lacking is not None:
            return told.lacking
        if not n and told.data.sample_weight is not None:
            return "all its rows have a sample_weight of 0."
        if n < FEWEST:
            return f"{n} {'row' if n == 1 else 'rows'}: at least {FEWEST} are needed."
        if told.data.groups is not None:
            m = len(np.unique(told.data.groups[self.member]))
            if m < FEWEST:
                return (
                    f"{m} {'group' if m == 1 else 'groups'} of rows: at least {FEWEST} are needed."
                )
        return None if told.loss.per_row else self._few_of_a_class

    @property
    def _few_of_a_class(self) -> str | None:
        """A score of sets weighs classes against each other: each needs some rows."""
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
        """Whether there is a value, and a variance of it."""
        return self.lacking is None and self.tested_rows.is_independent and self.variance > 0

    @cached_property
    def variance(self) -> float:
        """That of a cross-validated mean; of fewer than two errors at least that of two."""
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
        """What each of its rows adds to the error of its value."""
        evidence = self.evidence
        return np.asarray((evidence.losses[0] - evidence.values[0]) * evidence.weights)

    def level(self, quantile: float | None) -> float:
        """That of an interval which reaches so many standard errors.

        The variance of a mean loss is estimated from few rows; that of counted errors follows from
        their rate, and a score of sets is kept above what one row does to it.
        """
        loss = self.tested_rows.loss
        if quantile is None:
            return self.tested_rows.terms.confidence_level
        estimated = loss.per_row and not loss.binary and self.lacking is None
        return level_of_each(quantile, self.n_units if estimated else None)

    @property
    def n_units(self) -> int:
        """Rows, or groups of them."""
        groups = self.tested_rows.data.groups
        return self.subgroup.n_rows if groups is None else len(np.unique(groups[self.member]))

    def risk(self, level: float) -> SubgroupRisk:
        """Its value and interval at this level."""
        loss = self.tested_rows.loss
        perfect = loss.scale.perfect
        if self.lacking is not None:
            return SubgroupRisk(self.subgroup, reason=self.lacking, perfect=perfect)
        error, interval, notes = self._sureness(level)
        return SubgroupRisk(
            self.subgroup,
            float(self.evidence.values[0]),
            error,
            interval,
            reason=notes[-1] if interval is None and notes else None,
            perfect=perfect,
        )

    def _sureness(self, level: float) -> Sureness:
        told = self.tested_rows
        if told.interval_word is None or not told.is_independent:
            return None, None, ()
        terms = replace(told.terms, confidence_level=level)
        return as_form(told.interval_word).of(replace(self.evidence, terms=terms), 0)

    @cached_property
    def evidence(self) -> RowEvidence:
        """The tests of its rows in the form in which intervals take them."""
        told = self.tested_rows
        rows, per_row, weights, repeatedly = told.by_row
        mine = self.member[rows]
        at = self.member[told.answers.plan.positions[0]]
        rows, weights = rows[mine], weights[mine]
        losses, one_row, total = per_row[:, mine], None, weights.sum()
        value = losses @ weights / total  # whole numbers stay whole: 6/12 is 0.5
        if not told.loss.per_row:
            value, losses, one_row = self._of_sets(rows)
        moved = told.shaken if told.loss.per_row else None
        if moved is not None:
            own = self.member[moved.rows]
            moved = Shaken(moved.rows[own], moved.other[own], moved.losses[:, own])
        groups = told.data.groups
        return _Evidence(
            values=value,
            loss=told.loss,
            terms=told.terms,
            groups=None if groups is None else groups[rows],
            data=told.data,
            plan=told.answers.plan,
            rows=rows,
            losses=losses,
            weights=weights / total,
            repeatedly=repeatedly,
            by_position=told.by_position[:, at],
            split_risks=value[:, None],
            shaken=moved,
            one_row=one_row,
            row_of=np.searchsorted(rows, told.answers.plan.positions[0][at]),
        )

    def _of_sets(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Score, score plus influence of every row, and what one row does, over repetitions."""
        told = self.tested_rows
        plan, loss, data = told.answers.plan, told.loss, told.data
        repeat = np.repeat(plan.repeat, plan.test_sizes)
        values, lines, changes = [], [], []
        for r in np.unique(repeat):
            at = np.flatnonzero((repeat == r) & self.member[plan.positions[0]])
            at = at[np.argsort(plan.positions[0][at], kind="stable")]
            asked = plan.positions[0][at]
            given = data, asked, told.answers.values[:1][:, at], data.weights(asked)
            value = loss.of_set(*given)
            values.append(value)
            changes.append(loss.of_one_row(*given))
            line = np.repeat(value[:, None], len(rows), axis=1)
            if loss.tells_influences:
                line[:, np.searchsorted(rows, asked)] += loss.influences(*given, value)
            lines.append(line)
        return np.mean(values, axis=0), np.mean(lines, axis=0), np.mean(changes, axis=0)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Evidence(RowEvidence):
    """That of a part of the tested rows; `row_of` is the place of each test's row among them."""

    row_of: np.ndarray

    @cached_property
    def instability(self) -> np.ndarray | None:
        if not self.repeatedly:
            return super().instability
        times = np.bincount(self.row_of)
        if not self.loss.per_row or np.ptp(times) or times[0] < 2:
            return None
        return instability(self.by_position, self.losses, self.weights, self.row_of)
