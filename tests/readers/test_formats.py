"""The same table in any format gives the same features and target, or one sentence says why not."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from truerisk.core.errors import BadData, MissingExtra, UnknownName
from truerisk.readers.table import read_table

ROWS = [(1.5, "red", "u"), (float("nan"), "blue", "v"), (4.0, "red", "u"), (3.25, "green", "v")]
CSV = "a,colour,y\n" + "".join(f"{'' if a != a else a},{c},{y}\n" for a, c, y in ROWS)
ARFF = """% a comment
@RELATION "small table"

@attribute a numeric
@attribute 'colour' {red, 'blue', green}
@attribute y {u,v}
@data
% another
1.5,red,u
?,'blue',v
4.0, red ,u
3.25,green,v
"""


def _frame() -> pl.DataFrame:
    frame = pl.DataFrame(ROWS, schema=["a", "colour", "y"], orient="row")
    return frame.with_columns(pl.col("a").fill_nan(None))


def _written(kind: str, folder: Path) -> Path:
    path = folder / f"t.{kind}"
    if kind == "csv":
        path.write_text(CSV)
    elif kind == "arff":
        path.write_text(ARFF)
    elif kind == "parquet":
        _frame().write_parquet(path)
    elif kind == "categories":
        _frame().with_columns(pl.col("colour", "y").cast(pl.Categorical)).write_parquet(path)
    elif kind == "arrow":
        _frame().write_ipc(path)
    elif kind == "feather":
        _frame().write_ipc(path, compression="zstd")
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/t.csv", CSV)
    return path


@pytest.mark.parametrize("kind", ["arff", "parquet", "categories", "arrow", "feather", "zip"])
def test_every_format_gives_the_table_of_the_csv(kind: str, tmp_path: Path) -> None:
    """X, y, kinds, levels and names do not depend on the format."""
    expected = read_table(_written("csv", tmp_path), "y")
    table = read_table(_written(kind, tmp_path), "y")
    assert np.array_equal(table.X, expected.X, equal_nan=True)
    assert table.y.tolist() == expected.y.tolist()
    assert (table.kinds, table.levels) == (expected.kinds, expected.levels)
    assert (table.feature_names, table.missing) == (expected.feature_names, expected.missing)


def test_text_that_looks_like_numbers_stays_text(tmp_path: Path) -> None:
    """Strings of a Parquet file and nominal attributes of an ARFF file are text, as declared."""
    path = tmp_path / "t.parquet"
    codes = [str(j % 12) for j in range(36)]
    pl.DataFrame({"zip": codes, "x": np.arange(36.0) ** 2, "y": codes}).write_parquet(path)
    table = read_table(path, "y")
    assert (table.kinds, table.task) == (("text", "number"), "classification")
    arff = "@relation r\n@attribute z {1,2}\n@attribute x real\n@attribute y {0,1}\n@data\n"
    path = tmp_path / "t.arff"
    path.write_text(arff + "1,3,0\n2,4,1\n1,5,0\n2,7,1\n")
    table = read_table(path, "y")
    assert (table.kinds, table.task) == (("text", "number"), "classification")


def test_numbers_of_a_parquet_file_keep_all_digits(tmp_path: Path) -> None:
    """Floats, integers of 64 bits, truth values and dates stand as they were."""
    path = tmp_path / "t.parquet"
    big = 2**53 + 1
    pl.DataFrame(
        {
            "f": [0.1 + 0.2, 1e-300, -5.0, 7.0],
            "b": [True, False, None, True],
            "when": [dt.date(2020, 1, 1 + j % 2) for j in range(4)],
            "y": [big, big + 1, big, big + 1],
        }
    ).write_parquet(path)
    table = read_table(path, "y")
    assert table.X[:, 0].tolist() == [0.1 + 0.2, 1e-300, -5.0, 7.0]
    assert np.array_equal(table.X[:, 1], [1, 0, np.nan, 1], equal_nan=True)
    assert table.levels[2] == ("2020-01-01", "2020-01-02")
    assert table.y.tolist() == [big, big + 1, big, big + 1]


def test_sparse_arff_rows_are_written_out(tmp_path: Path) -> None:
    """What a sparse row leaves out is 0, or the first level; quotes may hold commas and braces."""
    path = tmp_path / "t.arff"
    path.write_text(
        "@relation r\n@attribute 'a b' numeric\n@attribute c {no,\"yes, indeed\"}\n"
        '@attribute y {u,v}\n@data\n{0 2.5, 1 "yes, indeed"}\n{2 v}\n{}\n{0 -1,2 v}\n'
    )
    table = read_table(path, "y")
    assert table.feature_names == ("a b", "c")
    assert table.X[:, 0].tolist() == [2.5, 0, 0, -1]
    assert table.levels[1] == ("no", "yes, indeed")
    assert table.X[:, 1].tolist() == [1, 0, 0, 0]
    assert table.y.tolist() == ["u", "v", "u", "v"]


ODD = ["3 x, 4 y", "u, 1 v", "x\ny", "x\r\ny", "xny", "a\tb", "a\\b", "it's", "c\u2028d", "e\x85f"]


def _escaped(cell: str) -> str:
    """As Weka writes it."""
    for bare, told in [("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")]:
        cell = cell.replace(bare, told)
    return f"'{cell}'"


@pytest.mark.parametrize("form", ["{},{},{}", "{{0 {}, 1 {},2 {}}}"], ids=["dense", "sparse"])
def test_odd_text_of_an_arff_file_stays_what_it_is(form: str, tmp_path: Path) -> None:
    """Quoted commas before numbers, escapes and the line ends of Unicode, dense and sparse."""
    path = tmp_path / "t.arff"
    head = "@relation r\n@attribute a string\n@attribute b real\n@attribute y {u,v}\n@data\n"
    rows = [form.format(_escaped(c), i * i, "uv"[i % 2]) for i, c in enumerate(ODD * 2)]
    path.write_bytes((head + "\n".join(rows)).encode())
    table = read_table(path, "y")
    assert [table.levels[0][int(code)] for code in table.X[:, 0]] == ODD * 2
    assert table.X[:, 1].tolist() == [i * i for i in range(len(rows))]


def test_a_comment_of_a_libsvm_file_ends_with_its_line(tmp_path: Path) -> None:
    """Characters that only Unicode takes for the end of a line begin no row."""
    path = tmp_path / "t.svm"
    path.write_text("1 1:2 # a\u20280 1:7\n0 1:3\n1 1:4\n0 1:5\n")
    assert read_table(path, "label").X.tolist() == [[2], [3], [4], [5]]


def test_libsvm_is_what_scikit_learn_reads(tmp_path: Path) -> None:
    """Labels and values equal those of load_svmlight_file, comments left out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.6)
    path = tmp_path / "t.libsvm"
    dump_svmlight_file(X, rng.integers(2, size=30) * 2 - 1, str(path), zero_based=False)
    theirs, labels = load_svmlight_file(str(path), zero_based=False)
    table = read_table(path, "label")
    assert np.array_equal(table.X, theirs.toarray())
    assert table.y.tolist() == labels.astype(int).tolist()
    assert table.feature_names == tuple(f"x{j}" for j in range(1, 7))
    path.write_text("# head\n1 1:2 3:1 # tail\n0 2:5\n1 1:1\n0 3:2\n")
    assert read_table(path, "label").X.tolist() == [[2, 0, 1], [0, 5, 0], [1, 0, 0], [0, 0, 2]]


