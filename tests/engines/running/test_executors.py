"""Batches run anywhere that takes submit; a dead worker is one sentence."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import ExtraTreeClassifier

import truerisk as tr
from truerisk.core.errors import FitFailed, UnknownName
from truerisk.engines.running.executors import run_batches, workers_of
from truerisk.testing.toy_learners import NearestMean


def double(factor, batch):
    return [factor * item for item in batch]


class Plain:
    """The least an executor can be: submit, at once."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, function, *arguments):
        self.submitted += 1
        future: Future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:  # noqa: BLE001
            future.set_exception(error)
        return future


@pytest.mark.parametrize(
    "executor", [None, Plain(), ThreadPoolExecutor(2)], ids=["none", "plain", "threads"]
)
def test_every_batch_comes_back_with_its_number(executor) -> None:
    """Results come in any order, each with the number of its batch."""
    batches = [[1], [2, 3], [4]]
    found = dict(run_batches(executor, double, (2,), batches))
    assert found == {0: [2], 1: [4, 6], 2: [8]}


def test_no_batches_no_results() -> None:
    """Nothing to do is done."""
    assert list(run_batches(Plain(), double, (2,), [])) == []


class LatePickler(Plain):
    """Pickles on another thread, as process pools do: what it was given must stay as it was."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[tuple[object, bytes]] = []

    def submit(self, function, *arguments):
        written = pickle.dumps(arguments)
        self.given.append((arguments, written))
        return super().submit(function, *pickle.loads(written))


@pytest.mark.parametrize("method", ["3-fold", "3x5-fold", ".632", "oob", "swapping"])
@pytest.mark.parametrize("learner", ["nearest", "trees"])
def test_what_workers_are_sent_does_not_change_while_results_come_in(method, learner) -> None:
    """A pool may write a batch when results of earlier ones are being read."""
    pool = LatePickler()
    X = np.arange(24.0).reshape(12, 2) ** 1.5
    y = np.tile([0, 1, 1, 0], 3)
    model, grid = {
        "nearest": (NearestMean(), {"rest": [0.0, 1.0]}),
        "trees": (ExtraTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.1]}),
    }[learner]
    engine = "generic" if learner == "nearest" else "auto"
    tr.risk_curve(model, grid, X, y, cv=method, random_state=1, n_jobs=pool, engine=engine)
    assert len(pool.given) > 1
    assert all(pickle.dumps(arguments) == written for arguments, written in pool.given)


@pytest.mark.parametrize("executor", [None, Plain()], ids=["none", "plain"])
def test_an_error_of_the_task_is_passed_on(executor) -> None:
    """What is no death of a worker keeps its own kind, RuntimeError too."""

    def bad(batch):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="^mine$"):
        list(run_batches(executor, bad, (), [[1]]))


def test_after_an_error_nothing_more_is_started() -> None:
    """The batches that still wait are cancelled."""
    ran = []

    def bad(batch):
        ran.append(batch)
        raise ValueError("stop")

    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="stop"):
        list(run_batches(pool, _slowly(bad), (), list(range(50))))
    assert len(ran) < 50


def _slowly(task):
    from time import sleep

    def slow(batch):
        sleep(0.01)
        return task(batch)

    return slow


@pytest.mark.parametrize(
    ("executor", "workers"),
    [(None, None), (3, 3), (np.int64(3), 3), (ThreadPoolExecutor(5), 5), (Plain(), 2)],
    ids=["none", "number", "number of NumPy", "threads", "plain"],
)
def test_workers_are_counted(executor, workers) -> None:
    """How many workers there are decides the size of the batches only."""
    assert workers_of(executor) == workers


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        (0, "n_jobs=0: give a number of worker processes"),
        (True, "n_jobs=True is unknown"),
        ("loky", "n_jobs='loky' is unknown; use None"),
        (object(), "has no submit"),
        (2.0, "has no submit"),
    ],
)
def test_what_is_no_executor_is_refused(executor, message) -> None:
    """A word, a flag, or an object that cannot submit."""
    with pytest.raises(UnknownName, match=message):
        tr.estimate_risk(deadly(), X, Y, cv="3-fold", n_jobs=executor)


X, Y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2


def deadly():
    """A model whose fit ends its process."""

    class Deadly(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            os._exit(1)

        def predict(self, X):
            return X

    return Deadly()


def test_a_killed_worker_is_one_sentence() -> None:
    """The run ends, says what happened and what to do, and the next run works."""
    with pytest.raises(FitFailed, match=r"a worker process died .*: out of memory, or .*None"):
        tr.estimate_risk(deadly(), X, Y, cv="loo", n_jobs=2)
    from sklearn.dummy import DummyClassifier

    model = DummyClassifier(strategy="constant", constant=1)
    assert tr.estimate_risk(model, X, Y, cv="3-fold", n_jobs=2).value == 0.5


def kill(batch):
    os._exit(1)


def test_a_pool_that_broke_before_is_the_same_sentence() -> None:
    """A pool that is already broken when a batch is submitted is named so, too."""
    from concurrent.futures.process import BrokenProcessPool

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(BrokenProcessPool):
            pool.submit(os._exit, 1).result()
        with pytest.raises(FitFailed, match=r"a worker process died \(BrokenProcessPool\)"):
            list(run_batches(pool, double, (2,), [[1], [2]]))


INTERRUPTED = """
import os, signal, threading, time
from truerisk.engines.running.executors import run_batches
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    list(run_batches(2, time.sleep, (), [20] * 30))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupted_run_ends_its_workers_in_silence() -> None:
    """Ctrl-C with batches still to come: one KeyboardInterrupt, no complaint of loky's thread."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
