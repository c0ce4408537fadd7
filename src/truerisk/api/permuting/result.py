"""What a permutation test found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from truerisk.core import present
from truerisk.core.records import Column, Count, Record, Size
from truerisk.core.ties import tied

__all__ = ["PermutationTest"]


@dataclass(frozen=True, eq=False)
class PermutationTest(Record):
    """Whether a procedure learns anything: its risk beside those with permuted labels.

    `observed` is the honest risk of the labels as they are, `null` that of each permutation. The
    labels of `permuted` changed places: of "rows", as "labels of groups", those of "groups of equal
    size", or all of them by "shifts in time". `seed` drew the permutations, `search_seed` the folds
    of each of them.
    """

    schema: ClassVar[str] = "truerisk.permutation-test/1"
    derived: ClassVar[tuple[str, ...]] = ("p_value", "n_permutations")

    observed: float
    null: Annotated[np.ndarray, Column(least=1)] = field(repr=False)
    permuted: str
    n_units: Count
    loss: str
    method: str
    engine: str
    seed: int
    search_seed: int
    seconds: Size
    data_fingerprint: str
    notes: tuple[str, ...] = ()

    @property
    def n_permutations(self) -> int:
        """How many permutations there are, the labels as they are not among them."""
        return len(self.null)

    @property
    def n_as_small(self) -> int:
        """How many permutations have a risk as small as the observed one, ties included."""
        return int(np.count_nonzero(tied(self.null, self.observed)))

    @property
    def p_value(self) -> float:
        """(1 + as small)/(1 + permutations): the labels as they are are one order of many."""
        return (1 + self.n_as_small) / (1 + self.n_permutations)

    def __str__(self) -> str:
        lines = [f"p = {self.p_value:.4g}: {self._counted}", *self._risks]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    def _repr_html_(self) -> str:
        rows = [["p-value", f"{self.p_value:.4g}"], ["permutations", self._counted]]
        rows += [line.strip().split(": ", 1) for line in self._risks]
        rows += [["note", note] for note in self.notes]
        return present.html_table("Permutation test", ["", ""], rows)

    @property
    def _counted(self) -> str:
        return (
            f"{self.n_as_small} of {self.n_permutations} permutations ({self.permuted}) have a "
            "risk as small"
        )

    @property
    def _risks(self) -> list[str]:
        least, mean, most = map(
            present.number,
            (float(self.null.min()), float(self.null.mean()), float(self.null.max())),
        )
        of = f"{present.clean(self.loss, 40)}, {self.method}"
        return [
            f"  observed: risk {present.number(self.observed)} ({of})",
            f"  permuted: risk {mean} on average, {least} to {most}",
        ]
