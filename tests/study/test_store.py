"""The store: what is written is there, what is no store is refused, a full disk loses nothing."""

from __future__ import annotations

import io
import os
import sqlite3

import numpy as np
import pytest
from tests.study.works import found, numbers, run

from truerisk.core.errors import BadStore, StudyIncomplete
from truerisk.study import driving, schema
from truerisk.study.schema import Fate, State
from truerisk.study.store import Store
from truerisk.study.values import pack

CELL = {"n": 30, "method": "loo"}


def fate(cell, number, state=State.DONE, **more):
    """A task that ended, with a small result where it is done."""
    packed = pack({"x": np.arange(3.0), "number": number})
    if state is State.DONE:
        more |= {"text": packed.text, "npy": packed.npy, "seconds": 0.5}
    return Fate(cell.id, number, state, **more)


def broken(path, change):
    """The bytes of a store, changed."""
    content = bytearray(path.read_bytes())
    path.write_bytes(change(content))


def mark_as_version(path, version):
    """Write this version into the header of a store, and return the bytes of the file."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    return path.read_bytes()


def test_what_is_saved_is_read(tmp_path):
    """Results come back by number, with their seconds; the study's texts, too."""
    with Store.write(tmp_path / "runs.db") as store:
        store.note({"name": "mine", "kind": "test"})
        (cell,) = store.want([CELL], 4)
        store.begin(2, {"numpy": "1"})
        store.save([fate(cell, 2), fate(cell, 0)], running=1)
    with Store.read(tmp_path / "runs.db") as store:
        assert store.noted("name") == "mine"
        assert store.noted("other") is None
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


def test_a_result_is_kept_once(tmp_path):
    """Saved again, as after an interruption, it replaces itself."""
    with Store.write(tmp_path / "runs.db") as store:
        (cell,) = store.want([CELL], 4)
        for _ in range(2):
            store.save([fate(cell, 1)])
        assert store.tally(cell).done == 1
        assert store.ended(cell).tolist() == [1]


def test_states_are_counted_and_forgotten(tmp_path):
    """Failed and quarantined tasks need no trial until they are forgotten; suspects do."""
    with Store.write(tmp_path / "runs.db") as store:
        (cell,) = store.want([CELL], 9)
        fates = [fate(cell, i, state, error="e") for i, state in enumerate(list(State)[1:])]
        store.save([*fates, fate(cell, 7)])
        tally = store.tally(cell)
        assert (tally.done, tally.failed, tally.quarantined, tally.suspect) == (1, 1, 1, 1)
        assert store.ended(cell).tolist() == [0, 1, 7]
        assert store.suspects(cell) == {2: 1}
        assert [(n, state) for n, state, _, _ in store.errors(cell)][:2] == [
            (0, State.FAILED),
            (1, State.QUARANTINED),
        ]
        assert store.forget([State.FAILED]) == 1
        assert store.ended(cell).tolist() == [1, 7]


def test_cells_are_found_by_content(tmp_path):
    """Wanted again with other numbers a cell stays itself; `only` leaves others out."""
    with Store.write(tmp_path / "runs.db") as store:
        first = store.want([CELL, {"n": 50}], 3)
        again = store.want([{"method": "loo", "n": 30}], 8, only=True)
        assert again[0].id == first[0].id
        assert [(cell.id, cell.wanted) for cell in store.cells()] == [(first[0].id, 8)]
        assert len(store.cells(every=True)) == 2


def test_fewer_replicates_are_wanted(tmp_path):
    """Results beyond the wanted number stay in the file and are not counted."""
    with Store.write(tmp_path / "runs.db") as store:
        (cell,) = store.want([CELL], 9)
        store.save([fate(cell, 1), fate(cell, 8)])
        (cell,) = store.want([CELL], 5)
        assert store.tally(cell).done == 1
        assert [number for number, *_ in store.results(cell)] == [1]


# ---------------------------------------------------------------- what is no store


def test_what_is_not_there_is_not_read(tmp_path):
    """Reading makes no file."""
    with pytest.raises(BadStore, match="there is no such store"):
        Store.read(tmp_path / "runs.db")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("open_", [Store.read, Store.write])
def test_foreign_files_are_refused(tmp_path, open_):
    """Text, the database of another program, and a file that ends inside its header."""
    text = tmp_path / "a.csv"
    text.write_text("a,b\n1,2\n" * 50)
    with pytest.raises(BadStore, match="it is no SQLite file"):
        open_(text)
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(BadStore, match="an SQLite file of something else"):
        open_(other)
    other.write_bytes(other.read_bytes()[:50])
    with pytest.raises(BadStore, match="is cut off after 50 bytes"):
        open_(other)
    assert not list(tmp_path.glob("*.lock"))


