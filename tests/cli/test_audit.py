"""`truerisk audit`: a gate for searches."""

from __future__ import annotations

import random
import re
from typing import Any

import pandas as pd
import pytest

from truerisk.core.errors import MissingExtra

CODE = """
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier

GRID = {"n_neighbors": [1, 3, 5]}

def make():
    return GridSearchCV(KNeighborsClassifier(), GRID, cv=3)

def fitted(X, y):
    return make().fit(X, y)

def boast(X, y):
    search = fitted(X, y)
    search.best_score_ = 1.0
    return search

def modest(X, y):
    search = fitted(X, y)
    search.best_score_ = 0.1
    return search

def auc():
    return GridSearchCV(KNeighborsClassifier(), GRID, cv=3, scoring="roc_auc")

def jaccard():
    return GridSearchCV(KNeighborsClassifier(), GRID, cv=3, scoring="jaccard")

def lost():
    return GridSearchCV(KNeighborsClassifier(), GRID, cv=KFold(3, shuffle=True))

def grouped():
    return GridSearchCV(KNeighborsClassifier(), GRID, cv=GroupKFold(3))

def nothing():
    return 42

def leaving():
    raise SystemExit(0)
"""


@pytest.fixture
def audit(call, tmp_path):
    """Audit a function of the code above on 60 rows of near noise in five groups."""
    (tmp_path / "search.py").write_text(CODE)
    draw = random.Random(1)
    lines = [
        f"{draw.gauss(i % 2, 1.5):.3f},{draw.random():.3f},{i % 5},{'uv'[i % 2]}" for i in range(60)
    ]
    path = tmp_path / "rows.csv"
    path.write_text("a,b,site,y\n" + "\n".join(lines) + "\n")

    def called(name, *words, allow=("--allow-import",)):
        place = f"{tmp_path / 'search.py'}:{name}"
        return call("audit", place, path, "--target", "y", *allow, *words)

    return called


def test_a_sound_claim_passes(audit):
    """Exit code 0; the conclusion is the first line, the fit is said on stderr."""
    said = audit("make")
    assert said.code == 0
    assert said.out.startswith("best_score_ 0.")
    assert "not fitted yet" in said.err


def test_a_refuted_claim_exits_with_4(audit):
    """A score of 1 on rows that overlap lies outside every honest interval."""
    said = audit("boast")
    assert said.code == 4
    assert "it is refuted" in said.out
    assert "claim-refuted" in said.out


@pytest.mark.parametrize(
    ("search", "word", "claim"),
    [("boast", "optimistic", "1.0000 is better"), ("modest", "pessimistic", "0.1000 is worse")],
)
def test_kept_bound_does_not_pass_a_refuted_claim(audit, search, word, claim):
    """Exit code 4 on either side; stderr says why, as the bound alone is kept."""
    said = audit(search, "--fail-above", ".99", "--json")
    assert said.code == 4
    assert f" is {word} by " in said.content["conclusion"]
    assert "bound kept: error (1 − accuracy) " in said.err
    assert f"the claim is refuted: The claimed score {claim} than anything in the 95 %" in said.err


def test_json_is_one_document(audit):
    """The schema, the claim, and the exit code as before."""
    said = audit("boast", "--json")
    assert said.code == 4
    assert said.content["schema"] == "truerisk.audit/2"
    assert said.content["refuted"] is True
    assert said.content["claimed"]["value"] == 1


@pytest.mark.parametrize(("level", "outer"), [("scores", []), ("nested", ["--outer", "3-fold"])])
def test_levels_are_passed_on(audit, level, outer):
    """The document says which."""
    said = audit("fitted", "--level", level, "--json", *outer)
    assert said.code == (4 if said.content["refuted"] else 0)
    assert said.content["level"] == level


def test_nothing_is_refuted_without_an_interval(audit):
    """Jaccard's score has none: exit code 0, and stderr says that the gate is open."""
    for words in ([], ["--level", "nested", "--outer", "3-fold"]):
        said = audit("jaccard", "--positive", "v", *words)
        assert said.code == 0
        assert "nothing is refuted" in said.err


