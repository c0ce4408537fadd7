"""Losses of whole test sets that are not scores of classes: R² and the calibration error."""

from __future__ import annotations

import numpy as np

from truerisk.core.arguments import check_count
from truerisk.core.errors import Refusal
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import error_sizes


class R2(Loss):
    """Loss 1 − R² = Σ (y − f)² / Σ (y − ȳ)², or its mean over several targets.

    A row has the influence ((y − f)² − m (y − ȳ)²)/S around the loss m, with S the variance of y.

    See Also
    --------
    truerisk.losses.Squared : Squared error.
    truerisk.losses.Absolute : Absolute error.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> X, y = tr.datasets.make_daily_load(60, random_state=0)
    >>> risk = tr.estimate_risk(Ridge(), X, y, scoring=tr.losses.R2(), checks=False)
    >>> round(risk.value, 4)
    0.3119
    """

    name, response, per_row, is_score, perfect = "r2", "value", False, True, 1.0
    is_biased_on_small_sets = True
    tasks = ("regression",)
    tells_influences = True

    @override
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        squared_errors, square_deviations, weight_shares = self._squared_terms(
            data, rows, answers, weights
        )
        losses_by_target = np.einsum("i,cit->ct", weight_shares, squared_errors) / (
            weight_shares @ square_deviations
        )
        return np.asarray(losses_by_target.mean(axis=1))

    @override
    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        squared_errors, square_deviations, weight_shares = self._squared_terms(
            data, rows, answers, weights
        )
        variance = weight_shares @ square_deviations
        losses_by_target = np.einsum("i,cit->ct", weight_shares, squared_errors) / variance
        losses_by_target += (about - losses_by_target.mean(axis=1))[:, None]
        influences_by_target = (
            squared_errors - losses_by_target[:, None] * square_deviations
        ) / variance
        return np.asarray(influences_by_target.mean(axis=2))

    def _squared_terms(
        self, data: Data, rows: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each candidate's squared errors (y − f)², then (y − ȳ)², then shares of weights.

        The last array holds the share of each row in the sum of the weights. The squares have an
        axis for the targets.
        """
        y = data.y[rows].reshape(len(rows), -1)
        row_weights = (
            np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        )
        if not row_weights.any() or (np.ptp(y[row_weights > 0], axis=0) == 0).any():
            raise Refusal(
                f"loss '{self.name}' needs several values of y in every test set, and one of "
                f"{len(rows)} rows holds a single one; use fewer folds, or 'r2 pooled', which "
                "takes all answers as one set."
            )
        weight_shares = row_weights / row_weights.sum()
        squared_errors = error_sizes(np.square, predictions.reshape(len(predictions), *y.shape), y)
        return squared_errors, (y - weight_shares @ y) ** 2, weight_shares


class ECE(Loss):
    """Expected calibration error `Σ_b |Σ_{i∈b} w_i (hit_i − p_i)| / W` over bins of confidence p.

    p is the largest of a row's probabilities, and hit_i is 1 if that class is the true one (Naeini,
    Cooper and Hauskrecht, 2015; Guo et al., 2017). The `bins` are equally wide. With few rows per
    bin the error is too large, even for a model whose probabilities are right. A row has the
    influence ±(hit_i − p_i) − ECE, with the sign of its bin.

    Parameters
    ----------
    bins : int, default=10
        The number of bins.

    See Also
    --------
    truerisk.losses.Brier : Squared distance of probabilities.
    truerisk.losses.Log : Logarithmic loss of probabilities.

    References
    ----------
    Naeini MP, Cooper GF, Hauskrecht M (2015). Obtaining well calibrated probabilities using
    Bayesian binning. Proceedings of the AAAI Conference on Artificial Intelligence 29.

    Guo C, Pleiss G, Sun Y, Weinberger KQ (2017). On calibration of modern neural networks.
    Proceedings of the 34th International Conference on Machine Learning.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.ECE()).value, 4)
    0.0551
    """

    name, response, per_row, upper = "ece", "probability", False, 1.0
    usual_average = "pooled"
    tells_influences = True
    grows_with_few_rows = True
    notes = ("of few rows it is too large, even of a model whose probabilities are right",)

    def __init__(self, bins: int = 10) -> None:
        check_count("bins", bins)
        self.bins = bins

    @override
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        confidence_gaps, bin_signs, weight_shares = self._confidence_gaps(
            data, rows, answers, weights
        )
        return np.asarray((confidence_gaps * bin_signs) @ weight_shares)

    @override
    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        confidence_gaps, bin_signs, _ = self._confidence_gaps(data, rows, answers, weights)
        return np.asarray(confidence_gaps * bin_signs - about[:, None])

    def _confidence_gaps(
        self, data: Data, rows: np.ndarray, probabilities: np.ndarray, weights: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return three arrays: hit minus confidence of every row, bin signs, and shares of weights.

        The third array holds the share of each row in the sum of the weights. The sign of a bin is
        that of the weighted mean of hit minus confidence in it.
        """
        weight_shares = np.full(len(rows), 1 / len(rows))
        if weights is not None:
            weight_shares = np.asarray(weights, dtype=np.float64) / np.sum(weights)
        confidence = probabilities.max(axis=2)
        confidence_gaps = (probabilities.argmax(axis=2) == data.codes_of(rows)) - confidence
        # Bins exclude their lower edge.
        bin_numbers = np.nan_to_num(np.ceil(confidence * self.bins) - 1)
        bins = np.clip(bin_numbers, 0, self.bins - 1).astype(np.int64)
        bin_signs = [
            np.sign(np.bincount(bins_of_rows, weight_shares * candidate_gaps, self.bins))[
                bins_of_rows
            ]
            for bins_of_rows, candidate_gaps in zip(bins, confidence_gaps, strict=True)
        ]
        return confidence_gaps, np.array(bin_signs), weight_shares