@pytest.mark.parametrize("open_", [Store.read, Store.write])
@pytest.mark.parametrize("pages", [1, 3, -1])
def test_a_truncated_store_is_refused(tmp_path, open_, pages):
    """Wherever it was cut, also where all that is looked at first is still there."""
    path = tmp_path / "runs.db"
    run(path, numbers, wanted=60)
    broken(path, lambda content: content[: 4096 * pages])
    with pytest.raises(BadStore, match="is cut off or broken"):
        open_(path)


def test_a_store_of_scrambled_pages_is_refused(tmp_path):
    """Not every damage is seen when the file is opened; none gives results."""
    path = tmp_path / "runs.db"
    run(path, numbers, wanted=60)
    broken(path, lambda content: content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(BadStore, match="is cut off or broken"):
        found(path)


def test_an_empty_file_becomes_a_store(tmp_path):
    """As SQLite itself begins; to read it is too early."""
    path = tmp_path / "runs.db"
    path.touch()
    with pytest.raises(BadStore, match="is empty"):
        Store.read(path)
    run(path, numbers, wanted=1)
    assert len(found(path)) == 3


def test_a_newer_store_is_refused(tmp_path):
    """It says so, and stays as it is."""
    path = tmp_path / "runs.db"
    run(path, numbers, wanted=1)
    mark_as_version(path, schema.VERSION + 1)
    for open_ in (Store.read, Store.write):
        with pytest.raises(BadStore, match="written by a newer truerisk"):
            open_(path)


@pytest.mark.parametrize("opened", [Store.read, Store.write])
def test_store_of_version_1_is_refused_and_stays_as_it_is(tmp_path, opened):
    """The sentence says which truerisk wrote it and what to do."""
    path = tmp_path / "runs.db"
    run(path, numbers, wanted=1)
    before = mark_as_version(path, 1)
    with pytest.raises(BadStore) as refused:
        opened(path)
    assert str(refused.value) == (
        f"{path} was written by truerisk 0.1 (store version 1; this truerisk reads version 2): run "
        "the study, assessment or search anew in another store, or use truerisk 0.1 to read this "
        "one."
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, -1])
@pytest.mark.parametrize("opened", [Store.read, Store.write])
def test_store_of_an_impossible_version_is_refused(tmp_path, opened, version):
    """No truerisk wrote such a store."""
    path = tmp_path / "runs.db"
    run(path, numbers, wanted=1)
    mark_as_version(path, version)
    with pytest.raises(BadStore, match=f"is damaged: its store version is {version}; restore it"):
        opened(path)


def test_an_older_store_is_brought_forward(tmp_path, monkeypatch):
    """Step by step, when it is opened to write; a reader says how."""
    path = tmp_path / "runs.db"
    run(path, numbers, wanted=2)
    before = found(path)
    now = schema.VERSION
    monkeypatch.setattr(schema, "VERSION", now + 2)
    steps = {
        now: "ALTER TABLE run ADD COLUMN a TEXT;",
        now + 1: "ALTER TABLE run ADD COLUMN b TEXT;",
    }
    monkeypatch.setattr(schema, "STEPS", steps)
    with pytest.raises(BadStore, match="study resume"):
        Store.read(path)
    Store.write(path).close()
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


def test_nothing_is_unpickled(tmp_path):
    """An array of objects, as NumPy would read it if it were allowed to, is a broken store."""
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


# ---------------------------------------------------------------- a full disk


def test_a_full_disk_is_a_sentence_and_loses_nothing(tmp_path, monkeypatch):
    """The results that were acknowledged stay; with room again the study ends."""
    path = tmp_path / "runs.db"
    connect = sqlite3.connect

    def small(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    with monkeypatch.context() as context:
        context.setattr(sqlite3, "connect", small)
        context.setattr(driving, "COMMIT_SIZE", 50)  # by number, whatever the clock says
        context.setattr(driving, "COMMIT_EVERY", 3600)
        with pytest.raises(StudyIncomplete, match=r"cannot grow: the disk is full.*study resume"):
            run(path, numbers, wanted=600)
    kept = found(path)
    assert kept
    run(path, numbers, wanted=600)
    everything = found(path)
    assert len(everything) == 1800
    assert kept.items() <= everything.items()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("opened", [Store.read, Store.write])
def test_a_pipe_is_no_store(tmp_path, opened):
    """Opening it to read would wait for a writer without end."""
    os.mkfifo(tmp_path / "runs.db")
    with pytest.raises(BadStore, match="is a pipe or a device: a store is a file"):
        opened(tmp_path / "runs.db")
