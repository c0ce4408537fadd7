r"""Risks of bootstrap samples, their standard error, and the no-information risk.

.. math:: \gamma = \frac{1}{n^2} \sum_i \sum_j \ell(y_i, f(x_j))

This is computed exactly for every loss of single rows. A loss that depends on y only through its
class needs one evaluation per class (zero-one loss: Σ_k p_k (1 − q_k)), squared loss is
var y + var f + (mean y − mean f)², and any other loss is summed over the rows of y. The AUC of
predictions that are unrelated to y is ½ by definition. For a function that rates whole test sets,
γ is the mean over shifts of y against the predictions.

Efron and Tibshirani (1997, §5) differentiate :math:`\mathrm{Err}_1` along the weight of each row:

.. math:: D_i = \left(2 + \frac{1}{n-1}\right) \frac{E_i - \mathrm{Err}_1}{n}
          + \frac{e_n}{B} \sum_b (N_i^b - \bar N_i)\, q_b, \qquad
          q_b = \frac1n \sum_{i \notin b} \ell_i^b, \quad e_n = \left(1 - \tfrac1n\right)^{-n}

where :math:`N_i^b` is the number of times that sample b contains row i, and :math:`E_i` is the mean
loss of row i over the samples that miss it. The variance is :math:`\sum_i D_i^2`. The noise of B
samples inflates it, on average by :math:`(n-1)\, e_n^2 \sum_b (q_b - \bar q)^2 / B^2`, which is
subtracted (Wager, Hastie and Efron, 2014).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.data.data import Data
from truerisk.losses.loss import AUC, Loss, RowLoss
from truerisk.losses.row_losses import Brier, Cost, Log, Squared, ZeroOne
from truerisk.methods.parts.averages import row_losses, split_risks
from truerisk.plan.answers import Answers
from truerisk.plan.partitions import times_drawn

MOST_SHIFTS = 500


def no_information(loss: Loss, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return the no-information risk γ of each candidate from its predictions for these rows."""
    if is_exactly(loss, AUC):
        return np.full(len(answers), 0.5)
    if not isinstance(loss, RowLoss):
        return _over_shifts(loss, data, rows, answers)
    given = data.weights(rows)
    weights = np.ones(len(rows)) if given is None else given
    if type(loss) is Squared:
        return _squared(data.y[rows], answers, weights / weights.sum())
    stand, theirs = rows, weights
    if type(loss) in (ZeroOne, Cost, Log, Brier):
        codes = data.codes_of(rows)
        first, member = np.unique(codes, return_index=True, return_inverse=True)[1:]
        stand, theirs = rows[first], np.bincount(member.ravel(), weights).astype(np.float64)
    total = np.zeros(len(answers))
    # Whole numbers of rows stay whole in this sum.
    for row, weight in zip(stand, theirs, strict=True):
        total += weight * (loss.of_rows(data, np.full(len(rows), row), answers) @ weights)
    return total / weights.sum() ** 2


def _squared(y: np.ndarray, answers: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the no-information risk of squared loss, averaged over targets.

    It is the sum of both variances and the squared difference of the means.
    """
    y = y.reshape(len(y), -1)
    answers = answers.reshape(*answers.shape[:2], -1)
    mean, means = share @ y, np.einsum("j,cjt->ct", share, answers)
    spread = share @ (y - mean) ** 2
    spreads = np.einsum("j,cjt->ct", share, (answers - means[:, None]) ** 2)
    return (spread + spreads + (means - mean) ** 2).mean(axis=1)


def _over_shifts(loss: Loss, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return the mean loss over shifts of y against the predictions.

    Over all n shifts every y meets every prediction once. If there are more than 500 shifts, 500
    evenly spaced ones are used.
    """
    if loss.response == "scored":
        raise Refusal(
            f"the no-information risk of scorer {loss.name} does not exist: it asks the model "
            "itself, and y cannot be shuffled against its answers. Use a loss of truerisk, '.632', "
            "or a K-fold word."
        )
    shifts = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_SHIFTS)).astype(int))
    losses = [loss.of_set(data, np.roll(rows, int(s)), answers, None) for s in shifts]
    return np.mean(losses, axis=0)


def directions(
    times: np.ndarray, of_rows: np.ndarray, of_samples: np.ndarray, n_samples: int
) -> np.ndarray:
    """Return D_i of each row from the counts (B, n), E_i (n,) and q_b (B,).

    `n_samples` also counts samples that contain every row; they add nothing to the sums.
    """
    n = times.shape[1]
    # The mean count includes the samples that are not passed, which hold every row once.
    centred = times - ((times.sum(axis=0) + (n_samples - len(times))) / n_samples)
    moved = centred.T @ of_samples * (_inverse_share(n) / n_samples)
    return (2 + 1 / (n - 1)) * (of_rows - of_rows.mean()) / n + moved


