"""A dead worker costs its batch, which runs again; a batch that kills every worker is named."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from loky import cpu_count
from sklearn.base import BaseEstimator, ClassifierMixin

import truerisk as tr
from truerisk.core.errors import FitFailed
from truerisk.engines.running.executors import run_batches
from truerisk.engines.workers.processes import reusable_workers

X = np.random.default_rng(0).normal(size=(60_000, 10))
Y = X[:, 0] + X[:, 1] > 0


class Mortal(ClassifierMixin, BaseEstimator):
    """Ends its process where the row numbered `dies` is among the train set, once or always."""

    def __init__(self, mark: str = "", dies: int = 0) -> None:
        self.mark = mark
        self.dies = dies

    def fit(self, X, y):
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


def test_a_killed_worker_costs_its_batch_only(tmp_path) -> None:
    """One of two workers ends once in the midst of a table of several MB: the same risk."""
    numbered = np.column_stack([np.arange(len(X)), X])
    here = tr.estimate_risk(Mortal("never"), numbered, Y, cv="10-fold")
    mark = tmp_path / "died"
    there = tr.estimate_risk(Mortal(str(mark), 7), numbered, Y, cv="10-fold", n_jobs=2)
    assert mark.exists()
    assert (there.value, there.interval) == (here.value, here.interval)


def test_a_worker_that_someone_kills_costs_its_batch_only() -> None:
    """By a signal from outside, twice, as a machine without memory does it."""

    def kill() -> None:
        for _ in range(2):
            time.sleep(0.5)
            pids = list(reusable_workers(2)._processes or {})
            if pids:
                os.kill(pids[0], signal.SIGKILL)

    reusable_workers(2).submit(int).result()
    threading.Thread(target=kill).start()
    batches = [0.1] * 30
    found = dict(run_batches(2, _nap, (1,), batches))
    assert found == dict.fromkeys(range(30), 1)


def _nap(value, seconds):
    time.sleep(seconds)
    return value


def test_the_fits_that_end_every_worker_are_named() -> None:
    """Leave-one-out of 12: only fit 7 sees no row 7, so batches of every other one are guilty."""
    rows = np.column_stack([np.arange(12.0), np.arange(12) % 3])
    with pytest.raises(FitFailed, match=r"died \(\w+\) again and again over fits? \d+"):
        tr.estimate_risk(Mortal("always", 7), rows, np.arange(12) % 2, cv="loo", n_jobs=2)


def test_the_guilty_batch_is_found_among_innocents() -> None:
    """Those in flight beside it run again; the sentence names none of them."""
    batches = list(range(20))
    found = run_batches(2, _end_at, (13,), batches, named=lambda batch: f"batch {batch}")
    with pytest.raises(FitFailed, match="again and again over batch 13: out of memory"):
        list(found)


def _end_at(guilty, batch):
    if batch == guilty:
        os._exit(1)
    time.sleep(0.02)
    return batch


def test_a_pool_of_the_user_is_not_replaced() -> None:
    """The first death ends the run; what its workers share is mapped all the same."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert tr.estimate_risk(
            Mortal("never"), X, Y, cv="3-fold", n_jobs=pool
        ).value == pytest.approx(0.25, abs=0.02)
        with pytest.raises(FitFailed, match=r"a worker process died \(BrokenProcessPool\): out"):
            list(run_batches(pool, _end_at, (3,), list(range(6))))


THREADS = ("OMP_WAIT_POLICY", "OMP_THREAD_LIMIT")


def about_threads() -> dict[str, str | None]:
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
def test_threads_of_models_share_the_cores_with_other_workers(
    workers, own, there, monkeypatch
) -> None:
    """They sleep where they wait, unless the user says otherwise. This process is left as it is."""
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    found = reusable_workers(workers).submit(about_threads).result()
    assert found == found | there
    assert about_threads() == dict.fromkeys(THREADS) | own
