"""Write a checklist to a file to fill in: CSV, Word (.docx) or a spreadsheet (.xlsx)."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from truerisk.core.errors import UnknownName, escape_for_xml, escape_invisible
from truerisk.core.formats import join_words
from truerisk.results.writing import writable_path, write_file
from truerisk.validation.checklists.paper_words import read_toml

RowCells = Sequence[str]
FILE_EXTENSIONS = (".docx", ".xlsx", ".csv")
XML_DECLARATION = "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n"


def check_checklist_path(path: Any) -> Path:
    """Return the path of a writable file with a known extension; raise if it is not one."""
    file_path = writable_path(path, "checklist.docx")
    if file_path.suffix.lower() not in FILE_EXTENSIONS:
        raise UnknownName(
            f"{file_path.name}: name a file {join_words(FILE_EXTENSIONS, 'or')} for a checklist."
        )
    return file_path


def write_checklist(path: Any, header: RowCells, rows: Sequence[RowCells], paragraph: str) -> None:
    """Write a checklist, followed by a paragraph if the file format has paragraphs."""
    file_path = check_checklist_path(path)
    clean_rows = [[escape_invisible(cell) for cell in row] for row in (header, *rows)]
    extension = file_path.suffix.lower()
    file_bytes = (
        _csv_bytes(clean_rows)
        if extension == ".csv"
        else _office_file_bytes(extension[1:], clean_rows, escape_invisible(paragraph))
    )
    write_file(file_path, lambda file: file.write_bytes(file_bytes))


def _csv_bytes(rows: Sequence[RowCells]) -> bytes:
    """Encode rows as CSV; cells that a spreadsheet would take for a formula get an apostrophe."""
    buffer = io.StringIO()
    safe_rows = [
        [f"'{cell}" if cell.startswith(tuple("=+-@")) else cell for cell in row] for row in rows
    ]
    csv.writer(buffer).writerows(safe_rows)
    # A spreadsheet recognises UTF-8 by the byte order mark.
    return buffer.getvalue().encode("utf-8-sig")


def _office_file_bytes(file_type: str, rows: Sequence[RowCells], paragraph: str) -> bytes:
    """Return the bytes of a .docx or .xlsx file, a ZIP archive whose entries have no date."""
    templates = read_toml("office_files")[file_type]
    row_xml = []
    for row_number, row in enumerate(rows):
        cell_template = templates["cell" if row_number else "head"]
        cells_xml = "".join(
            cell_template.format(text=escape(escape_for_xml(part_text))) for part_text in row
        )
        row_xml.append(templates["row"].format(cells=cells_xml))
    template_fields = {"rows": "".join(row_xml), "below": escape(escape_for_xml(paragraph))}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for part_name, part_text in templates["parts"].items():
            archive.writestr(
                zipfile.ZipInfo(part_name), XML_DECLARATION + part_text.format(**template_fields)
            )
    return buffer.getvalue()
