"""Limits are kept: a task that takes too long or too much fails, and the others do not notice."""

from __future__ import annotations

import pytest
from tests.study.works import found, greedy, numbers, run

from truerisk.study import limits
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


STALLED = """
import os, time
from truerisk.study.limits import SIZE
from multiprocessing.connection import Connection
tasks = Connection(os.dup(0), writable=False)
tasks.recv()
content = __import__("pickle").dumps("ready")
os.write(1, len(content).to_bytes(SIZE, "big") + content)
tasks.recv()
os.write(1, (100).to_bytes(SIZE, "big") + b"half")
time.sleep(30)
"""


def test_an_answer_that_stops_amid_its_bytes_is_over_at_the_limit(tmp_path, monkeypatch):
    """The limit held for the first byte alone; the rest was waited for without an end."""
    monkeypatch.setattr(limits, "CODE", STALLED)
    path = tmp_path / "runs.db"
    run(path, numbers, None, wanted=1, cells=[{"a": 1}], limits=Limits(seconds=1.5))
    with Store.read(path) as store:
        (cell,) = store.cells()
        errors = store.errors(cell)
    assert [error for *_, error in errors] == ["it took longer than its limit of 1.5 s."]
