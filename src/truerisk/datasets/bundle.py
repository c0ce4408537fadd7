"""A data set ready for use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from truerisk.datasets.target import Task

__all__ = ["Bundle", "Origin"]


@dataclass(frozen=True, eq=False)
class Bundle:
    """X and y, their names, what the data are and where they are from.

    `class_names[c]` says what the label c means; it is empty for a regression.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    task: Task
    description: str
    source: str
    class_names: tuple[str, ...] = ()


class Origin(Protocol):
    """What stands behind a word of the registry."""

    def bundle(self) -> Bundle: ...
