"""The compiled pass over rows: the sums of NumPy's, from wherever the rows lie."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.data import rows
from truerisk.data.rows import mixed, sums_of

TABLE = np.random.default_rng(0).integers(0, 2**63, size=(1030, 9), dtype=np.uint64)
FACTORS = mixed(np.arange(9)) | np.uint64(1)


@pytest.mark.parametrize("layout", ["rows", "columns", "every other"])
def test_sums_are_those_of_numpy(layout) -> None:
    """A row is the sum of its folded cells times the factors, modulo 2⁶⁴, in every layout."""
    table = {
        "columns": np.asfortranarray(TABLE),
        "every other": np.repeat(TABLE, 2, axis=1)[:, ::2],
    }
    found = sums_of(table.get(layout, TABLE))
    assert found.sums.tolist() == ((TABLE ^ (TABLE >> np.uint64(32))) @ FACTORS).tolist()
    assert found.finite  # whole numbers are


def test_an_array_that_is_not_aligned_is_left_to_numpy(monkeypatch) -> None:
    """Cells that do not lie on multiples of eight bytes are not read."""
    monkeypatch.setattr(rows, "native", None)  # a call of the compiled pass would raise
    shifted = np.frombuffer(b"\0" + TABLE.tobytes(), np.uint8)[1:].view(np.uint64).reshape(-1, 9)
    assert not sums_of(shifted).finite  # NumPy does not look


@pytest.mark.parametrize("array", [TABLE.astype(np.float32), TABLE[0]], ids=["4 bytes", "one row"])
def test_what_it_would_read_out_of_bounds_is_refused(array, monkeypatch) -> None:
    """The loop trusts shapes and types, so the caller checks them."""
    monkeypatch.setattr(rows, "native", None)
    assert sums_of(array) is None
