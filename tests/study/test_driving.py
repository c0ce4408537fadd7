"""The same numbers wherever they are computed, after any interruption and within limits."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from tests.study.works import (
    found,
    greedy,
    killed_once,
    moody,
    napping,
    numbers,
    once_begun,
    poisonous,
    run,
    summing,
)
from tests.support.cut_off import interrupted_at

from truerisk.core.progress import listen
from truerisk.engines.workers import parcels
from truerisk.exceptions import StudyIncomplete, UnknownName
from truerisk.study import limits
from truerisk.study.schema import State
from truerisk.study.status import compute_status
from truerisk.study.store import Store
from truerisk.study.tasks import TaskLimits

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """What one process finds, undisturbed."""
    path = tmp_path_factory.mktemp("here") / "runs.db"
    run(path, numbers, wanted=40)
    return found(path)


class Shuffled:
    """An executor whose batches end in any order."""

    def __init__(self):
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
    with Store.open_for_reading(path) as store:
        return compute_status(store)


@pytest.mark.parametrize(
    "executor", [ThreadPoolExecutor(3), Shuffled(), 4, 1, 2],
    ids=["threads", "shuffled", "four", "one", "two"],
)  # fmt: skip
def test_drive_gives_the_same_numbers_by_any_executor(tmp_path, here, executor):
    run(tmp_path / "runs.db", numbers, executor, wanted=40)
    assert found(tmp_path / "runs.db") == here


def test_drive_goes_on_after_an_interruption(tmp_path, here):
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


def test_drive_keeps_what_workers_found_before_ctrl_c(tmp_path):
    path = tmp_path / "runs.db"
    once_begun(path, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run(path, napping, 2, wanted=20_000)
    assert found(path)
    assert state(path).held_by is None


def test_progress_of_drive_counts_what_is_on_the_disk(tmp_path):
    path = tmp_path / "runs.db"
    told = []

    def check(progress):
        told.append((progress.done, len(found(path))))

    with listen(check):
        run(path, napping, wanted=20, cells=[{"nap": 0.02}])
    assert all(done <= there for done, there in told)
    assert told[-1] == (20, 20)
    assert len(told) > 2


def test_drive_writes_less_often_to_a_slow_disk(tmp_path, monkeypatch):
    times = []
    save = Store.save

    def slow(store, *results, **options):
        started = time.monotonic()
        time.sleep(0.01)
        save(store, *results, **options)
        times.append((started, time.monotonic()))

    monkeypatch.setattr(Store, "save", slow)
    monkeypatch.setattr("truerisk.study.driving.MIN_COMMIT_SECONDS", 0.01)
    run(tmp_path / "runs.db", napping, wanted=700, cells=[{"nap": 0.002}])
    before, after = times[:-2], times[1:-1]  # the last one does not wait
    assert after
    for (began, ended), (again, _) in zip(before, after, strict=True):
        assert again - ended > min(19 * (ended - began), 0.9)


def test_drive_repeats_what_a_killed_worker_had(tmp_path, here):
    path, mark = tmp_path / "runs.db", tmp_path / "marks"
    mark.mkdir()
    run(path, killed_once, 2, wanted=30, cells=[{"folder": str(mark)}])
    assert (mark / "tried").exists()
    status = state(path)
    assert (status.done, status.quarantined) == (30, 0)


def test_drive_quarantines_task_that_kills_its_workers(tmp_path, here):
    path = tmp_path / "runs.db"
    run(path, poisonous, 2, wanted=8, max_attempts=2)
    status = state(path)
    assert (status.done, status.quarantined, status.failed) == (23, 1, 0)
    (error,) = status.errors
    assert (error["cell"], error["number"], error["attempts"]) == ({"a": 2}, 4, 2)
    assert "its worker ended 2 times" in error["error"]
    assert found(path).items() <= here.items()


KILLING = """
import os, random, signal, struct, sys, time
from tests.study.works import found, napping, numbers, run
from truerisk.core.progress import listen
from truerisk.study import driving

