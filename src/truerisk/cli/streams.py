"""Standard streams that are written whole: what cannot be written is an error, not cut off.

Python's unbuffered streams (`python -u`, PYTHONUNBUFFERED, which containers often set) ask the
system once and drop the rest where it took only a part: on a disk that is nearly full, in a pipe
that does not block.
"""

from __future__ import annotations

import errno
import io
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


class NotPrinted(OSError):
    """An error of writing to stdout. The results are lost, or cut off."""


class WholeWriter(io.RawIOBase):
    """A raw stream that writes all bytes that it is given, or raises `NotPrinted`.

    With `keeps_going` errors are noted in `error` instead, and what follows is dropped: a lost line
    of progress must not end hours of work.
    """

    def __init__(self, raw: Any, *, keeps_going: bool = False) -> None:
        self.raw = raw
        self.keeps_going = keeps_going
        self.is_dropped = False
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write all of the bytes and return their number."""
        left = memoryview(data).cast("B")
        length = len(left)
        try:
            while len(left) and not self.is_dropped:
                left = left[self._write_part(left) :]
        except OSError as error:
            self.error = self.error or error
            self.is_dropped = True
            if not self.keeps_going:
                raise NotPrinted(error.errno, error.strerror) from error
        return length

    def _write_part(self, left: memoryview) -> int:
        """Write as much as the system takes, at least one byte; wait while a pipe is full."""
        if self.raw is None:
            raise OSError(errno.EBADF, "stdout is closed")
        while True:
            n_written = self.raw.write(left)
            if n_written:
                return int(n_written)
            if n_written == 0:
                raise OSError(errno.EIO, "the system takes no more bytes")
            # This is a pipe in non-blocking mode; wait until it can be written.
            select.select([], [self.raw.fileno()], [])

    def writable(self) -> bool:
        """Return True: this is a stream to write to."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the stream behind."""
        if self.raw is None:
            raise io.UnsupportedOperation("fileno")
        return int(self.raw.fileno())

    def isatty(self) -> bool:
        """Return True if a terminal shows what is written."""
        return self.raw is not None and bool(self.raw.isatty())

    @property
    def name(self) -> Any:
        """Name of the stream behind."""
        return getattr(self.raw, "name", "<closed>")


class Streams:
    """The two streams of a command, and what went wrong with them."""

    def __init__(self) -> None:
        self.stdout: WholeWriter | None = None
        self.stderr: WholeWriter | None = None

    def drop_stdout(self) -> None:
        """Drop what is left to be written to stdout, without a further error."""
        if self.stdout is not None:
            self.stdout.is_dropped = True

    @property
    def has_lost_remarks(self) -> bool:
        """True if a note, warning or line of progress could not be written to stderr."""
        return self.stderr is not None and self.stderr.error is not None


@contextmanager
def whole_streams() -> Iterator[Streams]:
    """Replace stdout and stderr by streams that write whole, and put them back at the end.

    A character that the encoding of a stream lacks, such as a minus sign in cp1252, is written as
    its escape. Streams that are no files of the system, such as those of a notebook, stay.
    """
    streams, before = Streams(), (sys.stdout, sys.stderr)
    new_stdout, streams.stdout = _open_whole_writer(sys.stdout, is_missing_an_error=True)
    new_stderr, streams.stderr = _open_whole_writer(sys.stderr, keeps_going=True)
    sys.stdout, sys.stderr = new_stdout, new_stderr
    try:
        yield streams
    finally:
        for stream, writer in ((new_stdout, streams.stdout), (new_stderr, streams.stderr)):
            if writer is not None:
                with suppress(OSError):
                    stream.flush()
                writer.is_dropped = True
        sys.stdout, sys.stderr = before


def _open_whole_writer(
    stream: TextIO, *, keeps_going: bool = False, is_missing_an_error: bool = False
) -> tuple[TextIO, WholeWriter | None]:
    """Return a text stream that writes whole, with its writer; None if the stream stays."""
    if stream is None:  # The parent process closed it.
        if not is_missing_an_error:
            return stream, None
        writer = WholeWriter(None)
        return io.TextIOWrapper(writer, "utf-8", write_through=True), writer
    buffer = getattr(stream, "buffer", None)
    raw = buffer if isinstance(buffer, io.RawIOBase) else None
    if isinstance(buffer, io.BufferedWriter):
        raw = buffer.raw
    if raw is None or isinstance(raw, WholeWriter) or not isinstance(stream, io.TextIOWrapper):
        return stream, None
    with suppress(OSError):
        stream.flush()
    writer = WholeWriter(raw, keeps_going=keeps_going)
    below: Any = writer if raw is buffer else io.BufferedWriter(writer)
    new = io.TextIOWrapper(
        below,
        stream.encoding,
        "backslashreplace" if stream.errors == "strict" else stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    return new, writer
