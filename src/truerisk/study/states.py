"""What can become of a task, and how tasks are numbered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

__all__ = ["NUMBERS", "Fate", "State", "task_id"]

NUMBERS = 2**32  # replicates that a cell can have


class State(IntEnum):
    """A task without a state has not been tried to its end."""

    DONE = 1
    FAILED = 2  # it raised; the traceback is kept
    QUARANTINED = 3  # it ended its worker too often
    SUSPECT = 4  # its worker ended; it will be tried again, last and alone


@dataclass(frozen=True)
class Fate:
    """How a task ended; `text`, `npy` and `cost` are its result, `error` why there is none."""

    cell: int
    number: int
    state: State
    seconds: float | None = None
    text: str | None = None
    npy: bytes | None = None
    cost: float | None = None
    error: str | None = None
    attempts: int = 1

    @property
    def task(self) -> int:
        return task_id(self.cell, self.number)

    @property
    def ends(self) -> bool:
        """Whether the task needs no further trial."""
        return self.state is not State.SUSPECT


def task_id(cell: int, number: int) -> int:
    """The row of a task: those of one cell are neighbours."""
    return cell * NUMBERS + number
