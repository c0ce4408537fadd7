"""A file's text: read at once or as it comes, looked at without being decoded."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from tests.readers.conftest import Reader

from truerisk.core.errors import BadData
from truerisk.readers import content, grid

ROWS = "a,y\n" + "1,u\n2,v\n" * 20


@pytest.mark.parametrize("off", [-5, 5, 500, -len(ROWS)])
def test_a_file_whose_size_is_not_what_it_says_is_read_to_its_end(read: Reader, monkeypatch, off):
    """Another process writes to it meanwhile, or the system keeps no size."""

    def fstat(descriptor: int) -> SimpleNamespace:
        true = os.fstat(descriptor)
        return SimpleNamespace(st_mode=true.st_mode, st_size=true.st_size + off)

    monkeypatch.setattr(content, "os", SimpleNamespace(fstat=fstat, PathLike=os.PathLike))
    assert read(ROWS).n_rows == 40


def test_what_grows_past_the_cap_meanwhile_is_refused(read: Reader, monkeypatch):
    """The cap is on what is read, not on what the size said before."""
    monkeypatch.setattr(content, "_at_once", lambda file: None)
    monkeypatch.setattr(content, "_refuse_size", lambda *_: None)
    with pytest.raises(BadData, match="grows past the cap"):
        read(ROWS, max_bytes=100)


@pytest.mark.parametrize("shift", range(4))
def test_characters_across_parts_are_read(read: Reader, shift: int):
    """Of a text beyond ASCII, parts are decoded one after the other to see that it is UTF-8."""
    rows = "".join(f"{'é😀'[i % 2] * 200},{'uv'[i % 2]}\n" for i in range(3000))
    table = read(f"a{'x' * shift},y\n{rows}")
    assert table.levels == (("é" * 200, "😀" * 200),)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"\xff", "0xff (invalid start byte)"),
        (b"\xc3,", "0xc3 (invalid continuation byte)"),
        (b"\xed\xa0\x80", "0xed (invalid continuation byte)"),
        (b"\xc0\x80", "0xc0 (invalid start byte)"),
    ],
)
@pytest.mark.parametrize("n_before", [1, 400_000])
def test_a_byte_that_is_not_utf8_is_named_with_its_line(read: Reader, bad, said, n_before):
    """Wherever it stands; the place is that in the file, not in a part of it."""
    text = b"a,y\n" + b"1,u\n" * n_before + b"2," + bad + b"v\n3,u\n"
    with pytest.raises(BadData) as refused:
        read(text)
    assert f"line {n_before + 2} holds the byte {said}" in str(refused.value)


def test_a_text_that_ends_within_a_character_is_refused(read: Reader):
    """Nothing is left over when all parts are decoded."""
    with pytest.raises(BadData, match=r"0xc3 \(unexpected end of data\)"):
        read(b"a,y\n1,u\n2,\xc3")


@pytest.mark.parametrize("n", [0, 1, 100_000])
def test_a_file_of_blanks_is_empty(read: Reader, n: int):
    """Also where the first look sees nothing else."""
    with pytest.raises(BadData, match="is empty"):
        read(" \n\u2003" * n)
    if n:
        assert read("\n" * n + ROWS).n_rows == 40


def test_an_arff_file_is_told_behind_any_comment(read: Reader):
    """The declaration may stand behind more than the first look sees."""
    body = "@relation t\n@attribute a numeric\n@attribute y {u,v}\n@data\n" + ROWS[4:]
    for comment in ("", "\n \n", "% told\n", "% long\n" * 20_000, "\n" * 100_000):
        assert read(comment + body).n_rows == 40


def test_a_header_is_read_without_the_rest(read: Reader, monkeypatch):
    """Names in quotes, of several lines, behind blank ones; no other cell is decoded for them."""
    monkeypatch.setattr(content.Text, "whole", property(lambda text: pytest.fail("decoded")))
    table = read('\r\n\n"the ""é""\nname",y\r\n' + ROWS[4:])
    assert table.feature_names == ('the "é"\nname',)


@pytest.mark.parametrize(
    "text", [ROWS, "\ufeff" + ROWS, ROWS + "1\0,u", ROWS + "1,\udcff", " \n", "a,y\n1,é\n2,v\n"]
)
def test_the_same_is_said_without_the_compiled_module(read: Reader, monkeypatch, text: str):
    """What is looked for in the bytes there, Python looks for here."""

    def said() -> str:
        try:
            table = read(text.encode(errors="surrogateescape"))
        except BadData as error:
            return str(error)
        return repr((table.X.tolist(), table.y.tolist(), table.notes))

    compiled = said()
    monkeypatch.setattr(content, "available", lambda: False)
    monkeypatch.setattr("truerisk.readers.delimited_text.available", lambda: False)
    monkeypatch.setattr(grid, "read_sheet", None)  # is not asked
    assert said() == compiled
