"""Subgroups of a validation: every score, from the answers of a search or of one honest run."""

from __future__ import annotations

import json
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.validation.subgroups import MISSING, levels_of

N = 120
RNG = np.random.default_rng(1)
X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "sex"])
X["sex"] = (X["sex"] > 0).astype(float)
X.loc[:14, "sex"] = np.nan
MODEL_X = X[["a", "b"]]
Y = (X["a"] + RNG.logistic(size=N) > 0).to_numpy().astype(int)
GRID = {"C": [0.1, 1.0]}


def test_a_fitted_search_and_a_new_one_say_the_same():
    """The risks and intervals of levels are those of the search's own folds, fitted or not."""
    given = {"cv": "5-fold", "scoring": ["zero-one", "auc"]}
    subgroups = {"sex": X["sex"]}
    new, old = (
        tr.validate(search, MODEL_X, Y, subgroups=subgroups, replicates=0).subgroups
        for search in (
            tr.HonestSearchCV(LogisticRegression(), GRID, **given),
            tr.HonestSearchCV(LogisticRegression(), GRID, **given).fit(MODEL_X, Y),
        )
    )
    for word in ("zero-one", "auc"):
        assert new[word] == old[word]
    risk = tr.HonestSearchCV(LogisticRegression(), GRID, **given).fit(MODEL_X, Y).risk_
    whole = new["zero-one"].whole
    assert whole.value == risk.value
    assert whole.interval.low == pytest.approx(risk.interval.low)
    assert whole.interval.high == pytest.approx(risk.interval.high)


def test_a_missing_level_is_named():
    """Rows without a sex are a level of their own, and the result says how many."""
    found = tr.validate(
        LogisticRegression(), MODEL_X, Y, subgroups={"sex": X["sex"]}, replicates=0
    ).subgroups
    assert [one.subgroup.level for one in found["auc"].levels] == ["0", "1", "missing"]
    assert "15 rows have no 'sex': they are the level 'missing'." in found.notes
    assert "sex = missing" in str(found)
    assert "sex = missing" in found._repr_html_()
    json.dumps(found.to_dict(), allow_nan=False)
    assert len(found.to_frame()) == 4 * len(found.risks)


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (LogisticRegression(), Y, ["zero-one", "auc", "brier"]),
        (LogisticRegression(), Y + (X["b"].to_numpy() > 0.2), ["zero-one", "brier"]),
        (LinearSVC(), Y, ["zero-one", "auc"]),
        (LinearRegression(), X["a"].to_numpy() + Y, ["squared"]),
    ],
    ids=["probabilities", "three classes", "decision values", "numbers"],
)
def test_every_score_that_the_answers_allow(model, y, words):
    """AUC of two classes, Brier's score of probabilities, else the loss alone."""
    found = tr.validate(
        model, MODEL_X, y, subgroups={"half": np.arange(N) % 2}, replicates=0
    ).subgroups
    assert [one.scoring for one in found.risks] == words


@pytest.mark.parametrize(
    ("subgroups", "kind", "why"),
    [
        (["age"], UnknownName, "no column 'age'"),
        ({"sex": [1, 2]}, BadData, r"shape \(2,\)"),
        (["a"], BadData, "120 levels"),
    ],
)
def test_bad_columns_are_refused_before_any_fit(subgroups, kind, why, monkeypatch):
    """The sentence names the column, and no model was fitted for it."""

    def never(_):
        raise AssertionError("run")

    monkeypatch.setattr(import_module("truerisk.validation.validate"), "honest_run", never)
    with pytest.raises(kind, match=why):
        tr.validate(LogisticRegression(), MODEL_X, Y, subgroups=subgroups)


@pytest.mark.parametrize("positive", [None, 0])
def test_all_rows_have_the_score_that_discrimination_has(positive):
    """One AUC on a page: the mean over folds with its interval, named by the event."""
    parts = {"half": np.arange(N) % 2}
    found = tr.validate(LogisticRegression(), MODEL_X, Y, subgroups=parts, positive=positive)
    area, honest = found.subgroups["auc"], found.discrimination.measures["auc"]
    whole = area.whole
    assert (whole.value, whole.interval) == (pytest.approx(honest.honest), honest.interval)
    assert area.positive == (1 if positive is None else 0)


# Columns that part the rows: where they come from, their order, gaps, and what is refused


FRAME = pd.DataFrame(
    {
        "sex": ["m", "f", "m", "f"],
        "grade": [10.0, 9.0, np.nan, 10.0],
        "centre": pd.Categorical(["b", "a", "b", None]),
        "flag": pd.array([True, None, False, True], dtype="boolean"),
    }
)


