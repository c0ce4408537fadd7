"""The tables of a store and their version, what can become of a task, and what is no store."""

from __future__ import annotations

import sqlite3
from enum import IntEnum
from pathlib import Path

from truerisk.core.errors import BadStore
from truerisk.core.frozen import frozen

APPLICATION = 0x74727374  # "trst": says whose SQLite file it is
VERSION = 2
OLDEST = 2
"""The oldest version that is read. truerisk 0.1 wrote version 1."""
HEADER = b"SQLite format 3\x00"
HEADER_BYTES = 100

# `id` of a task is that of `task_id`, `state` one of `State`; `cost` is what the work says it took.
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

# step v, from OLDEST on, turns version v into v + 1
STEPS: dict[int, str] = {}


def examine(path: Path) -> None:
    """Refuse by its first bytes what is no SQLite file."""
    if path.exists() and not (path.is_file() or path.is_dir()):  # opening a pipe waits for ever
        raise BadStore(f"{path} is a pipe or a device: a store is a file, name another place.")
    try:
        with path.open("rb") as file:
            head = file.read(HEADER_BYTES)
    except OSError as error:
        raise BadStore(f"{path}: {error.strerror or error}.") from None
    if not head.startswith(HEADER[: len(head)]):
        raise BadStore(f"{path} is no store of truerisk: it is no SQLite file.")
    # with a journal beside it, SQLite undoes the write that a crash interrupted
    if 0 < len(head) < HEADER_BYTES and not path.with_name(f"{path.name}-journal").exists():
        raise BadStore(f"{path} is cut off after {len(head)} bytes: restore it from a copy.")


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever written: a new file, or one whose making was interrupted."""
    (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    return not tables and not owner


def create(connection: sqlite3.Connection) -> None:
    """An empty store."""
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        f"{TABLES} COMMIT;"
    )


def migrate(connection: sqlite3.Connection, path: Path, *, write: bool) -> None:
    """Bring an older store to this version; refuse one of version 1, a newer and a foreign one.

    A reader changes nothing: it reads older stores as they are where the columns allow it.
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


NUMBERS = 2**32  # replicates that a cell can have


class State(IntEnum):
    """A task without a state has not been tried to its end."""

    DONE = 1
    FAILED = 2  # it raised; the traceback is kept
    QUARANTINED = 3  # it ended its worker too often
    SUSPECT = 4  # its worker ended; it will be tried again, last and alone


@frozen
class Fate:
    """How a task ended; `text`, `npy` and `cost` are its result, `error` why there is none."""

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
        return self.cell * NUMBERS + self.number

    @property
    def ends(self) -> bool:
        """Whether the task needs no further trial."""
        return self.state is not State.SUSPECT
