"""A checklist as a file that people fill in: CSV, or a table of Word or of a spreadsheet."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from truerisk.core.errors import UnknownName, visible, xml_text
from truerisk.core.present import listed
from truerisk.results.writing import place_of, write_file

Cells = Sequence[str]
WIDTHS = (1300, 800, 3200, 3900)  # of the columns in Word, in twentieths of a point
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def table_place(path: Any) -> Path:
    """A place that can be written, for a kind of file that is known."""
    place = place_of(path, "checklist.docx")
    if place.suffix.lower() not in WRITERS:
        raise UnknownName(f"{place.name}: name a file {listed([*WRITERS], 'or')} for a checklist.")
    return place


def write_table(path: Any, head: Cells, rows: Sequence[Cells], below: str) -> None:
    """The table, and a paragraph below it where the kind of file has paragraphs."""
    place = table_place(path)
    clean = [[visible(cell) for cell in row] for row in (head, *rows)]
    content = WRITERS[place.suffix.lower()](clean, visible(below))

    def write(file: Path) -> None:
        file.write_bytes(content)

    write_file(place, write)


def _csv(rows: Sequence[Cells], _: str) -> bytes:
    """A cell that a spreadsheet would compute begins with an apostrophe."""
    text = io.StringIO()
    plain = [[f"'{cell}" if cell.startswith(tuple("=+-@")) else cell for cell in r] for r in rows]
    csv.writer(text).writerows(plain)
    return text.getvalue().encode("utf-8-sig")  # the mark by which a spreadsheet knows UTF-8


def _docx(rows: Sequence[Cells], below: str) -> bytes:
    def paragraph(text: str, look: str = "") -> str:
        run = f"<w:r>{look}<w:t xml:space='preserve'>{escape(xml_text(text))}</w:t></w:r>"
        return f"<w:p>{run}</w:p>"

    def line(row: Cells, look: str = "") -> str:
        cells = (f"<w:tc><w:tcPr/>{paragraph(cell, look)}</w:tc>" for cell in row)
        return f"<w:tr>{''.join(cells)}</w:tr>"

    sides = ("top", "left", "bottom", "right", "insideH", "insideV")
    borders = "".join(f"<w:{side} w:val='single' w:sz='4' w:color='999999'/>" for side in sides)
    first = line(rows[0], "<w:rPr><w:b/></w:rPr>")
    grid = "".join(f"<w:gridCol w:w='{width}'/>" for width in WIDTHS)
    table = (
        f"<w:tbl><w:tblPr><w:tblBorders>{borders}</w:tblBorders></w:tblPr>"
        f"<w:tblGrid>{grid}</w:tblGrid>"
        f"{first}{''.join(map(line, rows[1:]))}</w:tbl>"
    )
    body = f"{table}{paragraph('')}{paragraph(below)}"
    spaces = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'"
    document = f"<w:document {spaces}><w:body>{body}<w:sectPr/></w:body></w:document>"
    name = "word/document.xml"
    return _packed({name: document}, {name: _WORD}, {"": [("officeDocument", name)]})


def _xlsx(rows: Sequence[Cells], _: str) -> bytes:
    def line(row: Cells) -> str:
        cells = (
            f"<c t='inlineStr'><is><t xml:space='preserve'>{escape(xml_text(cell))}</t></is></c>"
            for cell in row
        )
        return f"<row>{''.join(cells)}</row>"

    space = "xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'"
    columns = "".join(
        f"<col min='{k}' max='{k}' width='{width / 60:.0f}' customWidth='1'/>"
        for k, width in enumerate(WIDTHS, start=1)
    )
    lines = "".join(map(line, rows))
    sheet = f"<worksheet {space}><cols>{columns}</cols><sheetData>{lines}</sheetData></worksheet>"
    book = (
        f"<workbook {space} xmlns:r='{_OFFICE}'><sheets>"
        "<sheet name='checklist' sheetId='1' r:id='rId1'/></sheets></workbook>"
    )
    parts = {"xl/workbook.xml": book, "xl/worksheets/sheet1.xml": sheet}
    kinds = {
        "xl/workbook.xml": f"{_SHEET}.sheet.main+xml",
        "xl/worksheets/sheet1.xml": f"{_SHEET}.worksheet+xml",
    }
    links = {
        "": [("officeDocument", "xl/workbook.xml")],
        "xl/workbook.xml": [("worksheet", "worksheets/sheet1.xml")],
    }
    return _packed(parts, kinds, links)


WRITERS = {".docx": _docx, ".xlsx": _xlsx, ".csv": _csv}


def _packed(
    parts: Mapping[str, str],
    kinds: Mapping[str, str],
    links: Mapping[str, Iterable[tuple[str, str]]],
) -> bytes:
    """The parts of a document of Office with what says of which kind they are, and who has whom."""
    types = "".join(f"<Override PartName='/{k}' ContentType='{v}'/>" for k, v in kinds.items())
    files = {
        "[Content_Types].xml": (
            f"<Types xmlns='{_PACKAGE}/content-types'><Default Extension='rels' "
            "ContentType='application/vnd.openxmlformats-package.relationships+xml'/>"
            f"{types}</Types>"
        )
    }
    for owner, targets in links.items():
        folder, _, name = owner.rpartition("/")
        lines = "".join(
            f"<Relationship Id='rId{k}' Type='{_OFFICE}/{kind}' Target='{target}'/>"
            for k, (kind, target) in enumerate(targets, start=1)
        )
        place = "/".join(filter(None, [folder, "_rels", f"{name}.rels"]))
        files[place] = f"<Relationships xmlns='{_PACKAGE}/relationships'>{lines}</Relationships>"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**files, **parts}.items():
            head = "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n"
            archive.writestr(zipfile.ZipInfo(name), head + text)  # without a date: equal bytes
    return packed.getvalue()
