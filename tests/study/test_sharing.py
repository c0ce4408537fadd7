"""Large arrays travel once, and no one writes to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.study.works import found, run, summing

from truerisk.study.sharing import frozen, mapped, received


def test_a_file_per_content(tmp_path):
    """Written once; equal arrays share it, and it is mapped, not read."""
    X = np.arange(1000.0)
    first, second, third = mapped([X, X.copy(), X + 1], tmp_path)
    assert first == second != third
    written = Path(first.path).stat().st_mtime_ns
    mapped([X], tmp_path)
    assert Path(first.path).stat().st_mtime_ns == written
    assert len(list(tmp_path.iterdir())) == 2
    (back,) = received([first])
    np.testing.assert_array_equal(back, X)
    assert isinstance(back, np.memmap)


def test_what_is_received_is_read_only(tmp_path):
    """From a file or as it came; the sender's own array stays writable."""
    X = np.zeros(3)
    for array in (*received(mapped([X], tmp_path)), *received([X]), frozen(X)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    X[0] = 1


@pytest.mark.parametrize("executor", [None, 2], ids=["here", "workers"])
def test_workers_have_the_array(tmp_path, executor):
    """Read-only in this process and in workers."""
    run(tmp_path / "a.db", summing, executor, wanted=4, arrays=[np.ones(10)], cells=[{"a": 1}])
    results = found(tmp_path / "a.db").values()
    assert {(r["sum"], r["writable"]) for r in results} == {(10.0, False)}
