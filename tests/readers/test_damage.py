"""A damaged file of any format is a table or one sentence: no other error, and no waiting."""

import bz2
import gzip
import io
import lzma
import random
import re
import subprocess
import sys
import zipfile

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import dump_svmlight_file

from truerisk.datasets import Table, read_table
from truerisk.exceptions import UnknownName
from truerisk.extend import BadData
from truerisk.readers import columnar, content
from truerisk.readers.columnar import FORMAT_BY_FIRST_BYTES

N = 40
TIMES = 60  # of each format; a few minutes with thousands find no other kind of error
RNG = np.random.default_rng(0)
FRAME = pl.DataFrame(
    {
        "a": [None if v > 1 else v for v in RNG.normal(size=N).tolist()],
        "b": RNG.integers(0, 50, size=N),
        "colour": RNG.choice(["red", "blue", "grün"], size=N),
        "day": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 2, 9), eager=True),
        "old": RNG.random(N) > 0.5,
        "y": RNG.choice(["u", "v"], size=N),
    }
)
CSV = FRAME.write_csv()
ARFF = (
    "@relation x\n@attribute a numeric\n@attribute colour {red,'blue',\"grün\"}\n"
    "@attribute y {u,v}\n@data\n"
    + "".join(f"{v:.3f},'{c}',{y}\n" for v, c, y in zip(RNG.random(N), FRAME["colour"], FRAME["y"]))
    + "{0 1.5, 1 red, 2 u}\n"
)


def columns(write, frame=FRAME, **options):
    """A file of columns."""
    buffer = io.BytesIO()
    write(frame, buffer, **options)
    return buffer.getvalue()


def packed(method):
    """A ZIP archive of the CSV."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("t.csv", CSV)
    return buffer.getvalue()


def pairs():
    """A LIBSVM file with queries."""
    buffer = io.BytesIO()
    X = RNG.normal(size=(N, 4))
    dump_svmlight_file(X, np.arange(N) % 2, buffer, query_id=np.arange(N) // 4)
    return buffer.getvalue()


LEVELS = FRAME.with_columns(pl.col("colour", "y").cast(pl.Categorical))
TEXTS = {
    "csv": CSV.encode(),
    "csv.gz": gzip.compress(CSV.encode(), mtime=0),
    "csv.bz2": bz2.compress(CSV.encode()),
    "csv.xz": lzma.compress(CSV.encode()),
    "csv.zip": packed(zipfile.ZIP_DEFLATED),
    "lzma.zip": packed(zipfile.ZIP_LZMA),
    "arff": ARFF.encode(),
    "svm": pairs(),
}
COLUMNS = {
    "parquet": columns(pl.DataFrame.write_parquet),
    "snappy.parquet": columns(pl.DataFrame.write_parquet, LEVELS, compression="snappy"),
    "arrow": columns(pl.DataFrame.write_ipc),
    "feather": columns(pl.DataFrame.write_ipc, LEVELS, compression="zstd"),
}


def damaged(good, draw):
    """Bits turned, bytes changed, lost, added or cut off; often near the end, where indices are."""
    data = bytearray(good)
    how = draw.randrange(6)
    for _ in range(draw.choice([1, 1, 2, 3, 8, 30])):
        at = draw.randrange(len(data))
        if draw.random() > 0.6:
            at = len(data) - 1 - draw.randrange(min(len(data), 400))
        if how == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif how == 1:
            data[at] = draw.randrange(256)
        elif how == 2:
            del data[at : at + draw.randrange(1, 20)]
        elif how == 3:
            data[at:at] = draw.randbytes(draw.randrange(1, 20))
        elif how == 4:
            data[at : at + 8] = draw.choice([b"\xff" * 8, b"\0" * 8, b'"' * 8, b"\xff\xff\xff\x7f"])
        else:
            data = data[: max(at, 9)]
        if len(data) < 10:
            break
    return bytes(data)


def outcome(path):
    """What reading gives: a table or the sentence."""
    try:
        return read_table(path, "label" if path.suffix == ".svm" else "y")
    except (BadData, UnknownName) as error:
        return str(error)


def is_sentence(said):
    """One line that is not empty."""
    return bool(said.strip()) and "\n" not in said


@pytest.mark.parametrize("kind", TEXTS)
def test_read_table_of_a_damaged_text_is_a_table_or_a_sentence(kind, tmp_path):
    path = tmp_path / f"t.{kind}"
    path.write_bytes(TEXTS[kind])
    assert isinstance(outcome(path), Table)
    refused = 0
    for seed in range(TIMES):
        path.write_bytes(damaged(TEXTS[kind], random.Random(seed)))
        said = outcome(path)
        refused += not isinstance(said, Table)
        assert isinstance(said, Table) or is_sentence(said)
    assert refused > TIMES / 2


EACH = """
import sys, pathlib
from truerisk.exceptions import BadData
from truerisk.readers.columnar import read_in_this_process
folder, kind, first = sys.argv[1:]
for number in range(int(first), len(list(pathlib.Path(folder).iterdir()))):
    try:
        read_in_this_process(f"{folder}/{number}", kind, max_cells=10**6, max_bytes=10**8)
        said = ""
    except BadData as error:
        said = str(error)
    print(number, said, flush=True)
