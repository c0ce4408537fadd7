"""Delimited text cut into cells, read as numbers or counted, without an object for each cell."""

from __future__ import annotations

import numpy as np

from truerisk.kernels.loading import available, native

__all__ = ["cut_cells", "distinct_cells", "numbers_of_cells"]

_LARGEST = 2**32 - 1  # places in the text are numbers of four bytes
_MOST_ROWS = 2**31 - 1
_SEED = hash("cells") % 2**64  # another one in every process


def cut_cells(
    content: np.ndarray, delimiter: str, n_columns: int, most_rows: int, longest: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Where the cells of each column start and end in UTF-8 text, and the line of each row.

    The rows are those of the csv module with ``strict=True``, and quotes that stand doubled in a
    quoted cell are made single in `content` itself. None where some row does not have `n_columns`
    cells, a quote stands wrong, a cell has more than `longest` bytes or there are more than
    `most_rows` rows; and where the compiled module is missing: the csv module is then to read.

    >>> found = cut_cells(np.frombuffer(bytearray(b'1,"2"'), np.uint8), ",", 2, 5, 99)
    >>> found is None or [places.tolist() for places in found]
    [[[0], [3]], [[1], [4]], [1]]
    """
    if content.dtype != np.uint8 or content.ndim != 1:
        raise ValueError(f"bytes are cut, not {content.dtype} {content.shape}")
    cuts = len(delimiter) == 1 and delimiter.isascii() and delimiter not in '\r\n"'
    if not available() or not cuts or len(content) > _LARGEST or n_columns < 1:
        return None
    capacity = max(0, min(native().most_lines(content), most_rows, _MOST_ROWS))
    starts, ends = (np.empty((n_columns, capacity), dtype=np.uint32) for _ in range(2))
    lines = np.empty(capacity, dtype=np.uint32)
    n_rows = native().cut_cells(content, ord(delimiter), max(0, longest), starts, ends, lines)
    return None if n_rows < 0 else (starts[:, :n_rows], ends[:, :n_rows], lines[:n_rows])


def numbers_of_cells(content: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The cells as Python's float reads them, NaN where a cell is no plain finite number.

    Plain are ASCII digits with a sign, a point and an exponent, in any number of ASCII spaces. What
    else Python takes for a number is NaN here, too: those cells are for the caller to judge.
    """
    starts, ends = _checked(content, starts, ends)
    values = np.empty(len(starts))
    native().numbers_of_cells(content, starts, ends, values)
    return values


def distinct_cells(
    content: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which content each cell has, numbered as they first appear, and where each first stands."""
    starts, ends = _checked(content, starts, ends)
    codes, firsts = (np.empty(len(starts), dtype=np.int32) for _ in range(2))
    n = native().distinct_cells(content, starts, ends, _SEED, codes, firsts)
    return codes, firsts[:n]


def _checked(
    content: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The places in one piece; what the loops would read out of bounds is refused."""
    if content.dtype != np.uint8 or starts.dtype != np.uint32 or ends.dtype != np.uint32:
        raise ValueError("cells are bytes between places of four bytes")
    if starts.ndim != 1 or starts.shape != ends.shape:
        raise ValueError(f"each start has its end: {starts.shape} and {ends.shape}")
    if len(starts) and ((starts > ends).any() or ends.max() > len(content)):
        raise ValueError("a cell would end before it starts, or after the text")
    return np.ascontiguousarray(starts), np.ascontiguousarray(ends)
