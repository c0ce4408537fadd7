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
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.growth import exponent
from benchmarks.limits import limit
from benchmarks.results import Options, Result
from truerisk.experiments.double_cv import double_cv
from truerisk.study.driving import COMMIT_SIZE, run_cells
from truerisk.study.queue import StudyRunOptions
from truerisk.study.schema import State, TaskOutcome
from truerisk.study.status import compute_status
from truerisk.study.store import Store
from truerisk.study.values import derive_seed, pack_result

__all__ = ["executor_named", "results"]

TASKS = {"this process": 3_000, "two workers": 6_000, "Dask": 6_000}
PER_TASK = {"this process": 1e-3, "two workers": 3e-3, "Dask": 4e-3}
STORED_PER_SECOND = 5_000
MEGABYTE = 2**20
# as docs/clusters.md advises: Dask's own threshold gives every large array back to the system
ENVIRONMENT = {"MALLOC_TRIM_THRESHOLD_": 2**27, "MALLOC_MMAP_THRESHOLD_": 2**25}


def results(options: Options) -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        yield from _overheads(place, 10 if options.quick else 1)
        yield from _stored(place, 5_000 if options.quick else 50_000)
        yield from _large(place, 20 if options.quick else 200)
        yield _status(place, 20_000 if options.quick else 1_000_000)
        yield from _two_workers(place, options)
        yield from _rows(place, options)
        yield from _growth(place, options)
        yield _kept(place, options)


