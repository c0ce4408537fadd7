"""Runs an experiment: replicates in batches, here or on an executor, and its report."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.errors import UnknownName
from truerisk.core.progress import listen, stage, tell
from truerisk.engines.workers.executors import run_batches, workers_of
from truerisk.papers.experiment import Draws, Experiment
from truerisk.papers.report import Report

__all__ = ["draw_replicates", "run"]

BATCHES_PER_WORKER = 8
LARGEST_BATCH = 50


def run(
    experiment: Experiment,
    *,
    replicates: int | None = None,
    quick: bool = False,
    seed: int = 0,
    executor: Any = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Report:
    """The report on `replicates` draws (by default the experiment's own number of them).

    With a `store` every replicate is kept as it is found; see `stored_replicates`.
    """
    if replicates is None:
        replicates = experiment.quick if quick else experiment.replicates
    if replicates < 2:
        raise UnknownName(f"replicates={replicates}: two at least, to have a standard error.")
    if seed < 0:
        raise UnknownName(f"seed={seed}: use 0 or a positive number.")
    if resume and store is None:
        raise UnknownName("--resume goes on with a store: name it by --store (resume=, store=).")
    experiment.check()
    started = time.perf_counter()
    with stage(experiment.word):
        if store is None:
            draws = draw_replicates(experiment, replicates, seed, executor)
        else:
            from truerisk.papers.stored import stored_replicates

            draws = stored_replicates(
                experiment, replicates, seed, executor, Path(store), resume=resume
            )
    return Report(
        word=experiment.word,
        title=experiment.title,
        document=experiment.document,
        replicates=replicates,
        unit=experiment.unit,
        seed=seed,
        seconds=time.perf_counter() - started,
        findings=experiment.findings(draws),
    )


def draw_replicates(
    experiment: Experiment, replicates: int, seed: int = 0, executor: Any = None
) -> Draws:
    """Replicates 0 … replicates − 1, along the first axis of every quantity."""
    batches = _batches(replicates, workers_of(executor))
    found: list[Sequence[Draws]] = [()] * len(batches)
    done = 0
    tell(0, replicates, experiment.unit)
    # found once for all batches: looking for the BLAS takes milliseconds
    task = _batch if executor is None else _batch_elsewhere
    coming = closing(run_batches(executor, task, (experiment, seed), batches))
    with one_thread() if executor is None else nullcontext(), coming as every:
        for number, draws in every:
            found[number] = draws
            done += len(draws)
            tell(done, replicates, experiment.unit)
    all_draws = [draw for draws in found for draw in draws]
    return {name: np.stack([np.asarray(draw[name]) for draw in all_draws]) for name in all_draws[0]}


def _batches(replicates: int, workers: int | None) -> list[range]:
    size = 1
    if workers is not None:
        size = min(max(1, replicates // (BATCHES_PER_WORKER * workers)), LARGEST_BATCH)
    return [range(i, min(i + size, replicates)) for i in range(0, replicates, size)]


def one_thread() -> AbstractContextManager[Any]:
    """One thread for BLAS: the matrices of a replicate are small."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


def _batch(experiment: Experiment, seed: int, numbers: range) -> list[Draws]:
    """Replicates of a batch; what an engine tells inside is not passed on."""
    with listen(None):
        return [experiment.replicate(seed, number) for number in numbers]


def _batch_elsewhere(experiment: Experiment, seed: int, numbers: range) -> list[Draws]:
    with one_thread():
        return _batch(experiment, seed, numbers)
