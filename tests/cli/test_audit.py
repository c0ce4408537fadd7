"""`truerisk audit`: a gate for searches, which are functions of a user."""

import random
import re

import numpy as np
import pandas as pd
import pytest
from tests.cli.conftest import write_csv

import truerisk as tr
from truerisk.cli.bodies.audit import call_search_factory, load_search_factory
from truerisk.exceptions import MissingExtra, UnknownName
from truerisk.extend import TrueRiskError

CODE = """
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

def make(*steps, cv=3, scoring=None):
    grid = {"kneighborsclassifier__n_neighbors": [1, 3, 5]}
    return GridSearchCV(make_pipeline(*steps, KNeighborsClassifier()), grid, cv=cv, scoring=scoring)

def plain():
    return make()

def fitted(X, y, score=None):
    search = make().fit(X, y)
    search.best_score_ = search.best_score_ if score is None else score
    return search

def boast(X, y):
    return fitted(X, y, 1.0)

def modest(X, y):
    return fitted(X, y, 0.1)

def jaccard():
    return make(scoring="jaccard")

def grouped():
    return make(cv=GroupKFold(3))

def imputed():
    return make(SimpleImputer())

def by_name():
    numbers = make_column_selector(dtype_include="number")
    columns = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), ["ward"]))
    return make(columns)

class Moody(TransformerMixin, BaseEstimator):
    calls = 0

    def fit(self, X, y=None):
        Moody.calls += 1
        if Moody.calls > 10:  # those of the search itself
            raise LookupError("not today")
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.asarray(X)

def moody():
    return make(Moody())

def tree():
    folds = KFold(5, shuffle=True, random_state=0)
    grid = {"min_samples_leaf": [2, 20]}
    return GridSearchCV(DecisionTreeRegressor(random_state=0), grid, cv=folds,
                        scoring="neg_mean_squared_error")
"""


@pytest.fixture(scope="module")
def audit(call, tmp_path_factory):
    """Audit a function of the code above, by default on 60 rows of near noise in five groups."""
    folder = tmp_path_factory.mktemp("audit")
    (folder / "search.py").write_text(CODE)
    draw = random.Random(1)
    cells = [(f"{draw.gauss(i % 2, 1.5):.3f}", f"{draw.random():.3f}", i % 5) for i in range(60)]
    rows = [(*row, "uv"[i % 2]) for i, row in enumerate(cells)]
    usual = write_csv(folder / "rows.csv", "a,b,site,y", rows)

    def called(name, *words, path=usual, target="y"):
        place = f"{folder / 'search.py'}:{name}"
        return call("audit", place, path, "--target", target, "--allow-import", *words)

    return called


JACCARD = ("jaccard", "--positive", "v")
NESTED = ("--level", "nested", "--outer", "3-fold")
OPEN = "nothing is refuted"


@pytest.mark.parametrize(
    ("words", "refuted", "claim", "out", "err"),
    [
        pytest.param(("plain",), False, "reports 0.", [], "not fitted yet", id="sound"),
        pytest.param(("grouped", "--groups", "site"), False, "reports 0.", [], "", id="groups"),
        pytest.param(
            *(("boast",), True, "reports 1.", ["refuted.", "claim-refuted"], ""),
            id="refuted",
        ),
        pytest.param(JACCARD, None, "reports 0.", [], OPEN, id="no interval"),
        pytest.param((*JACCARD, *NESTED), None, "reports 0.", [], OPEN, id="no interval, nested"),
    ],
)
def test_audit_exits_with_4_for_a_refuted_claim_alone(audit, words, refuted, claim, out, err):
    """The output starts with the conclusion.

    The error stream says that a search was not fitted yet, or that nothing can be refuted.
    """
    said = audit(*words)
    assert said.code == (4 if refuted else 0)
    assert said.out.startswith("Expect the ")
    assert claim in " ".join(said.out.split())
    assert all(each in said.out for each in out)
    assert err in said.err
    content = audit(*words, "--json").content
    assert content["schema"] == "truerisk.audit/2"
    assert content["refuted"] is refuted
    assert (content["claimed"]["value"] == 1) == bool(refuted)


@pytest.mark.parametrize(
    ("search", "word", "claim"),
    [("boast", "too good", "1.0000 is better"), ("modest", "worse", "0.1000 is worse")],
)
def test_audit_does_not_pass_a_refuted_claim_whose_bound_is_kept(audit, search, word, claim):
    said = audit(search, "--fail-above", ".99", "--json")
    assert said.code == 4
    assert f" {word}. It lies outside the interval, so " in said.content["conclusion"]
    assert "bound kept: error (1 − accuracy) " in said.err
    assert f"the claim is refuted: The claimed score {claim} than anything in the 95 %" in said.err


@pytest.mark.parametrize(("level", "outer"), [("scores", []), ("nested", ["--outer", "3-fold"])])
def test_audit_level_is_passed_on(audit, level, outer):
    said = audit("fitted", "--level", level, "--json", *outer)
    assert said.code == (4 if said.content["refuted"] else 0)
    assert said.content["level"] == level


