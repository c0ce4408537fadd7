"""What a worker does with a batch: its tasks one after the other, whatever becomes of each."""

from __future__ import annotations

import os
from typing import Any

from truerisk.core.errors import StudyIncomplete
from truerisk.engines.workers.same_versions import refuse_other_versions
from truerisk.study.limits import run_limited
from truerisk.study.sharing import received
from truerisk.study.states import Fate
from truerisk.study.tasks import Batch, Order, one_thread, run_task

__all__ = ["run_batch"]

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def run_batch(order: Order, batch: Batch, *arrays: Any) -> list[Fate]:
    """The fate of every task of the batch, in its order."""
    refuse_other_versions(order.versions, StudyIncomplete)
    for name in THREADS:  # libraries that a task is the first to load
        os.environ.setdefault(name, "1")
    if order.limits:
        return run_limited(order, batch, arrays)
    found = received(arrays)
    with one_thread():
        return [run_task(order.work, batch, number, found) for number in batch.numbers]
