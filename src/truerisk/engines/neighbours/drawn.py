"""The kNN engine on plans of drawn train sets: rank the rows, then the closed forms."""

from __future__ import annotations

from functools import partial

import numpy as np

from truerisk.core.contracts import Request
from truerisk.core.family import Family
from truerisk.core.losses import RowLoss
from truerisk.core.plan.plan import Plan
from truerisk.core.plan.special_fits import Law
from truerisk.core.table.data import Data
from truerisk.engines.neighbours.family import Group, groups_of
from truerisk.engines.neighbours.laws import expected_costs, ranks_needed
from truerisk.engines.neighbours.search import nearest, prepared
from truerisk.engines.running.listed_draws import law_refusal
from truerisk.engines.templates.prepared import unless_it_fails
from truerisk.kernels.neighbours import is_moderate

__all__ = ["answer_drawn", "drawn_refusal"]

BLOCK = 1 << 22  # list entries held at once
BEYOND = 16  # ranks looked at beyond the last that matters, for rows as near as that one


def drawn_refusal(family: Family, data: Data, plan: Plan, request: Request) -> str | None:
    """Why there is no closed form, or None."""
    reason = law_refusal(plan, request)
    if reason is not None:
        return reason
    assert plan.laws is not None
    groups = groups_of(family)
    largest, smallest = max(int(g.ks.max()) for g in groups), int(plan.laws.size.min())
    if data.n_classes != 2:
        return "the closed form of drawn train sets is for two classes."
    if request.loss is None or request.loss.response not in ("label", "probability"):
        return "the loss needs other answers than labels or probabilities."
    if any(g.by_distance for g in groups):
        return "weights='distance' have no closed form over drawn train sets."
    if any(g.preparation is not None for g in groups):
        return "a step before the neighbours learns from each drawn train set."
    if largest > smallest:
        return f"n_neighbors={largest} is more than the {smallest} rows of a train set."
    tables = [unless_it_fails(partial(prepared, group, data)) for group in groups]
    found = [table for table in tables if table is not None]
    if len(found) < len(tables):
        return "a step before the neighbours fails."
    if not all(map(is_moderate, found)):
        return "squares of the cells overflow or vanish."
    for fit in range(plan.n_fits):
        if not np.isin(_asked(plan, fit)[1], plan.train_rows(fit)[0]).all():
            return "rows are asked about that are not among those drawn from."
    return None


def answer_drawn(
    values: np.ndarray,
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    only: np.ndarray | None,
) -> tuple[str, ...]:
    """Put the expected losses into `values`; what is to be said of equal distances comes back."""
    loss = request.loss
    assert isinstance(loss, RowLoss)
    open_rows = 0
    for group in groups_of(family):
        for fit in range(plan.n_fits):
            mine = np.ones(len(group.ks), bool) if only is None else group.candidates == only[fit]
            if mine.any():
                at, rows = _asked(plan, fit)
                found, tied = _of_fit(group, data, plan, fit, rows, group.ks[mine], loss)
                places = group.candidates[mine] if only is None else np.zeros(1, np.int64)
                values[np.ix_(places, at)] = found
                open_rows = max(open_rows, tied)
    if not open_rows:
        return ()
    note = (
        f"rows with neighbours of both classes at equal distances: {open_rows}; of such neighbours "
        "the one with the lower row number counts as nearer"
    )
    return (note,)


def _of_fit(
    group: Group,
    data: Data,
    plan: Plan,
    fit: int,
    rows: np.ndarray,
    ks: np.ndarray,
    loss: RowLoss,
) -> tuple[np.ndarray, int]:
    """Expected losses of every k for every row, and how many rows equal distances leave open."""
    law, seen = plan.law_of(fit), plan.train_rows(fit)[0]
    assert law is not None
    costs = [_costs(int(k), data, rows, loss) for k in ks]
    ones, tied = _ranked(group, data, seen, rows, law, ks)
    return expected_costs(ones, len(seen) - 1, law, ks, costs), tied


def _asked(plan: Plan, fit: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of a fit's answers, and the rows they are about."""
    at = np.flatnonzero(np.repeat(plan.fit == fit, plan.test_sizes))
    return at, plan.positions[0][at]


def _costs(k: int, data: Data, rows: np.ndarray, loss: RowLoss) -> np.ndarray:
    """`(k + 1, n_rows)`: what it costs each row that 0 … k of its k neighbours are ones."""
    ones = np.arange(k + 1)
    if loss.response == "label":
        said = np.broadcast_to((2 * ones > k)[:, None], (k + 1, len(rows))).astype(np.int8)
        return loss.of_rows(data, rows, said)
    shares = np.stack([(k - ones) / k, ones / k], axis=1)
    return loss.of_rows(data, rows, np.repeat(shares[:, None], len(rows), axis=1))


def _ranked(
    group: Group, data: Data, seen: np.ndarray, rows: np.ndarray, law: Law, ks: np.ndarray
) -> tuple[np.ndarray, int]:
    """Labels of the nearest other rows, by rank, and how many rows equal distances leave open."""
    assert data.codes is not None
    X, codes = prepared(group, data), data.codes
    length = ranks_needed(law, len(seen) - 1, ks)
    beyond = min(length + BEYOND, len(seen) - 1)
    ones = np.empty((len(rows), length), dtype=np.int8)
    step, tied = max(16, BLOCK // (beyond + 1)), 0
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        near = nearest(group, X[block], X[seen], beyond + 1)
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
