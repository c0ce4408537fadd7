"""Every word loads its data; those of the documents are read from files, or it is said why not."""

import gzip
import subprocess
import sys

import numpy as np
import pytest

from truerisk import datasets
from truerisk.datasets.documents import (
    FOLDER_VARIABLE,
    DocumentData,
    a1a,
    colon,
    compute_digest,
    find_data_folder,
    ovarian,
    satellite,
)
from truerisk.extend import BadData

SHAPES = {
    "breast-cancer": (569, 30, 2),
    "iris": (150, 4, 3),
    "wine": (178, 13, 3),
    "digits": (1797, 64, 10),
    "diabetes": (442, 10, 0),
    "simple": (50, 2, 2),
    "difficult": (50, 2, 2),
    "highleyman": (50, 2, 2),
    "colon-2d": (50, 2, 2),
    "kearns": (50, 1, 2),
    "sparse-gaussian": (50, 20, 2),
    "four-class": (100, 21, 4),
    "field": (200, 4, 2),
    "daily-load": (730, 3, 0),
}
CLASSES = {
    "colon": [22, 40],
    "yeast": [463, 5, 35, 44, 51, 163, 244, 429, 20, 30],
    "satellite": [1533, 703, 1358, 626, 707, 1508],
    "a1a": [24720, 7841],
    "ovarian": [95, 121],
    "ozone": [863, 178],
    "spam": [2788, 1813],
}


def test_names_are_those_tested_here():
    assert sorted(datasets.names()) == sorted([*SHAPES, *CLASSES, "ozone-level"])


@pytest.mark.parametrize("name", SHAPES)
def test_load_gives_data_of_the_stated_sizes(name):
    bundle, line = datasets.load(name), datasets.registry[name]
    n, p, n_classes = SHAPES[name]
    assert bundle.name == name
    assert bundle.X.shape == (n, p)
    assert bundle.X.dtype == np.float64
    assert np.isfinite(bundle.X).all()
    assert len(bundle.y) == n
    assert len(set(bundle.feature_names)) == p
    assert len(bundle.class_names) == n_classes
    assert bundle.task == ("classification" if n_classes else "regression")
    if n_classes:
        assert np.unique(bundle.y).tolist() == list(range(n_classes))
    assert bundle.description
    assert bundle.source
    np.testing.assert_array_equal(datasets.load(name).X, bundle.X)
    assert f"{n} rows" in line.summary
    risk = getattr(line.load(), "bayes_risk", None)
    assert risk is None or f"{risk:.4f}".lstrip("0").replace("1.0000", "1") in line.summary


def test_names_are_listed_without_scikit_learn():
    code = (
        "import sys; from truerisk import datasets, models; datasets.names(); models.names(); "
        "datasets.read_table; datasets.make_simple(4); "
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'sklearn', 'scipy', 'pandas'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---------------- the documents' data sets


@pytest.mark.parametrize("name", CLASSES)
def test_document_is_the_stated_one(name):
    source, about = datasets.registry.load(name), datasets.registry[name].summary
    assert about.startswith(f"{source.shape[0]} rows, {source.shape[1]} features")
    assert f"{len(CLASSES[name])} classes" in about
    assert FOLDER_VARIABLE in about
    if find_data_folder() is None:
        pytest.skip(f"{FOLDER_VARIABLE} names no folder with the documents' data sets")
    if not all((find_data_folder() / file).is_file() for file in source.files):
        pytest.skip(f"the folder that {FOLDER_VARIABLE} names lacks the files of '{name}'")
    bundle = datasets.load(name)
    assert bundle.X.shape == source.shape
    assert bundle.X.dtype == np.float64
    assert np.isfinite(bundle.X).all()
    assert np.bincount(bundle.y).tolist() == CLASSES[name]
    assert len(bundle.class_names) == len(CLASSES[name])
    assert len(set(bundle.feature_names)) == source.shape[1]


def test_document_ozone_level_has_the_rows_of_ozone_and_numbers():
    if find_data_folder() is None:
        pytest.skip(f"{FOLDER_VARIABLE} names no folder with the documents' data sets")
    level, classes = datasets.load("ozone-level"), datasets.load("ozone")
    assert (level.task, level.class_names) == ("regression", ())
    np.testing.assert_array_equal(level.X, classes.X)
    np.testing.assert_array_equal(level.y > 150, classes.y == 1)
    assert "O3obs" not in level.feature_names


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (None, r"'colon' .* TRUERISK_DATA is not set: .* colon\.csv\.gz"),
        ("nowhere", "which is no folder"),
        (".", r"needs the file colon\.csv\.gz.*62 rows of 2000"),
    ],
)
def test_document_that_is_not_there_names_what_to_set(monkeypatch, tmp_path, folder, message):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    if folder:
        monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / folder))
    with pytest.raises(BadData, match=message):
        colon.bundle()


