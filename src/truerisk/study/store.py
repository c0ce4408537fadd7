"""The store of a study: one SQLite file with one writer and readers at any time.

Every transaction is written to disk before its results are acknowledged (`journal_mode=TRUNCATE`,
`synchronous=FULL`), so that a run that is killed at any moment loses none of them.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from truerisk.core.errors import BadStore, StudyIncomplete
from truerisk.core.frozen import frozen
from truerisk.study.lock import Lock
from truerisk.study.schema import NUMBERS, Fate, State, create, examine, is_empty, migrate
from truerisk.study.values import canonical, hash_of, key_of, unpack

PATIENCE = 30.0  # seconds to wait for a reader that locks the file
RUN = ("started", "seen", "ended", "pid", "host", "workers", "running", "versions")
CACHE = -64_000  # size of the page cache in kibibytes, negative as SQLite requires


@frozen(eq=False)
class Cell:
    """Replicates that differ only by their number; `content` is everything that determines them."""

    id: int
    key: str
    content: Mapping[str, Any]
    wanted: int


@frozen
class Tally:
    """The number of tasks of a cell by state, and the seconds of the finished ones."""

    done: int
    failed: int
    quarantined: int
    doubtful: int
    seconds: float


@frozen
class DriverRun:
    """One run of a study; `ended` is None while it lasts and after a crash."""

    started: float
    seen: float
    ended: float | None
    pid: int
    host: str
    workers: int
    running: int
    versions: Mapping[str, str]


class Store:
    """An open store. Use `Store.write(path)` or `Store.read(path)` in a `with` statement."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: Lock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._run = 0

    @classmethod
    def write(cls, path: str | os.PathLike[str]) -> Store:
        """Open a store for writing, and create it if needed; only one process can write."""
        place = Path(path)
        lock = Lock(place).take()
        try:
            if place.exists():
                examine(place)
            connection = _connect(place)
            try:
                with _worded(place):
                    if is_empty(connection):
                        create(connection)
                    migrate(connection, place, write=True)
                    connection.execute("PRAGMA journal_mode = TRUNCATE").fetchone()
                    connection.execute("PRAGMA synchronous = FULL")
            except BaseException:
                connection.close()
                raise
        except BaseException:
            lock.free()
            raise
        return cls(place, connection, lock)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Store:
        """Open a store for reading, also while a run writes."""
        place = Path(path)
        if not place.exists():
            raise BadStore(f"{place}: there is no such store. `truerisk study run` makes one.")
        examine(place)
        connection = _connect(place)
        try:
            with _worded(place):
                if is_empty(connection):
                    raise BadStore(f"{place} is empty: no study was begun in it.")
                migrate(connection, place, write=False)
                connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return cls(place, connection, None)

    def close(self) -> None:
        """Close the file and release the lock."""
        if self._lock is not None:  # The empty journal is removed too, unless there is a reader.
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        self._connection.close()
        if self._lock is not None:
            self._lock.free()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------ what the study is

    def note(self, texts: Mapping[str, str]) -> None:
        """Store texts about the study: its kind, its name, its specification."""
        with self._writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO study VALUES (?, ?)", texts.items())

    def noted(self, name: str) -> str | None:
        """Return the text stored by `note`."""
        values = self._all("SELECT value FROM study WHERE name = ?", (name,))
        if values and not isinstance(values[0][0], str):
            raise _changed(self.path, name)
        return values[0][0] if values else None

    def want(
        self, cells: Iterable[Mapping[str, Any]], wanted: int, *, only: bool = False
    ) -> list[Cell]:
        """Return the cells with these contents, created if new, with `wanted` replicates each.

        With `only` no other cell is wanted any more; its results are kept.
        """
        contents = list(cells)
        keys = [key_of(content) for content in contents]
        rows = [(key, wanted, canonical(c)) for key, c in zip(keys, contents, strict=True)]
        with self._writing() as connection:
            if only:
                connection.execute("UPDATE cell SET wanted = 0")
            connection.executemany(
                "INSERT INTO cell (key, wanted, content) VALUES (?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET wanted = excluded.wanted",
                rows,
            )
        ids = {cell.key: cell for cell in self.cells(every=True)}
        return [ids[key] for key in keys]

    def cells(self, *, every: bool = False) -> list[Cell]:
        """Return the wanted cells in the order of their creation; `every` adds the others."""
        rows = self._all("SELECT id, key, content, wanted FROM cell ORDER BY id")
        for _, key, text, _ in rows:
            if not isinstance(text, str) or hash_of(text) != key:
                raise _changed(self.path, "what a cell is")
        return [Cell(i, k, json.loads(c), w) for i, k, c, w in rows if every or w > 0]

    # ------------------------------------------------------------ what became of tasks

    def ended(self, cell: Cell) -> np.ndarray:
        """Return the numbers of tasks that need no further attempt: done, failed or quarantined."""
        return self._numbers(cell, "state <> ?", State.SUSPECT)

    def suspects(self, cell: Cell) -> dict[int, int]:
        """Return the numbers of tasks whose worker ended, and how often each was run alone."""
        rows = self._all(
            "SELECT id, attempts FROM task WHERE id >= ? AND id < ? AND state = ?",
            (*_range(cell), State.SUSPECT),
        )
        return {task % NUMBERS: attempts for task, attempts in rows}

    def tally(self, cell: Cell) -> Tally:
        """Count the states of a cell's tasks."""
        columns = ", ".join(f"TOTAL(state = {int(state)})" for state in State)
        seconds = f"TOTAL(CASE WHEN state = {int(State.DONE)} THEN seconds END)"
        ((*counts, spent),) = self._all(
            f"SELECT {columns}, {seconds} FROM task WHERE id >= ? AND id < ?", _range(cell)
        )
        done, failed, quarantined, doubtful = (int(count) for count in counts)
        return Tally(done, failed, quarantined, doubtful, float(spent))

    def save(self, fates: Sequence[Fate], *, running: int = 0) -> None:
        """Write outcomes in one transaction; the results are on disk when it returns."""
        tasks = [(f.task, f.state, f.attempts, f.seconds, self._run, f.error) for f in fates]
        results = [(f.task, f.text, f.npy, f.cost) for f in fates if f.text is not None]
        with self._writing(len(results)) as connection:
            connection.executemany("INSERT OR REPLACE INTO task VALUES (?, ?, ?, ?, ?, ?)", tasks)
            connection.executemany("INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?)", results)
            connection.execute(
                "UPDATE run SET seen = ?, running = ? WHERE id = ?",
                (time.time(), running, self._run),
            )

    def forget(
        self, states: Sequence[State] = (State.FAILED, State.QUARANTINED, State.SUSPECT)
    ) -> int:
        """Reset tasks in these states to untried, and return their number."""
        marks = ", ".join("?" * len(states))
        with self._writing() as connection:
            done = connection.execute(f"DELETE FROM task WHERE state IN ({marks})", states)
            return done.rowcount

    def results(self, cell: Cell) -> Iterator[tuple[int, float, float | None, dict[str, Any]]]:
        """Yield (number, seconds, cost, content) of every wanted result of a cell, by number."""
        with _worded(self.path):
            rows = self._connection.execute(
                "SELECT id, seconds, cost, content, npy FROM task "
                "JOIN result ON task.id = result.task "
                "WHERE id >= ? AND id < ? AND state = ? ORDER BY id",
                (*_range(cell), State.DONE),
            )
            for task, seconds, cost, text, npy in rows:
                yield task % NUMBERS, seconds, cost, unpack(text, npy)

    def errors(self, cell: Cell) -> list[tuple[int, State, int, str]]:
        """Return (number, state, attempts, error) of every task of a cell without a result."""
        rows = self._all(
            "SELECT id, state, attempts, error FROM task WHERE id >= ? AND id < ? AND state <> ? "
            "ORDER BY id",
            (*_range(cell), State.DONE),
        )
        return [(i % NUMBERS, State(state), tries, error or "") for i, state, tries, error in rows]

    # ------------------------------------------------------------ runs

    def begin(self, workers: int, versions: Mapping[str, str]) -> None:
        """Record the start of a run, to which all following results belong."""
        now = time.time()
        row = (now, now, os.getpid(), socket.gethostname(), workers, 0, json.dumps(dict(versions)))
        with self._writing() as connection:
            done = connection.execute(
                "INSERT INTO run (started, seen, pid, host, workers, running, versions) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            self._run = int(done.lastrowid or 0)

    def end(self) -> None:
        """Record the end of the run."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE run SET ended = ?, running = 0 WHERE id = ?", (time.time(), self._run)
            )

    def runs(self) -> list[DriverRun]:
        """Return all runs in their order."""
        rows = self._all(f"SELECT {', '.join(RUN)} FROM run ORDER BY id")
        try:
            return [
                DriverRun(
                    **{**dict(zip(RUN, row, strict=True)), "versions": dict(json.loads(row[-1]))}
                )
                for row in rows
            ]
        except (TypeError, ValueError):
            raise _changed(self.path, "what a run was") from None

    # ------------------------------------------------------------ inside

    def _numbers(self, cell: Cell, condition: str, *values: Any) -> np.ndarray:
        rows = self._all(
            f"SELECT id FROM task WHERE id >= ? AND id < ? AND {condition}",
            (*_range(cell), *values),
        )
        return np.array([row[0] % NUMBERS for row in rows], dtype=np.int64)

    def _all(self, question: str, values: Sequence[Any] = ()) -> list[Any]:
        with _worded(self.path):
            return self._connection.execute(question, values).fetchall()

    @contextmanager
    def _writing(self, n_results: int = 0) -> Iterator[sqlite3.Connection]:
        """Provide a transaction, which is executed completely or not at all."""
        with _worded(self.path, n_results):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _range(cell: Cell) -> tuple[int, int]:
    """Return the range of row ids of the wanted tasks of a cell."""
    return cell.id * NUMBERS, cell.id * NUMBERS + cell.wanted


def _changed(path: Path, what: str) -> BadStore:
    return BadStore(f"{path}: {what} was changed since it was stored: restore it from a copy.")


def _connect(path: Path) -> sqlite3.Connection:
    with _worded(path):
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        connection.execute(f"PRAGMA cache_size = {CACHE}")
        connection.execute("PRAGMA trusted_schema = OFF")
    return connection


@contextmanager
def _worded(path: Path, n_results: int = 0) -> Iterator[None]:
    """Translate SQLite's errors to sentences: a full disk, a busy file, a corrupt file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _sentence(path, error, n_results) from None
    except sqlite3.DatabaseError as error:
        raise BadStore(f"{path} is cut off or broken ({error}): restore it from a copy.") from None


def _again(path: Path) -> str:
    return f"run the same command again (of a study `truerisk study resume --store {path}`)"


def _sentence(path: Path, error: sqlite3.OperationalError, n_results: int) -> Exception:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        lost = f" {n_results} results that were just found are not kept." if n_results else ""
        return StudyIncomplete(
            f"{path} cannot grow: the disk is full or fails ({error}).{lost} All that was stored "
            f"before is intact. Make room and {_again(path)}."
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StudyIncomplete(
            f"{path} was held by another process for {PATIENCE:g} s: what was stored is intact; "
            f"{_again(path)}."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
        return BadStore(f"{path} cannot be opened ({error}): look at its folder and permissions.")
    return BadStore(f"{path} is cut off or broken ({error}): restore it from a copy.")
