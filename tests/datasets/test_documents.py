"""The documents' data sets: what is read, and what is said when they are not there."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from truerisk import datasets
from truerisk.core.errors import BadData
from truerisk.datasets.documents import (
    FOLDER,
    DocumentData,
    a1a,
    colon,
    digest_of,
    folder_of_documents,
    ovarian,
    satellite,
)

CLASSES = {
    "colon": [22, 40],
    "yeast": [463, 5, 35, 44, 51, 163, 244, 429, 20, 30],
    "satellite": [1533, 703, 1358, 626, 707, 1508],
    "a1a": [24720, 7841],
    "ovarian": [95, 121],
    "ozone": [863, 178],
    "spam": [2788, 1813],
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_data_set_is_the_stated_one(name):
    """Shape, class counts and names; finite numbers only."""
    if folder_of_documents() is None:
        pytest.skip(f"{FOLDER} names no folder with the documents' data sets")
    source = datasets.registry.load(name)
    if not all((folder_of_documents() / file).is_file() for file in source.files):
        pytest.skip(f"the folder that {FOLDER} names lacks the files of '{name}'")
    bundle = datasets.load(name)
    assert bundle.X.shape == source.shape
    assert bundle.X.dtype == np.float64
    assert np.isfinite(bundle.X).all()
    assert np.bincount(bundle.y).tolist() == CLASSES[name]
    assert len(bundle.class_names) == len(CLASSES[name])
    assert len(set(bundle.feature_names)) == source.shape[1]


@pytest.mark.parametrize("name", CLASSES)
def test_the_table_of_words_tells_the_sizes(name):
    """Rows, features and what is needed stand in the registry."""
    source, about = datasets.registry.load(name), datasets.registry[name].about
    assert about.startswith(f"{source.shape[0]} rows, {source.shape[1]} features")
    assert f"{len(CLASSES[name])} classes" in about
    assert FOLDER in about


def test_ozone_level_has_the_rows_of_ozone_and_numbers():
    """Exceeding 150 is the class of the same row; the observed ozone is no feature."""
    if folder_of_documents() is None:
        pytest.skip(f"{FOLDER} names no folder with the documents' data sets")
    level, classes = datasets.load("ozone-level"), datasets.load("ozone")
    assert (level.task, level.class_names) == ("regression", ())
    np.testing.assert_array_equal(level.X, classes.X)
    np.testing.assert_array_equal(level.y > 150, classes.y == 1)
    assert "O3obs" not in level.feature_names


def test_without_the_variable_it_is_said_what_to_set(monkeypatch):
    """The variable, the files and the name of the data set stand in one sentence."""
    monkeypatch.delenv(FOLDER, raising=False)
    with pytest.raises(BadData, match=r"'colon' .* TRUERISK_DATA is not set: .* colon\.csv\.gz"):
        datasets.load("colon")


def test_a_variable_that_names_no_folder_is_said(monkeypatch, tmp_path):
    """A folder that does not exist is not the same as no variable."""
    monkeypatch.setenv(FOLDER, str(tmp_path / "nowhere"))
    with pytest.raises(BadData, match="which is no folder"):
        colon.bundle()


def test_a_missing_file_is_named(monkeypatch, tmp_path):
    """An empty folder lacks the first file; what it should hold is said."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    with pytest.raises(BadData, match=r"needs the file colon\.csv\.gz.*62 rows of 2000"):
        colon.bundle()


TOY = "a,class\n1,tumor\n-0.5,normal\n"


def toy(monkeypatch, folder, content, shape=(2, 1)):
    """Two rows whose X and y are known, and a file that is to hold them."""
    (folder / "toy.csv.gz").write_bytes(content)
    monkeypatch.setenv(FOLDER, str(folder))
    digest = digest_of(np.array([[1.0], [-0.5]]), np.array([1, 0]))
    return DocumentData(
        "toy", ("toy.csv.gz",), "two rows", digest, shape, colon.read, "two rows", "nowhere"
    )


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(TOY.encode()),
        gzip.compress(TOY.encode(), compresslevel=1, mtime=1),
        gzip.compress(TOY.replace("\n", "\r\n").encode()),
        gzip.compress(b'"other name","class"\n1.00,"tumor"\n-5e-1, "normal"\n\n'),
    ],
    ids=["as it was packed", "packed otherwise", "lines of Windows", "written by R"],
)
def test_who_packs_a_file_and_how_does_not_matter(monkeypatch, tmp_path, content):
    """Values and their order are compared, not bytes."""
    found = toy(monkeypatch, tmp_path, content).bundle()
    assert found.X.tolist() == [[1.0], [-0.5]]
    assert found.y.tolist() == [1, 0]
    assert found.class_names == ("normal", "tumor")


def test_the_sign_of_zero_does_not_matter():
    """-0 in a file is 0."""
    zero = np.zeros((1, 1))
    assert digest_of(-zero, zero) == digest_of(zero, zero) != digest_of(zero, zero + 1)


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
def test_a_file_with_another_content_is_refused(monkeypatch, tmp_path, text, said):
    """The sentence says what the file should hold, and what it holds."""
    with pytest.raises(BadData) as refused:
        toy(monkeypatch, tmp_path, gzip.compress(text.encode())).bundle()
    assert str(refused.value).startswith("toy.csv.gz should hold two rows; here: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [b"", TOY.encode(), gzip.compress(TOY.encode())[:-9], gzip.compress(b"\xff\xfe")],
    ids=["empty", "not packed", "cut off", "no text"],  # the bytes hold the time
)
def test_a_damaged_file_is_refused_by_name(monkeypatch, tmp_path, content):
    """Empty, not packed, cut short, no UTF-8."""
    with pytest.raises(BadData, match="toy.csv.gz should hold two rows; here: cannot be read"):
        toy(monkeypatch, tmp_path, content).bundle()


@pytest.mark.parametrize("source", [a1a, ovarian], ids=lambda source: source.name)
def test_arrays_are_never_unpickled(monkeypatch, tmp_path, source):
    """A file of pickled objects, one that lacks an array, and one that is no archive."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    for arrays in ({"X": np.array([{}]), "X_train": np.array([{}])}, {"other": np.zeros(3)}):
        np.savez(tmp_path / source.files[0], **arrays)
        with pytest.raises(BadData, match="should hold arrays X.*cannot be read"):
            source.bundle()
    (tmp_path / source.files[0]).write_bytes(b"PK\x03\x04")
    with pytest.raises(BadData, match="cannot be read"):
        source.bundle()


def test_another_shape_is_refused(monkeypatch, tmp_path):
    """A source whose file has the stated values and another shape contradicts itself."""
    with pytest.raises(BadData, match="2 rows of 1 features under 1 names, not 3 of 1"):
        toy(monkeypatch, tmp_path, gzip.compress(TOY.encode()), (3, 1)).bundle()


def test_two_files_of_one_set_are_both_named(monkeypatch, tmp_path):
    """Which of them is wrong is not known from the whole."""
    for name in satellite.files:
        (tmp_path / name).write_bytes(gzip.compress(TOY.encode()))
    monkeypatch.setenv(FOLDER, str(tmp_path))
    with pytest.raises(BadData, match="satellite_train.csv.gz and satellite_test.csv.gz should"):
        satellite.bundle()
