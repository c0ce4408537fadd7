"""The compiled reader and the csv module: equal tables, or the same sentence."""

import csv

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from truerisk.datasets import read_table
from truerisk.extend import TrueRiskError
from truerisk.readers import grid
from truerisk.readers.cells import format_count, join_quoted, quote

WORDS = [
    *("", "NA", "nan", "NAN", "-nan", "?", "inf", "red", " red", "green ", "1,5", "1_0", "٣", "é")
]
NUMERALS = ["1", " 1.0", "01", "-0", "+3", "1e3", "1.5E-2 ", ".5", "5.", "2e400", "1\u00a0", "0.1"]
LONG = ["9007199254740993", "0.30000000000000004", "1e-320"]
cells = st.sampled_from(WORDS + NUMERALS + LONG)
plain = st.one_of(st.sampled_from(NUMERALS), st.floats(-9, 9).map(repr), st.integers(0, 9).map(str))


@st.composite
def files(draw):
    """A table of a few kinds of columns, written with care or without."""
    n = draw(st.integers(0, 12))
    kinds = draw(st.lists(st.sampled_from([cells, plain, plain]), min_size=1, max_size=4))
    columns = [draw(st.lists(kind, min_size=n, max_size=n)) for kind in kinds]
    names = [*"abcd"[: len(columns) - 1], "y"]
    delimiter = draw(st.sampled_from(",;\t|"))
    lines = [delimiter.join(names)]
    for row in zip(*columns, strict=True):
        quoting = draw(st.sampled_from(["never", "always", "where needed"]))
        needed = {"never": False, "always": True}
        lines.append(
            delimiter.join(
                f'"{cell}"' if needed.get(quoting, delimiter in cell) else cell for cell in row
            )
        )
    odd = st.sampled_from(["", "", " ", '"', '"a\n""b"', "1,2", "x;y;z"])
    if draw(st.booleans()):
        lines.insert(draw(st.integers(0, len(lines))), draw(odd))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    return (
        draw(st.sampled_from(["", "\ufeff"])) + end.join(lines) + draw(st.sampled_from(["", end]))
    )


def outcome(path, **options):
    """All of a table that can be compared, or the sentence of the refusal."""
    try:
        table = read_table(path, "y", **options)
    except TrueRiskError as error:
        return type(error), str(error)
    said = {name: value for name, value in vars(table).items() if name not in ("X", "y", "groups")}
    arrays = (table.X, table.y, np.zeros(0) if table.groups is None else table.groups)
    exact = [array.tobytes() if array.dtype != object else array.tolist() for array in arrays]
    return said, exact, [(array.dtype, array.shape, array.flags.c_contiguous) for array in arrays]


@settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))
@given(
    text=files(),
    name=st.sampled_from(["t.csv", "t.tsv", "t.txt"]),
    options=st.fixed_dictionaries(
        {},
        optional={
            "groups": st.sampled_from("ab"),
            "target_type": st.sampled_from(["classification", "regression"]),
            "max_cells": st.integers(1, 30),
        },
    ),
)
@example(text="a,y\n1,0.5\ntwo,1.5\n3,2.5\n", name="t.csv", options={})
@example(text="a,y\n" + "1,2\n" * 19 + "red,3\n" + "4,2\n3,3\n", name="t.csv", options={})
@example(text='a,y\n"1\r\n2",u\n\n3,v\n1,u\n2,v\n1', name="t.csv", options={})
@example(text="a,y\n1,2.5\n2,2.5\n", name="t.csv", options={"target_type": "regression"})
def test_read_table_gives_the_same_by_both_readers(tmp_path, monkeypatch, text, name, options):
    path = tmp_path / name
    path.write_bytes(text.encode())
    packed = outcome(path, **options)
    with monkeypatch.context() as without:
        without.setattr(grid, "read_sheet", lambda *_, **__: None)
        assert outcome(path, **options) == packed


def spread(table):
    return [table.X.tobytes(), table.y.tolist(), table.levels, table.notes]


def test_compiled_reader_reads_what_the_csv_module_can(read, monkeypatch):
    content = 'a,y\n"say ""no""\n",u\r\n\r\n"",v\nyes,u\nyes,v\n'
    expected = spread(read(content))
    monkeypatch.setattr(grid, "_read_row_by_row", None)
    assert spread(read(content)) == expected


@pytest.mark.parametrize("n_rows", [100, 30_000])
def test_compiled_reader_names_the_line_of_a_stray_word(read, n_rows):
    rows = [f"{i % 50 / 7},{i % 13},{i % 2}" for i in range(n_rows)]
    rows[-2] = f"lost,{rows[-2].partition(',')[2]}"
    note = read("a,b,y\n" + "\n".join(rows)).notes[1]
    assert note == (
        "column 'a' is read as text because of 1 cell without a number, the first on line "
        f"{n_rows}: 'lost'"
    )


def test_compiled_reader_refuses_the_first_column_of_several(read):
    rows = "".join(f"{i},{i / 3},{i / 7},u\n{i},{i / 3},{i},v\n" for i in range(15_000))
    for _ in range(2):
        with pytest.raises(TrueRiskError, match="column 'b' has 1 infinite value"):
            read("a,b,c,y\n" + rows + "7,inf,1,u\n8,1,inf,v\n")


def test_read_table_refuses_a_cell_beyond_the_limit_of_the_csv_module(read):
    content = f"a,y\n{'é' * 70_000},u\nb,v\nc,u\nb,v\n"
    assert read(content).n_rows == 4  # 140,000 bytes, and fewer characters
    with pytest.raises(TrueRiskError, match=f"field limit \\({csv.field_size_limit()}\\)"):
        read(content.replace("é", "éé"))


def test_read_table_notes_that_a_large_file_is_slow_without_the_compiled_reader(read, monkeypatch):
    content = "a,y\n1,u\n2,v\n4,u\n3,v\n"
    quick = read(content)
    monkeypatch.setattr(grid, "read_sheet", lambda *_, **__: None)
    monkeypatch.setattr(grid, "_LARGE_FILE_BYTES", 10)
    assert read(content).notes == quick.notes
    monkeypatch.setattr(grid, "unavailability_reason", lambda: "it is not here")
    (said,) = set(read(content).notes) - set(quick.notes)
    assert "csv module" in said
    assert "it is not here" in said
    monkeypatch.setattr(grid, "_LARGE_FILE_BYTES", 100)
    assert read(content).notes == quick.notes


@given(st.text(max_size=100))
def test_quoted_text_is_short_and_visible(text):
    shown = quote(text)
    assert shown.isprintable()
    assert len(shown) <= 45


@pytest.mark.parametrize(
    ("write", "given", "shown"),
    [
        (quote, ["Größe <cm>, שם"], "'Größe <cm>, שם'"),
        (quote, ["x" * 41], f"'{'x' * 40}...'"),
        (quote, ["a\u202eb\n"], "'a\\u202eb\\x0a'"),
        (join_quoted, [["a", "b"]], "'a', 'b'"),
        (join_quoted, [list(range(10))], "'0', '1', '2', '3', '4', '5', '6', '7' and 2 more"),
        (format_count, [2000, "row"], "2,000 rows"),
        (format_count, [0, "class", "classes"], "0 classes"),
    ],
)
def test_words_of_cells_show_what_is_cut_escaped_or_left_out(write, given, shown):
    assert write(*given) == shown
