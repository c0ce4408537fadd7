"""R11: a large CSV file becomes a table; peers that read the same file, and the csv module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.contest import contest
from benchmarks.results import Options, Result
from truerisk.datasets import Table, read_table

__all__ = ["results", "written"]

OF_POLARS, OF_PANDAS, OF_CSV = 1.5, 5.0, 1 / 10
N_ROWS, N_ROWS_QUICK = 400_000, 40_000
N_REALS, N_WHOLE, N_LONG, N_TEXTS = 9, 4, 3, 4  # and the target


def results(options: Options) -> Iterator[Result]:
    n_rows = N_ROWS_QUICK if options.quick else N_ROWS
    with TemporaryDirectory() as folder:
        path = written(Path(folder) / "table.csv", n_rows)
        size = f"{n_rows:,} × {N_REALS + N_WHOLE + N_LONG + N_TEXTS + 1}"
        size += f", {path.stat().st_size / 1e6:.0f} MB"
        peers: dict[str, tuple[Callable[[], Any], float]] = {
            "the csv module": (lambda: Seen.of_table(_by_csv(path)), OF_CSV)
        }
        for word, most in (("polars", OF_POLARS), ("pandas", OF_PANDAS)):
            try:
                module = import_module(word)
            except ImportError as missing:
                yield Result(f"{size}, peer {word}", error=str(missing))
                continue
            peers[word] = (lambda module=module: Seen.of_frame(module.read_csv(path)), most)
        for word, (peer, most) in peers.items():
            yield contest(
                f"{size}, peer {word}",
                peer,
                lambda: Seen.of_table(read_table(path, "y")),
                options.repeats,
                ratio=most,
                tolerance=0.0,
            )


def written(path: Path, n_rows: int) -> Path:
    """A file of numbers short and long, whole numbers, a few empty cells, and words."""
    rng = np.random.default_rng(0)
    columns = [np.char.mod("%.3f", rng.normal(size=n_rows)) for _ in range(N_REALS)]
    columns += [rng.integers(0, 10_000, n_rows).astype(str) for _ in range(N_WHOLE)]
    columns += [
        np.array([repr(v) for v in rng.normal(size=n_rows).tolist()]) for _ in range(N_LONG)
    ]
    columns += [rng.choice([f"level {k}" for k in range(8)], n_rows) for _ in range(N_TEXTS)]
    columns[0][rng.random(n_rows) < 0.01] = ""
    columns.append(rng.choice(["yes", "no"], n_rows))
    names = [f"x{j}" for j in range(1, len(columns))]
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join([*names, "y"]) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))
    return path


def _by_csv(path: Path) -> Table:
    """The same table by Python's csv module, which reads what the compiled reader does not."""
    with patch("truerisk.readers.grid.read_sheet", lambda *_, **__: None):
        return read_table(path, "y")


@dataclass(frozen=True)
class Seen:
    """What was read; made into numbers when both sides are compared, outside the measured time."""

    numbers: Callable[[], np.ndarray]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.nan_to_num(self.numbers(), nan=-1e300)

    @classmethod
    def of_table(cls, table: Table) -> Seen:
        return cls(lambda: np.column_stack([table.X, _codes(table.y)]))

    @classmethod
    def of_frame(cls, frame: Any) -> Seen:
        """Words by their place among the sorted ones, as a table has them."""

        def numbers() -> np.ndarray:
            columns = [frame[name].to_numpy() for name in frame.columns]
            return np.column_stack([c if c.dtype.kind in "fi" else _codes(c) for c in columns])

        return cls(numbers)


def _codes(words: np.ndarray) -> np.ndarray:
    return np.unique(words.astype(str), return_inverse=True)[1].astype(np.float64)
