"""Where the answers go of fits that are asked about one row each."""

from __future__ import annotations

import numpy as np

from truerisk.core.plan.plan import spread
from truerisk.engines.templates.one_pass import Task

__all__ = ["place_singles", "winners"]


def winners(task: Task, fits: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Which fits ask a candidate of the group, and its place there; None where all are asked."""
    if task.run.only is None:
        return None
    match = task.run.only[fits] == task.group.candidates[:, None]
    return match.any(axis=0), match.argmax(axis=0)


def place_singles(task: Task, fits: np.ndarray, answers: np.ndarray, open_: np.ndarray) -> None:
    """Put `answers[candidate of the group, fit]` in their place, and leave the open ones open."""
    plan, candidates = task.plan, task.group.candidates
    order, starts = plan.questions_of
    offsets, inside = spread(starts, fits)
    position = plan.test_offsets[order[inside]]
    asked = np.repeat(np.arange(len(fits)), np.diff(offsets))
    won = winners(task, fits)
    if won is None:
        if len(asked) != len(fits):  # a fit that is asked twice
            answers = answers[:, asked]
        if len(candidates) == len(task.values) and np.array_equal(position, np.arange(len(asked))):
            task.values[candidates, : len(asked)] = answers
        else:
            task.values[np.ix_(candidates, position)] = answers
        for j in np.flatnonzero(open_.any(axis=0)):
            task.leave_open(fits[j], candidates[open_[:, j]])
        return
    mine, line = won
    number = np.arange(len(fits))
    task.values[0, position[mine[asked]]] = answers[line, number][asked[mine[asked]]]
    for j in np.flatnonzero(mine & open_[line, number]):
        task.leave_open(fits[j], candidates[line[j], None])
