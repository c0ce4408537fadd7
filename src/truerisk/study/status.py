"""Progress of a study, and the time that remains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from truerisk.core.formats import clean
from truerisk.core.frozen import frozen
from truerisk.core.progress_line import duration
from truerisk.results.records import Count, Record, Size
from truerisk.study.lock import Lock, described
from truerisk.study.results import name_of_method
from truerisk.study.schema import State
from truerisk.study.store import Cell, Store, Tally
from truerisk.study.versions import refuse_fits

SHOWN_ERRORS = 5
ENTRIES_OF_ERROR: Mapping[str, type] = {"cell": Mapping, "number": int, "error": str, "state": str}
WANTED: Mapping[type, str] = {Mapping: "an object", int: "a whole number", str: "text"}


@frozen
class Status(Record):
    """The number of tasks of a study by state; `errors` are a few of those without result."""

    schema: ClassVar[str] = "truerisk.study-status/2"

    name: str
    total: Count
    done: Count
    running: Count
    failed: Count
    quarantined: Count
    waiting: Count
    seconds_left: Size | None
    held_by: str | None
    n_runs: Count
    errors: tuple[Mapping[str, Any], ...]

    @property
    def flaw(self) -> tuple[str | int, ...] | None:
        """Return where a record read from a file is invalid, and what is wanted there, or None."""
        for place, error in enumerate(self.errors):
            for key, kinds in ENTRIES_OF_ERROR.items():
                if key not in error:
                    return "errors", place, f"an object with the key '{key}'"
                if not isinstance(error[key], kinds):
                    return "errors", place, key, WANTED[kinds]
            method = error["cell"].get("method", "")
            named = isinstance(method, Mapping) and isinstance(method.get("name"), str)
            if not isinstance(method, str) and not named:
                return "errors", place, "cell", "method", "the word or the name of a method"
        return None

    def __str__(self) -> str:
        rows = [
            ("study", clean(self.name)),
            ("done", f"{self.done} of {self.total}"),
            ("running", str(self.running)),
            ("waiting", str(self.waiting)),
            ("failed", str(self.failed)),
            ("quarantined", str(self.quarantined)),
            ("held by", self.held_by or "no one"),
        ]
        if self.seconds_left:
            rows.append(("time left", f"about {duration(self.seconds_left)}"))
        for error in self.errors:
            cell, last = error["cell"], error["error"].strip().splitlines()[-1:] or [""]
            method = f"{name_of_method(cell)} " if cell.get("method") else ""
            rows.append((error["state"], f"{method}replicate {error['number']}: {clean(last[0])}"))
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)

    @property
    def complete(self) -> bool:
        """True if every task has a result."""
        return self.done == self.total


def status_of(store: Store) -> Status:
    """Count the tasks, and estimate the time left from each cell's mean time and the workers."""
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
        held_by=None if holder is None else described(holder),
        n_runs=len(runs),
        errors=tuple(_errors(store, cells, tallies)),
    )


def _left(cells: list[Cell], tallies: list[Tally], workers: int) -> float | None:
    """Return the seconds left; None without times. A cell without results counts as average."""
    done = sum(t.done for t in tallies)
    if not done:
        return None
    usual = sum(t.seconds for t in tallies) / done
    seconds = 0.0
    for cell, tally in zip(cells, tallies, strict=True):
        missing = cell.wanted - tally.done - tally.failed - tally.quarantined
        seconds += missing * (tally.seconds / tally.done if tally.done else usual)
    return seconds / max(workers, 1)


def _errors(store: Store, cells: list[Cell], tallies: list[Tally]) -> list[dict[str, Any]]:
    errors: list[dict[str, Any]] = []
    for cell, tally in zip(cells, tallies, strict=True):
        if len(errors) >= SHOWN_ERRORS or not (tally.failed or tally.quarantined):
            continue
        for number, state, attempts, error in store.errors(cell):
            if state is not State.SUSPECT and len(errors) < SHOWN_ERRORS:
                entry = {"cell": dict(cell.content), "number": number, "error": error}
                errors.append({**entry, "state": state.name.lower(), "attempts": attempts})
    return errors
