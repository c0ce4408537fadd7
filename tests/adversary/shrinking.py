"""Cases are made small as long as they fail in the same way."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from tests.adversary.cases import Case
from tests.adversary.methods import SIMPLER
from tests.adversary.tables import Table

__all__ = ["shrunk"]


def shrunk(case: Case, fails: Callable[[Case], bool], seconds: float = 90.0) -> Case:
    """The smallest case that is found; every step is one of `smaller`."""
    until = time.monotonic() + seconds
    again = True
    while again:
        again = False
        for turn in (_plainer, _fewer_settings, _fewer_rows, _fewer_columns, _rounder):
            for other in _while(turn, case):
                if time.monotonic() > until:
                    return case
                if fails(other):
                    case, again = other, True
                    break
    return case


def _while(turn: Callable[[Case], Iterator[Case]], case: Case) -> Iterator[Case]:
    """What one turn makes; a case whose script cannot be made is none."""
    yield from turn(case)


def _plainer(case: Case) -> Iterator[Case]:
    """Without options, sides, steps, weights, groups, odd forms; by a simpler method."""
    if case.other is not None:
        yield replace(case, other=None, more=tuple(m for m in case.more if m != "reordered"))
    for name in case.more:
        yield replace(case, more=tuple(one for one in case.more if one != name))
    for option in case.options:
        yield replace(case, options=tuple(one for one in case.options if one != option))
    for i in range(len(case.steps)):
        yield replace(case, steps=case.steps[:i] + case.steps[i + 1 :])
    table = case.table
    for name in ("weights", "groups"):
        if getattr(table, name) is not None:
            yield replace(case, table=replace(table, **{name: None}))
    for name in ("form", "target"):
        if getattr(table, name) != "plain":
            yield replace(case, table=replace(table, **{name: "plain"}))
    if "by hand" not in case.more:
        known = SIMPLER.index(case.method) if case.method in SIMPLER else 0
        for method in SIMPLER[known:]:
            if method != case.method and case.other is None:
                yield replace(case, method=method)
    if case.loss != "None":
        yield replace(case, loss="None")


def _fewer_settings(case: Case) -> Iterator[Case]:
    """One value, one parameter or one argument less."""
    learner = case.learner
    for i, (name, values) in enumerate(learner.grid):
        yield replace(case, learner=replace(learner, grid=learner.grid[:i] + learner.grid[i + 1 :]))
        if len(values) > 1:
            for j in range(len(values)):
                fewer = (name, values[:j] + values[j + 1 :])
                grid = (*learner.grid[:i], fewer, *learner.grid[i + 1 :])
                yield replace(case, learner=replace(learner, grid=grid))
    for name, _ in learner.call.arguments:
        yield replace(case, learner=replace(learner, call=learner.call.without(name)))
    for i, step in enumerate(case.steps):
        for name, _ in step.arguments:
            yield replace(case, steps=(*case.steps[:i], step.without(name), *case.steps[i + 1 :]))


def _fewer_rows(case: Case) -> Iterator[Case]:
    """Without a half, a quarter, ..., one of the rows."""
    n = len(case.table.X)
    size = n // 2
    while size >= 1:
        for start in range(0, n, size):
            kept = np.r_[0:start, start + size : n]
            if len(kept) >= 2:
                yield replace(case, table=case.table.rows(kept))
        size //= 2


def _fewer_columns(case: Case) -> Iterator[Case]:
    table = case.table
    for j in range(table.X.shape[1] if table.X.shape[1] > 1 else 0):
        yield replace(case, table=replace(table, X=np.delete(table.X, j, axis=1)))
    if table.y.ndim == 2:
        yield replace(case, table=replace(table, y=table.y[:, 0]))


def _rounder(case: Case) -> Iterator[Case]:
    """Numbers of fewer digits; classes by number."""
    for table in _rounded(case.table):
        yield replace(case, table=table)


def _rounded(table: Table) -> Iterator[Table]:
    for digits in (0, 1, 2, 4):
        for name in ("X", "y", "weights"):
            values = getattr(table, name)
            if values is None or values.dtype.kind != "f":
                continue
            with np.errstate(all="ignore"):
                rounder = values.round(digits)
            if not np.array_equal(rounder, values, equal_nan=True):
                yield replace(table, **{name: rounder})
    if table.y.dtype.kind in "US":
        yield replace(table, y=np.unique(table.y, return_inverse=True)[1])