def test_queries_of_libsvm_are_groups_and_no_feature(tmp_path: Path) -> None:
    """Not asked for they stand aside with a note; asked for they are the groups of the rows."""
    path = tmp_path / "t.svm"
    path.write_text("1 qid:3 1:2 3:1\n0 qid:3 2:5\n1 qid:10 1:1\n0 qid:10 3:2\n")
    aside, together = read_table(path, "label"), read_table(path, "label", groups="qid")
    assert aside.groups is None
    assert aside.notes[-1] == (
        "column 'qid' is no feature; if its rows belong together: groups='qid'"
    )
    assert together.groups is not None
    assert together.groups.tolist() == ["3", "3", "10", "10"]
    assert together.notes == aside.notes[:-1]
    assert aside.X.tolist() == together.X.tolist()
    assert aside.feature_names == ("x1", "x2", "x3")


HEAD = "@relation r\n@attribute a numeric\n@attribute y {u,v}\n"
BAD = {
    "libsvm some queries": ("t.svm", "1 qid:1 1:2\n0 1:1\n", "line 2 has no qid, and other"),
    "libsvm query": ("t.svm", "1 qid:a 1:2\n0 qid:1 1:1\n", "line 1: 'qid:a' names no query"),
    "arff without data": ("t.arff", HEAD + "1,u\n", "line 4 of the header is neither"),
    "arff never begins": ("t.arff", HEAD, "no line @data"),
    "arff without rows": ("t.arff", HEAD + "@data\n", "no rows after @data"),
    "arff ragged": ("t.arff", HEAD + "@data\n1,u,3\n", "line 5 has 3 cells where the header has 2"),
    "arff word": ("t.arff", HEAD + "@data\nx,u\n", "line 5: attribute 'a' is numeric .*'x'"),
    "arff quote": ("t.arff", HEAD + "@data\n1,'u\n2,v\n", "line 5 .*quote that is not closed"),
    "arff type": ("t.arff", HEAD.replace("numeric", "relational") + "@data\n", "'relational'"),
    "arff sparse": ("t.arff", HEAD + "@data\n{7 1}\n", "line 5: '7 1' is no pair"),
    "arff sparse twice": ("t.arff", HEAD + "@data\n{0 1,0 2}\n", "line 5 names column 0 twice"),
    "arff open": ("t.arff", HEAD + "@data\n{0 1\n", "line 5: a sparse row is not closed"),
    "arff twice": ("t.arff", HEAD.replace(" y ", " a ") + "@data\n1,u\n", "'a' more than once"),
    "libsvm label": ("t.svm", "1,2 1:3\n", "line 1 has the label '1,2'"),
    "libsvm pair": ("t.svm", "1 1:3\n0 x:1\n", "line 2: 'x:1' is no pair"),
    "libsvm twice": ("t.svm", "1 1:3 1:4\n", "line 1 names column 1 twice"),
    "libsvm empty": ("t.svm", "# nothing\n", "no row with a label"),
    "libsvm wide": ("t.svm", "1 99999999:1\n", "with its zeros the table has more than"),
    "parquet begun otherwise": ("t.parquet", b"\xa9" * 9, "not UTF-8.* damaged; write it anew"),
    "parquet cut": ("t.parquet", b"PAR1" + b"\0" * 50, "is damaged: "),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_with_a_sentence(case: str, tmp_path: Path) -> None:
    """Each names what is wrong and where, in one line."""
    name, content, pattern = BAD[case]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadData, match=pattern) as caught:
        read_table(path, "y")
    assert "\n" not in str(caught.value)


