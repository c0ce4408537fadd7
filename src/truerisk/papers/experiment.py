"""What an experiment is: replicates that depend on (seed, number) alone, and a report on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from truerisk.papers.report import Findings

__all__ = ["Draws", "Experiment", "stream"]

Draws = Mapping[str, np.ndarray]  # for every quantity, its value in one replicate or in all


class Experiment(ABC):
    """A table or a figure of a document.

    The class says what it reproduces; `replicates` is how many are drawn by default and `quick`
    how many for a first look. Replicate i depends on the seed and on i alone: the numbers do not
    depend on how many are drawn, in what order, or by which process.
    """

    word: ClassVar[str]
    title: ClassVar[str]
    document: ClassVar[str]
    replicates: ClassVar[int]
    quick: ClassVar[int]
    unit: ClassVar[str] = "data sets"

    def check(self) -> None:
        """Refuse what cannot be run here; called before anything is drawn."""
        return

    @abstractmethod
    def replicate(self, seed: int, number: int) -> Draws:
        """Everything that is kept of one replicate."""

    @abstractmethod
    def findings(self, draws: Draws) -> Findings:
        """Tables, claims and figures; `draws` has the replicates along the first axis."""


def stream(name: str, seed: int, number: int) -> np.random.Generator:
    """The random numbers of replicate `number`; experiments that share a name share data."""
    return np.random.default_rng([seed, number, *name.encode()])