def test_the_page_and_that_drawn_from_the_json_are_one(audit, call, tmp_path):
    """The command stands on it, without where results went; `report` draws it again."""
    page, again = tmp_path / "a.html", tmp_path / "again.html"
    said = audit("make", "--report", page, "--json")
    assert said.code == 0
    assert f"wrote {page}" in said.err
    assert "--report" not in said.content["command"]
    assert "--target y" in said.content["command"]
    (tmp_path / "a.json").write_text(said.out)
    assert call("report", tmp_path / "a.json", "-o", again).code == 0
    assert again.read_text("utf-8") == page.read_text("utf-8")
    assert audit("make", "--report", tmp_path / "no" / "a.html").code == 2


def test_groups_are_a_column(audit):
    """The column leaves the table and reaches the splits; an unknown one is bad data."""
    assert audit("grouped", "--groups", "site").code == 0
    said = audit("grouped", "--groups", "sight")
    assert said.code == 3
    assert "did you mean 'site'" in said.err


@pytest.mark.parametrize(
    ("name", "code", "sentence"),
    [
        ("lost", 1, "drawn anew each time"),
        ("nothing", 1, "is no search"),
        ("grouped", 1, "groups"),
        ("missing", 2, "has no function"),
    ],
)
def test_what_cannot_be_audited_is_one_sentence(audit, name, code, sentence):
    """Never a traceback."""
    said = audit(name, "--level", "bbc")
    assert said.code == code
    assert sentence in said.err
    assert "Traceback" not in said.err


BY_NAME = """
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

def make():
    numbers = make_column_selector(dtype_include="number")
    columns = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), ["ward"]))
    model = make_pipeline(columns, LogisticRegression())
    return GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, cv=3)
"""


@pytest.mark.parametrize("level", ["scores", "bbc", "nested"])
def test_a_search_takes_columns_by_name_and_kind(call, tmp_path, level):
    """It is handed a frame with the words of the file, as `tr.audit` is by its user."""
    (tmp_path / "search.py").write_text(BY_NAME)
    draw = random.Random(3)
    rows = [(draw.gauss(i % 2, 1), draw.choice("rst"), "uv"[i % 2]) for i in range(60)]
    lines = "".join(f"{x},{ward},{label}\n" for x, ward, label in rows)
    (tmp_path / "rows.csv").write_text("x,ward,y\n" + lines)
    search = f"{tmp_path / 'search.py'}:make"
    words = ("--target", "y", "--allow-import", "--level", level, "--json")
    said = call("audit", search, tmp_path / "rows.csv", *words)
    assert said.code == 0
    assert "position" not in said.err
    made: dict[str, Any] = {}
    exec(BY_NAME, made)
    frame = pd.read_csv(tmp_path / "rows.csv")
    known = made["make"]().fit(frame[["x", "ward"]], frame["y"])
    assert said.content["claimed"]["value"] == pytest.approx(known.best_score_)


def test_an_array_is_explained_where_no_package_makes_frames(call, tmp_path, monkeypatch):
    """Findings number the columns; stderr names them, and says what text and gaps become."""

    def without(columns):
        raise MissingExtra("no frames here")

    monkeypatch.setattr("truerisk.cli.bodies.audit.frame_of", without)
    code = """
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

def make():
    model = make_pipeline(SimpleImputer(), KNeighborsClassifier())
    return GridSearchCV(model, {"kneighborsclassifier__n_neighbors": [3, 5]}, cv=3)
"""
    (tmp_path / "search.py").write_text(code)
    draw = random.Random(2)
    rows = [
        f"{draw.random():.3f},{'rst'[i % 3]},{i % 2 + draw.random() / 9:.3f}" for i in range(60)
    ]
    rows[3] = ",r,1.05"
    lines = [f"{row},{'uv'[i % 2]}" for i, row in enumerate(rows)]
    (tmp_path / "rows.csv").write_text("a,ward,result,y\n" + "\n".join(lines) + "\n")
    place = f"{tmp_path / 'search.py'}:make"
    said = call("audit", place, tmp_path / "rows.csv", "--target", "y", "--allow-import")
    assert "column 2 by itself predicts y" in " ".join(said.out.split())
    assert "note: columns: 0 a, 1 ward, 2 result" in said.err
    assert "gets an array without names" in said.err
    assert "its place in sorted order" in said.err
    assert "given to the search as missing" in said.err


