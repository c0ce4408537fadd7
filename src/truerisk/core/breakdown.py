"""The named numbers that an estimate was made of, as one line of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from truerisk.core import present

__all__ = ["Breakdown"]


@dataclass(frozen=True)
class Breakdown(Mapping[str, float]):
    """A mapping that prints as a table of one line.

    >>> print(Breakdown({"apparent": 0.1, "optimism": 0.025, "corrected": 0.125, "n": 200}))
    apparent  optimism  corrected    n
    ----------------------------------
      0.1000    0.0250     0.1250  200
    """

    numbers: Mapping[str, int | float]

    def __getitem__(self, name: str) -> float:
        return self.numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def __str__(self) -> str:
        return present.text_table(list(self), [self._cells()])

    def _repr_html_(self) -> str:
        return present.html_table("What the risk is made of", list(self), [self._cells()])

    def _cells(self) -> list[str]:
        return [str(v) if isinstance(v, int) else present.number(v) for v in self.values()]
