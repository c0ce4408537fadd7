"""Run an experiment with `reproduce`, in this process, on workers or with a store of replicates.

This module may use private modules of the package. The experiments that it runs are written with
public names alone.
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
    is_count,
    mention,
    refuses_old_names,
    repr_on_one_line,
    to_row_array,
    to_store_path,
)
from truerisk.core.errors import BadArgument, BadData, UnknownName, reraise_as_fit_failed
from truerisk.core.formats import escape_and_truncate, join_words
from truerisk.core.progress import listen, report_progress, stage
from truerisk.core.registry import check_present
from truerisk.engines.running.executors import (
    count_workers,
    limit_to_one_thread,
    resolve_executor,
    run_batches,
)
from truerisk.experiments import registry
from truerisk.experiments.experiment import Draws, Experiment, ReplicateFunction
from truerisk.experiments.figures import Findings, Report

BATCHES_PER_WORKER = 8
MAX_BATCH_SIZE = 50
MAX_REPLICATES = 10_000_000
MAX_SEED = 2**63 - 1


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
    """Run an experiment, given by its name or as an `Experiment`, and report its results.

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
    is_user_defined = isinstance(name, Experiment)
    experiment = name if isinstance(name, Experiment) else registry.load(name)
    if is_user_defined:
        _check_fields(experiment)
    if full:
        if experiment.full is None:
            raise UnknownName(
                f"{experiment.name} has no {mention('full')}: it is whole as it is; leave it out."
            )
        experiment = experiment.full
    if replicates is None:
        replicates = experiment.quick if quick else experiment.replicates
    if not is_count(replicates) or not 2 <= replicates <= MAX_REPLICATES:
        raise UnknownName(
            f"{mention('replicates', replicates)}: give a whole number from 2 to "
            f"{MAX_REPLICATES:,}; every number is a mean with its standard error, which one "
            "replicate does not have."
        )
    if not (is_count(seed) or (isinstance(seed, Integral) and seed == 0)) or seed > MAX_SEED:
        raise UnknownName(
            f"{mention('seed', seed)}: use 0 or a positive number, {MAX_SEED:,} at most."
        )
    replicates, seed, executor = int(replicates), int(seed), resolve_executor(n_jobs)
    path = None if store is None else to_store_path(store)
    store_options = {"resume": resume, "mixed_versions": mixed_versions}
    for label in (label for label, is_set in store_options.items() if is_set and store is None):
        raise UnknownName(f"{mention(label)} goes on with a store: name it by {mention('store')}.")
    with reraise_as_fit_failed(f"the check of {experiment.name} failed"):
        experiment.check()
    start_time = time.perf_counter()
    with stage(experiment.name):
        if path is None:
            draws = draw_replicates(experiment, replicates, seed, executor)
        else:
            draws = stored_replicates(experiment, replicates, seed, executor, path, **store_options)
    with reraise_as_fit_failed(f"the findings of {experiment.name} cannot be made"):
        findings = experiment.findings(draws)
    if not isinstance(findings, Findings):
        raise BadData(
            f"the findings of {experiment.name} are {repr_on_one_line(findings)}: give a "
            "truerisk.experiments.figures.Findings."
        )
    report = Report(
        name=experiment.name,
        title=experiment.title,
        document=experiment.document,
        replicates=replicates,
        unit=experiment.unit,
        seed=seed,
        seconds=time.perf_counter() - start_time,
        **{
            findings_field.name: getattr(findings, findings_field.name)
            for findings_field in fields(Findings)
        },
    )
    if is_user_defined:
        with reraise_as_fit_failed(f"the findings of {experiment.name} cannot be shown"):
            str(report), report.to_json(), report.to_html()
    return report


def _check_fields(experiment: Experiment) -> None:
    """Raise BadArgument if a field of a user's experiment has a wrong type."""
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


def _validate_draws(draws: Any, replicate_number: int) -> dict[str, np.ndarray]:
    """Return the results of a replicate as arrays by name; raise BadData if one is not numeric."""
    if not isinstance(draws, Mapping) or not draws:
        raise BadData(
            f"replicate {replicate_number} gives {repr_on_one_line(draws)}: give a dict of "
            "numbers, or of arrays of them, by their names."
        )
    arrays = {}
    for name, value in draws.items():
        if not isinstance(name, str):
            raise BadData(
                f"replicate {replicate_number} gives the name {repr_on_one_line(name)}: name "
                "numbers by text."
            )
        arrays[name] = to_row_array(
            f"{name!r} of replicate {replicate_number}", value, "numbers are wanted"
        )
        if arrays[name].dtype.kind not in "biuf":
            raise BadData(
                f"replicate {replicate_number} gives {mention(name, value)}: give real numbers, or "
                "an array of them."
            )
    return arrays


