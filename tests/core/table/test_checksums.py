"""Checksums of rows see every bit that matters, and are the same numbers everywhere."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from truerisk.core.table import checksums
from truerisk.core.table.checksums import row_sums, summed
from truerisk.core.table.data import Data

GOLDEN = [1276677212368797696, 13235198884428906496]
NOT_THERE = SimpleNamespace(load=lambda: lambda array, factors: None)
WHOLE = np.arange(60_000.0).reshape(-1, 3) % 251


def _by_definition(rows: np.ndarray) -> list[int]:
    factors = [int(f) | 1 for f in checksums.mixed(np.arange(rows.shape[1]))]
    bits = (rows + 0).view(np.uint64)
    folded = [[int(b) ^ (int(b) >> 32) for b in row] for row in bits]
    return [sum(f * b for f, b in zip(factors, row, strict=True)) % 2**64 for row in folded]


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("compiled", [True, False])
def test_sums_are_those_of_the_definition(dtype, order, compiled, monkeypatch) -> None:
    """Blocks, types and memory order change nothing about a sum, compiled or not."""
    monkeypatch.setattr(checksums, "BYTES", 64)
    if not compiled:
        monkeypatch.setattr(checksums, "COMPILED", NOT_THERE)
    rows = np.random.default_rng(0).normal(size=(11, 3)) * 1e6
    found = row_sums(np.asarray(rows.astype(dtype), order=order))
    assert found.tolist() == _by_definition(rows.astype(dtype))


def test_sums_stay_the_same_between_versions() -> None:
    """A stored fingerprint is compared with later ones: these numbers never change."""
    assert row_sums(np.array([[1.0, -2.5], [0.0, 3.0]])).tolist() == GOLDEN


def test_one_changed_cell_changes_one_sum() -> None:
    """Any single change, of whole numbers too, whose low bits are all 0, is seen."""
    sums = row_sums(WHOLE)
    rng = np.random.default_rng(1)
    for step in (1.0, 2.0**-30, -0.5, 1024.0):
        other = WHOLE.copy()
        row, column = rng.integers(len(WHOLE)), rng.integers(3)
        other[row, column] += step
        assert np.flatnonzero(row_sums(other) != sums).tolist() == [row]


def test_few_distinct_rows_keep_distinct_sums() -> None:
    """All 15,625 rows of six small whole numbers have sums of their own."""
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 6), axis=-1).reshape(-1, 6)
    assert len(np.unique(row_sums(grid))) == len(grid)


def test_minus_zero_is_zero() -> None:
    """Cells that compare equal sum equally."""
    assert row_sums(np.array([[-0.0, 1.0]])).tolist() == row_sums(np.array([[0.0, 1.0]])).tolist()


@pytest.mark.parametrize(
    "table",
    [np.zeros((2, 2), np.float32), np.zeros(3), np.zeros((0, 2)), np.array([["a"]], object)],
    ids=["float32", "one dimension", "empty", "objects"],
)
def test_other_tables_have_no_sums(table) -> None:
    """What is no table of 8-byte numbers is left to slower ways."""
    assert row_sums(table) is None


def test_the_fingerprint_of_data_sees_each_cell() -> None:
    """Data with one changed cell, or two changed rows, have another fingerprint."""
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    prints = {Data.check(X, y, task="classification").fingerprint}
    for cell in np.ndindex(X.shape):
        other = X.copy()
        other[cell] = np.nextafter(other[cell], 9.0)
        prints.add(Data.check(other, y, task="classification").fingerprint)
    prints.add(Data.check(X[[1, 0, *range(2, 20)]], y, task="classification").fingerprint)
    assert len(prints) == 62


def test_without_the_compiled_pass_the_sums_are_the_same(monkeypatch) -> None:
    """A fingerprint does not depend on whether the compiled module is there, nor on the layout."""
    table = np.random.default_rng(2).normal(size=(9, 40))
    table[3, 5], table[4, 1] = np.nan, -0.0
    tables = [table, np.asfortranarray(table), table[::-2, 3:], table.T[5:], table[:, ::3]]
    tables += [part.astype(np.int64) for part in (1e6 * np.nan_to_num(table), tables[-1] * 0 + 7)]
    tables += [np.frombuffer(b"\0" + table.tobytes(), offset=1).reshape(9, 40)]
    compiled = [row_sums(part).tolist() for part in tables]
    with monkeypatch.context() as patch:
        patch.setattr(checksums, "COMPILED", NOT_THERE)
        assert [row_sums(part).tolist() for part in tables] == compiled


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_pass_sees_whether_all_cells_are_finite(order) -> None:
    """A NaN or an infinite cell anywhere is seen, the largest number is none of them."""
    table = np.full((11, 5), np.finfo(float).max, order=order)
    assert summed(table).finite
    for cell in [(0, 0), (7, 3), (10, 4)]:
        for value in (np.nan, np.inf, -np.inf):
            other = table.copy(order="K")
            other[cell] = value
            assert not summed(other).finite