def _idle(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict[str, Any]:
    """A result of usual size, for nothing."""
    return {"value": 0.1 * number, "low": 0.0, "high": 1.0, "engine": "none", "notes": []}


def _run(path: Path, work: Any, n: int, executor: Any, arrays: Sequence[np.ndarray] = ()) -> None:
    path.unlink(missing_ok=True)
    with Store.open_for_writing(path) as store:
        run_cells(
            store,
            store.request_replicates([{"a": 1}], n),
            work,
            executor,
            arrays=arrays,
            rules=StudyRunOptions(),
        )


def _overheads(folder: Path, less: int) -> Iterator[Result]:
    for where, n in TASKS.items():
        with executor_named(where) as executor:
            few, many = max(n // (10 * less), 20), n // less
            times = []
            for size in (few, few, many):  # the first run starts what has to be started
                started = time.perf_counter()
                _run(folder / "overhead.db", _idle, size, executor)
                times.append(time.perf_counter() - started)
            each = (times[2] - times[1]) / (many - few)
            yield limit(f"overhead per task, {where}", each, at_most=PER_TASK[where], unit="s")


class executor_named:  # noqa: N801  used like a function
    """The executor of a name; a cluster ends with the block."""

    def __init__(self, where: str, n_workers: int = 2) -> None:
        self.where, self.n_workers, self.cluster = where, n_workers, None

    def __enter__(self) -> Any:
        if self.where != "Dask":
            return {"this process": None, "two workers": 2}[self.where]
        import dask
        from distributed import Client, LocalCluster

        with dask.config.set({"distributed.nanny.pre-spawn-environ": ENVIRONMENT}):
            self.cluster = LocalCluster(
                n_workers=self.n_workers,
                threads_per_worker=1,
                dashboard_address=None,
                memory_limit=0,
            )
        self.client = Client(self.cluster, set_as_default=False)
        return self.client

    def __exit__(self, *error: object) -> None:
        if self.cluster is not None:
            self.client.close()
            self.cluster.close()


def _stored(folder: Path, n: int) -> Iterator[Result]:
    """Results in transactions of a run that is that fast, and in small ones; and a whole run.

    A transaction waits six times for the disk, whatever it holds. A run stores what came in within
    0.2 s or more, so at the rate that is wanted its transactions hold 1,000.
    """
    packed = pack_result(_idle({}, 1, ()))
    for size in (COMMIT_SIZE, 100):
        with Store.open_for_writing(folder / f"stored{size}.db") as store:
            (cell,) = store.request_replicates([{"a": 1}], n)
            fates = [TaskOutcome(cell.id, i, State.DONE, 0.1, packed.text) for i in range(n)]
            started, worked = time.perf_counter(), time.process_time()
            for start in range(0, n, size):
                store.save(fates[start : start + size])
            seconds, worked = time.perf_counter() - started, time.process_time() - worked
        what = f"stored results per second, {n:,} in transactions of {size:,}"
        yield _rate(what, n / seconds, STORED_PER_SECOND if size == COMMIT_SIZE else None)
        yield limit(f"{what}: seconds of the processor each", worked / n, unit="s")
    started = time.perf_counter()
    _run(folder / "stored.db", _idle, n, None)
    whole = n / (time.perf_counter() - started)
    yield _rate(f"stored results per second, a run of {n:,} without work", whole, STORED_PER_SECOND)


def _rate(what: str, per_second: float, at_least: int | None) -> Result:
    target = "" if at_least is None else f">= {at_least:,}"
    met = None if at_least is None else per_second >= at_least
    return Result(what, target, ours=per_second, unit="", met=met)


def _touch(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict[str, Any]:
    """Reads all of the array; says which process did and what memory is its own."""
    from psutil import Process

    total = float(arrays[0][::512].sum())  # a number of every page
    return {"at": os.getpid(), "sum": total, "own": Process().memory_full_info().uss / MEGABYTE}


def _large(folder: Path, megabytes: int) -> Iterator[Result]:
    large = np.ones(megabytes * MEGABYTE // 8)
    for where, copies in (("two workers", 0.25), ("Dask", 1.25)):
        with executor_named(where) as executor:
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
    with Store.open_for_reading(path) as store:
        (cell,) = store.cells()
        return {content["at"]: content["own"] for *_, content in store.results(cell)}


def _status(folder: Path, n: int) -> Result:
    packed = pack_result(_idle({}, 1, ()))
    path = folder / "million.db"
    with Store.open_for_writing(path) as store:
        cells = store.request_replicates([{"a": a} for a in range(100)], n // 100)
        for cell in cells:
            store.save(
                [TaskOutcome(cell.id, i, State.DONE, 0.1, packed.text) for i in range(n // 100)]
            )
    started = time.perf_counter()
    with Store.open_for_reading(path) as store:
        found = compute_status(store)
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
    n, repeats = (2, 1) if options.quick else (4, 3)
    for where in ("two workers", "Dask"):
        with executor_named(where) as executor:
            yield contest(
                f"nested forests, {n} replicates on {where}, peer: one process",
                lambda: _forests(folder / "one.db", None, n),
                lambda: _forests(folder / "two.db", executor, n),
                repeats,
                ratio=1 / 1.7,
            )


def _double_cv(
    content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]
) -> dict[str, Any]:
    """W1a: one of Wallman's replicates, 10 outer folds, inner leave-one-out of every k."""
    found = double_cv(0, number)
    return {"value": [float(found[name]) for name in ("internal", "external", "true")]}


def _bootstrap(
    content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]
) -> dict[str, Any]:
    """W4: the .632+ bootstrap of a linear discriminant, 200 samples of 300 rows, 20 columns."""
    X, y = _normal(number, (300, 20))
    found = tr.estimate_risk(
        tr.models.LinearDiscriminant(),
        X,
        y > 0,
        cv=tr.methods.Bootstrap(".632+", 200),
        random_state=number,
    )
    return {"value": found.value}


def _ridge(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict[str, Any]:
    """W6: leave-one-out of 100 penalties, 1,000 rows, 200 columns."""
    X, y = _normal(number, (1_000, 200))
    curve = tr.risk_curve(Ridge(), {"alpha": np.logspace(-2, 5, 100)}, X, y, cv="loo")
    return {"value": curve.values.tolist()}


def _normal(number: int, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([number, *shape])
    X = rng.normal(size=shape)
    return X, X[:, :5].sum(axis=1) + 2 * rng.normal(size=shape[0])


def _rows(folder: Path, options: Options) -> Iterator[Result]:
    """Rows of this table, many replicates each: two Dask workers beside one process."""
    works = {
        "W1a, Wallman's double cross-validation": (_double_cv, 200),
        "W4, .632+ of a linear discriminant": (_bootstrap, 200),
        "W6, ridge, leave-one-out": (_ridge, 120),
    }
    with executor_named("Dask") as executor:
        for name, (work, replicates) in works.items():
            n, repeats = (4, 1) if options.quick else (replicates, 3)
            found = contest(
                f"{name}, {n} replicates on two Dask workers, peer: one process",
                partial(_values, folder / "one.db", work, n, None),
                partial(_values, folder / "two.db", work, n, executor),
                repeats,
            )
            yield found
            if found.ratio is not None:
                yield limit(f"{name}: efficiency of two workers", 0.5 / found.ratio)
            one, two = (_work_of(folder / "cpu.db", work, n, each) for each in (None, executor))
            what = f"{name}: processor, two Dask workers and driver, peer: one process"
            yield limit(what, two, unit="s", peer=one)


def _work_of(path: Path, work: Any, n: int, executor: Any) -> float:
    """Seconds of the processor of a run, in this process and in all below it."""
    from psutil import Process

    def spent() -> float:
        here = Process()
        times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
        return float(sum(each.user + each.system for each in times))

    before = spent()
    _run(path, work, n, executor)
    return spent() - before


def _values(path: Path, work: Any, n: int, executor: Any) -> list[Any]:
    _run(path, work, n, executor)
    with Store.open_for_reading(path) as store:
        (cell,) = store.cells()
        return [content["value"] for *_, content in store.results(cell)]


def _kept(folder: Path, options: Options) -> Result:
    """What an assessment pays for a store: 1,880 cheap fits, each kept as it ends."""
    from sklearn.naive_bayes import GaussianNB

    X, y = _normal(0, (200, 5))
    grid = {"var_smoothing": np.logspace(-9, 0, 17).tolist()}
    numbers = count()

    def risk(**options: Any) -> float:
        learners = {"bayes": (GaussianNB(), grid)}
        found = tr.assess(learners, X, y > 0, cv=["10-fold"], outer="10-fold", **options)
        return found.risks["bayes"].value

    return contest(
        "assess, 17 settings of GaussianNB, every fit kept, peer: without a store",
        risk,
        lambda: risk(store=folder / f"kept{next(numbers)}.db"),
        1 if options.quick else 3,
    )


def _growth(folder: Path, options: Options) -> Iterator[Result]:
    """How the seconds of a study grow with its replicates, for the page on studies."""
    sizes = [50, 100] if options.quick else [250, 500, 1_000]
    seconds = []
    for n in sizes:
        spec = {
            "replicates": n, "sizes": [50], "problems": ["simple"], "n_test": 1000,
            "methods": ["10-fold"], "learners": ["knn"], "seed": derive_seed(n) % 1000,
        }  # fmt: skip
        path = folder / f"growth{n}.db"
        started = time.perf_counter()
        tr.Study(spec, path).run()
        seconds.append(time.perf_counter() - started)
    named = f"10-fold of tuned kNN, {sizes[0]} to {sizes[-1]:,} replicates"
    yield limit(f"{named}: seconds each", seconds[-1] / sizes[-1], unit="s")
    yield limit(f"{named}: growth of seconds", exponent(sizes, seconds))
