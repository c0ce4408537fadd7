"""Pages, figures and documents: drawn again from JSON alike, and silent on who ran it where."""

import io
import json
import shutil
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cli.conftest import QUICK

import truerisk as tr
from truerisk.exceptions import FitFailedWarning
from truerisk.report.methods_text import methods_paragraph, reproduction_info

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
problems = [{file = "rows.csv", target = "y"}, "simple", "difficult"]
learners = [{word = "knn", set = {n_neighbors = 3}}, "lda"]
methods = ["2-fold"]
"""


@pytest.fixture(scope="module")
def folder(call, tmp_path_factory, table):
    """A deep folder that is the user's own: it is the home of someone whose name is in it."""
    place = tmp_path_factory.mktemp("pages") / NAME / "ward 7" / "deep"
    place.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(place.parents[1]))
        patch.setenv("USER", NAME)
        patch.setenv("LOGNAME", NAME)
        shutil.copy(table, place / "rows.csv")
        (place / "search.py").write_text(SEARCH)
        (place / "spec.toml").write_text(SPEC)
        ran = call("study", "run", place / "spec.toml", "--store", place / "runs.db", "--json")
        assert ran.code == 0, ran.err
        says_nothing_of(place, ran.out)
        yield place


def says_nothing_of(folder, *texts):
    """Raise an AssertionError if a text has a part of the folder's path below the common ones."""
    for text in texts:
        assert text
        for part in (NAME, "ward 7", "ward\\u00207", str(folder), str(folder.parents[2])):
            assert part not in text, text[max(0, text.index(part) - 200) :][:400]


ASSESS = f"assess rows.csv --target y --models lda,knn {' '.join(QUICK)}"
COMMANDS = [
    ASSESS,
    "audit search.py:make rows.csv --target y --level scores --allow-import",
    "audit search.py:make rows.csv --target y --level bbc --allow-import",
    "validate rows.csv --target y --model knn --set n_neighbors=5 --replicates 0 --clip 0.01",
    "study compare --of learner --store runs.db",
]


def placed(folder, line):
    """Return the words of a line with paths of files in the folder."""
    names = {name.name for name in folder.iterdir()}
    return [folder / word if word.partition(":")[0] in names else word for word in line.split()]


@pytest.mark.parametrize("line", COMMANDS)
def test_report_draws_the_page_of_a_command_again(call, folder, tmp_path, line):
    """The page names the file and the command, without where results went or who ran it."""
    page, again, results = (tmp_path / name for name in ("a.html", "b.html", "results.json"))
    said = call(*placed(folder, line), "--report", page, "--json")
    assert said.code in (0, 4), said.err
    assert f"wrote {page}" in said.err
    text = page.read_text("utf-8")
    says_nothing_of(folder, said.out, text)
    assert "--report" not in text
    results.write_text(said.out)
    assert call("report", results, "-o", again).code == 0
    assert again.read_text("utf-8") == text
    if "study" not in line:
        command = f"truerisk {line.partition(' --allow')[0].partition(' --cv')[0]}"
        assert said.content["command"].startswith(command)
        assert command in text


def test_report_goes_beside_the_results_or_to_stdout(call, folder, tmp_path, monkeypatch):
    """`-` is stdin, and the page goes to stdout; stdout of `assess` is as without a page."""
    asked = placed(folder, ASSESS)
    said = call(*asked, "--report", tmp_path / "page.html")
    assert "<title>rows.csv: " in (tmp_path / "page.html").read_text("utf-8")
    assert said.out.splitlines()[0] == call(*asked).out.splitlines()[0]
    says_nothing_of(folder, said.out)
    text = call(*asked, "--json").out
    (tmp_path / "results.json").write_text(text)
    assert call("report", tmp_path / "results.json").code == 0
    page = (tmp_path / "results.html").read_text("utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert call("report", "-").out.strip() == page.strip()
    document = tr.Assessment.from_json(text)
    assert document.source == "rows.csv"
    says_nothing_of(folder, methods_paragraph(document), reproduction_info(document).call)


def test_figures_go_into_a_folder(call, folder, tmp_path, monkeypatch):
    """The same from the data and from the JSON; without matplotlib SVG alone, which is said."""
    first, second, results = tmp_path / "first", tmp_path / "second", tmp_path / "results.json"
    said = call(*placed(folder, ASSESS), "--json", "--figures", first)
    assert f"wrote {len([*first.iterdir()])} files to {first}" in said.sentences
    assert "--figures" not in said.content["command"]
    results.write_text(said.out)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    said = call("report", results, "-o", "-", "--figures", second)
    assert "note: PNG and PDF need matplotlib: pip install 'truerisk[plot]'" in said.err
    names = {place: sorted(path.name for path in place.glob("*.svg")) for place in (first, second)}
    assert len(names[second]) == len([*second.iterdir()]) == len([*first.iterdir()]) / 3 > 2
    assert names[first] == names[second]
    assert all((first / name).read_text() == (second / name).read_text() for name in names[first])


def test_estimate_store_and_export_say_nothing_of_folders(call, folder, tmp_path):
    said = call("estimate", folder / "rows.csv", "--target", "y", "--model", "lda", "--json")
    says_nothing_of(folder, said.out)
    says_nothing_of(folder, call(*placed(folder, ASSESS), "--store", tmp_path / "fits.db").out)
    for form in ("csv", "jsonl"):
        place = tmp_path / f"runs.{form}"
        call("study", "export", "--store", folder / "runs.db", "--format", form, "--out", place)
        says_nothing_of(folder, place.read_text())


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
    grid = {"lost": [Lost(), Lost(str(Path(folder) / "table.bin")), cached]}
    engine = tr.engines.Generic(error="warn")
    with pytest.warns(FitFailedWarning):
        found = tr.assess(
            {"kept": (model, grid)}, X, y, cv=["2-fold"], outer="2-fold", engine=engine
        )
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
