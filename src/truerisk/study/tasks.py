"""Run single tasks of a study: compute and time a replicate, and return its result or error."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any
from uuid import uuid4

import numpy as np

from truerisk.core.errors import is_failure
from truerisk.core.frozen import frozen
from truerisk.core.progress import listen
from truerisk.study.schema import State, TaskOutcome
from truerisk.study.values import pack_result

ReplicateFunction = Callable[[Mapping[str, Any], int, Sequence[np.ndarray]], Mapping[str, Any]]
"""A function that computes one replicate: `work(content of the cell, number, arrays)`.

It returns the results to store.
"""

COST_KEY = "seconds"  # A result reports its cost under this key, and the cost is stored separately.
MAX_TRACEBACK_LENGTH = 20_000


@frozen
class TaskLimits:
    """Limits of a task: its running time in seconds, and its additional memory in megabytes."""

    seconds: float | None = None
    megabytes: float | None = None

    def __bool__(self) -> bool:
        return self.seconds is not None or self.megabytes is not None


@frozen(eq=False)
class SharedTaskInputs:
    """The function, the limits and the arrays that all batches of a run share.

    Copies of this object in other processes have the same `identifier`. The arrays may be
    read-only.
    """

    replicate_function: ReplicateFunction
    limits: TaskLimits
    arrays: Sequence[np.ndarray]
    identifier: str = field(default_factory=lambda: uuid4().hex)

    def read_only_arrays(self) -> list[np.ndarray]:
        """Return read-only views of the arrays; the arrays themselves stay writable."""
        views = [array.view() for array in self.arrays]
        for view in views:
            view.flags.writeable = False
        return views


@frozen(eq=False)
class ReplicateBatch:
    """Some replicates of one cell, which a worker runs one after the other."""

    cell_number: int
    cell_content: Mapping[str, Any]
    replicate_numbers: tuple[int, ...]


def run_task(
    replicate_function: ReplicateFunction,
    batch: ReplicateBatch,
    replicate_number: int,
    shared_arrays: Sequence[np.ndarray],
) -> TaskOutcome:
    """Run one replicate and return its outcome; an error becomes a failed outcome."""
    start_time = time.perf_counter()
    try:
        with listen(None):  # The progress of a single replicate is not shown.
            result_content = dict(
                replicate_function(batch.cell_content, replicate_number, shared_arrays)
            )
        cost = result_content.pop(COST_KEY, None)
        packed_result = pack_result(result_content)
    except BaseException as error:  # An error in one replicate must not end the study.
        if not is_failure(error):
            raise
        seconds = time.perf_counter() - start_time
        return failed_outcome(batch, replicate_number, seconds, traceback_text(error))
    seconds = time.perf_counter() - start_time
    return TaskOutcome(
        batch.cell_number,
        replicate_number,
        State.DONE,
        seconds,
        packed_result.text,
        packed_result.npy,
        cost,
    )


def failed_outcome(
    batch: ReplicateBatch, replicate_number: int, seconds: float, error: str
) -> TaskOutcome:
    """Return the outcome of a task that failed with this error."""
    return TaskOutcome(batch.cell_number, replicate_number, State.FAILED, seconds, error=error)


def traceback_text(error: BaseException) -> str:
    """Return the traceback of an error as text, cut to its last characters if it is long."""
    text = "".join(traceback.format_exception(error)).strip()
    return text[-MAX_TRACEBACK_LENGTH:]
