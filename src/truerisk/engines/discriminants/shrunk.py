"""Shrunk linear discriminants, and how far the learner's own rounding may move their scores.

The shrunk covariance C = (1 − s) A + s tr(A)/p I has, across all rows shown, the one eigenvalue
s tr(A)/p. Where there are more columns than rows, all is done in as many columns as there are rows
(`turned.py`), and nothing of the p × p matrix is made. scikit-learn makes it, and solves for the
class means as they are: its rounding moves a score of a row x about the class mean m by up to

    ε λ |C⁻¹x| |C⁻¹m|

with λ the largest eigenvalue of C; a label no clearer than that is the learner's to say. The error
has no direction, and of p directions the two that matter get a share of 1/√p each: by no more than
3/√p of the bound was a score ever seen to move. Where that costs digits that are asked for, the
learner is asked as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.core.contracts import Request
from truerisk.engines.discriminants.rule import DOUBT, DiscriminantRule, shrunk_solution
from truerisk.engines.discriminants.scatter import Classes, ScatterSpectrum, spectrum_of
from truerisk.engines.templates.turned import Turned
from truerisk.kernels.spectral import EPS

__all__ = ["ShrunkFit", "moved_by_rounding"]

SHARE = 4.0  # over √p, of the bound


@dataclass(frozen=True, eq=False)
class ShrunkFit:
    """Class means and the spectrum of the scatter, of turned rows where there is a `table`."""

    classes: Classes
    rule: DiscriminantRule
    spectrum: ScatterSpectrum
    table: Turned | None
    farthest: float

    @classmethod
    def of(
        cls, X: np.ndarray, table: Turned | None, classes: Classes, rule: DiscriminantRule, s: float
    ) -> ShrunkFit:
        """`s` is the least shrinkage that will be asked for, X the rows before they were turned."""
        rows, factor = classes.rows(rule.of_classes(classes.sizes))
        p = X.shape[1]
        added = s / p * factor * float(np.einsum("ij,ij->", rows, rows))
        spectrum = spectrum_of(rows, factor, n_features=p, added=added)
        farthest = classes.farthest if table is None else float(np.abs(X).max())
        return cls(classes, rule, spectrum, table, farthest)

    def scores(self, asked: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray] | None:
        """Scores of rows, and the bound of the head of this file for each (0: it moves none).

        None where too few digits are known.
        """
        classes = self.classes
        origin: Any = 0.0 if self.table is None else self.table.origin
        slopes = self._solved(classes.means - classes.means.mean(axis=0), s)
        means = self._solved(classes.means - origin, s)
        if slopes is None or means is None:
            return None
        rows, across = (asked, 0.0) if self.table is None else self.table.turn(asked)
        scores = self.rule.scores(classes, slopes[0], rows)
        if self.table is None and self.rule.rounds_little(means[1], self.farthest, means[0]):
            return scores, np.zeros(len(asked))
        found = self._solved(rows - origin, s)
        assert found is not None  # as the means are
        added = s * self.spectrum.trace / self.spectrum.n_features
        largest = (1 - s) * self.spectrum.values.max() + added
        of_rows = np.hypot(np.sqrt((found[0] ** 2).sum(axis=1)), across / added)
        of_means = np.sqrt((means[0] ** 2).sum(axis=1).max())
        doubts: np.ndarray = EPS * largest * (of_rows + of_means) * of_means
        return scores, doubts

    def _solved(self, rows: np.ndarray, s: float) -> tuple[np.ndarray, float] | None:
        return shrunk_solution(self.spectrum, rows, s, self.farthest)


def moved_by_rounding(
    scores: np.ndarray, doubts: np.ndarray, n_features: int, request: Request
) -> np.ndarray:
    """Of which rows scikit-learn may answer otherwise, or with other digits."""
    top = np.partition(scores, -2, axis=-1)[..., -2:]
    gap = top[..., 1] - top[..., 0]
    if request.response == "label":
        moved: np.ndarray = (gap <= 2 * doubts) & (doubts > 0)
    else:
        moved = min(1.0, SHARE / n_features**0.5) * doubts > DOUBT * (1 + gap)
    return moved
