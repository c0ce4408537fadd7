"""One writer per store: a lock file that names its holder and is released after a crash.

The lock itself is that of the kernel (a record lock, released with its process, also after
SIGKILL). The file tells others who holds it: process, machine, and since when.
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
except ImportError:  # Without Unix locks, the creator of the file has the lock.
    fcntl = None


_held: set[Path] = set()  # Record locks do not exclude their own process.


class Lock:
    """The right to write to a store, from `take` to `free`."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.path = store.with_name(f"{store.name}.lock")
        self._file: IO[str] | None = None

    def take(self) -> Lock:
        """Acquire the lock, or raise with the name of its holder."""
        own = self.path.resolve()
        if own in _held:
            raise StoreLocked(f"{self.store} is in use by this very process.")
        file = self._locked_file()
        holder = _read(file)
        if holder and (fcntl is None or holder.get("host") != socket.gethostname()):
            file.close()  # The kernel's lock may not work on a network file system.
            raise self._refusal(holder)
        self._file = file
        _held.add(own)
        try:
            _write(file, {"pid": os.getpid(), "host": socket.gethostname(), "time": time.time()})
        # The disk is full. The lock is released, since the next attempt would meet it.
        except OSError as error:
            self.free()
            raise StoreLocked(f"{self.path} cannot be written: {error.strerror}.") from None
        return self

    def free(self) -> None:
        """Release the lock and remove its file."""
        if self._file is not None:
            if fcntl is None:  # Windows does not remove open files.
                self._file.close()
            self.path.unlink(missing_ok=True)
            with suppress(OSError):  # On a full disk, closing tries to write once more.
                self._file.close()
            self._file = None
            _held.discard(self.path.resolve())

    def holder(self) -> dict[str, Any] | None:
        """Return the current writer of the store (process, machine, time), or None."""
        # Opening and closing the file here would release our own lock.
        if self.path.resolve() in _held:
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
        """Return the locked lock file, which is created if needed."""
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
            file.close()  # It was released and removed between opening and locking.

    def _refusal(self, holder: dict[str, Any]) -> StoreLocked:
        return StoreLocked(
            f"{self.store} is in use by {described(holder)}: one run writes to a store. Wait until "
            f"it ends; if that run is surely over, delete {self.path}."
        )


def described(holder: dict[str, Any]) -> str:
    """Return a sentence on which process holds a store, on which machine and since when."""
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