TOY = "a,class\n1,tumor\n-0.5,normal\n"


def toy(monkeypatch, folder, content, shape=(2, 1)):
    """Two rows whose X and y are known, and a file that is to hold them."""
    (folder / "toy.csv.gz").write_bytes(content)
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    digest = compute_digest(np.array([[1.0], [-0.5]]), np.array([1, 0]))
    return DocumentData(
        "toy", ("toy.csv.gz",), "two rows", digest, shape, colon.reader, "two rows", "nowhere"
    )


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(TOY.encode(), mtime=0),
        gzip.compress(TOY.encode(), compresslevel=1, mtime=1),
        gzip.compress(TOY.replace("\n", "\r\n").encode(), mtime=0),
        gzip.compress(b'"other name","class"\n1.00,"tumor"\n-5e-1, "normal"\n\n', mtime=0),
    ],
    ids=["as it was packed", "packed otherwise", "lines of Windows", "written by R"],
)
def test_document_may_be_packed_by_anybody(monkeypatch, tmp_path, content):
    found = toy(monkeypatch, tmp_path, content).bundle()
    assert found.X.tolist() == [[1.0], [-0.5]]
    assert found.y.tolist() == [1, 0]
    assert found.class_names == ("normal", "tumor")


def test_digest_takes_minus_zero_for_zero():
    zero = np.zeros((1, 1))
    assert (
        compute_digest(-zero, zero) == compute_digest(zero, zero) != compute_digest(zero, zero + 1)
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TOY.replace("-0.5", "-0.6"), "other values"),
        (TOY.replace("tumor", "x").replace("normal", "tumor").replace("x", "normal"), "other val"),
        ("a,class\n-0.5,normal\n1,tumor\n", "other values"),
        ("a,class\n1,tumor\n", "expected normal and tumor"),
        (TOY + "2,tumor\n", "3 rows of 1 features under 1 names, not 2 of 1"),
        (TOY + "2\n", "row 4 has 1 cells and the first 2"),
        (TOY.replace("-0.5", "low"), "could not convert string to float"),
        (TOY.replace("-0.5", "nan"), "other values"),
        ("", "cannot be read"),
    ],
)
def test_document_with_another_content_is_refused(monkeypatch, tmp_path, text, said):
    with pytest.raises(BadData) as refused:
        toy(monkeypatch, tmp_path, gzip.compress(text.encode(), mtime=0)).bundle()
    assert str(refused.value).startswith("toy.csv.gz should hold two rows; here: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        TOY.encode(),
        gzip.compress(TOY.encode(), mtime=0)[:-9],
        gzip.compress(b"\xff\xfe", mtime=0),
    ],
    ids=["empty", "not packed", "cut off", "no text"],  # the bytes hold the time
)
def test_document_that_is_damaged_is_refused_by_name(monkeypatch, tmp_path, content):
    with pytest.raises(BadData, match="toy.csv.gz should hold two rows; here: cannot be read"):
        toy(monkeypatch, tmp_path, content).bundle()


@pytest.mark.parametrize("source", [a1a, ovarian], ids=lambda source: source.name)
def test_document_of_arrays_is_never_unpickled(monkeypatch, tmp_path, source):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    for arrays in ({"X": np.array([{}]), "X_train": np.array([{}])}, {"other": np.zeros(3)}):
        np.savez(tmp_path / source.files[0], **arrays)
        with pytest.raises(BadData, match="should hold arrays X.*cannot be read"):
            source.bundle()
    (tmp_path / source.files[0]).write_bytes(b"PK\x03\x04")
    with pytest.raises(BadData, match="cannot be read"):
        source.bundle()


def test_document_of_another_shape_than_its_file_is_refused(monkeypatch, tmp_path):
    with pytest.raises(BadData, match="2 rows of 1 features under 1 names, not 3 of 1"):
        toy(monkeypatch, tmp_path, gzip.compress(TOY.encode(), mtime=0), (3, 1)).bundle()


def test_document_of_two_files_names_both(monkeypatch, tmp_path):
    for name in satellite.files:
        (tmp_path / name).write_bytes(gzip.compress(TOY.encode(), mtime=0))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(BadData, match="satellite_train.csv.gz and satellite_test.csv.gz should"):
        satellite.bundle()
