"""Limits are kept: a task that takes too long or too much fails, and the others do not notice."""

from __future__ import annotations

import pytest
from tests.study.works import found, greedy, numbers, run

from truerisk.study.schema import State
from truerisk.study.store import Store
from truerisk.study.tasks import Limits

LIMITS = Limits(seconds=1.5, megabytes=600)


@pytest.mark.parametrize("executor", [None, 1], ids=["here", "worker"])
def test_limits_on_time_and_memory(tmp_path, executor):
    """Too much memory, too long, a crash: each with its reason; the rest as without limits."""
    path = tmp_path / "runs.db"
    run(path, greedy, executor, wanted=5, cells=[{"a": 1}], limits=LIMITS)
    with Store.read(path) as store:
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
