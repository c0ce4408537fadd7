"""How far a study is, and how long the rest will take."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from truerisk.study.lock import Lock
from truerisk.study.schema import State
from truerisk.study.store import Cell, Store, Tally
from truerisk.study.versions import refuse_fits

__all__ = ["Status", "status_of"]

SHOWN_ERRORS = 5


@dataclass(frozen=True)
class Status:
    """The tasks of a study, counted; `errors` are a few of those that have no result."""

    name: str
    total: int
    done: int
    running: int
    failed: int
    quarantined: int
    waiting: int
    seconds_left: float | None
    held_by: str | None
    n_runs: int
    errors: tuple[dict[str, Any], ...]

    @property
    def complete(self) -> bool:
        """Whether every task has a result."""
        return self.done == self.total

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under a versioned schema name."""
        return {"schema": "truerisk.study-status/1", **self.__dict__, "errors": list(self.errors)}


def status_of(store: Store) -> Status:
    """Count the tasks; time left from the mean seconds of each cell and the workers of the run."""
    refuse_fits(store)
    cells = store.cells()
    tallies = [store.tally(cell) for cell in cells]
    runs, holder = store.runs(), Lock(store.path).holder()
    total = sum(cell.wanted for cell in cells)
    ended = sum(t.done + t.failed + t.quarantined for t in tallies)
    running = min(runs[-1].running, total - ended) if runs and holder else 0
    return Status(
        name=store.noted("name") or store.path.name,
        total=total,
        done=sum(t.done for t in tallies),
        running=running,
        failed=sum(t.failed for t in tallies),
        quarantined=sum(t.quarantined for t in tallies),
        waiting=total - ended - running,
        seconds_left=_left(cells, tallies, runs[-1].workers if runs else 1),
        held_by=_named(holder),
        n_runs=len(runs),
        errors=tuple(_errors(store, cells, tallies)),
    )


def _left(cells: list[Cell], tallies: list[Tally], workers: int) -> float | None:
    """None as long as nothing was timed; a cell without results is taken for an average one."""
    done = sum(t.done for t in tallies)
    if not done:
        return None
    usual = sum(t.seconds for t in tallies) / done
    seconds = 0.0
    for cell, tally in zip(cells, tallies, strict=True):
        missing = cell.wanted - tally.done - tally.failed - tally.quarantined
        seconds += missing * (tally.seconds / tally.done if tally.done else usual)
    return seconds / max(workers, 1)


def _named(holder: dict[str, Any] | None) -> str | None:
    if holder is None:
        return None
    since = ""
    if isinstance(holder.get("time"), int | float):
        since = time.strftime(" since %Y-%m-%d %H:%M:%S", time.localtime(holder["time"]))
    return f"process {holder.get('pid', '?')} on {holder.get('host', '?')}{since}"


def _errors(store: Store, cells: list[Cell], tallies: list[Tally]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for cell, tally in zip(cells, tallies, strict=True):
        if len(found) >= SHOWN_ERRORS or not (tally.failed or tally.quarantined):
            continue
        for number, state, attempts, error in store.errors(cell):
            if state is not State.SUSPECT and len(found) < SHOWN_ERRORS:
                entry = {"cell": dict(cell.content), "number": number, "error": error}
                found.append({**entry, "state": state.name.lower(), "attempts": attempts})
    return found
