"""Replicates of an experiment in a store: stored ones are read, missing ones are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import StudyIncomplete, UnknownName
from truerisk.study.driving import drive
from truerisk.study.queue import Rules
from truerisk.study.schema import State
from truerisk.study.store import Store
from truerisk.study.tasks import Work
from truerisk.study.values import key_of
from truerisk.study.versions import begin

KIND = "reproduction"  # kind of store, as written in its file


def stored_replicates(
    work: Work,
    name: str,
    source: str,
    replicates: int,
    seed: int,
    *,
    unit: str,
    executor: Any,
    path: Path,
    resume: bool = False,
    mixed_versions: bool = False,
) -> list[Mapping[str, np.ndarray]]:
    """Return what replicates 0 … replicates − 1 of the experiment `name` found.

    Those that the store holds are read, if `resume` says that they may be; the others are drawn. A
    change of the `source` of the experiment makes its replicates new ones.
    """
    content = {"experiment": name, "source": key_of(source), "seed": seed}
    with Store.write(path) as store:
        begin(store, KIND, {"name": path.name}, mixed_versions=mixed_versions)
        (cell,) = store.want([content], replicates)
        held = len(store.ended(cell))
        if held and not resume:
            raise UnknownName(
                f"{path} holds {held} of {replicates} replicates of {name}: add "
                f"{mention('resume', True)} to go on with them, or name another file."
            )
        store.forget([State.FAILED])  # Experiments that failed may have been corrected since.
        drive(store, [cell], work, executor, rules=Rules(unit=unit))
        errors = store.errors(cell)
        if errors:
            number, state, _, error = errors[0]
            last = error.strip().splitlines()[-1]
            raise StudyIncomplete(
                f"{len(errors)} of {cell.wanted} replicates of {name} have no result "
                f"(replicate {number} {state.name.lower()}: {last}); {store.path} keeps the others."
            )
        return [draws for *_, draws in store.results(cell)]
