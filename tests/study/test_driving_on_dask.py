"""A Dask cluster of real processes: the same numbers, and every death has an end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.study.clusters import Cluster, free_port
from tests.study.works import found, napping, numbers, once_begun, poisonous, run, summing

from truerisk.core.errors import StudyIncomplete, UnknownName
from truerisk.engines.workers import dask_cluster
from truerisk.study.status import status_of
from truerisk.study.store import Store


@pytest.fixture(scope="module")
def cluster():
    """Two workers of one thread, for tests that leave them alive."""
    with Cluster(2) as running:
        yield running


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """What one process finds, undisturbed."""
    path = tmp_path_factory.mktemp("here") / "runs.db"
    run(path, numbers, wanted=60)
    return found(path)


def state(path):
    """The counts of a store."""
    with Store.read(path) as store:
        return status_of(store)


def suspects(path):
    """Cell and number of each, and how often its worker ended while it was alone."""
    with Store.read(path) as store:
        return {
            (cell.content["a"], number): tries
            for cell in store.cells()
            for number, tries in store.suspects(cell).items()
        }


def test_the_numbers_are_those_of_one_process(tmp_path, cluster, here):
    """By the address of the scheduler, and by a Client that stays open."""
    run(tmp_path / "a.db", numbers, cluster.address, wanted=60)
    assert found(tmp_path / "a.db") == here
    from distributed import Client

    with Client(cluster.address.replace("dask", "tcp"), set_as_default=False) as client:
        run(tmp_path / "b.db", numbers, client, wanted=60)
        assert client.status == "running"
    assert found(tmp_path / "b.db") == here


def test_large_arrays_travel_once_and_are_read_only(tmp_path, cluster):
    """Each worker holds the array once, whatever the number of tasks."""
    large = np.ones(2_000_000)
    run(tmp_path / "runs.db", summing, cluster.address, wanted=20, arrays=[large], cells=[{"a": 1}])
    results = list(found(tmp_path / "runs.db").values())
    assert {result["sum"] for result in results} == {2e6}
    assert not any(result["writable"] for result in results)
    assert len({result["at"] for result in results}) <= 2


def test_an_address_without_a_scheduler_is_a_sentence(tmp_path, monkeypatch):
    """After a limited wait; nothing was done, and the store can be used."""
    monkeypatch.setattr(dask_cluster, "RECONNECT", 0.5)
    with pytest.raises(StudyIncomplete, match="no Dask scheduler answers at tcp://127"):
        run(tmp_path / "runs.db", numbers, f"dask://127.0.0.1:{free_port()}")
    run(tmp_path / "runs.db", numbers)


def test_an_asynchronous_client_is_refused():
    """Its answers would be coroutines."""

    class Asynchronous:
        asynchronous = True

        def scatter(self, data):
            raise AssertionError

    Asynchronous.__module__ = "distributed.client"
    with pytest.raises(UnknownName, match="asynchronous=False"):
        dask_cluster.Cluster(Asynchronous(), StudyIncomplete)


def test_killed_workers_and_a_killed_scheduler(tmp_path, here):
    """One of two workers: nothing is lost. The scheduler: a sentence, and it goes on elsewhere."""
    with Cluster(2) as running:
        path = tmp_path / "worker.db"
        once_begun(path, running.workers[0].kill)
        run(path, napping, running.address, wanted=60)
        assert found(path) == here
        path = tmp_path / "scheduler.db"
        once_begun(path, running.scheduler.kill)
        with pytest.raises(StudyIncomplete, match=r"scheduler at .* does not answer for 1 s"):
            run(path, napping, running.address, wanted=60, patience=1.0)
    kept = found(path)
    assert 0 < len(kept) < 180
    assert kept.items() <= here.items()
    run(path, numbers, wanted=60)
    assert found(path) == here


def test_poison_with_a_nanny_is_quarantined(tmp_path, here):
    """The nanny starts new workers; the task ends quarantined, all others with their numbers."""
    with Cluster(1, nanny=True) as running:
        run(tmp_path / "runs.db", poisonous, running.address, wanted=6, attempts=1)
    status = state(tmp_path / "runs.db")
    assert (status.done, status.quarantined) == (17, 1)
    assert status.errors[0]["number"] == 4
    assert found(tmp_path / "runs.db").items() <= here.items()


def test_poison_without_a_nanny_leaves_no_worker(tmp_path, here):
    """A sentence after the patience; in the next run suspects come last and alone, in order."""
    path, guilty = tmp_path / "runs.db", (2, 4)
    with Cluster(1) as running:
        with pytest.raises(StudyIncomplete, match="has no workers for 1 s"):
            run(path, poisonous, running.address, wanted=6, patience=1.0)
        suspected = suspects(path)
        assert suspected[guilty] == 0 == max(suspected.values())  # none was alone
        running.workers.append(running.add_worker())
        running.wait(1)
        with pytest.raises(StudyIncomplete, match="has no workers for 1 s"):
            run(path, poisonous, running.address, wanted=6, patience=1.0, attempts=2)
    left = suspects(path)
    assert left == {task: int(task == guilty) for task in suspected if task >= guilty}
    assert state(path).done == 18 - len(left)
    run(path, numbers, wanted=60)
    assert found(path) == here


def test_workers_on_a_network_need_no_path_of_ours(tmp_path, cluster):
    """Arrays are scattered, not mapped from a file of the driver's machine."""
    run(tmp_path / "runs.db", summing, cluster.address, wanted=2, arrays=[np.ones(10)])
    assert not Path(f"{tmp_path / 'runs.db'}.data").exists()
