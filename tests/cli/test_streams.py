"""Standard streams that are written whole, or whose failure is an exit code and a sentence."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from truerisk.cli.streams import NotPrinted, WholeWriter, whole_streams

posix = pytest.mark.skipif(sys.platform == "win32", reason="limits and descriptors of POSIX")
ROOM = 4096  # bytes that the disk takes


def with_room(room: int) -> None:
    """Let files of this process have so many bytes: then a write is cut off, as on a full disk."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))


def command(*words, room=ROOM, unbuffered=False, **options):
    """A real process whose files have `room` bytes at most."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1" if unbuffered else ""}
    return subprocess.run(
        [sys.executable, "-m", "truerisk", *words],
        text=True,
        check=False,
        timeout=120,
        env=environment,
        preexec_fn=lambda: with_room(room),
        **options,
    )


@posix
@pytest.mark.parametrize("unbuffered", [False, True], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize(
    "words",
    [
        ["assess", "--dataset", "iris", "--models", "lda", "--json"],
        ["assess", "--help"],
        ["methods"],
        ["--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_stdout_that_is_cut_off_is_a_failure(tmp_path, words, unbuffered):
    """A disk that takes a part of what is printed: exit code 1 and one sentence."""
    room = 8 if words == ["--version"] else 1024
    with (tmp_path / "out").open("w") as file:
        done = command(
            *words, room=room, unbuffered=unbuffered, stdout=file, stderr=subprocess.PIPE
        )
    assert done.returncode == 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("truerisk: the output is incomplete: ")
    assert "Traceback" not in done.stderr
    assert (tmp_path / "out").stat().st_size == room


@posix
def test_stderr_that_is_cut_off_is_a_failure_after_the_results(tmp_path):
    """Notes that are lost do not end the work, but the exit code says that they are lost."""
    words = ["assess", "--dataset", "iris", "--models", "lda", "--json"]
    with (tmp_path / "err").open("w") as file:
        done = command(*words, room=8, stdout=subprocess.PIPE, stderr=file)
    assert done.returncode == 1
    assert done.stdout.startswith('{"schema": "truerisk.assessment/2"')
    assert done.stdout.endswith("}\n")


@posix
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["methods"]], ids=" ".join)
def test_closed_stdout_is_a_failure(words):
    """`>&-` leaves no place for the results."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "truerisk", *words],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "truerisk: the output is incomplete: stdout is closed. Write it elsewhere, and run the "
        "command again.\n"
    )


LONG = """
from truerisk.cli import output, registries
from truerisk.cli.app import run

registries.methods.callback = lambda **_: output.show("x" * 300_000)
run(["methods"])
"""
MINUS = """
from truerisk.cli.streams import whole_streams

with whole_streams():
    print("\\u2212.5")
"""


@posix
@pytest.mark.parametrize("unbuffered", [False, True], ids=["buffered", "unbuffered"])
def test_pipe_that_does_not_block_gets_all(unbuffered):
    """A reader that is slow and has made the pipe non-blocking loses nothing."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    words = [sys.executable, "-c", LONG]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1" if unbuffered else ""}
    with subprocess.Popen(words, stdout=writing, env=environment) as process:
        os.close(writing)
        with os.fdopen(reading, "rb") as reader:
            assert len(reader.read()) == 300_001
    assert process.returncode == 0


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii"])
def test_character_that_the_encoding_lacks_is_written_as_its_escape(encoding):
    """A minus sign in the encoding of a Windows pipe is no traceback."""
    done = subprocess.run(
        [sys.executable, "-c", MINUS],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "\\u2212.5\n"


class Grudging(io.RawIOBase):
    """A raw stream that takes few bytes at a time, and then none."""

    def __init__(self, room, at_once=3):
        self.room, self.at_once, self.got = room, at_once, b""

    def write(self, data):
        taken = bytes(data)[: min(self.at_once, self.room - len(self.got))]
        self.got += taken
        return len(taken)


def test_writer_asks_again_for_the_rest():
    """All bytes arrive however few are taken at a time."""
    raw = Grudging(room=100)
    assert WholeWriter(raw).write(b"abcdefghij") == 10
    assert raw.got == b"abcdefghij"


def test_writer_raises_if_nothing_more_is_taken():
    """A stream that takes no more bytes is not asked without end."""
    with pytest.raises(NotPrinted):
        WholeWriter(Grudging(room=4)).write(b"abcdefghij")


def test_writer_that_keeps_going_notes_the_error():
    """What follows is dropped."""
    writer = WholeWriter(Grudging(room=4), keeps_going=True)
    assert writer.write(b"abcdefghij") == 10
    assert writer.write(b"k") == 1
    assert isinstance(writer.error, OSError)


def test_streams_of_a_test_or_notebook_stay():
    """A stream without a file of the system is not replaced."""
    before = sys.stdout
    with whole_streams():
        assert sys.stdout is before or isinstance(sys.stdout, io.TextIOWrapper)
    assert sys.stdout is before
