"""Studies: overhead per task, stored results, large data, `status`, two workers beside one.

Tasks without work show the overhead: seconds of a whole run beyond its start, over the number of
tasks. Dask runs on loopback, a scheduler and two workers as processes of their own.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.growth import exponent
from benchmarks.limits import limit
from benchmarks.results import Options, Result
from truerisk.study.driving import Rules, drive
from truerisk.study.keys import seed_of
from truerisk.study.states import Fate, State
from truerisk.study.status import status_of
from truerisk.study.store import Store
from truerisk.study.values import pack

__all__ = ["results"]

TASKS = {"this process": 3_000, "two workers": 6_000, "Dask": 6_000}
PER_TASK = {"this process": 1e-3, "two workers": 3e-3, "Dask": 4e-3}
STORED_PER_SECOND = 5_000
MEGABYTE = 2**20


def results(options: Options) -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        yield from _overheads(place, 10 if options.quick else 1)
        yield _stored(place, 5_000 if options.quick else 50_000)
        yield from _large(place, 20 if options.quick else 200)
        yield _status(place, 20_000 if options.quick else 1_000_000)
        yield from _two_workers(place, options)
        yield from _growth(place, options)


def _idle(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict[str, Any]:
    """A result of usual size, for nothing."""
    return {"value": 0.1 * number, "low": 0.0, "high": 1.0, "engine": "none", "notes": []}


def _run(path: Path, work: Any, n: int, executor: Any, arrays: Sequence[np.ndarray] = ()) -> None:
    path.unlink(missing_ok=True)
    with Store.write(path) as store:
        drive(store, store.want([{"a": 1}], n), work, executor, arrays=arrays, rules=Rules())


def _overheads(folder: Path, less: int) -> Iterator[Result]:
    for where, n in TASKS.items():
        with _executor(where) as executor:
            few, many = max(n // (10 * less), 20), n // less
            times = []
            for size in (few, few, many):  # the first run starts what has to be started
                started = time.perf_counter()
                _run(folder / "overhead.db", _idle, size, executor)
                times.append(time.perf_counter() - started)
            each = (times[2] - times[1]) / (many - few)
            yield limit(f"overhead per task, {where}", each, at_most=PER_TASK[where], unit="s")


class _executor:  # noqa: N801  used like a function
    """The executor of a name; a cluster ends with the block."""

    def __init__(self, where: str) -> None:
        self.where, self.cluster = where, None

    def __enter__(self) -> Any:
        if self.where != "Dask":
            return {"this process": None, "two workers": 2}[self.where]
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        )
        self.client = Client(self.cluster, set_as_default=False)
        return self.client

    def __exit__(self, *error: object) -> None:
        if self.cluster is not None:
            self.client.close()
            self.cluster.close()


def _stored(folder: Path, n: int) -> Result:
    """Results in transactions of 100, each on the disk before the next."""
    packed = pack(_idle({}, 1, ()))
    with Store.write(folder / "stored.db") as store:
        (cell,) = store.want([{"a": 1}], n)
        fates = [Fate(cell.id, i, State.DONE, 0.1, packed.text) for i in range(n)]
        started = time.perf_counter()
        for start in range(0, n, 100):
            store.save(fates[start : start + 100])
        per_second = n / (time.perf_counter() - started)
    what = f"stored results per second, {n:,} in transactions of 100"
    return Result(
        what,
        f">= {STORED_PER_SECOND:,}",
        ours=per_second,
        unit="",
        met=per_second >= STORED_PER_SECOND,
    )


def _touch(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict[str, Any]:
    """Reads all of the array; says which process did and what memory is its own."""
    from psutil import Process

    total = float(arrays[0][::512].sum())  # a number of every page
    return {"at": os.getpid(), "sum": total, "own": Process().memory_full_info().uss / MEGABYTE}


def _large(folder: Path, megabytes: int) -> Iterator[Result]:
    large = np.ones(megabytes * MEGABYTE // 8)
    for where, copies in (("two workers", 0.25), ("Dask", 1.25)):
        with _executor(where) as executor:
            path = folder / "large.db"
            _run(path, _touch, 4, executor, [np.ones(1000)])
            before = _own(path)
            _run(path, _touch, 40, executor, [large])
            after = _own(path)
        grown = max(after.values()) - min(before.values())
        yield limit(
            f"{megabytes} MB to {where}, 40 tasks: memory of a worker's own, beyond its start",
            grown,
            at_most=copies * megabytes,
            unit="MB",
        )
    files = list(Path(f"{folder / 'large.db'}.data").glob("*.npy"))
    written = sum(file.stat().st_size for file in files) / MEGABYTE
    yield limit(
        f"{megabytes} MB: files for processes here", written, at_most=1.01 * megabytes, unit="MB"
    )


def _own(path: Path) -> dict[int, float]:
    """Memory of each worker's own when it worked last."""
    with Store.read(path) as store:
        (cell,) = store.cells()
        return {content["at"]: content["own"] for *_, content in store.results(cell)}


