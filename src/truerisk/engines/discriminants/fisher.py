"""The engine of FisherClassifier: all left-out rows from one hat matrix.

The least-squares fit without row i predicts t_i − e_i/(1 − h_i) for this row, where e_i is the
residual and h_i the leverage. With the balanced threshold the class means change as well. With
weights all sums are weighted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.discriminants.left_out import LeftOut
from truerisk.engines.discriminants.rule import respond, undecided
from truerisk.engines.discriminants.scatter import FLAT, Root, root_of
from truerisk.engines.settings import Group
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.kernels.spectral import EPS
from truerisk.models.fisher_classifier import THRESHOLDS, class_codes
from truerisk.plan.plan import Plan

LEAST_REMAINDER = 1e-5  # Minimum of 1 − leverage. At 0 the fit without the row is not unique.
# Multiple of the cut-off. Without a row a singular value keeps √LEAST_REMAINDER of itself.
FAR_ABOVE = 1e4


@frozen
class FisherDiscriminants(OnePass):
    """Engine for FisherClassifier, alone or last in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.models.FisherClassifier : The learner.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> engine = tr.engines.FisherDiscriminants()
    >>> tr.estimate_risk(tr.models.FisherClassifier(), X, y, engine=engine).engine
    'fisher'
    """

    name: ClassVar[str] = "fisher"
    along: ClassVar[tuple[str, ...]] = ()

    @override
    def learners(self) -> Sequence[type]:
        check_present("truerisk.models.fisher_classifier")
        from truerisk.models.fisher_classifier import FisherClassifier

        return (FisherClassifier,)

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        if setting["threshold"] not in THRESHOLDS:
            return f"threshold={setting['threshold']!r} is unknown."
        return None

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if family.is_piped or data.n_rows > np.shape(data.X)[1] + 1:
            return None
        return f"the least squares of {data.n_rows} rows have no unique solution."

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        done = np.zeros(task.plan.n_fits, dtype=bool)
        out = LeftOut.from_plan(task.plan)
        if task.X is None or not len(out.fits):
            return done
        line = _CodeFit.from_rows(task.X, task.data.class_codes, task.weights)
        if line is None:
            return done
        left_out = out.take(out.asks(task, 0))
        values, sound = line.without_each(left_out.rows, task.group.settings[0]["threshold"])
        left_out.take(sound).answer(task, 0, _scores(values[sound]), line.present)
        done[left_out.fits[sound]] = True
        return done

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        line = _CodeFit.from_rows(shown.X, shown.y, shown.all_weights)
        if line is None:
            return None
        answers = []
        for rows in tests:
            scores = _scores(line.values(rows, group.settings[0]["threshold"]))
            if undecided(scores, task.request).any():
                task.leave_open(shown.fit, group.candidates)
            responses = respond(scores, line.present, task.request, task.data.n_classes)
            answers.append(responses[None])
        return answers


def _counts_every_direction(root: Root, n_rows: int) -> bool:
    """Return True if NumPy's least squares, which drops small singular values, drops none here.

    The smallest singular value is at least that of the scaled columns, 1/√trace, times the smallest
    scale.
    """
    cutoff = EPS * max(n_rows, len(root.scale)) * np.linalg.norm(root.scale)
    return bool(root.scale.min() > FAR_ABOVE * cutoff * root.trace**0.5)


def _scores(values: np.ndarray) -> np.ndarray:
    """Return one column per class. With two classes the first class has the value 0."""
    if values.shape[1] > 1:
        return values
    return np.concatenate([np.zeros_like(values), values], axis=1)


@frozen(eq=False)
class _CodeFit:
    """Least squares of class codes on rows, with the quantities needed to leave a row out."""

    X: np.ndarray
    targets: np.ndarray
    member: np.ndarray
    present: np.ndarray
    weights: np.ndarray
    root: Root
    slopes: np.ndarray
    centre: np.ndarray
    level: np.ndarray

    @classmethod
    def from_rows(
        cls, X: np.ndarray, codes: np.ndarray, given: np.ndarray | None
    ) -> _CodeFit | None:
        """Fit class codes by least squares.

        The result is None if the solution is not unique, if it has too few correct digits, or if
        there is one class only.
        """
        present, member = np.unique(codes, return_inverse=True)
        weights = np.ones(len(X)) if given is None else given
        if len(present) < 2 or not weights.any():
            return None
        targets = class_codes(member, len(present))
        total = weights.sum()
        centre = X[0] + weights @ (X - X[0]) / total
        level = weights @ targets / total
        centred = X - centre
        spread = np.einsum("i,ij,ij->j", weights, centred, centred)
        if (spread <= total * (FLAT * np.abs(X).max(axis=0)) ** 2).any():
            return None
        root = root_of(np.sqrt(weights)[:, None] * centred)
        if root is None or not _counts_every_direction(root, len(X)):
            return None
        slopes = root.solve((weights[:, None] * (targets - level)).T @ centred).T
        return cls(X, targets, member, present, weights, root, slopes, centre, level)

    def values(self, rows: np.ndarray, threshold: str) -> np.ndarray:
        """Return the values of the regressions for rows."""
        centre, level = self.centre, self.level
        if threshold == "balanced":
            means, _ = self._class_means()
            weighty = np.isfinite(means).all(axis=1)
            centre = means[weighty].mean(axis=0)
            level = class_codes(np.flatnonzero(weighty), len(self.present)).mean(axis=0)
        return (rows - centre) @ self.slopes + level

    def without_each(self, rows: np.ndarray, threshold: str) -> tuple[np.ndarray, np.ndarray]:
        """Return each row's value by the fit without it, and a mask of reliable values."""
        weights, member = self.weights[rows], self.member[rows]
        centred = self.X[rows] - self.centre
        white = self.root.whiten(centred)
        leverage = weights * (1 / self.weights.sum() + np.einsum("ij,ij->i", white, white))
        complement = 1 - leverage
        sound: np.ndarray = (complement > LEAST_REMAINDER) & (np.bincount(self.member)[member] > 1)
        residuals = self.targets[rows] - self.level - centred @ self.slopes
        with np.errstate(divide="ignore", invalid="ignore"):
            grown = residuals / complement[:, None]
            if threshold == "least-squares":
                return self.targets[rows] - grown, sound
            means, sizes = self._class_means()
            left = sizes[member] - weights
            sound &= np.isfinite(means).all() & (left > 0)
            moved = (weights / (left * len(means)))[:, None] * (self.X[rows] - means[member])
            away = self.X[rows] - means.mean(axis=0) + moved
            across = np.einsum("ij,ij->i", self.root.whiten(away), white)
            level = class_codes(np.arange(len(means)), len(means)).mean(axis=0)
            values = level + away @ self.slopes - (weights * across)[:, None] * grown
        return values, sound

    def _class_means(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted mean of each class (NaN if its weight is 0), and its weight."""
        belongs = (self.member == np.arange(len(self.present))[:, None]) * self.weights
        sizes = belongs.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return belongs @ self.X / sizes[:, None], sizes
