"""One writer: others are told who it is, and a crash gives the lock free."""

import errno
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from truerisk.exceptions import StoreLocked
from truerisk.study.lock import Lock
from truerisk.study.store import Store

HOLD = """
import sys, time
from pathlib import Path
from truerisk.study.lock import Lock
lock = Lock(Path(sys.argv[1])).acquire()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of the store."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "runs.db")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_lock_of_another_process_is_named_and_freed_by_its_death(tmp_path, holder):
    path = tmp_path / "runs.db"
    with pytest.raises(StoreLocked, match=rf"in use by process {holder.pid} on .* since 20"):
        Store.open_for_writing(path)
    assert Lock(path).holder()["pid"] == holder.pid
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert (tmp_path / "runs.db.lock").exists()  # what the crash left
    assert Lock(path).holder() is None
    Store.open_for_writing(path).close()
    assert not (tmp_path / "runs.db.lock").exists()


def test_lock_is_held_once_by_the_same_process(tmp_path):
    lock = Lock(tmp_path / "runs.db").acquire()
    with pytest.raises(StoreLocked, match="this very process"):
        Lock(tmp_path / "runs.db").acquire()
    assert lock.holder()["pid"] == os.getpid()
    code = "import sys; from pathlib import Path; from truerisk.study.lock import Lock\n"
    code += "Lock(Path(sys.argv[1])).acquire()"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "runs.db")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "StoreLocked" in done.stderr
    lock.release()
    Lock(tmp_path / "runs.db").acquire().release()


def test_lock_is_not_acquired_by_a_thread_while_another_one_acquires_it(tmp_path, monkeypatch):
    """The kernel gives the lock to every thread of a process."""
    refusals = []

    def acquire_in_another_thread(file):
        with pytest.raises(StoreLocked, match="this very process"):
            Lock(tmp_path / "runs.db").acquire()
        refusals.append(file)
        return True

    monkeypatch.setattr("truerisk.study.lock._try_lock", acquire_in_another_thread)
    Lock(tmp_path / "runs.db").acquire().release()
    assert len(refusals) == 1


def test_lock_on_full_disk_leaves_no_file_behind(tmp_path, monkeypatch):
    def full(file, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("truerisk.study.lock._write_holder", full)
        with pytest.raises(StoreLocked, match=r"runs\.db\.lock cannot be written: No space left"):
            Lock(tmp_path / "runs.db").acquire()
    assert not list(tmp_path.iterdir())
    Lock(tmp_path / "runs.db").acquire().release()


def test_lock_file_of_another_machine_or_without_content_is_read(tmp_path):
    place = tmp_path / "runs.db.lock"
    for text in ("", "{", "[1]"):
        place.write_text(text)
        Lock(tmp_path / "runs.db").acquire().release()
    place.write_text(json.dumps({"pid": 1, "host": "elsewhere", "time": 0.0}))
    with pytest.raises(StoreLocked, match=rf"on elsewhere.*delete {re.escape(str(place))}"):
        Lock(tmp_path / "runs.db").acquire()
    with pytest.raises(StoreLocked, match="No such file"):
        Lock(tmp_path / "no" / "runs.db").acquire()
