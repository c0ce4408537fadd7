"""Write a checklist to a file to fill in: CSV, Word (.docx) or a spreadsheet (.xlsx)."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from truerisk.core.errors import UnknownName, visible, xml_text
from truerisk.core.formats import join_words
from truerisk.results.writing import writable_path, write_file
from truerisk.validation.checklists.study_words import read_toml

Cells = Sequence[str]
ENDINGS = (".docx", ".xlsx", ".csv")
XML = "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n"


def checklist_path(path: Any) -> Path:
    """Return the path of a writable file with a known extension; raise if it is not one."""
    file_path = writable_path(path, "checklist.docx")
    if file_path.suffix.lower() not in ENDINGS:
        raise UnknownName(
            f"{file_path.name}: name a file {join_words(ENDINGS, 'or')} for a checklist."
        )
    return file_path


def write_table(path: Any, header: Cells, rows: Sequence[Cells], paragraph: str) -> None:
    """Write a checklist, followed by a paragraph if the file format has paragraphs."""
    file_path = checklist_path(path)
    clean_rows = [[visible(cell) for cell in row] for row in (header, *rows)]
    extension = file_path.suffix.lower()
    file_bytes = (
        _csv_bytes(clean_rows)
        if extension == ".csv"
        else _office_file_bytes(extension[1:], clean_rows, visible(paragraph))
    )
    write_file(file_path, lambda file: file.write_bytes(file_bytes))


def _csv_bytes(rows: Sequence[Cells]) -> bytes:
    """Encode rows as CSV; cells that a spreadsheet would take for a formula get an apostrophe."""
    buffer = io.StringIO()
    safe_rows = [
        [f"'{cell}" if cell.startswith(tuple("=+-@")) else cell for cell in row] for row in rows
    ]
    csv.writer(buffer).writerows(safe_rows)
    # A spreadsheet recognises UTF-8 by the byte order mark.
    return buffer.getvalue().encode("utf-8-sig")


def _office_file_bytes(file_type: str, rows: Sequence[Cells], paragraph: str) -> bytes:
    """Return the bytes of a .docx or .xlsx file, a ZIP archive whose entries have no date."""
    templates = read_toml("office_files")[file_type]
    row_texts = []
    for row_number, row in enumerate(rows):
        cell_template = templates["cell" if row_number else "head"]
        cells = "".join(cell_template.format(text=escape(xml_text(part_text))) for part_text in row)
        row_texts.append(templates["row"].format(cells=cells))
    template_fields = {"rows": "".join(row_texts), "below": escape(xml_text(paragraph))}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for part_name, part_text in templates["parts"].items():
            archive.writestr(zipfile.ZipInfo(part_name), XML + part_text.format(**template_fields))
    return buffer.getvalue()
