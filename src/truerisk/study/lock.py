"""One writer per store: a lock file that says who holds it, and that a crash gives free.

The lock itself is the kernel's (a record lock, gone with its process, also after SIGKILL). The
file tells others who it is: process, machine, since when.
"""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from truerisk.core.errors import StoreLocked

fcntl: Any
try:
    import fcntl
except ImportError:  # not a Unix: whoever left the file has the lock
    fcntl = None


_held: set[Path] = set()  # a process does not exclude itself by record locks


class Lock:
    """The right to write to a store, from `take` to `free`."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.path = store.with_name(f"{store.name}.lock")
        self._file: IO[str] | None = None

    def take(self) -> Lock:
        """Take the lock, or say who has it."""
        own = self.path.resolve()
        if own in _held:
            raise StoreLocked(f"{self.store} is in use by this very process.")
        file = self._locked_file()
        holder = _read(file)
        if holder and (fcntl is None or holder.get("host") != socket.gethostname()):
            file.close()  # the kernel's lock may not reach over a network file system
            raise self._refusal(holder)
        self._file = file
        _held.add(own)
        try:
            _write(file, {"pid": os.getpid(), "host": socket.gethostname(), "time": time.time()})
        except OSError as error:  # a full disk: the lock goes, or the next try would meet it
            self.free()
            raise StoreLocked(f"{self.path} cannot be written: {error.strerror}.") from None
        return self

    def free(self) -> None:
        """Give the lock back; the file goes, too."""
        if self._file is not None:
            if fcntl is None:  # Windows removes no file that is open
                self._file.close()
            self.path.unlink(missing_ok=True)
            with suppress(OSError):  # a full disk: closing tries to write once more
                self._file.close()
            self._file = None
            _held.discard(self.path.resolve())

    def holder(self) -> dict[str, Any] | None:
        """Who writes to the store now: process, machine and time; None if no one does."""
        if self.path.resolve() in _held:  # opening the file here would give our own lock free
            return {"pid": os.getpid(), "host": socket.gethostname()}
        try:
            file = self.path.open("r+", encoding="utf-8")
        except OSError:
            return None
        with file:
            holder = _read(file)
            elsewhere = holder.get("host") != socket.gethostname()
            return holder if holder and (fcntl is None or elsewhere or not _locked(file)) else None

    def _locked_file(self) -> IO[str]:
        """The lock file, made if need be, with the lock on it."""
        while True:
            try:
                file = self.path.open("a+", encoding="utf-8")
            except OSError as error:
                raise StoreLocked(f"{self.path}: {error.strerror or error}.") from None
            if not _locked(file):
                holder = _read(file)
                file.close()
                raise self._refusal(holder)
            if _is(self.path, file):
                return file
            file.close()  # it was given back and removed between opening and locking

    def _refusal(self, holder: dict[str, Any]) -> StoreLocked:
        return StoreLocked(
            f"{self.store} is in use by {described(holder)}: one run writes to a store. Wait until "
            f"it ends; if that run is surely over, delete {self.path}."
        )


def described(holder: dict[str, Any]) -> str:
    """Say which process holds a store, on which machine and since when."""
    since = ""
    if isinstance(holder.get("time"), int | float):
        since = time.strftime(" since %Y-%m-%d %H:%M:%S", time.localtime(holder["time"]))
    return f"process {holder.get('pid', '?')} on {holder.get('host', 'an unknown machine')}{since}"


def _locked(file: IO[str]) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _read(file: IO[str]) -> dict[str, Any]:
    file.seek(0)
    try:
        content = json.loads(file.read(10_000) or "{}")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _write(file: IO[str], content: dict[str, Any]) -> None:
    file.seek(0)
    file.truncate()
    file.write(json.dumps(content) + "\n")
    file.flush()


def _is(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
