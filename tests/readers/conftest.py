"""A file of some content, read as a table."""

import pytest

from truerisk.datasets import read_table


@pytest.fixture
def read(tmp_path):
    """Write this content to a file and read it."""

    def reader(content, target="y", name="t.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, target, **options)

    return reader


@pytest.fixture
def read_outcome(read):
    """Read five rows with an outcome in time: cells of the event, and their times."""

    def reader(cells, times="0.5 2 7 0 9", event="died", **options):
        columns = zip("31425", (times or "0.5 2 7 0 9").split(), cells.split(" "), strict=True)
        content = "\n".join(["x,days,died", *map(",".join, columns)]) + "\n"
        given = {"target": None, "event": event, "time_to_event": "days", **options}
        return read(content, **given)

    return reader
