"""The expected calibration error: how far confidence is from the share of right answers."""

from __future__ import annotations

import numpy as np

from truerisk.core.arguments import check_count
from truerisk.core.loss import Loss
from truerisk.core.table.data import Data

__all__ = ["ECE"]


class ECE(Loss):
    r"""`Σ_b |Σ_{i∈b} w_i (hit_i − p_i)| / W` over `bins` equally wide bins of the confidence p.

    p is the largest of a row's probabilities, and hit_i whether that class came (Naeini, Cooper and
    Hauskrecht, 2015; Guo et al., 2017). With few rows a bin it is too large, even of a model whose
    probabilities are right. A row has the influence ±(hit_i − p_i) − ECE, with the sign of its bin.
    """

    word, response, per_row, upper = "ece", "probability", False, 1.0
    usual_average = "pooled"
    tells_influences = True
    grows_with_few_rows = True
    notes = ("of few rows it is too large, even of a model whose probabilities are right",)

    def __init__(self, bins: int = 10) -> None:
        check_count("bins", bins)
        self.bins = bins

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        gaps, signs, share = self._gaps(data, rows, answers, weights)
        return np.asarray((gaps * signs) @ share)

    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        gaps, signs, _ = self._gaps(data, rows, answers, weights)
        return np.asarray(gaps * signs - about[:, None])

    def _gaps(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Hit minus confidence of every row, the sign of the mean of these in its bin, shares."""
        share = np.full(len(rows), 1 / len(rows))
        if weights is not None:
            share = np.asarray(weights, dtype=np.float64) / np.sum(weights)
        confidence = answers.max(axis=2)
        gaps = (answers.argmax(axis=2) == data.codes_of(rows)) - confidence
        inside = np.nan_to_num(np.ceil(confidence * self.bins) - 1)  # the lower edge is not in
        bins = np.clip(inside, 0, self.bins - 1).astype(np.int64)
        signs = [
            np.sign(np.bincount(b, share * gap, self.bins))[b]
            for b, gap in zip(bins, gaps, strict=True)
        ]
        return gaps, np.array(signs), share
