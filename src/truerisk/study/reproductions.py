"""Replicates of a published experiment in a store: read if stored, otherwise computed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import StudyIncomplete, UnknownName
from truerisk.study.driving import run_cells
from truerisk.study.queue import Rules
from truerisk.study.schema import State
from truerisk.study.store import Store
from truerisk.study.tasks import Work
from truerisk.study.values import key_of
from truerisk.study.versions import begin

KIND = "reproduction"  # The store records this kind of its contents.


def stored_replicates(
    work: Work,
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
    cell_content = {"experiment": experiment_name, "source": key_of(source), "seed": seed}
    with Store.write(path) as store:
        begin(store, KIND, {"name": path.name}, mixed_versions=mixed_versions)
        (cell,) = store.request_replicates([cell_content], n_replicates)
        n_stored = len(store.ended_numbers(cell))
        if n_stored and not resume:
            raise UnknownName(
                f"{path} holds {n_stored} of {n_replicates} replicates of {experiment_name}: add "
                f"{mention('resume', True)} to go on with them, or name another file."
            )
        # Failed replicates are repeated, as the code may have been corrected.
        store.delete_outcomes([State.FAILED])
        run_cells(store, [cell], work, executor, rules=Rules(unit=progress_unit))
        errors = store.errors(cell)
        if errors:
            replicate_number, state, _, error = errors[0]
            last_line = error.strip().splitlines()[-1]
            raise StudyIncomplete(
                f"{len(errors)} of {cell.n_wanted} replicates of {experiment_name} have no result "
                f"(replicate {replicate_number} {state.name.lower()}: {last_line}); {store.path} "
                "keeps the others."
            )
        return [draws for *_, draws in store.results(cell)]