path, draws = sys.argv[1], random.Random(3)
found_by = lambda: found(path) if os.path.exists(path) and os.path.getsize(path) else {}
kept, cells = {}, [{"a": a, "nap": 0.001} for a in range(3)]
driving.MIN_COMMIT_SECONDS, driving.COMMIT_PAUSE_FACTOR = 0.005, 0  # more commits to be killed in
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
driving.MIN_COMMIT_SECONDS = 0.2
run(path, napping, wanted=300, cells=cells)
whole = found_by()
assert len(whole) == 900 and kept.items() <= whole.items()
run(path + ".undisturbed", napping, wanted=300, cells=cells)
assert whole == found(path + ".undisturbed")
print("survived", len(kept))
"""


def test_drive_that_is_killed_25_times_loses_nothing(tmp_path):
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


def test_workers_of_drive_end_with_a_killed_driver(tmp_path):
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


def test_drive_stores_exceptions_which_may_be_retried(tmp_path, here):
    path = tmp_path / "runs.db"
    run(path, moody, wanted=40)
    status = state(path)
    assert (status.done, status.failed, status.waiting) == (96, 24, 0)
    assert not status.complete
    error = status.errors[0]["error"]
    assert "in moody" in error
    assert error.endswith("ValueError: number 3 is one too many")
    assert found(path).items() <= here.items()
    with Store.open_for_writing(path) as store:
        assert store.delete_outcomes([State.FAILED]) == 24
    run(path, numbers, wanted=40)
    assert found(path) == here


class Closed:
    """An executor whose workers lack a module."""

    def submit(self, function, *arguments):
        future: Future = Future()
        future.set_exception(ModuleNotFoundError("No module named 'mine'"))
        return future


def test_drive_stops_if_executor_is_none_or_cannot_work(tmp_path, here):
    path = tmp_path / "runs.db"
    for executor in ("many", "dask://nowhere", True, 0, object()):
        with pytest.raises(UnknownName):
            run(path, numbers, executor)
    with pytest.raises(StudyIncomplete, match=r"cannot run the tasks .*No module named 'mine'"):
        run(path, numbers, Closed())
    assert state(path).failed == 0
    with own_pool() as pool, pytest.raises(StudyIncomplete, match="that was given is not replaced"):
        run(path, poisonous, pool, wanted=8)
    assert state(path).waiting
    run(path, numbers, wanted=10)
    run(path, moody, wanted=11)  # number 10 alone is new, and fine
    run(path, numbers, wanted=40)
    assert found(path) == here


LARGE = 100_000


def own_pool():
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


@pytest.mark.parametrize("limits", [TaskLimits(), TaskLimits(seconds=60)], ids=["free", "limited"])
@pytest.mark.parametrize(
    ("executor", "written"),
    [(None, 0), (2, 1), (ThreadPoolExecutor(1), 0), (own_pool(), 1)],
    ids=["here", "workers", "threads", "own pool"],
)
def test_drive_writes_large_arrays_once_read_only_and_removes_them(
    tmp_path, monkeypatch, executor, written, limits
):
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


LIMITS = TaskLimits(seconds=1.5, megabytes=600)


@pytest.mark.parametrize("executor", [None, 1], ids=["here", "worker"])
def test_limits_on_time_and_memory_end_tasks(tmp_path, executor):
    path = tmp_path / "runs.db"
    run(path, greedy, executor, wanted=5, cells=[{"a": 1}], limits=LIMITS)
    with Store.open_for_reading(path) as store:
        (cell,) = store.cells()
        errors = store.errors(cell)
    assert [(number, state) for number, state, _, _ in errors] == [
        (1, State.FAILED),
        (2, State.FAILED),
        (3, State.FAILED),
    ]
    memory, seconds, crash = (error for *_, error in errors)
    assert memory.endswith("it needed more than its limit of 600 MB.")
    assert seconds == "it took longer than its limit of 1.5 s."
    assert crash == "its process was ended by signal 11."
    run(tmp_path / "free.db", numbers, wanted=5, cells=[{"a": 1}])
    free = found(tmp_path / "free.db")
    assert found(path) == {key: value for key, value in free.items() if key[1] in (0, 4)}


STALLED = """
import os, time
from truerisk.study.limits import LENGTH_BYTES
from multiprocessing.connection import Connection
tasks = Connection(os.dup(0), writable=False)
tasks.recv()
content = __import__("pickle").dumps("ready")
os.write(1, len(content).to_bytes(LENGTH_BYTES, "big") + content)
tasks.recv()
os.write(1, (100).to_bytes(LENGTH_BYTES, "big") + b"half")
time.sleep(30)
"""


def test_limits_end_an_answer_that_stops_amid_its_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "CHILD_CODE", STALLED)
    path = tmp_path / "runs.db"
    run(path, numbers, None, wanted=1, cells=[{"a": 1}], limits=TaskLimits(seconds=1.5))
    with Store.open_for_reading(path) as store:
        (cell,) = store.cells()
        errors = store.errors(cell)
    assert [error for *_, error in errors] == ["it took longer than its limit of 1.5 s."]
