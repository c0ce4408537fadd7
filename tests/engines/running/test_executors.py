"""Batches run anywhere that takes submit."""

import os
import pickle
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.model_selection import GridSearchCV
from sklearn.tree import ExtraTreeClassifier

import truerisk as tr
from truerisk.engines.running.executors import count_workers, resolve_executor, run_batches
from truerisk.exceptions import UnknownName
from truerisk.extend import Refusal
from truerisk.testing.toy_learners import NearestMean

X, Y = np.arange(24.0).reshape(12, 2) ** 1.5, np.tile([0, 1, 1, 0], 3)


def double(factor, batch):
    return [factor * item for item in batch]


class Plain:
    """The least an executor can be: submit, at once."""

    def submit(self, function, *arguments):
        future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:  # noqa: BLE001
            future.set_exception(error)
        return future


@pytest.mark.parametrize(
    "executor", [None, Plain(), ThreadPoolExecutor(2)], ids=["none", "plain", "threads"]
)
def test_run_batches_gives_results_by_number_and_errors_as_they_are(executor):
    """What is no death of a worker keeps its own kind, RuntimeError too."""

    def bad(batch):
        raise RuntimeError("mine")

    assert dict(run_batches(executor, double, (2,), [[1], [2, 3], [4]])) == {
        0: [2],
        1: [4, 6],
        2: [8],
    }
    assert list(run_batches(executor, double, (2,), [])) == []
    with pytest.raises(RuntimeError, match="^mine$"):
        list(run_batches(executor, bad, (), [[1]]))


def test_run_batches_starts_nothing_more_after_an_error():
    """The batches that still wait are cancelled."""
    ran = []

    def bad(batch):
        time.sleep(0.01)
        ran.append(batch)
        raise ValueError("stop")

    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="stop"):
        list(run_batches(pool, bad, (), list(range(50))))
    assert len(ran) < 50


class LatePickler(Plain):
    """Pickles on another thread, as process pools do: what it was given must stay as it was."""

    def __init__(self):
        self.given = []

    def submit(self, function, *arguments):
        written = pickle.dumps(arguments)
        self.given.append((arguments, written))
        return super().submit(function, *pickle.loads(written))


@pytest.mark.parametrize("method", ["3-fold", "3x5-fold", ".632", "swapping"])
@pytest.mark.parametrize(
    ("model", "grid", "engine"),
    [
        (NearestMean(), {"rest": [0.0, 1.0]}, "generic"),
        (ExtraTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.1]}, "auto"),
    ],
    ids=["nearest", "trees"],
)
def test_run_batches_may_be_written_while_earlier_results_are_read(model, grid, engine, method):
    pool = LatePickler()
    tr.risk_curve(model, grid, X, Y, cv=method, random_state=1, n_jobs=pool, engine=engine)
    assert len(pool.given) > 1
    assert all(pickle.dumps(arguments) == written for arguments, written in pool.given)


@pytest.mark.parametrize(
    ("executor", "workers"),
    [(None, None), (3, 3), (np.int64(3), 3), (ThreadPoolExecutor(5), 5), (Plain(), 2)],
    ids=["none", "number", "number of NumPy", "threads", "plain"],
)
def test_workers_of_an_executor_are_counted(executor, workers):
    assert count_workers(executor) == workers


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
def test_n_jobs_that_is_no_executor_is_refused(executor, message):
    with pytest.raises(UnknownName, match=message):
        tr.estimate_risk(NearestMean(), X, Y, cv="3-fold", n_jobs=executor)


@pytest.mark.parametrize(
    ("options", "executor"),
    [
        ({}, None),
        ({"n_jobs": 1}, None),
        ({"n_jobs": 3}, 3),
        ({"n_jobs": -1}, resolve_executor(-1)),
        ({"n_jobs": 3, "backend": "loky"}, 3),
        ({"n_jobs": 3, "prefer": "threads"}, 3),  # a hint that every call may override
        ({"backend": "threading"}, None),
        ({"n_jobs": 3, "backend": "sequential"}, None),
        ({"n_jobs": 3, "backend": "threading"}, "do not run on ThreadingBackend.* for 3 jobs"),
        ({"n_jobs": 3, "backend": "multiprocessing"}, "use its backend 'loky' or 'dask', or give"),
    ],
)
def test_resolve_executor_reads_parallel_config_of_joblib(options, executor):
    with parallel_config(**options):
        assert (resolve_executor(1), resolve_executor(2)) == (None, 2)
        if isinstance(executor, str):
            with pytest.raises(Refusal, match=executor):
                resolve_executor(None)
        else:
            assert resolve_executor(None) == executor


def test_resolve_executor_starts_no_workers_in_a_task_of_joblib():
    assert Parallel(2)(delayed(resolve_executor)(None) for _ in range(2)) == [None, None]


class Signing(NearestMean):
    """Learner that writes the number of its process to a folder at every fit."""

    def __init__(self, rest=0.0, folder=""):
        super().__init__(rest)
        self.folder = folder

    def fit(self, X, y):
        Path(self.folder, str(os.getpid())).touch()
        return super().fit(X, y)


GRID = {"rest": [0.0, 1.0]}


def honest_search(model):
    return tr.HonestSearchCV(model, GRID, cv="3-fold", outer="3-fold").fit(X, Y).risk_.value


VERBS = {
    "estimate_risk": lambda model: tr.estimate_risk(model, X, Y, cv="3-fold").value,
    "HonestSearchCV": honest_search,
    "assess": lambda model: tr.assess({"a": (model, GRID)}, X, Y).learners["a"].risk.value,
    "audit": lambda model: (
        tr.audit(GridSearchCV(model, GRID, n_jobs=1).fit(X, Y), X, Y).honest.value
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_parallel_config_moves_fits_to_workers_and_changes_no_number(verb, tmp_path):
    here = VERBS[verb](Signing(folder=str(tmp_path)))
    assert {path.name for path in tmp_path.iterdir()} == {str(os.getpid())}
    with parallel_config(n_jobs=2):
        assert VERBS[verb](Signing(folder=str(tmp_path))) == here
    assert len(list(tmp_path.iterdir())) > 1
