"""A task and what it becomes: the work on one replicate, timed, packed, its errors kept."""

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
"""`work(content of the cell, number, arrays)` gives what is kept of one replicate."""

COST = "seconds"  # under this name a result says what it cost; it is no part of the content
LONGEST_TRACE = 20_000


@frozen
class Limits:
    """What a task may take, in seconds and in megabytes beyond what its process held before."""

    seconds: float | None = None
    megabytes: float | None = None

    def __bool__(self) -> bool:
        return self.seconds is not None or self.megabytes is not None


@frozen(eq=False)
class Order:
    """What is the same for all batches of a run; the arrays may be read only.

    Copies of an order have its `number`, wherever they were sent.
    """

    work: Work
    limits: Limits
    arrays: Sequence[np.ndarray]
    number: str = field(default_factory=lambda: uuid4().hex)

    def frozen(self) -> list[np.ndarray]:
        """The arrays where they are worked on; the sender's own stay writable."""
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
    """One replicate; what it raises is its fate and stops nothing else."""
    started = time.perf_counter()
    try:
        with listen(None):  # what an engine tells inside is not passed on
            content = dict(work(batch.content, number, arrays))
        cost = content.pop(COST, None)
        packed = pack(content)
    except BaseException as error:  # a replicate must not take the others with it
        if not is_failure(error):
            raise
        seconds = time.perf_counter() - started
        return failed(batch, number, seconds, worded(error))
    seconds = time.perf_counter() - started
    return Fate(batch.cell, number, State.DONE, seconds, packed.text, packed.npy, cost)


def failed(batch: Batch, number: int, seconds: float, error: str) -> Fate:
    """A task that has no result and a reason."""
    return Fate(batch.cell, number, State.FAILED, seconds, error=error)


def worded(error: BaseException) -> str:
    """The last lines of a traceback, the kind and the sentence of the error at its end."""
    text = "".join(traceback.format_exception(error)).strip()
    return text[-LONGEST_TRACE:]
