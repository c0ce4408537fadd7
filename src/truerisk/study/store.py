"""Store of a study: an SQLite file with one writer, which others can read at any time.

Every transaction is on disk before its results count as stored (`journal_mode=TRUNCATE`,
`synchronous=FULL`), so that a run that is killed at any moment loses no stored result.
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
from truerisk.study.schema import (
    MAX_REPLICATES,
    State,
    TaskOutcome,
    check_is_sqlite_file,
    create_tables,
    is_empty,
    migrate,
)
from truerisk.study.values import hash_plain_value, hash_text, to_canonical_json, unpack_result

LOCK_TIMEOUT = 30.0  # A transaction waits so many seconds while another process locks the file.
RUN_COLUMNS = ("started", "seen", "ended", "pid", "host", "workers", "running", "versions")
CACHE_SIZE = -64_000  # SQLite takes a negative size of its page cache as kibibytes.


@frozen(eq=False)
class Cell:
    """A cell of a study, such as one problem, size, learner and method, with all its replicates.

    `content` holds everything that determines a replicate except its number, and `n_wanted` is the
    number of requested replicates.
    """

    id: int
    key: str
    content: Mapping[str, Any]
    n_wanted: int


@frozen
class TaskCounts:
    """Numbers of tasks of a cell by state, and the total running time of the done tasks."""

    done: int
    failed: int
    quarantined: int
    suspected: int
    seconds: float


@frozen
class StudyRun:
    """A run of a study, as recorded in its store; `ended` is None during it and after a crash."""

    started: float
    seen: float
    ended: float | None
    pid: int
    host: str
    workers: int
    running: int
    versions: Mapping[str, str]


class Store:
    """An open store file. Use `Store.write(path)` or `Store.read(path)` in a `with` statement."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: Lock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._run = 0

    @classmethod
    def open_for_writing(cls, path: str | os.PathLike[str]) -> Store:
        """Open a store for writing, and create it if needed; raise if another process writes."""
        store_path = Path(path)
        lock = Lock(store_path).acquire()
        try:
            if store_path.exists():
                check_is_sqlite_file(store_path)
            connection = _open_connection(store_path)
            try:
                with _translate_sqlite_errors(store_path):
                    if is_empty(connection):
                        create_tables(connection)
                    migrate(connection, store_path, write=True)
                    connection.execute("PRAGMA journal_mode = TRUNCATE").fetchone()
                    connection.execute("PRAGMA synchronous = FULL")
            except BaseException:
                connection.close()
                raise
        except BaseException:
            lock.release()
            raise
        return cls(store_path, connection, lock)

    @classmethod
    def open_for_reading(cls, path: str | os.PathLike[str]) -> Store:
        """Open a store for reading, which is possible while another process writes."""
        store_path = Path(path)
        if not store_path.exists():
            raise BadStore(f"{store_path}: there is no such store. `truerisk study run` makes one.")
        check_is_sqlite_file(store_path)
        connection = _open_connection(store_path)
        try:
            with _translate_sqlite_errors(store_path):
                if is_empty(connection):
                    raise BadStore(f"{store_path} is empty: no study was begun in it.")
                migrate(connection, store_path, write=False)
                connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return cls(store_path, connection, None)

    def close(self) -> None:
        """Close the file and release the lock."""
        if self._lock is not None:  # This deletes SQLite's empty journal if no one reads.
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        self._connection.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        exception_class: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------ texts and cells of the study

    def note(self, texts: Mapping[str, str]) -> None:
        """Store texts about the study by name, such as its kind, name and specification."""
        with self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO study VALUES (?, ?)", texts.items())

    def read_note(self, name: str) -> str | None:
        """Return the text that `note` stored under this name, or None."""
        values = self._fetch_all("SELECT value FROM study WHERE name = ?", (name,))
        if values and not isinstance(values[0][0], str):
            raise _changed_store_error(self.path, name)
        return values[0][0] if values else None

    def request_replicates(
        self,
        cell_contents: Iterable[Mapping[str, Any]],
        n_wanted: int,
        *,
        drops_others: bool = False,
    ) -> list[Cell]:
        """Request `n_wanted` replicates of the cells with these contents, and return the cells.

        Cells that do not exist are created. With `drops_others=True` no replicates of other cells
        are requested any more, but their results are kept.
        """
        requested_contents = list(cell_contents)
        cell_keys = [
            hash_plain_value(requested_content) for requested_content in requested_contents
        ]
        cell_rows = [
            (cell_key, n_wanted, to_canonical_json(content_of_cell))
            for cell_key, content_of_cell in zip(cell_keys, requested_contents, strict=True)
        ]
        with self._transaction() as connection:
            if drops_others:
                connection.execute("UPDATE cell SET wanted = 0")
            connection.executemany(
                "INSERT INTO cell (key, wanted, content) VALUES (?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET wanted = excluded.wanted",
                cell_rows,
            )
        cell_by_key = {cell.key: cell for cell in self.cells(every=True)}
        return [cell_by_key[cell_key] for cell_key in cell_keys]

    def cells(self, *, every: bool = False) -> list[Cell]:
        """Return the cells with requested replicates, or all cells, in the order of creation."""
        rows = self._fetch_all("SELECT id, key, content, wanted FROM cell ORDER BY id")
        for _, stored_key, stored_text, _ in rows:
            if not isinstance(stored_text, str) or hash_text(stored_text) != stored_key:
                raise _changed_store_error(self.path, "what a cell is")
        return [
            Cell(cell_id, cell_key, json.loads(content_text), n_wanted)
            for cell_id, cell_key, content_text, n_wanted in rows
            if every or n_wanted > 0
        ]

    # ------------------------------------------------------------ outcomes of tasks

    def ended_numbers(self, cell: Cell) -> np.ndarray:
        """Return the numbers of a cell's tasks that are done, failed or quarantined."""
        return self._replicate_numbers(cell, "state <> ?", State.SUSPECT)

    def suspect_attempts(self, cell: Cell) -> dict[int, int]:
        """Map each task of a cell whose worker ended to the number of times it was run alone."""
        rows = self._fetch_all(
            "SELECT id, attempts FROM task WHERE id >= ? AND id < ? AND state = ?",
            (*_task_id_range(cell), State.SUSPECT),
        )
        return {task_id % MAX_REPLICATES: n_attempts for task_id, n_attempts in rows}

    def count_tasks(self, cell: Cell) -> TaskCounts:
        """Count the tasks of a cell by state, and add up the running times of the done tasks."""
        count_columns = ", ".join(f"TOTAL(state = {int(state)})" for state in State)
        seconds_column = f"TOTAL(CASE WHEN state = {int(State.DONE)} THEN seconds END)"
        ((*task_counts, seconds_spent),) = self._fetch_all(
            f"SELECT {count_columns}, {seconds_column} FROM task WHERE id >= ? AND id < ?",
            _task_id_range(cell),
        )
        n_done, n_failed, n_quarantined, n_suspected = (
            int(task_count) for task_count in task_counts
        )
        return TaskCounts(n_done, n_failed, n_quarantined, n_suspected, float(seconds_spent))

    def save(self, outcomes: Sequence[TaskOutcome], *, running: int = 0) -> None:
        """Write the outcomes of tasks in one transaction; they are on disk when this returns."""
        task_rows = [
            (
                outcome.task_id,
                outcome.state,
                outcome.attempts,
                outcome.seconds,
                self._run,
                outcome.error,
            )
            for outcome in outcomes
        ]
        result_rows = [
            (outcome.task_id, outcome.text, outcome.npy, outcome.cost)
            for outcome in outcomes
            if outcome.text is not None
        ]
        with self._transaction(len(result_rows)) as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO task VALUES (?, ?, ?, ?, ?, ?)", task_rows
            )
            connection.executemany("INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?)", result_rows)
            connection.execute(
                "UPDATE run SET seen = ?, running = ? WHERE id = ?",
                (time.time(), running, self._run),
            )

    def delete_outcomes(
        self, states: Sequence[State] = (State.FAILED, State.QUARANTINED, State.SUSPECT)
    ) -> int:
        """Delete the records of tasks in these states, so that they are run again.

        Return the number of these tasks.
        """
        placeholders = ", ".join("?" * len(states))
        with self._transaction() as connection:
            cursor = connection.execute(f"DELETE FROM task WHERE state IN ({placeholders})", states)
            return cursor.rowcount

    def results(self, cell: Cell) -> Iterator[tuple[int, float, float | None, dict[str, Any]]]:
        """Yield (number, seconds, cost, content) for each requested result of a cell, in order."""
        with _translate_sqlite_errors(self.path):
            rows = self._connection.execute(
                "SELECT id, seconds, cost, content, npy FROM task "
                "JOIN result ON task.id = result.task "
                "WHERE id >= ? AND id < ? AND state = ? ORDER BY id",
                (*_task_id_range(cell), State.DONE),
            )
            for task_id, seconds, reported_seconds, result_text, array_bytes in rows:
                yield (
                    task_id % MAX_REPLICATES,
                    seconds,
                    reported_seconds,
                    unpack_result(result_text, array_bytes),
                )

    def errors(self, cell: Cell) -> list[tuple[int, State, int, str]]:
        """Return (number, state, attempts, error) for each task of a cell without a result."""
        rows = self._fetch_all(
            "SELECT id, state, attempts, error FROM task WHERE id >= ? AND id < ? AND state <> ? "
            "ORDER BY id",
            (*_task_id_range(cell), State.DONE),
        )
        return [
            (task_id % MAX_REPLICATES, State(state), n_attempts, error or "")
            for task_id, state, n_attempts, error in rows
        ]

    # ------------------------------------------------------------ runs

    def begin_run(self, n_workers: int, versions: Mapping[str, str]) -> None:
        """Record the start of a run of the study; all following results belong to it."""
        start_time = time.time()
        run_row = (
            start_time,
            start_time,
            os.getpid(),
            socket.gethostname(),
            n_workers,
            0,
            json.dumps(dict(versions)),
        )
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO run (started, seen, pid, host, workers, running, versions) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                run_row,
            )
            self._run = int(cursor.lastrowid or 0)

    def end_run(self) -> None:
        """Record the end of the current run of the study."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE run SET ended = ?, running = 0 WHERE id = ?", (time.time(), self._run)
            )

    def runs(self) -> list[StudyRun]:
        """Return all recorded runs of the study in the order of their start."""
        rows = self._fetch_all(f"SELECT {', '.join(RUN_COLUMNS)} FROM run ORDER BY id")
        try:
            return [
                StudyRun(
                    **{
                        **dict(zip(RUN_COLUMNS, row, strict=True)),
                        "versions": dict(json.loads(row[-1])),
                    }
                )
                for row in rows
            ]
        except (TypeError, ValueError):
            raise _changed_store_error(self.path, "what a run was") from None

    # ------------------------------------------------------------ queries and transactions

    def _replicate_numbers(self, cell: Cell, condition: str, *query_values: Any) -> np.ndarray:
        rows = self._fetch_all(
            f"SELECT id FROM task WHERE id >= ? AND id < ? AND {condition}",
            (*_task_id_range(cell), *query_values),
        )
        return np.array([row[0] % MAX_REPLICATES for row in rows], dtype=np.int64)

    def _fetch_all(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with _translate_sqlite_errors(self.path):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self, n_results: int = 0) -> Iterator[sqlite3.Connection]:
        """Open a transaction for the block, which is undone as a whole if the block raises."""
        with _translate_sqlite_errors(self.path, n_results):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _task_id_range(cell: Cell) -> tuple[int, int]:
    """Return the first database id of a cell's requested tasks, and the id after the last one."""
    return cell.id * MAX_REPLICATES, cell.id * MAX_REPLICATES + cell.n_wanted


