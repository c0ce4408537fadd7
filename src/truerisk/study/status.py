"""Progress of a study: numbers of tasks by state, first errors, and estimated time left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.progress_line import format_duration
from truerisk.core.tables import Block
from truerisk.results.records import Count, NonNegative, Record
from truerisk.study.lock import Lock, describe_holder
from truerisk.study.results import get_method_name
from truerisk.study.schema import State
from truerisk.study.store import Cell, Store, TaskCounts
from truerisk.study.versions import refuse_store_of_fits

MAX_SHOWN_ERRORS = 5
ERROR_FIELD_TYPES: Mapping[str, type] = {"cell": Mapping, "number": int, "error": str, "state": str}
TYPE_DESCRIPTIONS: Mapping[type, str] = {Mapping: "an object", int: "a whole number", str: "text"}


@frozen
class Status(Record):
    """Numbers of tasks of a study by state; `errors` describes a few tasks without a result."""

    schema: ClassVar[str] = "truerisk.study-status/2"

    name: str
    total: Count
    done: Count
    running: Count
    failed: Count
    quarantined: Count
    waiting: Count
    seconds_left: NonNegative | None
    held_by: str | None
    n_runs: Count
    errors: tuple[Mapping[str, Any], ...]

    @property
    def flaw(self) -> tuple[str | int, ...] | None:
        """Path to the first invalid value of a record read from a file, or None if it is valid.

        The last element of the path says what is expected there.
        """
        for error_index, error in enumerate(self.errors):
            for key, expected_type in ERROR_FIELD_TYPES.items():
                if key not in error:
                    return "errors", error_index, f"an object with the key '{key}'"
                if not isinstance(error[key], expected_type):
                    return "errors", error_index, key, TYPE_DESCRIPTIONS[expected_type]
            method = error["cell"].get("method", "")
            has_method_name = isinstance(method, Mapping) and isinstance(method.get("name"), str)
            if not isinstance(method, str) and not has_method_name:
                return "errors", error_index, "cell", "method", "the word or the name of a method"
        return None

    def __str__(self) -> str:
        rows = self._rows()
        label_width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{label_width}}  {value}" for name, value in rows)

    @override
    def blocks(self) -> list[Block]:
        return [Block("Status of a study", ["", ""], self._rows())]

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("study", escape_and_truncate(self.name)),
            ("done", f"{self.done} of {self.total}"),
            ("running", str(self.running)),
            ("waiting", str(self.waiting)),
            ("failed", str(self.failed)),
            ("quarantined", str(self.quarantined)),
            ("held by", self.held_by or "no one"),
        ]
        if self.seconds_left:
            rows.append(("time left", f"about {format_duration(self.seconds_left)}"))
        for error in self.errors:
            cell, last_lines = error["cell"], error["error"].strip().splitlines()[-1:] or [""]
            method = f"{get_method_name(cell)} " if cell.get("method") else ""
            rows.append(
                (
                    error["state"],
                    f"{method}replicate {error['number']}: {escape_and_truncate(last_lines[0])}",
                )
            )
        return rows

    @property
    def complete(self) -> bool:
        """True if every task of the study has a result."""
        return self.done == self.total


def compute_status(store: Store) -> Status:
    """Count the tasks of a study by state, and estimate the time left.

    The estimate uses the mean time of each cell's tasks and the number of workers.
    """
    refuse_store_of_fits(store)
    cells = store.cells()
    task_counts_by_cell = [store.count_tasks(cell) for cell in cells]
    runs, lock_holder = store.runs(), Lock(store.path).holder()
    n_tasks = sum(cell.n_wanted for cell in cells)
    n_ended = sum(
        task_counts.done + task_counts.failed + task_counts.quarantined
        for task_counts in task_counts_by_cell
    )
    n_running = min(runs[-1].running, n_tasks - n_ended) if runs and lock_holder else 0
    return Status(
        name=store.read_note("name") or store.path.name,
        total=n_tasks,
        done=sum(task_counts.done for task_counts in task_counts_by_cell),
        running=n_running,
        failed=sum(task_counts.failed for task_counts in task_counts_by_cell),
        quarantined=sum(task_counts.quarantined for task_counts in task_counts_by_cell),
        waiting=n_tasks - n_ended - n_running,
        seconds_left=_estimate_seconds_left(
            cells, task_counts_by_cell, runs[-1].workers if runs else 1
        ),
        held_by=None if lock_holder is None else describe_holder(lock_holder),
        n_runs=len(runs),
        errors=tuple(_first_errors(store, cells, task_counts_by_cell)),
    )


def _estimate_seconds_left(
    cells: list[Cell], task_counts_by_cell: list[TaskCounts], n_workers: int
) -> float | None:
    """Return the estimated seconds until the study ends, or None if no task is done.

    A cell without results is assumed to take the mean time of all done tasks.
    """
    n_done = sum(task_counts.done for task_counts in task_counts_by_cell)
    if not n_done:
        return None
    mean_seconds = sum(task_counts.seconds for task_counts in task_counts_by_cell) / n_done
    seconds = 0.0
    for cell, tally in zip(cells, task_counts_by_cell, strict=True):
        n_missing = cell.n_wanted - tally.done - tally.failed - tally.quarantined
        seconds += n_missing * (tally.seconds / tally.done if tally.done else mean_seconds)
    return seconds / max(n_workers, 1)


def _first_errors(
    store: Store, cells: list[Cell], task_counts_by_cell: list[TaskCounts]
) -> list[dict[str, Any]]:
    errors: list[dict[str, Any]] = []
    for cell, task_counts in zip(cells, task_counts_by_cell, strict=True):
        if len(errors) >= MAX_SHOWN_ERRORS or not (task_counts.failed or task_counts.quarantined):
            continue
        for replicate_number, state, attempts, error in store.errors(cell):
            if state is not State.SUSPECT and len(errors) < MAX_SHOWN_ERRORS:
                error_fields = {
                    "cell": dict(cell.content),
                    "number": replicate_number,
                    "error": error,
                }
                errors.append({**error_fields, "state": state.name.lower(), "attempts": attempts})
    return errors
