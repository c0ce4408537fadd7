"""The SQLite tables of a store and their version, the states of a task, and checks of the file."""

from __future__ import annotations

import sqlite3
from enum import IntEnum
from pathlib import Path

from truerisk.core.errors import BadStore
from truerisk.core.frozen import frozen

APPLICATION_ID = 0x74727374  # This application id, "trst", marks an SQLite file as a store.
STORE_VERSION = 2
OLDEST_READABLE_VERSION = 2
"""The oldest store version that can be read. truerisk 0.1 wrote version 1."""
SQLITE_HEADER = b"SQLite format 3\x00"
HEADER_BYTES = 100

# In the table `task`, `id` is `TaskOutcome.task_id`, and `state` is a `State`.
# In the table `result`, `cost` is the number of seconds that the replicate itself reports.
CREATE_TABLES_SQL = """
CREATE TABLE study (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE cell (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, wanted INTEGER NOT NULL, content TEXT NOT NULL
);
CREATE TABLE task (
    id INTEGER PRIMARY KEY, state INTEGER NOT NULL, attempts INTEGER NOT NULL, seconds REAL,
    run INTEGER NOT NULL, error TEXT
);
CREATE TABLE result (task INTEGER PRIMARY KEY, content TEXT NOT NULL, npy BLOB, cost REAL);
CREATE TABLE run (
    id INTEGER PRIMARY KEY, started REAL NOT NULL, seen REAL NOT NULL, ended REAL,
    pid INTEGER NOT NULL, host TEXT NOT NULL, workers INTEGER NOT NULL, running INTEGER NOT NULL,
    versions TEXT NOT NULL
);
"""

# MIGRATIONS[v] is the SQL that converts a store of version v to version v + 1.
MIGRATIONS: dict[int, str] = {}


def check_is_sqlite_file(path: Path) -> None:
    """Raise BadStore if `path` is not an SQLite file, judging by its first bytes."""
    # Pipes are refused first, because opening one would wait forever.
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadStore(f"{path} is a pipe or a device: a store is a file, name another place.")
    try:
        with path.open("rb") as file:
            first_bytes = file.read(HEADER_BYTES)
    except OSError as error:
        raise BadStore(f"{path}: {error.strerror or error}.") from None
    if not first_bytes.startswith(SQLITE_HEADER[: len(first_bytes)]):
        raise BadStore(f"{path} is no store of truerisk: it is no SQLite file.")
    # If the journal of an interrupted write exists, SQLite repairs a file that is cut off.
    if 0 < len(first_bytes) < HEADER_BYTES and not path.with_name(f"{path.name}-journal").exists():
        raise BadStore(f"{path} is cut off after {len(first_bytes)} bytes: restore it from a copy.")


def is_empty(connection: sqlite3.Connection) -> bool:
    """Return True if the database has no tables: it is new, or its creation was interrupted."""
    (n_tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    return not n_tables and not application_id


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of an empty store."""
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {STORE_VERSION};"
        f"{CREATE_TABLES_SQL} COMMIT;"
    )


def migrate(connection: sqlite3.Connection, path: Path, *, write: bool) -> None:
    """Convert an older store to the current version; raise for files that cannot be converted.

    These are stores of version 1 or of a newer version, and databases of other programs. Without
    `write`, a store of an older version is refused as well.
    """
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application_id != APPLICATION_ID:
        raise BadStore(f"{path} is no store of truerisk: it is an SQLite file of something else.")
    if version > STORE_VERSION:
        raise BadStore(
            f"{path} was written by a newer truerisk (store version {version}; this one knows "
            f"{STORE_VERSION}): upgrade truerisk to read it."
        )
    if version < 1:
        raise BadStore(
            f"{path} is damaged: its store version is {version}; restore it from a copy."
        )
    if version < OLDEST_READABLE_VERSION:
        raise BadStore(
            f"{path} was written by truerisk 0.1 (store version {version}; this truerisk reads "
            f"version {STORE_VERSION}): run the study, assessment or search anew in another store, "
            "or "
            "use truerisk 0.1 to read this one."
        )
    if not write and version < STORE_VERSION:
        raise BadStore(
            f"{path} is of store version {version}: `truerisk study resume --store {path}` brings "
            f"it to version {STORE_VERSION}."
        )
    for old_version in range(version, STORE_VERSION):
        connection.executescript(
            f"BEGIN; {MIGRATIONS[old_version]} PRAGMA user_version = {old_version + 1}; COMMIT;"
        )


MAX_REPLICATES = 2**32  # A cell of a study has fewer replicates.


class State(IntEnum):
    """State of a task that was run at least once; other tasks are not in the table."""

    DONE = 1
    FAILED = 2  # The task raised an error, whose traceback is stored.
    QUARANTINED = 3  # The task ended its worker process too often, and is not run again.
    SUSPECT = 4  # The worker process ended during the task, which will be run again alone.


@frozen
class TaskOutcome:
    """Outcome of a task: its result (`text`, `npy`, `cost`), or the `error` why it has none."""

    cell: int
    number: int
    state: State
    seconds: float | None = None
    text: str | None = None
    npy: bytes | None = None
    cost: float | None = None
    error: str | None = None
    attempts: int = 1

    @property
    def task_id(self) -> int:
        """Number that identifies the task among all tasks of its store."""
        return self.cell * MAX_REPLICATES + self.number

    @property
    def is_final(self) -> bool:
        """True if the task has ended and is not run again; suspected tasks are."""
        return self.state is not State.SUSPECT
