"""A Dask cluster of real processes: the same numbers, and every death has an end."""

from pathlib import Path

import numpy as np
import pytest
from distributed import Client
from tests.study.clusters import Cluster, free_port
from tests.study.works import found, napping, numbers, once_begun, poisonous, run, summing

from truerisk.engines.workers import dask_cluster
from truerisk.exceptions import StudyIncomplete, UnknownName
from truerisk.study.status import compute_status
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
    with Store.open_for_reading(path) as store:
        return compute_status(store)


def suspects(path):
    """Cell and number of each, and how often its worker ended while it was alone."""
    with Store.open_for_reading(path) as store:
        return {
            (cell.content["a"], number): tries
            for cell in store.cells()
            for number, tries in store.suspect_attempts(cell).items()
        }


def test_dask_gives_the_numbers_of_one_process(tmp_path, cluster, here):
    run(tmp_path / "a.db", numbers, cluster.address, wanted=60)
    assert found(tmp_path / "a.db") == here
    with Client(cluster.address.replace("dask", "tcp"), set_as_default=False) as client:
        run(tmp_path / "b.db", numbers, client, wanted=60)
        assert client.status == "running"
    assert found(tmp_path / "b.db") == here


def test_dask_workers_get_large_arrays_read_only(tmp_path, cluster):
    large = np.ones(2_000_000)
    run(tmp_path / "runs.db", summing, cluster.address, wanted=20, arrays=[large], cells=[{"a": 1}])
    results = list(found(tmp_path / "runs.db").values())
    assert {result["sum"] for result in results} == {2e6}
    assert not any(result["writable"] for result in results)
    assert len({result["at"] for result in results}) <= 2
    assert not Path(f"{tmp_path / 'runs.db'}.data").exists()


def test_dask_survives_killed_worker_and_stops_with_killed_scheduler(tmp_path, here):
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
    assert not state(path).errors  # the results that were on their way have not failed
    assert 0 < len(kept) < 180
    assert kept.items() <= here.items()
    run(path, numbers, wanted=60)
    assert found(path) == here


def test_poison_with_a_nanny_is_quarantined(tmp_path, here):
    with Cluster(1, nanny=True) as running:
        run(tmp_path / "runs.db", poisonous, running.address, wanted=6, max_attempts=1)
    status = state(tmp_path / "runs.db")
    assert (status.done, status.quarantined) == (17, 1)
    assert status.errors[0]["number"] == 4
    assert found(tmp_path / "runs.db").items() <= here.items()


def test_poison_without_a_nanny_leaves_no_worker(tmp_path, here):
    path, guilty = tmp_path / "runs.db", (2, 4)
    with Cluster(1) as running:
        with pytest.raises(StudyIncomplete, match="has no workers for 1 s"):
            run(path, poisonous, running.address, wanted=6, patience=1.0)
        suspected = suspects(path)
        assert suspected[guilty] == 0 == max(suspected.values())  # none was alone
        running.workers.append(running.add_worker())
        running.wait(1)
        with pytest.raises(StudyIncomplete, match="has no workers for 1 s"):
            run(path, poisonous, running.address, wanted=6, patience=1.0, max_attempts=2)
    left = suspects(path)
    assert left == {task: int(task == guilty) for task in suspected if task >= guilty}
    assert state(path).done == 18 - len(left)
    run(path, numbers, wanted=60)
    assert found(path) == here


class Asynchronous:
    """A client of Dask that returns coroutines."""

    asynchronous = True

    def scatter(self, data):
        raise AssertionError


def test_dask_refuses_address_without_scheduler_and_asynchronous_client(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_cluster, "RECONNECT", 0.5)
    with pytest.raises(StudyIncomplete, match="no Dask scheduler answers at tcp://127"):
        run(tmp_path / "runs.db", numbers, f"dask://127.0.0.1:{free_port()}")
    run(tmp_path / "runs.db", numbers)
    monkeypatch.setattr(Asynchronous, "__module__", "distributed.client")
    with pytest.raises(UnknownName, match="asynchronous=False"):
        dask_cluster.Cluster(Asynchronous(), StudyIncomplete)
