"""Kernel ridge on rows of one table: the kernel of all rows, of which each fit's is a part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.engines.linear.fit import DOUBT
from truerisk.engines.linear.kernel_part import KernelPart, kernel_of, rounding_of
from truerisk.engines.templates.single_row import place_singles
from truerisk.engines.templates.task import Task
from truerisk.kernels.leverage import leave_out_dual

__all__ = ["KernelTable"]


@dataclass(frozen=True, eq=False)
class KernelTable:
    """The kernel of all rows, and how far its elements may be off."""

    task: Task
    kernel: np.ndarray
    rounding: float
    penalties: np.ndarray

    @classmethod
    def of(cls, task: Task) -> KernelTable:
        setting, penalties = task.group.settings[0], task.group.values("alpha")
        kernel = kernel_of(setting, task.X, None)
        return cls(task, kernel, rounding_of(setting, task.X), penalties.astype(np.float64))

    def part(self, weights: np.ndarray, n_given: int, asked: np.ndarray) -> KernelPart:
        rows = np.flatnonzero(weights)
        y = self.task.data.y[rows].reshape(len(rows), -1)
        whole = len(rows) == len(weights)
        inside = self.kernel if whole else self.kernel[np.ix_(rows, rows)]
        across = self.kernel[np.ix_(asked, rows)]
        return KernelPart(inside, y, np.sqrt(weights[rows]), n_given, self.rounding, across)

    def answer(self, fit: int) -> bool:
        """Answer a fit, or leave it open; False where all its weights are zero."""
        task, plan = self.task, self.task.plan
        group = task.of_fit(fit)
        if group is None:
            return True
        rows, times = plan.train_rows(fit)
        weights = np.zeros(plan.n_rows)
        given = np.ones(len(rows)) if task.weights is None else task.weights[rows]
        weights[rows] = given if times is None else given * times
        if not weights.any():
            return False
        questions = task.questions(fit)
        asked = [plan.test_rows(int(q))[0] for q in questions]
        n_given = len(rows) if times is None else int(times.sum())
        part = self.part(weights, n_given, np.concatenate(asked))
        found, open_ = part.answers(part.across, group.values("alpha").astype(np.float64))
        task.leave_open(fit, group.candidates[open_])
        found = found.reshape(*found.shape[:2], *task.data.y.shape[1:])
        ends = np.cumsum([len(a) for a in asked])[:-1]
        for question, answers in zip(questions, np.split(found, ends, axis=1), strict=True):
            task.place(int(question), group, answers)
        return True

    def answer_left_out(self, fits: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Answer fits on all rows but one; which of them were answered or left open."""
        n = self.task.plan.n_rows
        weights = np.ones(n) if self.task.weights is None else self.task.weights
        if not weights[row].all() or np.count_nonzero(weights) < 2:
            return np.zeros(len(fits), dtype=bool)
        part = self.part(weights, n, np.empty(0, np.int64))
        place = np.cumsum(weights > 0) - 1
        sure = part.factors(self.penalties)
        numbers = np.zeros((len(sure), len(fits), part.Y.shape[1]))
        open_ = np.ones((len(sure), len(fits)), dtype=bool)
        if sure.any():
            penalties, spectrum = self.penalties[sure], part.spectrum
            found = leave_out_dual(spectrum.vectors, spectrum, penalties, part.scale)
            at = place[row]
            numbers[sure] = part.Y[at] - found.missed[:, at] / part.root[at, None]
            doubts = (found.doubts + part.own_doubts(penalties)[:, None]) / part.root
            open_[sure] = doubts[:, at] > DOUBT
        answers = numbers.reshape(*numbers.shape[:2], *self.task.data.y.shape[1:])
        place_singles(self.task, fits, answers, open_)
        return np.ones(len(fits), dtype=bool)