def _changed_store_error(path: Path, changed_part: str) -> BadStore:
    return BadStore(
        f"{path}: {changed_part} was changed since it was stored: restore it from a copy."
    )


def _open_connection(path: Path) -> sqlite3.Connection:
    with _translate_sqlite_errors(path):
        connection = sqlite3.connect(path, timeout=LOCK_TIMEOUT, isolation_level=None)
        connection.execute(f"PRAGMA cache_size = {CACHE_SIZE}")
        connection.execute("PRAGMA trusted_schema = OFF")
    return connection


@contextmanager
def _translate_sqlite_errors(path: Path, n_results: int = 0) -> Iterator[None]:
    """Translate errors of SQLite in the block to errors of truerisk with a clear sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _convert_sqlite_error(path, error, n_results) from None
    except sqlite3.DatabaseError as error:
        raise BadStore(f"{path} is cut off or broken ({error}): restore it from a copy.") from None


def _retry_hint(path: Path) -> str:
    return f"run the same command again (of a study `truerisk study resume --store {path}`)"


def _convert_sqlite_error(path: Path, error: sqlite3.OperationalError, n_results: int) -> Exception:
    error_name = getattr(error, "sqlite_errorname", "")
    if error_name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        lost_results_text = (
            f" {n_results} results that were just found are not kept." if n_results else ""
        )
        return StudyIncomplete(
            f"{path} cannot grow: the disk is full or fails ({error}).{lost_results_text} All that "
            "was "
            f"stored before is intact. Make room and {_retry_hint(path)}."
        )
    if error_name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StudyIncomplete(
            f"{path} was held by another process for {LOCK_TIMEOUT:g} s: what was stored is "
            "intact; "
            f"{_retry_hint(path)}."
        )
    if error_name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
        return BadStore(f"{path} cannot be opened ({error}): look at its folder and permissions.")
    return BadStore(f"{path} is cut off or broken ({error}): restore it from a copy.")
