"""Fits on a Dask cluster of real processes: the same numbers, and one that dies is made up for."""

import asyncio
import threading
from functools import partial

import cloudpickle
import numpy as np
import pytest
from joblib import parallel_config
from tests.engines.workers.test_crews import Mortal
from tests.study.clusters import Cluster, free_port

import truerisk as tr
from truerisk.engines.running.executors import resolve_executor, run_batches
from truerisk.engines.workers import crews, dask_cluster
from truerisk.engines.workers.crews import versions
from truerisk.exceptions import FitFailed, UnknownName

X = np.random.default_rng(0).normal(size=(20_000, 11))
Y = X[:, 1] + X[:, 2] > 0


@pytest.fixture(scope="module")
def cluster():
    """Two workers of one thread, for tests that leave them alive."""
    with Cluster(2) as running:
        yield running


def risk(executor, **options):
    return tr.estimate_risk(Mortal("never"), X, Y, cv="10-fold", n_jobs=executor, **options)


def test_cluster_finds_the_numbers_of_one_process(cluster):
    """An address, a Client or joblib's backend names the cluster; a given Client stays open."""
    here = risk(None)
    assert risk(cluster.address).losses.tolist() == here.losses.tolist()
    from distributed import Client

    with Client(cluster.address.replace("dask", "tcp"), set_as_default=False) as client:
        assert risk(client).value == here.value
        with parallel_config("dask", client=client):
            assert resolve_executor(None) is client
            assert risk(None).value == here.value
        assert client.status == "running"


def test_cluster_reports_the_fits_of_a_search_to_callbacks(cluster):
    utilities = pytest.importorskip("sklearn.callback.tests._utils")
    callback = utilities.RecordingCallback()
    search = tr.HonestSearchCV(
        Mortal("never"), {"mark": ["never"]}, cv="3-fold", n_jobs=cluster.address
    )
    search.set_callbacks(callback).fit(X, Y)
    names = [hook["context"].task_name for hook in callback.record if "kwargs" in hook]
    assert names.count("candidate-split-evaluation") == 2 * (3 + 3)


class Sent:
    """It counts how often it is sent from here."""

    times = 0

    def __reduce__(self):
        type(self).times += 1
        return float, (1.5,)


def test_cluster_is_sent_once_what_all_batches_share(cluster):
    """As often for 24 batches as for two; each of them finds it."""
    times = []
    for n_batches in (2, 24):
        Sent.times = 0
        found = dict(run_batches(cluster.address, _plus, (Sent(),), list(range(n_batches))))
        assert found == {number: number + 1.5 for number in range(n_batches)}
        times.append(Sent.times)
    assert times[0] == times[1]


def test_cluster_tells_of_a_result_that_went_with_its_holder(cluster, monkeypatch):
    """It was done, and its worker died before it was read: its batch ends, as a death does."""
    from distributed.client import Client, FutureCancelledError

    async def lost(*asked, **options):
        raise FutureCancelledError("_run_sent", "its holder died")

    crew = dask_cluster.Cluster(cluster.address, FitFailed)
    crew.send_shared_call(crews.SharedCall(_plus, (1.0,)))
    monkeypatch.setattr(Client, "_gather", lost)
    error = crew.submit(2.0).exception(timeout=20)
    assert crew.count_deaths(error) == 1
    crew.close()


def test_cluster_keeps_what_is_sent_anew_when_it_lets_go_of_the_former(cluster, monkeypatch):
    """The scheduler hears late that the former is let go; batches find the latter all the same."""
    from distributed.client import Client

    send, held = Client._send_to_scheduler, []

    def hold(client, message):
        (held.append if message["op"] == "client-releases-keys" else partial(send, client))(message)

    crew = dask_cluster.Cluster(cluster.address, FitFailed)
    crew.send_shared_call(crews.SharedCall(_plus, (1.0,)))
    assert crew.submit(2.0).result(20) == 3.0
    monkeypatch.setattr(Client, "_send_to_scheduler", hold)
    crew.replace()
    assert crew.submit(3.0).result(20) == 4.0
    monkeypatch.setattr(Client, "_send_to_scheduler", send)
    assert held
    for message in held:
        send(crew._client, message)
    assert crew.submit(4.0).result(20) == 5.0
    crew.close()


