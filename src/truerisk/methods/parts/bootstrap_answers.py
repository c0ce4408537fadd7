"""Answers of many drawn samples as risks: row by row, sample by sample, and of the apparent fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.errors import Refusal
from truerisk.core.losses import Loss, RowLoss
from truerisk.core.plan.samples import times_drawn
from truerisk.core.table.data import Data
from truerisk.methods.parts.set_risks import row_losses, split_risks

__all__ = ["Replicated"]


@dataclass(frozen=True, eq=False)
class Replicated:
    """The answers to a plan of samples, with the apparent question last where there is one."""

    answers: Answers
    data: Data
    loss: Loss
    has_apparent: bool

    @property
    def n_samples(self) -> int:
        """How many samples were asked about some row."""
        return self.answers.plan.n_questions - self.has_apparent

    @cached_property
    def times(self) -> np.ndarray:
        """How often each sample holds each row."""
        return times_drawn(self.answers.plan, np.arange(self.n_samples))

    @cached_property
    def tested(self) -> np.ndarray:
        """Rows that some sample was asked about, ascending."""
        return np.flatnonzero(self._times_tested)

    @cached_property
    def n_never_out(self) -> int:
        """Rows that are in every sample, so that nothing is known of them."""
        return int(((self.times > 0).any(axis=0) & (self._times_tested == 0)).sum())

    @cached_property
    def by_question(self) -> np.ndarray:
        """`(n_candidates, n_questions)` risks; NaN where a fit failed or a risk does not exist."""
        return split_risks(self.answers, self.data, self.loss, lenient=True)

    @cached_property
    def per_row(self) -> np.ndarray:
        """`(n_candidates, len(tested))` mean loss of each row over the samples that were asked."""
        rows, losses = self._rows[: self._cut], self._losses[:, : self._cut]
        sums = [np.bincount(rows, of_one, self.data.n_rows) for of_one in losses]
        return np.array(sums)[:, self.tested] / self._times_tested[self.tested]

    @cached_property
    def test(self) -> np.ndarray:
        """The risk on what the samples were asked: mean over samples for each row, then over rows.

        A loss of whole test sets has no rows, and is averaged over the samples where it exists.
        """
        if isinstance(self.loss, RowLoss):
            return self._mean(self.per_row, self.tested)
        of_samples = self.by_question[:, : self.n_samples]
        exists = ~np.isnan(of_samples)
        if not exists.any(axis=1).all():
            raise Refusal(
                f"loss '{self.loss.word}' does not exist on what any of the samples left out: "
                "use a loss of single rows, or more rows."
            )
        means: np.ndarray = np.where(exists, of_samples, 0).sum(axis=1) / exists.sum(axis=1)
        means[~self.all_answered] = np.nan
        return means

    @cached_property
    def n_without(self) -> int:
        """Samples on which the loss does not exist (no rows of one class, say)."""
        if isinstance(self.loss, RowLoss):
            return 0
        answered = self.answers.answered[:, : self.n_samples]
        return int((np.isnan(self.by_question[:, : self.n_samples]) & answered).any(axis=0).sum())

    @cached_property
    def apparent(self) -> np.ndarray:
        """The risk of the fit on all rows on these rows."""
        return self.by_question[:, -1]

    @cached_property
    def apparent_rows(self) -> np.ndarray:
        """`(n_candidates, len(tested))` losses of the fit on all rows, of the rows tested."""
        rows, losses = self._rows[self._cut :], self._losses[:, self._cut :]
        order = np.argsort(rows, kind="stable")
        return losses[:, order[np.searchsorted(rows[order], self.tested)]]

    @cached_property
    def training(self) -> np.ndarray:
        """The mean over samples of the risk of each fit on its own sample, copies counted."""
        own = np.zeros(len(self.answers.values))
        offsets = self.answers.plan.test_offsets
        for q in range(self.n_samples):
            where = slice(offsets[q], offsets[q + 1])
            rows = self._rows[where]
            times = self.times[q, rows]
            own += self._rated(rows, times, where)
        own[~self.all_answered] = np.nan
        return own / self.n_samples

    @cached_property
    def all_answered(self) -> np.ndarray:
        """For each candidate, whether every one of its fits gave its answers."""
        return np.asarray(self.answers.answered.all(axis=1))

    def sums_of_samples(self, candidate: int) -> np.ndarray:
        """The summed losses of what each sample was asked."""
        sizes = self.answers.plan.test_sizes[: self.n_samples]
        starts = np.cumsum(sizes) - sizes
        return np.add.reduceat(self._losses[candidate, : self._cut], starts)

    def _rated(self, rows: np.ndarray, times: np.ndarray, where: slice) -> np.ndarray:
        if isinstance(self.loss, RowLoss):
            weights = self.data.weights(rows)
            weights = times if weights is None else times * weights
            return self._losses[:, where] @ weights / weights.sum()
        answers = np.repeat(self.answers.values[:, where], times, axis=1)
        rows = np.repeat(rows, times)
        rated = np.full(len(answers), np.nan)
        fine = self.all_answered
        rated[fine] = self.loss.of_set(self.data, rows, answers[fine], self.data.weights(rows))
        return rated

    @cached_property
    def _losses(self) -> np.ndarray:
        assert isinstance(self.loss, RowLoss)
        return row_losses(self.answers, self.data, self.loss)

    @cached_property
    def _rows(self) -> np.ndarray:
        return self.answers.plan.positions[0]

    @cached_property
    def _cut(self) -> int:
        """Where the answers to the samples end."""
        return int(self.answers.plan.test_offsets[self.n_samples])

    @cached_property
    def _times_tested(self) -> np.ndarray:
        return np.bincount(self._rows[: self._cut], minlength=self.data.n_rows)

    def _mean(self, losses: np.ndarray, rows: np.ndarray) -> np.ndarray:
        weights = self.data.weights(rows)
        if weights is None:
            return np.asarray(losses.mean(axis=1))
        if weights.sum() <= 0:
            raise Refusal("all rows that were left out have a sample_weight of 0.")
        return losses @ weights / weights.sum()
