"""Base classes of results that are displayed, written as JSON, and read back into their class.

The fields of a frozen dataclass determine its JSON. `Annotated` adds what a type cannot express:
the range of a number, the dtype and the axes of an array, and which columns have equal lengths.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from truerisk.core import plain_values, tables
from truerisk.core.errors import BriefRepr, escape_for_xml
from truerisk.core.frozen import frozen
from truerisk.results.door import load_from_package, load_from_results

MAX_BYTES = 64 * 2**20
"""Largest size in bytes of a JSON document that is read, unless `max_bytes` is given.

Reading takes up to half a second and 30 MiB of memory for each MiB of text.
"""
LARGEST_COUNT = 2**53


@frozen
class Range:
    """Type annotation of a number: it lies between `low` and `high`.

    Parameters
    ----------
    low : float
        The smallest number.
    high : float
        The largest number.

    See Also
    --------
    truerisk.extend.Column : Annotation of an array.

    Examples
    --------
    >>> from truerisk.extend import Range
    >>> Range(0, 1)
    Range(low=0, high=1)
    """

    low: float
    high: float

    def __str__(self) -> str:
        upper_text = "" if self.high >= 1e15 else f" and {self.high:g} at most"
        return f"{self.low:g} at least{upper_text}"


@frozen
class Column:
    """Type annotation of an array or tuple field of a record: its length, type and range.

    Parameters
    ----------
    name : str, default=""
        Columns with the same name have the same length; "" allows any length.
    kind : str, default="f8"
        A NumPy dtype, or "times" for dates or numbers.
    n_axes : int, default=1
        The number of axes of an array.
    least : int, default=0
        The smallest length.
    most : int, default=10000000
        The largest length.
    numbers : Range, optional
        The range of the numbers.

    See Also
    --------
    truerisk.extend.Record : The class whose fields are annotated.
    truerisk.extend.Range : Annotation of a number.

    Examples
    --------
    >>> from truerisk.extend import Column, Range
    >>> Column("rows", numbers=Range(0, 1)).numbers.high
    1
    """

    name: str = ""
    kind: str = "f8"
    n_axes: int = 1
    least: int = 0
    most: int = 10_000_000
    numbers: Range | None = None


Share = Annotated[float, Range(0, 1)]
Count = Annotated[int, Range(0, LARGEST_COUNT)]
FINITE_RANGE = Range(-1e150, 1e150)
FiniteFloat = Annotated[float, FINITE_RANGE]
PointArray = Annotated[np.ndarray, Column("points", least=1, numbers=FINITE_RANGE)]
PositiveCount = Annotated[int, Range(1, LARGEST_COUNT)]
PerfectScore = Annotated[float, Range(FINITE_RANGE.low, inf)]
NonNegative = Annotated[float, Range(0, FINITE_RANGE.high)]


UNWRITTEN = {"written": False}
"""Metadata of a field that is not written to the JSON, and is absent in a result read from it.

Such a field is declared by `field(metadata=UNWRITTEN)`.

`field(metadata={"key": ...})` gives the field another name in the JSON.
"""

UNWRITTEN_IF_EMPTY = {"written": "unless empty"}
"""Metadata of a field that is omitted from the JSON if it is empty, as it usually is."""


class DisplayedResult(BriefRepr):
    """Base class of results that a notebook shows as tables or printed text, with a figure."""

    def blocks(self) -> Sequence[tables.Block]:
        """Return the tables that a notebook and an HTML page show for the result.

        Returns
        -------
        sequence of Block
            The tables.
        """
        return ()

    def plot(self, ax: Any = None) -> Any:
        """Draw the figure of the result (needs matplotlib) and return the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return load_from_package("picture")(self, ax=ax)

    def _repr_html_(self) -> str:
        blocks_html = "".join(block.html for block in self.blocks())
        picture_html: str = load_from_package("notebook-picture")(self)
        text = html.escape(str(self))
        # Lines of text tables must neither wrap nor have letters of different widths.
        style = "font-family:monospace;white-space:pre;overflow-x:auto"
        text_html = f"<pre style='{style}'>{text}</pre>" if "\n" in text else f"<p>{text}</p>"
        return escape_for_xml(blocks_html or text_html) + picture_html


