"""Standard streams: what is said on them, and that they are written whole or not without a word."""

import io
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.cli.conftest import TRUERISK

from truerisk.cli import output
from truerisk.cli.output import print_stderr, print_warnings_at_end, show_progress
from truerisk.cli.streams import CompleteWriter, StdoutWriteError, replace_standard_streams
from truerisk.core.progress import report_progress

posix = pytest.mark.skipif(sys.platform == "win32", reason="limits and descriptors of POSIX")
LOST = "truerisk: the output is incomplete: "


def test_say_and_progress_go_to_stderr(capsys, monkeypatch):
    """Progress is heard only within its context."""
    monkeypatch.setattr("truerisk.core.progress_line.SECONDS_BEFORE_FIRST_LINE", 0.0)
    print_stderr("a note")
    with show_progress():
        report_progress(1, 2)
    report_progress(2, 2)
    assert capsys.readouterr() == ("", "a note\n1 of 2 fits\n")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([(UserWarning, "two\nlines"), (UserWarning, "two\nlines")], ["two lines"]),
        ([(DeprecationWarning, "will change"), (UserWarning, "said")], ["said"]),
        ([(PendingDeprecationWarning, "will change"), (UserWarning, "said")], ["said"]),
        ([(FutureWarning, "will change"), (UserWarning, "said")], ["said"]),
        (
            [
                (ConvergenceWarning, "gap 1.5e-3 [3 times in 10 fits]"),
                (ConvergenceWarning, "gap 2.0e-3 [40 times in 90 fits]"),
                (UserWarning, "2 rows"),
                (UserWarning, "3 rows"),
            ],
            ["gap 1.5e-3 [43 times in 100 fits]", "2 rows", "3 rows"],
        ),
    ],
    ids=["once", "deprecation", "pending", "future", "counts"],
)
def test_worded_warnings_are_sentences_said_once(capsys, given, said):
    """What concerns developers of libraries is left out; fits that warn alike are one line."""
    with print_warnings_at_end():
        for category, text in given:
            warnings.warn(text, category, stacklevel=1)
    assert capsys.readouterr().err.splitlines() == [f"warning: {text}" for text in said]


def test_worded_warnings_are_said_after_an_error(capsys):
    def warn_and_fail():
        with print_warnings_at_end():
            warnings.warn("before", UserWarning, stacklevel=1)
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        warn_and_fail()
    assert capsys.readouterr().err == "warning: before\n"


def test_show_is_all_that_prints():
    """A command that echoes past it would pass on what a file says to the terminal."""
    others = [path for path in Path(output.__file__).parent.glob("*.py") if path.stem != "output"]
    assert not [path.name for path in others if re.search(r"\b(echo|print)\(", path.read_text())]


# ---------------------------------------------------------------- streams that are cut off


def command(*words, room, unbuffered=False, **options):
    """Run a process whose files have `room` bytes at most, as on a full disk."""
    import resource

    return subprocess.run(
        [sys.executable, *TRUERISK, *words],
        text=True,
        check=False,
        timeout=120,
        # Python would keep modules that it compiles in files that are cut off, too.
        env={
            **os.environ,
            "PYTHONUNBUFFERED": "1" if unbuffered else "",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
        **options,
    )


ASSESS = "assess --dataset iris --models lda --json"


@posix
@pytest.mark.parametrize(
    ("words", "room", "unbuffered"),
    [
        (ASSESS, 1024, False),
        (ASSESS, 1024, True),
        ("assess --help", 1024, False),
        ("methods", 1024, True),
        ("--help", 1024, False),
        ("--version", 8, True),
    ],
)
def test_stdout_that_is_cut_off_is_a_failure(tmp_path, words, room, unbuffered):
    with (tmp_path / "out").open("w") as file:
        pipes = {"stdout": file, "stderr": subprocess.PIPE}
        done = command(*words.split(), room=room, unbuffered=unbuffered, **pipes)
    assert done.returncode == 1, done.stderr
    assert done.stderr.splitlines()[-1].startswith(LOST)
    assert "Traceback" not in done.stderr
    assert (tmp_path / "out").stat().st_size == room


@posix
def test_stderr_that_is_cut_off_is_a_failure_after_the_results(tmp_path):
    """Notes that are lost do not end the work, but the exit code says that they are lost."""
    with (tmp_path / "err").open("w") as file:
        done = command(*ASSESS.split(), room=8, stdout=subprocess.PIPE, stderr=file)
    assert done.returncode == 1
    assert done.stdout.startswith('{"schema": "truerisk.assessment/2"')
    assert done.stdout.endswith("}\n")


@posix
@pytest.mark.parametrize("word", ["--version", "methods"])
def test_stdout_that_is_closed_is_a_failure(word):
    """`>&-` leaves no place for the results."""
    words = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, *TRUERISK, word]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr == (
        f"{LOST}stdout is closed. Write it elsewhere, and run the command again.\n"
    )


LONG = """
from truerisk.cli import output, registries
from truerisk.cli.app import run

registries.methods.callback = lambda **_: output.show("x" * 300_000)
run(["methods"])
"""
MINUS = """
from truerisk.cli.streams import replace_standard_streams

with replace_standard_streams():
    print("\\u2212.5")
"""


@posix
@pytest.mark.parametrize("unbuffered", [False, True], ids=["buffered", "unbuffered"])
def test_stdout_of_a_pipe_that_does_not_block_gets_all(unbuffered):
    """A reader that is slow and has made the pipe non-blocking loses nothing."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1" if unbuffered else ""}
    words = [sys.executable, "-c", LONG]
    with subprocess.Popen(words, stdout=writing, env=environment) as process:
        os.close(writing)
        with os.fdopen(reading, "rb") as reader:
            assert len(reader.read()) == 300_001
    assert process.returncode == 0


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii"])
def test_whole_streams_escape_what_the_encoding_lacks(encoding):
    """A minus sign in the encoding of a Windows pipe is no traceback."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    words = [sys.executable, "-c", MINUS]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "\\u2212.5\n"


class Grudging(io.RawIOBase):
    """A raw stream that takes few bytes at a time, and then none."""

    def __init__(self, room, at_once=3):
        self.room, self.at_once, self.got = room, at_once, b""

    def write(self, data):
        taken = bytes(data)[: min(self.at_once, self.room - len(self.got))]
        self.got += taken
        return len(taken)


def test_whole_writer_asks_again_for_the_rest_and_raises_or_notes_what_is_lost():
    """A writer with keeps_going=True stores the error and drops all later output."""
    raw = Grudging(room=100)
    assert CompleteWriter(raw).write(b"abcdefghij") == 10
    assert raw.got == b"abcdefghij"
    with pytest.raises(StdoutWriteError):
        CompleteWriter(Grudging(room=4)).write(b"abcdefghij")
    writer = CompleteWriter(Grudging(room=4), keeps_going=True)
    assert writer.write(b"abcdefghij") == 10
    assert writer.write(b"k") == 1
    assert isinstance(writer.error, OSError)


def test_whole_streams_keep_those_of_a_test_or_notebook():
    """A stream without a file of the system is not replaced."""
    before = sys.stdout
    with replace_standard_streams():
        assert sys.stdout is before or isinstance(sys.stdout, io.TextIOWrapper)
    assert sys.stdout is before
