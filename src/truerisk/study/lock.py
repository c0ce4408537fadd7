"""Lock file of a store, which allows only one process to write to it.

The lock is a record lock of the kernel. It is released when its process ends, even by SIGKILL. The
lock file contains the process that holds the lock, its machine, and the time of locking.
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
except ImportError:  # Without Unix locks, the process that creates the file has the lock.
    fcntl = None


# A record lock does not stop other threads of its process. A thread therefore enters its lock here
# first. `setdefault` is atomic, so only one thread can enter.
_locks_of_process: dict[Path, Lock] = {}


class Lock:
    """Exclusive right to write to a store, acquired by `acquire` and released by `release`."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.path = store.with_name(f"{store.name}.lock")
        self._file: IO[str] | None = None
        self._resolved_path: Path | None = None

    def acquire(self) -> Lock:
        """Acquire the lock, or raise StoreLocked with the process that holds it."""
        resolved_path = self.path.resolve()
        if _locks_of_process.setdefault(resolved_path, self) is not self or self._file is not None:
            raise StoreLocked(f"{self.store} is in use by this very process.")
        self._resolved_path = resolved_path
        try:
            self._file = self._open_locked_file()
            _write_holder(
                self._file, {"pid": os.getpid(), "host": socket.gethostname(), "time": time.time()}
            )
        except OSError as error:  # If the disk is full, a later attempt can succeed.
            self.release()
            raise StoreLocked(f"{self.path} cannot be written: {error.strerror}.") from None
        except BaseException:
            self.release()
            raise
        return self

    def release(self) -> None:
        """Release the lock and remove its file."""
        if self._file is not None:
            if fcntl is None:  # Windows cannot remove an open file.
                self._file.close()
            self.path.unlink(missing_ok=True)
            with suppress(OSError):  # Closing writes again, which fails on a full disk.
                self._file.close()
            self._file = None
        if self._resolved_path is not None:
            _locks_of_process.pop(self._resolved_path, None)
            self._resolved_path = None

    def holder(self) -> dict[str, Any] | None:
        """Return the process that writes to the store, with machine and start time, or None."""
        # If this process has the lock, closing a second handle of the file would release it.
        if self.path.resolve() in _locks_of_process:
            return {"pid": os.getpid(), "host": socket.gethostname()}
        try:
            lock_file = self.path.open("r+", encoding="utf-8")
        except OSError:
            return None
        with lock_file:
            holder = _read_holder(lock_file)
            is_on_other_host = holder.get("host") != socket.gethostname()
            return (
                holder
                if holder and (fcntl is None or is_on_other_host or not _try_lock(lock_file))
                else None
            )

    def _open_locked_file(self) -> IO[str]:
        """Open or create the lock file and lock it; raise if another process has locked it."""
        while True:
            try:
                lock_file = self.path.open("a+", encoding="utf-8")
            except OSError as error:
                raise StoreLocked(f"{self.path}: {error.strerror or error}.") from None
            if not _try_lock(lock_file):
                holder = _read_holder(lock_file)
                lock_file.close()
                raise self._refusal(holder)
            if not _is_same_file(self.path, lock_file):
                # Another process removed the file after it was opened and before it was locked.
                lock_file.close()
                continue
            holder = _read_holder(lock_file)
            if holder and (fcntl is None or holder.get("host") != socket.gethostname()):
                lock_file.close()  # The kernel's lock may fail on a network file system.
                raise self._refusal(holder)
            return lock_file

    def _refusal(self, holder: dict[str, Any]) -> StoreLocked:
        return StoreLocked(
            f"{self.store} is in use by {describe_holder(holder)}: one run writes to a store. Wait "
            f"until it ends; if that run is surely over, delete {self.path}."
        )


def describe_holder(holder: dict[str, Any]) -> str:
    """Return a phrase with the process that holds the lock, its machine and the start time."""
    since_text = ""
    if isinstance(holder.get("time"), int | float):
        since_text = time.strftime(" since %Y-%m-%d %H:%M:%S", time.localtime(holder["time"]))
    return (
        f"process {holder.get('pid', '?')} on "
        f"{holder.get('host', 'an unknown machine')}{since_text}"
    )


def _try_lock(file: IO[str]) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _read_holder(file: IO[str]) -> dict[str, Any]:
    file.seek(0)
    try:
        holder = json.loads(file.read(10_000) or "{}")
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) else {}


def _write_holder(file: IO[str], holder: dict[str, Any]) -> None:
    file.seek(0)
    file.truncate()
    file.write(json.dumps(holder) + "\n")
    file.flush()


def _is_same_file(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
