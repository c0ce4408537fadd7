"""Large arrays travel once, and no one writes to them."""

from __future__ import annotations

import tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from tests.study.works import found, run, summing

from truerisk.engines.workers import parcels
from truerisk.study.tasks import Limits

LARGE = 100_000


def own_pool():
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


@pytest.mark.parametrize("limits", [Limits(), Limits(seconds=60)], ids=["free", "limited"])
@pytest.mark.parametrize(
    ("executor", "written"),
    [(None, 0), (2, 1), (ThreadPoolExecutor(1), 0), (own_pool(), 1)],
    ids=["here", "workers", "threads", "own pool"],
)
def test_arrays_are_written_once_read_only_and_gone(
    tmp_path, monkeypatch, executor, written, limits
):
    """For processes of this machine; a limited task runs in a child, which needs the file, too."""
    sizes, write = [], parcels._write

    def counted(path, content):
        write(path, content)
        sizes.append(Path(path).stat().st_size)

    monkeypatch.setattr(parcels, "_write", counted)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    arrays = [np.ones(LARGE)]
    run(tmp_path / "a.db", summing, executor, wanted=8, arrays=arrays, cells=[{}], limits=limits)
    results = found(tmp_path / "a.db").values()
    assert {(r["sum"], r["writable"]) for r in results} == {(LARGE, False)}
    assert arrays[0].flags.writeable
    assert [size > arrays[0].nbytes for size in sizes] == [True] * max(written, bool(limits))
    assert {path.name for path in tmp_path.iterdir()} <= {"a.db", "a.db.lock"}
