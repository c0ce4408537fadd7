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
from truerisk.losses.loss import AUC_IMPORT_PATH, Loss, RowLoss
from truerisk.losses.row_losses import Brier, Cost, Log, Squared, ZeroOne
from truerisk.methods.parts.averages import row_losses, split_risks
from truerisk.plan.answers import Answers
from truerisk.plan.partitions import count_row_copies

MAX_SHIFTS = 500


def no_information(loss: Loss, data: Data, rows: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """Return the no-information risk γ of each candidate from its predictions for these rows."""
    if is_exactly(loss, AUC_IMPORT_PATH):
        return np.full(len(predictions), 0.5)
    if not isinstance(loss, RowLoss):
        return _mean_over_shifts(loss, data, rows, predictions)
    sample_weights = data.weights(rows)
    weights = np.ones(len(rows)) if sample_weights is None else sample_weights
    if type(loss) is Squared:
        return _squared_no_information_risk(data.y[rows], predictions, weights / weights.sum())
    representative_rows, representative_weights = rows, weights
    if type(loss) in (ZeroOne, Cost, Log, Brier):
        codes = data.codes_of(rows)
        first_rows, class_numbers = np.unique(codes, return_index=True, return_inverse=True)[1:]
        representative_rows, representative_weights = (
            rows[first_rows],
            np.bincount(class_numbers.ravel(), weights).astype(np.float64),
        )
    loss_sums = np.zeros(len(predictions))
    # Losses are divided by the weights only at the end, so that sums of counts stay exact.
    for row, weight in zip(representative_rows, representative_weights, strict=True):
        loss_sums += weight * (loss.of_rows(data, np.full(len(rows), row), predictions) @ weights)
    return loss_sums / weights.sum() ** 2


def _squared_no_information_risk(
    y: np.ndarray, predictions: np.ndarray, row_shares: np.ndarray
) -> np.ndarray:
    """Return the no-information risk of squared loss, averaged over the columns of y.

    It is the variance of y plus the variance of the predictions plus the squared difference of
    their means.
    """
    y = y.reshape(len(y), -1)
    predictions = predictions.reshape(*predictions.shape[:2], -1)
    y_mean, prediction_means = row_shares @ y, np.einsum("j,cjt->ct", row_shares, predictions)
    y_variance = row_shares @ (y - y_mean) ** 2
    prediction_variances = np.einsum(
        "j,cjt->ct", row_shares, (predictions - prediction_means[:, None]) ** 2
    )
    return (y_variance + prediction_variances + (prediction_means - y_mean) ** 2).mean(axis=1)


def _mean_over_shifts(
    loss: Loss, data: Data, rows: np.ndarray, predictions: np.ndarray
) -> np.ndarray:
    """Return each candidate's mean loss when y is shifted cyclically against the predictions.

    Over all n shifts every y is paired with every prediction once. If n exceeds 500, 500 evenly
    spaced shifts are used.
    """
    if loss.response == "scored":
        raise Refusal(
            f"the no-information risk of scorer {loss.name} does not exist: it asks the model "
            "itself, and y cannot be shuffled against its answers. Use a loss of truerisk, '.632', "
            "or a K-fold word."
        )
    shifts = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MAX_SHIFTS)).astype(int))
    losses = [loss.of_set(data, np.roll(rows, int(shift)), predictions, None) for shift in shifts]
    return np.mean(losses, axis=0)


def oob_influences(
    draw_counts: np.ndarray, row_means: np.ndarray, sample_sums: np.ndarray, n_samples: int
) -> np.ndarray:
    """Return the influence D_i of each row on Err₁ (see the module's formula).

    `draw_counts` holds the counts N (B, n), `row_means` the means E (n,) and `sample_sums` the sums
    q (B,). `n_samples` also counts samples that contain every row; they add nothing to the sums.
    """
    n = draw_counts.shape[1]
    # Samples that contain every row once are missing in `draw_counts`.
    # They still count in the mean number of draws of each row.
    centred_counts = draw_counts - (
        (draw_counts.sum(axis=0) + (n_samples - len(draw_counts))) / n_samples
    )
    sampling_term = centred_counts.T @ sample_sums * (_inverse_oob_share(n) / n_samples)
    return (2 + 1 / (n - 1)) * (row_means - row_means.mean()) / n + sampling_term


