"""Formatting of tables as text, as HTML for notebooks, and as data frames."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.core.errors import MissingExtra, escape_invisible
from truerisk.core.formats import split_sentences
from truerisk.core.frozen import frozen

MOST_SPACES = 3  # A cell with more spaces is a sentence, even if it begins with a number.


def text_table(column_names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a text table: numbers are aligned to the right, words to the left."""
    table_rows = [list(column_names), *[list(row) for row in rows]]
    column_widths = [max(_width(row[j]) for row in table_rows) for j in range(len(column_names))]
    is_right_aligned = [all(_is_number(row[j]) for row in rows) for j in range(len(column_names))]
    text_lines = [
        "  ".join(
            _pad(cell, column_width, is_right)
            for cell, column_width, is_right in zip(
                row, column_widths, is_right_aligned, strict=True
            )
        ).rstrip()
        for row in table_rows
    ]
    return "\n".join([text_lines[0], "-" * len(text_lines[0]), *text_lines[1:]])


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _pad(cell: str, width: int, is_right_aligned: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if is_right_aligned else cell + space


def _is_number(cell: str) -> bool:
    """Return True for numbers, also with a unit or an interval, but not for a sentence."""
    starts_with_number = cell.lstrip("+-")[:1].isdigit()
    return not cell or cell == "–" or (starts_with_number and cell.count(" ") <= MOST_SPACES)


def drop_empty_columns(
    header: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """Return a table without the columns in which every cell is empty or a dash.

    The first column stays, and so do all columns of a table without rows.

    >>> drop_empty_columns(["learner", "risk", "std. error"], [["knn", "0.1", "–"]])
    (['learner', 'risk'], [['knn', '0.1']])
    """
    kept = [
        j
        for j in range(len(header))
        if j == 0 or not rows or any(row[j] not in ("", "–") for row in rows)
    ]
    return [header[j] for j in kept], [[row[j] for j in kept] for row in rows]


def blocks_with_caption(
    sentences: str | Sequence[str], header: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[Block]:
    """Return a table with the first sentence as caption, and a table of the other sentences.

    >>> [block.caption for block in blocks_with_caption("It is .1. It was .2.", ["x"], [["1"]])]
    ['It is .1.', '']
    """
    if isinstance(sentences, str):
        sentences = split_sentences(sentences)
    first, *others = sentences
    notes = [Block("", [""], [[sentence] for sentence in others])] if others else []
    return [Block(first, header, rows), *notes]


@frozen
class Block:
    """Table with a caption that shows a result of a computation.

    Control characters in names are escaped.

    Parameters
    ----------
    caption : str
        The caption.
    head : sequence of str
        The names of the columns.
    rows : sequence of sequences of str
        The cells, row by row.

    See Also
    --------
    truerisk.extend.Record : Result that shows such tables.

    Examples
    --------
    >>> from truerisk.extend import Block
    >>> print(Block("Risks", ["learner", "risk"], [["knn", "0.1"], ["lda", "0.2"]]).text)
    learner  risk
    -------------
    knn       0.1
    lda       0.2
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "caption", escape_invisible(self.caption))
        object.__setattr__(self, "head", [escape_invisible(cell) for cell in self.head])
        object.__setattr__(
            self, "rows", [[escape_invisible(cell) for cell in row] for row in self.rows]
        )

    @property
    def text(self) -> str:
        """Text of the table, without the caption and without empty columns."""
        return text_table(*drop_empty_columns(self.head, self.rows))

    @property
    def html(self) -> str:
        """HTML of the table for notebooks, with every cell escaped and text aligned left."""
        header, rows = drop_empty_columns(self.head, self.rows)
        left = " style='text-align:left'"  # Notebooks align every cell to the right.
        styles = [
            "" if all(_is_number(row[j].lstrip("[")) for row in rows) else left
            for j in range(len(header))
        ]

        def row_html(tag: str, cells: Sequence[str]) -> str:
            name = tag.partition(" ")[0]
            return "".join(
                f"<{tag}{style}>{html.escape(cell)}</{name}>" if cell else "<td></td>"
                for cell, style in zip(cells, styles, strict=True)
            )

        # An HTML caption is as narrow as its table, which breaks a sentence into many lines.
        caption = "<p style='margin:.8em 0 .3em;max-width:60em'>"
        caption_html = f"{caption}{html.escape(self.caption)}</p>" if self.caption else ""
        header_html = row_html("th scope='col'", header) if any(header) else ""
        head_html = f"<thead><tr>{header_html}</tr></thead>" if header_html else ""
        body_html = "".join(f"<tr>{row_html('td', row)}</tr>" for row in rows)
        return f"{caption_html}<table>{head_html}<tbody>{body_html}</tbody></table>"


def five_numbers(values: Any) -> tuple[float, float, float, float, float]:
    """Return the five numbers of Tukey's box plot: whisker, quartile, median, quartile, whisker.

    The whiskers end at the most extreme values within 1.5 interquartile ranges of the quartiles.

    >>> five_numbers([1, 2, 3, 4, 5, 20])
    (1.0, 2.25, 3.5, 4.75, 5.0)
    """
    sorted_values = np.sort(np.asarray(values, dtype=np.float64))
    lower_quartile, median, upper_quartile = np.quantile(sorted_values, [0.25, 0.5, 0.75])
    longest_whisker = 1.5 * (upper_quartile - lower_quartile)
    inner_values = sorted_values[
        (sorted_values >= lower_quartile - longest_whisker)
        & (sorted_values <= upper_quartile + longest_whisker)
    ]
    return (
        float(inner_values[0]),
        float(lower_quartile),
        float(median),
        float(upper_quartile),
        float(inner_values[-1]),
    )


def frame_from_rows(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return a data frame with one row for each mapping.

    The keys of the first mapping are the column names.
    """
    column_names = list(rows[0]) if rows else []
    return frame_from_columns(
        {column_name: [row.get(column_name) for row in rows] for column_name in column_names}
    )


def _escape_surrogates(value: Any) -> Any:
    """Replace lone surrogates in a text by escapes, because Arrow cannot hold them.

    Other values are returned unchanged.
    """
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def _escape_column(cells: Any) -> Any:
    """Replace lone surrogates in the cells of a column; numbers are returned unchanged."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind not in "OU":
        return cells
    escaped_cells = [_escape_surrogates(cell) for cell in cells]
    text_cell_indices = (
        cell_index for cell_index, cell in enumerate(cells) if isinstance(cell, str)
    )
    return (
        cells
        if all(escaped_cells[cell_index] == cells[cell_index] for cell_index in text_cell_indices)
        else escaped_cells
    )


def frame_from_columns(columns: Mapping[str, Any]) -> Any:
    """Return a pandas data frame, or a polars one if only polars is installed."""
    columns = {
        _escape_surrogates(column_name): _escape_column(cells)
        for column_name, cells in columns.items()
    }
    try:
        import pandas as pd

        return pd.DataFrame(columns)
    except ImportError:
        pass
    try:
        import polars as pl

        return pl.DataFrame(columns, strict=False)
    except ImportError:
        raise MissingExtra(
            "a frame needs pandas or polars: pip install 'truerisk[io]'; "
            "without them use to_dict()."
        ) from None
