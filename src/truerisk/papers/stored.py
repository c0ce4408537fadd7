"""Replicates of an experiment in a store: an interrupted run goes on, on one machine or many."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.errors import StudyIncomplete, UnknownName
from truerisk.papers.experiment import Draws, Experiment
from truerisk.study.driving import Rules, drive
from truerisk.study.keys import key_of
from truerisk.study.states import State
from truerisk.study.store import Cell, Store
from truerisk.study.versions import begin

__all__ = ["stored_replicates"]

KIND = "reproduction"


def stored_replicates(
    experiment: Experiment,
    replicates: int,
    seed: int,
    executor: Any,
    path: Path,
    *,
    resume: bool = False,
) -> Draws:
    """Replicates 0 … replicates − 1, along the first axis of every quantity.

    Those that the store holds are read, if `resume` says that they may be; the others are drawn.
    A change of the experiment's file makes its replicates new ones.
    """
    with Store.write(path) as store:
        begin(store, KIND, {"name": path.name})
        (cell,) = store.want([_content(experiment, seed)], replicates)
        held = len(store.ended(cell))
        if held and not resume:
            raise UnknownName(
                f"{path} holds {held} of {replicates} replicates of {experiment.word}: add "
                "--resume (in Python resume=True) to go on with them, or name another file."
            )
        store.forget([State.FAILED])  # what was mended since may work now
        rules = Rules(unit=experiment.unit)
        drive(store, [cell], partial(_draw, experiment), executor, rules=rules)
        _refuse_gaps(store, cell, experiment)
        drawn = [content for *_, content in store.results(cell)]
    return {name: np.stack([draw[name] for draw in drawn]) for name in drawn[0]}


def _content(experiment: Experiment, seed: int) -> dict[str, Any]:
    """What determines the replicates: the experiment, the file it stands in, the seed."""
    source = inspect.getsource(inspect.getmodule(type(experiment)) or type(experiment))
    return {"experiment": experiment.word, "source": key_of(source), "seed": seed}


def _draw(
    experiment: Experiment, content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]
) -> dict[str, np.ndarray]:
    found = experiment.replicate(content["seed"], number)
    return {name: np.asarray(value) for name, value in found.items()}


def _refuse_gaps(store: Store, cell: Cell, experiment: Experiment) -> None:
    errors = store.errors(cell)
    if errors:
        number, state, _, error = errors[0]
        last = error.strip().splitlines()[-1]
        raise StudyIncomplete(
            f"{len(errors)} of {cell.wanted} replicates of {experiment.word} have no result "
            f"(replicate {number} {state.name.lower()}: {last}); {store.path} keeps the others."
        )
