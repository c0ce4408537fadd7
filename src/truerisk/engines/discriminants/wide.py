"""Shrunk linear discriminants of more columns than rows, in as many columns as there are rows.

The shrunk covariance (1 − s) A + s tr(A)/p I has, across all rows shown, the one eigenvalue
s tr(A)/p: nothing of the p × p matrix need be made. scikit-learn makes it, and its own rounding
moves a score of a row x about the class mean m by up to

    ε λ |C⁻¹x| |C⁻¹m|

with C the shrunk covariance and λ its largest eigenvalue; a label no clearer than that is the
learner's to say. The error has no direction, and of p directions the two that matter get a share of
1/√p each: by no more than 3/√p of the bound was a score ever seen to move. Where that costs digits
that are asked for, the learner is asked as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.contracts import Request
from truerisk.engines.discriminants.rule import (
    DOUBT,
    DiscriminantRule,
    shrinkage_of,
    shrunk_solution,
)
from truerisk.engines.discriminants.scatter import Classes, ScatterSpectrum, spectrum_of
from truerisk.engines.settings import Group
from truerisk.engines.templates.deciding import respond, undecided
from truerisk.engines.templates.task import Shown, Task
from truerisk.engines.templates.turned import Turned, turned
from truerisk.kernels.spectral import EPS

__all__ = ["answer_wide"]

SHARE = 4.0  # over √p, of the bound


def answer_wide(
    task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
) -> list[np.ndarray] | None:
    """As `OnePass.fit_pass`; candidates that shrink nothing are left open."""
    table = turned(shown.X, tests)
    fit = _WideFit.of(table, shown, DiscriminantRule.of(group.settings[0]))
    if fit is None:
        return None
    shrinkages = [shrinkage_of(setting) for setting in group.settings]
    answers, open_ = [], np.zeros(len(shrinkages), dtype=bool)
    for rows, across in zip(table.asked, table.across, strict=True):
        scores = np.zeros((len(shrinkages), len(rows), len(fit.classes.present)))
        for place, s in enumerate(shrinkages):
            found = fit.scores(rows, across, s) if s else None
            if found is None:
                open_[place] = True
                continue
            scores[place] = found[0]
            share = SHARE / table.n_features**0.5
            open_[place] |= _unsure(*found, min(1.0, share), task.request).any()
        answers.append(respond(scores, fit.classes.present, task.request, task.data.n_classes))
    task.leave_open(shown.fit, group.candidates[open_])
    return answers


@dataclass(frozen=True, eq=False)
class _WideFit:
    """Class means and the spectrum of the scatter in turned columns."""

    table: Turned
    classes: Classes
    rule: DiscriminantRule
    spectrum: ScatterSpectrum

    @classmethod
    def of(cls, table: Turned, shown: Shown, rule: DiscriminantRule) -> _WideFit | None:
        """None where scikit-learn would fail, or warn."""
        classes = Classes.of(table.shown, shown.y, shown.times)
        quiet = rule.has_covariances(classes.sizes)
        quiet = quiet and rule.tells_means(classes.means - table.origin)
        if not (quiet and rule.can_fit(classes.sizes, table.n_features)):
            return None
        rows, factor = classes.rows(rule.of_classes(classes.sizes))
        return cls(table, classes, rule, spectrum_of(rows, factor, table.n_features))

    def scores(
        self, rows: np.ndarray, across: np.ndarray, s: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Scores of asked rows, and by how much the learner's own may differ.

        None where too few digits are known.
        """
        offsets = self.classes.means - self.classes.means.mean(axis=0)
        slopes, doubts = self._solved(offsets, s), self._doubts(rows, across, s)
        if slopes is None or doubts is None:
            return None
        return self.rule.scores(self.classes, slopes, rows), doubts

    def _doubts(self, rows: np.ndarray, across: np.ndarray, s: float) -> np.ndarray | None:
        """The bound of the head of this file, for each row; of the means as of a row."""
        origin = self.table.origin
        means, asked = self._solved(self.classes.means - origin, s), self._solved(rows - origin, s)
        if means is None or asked is None:
            return None
        largest = (1 - s) * self.spectrum.values.max() + self._added(s)
        of_rows = np.hypot(np.sqrt((asked**2).sum(axis=1)), across / self._added(s))
        of_means = np.sqrt((means**2).sum(axis=1).max())
        doubts: np.ndarray = EPS * largest * (of_rows + of_means) * of_means
        return doubts

    def _added(self, s: float) -> float:
        """The eigenvalue of the shrunk covariance across all rows shown."""
        return s * self.spectrum.trace / self.spectrum.n_features

    def _solved(self, rows: np.ndarray, s: float) -> np.ndarray | None:
        found = shrunk_solution(self.spectrum, rows, s, self.table.farthest)
        return None if found is None else found[0]


def _unsure(scores: np.ndarray, doubts: np.ndarray, share: float, request: Request) -> np.ndarray:
    """Of which rows scikit-learn may answer otherwise, or with other digits."""
    top = np.partition(scores, -2, axis=-1)[..., -2:]
    gap = top[..., 1] - top[..., 0]
    if request.response == "label":
        unsure: np.ndarray = undecided(scores, request) | (gap <= 2 * doubts)
    else:
        unsure = share * doubts > DOUBT * (1 + gap)
    return unsure
