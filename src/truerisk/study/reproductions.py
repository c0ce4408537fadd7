"""Replicates of a published experiment in a store: read if stored, otherwise computed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import StudyIncomplete, UnknownName
from truerisk.study.driving import run_cells
from truerisk.study.queue import StudyRunOptions
from truerisk.study.schema import State
from truerisk.study.store import Store
from truerisk.study.tasks import ReplicateFunction
from truerisk.study.values import hash_plain_value
from truerisk.study.versions import initialise_store

STORE_KIND = "reproduction"  # The store records this kind of its contents.


def load_or_run_replicates(
    work: ReplicateFunction,
    experiment_name: str,
    source: str,
    n_replicates: int,
    seed: int,
    *,
    progress_unit: str,
    executor: Any,
    path: Path,
    resume: bool = False,
    mixed_versions: bool = False,
) -> list[Mapping[str, np.ndarray]]:
    """Return the results of the first `n_replicates` replicates of a published experiment.

    Stored replicates are read, which is allowed only with `resume=True`. All other replicates are
    computed. If the `source` code of the experiment has changed, stored replicates do not count.
    """
    cell_content = {"experiment": experiment_name, "source": hash_plain_value(source), "seed": seed}
    with Store.open_for_writing(path) as store:
        initialise_store(store, STORE_KIND, {"name": path.name}, mixed_versions=mixed_versions)
        (cell,) = store.request_replicates([cell_content], n_replicates)
        n_stored = len(store.ended_numbers(cell))
        if n_stored and not resume:
            raise UnknownName(
                f"{path} holds {n_stored} of {n_replicates} replicates of {experiment_name}: add "
                f"{mention('resume', True)} to go on with them, or name another file."
            )
        # Failed replicates are repeated, as the code may have been corrected.
        store.delete_outcomes([State.FAILED])
        run_cells(store, [cell], work, executor, rules=StudyRunOptions(progress_unit=progress_unit))
        errors = store.errors(cell)
        if errors:
            replicate_number, state, _, error = errors[0]
            last_error_line = error.strip().splitlines()[-1]
            raise StudyIncomplete(
                f"{len(errors)} of {cell.n_wanted} replicates of {experiment_name} have no result "
                f"(replicate {replicate_number} {state.name.lower()}: {last_error_line}); "
                f"{store.path} "
                "keeps the others."
            )
        return [replicate_results for *_, replicate_results in store.results(cell)]
