"""The tables of a store and their version, the states of a task, and checks of the file."""

from __future__ import annotations

import sqlite3
from enum import IntEnum
from pathlib import Path

from truerisk.core.errors import BadStore
from truerisk.core.frozen import frozen

APPLICATION = 0x74727374  # "trst" identifies the SQLite file as ours.
VERSION = 2
OLDEST = 2
"""The oldest version that is read. truerisk 0.1 wrote version 1."""
HEADER = b"SQLite format 3\x00"
HEADER_BYTES = 100

# `id` of a task is that of `task_id`, `state` is a `State`, and `cost` is the cost that the work
# reports.
TABLES = """
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

# Step v (from OLDEST on) converts version v to v + 1.
STEPS: dict[int, str] = {}


def examine(path: Path) -> None:
    """Raise if the first bytes show that it is not an SQLite file."""
    # Opening a pipe would wait forever.
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadStore(f"{path} is a pipe or a device: a store is a file, name another place.")
    try:
        with path.open("rb") as file:
            head = file.read(HEADER_BYTES)
    except OSError as error:
        raise BadStore(f"{path}: {error.strerror or error}.") from None
    if not head.startswith(HEADER[: len(head)]):
        raise BadStore(f"{path} is no store of truerisk: it is no SQLite file.")
    # With a journal next to it, SQLite undoes a write that a crash interrupted.
    if 0 < len(head) < HEADER_BYTES and not path.with_name(f"{path.name}-journal").exists():
        raise BadStore(f"{path} is cut off after {len(head)} bytes: restore it from a copy.")


def is_empty(connection: sqlite3.Connection) -> bool:
    """Return True if nothing was written: a new file, or one whose creation was interrupted."""
    (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    return not tables and not owner


def create(connection: sqlite3.Connection) -> None:
    """Create the tables of an empty store."""
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        f"{TABLES} COMMIT;"
    )


def migrate(connection: sqlite3.Connection, path: Path, *, write: bool) -> None:
    """Convert an older store to this version; refuse version 1, newer and foreign files.

    A reader changes nothing: it reads older stores unchanged if their columns allow it.
    """
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if owner != APPLICATION:
        raise BadStore(f"{path} is no store of truerisk: it is an SQLite file of something else.")
    if version > VERSION:
        raise BadStore(
            f"{path} was written by a newer truerisk (store version {version}; this one knows "
            f"{VERSION}): upgrade truerisk to read it."
        )
    if version < 1:
        raise BadStore(
            f"{path} is damaged: its store version is {version}; restore it from a copy."
        )
    if version < OLDEST:
        raise BadStore(
            f"{path} was written by truerisk 0.1 (store version {version}; this truerisk reads "
            f"version {VERSION}): run the study, assessment or search anew in another store, or "
            "use truerisk 0.1 to read this one."
        )
    if not write and version < VERSION:
        raise BadStore(
            f"{path} is of store version {version}: `truerisk study resume --store {path}` brings "
            f"it to version {VERSION}."
        )
    for step in range(version, VERSION):
        connection.executescript(f"BEGIN; {STEPS[step]} PRAGMA user_version = {step + 1}; COMMIT;")


NUMBERS = 2**32  # maximum number of replicates of a cell


class State(IntEnum):
    """State of a task that was run; a task without a state has not ended yet."""

    DONE = 1
    FAILED = 2  # It raised an error, whose traceback is stored.
    QUARANTINED = 3  # It ended its worker too often.
    SUSPECT = 4  # Its worker ended. It will be run again, last and alone.


@frozen
class Fate:
    """Outcome of a task; `text`, `npy` and `cost` are its result, `error` is why it has none."""

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
    def task(self) -> int:
        """Number of the task within the study."""
        return self.cell * NUMBERS + self.number

    @property
    def ends(self) -> bool:
        """True if the task needs no further attempt."""
        return self.state is not State.SUSPECT
