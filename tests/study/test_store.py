"""The store: what is written is there, what is no store is refused, nothing is lost."""

import io
import os
import random
import re
import sqlite3
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from tests.study.works import found, numbers, run

import truerisk as tr
from truerisk.exceptions import BadStore, StudyIncomplete
from truerisk.extend import TrueRiskError
from truerisk.study import driving, schema
from truerisk.study.results import collect_results, export_rows, iterate_result_rows
from truerisk.study.schema import State, TaskOutcome
from truerisk.study.status import compute_status
from truerisk.study.store import Store
from truerisk.study.values import pack_result

CELL = {"n": 30, "method": "loo"}


def fate(cell, number, state=State.DONE, **more):
    """A task that ended, with a small result where it is done."""
    packed = pack_result({"x": np.arange(3.0), "number": number})
    if state is State.DONE:
        more |= {"text": packed.text, "npy": packed.npy, "seconds": 0.5}
    return TaskOutcome(cell.id, number, state, **more)


def test_store_reads_what_was_saved(tmp_path):
    with Store.open_for_writing(tmp_path / "runs.db") as store:
        store.note({"name": "mine", "kind": "test"})
        (cell,) = store.request_replicates([CELL], 4)
        store.begin_run(2, {"numpy": "1"})
        store.save([fate(cell, 2), fate(cell, 0)], running=1)
    with Store.open_for_reading(tmp_path / "runs.db") as store:
        assert store.read_note("name") == "mine"
        assert store.read_note("other") is None
        (cell,) = store.cells()
        assert cell.content == CELL
        got = list(store.results(cell))
        assert [(number, seconds, c["number"]) for number, seconds, _, c in got] == [
            (0, 0.5, 0),
            (2, 0.5, 2),
        ]
        np.testing.assert_array_equal(got[0][3]["x"], np.arange(3.0))
        (run_,) = store.runs()
        assert (run_.workers, run_.running, run_.ended) == (2, 1, None)


def test_store_counts_states_and_forgets_failures(tmp_path):
    with Store.open_for_writing(tmp_path / "runs.db") as store:
        (cell,) = store.request_replicates([CELL], 9)
        fates = [fate(cell, i, state, error="e") for i, state in enumerate(list(State)[1:])]
        for _ in range(2):  # a result is kept once
            store.save([*fates, fate(cell, 7)])
        tally = store.count_tasks(cell)
        assert (tally.done, tally.failed, tally.quarantined, tally.suspected) == (1, 1, 1, 1)
        assert store.ended_numbers(cell).tolist() == [0, 1, 7]
        assert store.suspect_attempts(cell) == {2: 1}
        assert [(n, state) for n, state, _, _ in store.errors(cell)][:2] == [
            (0, State.FAILED),
            (1, State.QUARANTINED),
        ]
        assert store.delete_outcomes([State.FAILED]) == 1
        assert store.ended_numbers(cell).tolist() == [1, 7]


def test_store_finds_cells_by_content(tmp_path):
    with Store.open_for_writing(tmp_path / "runs.db") as store:
        first = store.request_replicates([CELL, {"n": 50}], 3)
        again = store.request_replicates([{"method": "loo", "n": 30}], 8, drops_others=True)
        assert again[0].id == first[0].id
        assert [(cell.id, cell.n_wanted) for cell in store.cells()] == [(first[0].id, 8)]
        assert len(store.cells(every=True)) == 2
        store.save([fate(first[0], 1), fate(first[0], 7)])
        (fewer,) = store.request_replicates([CELL], 5, drops_others=True)
        assert store.count_tasks(fewer).done == 1
        assert [number for number, *_ in store.results(fewer)] == [1]


def test_store_of_older_version_is_brought_forward(tmp_path, monkeypatch):
    path = tmp_path / "runs.db"
    run(path, numbers, wanted=2)
    before = found(path)
    now = schema.STORE_VERSION
    monkeypatch.setattr(schema, "STORE_VERSION", now + 2)
    steps = {
        now: "ALTER TABLE run ADD COLUMN a TEXT;",
        now + 1: "ALTER TABLE run ADD COLUMN b TEXT;",
    }
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    with pytest.raises(BadStore, match="study resume"):
        Store.open_for_reading(path)
    Store.open_for_writing(path).close()
    assert found(path) == before
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (now + 2,)
    connection.execute("SELECT a, b FROM run")
    connection.close()


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_store_unpickles_nothing(tmp_path):
    path = tmp_path / "runs.db"
    run(path, numbers, wanted=1)
    stream = io.BytesIO()
    trap = np.array([Trap(tmp_path / "sprung")], dtype=object)
    np.lib.format.write_array(stream, trap, allow_pickle=True)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE result SET npy = ?", (stream.getvalue(),))
    connection.commit()
    connection.close()
    with pytest.raises(BadStore, match="cannot be read"):
        found(path)
    assert not (tmp_path / "sprung").exists()


