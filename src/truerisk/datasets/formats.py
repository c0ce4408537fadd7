"""Which format a file is in, told by its content where that is possible, else by its name."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path, PurePath

from truerisk.core.errors import BadData
from truerisk.datasets.columnar import READERS, read_columnar
from truerisk.datasets.content import Text, read_text, refuse_large
from truerisk.datasets.exchange import looks_like_arff, read_arff, read_libsvm
from truerisk.datasets.grid import Columns, cut

__all__ = ["read_columns"]

_DELIMITER_OF = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_COMPRESSED = {".gz", ".bz2", ".xz", ".zip"}
_LIBSVM = {".libsvm", ".svmlight", ".svm"}
_COLUMNAR = {".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"}


def read_columns(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None,
    max_cells: int,
    max_bytes: int,
    aside: Collection[str] = (),
) -> Columns:
    """Names and cells of a file: delimited text, ARFF, LIBSVM, Parquet or Arrow.

    Columns of the names `aside` will be no features, and need not lie in one table with them.
    """
    kind = _columnar(path)
    if kind is not None:
        refuse_large(path, max_bytes)
        return read_columnar(path, kind, max_cells=max_cells, max_bytes=max_bytes)
    text = _text(path, max_bytes)
    if _may_be_arff(text) and looks_like_arff(text.whole):
        return read_arff(text.whole, max_cells=max_cells)
    extension = _extension(path)
    if extension in _LIBSVM:
        return read_libsvm(text.whole, max_cells=max_cells)
    separator = delimiter or _DELIMITER_OF.get(extension)
    return cut(text, delimiter=separator, max_cells=max_cells, aside=aside)


def _may_be_arff(text: Text) -> bool:
    """Whether the first character begins a declaration or a comment, or lies further on."""
    return text.head.lstrip()[:1] in ("@", "%", "")


def _text(path: str | os.PathLike[str], max_bytes: int) -> Text:
    """The file as text; where it is none and has the name of a file of columns, that is said."""
    try:
        return read_text(path, max_bytes=max_bytes)
    except BadData as error:
        kind = _COLUMNAR.get(_extension(path))
        if kind is None:
            raise
        raise BadData(
            f"{error} It is named like a file of {kind} and does not begin like one: if it should "
            "be one, it is damaged; write it anew."
        ) from error


def _columnar(path: str | os.PathLike[str]) -> str | None:
    """The reader of a file of columns, by its first bytes; None for all others."""
    try:
        if not Path(path).is_file():  # a pipe would lose its beginning here, or never begin
            return None
        with Path(path).open("rb") as file:
            head = file.read(8)
    except (OSError, ValueError):  # reading it as text says what is wrong
        return None
    return next((kind for magic, kind in READERS.items() if head.startswith(magic)), None)


def _extension(path: str | os.PathLike[str]) -> str:
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
