"""`reproduce`: run an experiment, here, on workers or into a store, and report what it finds.

This is the verb, and works on the inside of the package as other verbs do. The experiments that it
runs are written with public names alone.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import fields
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.arguments import (
    check_count,
    check_flag,
    even_array,
    is_count,
    mention,
    refuses_old_names,
    shown,
    store_of,
)
from truerisk.core.errors import BadArgument, BadData, UnknownName, users_code
from truerisk.core.formats import clean, listed
from truerisk.core.progress import listen, stage, tell
from truerisk.core.registry import check_present
from truerisk.engines.running.executors import executor_of, one_thread, run_batches, workers_of
from truerisk.experiments import registry
from truerisk.experiments.experiment import Draws, Experiment, Replicate
from truerisk.experiments.figures import Findings, Report

BATCHES_PER_WORKER = 8
LARGEST_BATCH = 50
MOST_REPLICATES = 10_000_000
LARGEST_SEED = 2**63 - 1


@refuses_old_names
def reproduce(
    name: str | Experiment,
    *,
    quick: bool = False,
    full: bool = False,
    replicates: int | None = None,
    seed: int = 0,
    n_jobs: Any = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    mixed_versions: bool = False,
) -> Report:
    """Run the experiment with this name, or an experiment of your own.

    Parameters
    ----------
    name : str or Experiment
        A name in ``names()``, or an experiment.
    quick : bool, default=False
        If True, compute fewer replicates, for a first look.
    full : bool, default=False
        If True, compute all nineteen sample sizes of the document in "bee-figure-2" and
        "bee-figure-3".
    replicates : int, optional
        The number of replicates. The default is that of the experiment.
    seed : int, default=0
        The seed of the experiment.
    n_jobs : None, int, str or executor, optional
        This process (None), a number of worker processes (-1 for one per core), or any object with
        ``submit``. The numbers do not depend on it. With a store also ``"dask://host:port"``.
    store : path, optional
        A file that stores every replicate as soon as it is computed (`truerisk.study`).
    resume : bool, default=False
        If True, continue with the replicates in the store.
    mixed_versions : bool, default=False
        If True, also use replicates by other versions of Python, NumPy, SciPy or scikit-learn.

    Returns
    -------
    Report
        The tables of the experiment, and the statements that they support.

    See Also
    --------
    Study : Run replicates of your own methods and learners.
    truerisk.experiments.names : List the names.

    Examples
    --------
    >>> from truerisk.experiments import reproduce
    >>> report = reproduce("wallman-table-1", quick=True, replicates=2)
    >>> report.title
    'Wallman (2005), Table 1: the errors of double cross-validation'
    """
    flags = {"quick": quick, "full": full, "resume": resume, "mixed_versions": mixed_versions}
    for label, flag in flags.items():
        check_flag(label, flag)
    is_own = isinstance(name, Experiment)
    experiment = name if isinstance(name, Experiment) else registry.load(name)
    if is_own:
        _check_fields(experiment)
    if full:
        if experiment.full is None:
            raise UnknownName(
                f"{experiment.name} has no {mention('full')}: it is whole as it is; leave it out."
            )
        experiment = experiment.full
    if replicates is None:
        replicates = experiment.quick if quick else experiment.replicates
    if not is_count(replicates) or not 2 <= replicates <= MOST_REPLICATES:
        raise UnknownName(
            f"{mention('replicates', replicates)}: give a whole number from 2 to "
            f"{MOST_REPLICATES:,}; every number is a mean with its standard error, which one "
            "replicate does not have."
        )
    if not (is_count(seed) or (isinstance(seed, Integral) and seed == 0)) or seed > LARGEST_SEED:
        raise UnknownName(
            f"{mention('seed', seed)}: use 0 or a positive number, {LARGEST_SEED:,} at most."
        )
    replicates, seed, executor = int(replicates), int(seed), executor_of(n_jobs)
    path = None if store is None else store_of(store)
    going_on = {"resume": resume, "mixed_versions": mixed_versions}
    for label in (label for label, given in going_on.items() if given and store is None):
        raise UnknownName(f"{mention(label)} goes on with a store: name it by {mention('store')}.")
    with users_code(f"the check of {experiment.name} failed"):
        experiment.check()
    started = time.perf_counter()
    with stage(experiment.name):
        if path is None:
            draws = draw_replicates(experiment, replicates, seed, executor)
        else:
            draws = stored_replicates(experiment, replicates, seed, executor, path, **going_on)
    with users_code(f"the findings of {experiment.name} cannot be made"):
        findings = experiment.findings(draws)
    if not isinstance(findings, Findings):
        raise BadData(
            f"the findings of {experiment.name} are {shown(findings)}: give a "
            "truerisk.experiments.figures.Findings."
        )
    report = Report(
        name=experiment.name,
        title=experiment.title,
        document=experiment.document,
        replicates=replicates,
        unit=experiment.unit,
        seed=seed,
        seconds=time.perf_counter() - started,
        **{each.name: getattr(findings, each.name) for each in fields(Findings)},
    )
    if is_own:
        with users_code(f"the findings of {experiment.name} cannot be shown"):
            str(report), report.to_json(), report.to_html()
    return report


def _check_fields(experiment: Experiment) -> None:
    """Raise BadArgument if a field of an experiment of one's own is of a wrong type."""
    for name in ("name", "title", "document", "unit"):
        value = getattr(experiment, name)
        if not isinstance(value, str) or not value.strip():
            raise BadArgument(f"an experiment has {mention(name, value)}: give a text.")
    for name in ("replicate", "findings", "check"):
        value = getattr(experiment, name)
        if not callable(value):
            raise BadArgument(f"{experiment.name} has {mention(name, value)}: give a function.")
    for name in ("replicates", "quick"):
        check_count(name, getattr(experiment, name), 2, "an experiment has 2 replicates or more")
    if experiment.full is not None:
        if not isinstance(experiment.full, Experiment):
            raise BadArgument(
                f"{experiment.name} has {mention('full', experiment.full)}: give another "
                "Experiment."
            )
        _check_fields(experiment.full)


