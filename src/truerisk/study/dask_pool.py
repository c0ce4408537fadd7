"""Workers of a Dask cluster: by the address of its scheduler, or by a Client."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.errors import StudyIncomplete
from truerisk.core.identity import is_a
from truerisk.engines.workers.dask_cluster import DaskCluster
from truerisk.engines.workers.processes import IN_FLIGHT
from truerisk.study.pool import Pool
from truerisk.study.tasks import Batch, Order
from truerisk.study.work import run_batch

__all__ = ["DaskPool"]


class DaskPool(Pool):
    """The cluster runs batches anew that a dead worker took along; it says so when it gives up."""

    def __init__(self, where: Any) -> None:
        self._cluster = DaskCluster(where, StudyIncomplete)
        self._count()

    def share(self, arrays: Sequence[np.ndarray], folder: Path) -> None:
        self._cluster.keep(arrays)

    @property
    def arrays(self) -> list[Any]:
        """The arrays on all workers."""
        return self._cluster.sent

    def submit(self, order: Order, batch: Batch) -> Future[Any]:
        return self._cluster.submit(run_batch, order, batch, *self.arrays)

    def deaths(self, error: BaseException) -> int:
        killed = is_a(error, "distributed:KilledWorker")
        return self._cluster.deaths(error) if killed else super().deaths(error)

    def replace(self) -> None:
        self._cluster.lost()

    def missing(self) -> str | None:
        lacking = self._cluster.missing()
        self._count()
        return lacking

    def _count(self) -> None:
        self.workers = self._cluster.workers
        self.slots = IN_FLIGHT * self.workers

    def close(self, *, kill: bool = False) -> None:
        self._cluster.close()
