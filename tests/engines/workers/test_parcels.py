"""What all batches share: pickled once, mapped by whoever opens it, gone at the end."""

from __future__ import annotations

import mmap
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

import truerisk as tr
from truerisk.core.errors import FitFailed
from truerisk.engines.running.executors import run_batches
from truerisk.engines.workers import parcels
from truerisk.engines.workers.crews import Shared
from truerisk.engines.workers.parcels import Parcel, run_parcel

LARGE = np.arange(40_000.0).reshape(-1, 4)


def looked_at(table, batch):
    """Rows of the table, and whether it lies in a mapped file."""
    return table[batch], lies_mapped(table)


def lies_mapped(array) -> bool:
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, memoryview) and isinstance(array.obj, mmap.mmap)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A temporary folder of our own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_array_is_mapped_and_the_same(folder, order) -> None:
    """Rows and columns in either order; the array is read where it lies in the file."""
    parcel = Parcel(Shared(looked_at, (np.asarray(LARGE, order=order),)))
    rows, mapped = run_parcel(parcel.path, [3, 1])
    assert rows.tolist() == LARGE[[3, 1]].tolist()
    assert mapped
    parcel.remove()
    assert not any(folder.iterdir())


def test_frames_and_sparse_matrices_come_back_as_they_were(folder) -> None:
    """Their arrays lie in the file as well, whatever holds them."""
    words = np.array(["a", "b"] * 5_000, dtype=object)
    frame = pd.DataFrame(LARGE).assign(word=words)
    table = pl.DataFrame({"a": LARGE[:, 0], "word": words.tolist()})
    matrix = sparse.csr_matrix(LARGE)
    parcel = Parcel(Shared(lambda *given: given[:-1], (frame, table, matrix)))
    one, two, three = run_parcel(parcel.path, None)
    pd.testing.assert_frame_equal(one, frame)
    assert two.equals(table)
    assert (three != matrix).nnz == 0
    assert lies_mapped(three.data)
    assert np.array_equal(one.to_numpy()[:, 0], LARGE[:, 0])


def written_to(table, batch):
    table[:] = batch
    return table.sum()


def test_whoever_writes_changes_bytes_of_its_own(folder) -> None:
    """A model may write into what it is given; the file stays as it was."""
    parcel = Parcel(Shared(written_to, (LARGE,)))
    before = Path(parcel.path).read_bytes()
    assert run_parcel(parcel.path, 0.0) == 0.0
    assert Path(parcel.path).read_bytes() == before
    assert LARGE[0, 1] == 1.0


def test_it_is_opened_once(folder) -> None:
    """By the first batch that names it."""
    parcel = Parcel(Shared(looked_at, (LARGE,)))
    content = parcels.opened(parcel.path)
    parcel.remove()
    assert run_parcel(parcel.path, [0])[0].tolist() == LARGE[[0]].tolist()
    assert parcels.opened(parcel.path) is content
    assert parcels.path_of(content.parts[0]) == parcel.path
    assert parcels.path_of(LARGE) is None


class Counted(ClassifierMixin, BaseEstimator):
    """Counts how often it is pickled."""

    written = 0

    def __init__(self, bad: float | None = None) -> None:
        self.bad = bad

    def __getstate__(self):
        Counted.written += 1
        return super().__getstate__()

    def fit(self, X, y):
        if self.bad is not None:
            raise ValueError("no")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, *self.classes_[::-1])


X = np.random.default_rng(0).normal(size=(60_000, 10))
Y = X[:, 0] + X[:, 1] > 0


def test_a_run_pickles_its_data_once_and_leaves_nothing(folder) -> None:
    """Several MB, eight batches on two workers: one pickling, no file at the end."""
    Counted.written = 0
    here = tr.estimate_risk(Counted(), X, Y, cv="10-fold")
    there = tr.estimate_risk(Counted(), X, Y, cv="10-fold", n_jobs=2)
    assert there.value == here.value
    assert Counted.written == 1
    assert not any(folder.iterdir())


def test_after_an_error_the_file_is_gone(folder) -> None:
    """A fit that fails, and a part that cannot be pickled."""
    with pytest.raises(FitFailed, match="no"):
        tr.estimate_risk(Counted(bad=1.0), X, Y, cv="10-fold", n_jobs=2)
    assert not any(folder.iterdir())
    with pytest.raises(TypeError, match="pickle"):
        list(run_batches(2, looked_at, (sys._getframe(),), [[0]]))
    assert not any(folder.iterdir())


INTERRUPTED = """
import os, signal, tempfile, threading, time
import numpy as np
from truerisk.engines.running.executors import run_batches
def look():
    while not os.listdir(tempfile.gettempdir()):
        time.sleep(.05)
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=look).start()
def nap(shared, seconds):
    time.sleep(seconds)
try:
    list(run_batches(2, nap, (np.ones(100_000),), [20] * 30))
except KeyboardInterrupt:
    print([name for name in os.listdir(tempfile.gettempdir()) if name.startswith("truerisk")])
"""


def test_after_ctrl_c_the_file_is_gone(tmp_path) -> None:
    """The interrupted run takes it along."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


KILLED = """
import sys, time
from truerisk.engines.running.executors import run_batches
def nap(started, seconds):
    open(started, "w").close()
    time.sleep(seconds)
list(run_batches(2, nap, (sys.argv[1],), [60] * 4))
"""


def test_the_workers_of_a_killed_process_take_the_file_along(tmp_path) -> None:
    """Nobody else is left to remove it."""
    started, folder = tmp_path / "started", tmp_path / "folder"
    folder.mkdir()
    environment = {"TMPDIR": str(folder), "PATH": "/usr/bin:/bin"}
    parent = subprocess.Popen([sys.executable, "-c", KILLED, str(started)], env=environment)
    while not started.exists():
        assert parent.poll() is None
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 20
    while any(folder.glob("truerisk-*")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(folder.glob("truerisk-*"))
