"""The compiled pass over rows: the sums of NumPy's, from wherever the rows lie."""

import numpy as np
import pytest

from truerisk.data import rows
from truerisk.data.rows import splitmix64, sums_of

TABLE = np.random.default_rng(0).integers(0, 2**63, size=(1030, 9), dtype=np.uint64)
FACTORS = splitmix64(np.arange(9)) | np.uint64(1)


@pytest.mark.parametrize("layout", ["rows", "columns", "every other"])
def test_sums_are_those_of_numpy(layout) -> None:
    """A row is the sum of its folded cells times the factors, modulo 2⁶⁴, in every layout."""
    table = {
        "columns": np.asfortranarray(TABLE),
        "every other": np.repeat(TABLE, 2, axis=1)[:, ::2],
    }
    found = sums_of(table.get(layout, TABLE))
    assert found.sums.tolist() == ((TABLE ^ (TABLE >> np.uint64(32))) @ FACTORS).tolist()
    assert found.is_finite  # whole numbers are


def test_sums_of_other_arrays_are_left_to_numpy_or_refused(monkeypatch) -> None:
    """NumPy sums a table whose cells are not aligned to eight bytes.

    Cells of four bytes, a single row, a table without rows, and objects are refused.
    """
    monkeypatch.setattr(rows, "native_module", None)  # a call of the compiled pass would raise
    shifted = np.frombuffer(b"\0" + TABLE.tobytes(), np.uint8)[1:].view(np.uint64).reshape(-1, 9)
    assert not sums_of(shifted).is_finite  # NumPy does not look
    of_four_bytes, none = np.zeros((2, 2), np.float32), np.zeros((0, 2))
    others = (of_four_bytes, np.zeros(3), none, np.array([["a"]], object))
    for array in (TABLE.astype(np.float32), TABLE[0], *others):
        assert sums_of(array) is None
