"""A checklist as a file to fill in: CSV, or a table for Word or for a spreadsheet."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from truerisk.core.errors import UnknownName, visible, xml_text
from truerisk.core.formats import listed
from truerisk.results.writing import place_of, write_file
from truerisk.validation.checklists.study_words import read_toml

Cells = Sequence[str]
ENDINGS = (".docx", ".xlsx", ".csv")
XML = "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n"


def table_place(path: Any) -> Path:
    """Return a writable path with a known file extension, or raise."""
    place = place_of(path, "checklist.docx")
    if place.suffix.lower() not in ENDINGS:
        raise UnknownName(f"{place.name}: name a file {listed(ENDINGS, 'or')} for a checklist.")
    return place


def write_table(path: Any, head: Cells, rows: Sequence[Cells], below: str) -> None:
    """Write the table, followed by a paragraph if the file format has paragraphs."""
    place = table_place(path)
    clean = [[visible(cell) for cell in row] for row in (head, *rows)]
    ending = place.suffix.lower()
    content = _csv(clean) if ending == ".csv" else _packed(ending[1:], clean, visible(below))
    write_file(place, lambda file: file.write_bytes(content))


def _csv(rows: Sequence[Cells]) -> bytes:
    """Encode rows as CSV; cells that a spreadsheet would compute get an apostrophe in front."""
    text = io.StringIO()
    plain = [[f"'{cell}" if cell.startswith(tuple("=+-@")) else cell for cell in r] for r in rows]
    csv.writer(text).writerows(plain)
    # A spreadsheet recognises UTF-8 by the byte order mark.
    return text.getvalue().encode("utf-8-sig")


def _packed(kind: str, rows: Sequence[Cells], below: str) -> bytes:
    """Return a document of Office: its parts, which are archived without a date."""
    made = read_toml("office_files")[kind]
    lines = []
    for place, row in enumerate(rows):
        cell = made["cell" if place else "head"]
        cells = "".join(cell.format(text=escape(xml_text(text))) for text in row)
        lines.append(made["row"].format(cells=cells))
    known = {"rows": "".join(lines), "below": escape(xml_text(below))}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in made["parts"].items():
            archive.writestr(zipfile.ZipInfo(name), XML + text.format(**known))
    return packed.getvalue()
