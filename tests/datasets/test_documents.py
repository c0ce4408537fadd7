"""The documents' data sets: what is read, and what is said when they are not there."""

from __future__ import annotations

import gzip
import hashlib

import numpy as np
import pytest

from truerisk import datasets
from truerisk.core.errors import BadData
from truerisk.datasets.documents import FOLDER, DocumentData, colon, folder_of_documents

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
    """An empty folder lacks the first file."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    with pytest.raises(BadData, match=r"needs the file colon\.csv\.gz"):
        colon.bundle()


def test_another_file_of_that_name_is_refused(monkeypatch, tmp_path):
    """The content is checked before it is read."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    (tmp_path / "colon.csv.gz").write_bytes(gzip.compress(b"a,class\n1,tumor\n"))
    with pytest.raises(BadData, match="not the expected file: its SHA-256"):
        colon.bundle()


def test_a_table_of_another_shape_is_refused(monkeypatch, tmp_path):
    """A source whose file has the stated content and another shape contradicts itself."""
    content = gzip.compress(b"a,class\n1,tumor\n2,normal\n")
    (tmp_path / "toy.csv.gz").write_bytes(content)
    monkeypatch.setenv(FOLDER, str(tmp_path))
    files = {"toy.csv.gz": hashlib.sha256(content).hexdigest()}
    toy = DocumentData("toy", files, (2, 1), colon.read, "two rows", "nowhere")
    assert toy.bundle().y.tolist() == [1, 0]
    assert toy.bundle().class_names == ("normal", "tumor")
    wrong = DocumentData("toy", files, (3, 1), colon.read, "three rows", "nowhere")
    with pytest.raises(BadData, match="2 rows and 1 columns, not 3 and 1"):
        wrong.bundle()
