"""Leave-one-out of support vector machines: what is no support vector is left out for nothing.

The solution on all rows is that without row i wherever its weight is 0. Where it is not, its weight
is given to the rows that most want to move, and the solver goes on from there. Where no row is
free, row i bounds the intercept whatever its weight: each problem is taken up again then, which
costs no steps.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from truerisk.engines.support_vectors.gram import Gram
from truerisk.engines.support_vectors.solving import (
    Decisions,
    GramRows,
    Pair,
    largest_gap,
    machines,
    shares_of,
)
from truerisk.engines.templates.single_row import single_row_fits
from truerisk.engines.templates.task import Task
from truerisk.kernels.svm import Machines

__all__ = ["left_out_decisions"]

HAIR = 1e-9  # of a box: rows this close to an end are not free
WORTH_IT = 3  # fewer fits are made one by one


def left_out_decisions(task: Task, gram: Gram) -> dict[int, Decisions]:
    """The decisions of every fit that leaves one row out, about that row."""
    setting = task.group.settings[0]
    single, row = single_row_fits(task.plan)
    if task.plan.flips is not None:
        single = single & ~np.isin(np.arange(task.plan.n_fits), task.plan.flips.fit)
    fits = np.flatnonzero(single)
    if len(fits) < WORTH_IT or task.run.only is not None or setting["class_weight"] == "balanced":
        return {}
    codes = task.labels(int(fits[0]))
    sizes = np.bincount(codes)
    rows = GramRows(np.arange(len(codes)), codes, None, task.weights)
    share = shares_of(rows, setting, task.data.classes)
    if not (np.isfinite(share).all() and (share > 0).all()):
        return {}
    fits = fits[sizes[codes[row[fits]]] > 1]  # else a class is gone
    pairs = tuple((int(a), int(b)) for a, b in combinations(np.flatnonzero(sizes), 2))
    if not len(fits) or not pairs:
        return {}
    shape = len(pairs), len(task.group.candidates), len(codes)
    values, off, loose, gap = np.empty(shape), np.empty(shape), np.empty(shape), 0.0
    for number, (first, second) in enumerate(pairs):
        pair = Pair.of(first, second, rows, share, setting)
        into = values[number], off[number], loose[number]
        gap = max(gap, _each_left_out(task, gram, pair, row[fits], *into))
    return {
        int(fit): Decisions(pairs, values[:, :, [i]], off[:, :, i], loose[:, :, i], gap)
        for fit, i in zip(fits, row[fits], strict=True)
    }


def _each_left_out(
    task: Task,
    gram: Gram,
    pair: Pair,
    asked: np.ndarray,
    values: np.ndarray,
    off: np.ndarray,
    loose: np.ndarray,
) -> float:
    """Decision values of the asked rows by the machine of a pair without them; the largest gap."""
    group = task.group
    Cs, back = np.unique(group.values("C").astype(np.float64), return_inverse=True)
    every = machines(gram, pair, Cs, group.settings[0])
    told = every.beta @ gram.towards(pair.rows, np.arange(task.data.n_rows))
    told += every.intercept[:, None]
    gap = largest_gap(every)
    doubt = np.repeat(pair.off(every)[:, None], told.shape[1], axis=1)
    wide = np.repeat(every.loose[:, None], told.shape[1], axis=1)
    boxes, sizes = Cs[:, None] * pair.share, np.abs(every.beta)
    has_free = ((sizes > HAIR * boxes) & (sizes < (1 - HAIR) * boxes)).any(axis=1)
    place = np.full(told.shape[1], -1)
    place[pair.rows] = np.arange(len(pair.rows))
    for i in asked:
        at = int(place[i])
        needed = np.flatnonzero((every.beta[:, at] != 0.0) | ~has_free) if at >= 0 else ()
        if not len(needed):
            continue
        rest = np.delete(np.arange(len(pair.rows)), at)
        kept = {n: getattr(pair, n)[rest] for n in ("rows", "sign", "share")}
        less = replace(pair, **kept)
        start = np.array([_without(every, int(c), Cs[c], at, told[c], pair) for c in needed])
        found = machines(gram, less, Cs[needed], group.settings[0], start)
        gap = max(gap, largest_gap(found))
        cells = gram.towards(less.rows, np.array([i]))
        told[needed, i] = np.einsum("cr,r->c", found.beta, cells[:, 0]) + found.intercept
        doubt[needed, i] = less.off(found)
        wide[needed, i] = found.loose
    values[:], off[:], loose[:] = told[back], doubt[back], wide[back]
    return gap


def _without(
    every: Machines,
    c: int,
    C: float,
    at: int,
    told: np.ndarray,
    pair: Pair,
) -> np.ndarray:
    """A point that adds up to 0 without row `at`: what it had goes where it is wanted most."""
    beta = np.delete(every.beta[c], at)
    gone = every.beta[c, at]
    sign, share = np.delete(pair.sign, at), np.delete(pair.share, at)
    wanted = np.sign(gone) * (sign - told[np.delete(pair.rows, at)])
    end = np.where(sign == np.sign(gone), C * share * sign, 0.0)
    room = np.abs(end - beta)
    order = np.argsort(-wanted, kind="stable")
    before = np.cumsum(room[order]) - room[order]
    taken = np.clip(abs(gone) - before, 0.0, room[order])
    beta[order] += np.sign(gone) * taken
    return beta