def _stack_replicates(draws: Sequence[Draws]) -> Draws:
    """Stack the replicates along a new first axis; all must have the same quantities and shapes."""
    shapes = [{name: np.shape(value) for name, value in draw.items()} for draw in draws]
    for replicate_number, replicate_shapes in enumerate(shapes):
        if replicate_shapes != shapes[0]:
            differing_names = [*dict(replicate_shapes.items() ^ shapes[0].items())]
            quoted_names = [repr(escape_and_truncate(name, 40)) for name in sorted(differing_names)]
            raise BadData(
                f"replicates 0 and {replicate_number} differ in the names or the shapes of what "
                f"they give ({join_words(quoted_names)}): every replicate must give the same."
            )
    return {name: np.stack([np.asarray(draw[name]) for draw in draws]) for name in draws[0]}


# ---------------------------------------------------------------- replicates in memory


def draw_replicates(
    experiment: Experiment, replicates: int, seed: int = 0, executor: Any = None
) -> Draws:
    """Compute replicates 0 … replicates − 1 in memory, and stack them along the first axis."""
    n_workers = count_workers(executor)
    # Without worker processes, the number of BLAS threads is limited once here, not in every batch.
    # Limiting the threads takes milliseconds, because the BLAS library must be found first.
    limit_threads_here, limit_threads_in_batch = (
        (limit_to_one_thread, nullcontext)
        if n_workers is None
        else (nullcontext, limit_to_one_thread)
    )
    batch_size = 1 if n_workers is None else max(1, replicates // (BATCHES_PER_WORKER * n_workers))
    replicate_numbers, batch_size = range(replicates), min(batch_size, MAX_BATCH_SIZE)
    batches = [
        replicate_numbers[first_replicate : first_replicate + batch_size]
        for first_replicate in replicate_numbers[::batch_size]
    ]
    replicate_draws: list[Draws] = [{}] * replicates
    n_done = 0
    report_progress(0, replicates, experiment.unit)
    shared_arguments = experiment.replicate, seed, limit_threads_in_batch
    with (
        limit_threads_here(),
        closing(run_batches(executor, _draw_batch, shared_arguments, batches)) as finished_batches,
    ):
        for batch_index, draws in finished_batches:
            replicate_draws[batches[batch_index].start : batches[batch_index].stop] = draws
            n_done += len(draws)
            report_progress(n_done, replicates, experiment.unit)
    return _stack_replicates(replicate_draws)


def _draw_batch(
    compute_replicate: ReplicateFunction,
    seed: int,
    limit_threads: Callable[[], Any],
    replicate_numbers: range,
) -> list[Draws]:
    """Compute the replicates of one batch without the progress messages of engines."""
    with limit_threads(), listen(None):
        batch_draws: list[Draws] = []
        for replicate_number in replicate_numbers:
            with reraise_as_fit_failed(f"replicate {replicate_number} failed"):
                draws = compute_replicate(seed, replicate_number)
            batch_draws.append(_validate_draws(draws, replicate_number))
        return batch_draws


# ---------------------------------------------------------------- replicates in a store


def stored_replicates(
    experiment: Experiment,
    replicates: int,
    seed: int,
    executor: Any,
    path: Path,
    **store_options: bool,
) -> Draws:
    """Read replicates from a store, compute the missing ones, and stack them along the first axis.

    Stored replicates are used only if `store_options` allows it (`resume`, `mixed_versions`). After
    a change of the experiment's file, all replicates are computed anew.
    """
    check_present("truerisk.study.reproductions")
    from truerisk.study import reproductions

    try:
        source_code = inspect.getsource(
            inspect.getmodule(experiment.replicate) or experiment.replicate
        )
    except (OSError, TypeError):
        raise UnknownName(
            f"{experiment.name} is kept by the text of its functions, and they stand in no file: "
            "import them from one, or leave out store."
        ) from None
    draw_replicate = partial(_draw_stored_replicate, experiment.replicate)
    return _stack_replicates(
        reproductions.load_or_run_replicates(
            draw_replicate,
            experiment.name,
            source_code,
            replicates,
            seed,
            progress_unit=experiment.unit,
            executor=executor,
            path=path,
            **store_options,
        )
    )


def _draw_stored_replicate(
    compute_replicate: ReplicateFunction,
    store_content: Mapping[str, Any],
    replicate_number: int,
    arrays: Sequence[np.ndarray],
) -> dict[str, np.ndarray]:
    return _validate_draws(
        compute_replicate(store_content["seed"], replicate_number), replicate_number
    )