def _status(folder: Path, n: int) -> Result:
    packed = pack(_idle({}, 1, ()))
    path = folder / "million.db"
    with Store.write(path) as store:
        cells = store.want([{"a": a} for a in range(100)], n // 100)
        for cell in cells:
            store.save([Fate(cell.id, i, State.DONE, 0.1, packed.text) for i in range(n // 100)])
    started = time.perf_counter()
    with Store.read(path) as store:
        found = status_of(store)
    seconds = time.perf_counter() - started
    path.unlink()
    if found.done != n:
        return Result("status", error=f"{found.done} of {n} were counted")
    return limit(f"status of {n:,} results", seconds, at_most=1.0, unit="s")


def forest() -> Any:
    """A small forest with its grid: the learner of the study below."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=10, random_state=0), {"max_features": [1, 2]}


def _forests(path: Path, executor: Any, replicates: int) -> list[float]:
    """The risks of nested forests, tuned inside."""
    with suppress(FileNotFoundError):
        path.unlink()
    spec = {
        "replicates": replicates, "sizes": [100], "problems": ["difficult"], "n_test": 1000,
        "methods": ["nested"], "learners": [{"import": f"{__name__}:forest"}],
    }  # fmt: skip
    found = tr.Study(spec, path, allow_import=True).run(executor)
    return [row["value"] for row in sorted(found.rows, key=lambda row: row["replicate"])]


def _two_workers(folder: Path, options: Options) -> Iterator[Result]:
    n, repeats = (2, 1) if options.quick else (10, 3)
    for where in ("two workers", "Dask"):
        with _executor(where) as executor:
            yield contest(
                f"nested forests, {n} replicates on {where}, peer: one process",
                lambda: _forests(folder / "one.db", None, n),
                lambda: _forests(folder / "two.db", executor, n),
                repeats,
                ratio=1 / 1.7,
            )


def _growth(folder: Path, options: Options) -> Iterator[Result]:
    """How the seconds of a study grow with its replicates, for the page on studies."""
    sizes = [50, 100] if options.quick else [250, 500, 1_000]
    seconds = []
    for n in sizes:
        spec = {
            "replicates": n, "sizes": [50], "problems": ["simple"], "n_test": 1000,
            "methods": ["10-fold"], "learners": ["knn"], "seed": seed_of(n) % 1000,
        }  # fmt: skip
        path = folder / f"growth{n}.db"
        started = time.perf_counter()
        tr.Study(spec, path).run()
        seconds.append(time.perf_counter() - started)
    named = f"10-fold of tuned kNN, {sizes[0]} to {sizes[-1]:,} replicates"
    yield limit(f"{named}: seconds each", seconds[-1] / sizes[-1], unit="s")
    yield limit(f"{named}: growth of seconds", exponent(sizes, seconds))
