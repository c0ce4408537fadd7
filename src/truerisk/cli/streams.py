"""Standard streams that write all of their output, or raise an error.

Python's unbuffered streams (`python -u`, PYTHONUNBUFFERED, which containers often set) call the
system once per write. If the system accepts only some of the bytes, they drop the other bytes. This
happens on a disk that is nearly full, and in a non-blocking pipe.
"""

from __future__ import annotations

import errno
import io
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


class StdoutWriteError(OSError):
    """Error that results could not be written to stdout, or only in part."""


class CompleteWriter(io.RawIOBase):
    """Raw stream that writes all bytes passed to `write`, or raises `StdoutWriteError`.

    With `keeps_going=True` the error is stored in `error` instead, and all later output is dropped,
    because a lost line of progress must not end hours of work.
    """

    def __init__(self, raw: Any, *, keeps_going: bool = False) -> None:
        self.raw = raw
        self.keeps_going = keeps_going
        self.is_dropped = False
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write all bytes of `data` and return their number."""
        remaining_bytes = memoryview(data).cast("B")
        n_bytes = len(remaining_bytes)
        try:
            while len(remaining_bytes) and not self.is_dropped:
                remaining_bytes = remaining_bytes[self._write_part(remaining_bytes) :]
        except OSError as error:
            self.error = self.error or error
            self.is_dropped = True
            if not self.keeps_going:
                raise StdoutWriteError(error.errno, error.strerror) from error
        return n_bytes

    def _write_part(self, remaining_bytes: memoryview) -> int:
        """Write as many bytes as the system accepts, and return their number, at least one.

        While a pipe is full, wait.
        """
        if self.raw is None:
            raise OSError(errno.EBADF, "stdout is closed")
        while True:
            n_written = self.raw.write(remaining_bytes)
            if n_written:
                return int(n_written)
            if n_written == 0:
                raise OSError(errno.EIO, "the system takes no more bytes")
            # The pipe is non-blocking and full, so wait until it accepts bytes again.
            select.select([], [self.raw.fileno()], [])

    def writable(self) -> bool:
        """Return True, as every stream of this class can be written to."""
        return True

    def fileno(self) -> int:
        """Return the file descriptor of the raw stream to which this stream writes."""
        if self.raw is None:
            raise io.UnsupportedOperation("fileno")
        return int(self.raw.fileno())

    def isatty(self) -> bool:
        """Return True if the output goes to a terminal."""
        return self.raw is not None and bool(self.raw.isatty())

    @property
    def name(self) -> Any:
        """Name of the raw stream to which this stream writes."""
        return getattr(self.raw, "name", "<closed>")


class OutputStreams:
    """The writers of stdout and stderr, each with its error if writing failed."""

    def __init__(self) -> None:
        self.stdout: CompleteWriter | None = None
        self.stderr: CompleteWriter | None = None

    def drop_stdout(self) -> None:
        """Discard all output to stdout that is not yet written, without raising an error."""
        if self.stdout is not None:
            self.stdout.is_dropped = True

    @property
    def has_lost_remarks(self) -> bool:
        """True if a note, warning or line of progress could not be written to stderr."""
        return self.stderr is not None and self.stderr.error is not None


@contextmanager
def replace_standard_streams() -> Iterator[OutputStreams]:
    """Replace stdout and stderr by streams that write all of their output, until the block ends.

    A character that the encoding of a stream lacks, such as a minus sign in cp1252, is written as
    its escape. Streams that are no files of the system, such as those of a notebook, are kept.
    """
    streams, old_streams = OutputStreams(), (sys.stdout, sys.stderr)
    new_stdout, streams.stdout = _open_whole_writer(sys.stdout, is_required=True)
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
        sys.stdout, sys.stderr = old_streams


def _open_whole_writer(
    stream: TextIO, *, keeps_going: bool = False, is_required: bool = False
) -> tuple[TextIO, CompleteWriter | None]:
    """Return a text stream that writes all of its output, and its `CompleteWriter`.

    If the stream cannot be replaced, return the stream itself and None.
    """
    if stream is None:  # The parent process closed this stream.
        if not is_required:
            return stream, None
        writer = CompleteWriter(None)
        return io.TextIOWrapper(writer, "utf-8", write_through=True), writer
    buffer = getattr(stream, "buffer", None)
    raw_stream = buffer if isinstance(buffer, io.RawIOBase) else None
    if isinstance(buffer, io.BufferedWriter):
        raw_stream = buffer.raw
    if (
        raw_stream is None
        or isinstance(raw_stream, CompleteWriter)
        or not isinstance(stream, io.TextIOWrapper)
    ):
        return stream, None
    with suppress(OSError):
        stream.flush()
    writer = CompleteWriter(raw_stream, keeps_going=keeps_going)
    byte_stream: Any = writer if raw_stream is buffer else io.BufferedWriter(writer)
    text_stream = io.TextIOWrapper(
        byte_stream,
        stream.encoding,
        "backslashreplace" if stream.errors == "strict" else stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    return text_stream, writer