@pytest.mark.parametrize("level", ["scores", "bbc", "nested"])
def test_audit_gives_the_search_columns_by_name_and_kind(audit, tmp_path, level):
    """It is handed a frame with the words of the file, as `tr.audit` is by its user."""
    draw = random.Random(3)
    rows = [(draw.gauss(i % 2, 1), draw.choice("rst"), "uv"[i % 2]) for i in range(60)]
    path = write_csv(tmp_path / "rows.csv", "x,ward,y", rows)
    said = audit("by_name", "--level", level, "--json", path=path)
    assert said.code == 0
    assert "position" not in said.err
    made = {}
    exec(CODE, made)
    frame = pd.read_csv(path)
    known = made["by_name"]().fit(frame[["x", "ward"]], frame["y"])
    assert said.content["claimed"]["value"] == pytest.approx(known.best_score_)


def test_audit_explains_an_array_where_no_package_makes_frames(audit, tmp_path, monkeypatch):
    """Findings number the columns; stderr names them, and says what text and gaps become."""

    def without(columns):
        raise MissingExtra("no frames here")

    monkeypatch.setattr("truerisk.cli.bodies.audit.frame_from_columns", without)
    draw = random.Random(2)
    cells = [(f"{draw.random():.3f}", f"{i % 2 + draw.random() / 9:.3f}") for i in range(60)]
    rows = [("" if i == 3 else a, "rst"[i % 3], b, "uv"[i % 2]) for i, (a, b) in enumerate(cells)]
    said = audit("imputed", path=write_csv(tmp_path / "rows.csv", "a,ward,result,y", rows))
    assert "column 2 by itself predicts y" in " ".join(said.out.split())
    assert "note: columns: 0 a, 1 ward, 2 result" in said.err
    assert "gets an array without names" in said.err
    assert "its place in sorted order" in said.err
    assert "given to the search as missing" in said.err


@pytest.mark.parametrize("level", ["bbc", "nested"])
def test_audit_says_in_one_sentence_that_a_step_fails(audit, level):
    """Exit code 1, with split, parameters and step, before an engine of its own."""
    said = audit("moody", "--level", level)
    assert said.code == 1
    (sentence,) = said.sentences
    assert re.search(
        r"truerisk: KNeighborsClassifier \(n_neighbors=1\) failed in the .* split .*: "
        r"step 'moody': LookupError: not today",
        sentence,
    )


@pytest.mark.parametrize(
    ("header", "columns", "place"),
    [("temperature,hours,when", (2, 0, 3), "when"), ("temperature,day", (2, 0), "day")],
    ids=["dates", "numbers"],
)
def test_audit_finds_times_of_the_file(audit, tmp_path, header, columns, place):
    """Dates that are no feature, and numbers by their name in the file."""
    load = tr.datasets.make_daily_load
    X, y = load(800, random_state=4)
    X[:, 0] += 5  # a column that counts from 0 or 1 is no feature
    cells = np.column_stack([X.astype(str), load.dates(800).astype(str)])[:, columns]
    path = write_csv(tmp_path / "rows.csv", f"{header},load", np.column_stack([cells, y]))
    said = audit("tree", path=path, target="load")
    assert f"The rows have times (column '{place}')" in said.out.replace("\n  ", " ")
    assert said.code == 4
    note = "column 'when' has a different value in every row and is left out; if its dates are"
    assert (f"{note} the times of the rows: --time when" in said.err) == (place == "when")


def test_audit_shortens_why_a_search_cannot_be_fitted(audit, tmp_path):
    """What the fits lack, without the tracebacks that scikit-learn quotes."""
    rows = [("uv"[i % 3 % 2], i % 2) for i in range(60)]
    said = audit("plain", path=write_csv(tmp_path / "text.csv", "a,y", rows))
    line = said.err.splitlines()[-1]
    assert line.startswith("truerisk: the fit of GridSearchCV failed: ValueError: All the 9 fits")
    assert len(line) < 300


def test_load_factory_runs_code_only_where_it_is_allowed(tmp_path):
    """Without --allow-import the file is not even read."""
    path, mark = tmp_path / "mark.py", tmp_path / "ran"
    path.write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\ndef make(): return 42\n")
    with pytest.raises(Exception, match=r"--allow-import"):
        load_search_factory(f"{path}:make", is_allowed=False)
    assert not mark.exists()
    assert load_search_factory(f"{path}:make", is_allowed=True)() == 42
    assert mark.exists()
    assert load_search_factory("math:sqrt", is_allowed=True)(4) == 2
    path.write_text("from sklearn.dummy import DummyClassifier\nmodel = DummyClassifier()\n")
    assert hasattr(load_search_factory(f"{path}:model", is_allowed=True)(), "predict")
    with pytest.raises(UnknownName, match="did you mean 'model'"):
        load_search_factory(f"{path}:modle", is_allowed=True)


def test_call_factory_gives_the_rows_to_a_function_of_two():
    """None, or X and y; anything else is refused."""
    assert call_search_factory(lambda: 1, 2, 3) == 1
    assert call_search_factory(lambda X, y: (X, y), 2, 3) == (2, 3)
    assert call_search_factory(lambda X, y, k=5: k, 2, 3) == 5
    with pytest.raises(UnknownName, match="takes 1 arguments"):
        call_search_factory(lambda X: X, 2, 3)

    def make():
        raise KeyError("x")

    with pytest.raises(TrueRiskError, match="make failed: KeyError"):
        call_search_factory(make, 1, 2)