def test_columns_of_a_frame_are_named():
    """By their names, in the order asked for; levels stand in the order of their values."""
    grade, sex = levels_of(["grade", "sex"], FRAME, 4)
    assert (grade.column, grade.names, grade.codes.tolist()) == (
        "grade", ("9", "10", MISSING), [1, 0, 2, 1],
    )  # fmt: skip
    assert (sex.names, sex.codes.tolist(), sex.n_missing) == (("f", "m"), [1, 0, 1, 0], 0)


@pytest.mark.parametrize("name", ["grade", "centre", "flag"])
def test_a_missing_level_is_its_own(name):
    """NaN, None and the NA of pandas are one level, the last, and are counted."""
    (found,) = levels_of(name, FRAME, 4)
    assert found.names[-1] == MISSING
    assert found.n_missing == (found.codes == len(found.names) - 1).sum() == 1


def test_numbers_that_look_alike_are_levels_of_their_own():
    """Codes of a million, which six digits do not tell apart; whole numbers are written so."""
    codes = np.array([1000001.0, 1000002.0, np.nan, 0.1])
    (found,) = levels_of({"code": codes}, None, 4)
    assert found.names == ("0.1", "1000001", "1000002", MISSING)
    assert found.codes.tolist() == [1, 2, 3, 0]
    (close,) = levels_of({"x": [0.1234561, 0.1234562]}, None, 2)
    assert close.names == ("0.1234561", "0.1234562")


def test_a_level_that_is_called_missing_is_none():
    """Rows without a value are beside it."""
    (found,) = levels_of({"x": ["missing", "b", None]}, None, 3)
    assert (found.names, found.n_missing) == (("b", "missing", "missing (no value)"), 1)
    assert found.codes.tolist() == [1, 0, 2]
    assert found.note == "1 row has no 'x': they are the level 'missing (no value)'."


@pytest.mark.parametrize(
    "given",
    [
        FRAME[["sex"]],
        FRAME["sex"],
        {"sex": ["m", "f", "m", "f"]},
        {"sex": np.array(["m", "f", "m", "f"])},
    ],
    ids=["frame", "series", "dict of lists", "dict of arrays"],
)
def test_the_same_levels_in_every_form(given):
    """A frame, a series and a dict of their own need no column of X."""
    (found,) = levels_of(given, None, 4)
    assert (found.column, found.names, found.codes.tolist()) == ("sex", ("f", "m"), [1, 0, 1, 0])


def test_columns_of_an_array_have_numbers():
    """A table without names is asked by number; an array of its own has a column per level."""
    X = np.array([[0, 1], [1, 1], [0, 2], [1, 2]])
    assert levels_of([1], X, 4)[0].codes.tolist() == [0, 0, 1, 1]
    assert [one.column for one in levels_of(X, None, 4)] == ["column 0", "column 1"]


@pytest.mark.parametrize(
    ("given", "X", "kind", "why"),
    [
        (["age"], FRAME, UnknownName, "no column 'age'; it has sex, grade"),
        ([7], FRAME, UnknownName, "no column 7; it has 4"),
        (["sex"], np.zeros((4, 2)), BadArgument, "without names"),
        ([], FRAME, BadArgument, "names no column"),
        ([0, 1, 0, 1], FRAME, BadArgument, "for one level a row give an array"),
        (3.5, FRAME, BadArgument, "subgroups=3.5"),
        ({"sex": ["m", "f"]}, None, BadData, "shape (2,)"),
        ({"sex": ["m"] * 4}, None, BadData, "one level only, 'm'"),
        ({"sex": [None] * 4}, None, BadData, "one level only, 'missing'"),
    ],
)
def test_bad_columns_are_refused(given, X, kind, why):
    """A sentence names the column, what is wrong with it, and what there is."""
    with pytest.raises(kind) as refused:
        levels_of(given, X, 4)
    assert why in str(refused.value)


def test_numbers_are_to_be_cut():
    """A column with more levels than can be compared is refused, and ranges are named."""
    with pytest.raises(BadData, match=r"has 40 levels.*pandas\.cut"):
        levels_of({"age": np.arange(40.0)}, None, 40)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_levels_of_an_ordered_categorical_keep_its_order(library):
    """Stages are ordered by their author, and not as text."""
    stages, values = ["low", "medium", "high"], ["high", "low", "medium", "low"]
    module = pytest.importorskip(library)
    if library == "pandas":
        frame = module.DataFrame({"stage": module.Categorical(values, stages, ordered=True)})
    elif library == "polars":
        frame = module.DataFrame({"stage": module.Series(values, dtype=module.Enum(stages))})
    else:
        codes = module.array([stages.index(value) for value in values])
        column = module.DictionaryArray.from_arrays(codes, stages, ordered=True)
        frame = module.table({"stage": column})
    for given in ("stage", frame):
        (found,) = levels_of(given, frame, 4)
        assert found.names == ("low", "medium", "high")
        assert found.codes.tolist() == [2, 0, 1, 0]