class Written(DisplayedResult):
    """Base class of results that can be written to files.

    `to_dict` returns the content that is written.

    See Also
    --------
    truerisk.extend.Record : Base class that also reads what it wrote.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from truerisk.extend import Written
    >>> @dataclass(frozen=True)
    ... class Score(Written):
    ...     value: float
    >>> Score(0.5).to_json()
    '{"value": 0.5}'
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the content as plain Python values, with a versioned schema name.

        Returns
        -------
        dict
            The content, as plain Python values.
        """
        content: dict[str, Any] = plain_values.to_json_value(self)
        return content

    def to_json(self, path: Any = None) -> str:
        """Return the result as a JSON document, and write it to `path` if given.

        Parameters
        ----------
        path : path, optional
            The file to write.

        Returns
        -------
        str
            The document.
        """
        return _make_and_write_text(path, lambda: json.dumps(self.to_dict(), allow_nan=False))

    def to_html(self, path: Any = None) -> str:
        """Return the result as a self-contained HTML page, and write it to `path` if given.

        Parameters
        ----------
        path : path, optional
            The file to write.

        Returns
        -------
        str
            The page.
        """
        return _make_and_write_text(path, lambda: str(load_from_package("page")(self)))

    def save_figures(
        self, folder: Any, formats: Iterable[str] = ("svg", "png", "pdf")
    ) -> tuple[Path, ...]:
        """Write the figures of the result's page to files, and return the paths of the files.

        PNG and PDF files need matplotlib. PNG files have 300 dpi.

        Parameters
        ----------
        folder : path
            The folder to write to.
        formats : iterable of str, default=("svg", "png", "pdf")
            The file formats.

        Returns
        -------
        tuple of Path
            The paths of the files.
        """
        return tuple(load_from_package("files")(self, folder, formats))

    def to_metrics(self) -> dict[str, float]:
        """Return the numbers of the result by name, for an experiment tracker such as MLflow.

        An example is `mlflow.log_metrics(result.to_metrics())`. A risk or score has its common name
        (`auc`), the ends of its interval have derived names (`auc.low`, `auc.high`), and numbers of
        one learner follow its name (`knn/auc`). Unknown numbers are omitted, and characters that
        MLflow does not accept become "_".

        Returns
        -------
        dict of str to float
            The numbers by name.
        """
        return plain_values.extract_metrics(self._metrics())

    def _metrics(self) -> Mapping[str, Any]:
        """Return the numbers that `to_metrics` reports, by name; an unknown number is None."""
        return self.to_dict()


def _make_and_write_text(path: Any, make_text: Callable[[], str]) -> str:
    """Call `make_text` and return its text; if `path` is given, also write the text there."""
    text: str = make_text() if path is None else load_from_results("also-written")(path, make_text)
    return text


class Record(Written):
    """A frozen result whose JSON holds its fields and the properties in `derived`.

    Properties in `stored` are read back as well: cached properties of data that is not in the JSON,
    such as rows. Both are tuples of property names, or mappings from JSON keys to properties.
    `_types_elsewhere` gives the modules of types in annotations that are imported only when the
    JSON has such a value.

    See Also
    --------
    truerisk.extend.Written : Base class without a reader.
    truerisk.extend.Column : Annotation of an array field.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from truerisk.extend import Record
    >>> @dataclass(frozen=True)
    ... class Score(Record):
    ...     schema = "example.score/1"
    ...     value: float
    >>> Score(0.5).to_dict()
    {'schema': 'example.score/1', 'value': 0.5}
    """

    schema: ClassVar[str] = ""
    derived: ClassVar[tuple[str, ...] | Mapping[str, str]] = ()
    stored: ClassVar[Mapping[str, str]] = {}
    _types_elsewhere: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Build a result from the content that `to_dict` returned.

        Parameters
        ----------
        content : mapping
            The content of the JSON document.

        Returns
        -------
        Record
            The result, of the class on which the method was called.
        """
        record: Self = load_from_results("read-dict")(cls, content)
        return record

    @classmethod
    def from_json(cls, source: str | bytes | Path, *, max_bytes: int = MAX_BYTES) -> Self:
        """Build a result from the JSON that `to_json` wrote.

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
        record: Self = load_from_results("read-json")(cls, source, max_bytes)
        return record

    def __str__(self) -> str:
        return "\n\n".join(block.text for block in self.blocks())

    def to_frame(self) -> Any:
        """Return the result as a frame of pandas, or of polars if only that is installed.

        There is a row for each of its `measures`, or for each entry of its first array and of
        arrays with the same length. Otherwise there is one row, in which a number of a part is
        named by its path, `interval.low`, and lists are omitted.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed.
        """
        measures = getattr(self, "measures", None)
        if measures is not None:
            return tables.frame_from_rows(
                [
                    dict(plain_values.iterate_leaves(measure.to_dict()))
                    for measure in measures.values()
                ]
            )
        dataclass_fields = fields(self)  # type: ignore[arg-type]  # every record is a dataclass
        written_values = {
            dataclass_field.name: getattr(self, dataclass_field.name)
            for dataclass_field in dataclass_fields
            if dataclass_field.metadata != UNWRITTEN
        }
        arrays = {
            n: column
            for n, column in written_values.items()
            if isinstance(column, np.ndarray) and column.ndim == 1
        }
        lengths = [len(array) for array in arrays.values()]
        if lengths:
            return tables.frame_from_columns(
                {n: column for n, column in arrays.items() if len(column) == lengths[0]}
            )
        return tables.frame_from_rows([dict(plain_values.iterate_leaves(self.to_dict()))])

    def frame(self, *args: Any, **options: Any) -> Any:
        """Return the frame of `to_frame`; `frame` is the older name of that method.

        Parameters
        ----------
        *args
            Arguments of `to_frame`.
        **options
            Options of `to_frame`.

        Returns
        -------
        DataFrame
            The frame of `to_frame`.
        """
        return self.to_frame(*args, **options)