def test_code_is_not_run_unless_allowed(audit):
    """Exit code 2, and how to allow it."""
    said = audit("make", allow=())
    assert said.code == 2
    assert "--allow-import" in said.err


BROKEN = """
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

class Moody(TransformerMixin, BaseEstimator):
    calls = 0

    def fit(self, X, y=None):
        Moody.calls += 1
        if Moody.calls > 8:
            raise LookupError("not today")
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.asarray(X)

def make():
    model = make_pipeline(Moody(), KNeighborsClassifier())
    return GridSearchCV(model, {"kneighborsclassifier__n_neighbors": [1, 3]}, cv=3)
"""


@pytest.mark.parametrize("level", ["bbc", "nested"])
def test_a_step_that_fails_in_the_audit_is_one_sentence(audit, tmp_path, level):
    """Exit code 1, with split, parameters and step, before an engine of its own."""
    (tmp_path / "search.py").write_text(BROKEN)
    said = audit("make", "--level", level)
    assert said.code == 1
    (sentence,) = said.sentences
    assert re.search(
        r"truerisk: KNeighborsClassifier \(n_neighbors=1\) failed in the .* split .*: "
        r"step 'moody': LookupError: not today",
        sentence,
    )


TREE = """
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.tree import DecisionTreeRegressor

def make():
    folds = KFold(5, shuffle=True, random_state=0)
    grid = {"min_samples_leaf": [2, 20]}
    return GridSearchCV(DecisionTreeRegressor(random_state=0), grid, cv=folds,
                        scoring="neg_mean_squared_error")
"""


@pytest.mark.parametrize(
    ("header", "columns", "place"),
    [("temperature,hours,when", (2, 0, 3), "when"), ("temperature,day", (2, 0), "day")],
    ids=["dates", "numbers"],
)
def test_times_of_the_file_are_found(call, tmp_path, header, columns, place):
    """Dates that are no feature, and numbers by their name in the file."""
    import numpy as np

    import truerisk as tr

    load = tr.datasets.make_daily_load
    X, y = load(800, random_state=4)
    X[:, 0] += 5  # a column that counts from 0 or 1 is no feature
    cells = np.column_stack([X.astype(str), load.dates(800).astype(str)])[:, columns]
    lines = [f"{','.join(row)},{target}" for row, target in zip(cells, y, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join([f"{header},load", *lines]))
    (tmp_path / "tree.py").write_text(TREE)
    where = f"{tmp_path / 'tree.py'}:make"
    said = call("audit", where, tmp_path / "rows.csv", "--target", "load", "--allow-import")
    assert f"The rows have times (column '{place}')" in said.out.replace("\n  ", " ")
    assert said.code == 4
    note = "column 'when' has a different value in every row and is left out; if its dates are"
    assert (f"{note} the times of the rows: --time when" in said.err) == (place == "when")


def test_code_that_leaves_is_a_failure(audit):
    """Its exit code would be taken for that of the gate."""
    said = audit("leaving")
    assert (said.code, said.out) == (1, "")
    assert "called sys.exit(0): let it return" in said.err


def test_a_search_that_cannot_be_fitted_is_said_in_short(call, tmp_path):
    """What the fits lack, without the tracebacks that scikit-learn quotes."""
    (tmp_path / "search.py").write_text(CODE)
    rows = "".join(f"{'uv'[i % 3 % 2]},{i % 2}\n" for i in range(60))
    (tmp_path / "text.csv").write_text("a,y\n" + rows)
    place = f"{tmp_path / 'search.py'}:make"
    said = call("audit", place, tmp_path / "text.csv", "--target", "y", "--allow-import")
    assert said.code == 1
    line = said.err.splitlines()[-1]
    assert line.startswith("truerisk: the fit of GridSearchCV failed: ValueError: All the 9 fits")
    assert "could not convert string to float" in line
    assert "Traceback" not in said.err
    assert len(line) < 300
