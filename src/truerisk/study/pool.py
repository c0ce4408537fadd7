"""What a pool is: workers, how many batches keep them busy, and what a dead one looks like."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.study.sharing import mapped
from truerisk.study.tasks import Batch, Order

__all__ = ["Pool"]


class Pool(ABC):
    """Workers; `slots` batches in flight keep them busy, 0 says that tasks run one by one."""

    slots: int = 0
    workers: int = 1
    breaks_as_a_whole: bool = False  # whether one death is the end of all batches in flight

    @abstractmethod
    def submit(self, order: Order, batch: Batch) -> Future[Any]:
        """Begin a batch."""

    def share(self, arrays: Sequence[np.ndarray], folder: Path) -> None:
        """Have the arrays where the workers are; every batch gets them."""
        self._arrays: list[Any] = list(mapped(arrays, folder))

    @property
    def arrays(self) -> list[Any]:
        return getattr(self, "_arrays", [])

    def deaths(self, error: BaseException) -> int:
        """How many workers an error of a future stands for; 0 if it is no death."""
        return int(isinstance(error, BrokenExecutor))

    def replace(self) -> None:
        """Have workers again after some died."""
        return

    def missing(self) -> str | None:
        """What is lacking for any batch to run, as a sentence, or None."""
        return None

    def close(self, *, kill: bool = False) -> None:
        """Let go; `kill` ends what still runs."""
        return