"""


@pytest.mark.parametrize("kind", COLUMNS)
def test_read_here_of_damaged_columns_is_columns_or_a_sentence(kind, tmp_path):
    (tmp_path / "sound").write_bytes(COLUMNS[kind])
    assert isinstance(outcome(tmp_path / "sound"), Table)
    (tmp_path / "sound").unlink()
    for seed in range(TIMES):
        data = damaged(COLUMNS[kind], random.Random(seed))
        (tmp_path / str(seed)).write_bytes(data)
    reader = FORMAT_BY_FIRST_BYTES[
        COLUMNS[kind][:6] if COLUMNS[kind].startswith(b"ARROW1") else b"PAR1"
    ]
    said: dict[int, str] = {}
    deadly = []
    while len(said) < TIMES:
        words = [sys.executable, "-c", EACH, str(tmp_path), reader, str(len(said))]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=240)
        for line in done.stdout.splitlines():
            number, _, sentence = line.partition(" ")
            said[int(number)] = sentence
            assert not sentence or is_sentence(sentence)
        assert done.returncode == 0 or "Traceback" not in done.stderr, done.stderr
        if done.returncode:
            deadly.append(len(said))
            said[len(said)] = "deadly"
    assert sum(map(bool, said.values())) > TIMES / 2
    for number in deadly:
        with pytest.raises(BadData, match="damaged"):
            read_table(tmp_path / str(number), "y")


@pytest.mark.parametrize("ends", ["os.abort()", "os.kill(os.getpid(), 9)", "os._exit(7)"])
def test_read_table_refuses_a_file_that_ends_its_reader(ends, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_bytes(COLUMNS["parquet"])
    monkeypatch.setattr(columnar, "CHILD_PROGRAM", f"import os; {ends}")
    assert re.search("is damaged: it ends the process that reads it .*write it anew", outcome(path))


@pytest.mark.parametrize("why", ["no interpreter", "no process", "it does not begin"])
def test_read_table_reads_here_where_no_process_can_look(why, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_bytes(COLUMNS["parquet"])
    if why == "it does not begin":
        monkeypatch.setattr(columnar, "CHILD_PROGRAM", "import nothing_of_that_name")
    else:
        place = "" if why == "no interpreter" else str(tmp_path / "none")
        monkeypatch.setattr(sys, "executable", place)
    assert isinstance(outcome(path), Table)


class PanicException(BaseException):
    """As Rust's libraries raise it."""


PanicException.__module__ = "pyo3_runtime"


@pytest.mark.parametrize(
    ("kind", "error", "said"),
    [
        ("parquet", PanicException("lost\nin Rust"), "t.parquet' is damaged: lost; write it anew"),
        ("arrow", RuntimeError("lost"), "t.arrow' is damaged: lost; write it anew"),
        ("parquet", KeyboardInterrupt(), None),
        ("parquet", SystemExit(2), None),
        ("csv.gz", SystemExit(2), None),
    ],
)
def test_read_table_says_what_a_reader_raises(kind, error, said, tmp_path, monkeypatch):
    """A Rust panic becomes a `BadData` message.

    Exceptions that end the program are not caught.
    """
    path = tmp_path / f"t.{kind}"
    path.write_bytes({**TEXTS, **COLUMNS}[kind])

    def stops(*_):
        raise error

    monkeypatch.setattr(columnar, "_to_cell_texts", stops)
    monkeypatch.setattr(content, "_open_decompressed", stops)
    with pytest.raises(BadData if said else type(error), match=said):
        read_table(path, "y")