def test_store_on_full_disk_stops_and_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "runs.db"
    connect = sqlite3.connect

    def small(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    with monkeypatch.context() as context:
        context.setattr(sqlite3, "connect", small)
        context.setattr(driving, "COMMIT_SIZE", 50)  # by number, whatever the clock says
        context.setattr(driving, "MIN_COMMIT_SECONDS", 3600)
        with pytest.raises(StudyIncomplete, match=r"cannot grow: the disk is full.*study resume"):
            run(path, numbers, wanted=600)
    kept = found(path)
    assert kept
    run(path, numbers, wanted=600)
    everything = found(path)
    assert len(everything) == 1800
    assert kept.items() <= everything.items()


@pytest.fixture(scope="module")
def sixty(tmp_path_factory):
    """The bytes of a store of several pages."""
    path = tmp_path_factory.mktemp("sixty") / "runs.db"
    run(path, numbers, wanted=60)
    return path.read_bytes()


def of_version(version):
    """A change of the bytes of a store: another version stands in its header."""
    return lambda content: content[:60] + version.to_bytes(4, "big", signed=True) + content[64:]


def of_something_else(_):
    """Return the bytes of an SQLite database that holds a table of another program."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE mine (x)")
    content = connection.serialize()
    connection.close()
    return content


SPOILED = [
    (of_something_else, "an SQLite file of something else"),
    (lambda _: None, "is a pipe or a device: a store is a file"),
    (lambda _: b"a,b\n1,2\n" * 50, "it is no SQLite file"),
    (lambda content: content[:50], "is cut off after 50 bytes"),
    *(
        (lambda content, pages=pages: content[: 4096 * pages], "is cut off or broken")
        for pages in (1, 3, -1)
    ),
    (of_version(schema.STORE_VERSION + 1), "written by a newer truerisk"),
    (of_version(0), "is damaged: its store version is 0; restore it"),
    (of_version(-1), "is damaged: its store version is -1; restore it"),
    (
        of_version(1),
        "written by truerisk 0.1 .store version 1; this truerisk reads version 2.: run .* anew in",
    ),
]


@pytest.mark.parametrize("open_", [Store.open_for_reading, Store.open_for_writing])
@pytest.mark.parametrize(("change", "message"), SPOILED, ids=range(len(SPOILED)))
def test_store_that_is_none_or_spoiled_is_refused_and_stays_as_it_is(
    tmp_path, sixty, open_, change, message
):
    path = tmp_path / "runs.db"
    content = change(sixty)
    if content is None:
        os.mkfifo(path)
    else:
        path.write_bytes(content)
    with pytest.raises(BadStore, match=message):
        open_(path)
    assert path.is_fifo() if content is None else path.read_bytes() == content
    assert not list(tmp_path.glob("*.lock"))


def test_store_that_is_missing_empty_or_scrambled_cannot_be_read(tmp_path, sixty):
    path = tmp_path / "runs.db"
    with pytest.raises(BadStore, match="there is no such store"):
        Store.open_for_reading(path)
    assert not list(tmp_path.iterdir())
    path.write_bytes(sixty[:4096] + b"\xff" * (len(sixty) - 4096))
    with pytest.raises(BadStore, match="is cut off or broken"):
        found(path)
    path.write_bytes(b"")
    with pytest.raises(BadStore, match="is empty"):
        Store.open_for_reading(path)
    run(path, numbers, wanted=1)
    assert len(found(path)) == 3


SPEC = {
    "replicates": 2,
    "sizes": [30],
    "problems": ["simple"],
    "learners": [{"word": "knn", "set": {"n_neighbors": 3}}],
    "methods": ["5-fold", "loo"],
    "n_test": 100,
}
READ = {
    "status": lambda store, _: compute_status(store).to_dict(),
    "results": lambda store, _: str(collect_results(store)),
    "export": lambda store, folder: export_rows(
        iterate_result_rows(store), folder / "a.csv", "csv"
    ),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a store, and where text stands in it."""
    path = tmp_path_factory.mktemp("sound") / "a.db"
    tr.Study(SPEC, path).run()
    content = path.read_bytes()
    texts = [m.span() for m in re.finditer(rb"[\x20-\x7e]{6,}", content)]
    return content, [place for start, end in texts for place in range(start, end)]


@pytest.mark.parametrize("seed", range(25))
def test_store_with_flipped_bit_gives_no_traceback(sound, tmp_path, seed):
    content, places = sound
    draw = random.Random(seed)
    spoiled = bytearray(content)
    spoiled[draw.choice(places)] ^= 1 << draw.randrange(8)
    path = tmp_path / "a.db"
    path.write_bytes(spoiled)

    def begin():
        tr.Study(SPEC, path).run()

    def look(read):
        with Store.open_for_reading(path) as store:
            read(store, tmp_path)

    for call in (*(partial(look, read) for read in READ.values()), begin):
        with suppress(TrueRiskError):
            call()


@pytest.mark.parametrize("table", ["cell", "run", "result"])
def test_store_names_what_was_changed(sound, tmp_path, table):
    old, new = {
        "cell": (b'"size":30', b'"size":31'),
        "run": (b'{"truerisk"', b'["truerisk"'),
        "result": (b'"value": ', b'"valve": '),
    }[table]
    assert old in sound[0]
    path = tmp_path / "a.db"
    path.write_bytes(sound[0].replace(old, new))
    with Store.open_for_reading(path) as store, pytest.raises(TrueRiskError, match="changed"):
        READ["status" if table != "result" else "export"](store, tmp_path)