@pytest.mark.parametrize("verb", ["assess", "search", "risk"])
def test_cluster_is_sent_a_table_once_per_call(cluster, monkeypatch, verb):
    """However many learners and passes ask about it; the next call sends its own."""
    from distributed import Client

    sent, scatter = [], Client.scatter

    def weighed(self, contents, **options):
        sent.extend(len(cloudpickle.dumps(content)) for content in contents)
        return scatter(self, contents, **options)

    monkeypatch.setattr(Client, "scatter", weighed)
    grid = {"dies": [0, 1]}
    here, there = (_call(verb, grid, executor) for executor in (None, cluster.address))
    assert here == there
    assert len(sent) > 1 + (verb != "risk")  # the passes, each sent what is its own
    assert sum(size > X.nbytes for size in sent) == 1
    _call(verb, grid, cluster.address)
    assert sum(size > X.nbytes for size in sent) == 2


def _call(verb, grid, executor):
    options = {"n_jobs": executor, "random_state": 1}
    if verb == "risk":
        method = tr.methods.Nested("2-fold", "2-fold")
        return tr.estimate_risk(Mortal("never"), X, Y, cv=method, **options).value
    if verb == "search":
        search = tr.HonestSearchCV(Mortal("never"), grid, cv="2-fold", outer="3-fold")
        return search.set_params(**options).fit(X, Y).risk_.value
    learners = {"a": (Mortal("never"), grid), "b": Mortal("never")}
    found = tr.assess(learners, X, Y, cv=["2-fold"], outer="2-fold", **options)
    return [risk.value for risk in found.risks.values()]


def _plus(shared, batch):
    return shared + batch


def test_cluster_makes_up_for_a_killed_worker(monkeypatch):
    """One of two workers is killed during a run; a run that loses the other one ends soon."""
    monkeypatch.setattr("truerisk.engines.workers.listed.PATIENCE", 1.0)
    here = risk(None)
    with Cluster(2) as running:
        threading.Timer(0.6, running.workers[0].kill).start()
        assert risk(running.address).losses.tolist() == here.losses.tolist()
        assert running.workers[0].wait(10) != 0
        threading.Timer(0.5, running.workers[1].kill).start()
        with pytest.raises(
            FitFailed, match="has no workers for 1 s: start workers, or use n_jobs=None"
        ):
            list(run_batches(running.address, _nap, (), [0.2] * 30))


def test_cluster_is_sent_data_anew_where_sending_does_not_end(cluster, monkeypatch):
    """Nothing is broadcast: where a worker dies meanwhile, no later broadcast ends either."""
    from distributed import Client

    really, sent = Client.scatter, []

    def scatter(client, *args, **options):
        sent.append(options)
        return really(client, *args, **options) if len(sent) > 1 else asyncio.sleep(60)

    monkeypatch.setattr(Client, "scatter", scatter)
    monkeypatch.setattr(dask_cluster, "SEND", 0.5)
    assert risk(cluster.address).value == risk(None).value
    assert len(sent) > 1
    assert not any(options.get("broadcast") for options in sent)


def test_cluster_names_the_fits_that_end_every_worker():
    """Workers that nannies start again are not ended for ever."""
    numbered = np.column_stack([np.arange(4.0), np.arange(4) % 3])
    with (
        Cluster(1, nanny=True) as running,
        pytest.raises(FitFailed, match=r"died \(KilledWorker\) again and again over fits? \d"),
    ):
        tr.estimate_risk(
            Mortal("always", 3),
            numbered,
            np.arange(4) % 2,
            cv=[([1, 2, 3], [0])],
            n_jobs=running.address,
        )


def _nap(seconds):
    import time

    time.sleep(seconds)


def test_cluster_address_without_a_scheduler_is_refused(monkeypatch):
    """After a limited wait; and a word that is no address."""
    monkeypatch.setattr(dask_cluster, "RECONNECT", 0.5)
    with pytest.raises(FitFailed, match="no Dask scheduler answers at tcp://127"):
        risk(f"dask://127.0.0.1:{free_port()}")
    with pytest.raises(UnknownName, match="write dask://host:port"):
        risk("dask://nowhere")


def test_cluster_worker_of_other_versions_refuses(cluster, monkeypatch):
    """A number could depend on who computed it."""
    monkeypatch.setattr(crews, "versions", lambda: {**versions(), "numpy": "0.1"})
    with pytest.raises(
        FitFailed, match=r"the worker .* has numpy .* \(not 0.1\): install the same"
    ):
        risk(cluster.address)