def jackknife_error(
    times: np.ndarray, of_rows: np.ndarray, of_samples: np.ndarray, n_samples: int
) -> float | None:
    """Return the standard error by the infinitesimal jackknife.

    It is None if the correction for finitely many samples is larger than the variance.
    """
    n = times.shape[1]
    moved = directions(times, of_rows, of_samples, n_samples)
    spread = ((of_samples - of_samples.sum() / n_samples) ** 2).sum()
    noise = (n - 1) * (_inverse_share(n) / n_samples) ** 2 * spread
    variance = float((moved**2).sum() - noise)
    return float(np.sqrt(variance)) if variance > 0 else None


def _inverse_share(n: int) -> float:
    """Return 1 divided by the share of samples that miss a given row."""
    return float((1 - 1 / n) ** -n)


@frozen(eq=False)
class Replicated:
    """Predictions of the models of bootstrap samples.

    Those of the apparent fit, if there is one, come last.
    """

    answers: Answers
    data: Data
    loss: Loss
    has_apparent: bool

    @property
    def n_samples(self) -> int:
        """Number of samples that were tested on at least one row."""
        return self.answers.plan.n_questions - self.has_apparent

    @cached_property
    def times(self) -> np.ndarray:
        """Number of times that each sample contains each row."""
        return times_drawn(self.answers.plan, np.arange(self.n_samples))

    @cached_property
    def tested(self) -> np.ndarray:
        """Rows that were tested by at least one sample, in ascending order."""
        return np.flatnonzero(self._times_tested)

    @cached_property
    def n_never_out(self) -> int:
        """Number of rows that are in every sample, so that they are never tested."""
        return int(((self.times > 0).any(axis=0) & (self._times_tested == 0)).sum())

    @cached_property
    def by_question(self) -> np.ndarray:
        """`(n_candidates, n_questions)` risks; NaN where a fit failed or a risk does not exist."""
        return split_risks(self.answers, self.data, self.loss, lenient=True)

    @cached_property
    def per_row(self) -> np.ndarray:
        """Mean losses `(n_candidates, len(tested))` of each row over the samples that tested it."""
        rows, losses = self._rows[: self._cut], self._losses[:, : self._cut]
        sums = [np.bincount(rows, of_one, self.data.n_rows) for of_one in losses]
        return np.array(sums)[:, self.tested] / self._times_tested[self.tested]

    @cached_property
    def test(self) -> np.ndarray:
        """Risk on the tested rows: the mean over samples for each row, then the mean over rows.

        A loss of whole test sets has no rows. It is averaged over the samples on which it exists.
        """
        if isinstance(self.loss, RowLoss):
            return self._mean(self.per_row, self.tested)
        of_samples = self.by_question[:, : self.n_samples]
        exists = ~np.isnan(of_samples)
        if not exists.any(axis=1).all():
            raise Refusal(
                f"loss '{self.loss.name}' does not exist on what any of the samples left out: "
                "use a loss of single rows, or more rows."
            )
        means: np.ndarray = np.where(exists, of_samples, 0).sum(axis=1) / exists.sum(axis=1)
        means[~self.all_answered] = np.nan
        return means

    @cached_property
    def n_without(self) -> int:
        """Number of samples on which the loss does not exist (because a class is absent, say)."""
        if isinstance(self.loss, RowLoss):
            return 0
        answered = self.answers.answered[:, : self.n_samples]
        return int((np.isnan(self.by_question[:, : self.n_samples]) & answered).any(axis=0).sum())

    @cached_property
    def apparent(self) -> np.ndarray:
        """Risk on these rows of the model that was fitted on all rows."""
        return self.by_question[:, -1]

    @cached_property
    def apparent_rows(self) -> np.ndarray:
        """Losses `(n_candidates, len(tested))` on the tested rows of the fit on all rows."""
        rows, losses = self._rows[self._cut :], self._losses[:, self._cut :]
        order = np.argsort(rows, kind="stable")
        return losses[:, order[np.searchsorted(rows[order], self.tested)]]

    @cached_property
    def training(self) -> np.ndarray:
        """Mean over samples of each model's risk on its own sample.

        Rows drawn repeatedly count repeatedly.
        """
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
        """Mask of candidates whose fits all succeeded."""
        return np.asarray(self.answers.answered.all(axis=1))

    def sums_of_samples(self, candidate: int) -> np.ndarray:
        """Return the sum of the losses on the test rows of each sample."""
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
        """Number of predictions by the models of the samples. The apparent ones come after them."""
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
