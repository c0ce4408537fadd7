"""The kNN engine on plans of drawn train sets: rank the rows, then the closed forms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from truerisk.core.contracts import Request
from truerisk.core.losses import RowLoss
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.engines.neighbours.laws import expected_costs, ranks_needed
from truerisk.engines.neighbours.nearest import Measure, nearest
from truerisk.engines.preparation.prepared import distances_fit, unless_it_fails
from truerisk.engines.running.listed_draws import law_refusal
from truerisk.engines.settings import Group
from truerisk.engines.templates.task import Task

__all__ = ["answer_drawn", "drawn_refusal"]

BLOCK = 1 << 22  # list entries held at once
BEYOND = 16  # ranks looked at beyond the last that matters, for rows as near as that one
TIED = (
    "rows with neighbours of both classes at equal distances: {}; of such neighbours the one with "
    "the lower row number counts as nearer"
)


def drawn_refusal(
    groups: list[Group],
    data: Data,
    plan: Plan,
    request: Request,
    table: Callable[[Group, Data], Any],
) -> str | None:
    """Why there is no closed form, or None; `table` is X after steps that treat rows alone."""
    reason = law_refusal(plan, request)
    if reason is not None:
        return reason
    assert plan.laws is not None
    largest = max(int(k) for group in groups for k in group.values("n_neighbors"))
    smallest = int(plan.laws.size.min())
    if data.n_classes != 2:
        return "the closed form of drawn train sets is for two classes."
    if request.loss is None or request.loss.response not in ("label", "probability"):
        return "the loss needs other answers than labels or probabilities."
    if any(Measure.of(group).by_distance for group in groups):
        return "weights='distance' have no closed form over drawn train sets."
    if any(group.preparation is not None for group in groups):
        return "a step before the neighbours learns from each drawn train set."
    if largest > smallest:
        return f"n_neighbors={largest} is more than the {smallest} rows of a train set."
    tables = [unless_it_fails(partial(table, group, data)) for group in groups]
    if any(X is None for X in tables):
        return "a step before the neighbours fails."
    if not all(map(distances_fit, tables)):
        return "squares of the cells overflow or vanish."
    for fit in range(plan.n_fits):
        if not np.isin(_asked(plan, fit), plan.train_rows(fit)[0]).all():
            return "rows are asked about that are not among those drawn from."
    return None


def answer_drawn(task: Task) -> None:
    """Place the expected losses; what is to be said of equal distances is noted."""
    for fit in range(task.plan.n_fits):
        group = task.of_fit(fit)
        if group is not None:
            losses, tied = _of_fit(task, group, fit)
            questions = task.questions(fit)
            cuts = np.cumsum(task.plan.test_sizes[questions])[:-1]
            for question, part in zip(questions, np.split(losses, cuts, axis=1), strict=True):
                task.place(int(question), group, part)
            if tied:
                task.measure(TIED, tied)


def _of_fit(task: Task, group: Group, fit: int) -> tuple[np.ndarray, int]:
    """Expected losses of every k for every row, and how many rows equal distances leave open."""
    plan, loss = task.plan, task.request.loss
    law, seen, rows = plan.law_of(fit), plan.train_rows(fit)[0], _asked(plan, fit)
    assert law is not None
    assert isinstance(loss, RowLoss)
    ks = group.values("n_neighbors").astype(np.int64)
    costs = [_costs(int(k), task.data, rows, loss) for k in ks]
    ones, tied = _ranked(task, seen, rows, ranks_needed(law, len(seen) - 1, ks))
    return expected_costs(ones, len(seen) - 1, law, ks, costs), tied


def _asked(plan: Plan, fit: int) -> np.ndarray:
    """The rows that the questions of a fit are about, question after question."""
    order, starts = plan.questions_of
    return np.concatenate(
        [plan.test_rows(int(question))[0] for question in order[starts[fit] : starts[fit + 1]]]
    )


def _costs(k: int, data: Data, rows: np.ndarray, loss: RowLoss) -> np.ndarray:
    """`(k + 1, n_rows)`: what it costs each row that 0 … k of its k neighbours are ones."""
    ones = np.arange(k + 1)
    if loss.response == "label":
        said = np.broadcast_to((2 * ones > k)[:, None], (k + 1, len(rows))).astype(np.int8)
        return loss.of_rows(data, rows, said)
    shares = np.stack([(k - ones) / k, ones / k], axis=1)
    return loss.of_rows(data, rows, np.repeat(shares[:, None], len(rows), axis=1))


def _ranked(task: Task, seen: np.ndarray, rows: np.ndarray, length: int) -> tuple[np.ndarray, int]:
    """Labels of the nearest other rows, by rank, and how many rows equal distances leave open."""
    assert task.data.codes is not None
    X, codes, measure = task.X, task.data.codes, Measure.of(task.group)
    beyond = min(length + BEYOND, len(seen) - 1)
    ones = np.empty((len(rows), length), dtype=np.int8)
    step, tied = max(16, BLOCK // (beyond + 1)), 0
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        near = nearest(measure, X[block], X[seen], beyond + 1)
        index = seen[near.index]
        others = index != block[:, None]
        others[others.all(axis=1), -1] = False  # copies of the row fill the list: drop the last
        labels = codes[index[others]].reshape(len(block), beyond)
        squared = near.squared[others].reshape(len(block), beyond)
        equal = np.diff(squared, axis=1) <= near.ties[:, None]
        apart = equal & (np.diff(labels, axis=1) != 0)
        apart[:, length:] &= np.logical_and.accumulate(equal[:, length - 1 :], axis=1)[:, 1:]
        tied += int(apart.any(axis=1).sum())
        ones[start : start + step] = labels[:, :length]
    return ones, tied
