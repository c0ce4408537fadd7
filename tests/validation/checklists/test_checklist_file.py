"""A checklist is written to be filled in: Word, a spreadsheet, CSV."""

import csv
import zipfile
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from truerisk.exceptions import NotWritten, UnknownName
from truerisk.validation.checklists.checklist import Checklist, Item

ITEMS = (
    Item("TRIPOD+AI", "1", "Who < what & why?", "'é' → \x07 bell"),
    Item("PROBAST+AI, evaluation", "1.1", "Open?", None),
)
LIST = Checklist(ITEMS, "What was done & why.")
SHOWN = [
    ["guideline", "number", "asks", "answer"],
    ["TRIPOD+AI", "1", "Who < what & why?", "'é' → \\x07 bell"],
    ["PROBAST+AI, evaluation", "1.1", "Open?", ""],
]


def cells_in(path, member: str, line: str, cell: str) -> list[list[str]]:
    """The text of every cell, line by line."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        root = ET.fromstring(archive.read(member))
    return [["".join(one.itertext()) for one in row.iter(cell)] for row in root.iter(line)]


def test_checklist_as_word_has_the_table_and_the_paragraph(tmp_path):
    path = tmp_path / "list.docx"
    LIST.save(path)
    word = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    assert cells_in(path, "word/document.xml", f"{word}tr", f"{word}tc") == SHOWN
    with zipfile.ZipFile(path) as archive:
        assert "What was done &amp; why." in archive.read("word/document.xml").decode()
        assert {"[Content_Types].xml", "_rels/.rels"} < {*archive.namelist()}


def test_checklist_as_spreadsheet_and_csv_has_the_table(tmp_path):
    path = tmp_path / "list.xlsx"
    LIST.save(path)
    sheet = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    assert cells_in(path, "xl/worksheets/sheet1.xml", f"{sheet}row", f"{sheet}c") == SHOWN
    LIST.save(tmp_path / "again.xlsx")
    assert path.read_bytes() == (tmp_path / "again.xlsx").read_bytes()
    formula = Item("PROBAST+AI, evaluation", "1.1", "Who?", "=1+1")
    replace(LIST, items=(*ITEMS, formula)).save(tmp_path / "list.csv")
    with (tmp_path / "list.csv").open(encoding="utf-8-sig", newline="") as file:
        *shown, last = csv.reader(file)
    assert shown == SHOWN
    assert last[3] == "'=1+1"


@pytest.mark.parametrize("member", ["word/document.xml", "xl/worksheets/sheet1.xml"])
def test_checklist_file_is_well_formed_whatever_characters_answers_hold(tmp_path, member):
    """XML 1.0 forbids U+FFFE, U+FFFF, lone surrogates and control characters, escaped or not."""
    path = tmp_path / {"w": "list.docx", "x": "list.xlsx"}[member[0]]
    odd = "\ufffe\uffff\ud800\x00\x0b\x7f"
    Checklist((Item("TRIPOD+AI", "1", odd, odd),), odd).save(path)
    with zipfile.ZipFile(path) as archive:
        text = "".join(ET.fromstring(archive.read(member)).itertext())
    assert r"\xfffe\xffff\xd800\x00\x0b" in text


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("list.pdf", UnknownName, "list.pdf: name a file .docx, .xlsx or .csv for a checklist."),
        ("no/list.csv", NotWritten, "there is no folder"),
        (".", NotWritten, "is a folder; name a file in it, such as checklist.docx."),
    ],
)
def test_checklist_save_refuses_other_places(tmp_path, name, error, words):
    with pytest.raises(error, match=words):
        LIST.save(tmp_path / name)