def test_archives_of_several_files_are_refused(tmp_path: Path) -> None:
    """A workbook is an archive of many files."""
    path = tmp_path / "t.csv"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a.csv", CSV)
        archive.writestr("b.csv", CSV)
    path.write_bytes(content.getvalue())
    with pytest.raises(BadData, match="archive of 2 files or an Excel workbook"):
        read_table(path, "y")


def test_caps_hold_before_a_file_is_held(tmp_path: Path) -> None:
    """Cells, packed bytes and the texts of a small Parquet file that unpacks to a large one."""
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["x" * 1000] * 5000, "y": [0, 1] * 2500}).write_parquet(path)
    assert path.stat().st_size < 50_000
    with pytest.raises(BadData, match="its texts hold 5,000,000 bytes"):
        read_table(path, "y", max_bytes=1_000_000)
    with pytest.raises(BadData, match="more than 9,999 cells .5,000 rows, 2 columns"):
        read_table(path, "y", max_cells=9_999)
    with pytest.raises(BadData, match="more than the cap of 10 bytes"):
        read_table(path, "y", max_bytes=10)
    bomb = tmp_path / "t.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", "a,y\n" + "1,u\n" * 500_000)
    with pytest.raises(BadData, match="grows past the cap"):
        read_table(bomb, "y", max_bytes=100_000)


def test_nested_columns_and_missing_targets_are_refused(tmp_path: Path) -> None:
    """Lists and spans are no cells; a target the file lacks is named with the columns it has."""
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [dt.timedelta(1), dt.timedelta(2)], "y": [0, 1]}).write_parquet(path)
    with pytest.raises(BadData, match="column 'a' .* holds Duration"):
        read_table(path, "y")
    pl.DataFrame({"a": [[1], [2]], "y": [0, 1]}).write_parquet(path)
    with pytest.raises(BadData, match="column 'a' .* holds List"):
        read_table(path, "y")
    _frame().write_parquet(path)
    with pytest.raises(UnknownName, match="Its columns: 'a', 'colour', 'y'"):
        read_table(path, "z")


def test_polars_is_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, the sentence says how to get it."""
    import builtins

    real = builtins.__import__

    def without(name: str, *args: object, **options: object) -> object:
        if name == "polars":
            raise ImportError(name)
        return real(name, *args, **options)  # type: ignore[arg-type]

    path = _written("parquet", tmp_path)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"truerisk\[io\]"):
        read_table(path, "y")
