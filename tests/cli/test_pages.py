"""What is written to be passed on: files by their names, and nothing of who ran it where."""

from __future__ import annotations

import io
import json
import shutil
import warnings

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.core.errors import FitFailedWarning
from truerisk.engines.generic import Generic
from truerisk.report.methods_text import described, repeat

NAME = "zacharias_q"
SEARCH = """
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

def make():
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=3)
"""
SPEC = """
replicates = 2
sizes = [15]
n_test = 20
problems = [{file = "rows.csv", target = "y"}]
learners = [{word = "knn", set = {n_neighbors = 3}}]
methods = ["2-fold"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch, table):
    """A deep folder that is the user's own: it is the home of someone whose name is in it."""
    place = tmp_path / NAME / "ward 7" / "deep"
    place.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / NAME))
    monkeypatch.setenv("USER", NAME)
    monkeypatch.setenv("LOGNAME", NAME)
    shutil.copy(table, place / "rows.csv")
    (place / "search.py").write_text(SEARCH)
    (place / "spec.toml").write_text(SPEC)
    return place


def says_nothing_of(folder, *texts):
    """None of the texts has a part of the folder's path below the common ones."""
    for text in texts:
        assert text
        for part in (NAME, "ward 7", "ward\\u00207", str(folder), str(folder.parents[2])):
            assert part not in text, text[max(0, text.index(part) - 200) :][:400]


@pytest.mark.parametrize("words", [["--report", "r.html"], ["--json"], ["--store", "fits.db"]])
def test_an_assessment_says_nothing_of_folders(call, folder, monkeypatch, quick, words):
    """Table, JSON and page; the name of the file stays, in the title and in the command."""
    place = folder / "rows.csv"
    words = [str(folder / word) if "." in word else word for word in words]
    said = call("assess", place, "--target", "y", "--models", "lda,knn", *quick, *words)
    assert said.code == 0, said.err
    says_nothing_of(folder, said.out)
    if words[0] == "--report":
        page = (folder / "r.html").read_text()
        says_nothing_of(folder, page)
        assert "<title>rows.csv: " in page
        assert "truerisk assess rows.csv --target y" in page
    if words[0] == "--json":
        assert said.content["source"] == "rows.csv"
        assert said.content["command"].startswith("truerisk assess rows.csv --target y")
        document = tr.Assessment.from_dict(said.content)
        says_nothing_of(folder, described(document), repeat(document).call)


@pytest.mark.parametrize("level", ["scores", "bbc"])
def test_an_audit_says_nothing_of_folders(call, folder, level):
    """Nor of the folder of the search's own code."""
    page = folder / "a.html"
    said = call(
        *("audit", f"{folder / 'search.py'}:make", folder / "rows.csv", "--target", "y"),
        *("--allow-import", "--level", level, "--json", "--report", page),
    )
    says_nothing_of(folder, said.out, page.read_text())
    assert said.content["command"].startswith("truerisk audit search.py:make rows.csv --target y")


def test_an_estimate_and_a_study_say_nothing_of_folders(call, folder):
    """JSON of one risk, and a study's results in every text format."""
    said = call("estimate", folder / "rows.csv", "--target", "y", "--model", "lda", "--json")
    says_nothing_of(folder, said.out)
    store = folder / "runs.db"
    ran = call("study", "run", folder / "spec.toml", "--store", store, "--json")
    assert ran.code == 0, ran.err
    says_nothing_of(folder, ran.out)
    for form in ("csv", "jsonl"):
        call("study", "export", "--store", store, "--format", form)
        says_nothing_of(folder, (folder / f"runs.{form}").read_text())


class Lost(TransformerMixin, BaseEstimator):
    """Looks for a file that is not there, and says where it looked."""

    def __init__(self, place=None):
        self.place = place

    def fit(self, X, y=None):
        if self.place is not None:
            raise FileNotFoundError(2, "No such file or directory", self.place)
        return self

    def transform(self, X):
        return np.asarray(X)


def test_failures_and_settings_say_nothing_of_folders(folder):
    """A failure that is kept as a note, a model in a grid that has a folder, a picture."""
    X, y = tr.datasets.make_simple(20, random_state=1)
    model = make_pipeline(Lost(), KNeighborsClassifier(1))
    cached = Pipeline([("a", StandardScaler()), ("b", StandardScaler())], memory=str(folder))
    grid = {"lost": [Lost(), Lost(str(folder / "table.bin")), cached]}
    kept = {"kept": (model, grid)}
    asked = {"cv": ["2-fold"], "outer": "2-fold", "engine": Generic(error="warn")}
    with pytest.warns(FitFailedWarning):
        found = tr.assess(kept, X, y, **asked)
    says_nothing_of(folder, json.dumps(found.to_dict()), found.to_html(), str(found))
    curve = found.curves["kept"]
    says_nothing_of(folder, curve.to_json(), str(curve))
    assert "No such file or directory: 'table.bin'" in curve.to_json()
    with mpl.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the settings' names are too long for the picture
        picture = io.StringIO()
        for axes in (found.plot_ladder(), found.plot_curve(), curve.plot()):
            axes.figure.savefig(picture, format="svg")
        plt.close("all")
    says_nothing_of(folder, picture.getvalue())
