"""Worker processes: what they share is mapped from a file, and a dead one costs its batch alone."""

import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from loky import cpu_count
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

import truerisk as tr
from truerisk.engines.running.executors import run_batches
from truerisk.engines.workers import parcels
from truerisk.engines.workers.crews import SharedCall
from truerisk.engines.workers.parcels import Payload, run_payload
from truerisk.engines.workers.processes import get_reusable_pool
from truerisk.exceptions import FitFailed

X = np.random.default_rng(0).normal(size=(60_000, 10))
Y = X[:, 0] + X[:, 1] > 0
NUMBERED = np.column_stack([np.arange(12.0), np.arange(12) % 3])


class Mortal(ClassifierMixin, BaseEstimator):
    """Ends its process where the row numbered `dies` is among the train set, once or always.

    It counts how often it is pickled.
    """

    written = 0

    def __init__(self, mark="", dies=0):
        self.mark = mark
        self.dies = dies

    def __getstate__(self):
        Mortal.written += 1
        return super().__getstate__()

    def fit(self, X, y):
        if self.mark == "fails":
            raise ValueError("no")
        if self.mark != "never" and (X[:, 0] == self.dies).any():
            here = Path(self.mark)
            if self.mark == "always" or not here.exists():
                here.touch() if self.mark != "always" else None
                os._exit(1)
        time.sleep(0.05)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X[:, 1] > 0, *self.classes_[::-1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A temporary folder of our own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


# ---------------- Deaths


def test_worker_that_dies_once_costs_its_batch_only(tmp_path):
    """In the midst of a table of several MB: the same risk."""
    numbered = np.column_stack([np.arange(len(X)), X])
    here = tr.estimate_risk(Mortal("never"), numbered, Y, cv="10-fold")
    mark = tmp_path / "died"
    there = tr.estimate_risk(Mortal(str(mark), 7), numbered, Y, cv="10-fold", n_jobs=2)
    assert mark.exists()
    assert (there.value, there.interval) == (here.value, here.interval)


def test_worker_that_someone_kills_costs_its_batch_only():
    """By a signal from outside, twice, as a machine without memory does it."""

    def kill():
        for _ in range(2):
            time.sleep(0.5)
            pids = list(get_reusable_pool(2)._processes or {})
            if pids:
                os.kill(pids[0], signal.SIGKILL)

    get_reusable_pool(2).submit(int).result()
    threading.Thread(target=kill).start()
    found = dict(run_batches(2, _nap, (1,), [0.1] * 30))
    assert found == dict.fromkeys(range(30), 1)


def _nap(value, seconds):
    time.sleep(seconds)
    return value


def test_fits_that_end_every_worker_are_named_and_the_next_run_works():
    """Leave-one-out of 12: only fit 7 sees no row 7, so batches of every other one are guilty."""
    message = r"died \(\w+\) again and again over fits? \d+.*: out of memory, or .*None"
    with pytest.raises(FitFailed, match=message):
        tr.estimate_risk(Mortal("always", 7), NUMBERED, np.arange(12) % 2, cv="loo", n_jobs=2)
    assert dict(run_batches(2, _nap, (1,), [0])) == {0: 1}


def test_guilty_batch_is_found_among_innocents():
    """Those in flight beside it run again; the sentence names none of them."""
    batches = list(range(20))
    found = run_batches(2, _end_at, (13,), batches, batch_name=lambda batch: f"batch {batch}")
    with pytest.raises(FitFailed, match="again and again over batch 13: out of memory"):
        list(found)


def _end_at(guilty, batch):
    if batch == guilty:
        os._exit(1)
    time.sleep(0.02)
    return batch


def test_pool_of_the_user_is_not_replaced():
    """The first death ends the run; what its workers share is mapped all the same."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = tr.estimate_risk(Mortal("never"), X, Y, cv="3-fold", n_jobs=pool)
        assert found.value == pytest.approx(0.25, abs=0.02)
        for guilty in (3, None):  # the second run finds a pool that broke before
            with pytest.raises(
                FitFailed, match=r"a worker process died \(BrokenProcessPool\): out"
            ):
                list(run_batches(pool, _end_at, (guilty,), list(range(6))))


THREADS = ("OMP_WAIT_POLICY", "OMP_THREAD_LIMIT")


def about_threads():
    """How threads wait in this process, and how many there may be."""
    return {name: os.environ.get(name) for name in THREADS}


@pytest.mark.parametrize(
    ("workers", "own", "there"),
    [
        (1, {}, {"OMP_WAIT_POLICY": "PASSIVE", "OMP_THREAD_LIMIT": str(cpu_count())}),
        (cpu_count(), {}, {"OMP_WAIT_POLICY": "PASSIVE", "OMP_THREAD_LIMIT": "1"}),
        (1, {"OMP_WAIT_POLICY": "ACTIVE"}, {"OMP_WAIT_POLICY": "ACTIVE"}),
        (1, {"OMP_THREAD_LIMIT": "7"}, {"OMP_THREAD_LIMIT": "7"}),
    ],
)
def test_threads_of_models_share_the_cores_with_other_workers(workers, own, there, monkeypatch):
    """They sleep where they wait, unless the user says otherwise. This process is left as it is."""
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    found = get_reusable_pool(workers).submit(about_threads).result()
    assert found == found | there
    assert about_threads() == dict.fromkeys(THREADS) | own


# ---------------- Parcels: what all batches share is pickled once and gone at the end

LARGE = np.arange(40_000.0).reshape(-1, 4)


def looked_at(table, batch):
    """Rows of the table, and whether it lies in a mapped file."""
    return table[batch], lies_mapped(table)


def lies_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, memoryview) and isinstance(array.obj, mmap.mmap)


@pytest.mark.parametrize("order", ["C", "F"])
def test_parcel_maps_a_large_array_and_is_opened_once(folder, order):
    parcel = Payload(SharedCall(looked_at, (np.asarray(LARGE, order=order),)))
    content = parcels.open_payload(parcel.path)
    parcel.remove()
    assert not any(folder.iterdir())
    rows, mapped = run_payload(parcel.path, [3, 1])
    assert rows.tolist() == LARGE[[3, 1]].tolist()
    assert mapped
    assert parcels.open_payload(parcel.path) is content
    assert parcels.find_payload_path(content.shared_arguments[0]) == parcel.path
    assert parcels.find_payload_path(LARGE) is None


def test_parcel_gives_frames_and_sparse_matrices_as_they_were(folder):
    """Their arrays lie in the file as well, whatever holds them."""
    words = np.array(["a", "b"] * 5_000, dtype=object)
    frame = pd.DataFrame(LARGE).assign(word=words)
    table = pl.DataFrame({"a": LARGE[:, 0], "word": words.tolist()})
    matrix = sparse.csr_matrix(LARGE)
    parcel = Payload(SharedCall(lambda *given: given[:-1], (frame, table, matrix)))
    one, two, three = run_payload(parcel.path, None)
    pd.testing.assert_frame_equal(one, frame)
    assert two.equals(table)
    assert (three != matrix).nnz == 0
    assert lies_mapped(three.data)


def written_to(table, batch):
    table[:] = batch
    return table.sum()


def test_parcel_stays_as_it_was_where_a_model_writes_into_it(folder):
    parcel = Payload(SharedCall(written_to, (LARGE,)))
    before = Path(parcel.path).read_bytes()
    assert run_payload(parcel.path, 0.0) == 0.0
    assert Path(parcel.path).read_bytes() == before
    assert LARGE[0, 1] == 1.0


def test_parcel_is_pickled_once_and_gone_at_the_end(folder):
    """Also where a fit fails, and where a part cannot be pickled."""
    Mortal.written = 0
    here = tr.estimate_risk(Mortal("never"), X, Y, cv="10-fold")
    there = tr.estimate_risk(Mortal("never"), X, Y, cv="10-fold", n_jobs=2)
    assert there.value == here.value
    assert Mortal.written == 1
    assert not any(folder.iterdir())
    with pytest.raises(FitFailed, match="no"):
        tr.estimate_risk(Mortal("fails"), X, Y, cv="10-fold", n_jobs=2)
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


def test_parcel_is_gone_after_ctrl_c_without_a_complaint(tmp_path):
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


def test_parcel_of_a_killed_process_is_taken_along_by_its_workers(tmp_path):
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
