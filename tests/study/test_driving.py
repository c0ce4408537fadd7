"""The same numbers wherever they are computed, after any interruption and in any order."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from tests.study.works import (
    found,
    killed_once,
    moody,
    napping,
    numbers,
    once_begun,
    poisonous,
    run,
)
from tests.support.cut_off import interrupted_at

from truerisk.core.errors import StudyIncomplete, UnknownName
from truerisk.core.progress import listen
from truerisk.study.schema import State
from truerisk.study.status import status_of
from truerisk.study.store import Store

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """What one process finds, undisturbed."""
    path = tmp_path_factory.mktemp("here") / "runs.db"
    run(path, numbers, wanted=40)
    return found(path)


class Shuffled:
    """An executor whose batches end in any order."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future, tuple]] = []
        self.random = random.Random(1)

    def submit(self, function, *arguments):
        future: Future = Future()
        self.waiting.append((future, (function, *arguments)))
        threading.Timer(0.02, self.work).start()
        return future

    def work(self):
        waiting, self.waiting = self.waiting, []
        self.random.shuffle(waiting)
        for future, (function, *arguments) in waiting:
            future.set_result(function(*arguments))


def state(path):
    """The counts of a store."""
    with Store.read(path) as store:
        return status_of(store)


@pytest.mark.parametrize(
    "executor", [ThreadPoolExecutor(3), Shuffled(), 4, 1, 2],
    ids=["threads", "shuffled", "four", "one", "two"],
)  # fmt: skip
def test_the_numbers_do_not_depend_on_the_executor(tmp_path, here, executor):
    """To the last bit: one, two and four worker processes, threads, batches in any order."""
    run(tmp_path / "runs.db", numbers, executor, wanted=40)
    assert found(tmp_path / "runs.db") == here


def test_an_interrupted_run_goes_on(tmp_path, here):
    """Ctrl-C keeps what was found; the next run adds the rest, and a third has nothing to do."""
    path = tmp_path / "runs.db"

    with listen(interrupted_at(15)), pytest.raises(KeyboardInterrupt):
        run(path, napping, wanted=40)
    kept = found(path)
    assert 15 <= len(kept) < 120
    assert kept.items() <= here.items()
    run(path, numbers, wanted=40)
    assert found(path) == here
    run(path, poisonous, wanted=40)
    assert state(path).n_runs == 2


def test_ctrl_c_keeps_what_workers_found(tmp_path):
    """Those that ended are stored, those that run are ended."""
    path = tmp_path / "runs.db"
    once_begun(path, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run(path, napping, 2, wanted=20_000)
    assert found(path)
    assert state(path).held_by is None


def test_an_exception_is_stored_and_stops_nothing(tmp_path, here):
    """With its traceback; the others have their results; forgotten, it is tried again."""
    path = tmp_path / "runs.db"
    run(path, moody, wanted=40)
    status = state(path)
    assert (status.done, status.failed, status.waiting) == (96, 24, 0)
    assert not status.complete
    error = status.errors[0]["error"]
    assert "in moody" in error
    assert error.endswith("ValueError: number 3 is one too many")
    assert found(path).items() <= here.items()
    with Store.write(path) as store:
        assert store.forget([State.FAILED]) == 24
    run(path, numbers, wanted=40)
    assert found(path) == here


def test_more_replicates_keep_the_first(tmp_path, here):
    """A study that grows computes only what is new."""
    path = tmp_path / "runs.db"
    run(path, numbers, wanted=10)
    run(path, moody, wanted=11)  # number 10 alone is new, and fine
    run(path, numbers, wanted=40)
    assert found(path) == here


def test_progress_counts_what_is_on_the_disk(tmp_path):
    """No count is told before its results can be read by others."""
    path = tmp_path / "runs.db"
    told = []

    def check(progress):
        told.append((progress.done, len(found(path))))

    with listen(check):
        run(path, napping, wanted=20, cells=[{"nap": 0.02}])
    assert all(done <= there for done, there in told)
    assert told[-1] == (20, 20)
    assert len(told) > 2


@pytest.mark.parametrize("executor", ["many", "dask://nowhere", True, 0, object()])
def test_what_is_no_executor_is_refused(tmp_path, executor):
    """A word, an address without a port, a flag, no worker, an object that cannot submit."""
    with pytest.raises(UnknownName):
        run(tmp_path / "runs.db", numbers, executor)


def test_a_slow_disk_is_written_less_often(tmp_path, monkeypatch):
    """After a transaction twenty times its seconds pass before the next one, or one second."""
    times = []
    save = Store.save

    def slow(store, *results, **options):
        started = time.monotonic()
        time.sleep(0.01)
        save(store, *results, **options)
        times.append((started, time.monotonic()))

    monkeypatch.setattr(Store, "save", slow)
    monkeypatch.setattr("truerisk.study.driving.COMMIT_EVERY", 0.01)
    run(tmp_path / "runs.db", napping, wanted=700, cells=[{"nap": 0.002}])
    before, after = times[:-2], times[1:-1]  # the last one does not wait
    assert after
    for (began, ended), (again, _) in zip(before, after, strict=True):
        assert again - ended > min(19 * (ended - began), 0.9)


# ---------------------------------------------------------------- killed on purpose


def test_a_killed_worker_costs_nothing(tmp_path, here):
    """The pool is replaced, its batches are run again, and no task is blamed."""
    path, mark = tmp_path / "runs.db", tmp_path / "marks"
    mark.mkdir()
    run(path, killed_once, 2, wanted=30, cells=[{"folder": str(mark)}])
    assert (mark / "tried").exists()
    status = state(path)
    assert (status.done, status.quarantined) == (30, 0)


def test_a_task_that_kills_its_workers_is_quarantined(tmp_path, here):
    """After its attempts; all others end, each with its number; retried, it is tried again."""
    path = tmp_path / "runs.db"
    run(path, poisonous, 2, wanted=8, attempts=2)
    status = state(path)
    assert (status.done, status.quarantined, status.failed) == (23, 1, 0)
    (error,) = status.errors
    assert (error["cell"], error["number"], error["attempts"]) == ({"a": 2}, 4, 2)
    assert "its worker ended 2 times" in error["error"]
    assert found(path).items() <= here.items()


def test_a_given_pool_that_breaks_is_not_replaced(tmp_path, here):
    """One sentence; the suspects come last in the next run."""
    path = tmp_path / "runs.db"
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(StudyIncomplete, match="an executor that was given is not replaced"),
    ):
        run(path, poisonous, pool, wanted=8)
    assert state(path).waiting
    run(path, numbers, wanted=40)
    assert found(path) == here