def _checked_draws(draws: Any, number: int) -> dict[str, np.ndarray]:
    """Return what a replicate gave as arrays by name, or raise BadData if it gave anything else."""
    if not isinstance(draws, Mapping) or not draws:
        raise BadData(
            f"replicate {number} gives {shown(draws)}: give a dict of numbers, or of arrays of "
            "them, by their names."
        )
    arrays = {}
    for name, value in draws.items():
        if not isinstance(name, str):
            raise BadData(f"replicate {number} gives the name {shown(name)}: name numbers by text.")
        arrays[name] = even_array(f"{name!r} of replicate {number}", value, "numbers are wanted")
        if arrays[name].dtype.kind not in "biuf":
            raise BadData(
                f"replicate {number} gives {mention(name, value)}: give real numbers, or an array "
                "of them."
            )
    return arrays


def _stacked(draws: Sequence[Draws]) -> Draws:
    """Stack the replicates along the first axis of every quantity; all must have the same ones."""
    shapes = [{name: np.shape(value) for name, value in draw.items()} for draw in draws]
    for number, shape in enumerate(shapes):
        if shape != shapes[0]:
            differing = [*dict(shape.items() ^ shapes[0].items())]
            raise BadData(
                f"replicates 0 and {number} differ in the names or the shapes of what they give "
                f"({listed([repr(clean(name, 40)) for name in sorted(differing)])}): every "
                "replicate must give the same."
            )
    return {name: np.stack([np.asarray(draw[name]) for draw in draws]) for name in draws[0]}


# ---------------------------------------------------------------- in memory


def draw_replicates(
    experiment: Experiment, replicates: int, seed: int = 0, executor: Any = None
) -> Draws:
    """Replicates 0 … replicates − 1, along the first axis of every quantity."""
    workers = workers_of(executor)
    # one thread is set once where all is drawn here: looking for the BLAS takes milliseconds
    here, there = (one_thread, nullcontext) if workers is None else (nullcontext, one_thread)
    size = 1 if workers is None else max(1, replicates // (BATCHES_PER_WORKER * workers))
    numbers, size = range(replicates), min(size, LARGEST_BATCH)
    batches = [numbers[start : start + size] for start in numbers[::size]]
    drawn: list[Draws] = [{}] * replicates
    done = 0
    tell(0, replicates, experiment.unit)
    shared = experiment.replicate, seed, there
    with here(), closing(run_batches(executor, _batch, shared, batches)) as every:
        for place, draws in every:
            drawn[batches[place].start : batches[place].stop] = draws
            done += len(draws)
            tell(done, replicates, experiment.unit)
    return _stacked(drawn)


def _batch(
    replicate: Replicate, seed: int, threads: Callable[[], Any], numbers: range
) -> list[Draws]:
    """Replicates of a batch; messages of the engines inside are not passed on."""
    with threads(), listen(None):
        found: list[Draws] = []
        for number in numbers:
            with users_code(f"replicate {number} failed"):
                draws = replicate(seed, number)
            found.append(_checked_draws(draws, number))
        return found


# ---------------------------------------------------------------- in a store


def stored_replicates(
    experiment: Experiment, replicates: int, seed: int, executor: Any, path: Path, **going_on: bool
) -> Draws:
    """Replicates 0 … replicates − 1, along the first axis of every quantity.

    Those that the store holds are read, where `going_on` allows that (`resume`, `mixed_versions`);
    the others are drawn. A change of the experiment's file makes its replicates new ones.
    """
    check_present("truerisk.study.reproductions")
    from truerisk.study import reproductions

    try:
        source = inspect.getsource(inspect.getmodule(experiment.replicate) or experiment.replicate)
    except (OSError, TypeError):
        raise UnknownName(
            f"{experiment.name} is kept by the text of its functions, and they stand in no file: "
            "import them from one, or leave out store."
        ) from None
    work = partial(_draw, experiment.replicate)
    return _stacked(
        reproductions.stored_replicates(
            work,
            experiment.name,
            source,
            replicates,
            seed,
            unit=experiment.unit,
            executor=executor,
            path=path,
            **going_on,
        )
    )


def _draw(
    replicate: Replicate, content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]
) -> dict[str, np.ndarray]:
    return _checked_draws(replicate(content["seed"], number), number)
