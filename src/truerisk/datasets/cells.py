"""A column of cells: as text one by one, as what is distinct in it, as the numbers that it holds.

A reader gives a list of strings, or `PackedCells`, which leaves the cells in the bytes of the file.
What a cell means is decided in `columns.py` and `target.py`, and for both alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from truerisk.kernels.cells import distinct_cells, numbers_of_cells

__all__ = ["PackedCells", "Tally", "all_plain", "plain_numbers", "tally"]


@dataclass(frozen=True, eq=False)
class Tally:
    """The distinct cells of a column, as they first appear, and which of them each row holds."""

    words: list[str]
    codes: NDArray[Any]

    def rows_of(self, chosen: Sequence[bool]) -> NDArray[np.intp]:
        """The rows whose word is chosen."""
        return np.flatnonzero(np.array(chosen, dtype=bool)[self.codes])

    def floats(self, of_words: Sequence[float | None]) -> NDArray[np.float64]:
        """A number for every row from one for every word; NaN where a word has none."""
        return np.array(of_words, dtype=np.float64)[self.codes]


@dataclass(frozen=True, eq=False)
class PackedCells(Sequence[str]):
    """Cells as places in the UTF-8 text of a file."""

    content: NDArray[np.uint8]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return PackedCells(self.content, self.starts[row], self.ends[row])
        return self.content[self.starts[row] : self.ends[row]].tobytes().decode()

    def tally(self) -> Tally:
        codes, firsts = distinct_cells(self.content, self.starts, self.ends)
        text = self.content.data
        places = zip(self.starts[firsts].tolist(), self.ends[firsts].tolist(), strict=True)
        return Tally([str(text[start:end], "utf-8") for start, end in places], codes)

    def plain_numbers(self) -> NDArray[np.float64]:
        return numbers_of_cells(self.content, self.starts, self.ends)

    def at(self, rows: NDArray[np.intp]) -> PackedCells:
        """The cells of these rows."""
        return PackedCells(self.content, self.starts[rows], self.ends[rows])


def tally(cells: Sequence[str]) -> Tally:
    """The distinct cells of a column and where they stand.

    >>> found = tally(["b", "a", "b"])
    >>> found.words, found.codes.tolist()
    (['b', 'a'], [0, 1, 0])
    """
    if isinstance(cells, PackedCells):
        return cells.tally()
    words = list(dict.fromkeys(cells))
    place = {word: code for code, word in enumerate(words)}
    codes = np.fromiter(map(place.__getitem__, cells), dtype=np.int32, count=len(cells))
    return Tally(words, codes)


def plain_numbers(cells: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.intp], Tally]:
    """The cells that are plainly numbers, as floats; the rows of all others, and their tally.

    Of a list of strings, which Python reads one by one anyway, all cells are others.
    """
    if not isinstance(cells, PackedCells):
        return np.full(len(cells), np.nan), np.arange(len(cells)), tally(cells)
    values = cells.plain_numbers()
    others = np.flatnonzero(np.isnan(values))
    return values, others, cells.at(others).tally()


def all_plain(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """The floats of a column of nothing but plain numbers, where that is seen at a glance."""
    values = cells.plain_numbers() if isinstance(cells, PackedCells) else None
    return None if values is None or np.isnan(values).any() else values
