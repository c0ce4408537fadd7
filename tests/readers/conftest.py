"""A file of some content, read as a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from truerisk.readers.table import Table, read_table

Reader = Callable[..., Table]


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    """Write this content to a file and read it."""

    def reader(
        content: str | bytes, target: str = "y", name: str = "t.csv", **options: Any
    ) -> Table:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, target, **options)

    return reader
