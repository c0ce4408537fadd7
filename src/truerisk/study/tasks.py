"""Tasks and their outcomes: a replicate is run, timed and packed, or its error is stored."""

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
from truerisk.study.schema import Fate, State
from truerisk.study.values import pack

Work = Callable[[Mapping[str, Any], int, Sequence[np.ndarray]], Mapping[str, Any]]
"""`work(content of the cell, number, arrays)` returns the stored results of one replicate."""

COST = "seconds"  # Key under which a result reports its cost, which is not part of the content.
LONGEST_TRACE = 20_000


@frozen
class Limits:
    """The maximum seconds and additional megabytes of a task."""

    seconds: float | None = None
    megabytes: float | None = None

    def __bool__(self) -> bool:
        return self.seconds is not None or self.megabytes is not None


@frozen(eq=False)
class Order:
    """The data shared by all batches of a run; the arrays may be read-only.

    Copies of an order have the same `number`, wherever they were sent.
    """

    work: Work
    limits: Limits
    arrays: Sequence[np.ndarray]
    number: str = field(default_factory=lambda: uuid4().hex)

    def frozen(self) -> list[np.ndarray]:
        """Return read-only views of the arrays; those of the sender stay writable."""
        views = [array.view() for array in self.arrays]
        for view in views:
            view.flags.writeable = False
        return views


@frozen(eq=False)
class Batch:
    """Replicates of one cell."""

    cell: int
    content: Mapping[str, Any]
    numbers: tuple[int, ...]


def run_task(work: Work, batch: Batch, number: int, arrays: Sequence[np.ndarray]) -> Fate:
    """Run one replicate; an error becomes its outcome and stops nothing else."""
    started = time.perf_counter()
    try:
        with listen(None):  # Progress of an engine inside is not passed on.
            content = dict(work(batch.content, number, arrays))
        cost = content.pop(COST, None)
        packed = pack(content)
    except BaseException as error:  # A replicate must not end the others.
        if not is_failure(error):
            raise
        seconds = time.perf_counter() - started
        return failed(batch, number, seconds, worded(error))
    seconds = time.perf_counter() - started
    return Fate(batch.cell, number, State.DONE, seconds, packed.text, packed.npy, cost)


def failed(batch: Batch, number: int, seconds: float, error: str) -> Fate:
    """Return the outcome of a task without a result, with the reason."""
    return Fate(batch.cell, number, State.FAILED, seconds, error=error)


def worded(error: BaseException) -> str:
    """Return the last lines of a traceback, with the error at its end."""
    text = "".join(traceback.format_exception(error)).strip()
    return text[-LONGEST_TRACE:]