def test_work_that_workers_cannot_have_stops_the_run(tmp_path):
    """Nothing is stored as failed when no worker can do anything."""

    class Closed:
        def submit(self, function, *arguments):
            future: Future = Future()
            future.set_exception(ModuleNotFoundError("No module named 'mine'"))
            return future

    with pytest.raises(StudyIncomplete, match=r"cannot run the tasks .*No module named 'mine'"):
        run(tmp_path / "runs.db", numbers, Closed())
    assert state(tmp_path / "runs.db").failed == 0


KILLING = """
import os, random, signal, struct, sys, time
from tests.study.works import found, napping, numbers, run
from truerisk.core.progress import listen
from truerisk.study import driving

path, draws = sys.argv[1], random.Random(3)
found_by = lambda: found(path) if os.path.exists(path) and os.path.getsize(path) else {}
kept, cells = {}, [{"a": a, "nap": 0.001} for a in range(3)]
driving.COMMIT_EVERY, driving.COMMIT_PAUSE = 0.005, 0  # more commits to be killed in
run(path + ".first", numbers, wanted=1)  # what is imported is imported
for kill in range(25):
    reading, writing = os.pipe()
    driver = os.fork()
    if driver == 0:
        with listen(lambda progress: os.write(writing, struct.pack("<q", progress.done))):
            run(path, napping, wanted=300, cells=cells)
        os._exit(0)
    os.close(writing)
    told = os.read(reading, 8) if kill % 2 else b""  # every other time it has begun to work
    time.sleep(draws.uniform(0, 0.1))
    os.kill(driver, signal.SIGKILL)
    os.waitpid(driver, 0)
    told += os.read(reading, 2**20)
    os.close(reading)
    acknowledged = struct.unpack("<q", told[-8:])[0] if told else 0
    now = found_by() if acknowledged else kept
    assert len(now) >= acknowledged, (kill, len(now), acknowledged)
    assert kept.items() <= now.items(), kill
    kept = now
assert 0 < len(kept) < 900, len(kept)
driving.COMMIT_EVERY = 0.2
run(path, napping, wanted=300, cells=cells)
whole = found_by()
assert len(whole) == 900 and kept.items() <= whole.items()
run(path + ".undisturbed", napping, wanted=300, cells=cells)
assert whole == found(path + ".undisturbed")
print("survived", len(kept))
"""


def test_a_driver_that_is_killed_25_times_loses_nothing(tmp_path):
    """SIGKILL at random moments: what was acknowledged is there, once, and the rest follows."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLING, str(tmp_path / "runs.db")],
        capture_output=True, text=True, check=False, timeout=120, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("survived")


DRIVER = """
import sys
from tests.study.works import napping, run
run(sys.argv[1], napping, 2, wanted=100_000)
"""


def test_workers_end_with_a_killed_driver(tmp_path):
    """They do not go on for a driver that is gone."""
    path = tmp_path / "runs.db"
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(path)], stderr=subprocess.DEVNULL, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    workers = eventually(lambda: loky_children(driver.pid) if path.exists() else [])
    driver.kill()
    driver.wait()
    assert len(workers) >= 1
    assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def loky_children(parent):
    """Worker processes of a driver."""
    pids = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            stat = (place / "stat").read_text().rpartition(")")[2].split()
            line = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if int(stat[1]) == parent and b"popen_loky" in line:
            pids.append(int(place.name))
    return pids


def eventually(question, seconds=20.0):
    """The first answer that is true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = question()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s")