def jackknife_error(
    draw_counts: np.ndarray, row_means: np.ndarray, sample_sums: np.ndarray, n_samples: int
) -> float | None:
    """Return the infinitesimal-jackknife standard error of Err₁.

    Return None if the correction for finitely many samples is larger than the variance.
    """
    n = draw_counts.shape[1]
    row_influences = oob_influences(draw_counts, row_means, sample_sums, n_samples)
    sum_of_squares = ((sample_sums - sample_sums.sum() / n_samples) ** 2).sum()
    noise_variance = (n - 1) * (_inverse_oob_share(n) / n_samples) ** 2 * sum_of_squares
    variance = float((row_influences**2).sum() - noise_variance)
    return float(np.sqrt(variance)) if variance > 0 else None


def _inverse_oob_share(n: int) -> float:
    """Return the reciprocal of the expected share of bootstrap samples that miss a given row."""
    return float((1 - 1 / n) ** -n)


@frozen(eq=False)
class BootstrapPredictions:
    """Predictions and losses of the models that were fitted on bootstrap samples.

    The predictions of the model fitted on all rows, if there is one, come last.
    """

    answers: Answers
    data: Data
    loss: Loss
    has_apparent_fit: bool

    @property
    def n_samples(self) -> int:
        """Number of samples whose models were tested on at least one row."""
        return self.answers.plan.n_questions - self.has_apparent_fit

    @cached_property
    def draw_counts(self) -> np.ndarray:
        """Number of times that each sample contains each row, as an array (sample, row)."""
        return count_row_copies(self.answers.plan, np.arange(self.n_samples))

    @cached_property
    def tested_rows(self) -> np.ndarray:
        """Rows that were tested by the model of at least one sample, in ascending order."""
        return np.flatnonzero(self._times_tested)

    @cached_property
    def n_rows_in_every_sample(self) -> int:
        """Number of rows that are never tested, because every sample contains them."""
        return int(((self.draw_counts > 0).any(axis=0) & (self._times_tested == 0)).sum())

    @cached_property
    def risks_by_test_set(self) -> np.ndarray:
        """Risk of each candidate on each test set; NaN if the fit or the risk does not exist."""
        return split_risks(self.answers, self.data, self.loss, lenient=True)

    @cached_property
    def mean_row_losses(self) -> np.ndarray:
        """Mean loss of each candidate on each tested row, over the models that tested the row."""
        rows, losses = (
            self._rows[: self._n_sample_predictions],
            self._losses[:, : self._n_sample_predictions],
        )
        row_loss_sums = [
            np.bincount(rows, candidate_losses, self.data.n_rows) for candidate_losses in losses
        ]
        return np.array(row_loss_sums)[:, self.tested_rows] / self._times_tested[self.tested_rows]

    @cached_property
    def oob_risks(self) -> np.ndarray:
        """Out-of-bag risk of each candidate: the mean over rows of a row's mean loss over samples.

        A loss of whole test sets is averaged over the samples for which it exists.
        """
        if isinstance(self.loss, RowLoss):
            return self._mean_over_rows(self.mean_row_losses, self.tested_rows)
        sample_risks = self.risks_by_test_set[:, : self.n_samples]
        has_loss = ~np.isnan(sample_risks)
        if not has_loss.any(axis=1).all():
            raise Refusal(
                f"loss '{self.loss.name}' does not exist on what any of the samples left out: "
                "use a loss of single rows, or more rows."
            )
        means: np.ndarray = np.where(has_loss, sample_risks, 0).sum(axis=1) / has_loss.sum(axis=1)
        means[~self.has_all_predictions] = np.nan
        return means

    @cached_property
    def n_samples_without_loss(self) -> int:
        """Number of samples for which the loss does not exist (because a class is absent, say)."""
        if isinstance(self.loss, RowLoss):
            return 0
        has_prediction = self.answers.answered[:, : self.n_samples]
        return int(
            (np.isnan(self.risks_by_test_set[:, : self.n_samples]) & has_prediction)
            .any(axis=0)
            .sum()
        )

    @cached_property
    def apparent_risks(self) -> np.ndarray:
        """Apparent risk of each candidate: the model is fitted and tested on all rows."""
        return self.risks_by_test_set[:, -1]

    @cached_property
    def apparent_losses(self) -> np.ndarray:
        """Apparent loss of each candidate, fitted on all rows, for each row in `tested_rows`."""
        rows, losses = (
            self._rows[self._n_sample_predictions :],
            self._losses[:, self._n_sample_predictions :],
        )
        row_order = np.argsort(rows, kind="stable")
        return losses[:, row_order[np.searchsorted(rows[row_order], self.tested_rows)]]

    @cached_property
    def training_risks(self) -> np.ndarray:
        """Mean over samples of the risk of each candidate's model on its own training sample.

        Rows that were drawn repeatedly count repeatedly.
        """
        risk_sums = np.zeros(len(self.answers.values))
        offsets = self.answers.plan.test_offsets
        for sample in range(self.n_samples):
            prediction_slice = slice(offsets[sample], offsets[sample + 1])
            rows = self._rows[prediction_slice]
            draw_counts = self.draw_counts[sample, rows]
            risk_sums += self._weighted_risks(rows, draw_counts, prediction_slice)
        risk_sums[~self.has_all_predictions] = np.nan
        return risk_sums / self.n_samples

    @cached_property
    def has_all_predictions(self) -> np.ndarray:
        """Mask of candidates whose fits all succeeded."""
        return np.asarray(self.answers.answered.all(axis=1))

    def sample_loss_sums(self, candidate: int) -> np.ndarray:
        """Return the sum of a candidate's losses on the test rows of each sample."""
        test_sizes = self.answers.plan.test_sizes[: self.n_samples]
        sample_starts = np.cumsum(test_sizes) - test_sizes
        return np.add.reduceat(self._losses[candidate, : self._n_sample_predictions], sample_starts)

    def _weighted_risks(
        self, rows: np.ndarray, draw_counts: np.ndarray, prediction_slice: slice
    ) -> np.ndarray:
        if isinstance(self.loss, RowLoss):
            weights = self.data.weights(rows)
            weights = draw_counts if weights is None else draw_counts * weights
            return self._losses[:, prediction_slice] @ weights / weights.sum()
        predictions = np.repeat(self.answers.values[:, prediction_slice], draw_counts, axis=1)
        rows = np.repeat(rows, draw_counts)
        risks = np.full(len(predictions), np.nan)
        has_all_fits = self.has_all_predictions
        risks[has_all_fits] = self.loss.of_set(
            self.data, rows, predictions[has_all_fits], self.data.weights(rows)
        )
        return risks

    @cached_property
    def _losses(self) -> np.ndarray:
        assert isinstance(self.loss, RowLoss)
        return row_losses(self.answers, self.data, self.loss)

    @cached_property
    def _rows(self) -> np.ndarray:
        return self.answers.plan.positions[0]

    @cached_property
    def _n_sample_predictions(self) -> int:
        """Number of predictions by the samples' models; the apparent predictions follow them."""
        return int(self.answers.plan.test_offsets[self.n_samples])

    @cached_property
    def _times_tested(self) -> np.ndarray:
        return np.bincount(self._rows[: self._n_sample_predictions], minlength=self.data.n_rows)

    def _mean_over_rows(self, losses: np.ndarray, rows: np.ndarray) -> np.ndarray:
        weights = self.data.weights(rows)
        if weights is None:
            return np.asarray(losses.mean(axis=1))
        if weights.sum() <= 0:
            raise Refusal("all rows that were left out have a sample_weight of 0.")
        return losses @ weights / weights.sum()
