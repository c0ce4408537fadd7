"""The same table in any format gives the same features and target, or one sentence says why not."""

import datetime as dt
import io
import zipfile

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from truerisk.exceptions import UnknownName
from truerisk.extend import BadData

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
FRAME = pl.DataFrame(ROWS, schema=["a", "colour", "y"], orient="row").with_columns(
    pl.col("a").fill_nan(None)
)


def parquet(frame, write=pl.DataFrame.write_parquet, **options):
    content = io.BytesIO()
    write(frame, content, **options)
    return content.getvalue()


def zipped():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/t.csv", CSV)
    return content.getvalue()


FORMATS = {
    "arff": ARFF,
    "parquet": parquet(FRAME),
    "categories": parquet(FRAME.with_columns(pl.col("colour", "y").cast(pl.Categorical))),
    "arrow": parquet(FRAME, pl.DataFrame.write_ipc),
    "feather": parquet(FRAME, pl.DataFrame.write_ipc, compression="zstd"),
    "zip": zipped(),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_format_gives_the_table_of_the_csv(kind, read):
    expected, table = read(CSV), read(FORMATS[kind], name=f"t.{kind}")
    assert np.array_equal(table.X, expected.X, equal_nan=True)
    assert table.y.tolist() == expected.y.tolist()
    assert (table.kinds, table.levels) == (expected.kinds, expected.levels)
    assert (table.feature_names, table.missing) == (expected.feature_names, expected.missing)


def test_format_keeps_text_that_looks_like_numbers(read):
    """Strings of a Parquet file and nominal attributes of an ARFF file are text, as declared."""
    codes = [str(j % 12) for j in range(36)]
    columns = pl.DataFrame({"zip": codes, "x": np.arange(36.0) ** 2, "y": codes})
    arff = "@relation r\n@attribute z {1,2}\n@attribute x real\n@attribute y {0,1}\n@data\n"
    for table in (
        read(parquet(columns), name="t.parquet"),
        read(arff + "1,3,0\n2,4,1\n1,5,0\n2,7,1\n", name="t.arff"),
    ):
        assert (table.kinds, table.task) == (("text", "number"), "classification")


def test_parquet_numbers_keep_all_digits(read):
    big = 2**53 + 1
    frame = pl.DataFrame(
        {
            "f": [0.1 + 0.2, 1e-300, -5.0, 7.0],
            "b": [True, False, None, True],
            "when": [dt.date(2020, 1, 1 + j % 2) for j in range(4)],
            "y": [big, big + 1, big, big + 1],
        }
    )
    table = read(parquet(frame), name="t.parquet")
    assert table.X[:, 0].tolist() == [0.1 + 0.2, 1e-300, -5.0, 7.0]
    assert np.array_equal(table.X[:, 1], [1, 0, np.nan, 1], equal_nan=True)
    assert table.levels[2] == ("2020-01-01", "2020-01-02")
    assert table.y.tolist() == [big, big + 1, big, big + 1]


@pytest.mark.parametrize(
    ("column", "target", "kind", "message"),
    [
        ([dt.timedelta(1), dt.timedelta(2)], "y", BadData, "column 'a' .* holds Duration"),
        ([[1], [2]], "y", BadData, "column 'a' .* holds List"),
        ([1, 2], "z", UnknownName, "Its columns: 'a', 'y'"),
    ],
)
def test_parquet_refuses_columns_that_are_no_cells(read, column, target, kind, message):
    with pytest.raises(kind, match=message):
        read(parquet(pl.DataFrame({"a": column, "y": [0, 1]})), target, name="t.parquet")


def test_arff_sparse_rows_are_written_out(read):
    """What a sparse row leaves out is 0, or the first level; quotes may hold commas and braces."""
    table = read(
        "@relation r\n@attribute 'a b' numeric\n@attribute c {no,\"yes, indeed\"}\n"
        '@attribute y {u,v}\n@data\n{0 2.5, 1 "yes, indeed"}\n{2 v}\n{}\n{0 -1,2 v}\n',
        name="t.arff",
    )
    assert table.feature_names == ("a b", "c")
    assert table.X[:, 0].tolist() == [2.5, 0, 0, -1]
    assert table.levels[1] == ("no", "yes, indeed")
    assert table.X[:, 1].tolist() == [1, 0, 0, 0]
    assert table.y.tolist() == ["u", "v", "u", "v"]


ODD = ["3 x, 4 y", "u, 1 v", "x\ny", "x\r\ny", "xny", "a\tb", "a\\b", "it's", "c\u2028d", "e\x85f"]


def escaped(cell):
    """Return the cell as Weka writes it."""
    for bare, told in [("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")]:
        cell = cell.replace(bare, told)
    return f"'{cell}'"


@pytest.mark.parametrize("form", ["{},{},{}", "{{0 {}, 1 {},2 {}}}"], ids=["dense", "sparse"])
def test_arff_odd_text_stays_what_it_is(form, read):
    head = "@relation r\n@attribute a string\n@attribute b real\n@attribute y {u,v}\n@data\n"
    rows = [form.format(escaped(c), i * i, "uv"[i % 2]) for i, c in enumerate(ODD * 2)]
    table = read(head + "\n".join(rows), name="t.arff")
    assert [table.levels[0][int(code)] for code in table.X[:, 0]] == ODD * 2
    assert table.X[:, 1].tolist() == [i * i for i in range(len(rows))]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1 1:2 # a\u20280 1:7\n0 1:3\n1 1:4\n0 1:5\n", [[2], [3], [4], [5]]),
        (
            "# head\n1 1:2 3:1 # tail\n0 2:5\n1 1:1\n0 3:2\n",
            [[2, 0, 1], [0, 5, 0], [1, 0, 0], [0, 0, 2]],
        ),
    ],
)
def test_libsvm_comments_end_with_their_line(read, text, rows):
    """Characters that only Unicode takes for the end of a line begin no row."""
    assert read(text, "label", "t.svm").X.tolist() == rows


def test_libsvm_is_what_scikit_learn_reads(read, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.6)
    path = tmp_path / "t.libsvm"
    dump_svmlight_file(X, rng.integers(2, size=30) * 2 - 1, str(path), zero_based=False)
    theirs, labels = load_svmlight_file(str(path), zero_based=False)
    table = read(path.read_bytes(), "label", "t.libsvm")
    assert np.array_equal(table.X, theirs.toarray())
    assert table.y.tolist() == labels.astype(int).tolist()
    assert table.feature_names == tuple(f"x{j}" for j in range(1, 7))


def test_libsvm_queries_are_groups_and_no_feature(read):
    text = "1 qid:3 1:2 3:1\n0 qid:3 2:5\n1 qid:10 1:1\n0 qid:10 3:2\n"
    aside, together = read(text, "label", "t.svm"), read(text, "label", "t.svm", groups="qid")
    assert aside.groups is None
    assert aside.notes[-1] == (
        "column 'qid' is no feature; if its rows belong together: groups='qid'"
    )
    assert together.groups.tolist() == ["3", "3", "10", "10"]
    assert together.notes == aside.notes[:-1]
    assert aside.X.tolist() == together.X.tolist()
    assert aside.feature_names == ("x1", "x2", "x3")
