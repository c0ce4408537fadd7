"""Results that are data: shown, written as JSON, and read back into the same class.

The fields of a frozen dataclass say what its JSON holds. What a type cannot say stands in
`Annotated`: the range of a number, the dtype and the axes of an array, and which columns are as
long as each other.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from truerisk.core import plain_values, tables
from truerisk.core.errors import Brief, xml_text
from truerisk.results.door import load_from_above, load_part

MAX_BYTES = 64 * 2**20
"""The largest document of results that is read unless `max_bytes` says otherwise.

Reading takes up to half a second and 30 MiB of memory for each MiB of text.
"""
LARGEST_COUNT = 2**53


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`."""

    low: float
    high: float

    def __str__(self) -> str:
        most = "" if self.high >= 1e15 else f" and {self.high:g} at most"
        return f"{self.low:g} at least{most}"


@dataclass(frozen=True)
class Column:
    """An array, or a tuple, as long as the other columns with this `name`; "" for any length.

    `kind` is a dtype, or "times": dates or numbers.
    """

    name: str = ""
    kind: str = "f8"
    n_axes: int = 1
    least: int = 0
    most: int = 10_000_000
    numbers: Range | None = None


Share = Annotated[float, Range(0, 1)]
Count = Annotated[int, Range(0, LARGEST_COUNT)]
FINITE = Range(-1e150, 1e150)
Finite = Annotated[float, FINITE]
Points = Annotated[np.ndarray, Column("points", least=1, numbers=FINITE)]
Positive = Annotated[int, Range(1, LARGEST_COUNT)]
Perfect = Annotated[float, Range(FINITE.low, inf)]
Size = Annotated[float, Range(0, FINITE.high)]


UNWRITTEN = {"written": False}
"""`field(metadata=UNWRITTEN)` is no part of the JSON, nor of a result that was read from it.

Another name in the JSON is `field(metadata={"key": ...})`.
"""

UNLESS_EMPTY = {"written": "unless empty"}
"""`field(metadata=UNLESS_EMPTY)` is left out of the JSON where it is empty, which few are not."""


class Shown(Brief):
    """A result that shows itself: a notebook has its blocks, or what it prints, and its picture."""

    def blocks(self) -> Sequence[tables.Block]:
        """The tables that a notebook and a page show of it."""
        return ()

    def plot(self, ax: Any = None) -> Any:
        """Draw its figure on the axes `ax` or new ones (needs matplotlib), and return the axes."""
        return load_from_above("picture")(self, ax=ax)

    def _repr_html_(self) -> str:
        shown = "".join(block.html for block in self.blocks())
        picture: str = load_from_above("notebook-picture")(self)
        return xml_text(shown or f"<pre>{html.escape(str(self))}</pre>") + picture


class Written(Shown):
    """A dataclass that can be written down: `to_dict` is what a file of it holds."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under a versioned schema name."""
        content: dict[str, Any] = plain_values.plain(self)
        return content

    def to_json(self, path: Any = None) -> str:
        """One JSON document, also written to `path` where one is given."""
        return _also_written(path, lambda: json.dumps(self.to_dict(), allow_nan=False))

    def to_html(self, path: Any = None) -> str:
        """One HTML page that needs nothing else, also written to `path` where one is given."""
        return _also_written(path, lambda: str(load_from_above("page")(self)))

    def save_figures(
        self, folder: Any, formats: Iterable[str] = ("svg", "png", "pdf")
    ) -> tuple[Path, ...]:
        """Write the figures of its page, and say where; PNG (300 dpi) and PDF need matplotlib."""
        return tuple(load_from_above("files")(self, folder, formats))

    def to_metrics(self) -> dict[str, float]:
        """Its numbers by name, for a tracker: `mlflow.log_metrics(result.to_metrics())`.

        A risk or score stands under its name as people state it (`auc`), the ends of its interval
        beside it (`auc.low`, `auc.high`), what belongs to one learner behind its name (`knn/auc`).
        What is not known is left out, and a letter that MLflow does not take becomes "_".
        """
        return plain_values.metrics_of(self._metrics())

    def _metrics(self) -> Mapping[str, Any]:
        """The numbers of `to_metrics`, None where one is not known."""
        return self.to_dict()


def _also_written(path: Any, make: Callable[[], str]) -> str:
    """Return a text, which is also written to `path` where one is given."""
    text: str = make() if path is None else load_part("also-written")(path, make)
    return text


class Record(Written):
    """A frozen result whose JSON is its fields and, beside them, the properties in `derived`.

    Those in `stored` are read again, too: cached properties of what is no part of the JSON, such as
    rows. Both name properties, or map a key of the JSON to each. `_types_elsewhere` gives the
    places of types in annotations that are imported only when the JSON has such a value.
    """

    schema: ClassVar[str] = ""
    derived: ClassVar[tuple[str, ...] | Mapping[str, str]] = ()
    stored: ClassVar[Mapping[str, str]] = {}
    _types_elsewhere: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read the result that `to_dict` wrote."""
        record: Self = load_part("read-dict")(cls, content)
        return record

    @classmethod
    def from_json(cls, source: str | bytes | Path, *, max_bytes: int = MAX_BYTES) -> Self:
        """Read the result that `to_json` wrote.

        Parameters
        ----------
        source : str, bytes or pathlib.Path
            The text, or the Path of its file.
        max_bytes : int, default 64 MiB
            Refuse a larger document.

        Returns
        -------
        Self
            A result of this class.

        Raises
        ------
        BadData
            If the document is damaged, of another class, or too large. One sentence names the
            place.
        """
        record: Self = load_part("read-json")(cls, source, max_bytes)
        return record

    def __str__(self) -> str:
        return "\n\n".join(block.text for block in self.blocks())

    def to_frame(self) -> Any:
        """Its lines as a frame of pandas, or of polars where only that is installed.

        There is a line for each of its `measures`, or for each entry of its first array and of
        those that are as long; else one line, where a number of a part has its path for a name,
        `interval.low`, and lists are left out.
        """
        measures = getattr(self, "measures", None)
        if measures is not None:
            return tables.frame_of_rows(
                [dict(plain_values.leaves(measure.to_dict())) for measure in measures.values()]
            )
        known = fields(self)  # type: ignore[arg-type]  # every record is a dataclass
        written = {f.name: getattr(self, f.name) for f in known if f.metadata != UNWRITTEN}
        arrays = {n: a for n, a in written.items() if isinstance(a, np.ndarray) and a.ndim == 1}
        lengths = [len(array) for array in arrays.values()]
        if lengths:
            return tables.frame_of({n: a for n, a in arrays.items() if len(a) == lengths[0]})
        return tables.frame_of_rows([dict(plain_values.leaves(self.to_dict()))])

    def frame(self, *args: Any, **options: Any) -> Any:
        """`to_frame` by its older name."""
        return self.to_frame(*args, **options)
