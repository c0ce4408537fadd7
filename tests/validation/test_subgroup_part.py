"""Subgroups of a validation: every score, from the answers of a search or of one honest run."""

import json
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, BadData
from truerisk.validation.subgroups import MISSING_LEVEL_NAME, subgroup_levels

N = 120
RNG = np.random.default_rng(1)
X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "sex"])
X["sex"] = (X["sex"] > 0).astype(float)
X.loc[:14, "sex"] = np.nan
MODEL_X = X[["a", "b"]]
Y = (X["a"] + RNG.logistic(size=N) > 0).to_numpy().astype(int)


def test_subgroups_name_a_missing_level():
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
def test_subgroups_have_every_score_that_the_answers_allow(model, y, words):
    found = tr.validate(
        model, MODEL_X, y, subgroups={"half": np.arange(N) % 2}, replicates=0
    ).subgroups
    assert [one.scoring for one in found.risks] == words


def test_subgroups_are_refused_before_any_fit(monkeypatch):
    def never(_):
        raise AssertionError("run")

    monkeypatch.setattr(import_module("truerisk.validation.validate"), "honest_run", never)
    with pytest.raises(UnknownName, match="no column 'age'"):
        tr.validate(LogisticRegression(), MODEL_X, Y, subgroups=["age"])


@pytest.mark.parametrize("positive", [None, 0])
def test_subgroups_whole_has_the_score_of_discrimination(positive):
    """One AUC on a page: the mean over folds with its interval, named by the event."""
    parts = {"half": np.arange(N) % 2}
    found = tr.validate(LogisticRegression(), MODEL_X, Y, subgroups=parts, positive=positive)
    area, honest = found.subgroups["auc"], found.discrimination.measures["auc"]
    whole = area.whole
    assert (whole.value, whole.interval) == (pytest.approx(honest.honest), honest.interval)
    assert area.positive == (1 if positive is None else 0)


FRAME = pd.DataFrame(
    {
        "sex": ["m", "f", "m", "f"],
        "grade": [10.0, 9.0, np.nan, 10.0],
        "centre": pd.Categorical(["b", "a", "b", None]),
        "flag": pd.array([True, None, False, True], dtype="boolean"),
    }
)


def test_levels_of_a_frame_are_named():
    """By their columns, in the order asked for; levels stand in the order of their values."""
    grade, sex = subgroup_levels(["grade", "sex"], FRAME, 4)
    assert (grade.column, grade.names, grade.codes.tolist()) == (
        "grade", ("9", "10", MISSING_LEVEL_NAME), [1, 0, 2, 1],
    )  # fmt: skip
    assert (sex.names, sex.codes.tolist(), sex.n_missing) == (("f", "m"), [1, 0, 1, 0], 0)
    for name in ("grade", "centre", "flag"):  # NaN, None and the NA of pandas are the last level
        (found,) = subgroup_levels(name, FRAME, 4)
        assert found.names[-1] == MISSING_LEVEL_NAME
        assert found.n_missing == (found.codes == len(found.names) - 1).sum() == 1


@pytest.mark.parametrize(
    ("column", "names", "codes"),
    [
        # six digits do not tell codes of a million apart; whole numbers are written so
        (
            [1000001.0, 1000002.0, np.nan, 0.1],
            ("0.1", "1000001", "1000002", MISSING_LEVEL_NAME),
            [1, 2, 3, 0],
        ),
        ([0.1234561, 0.1234562], ("0.1234561", "0.1234562"), [0, 1]),
        # rows without a value are beside a level that is called missing
        (["missing", "b", None], ("b", "missing", "missing (no value)"), [1, 0, 2]),
    ],
)
def test_levels_have_names_of_their_own(column, names, codes):
    (found,) = subgroup_levels({"x": np.array(column)}, None, len(column))
    assert (found.names, found.codes.tolist()) == (names, codes)
    said = f"1 row has no 'x': they are the level '{names[-1]}'."
    assert (found.note == said) == (found.n_missing == 1)


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
def test_levels_are_read_from_every_form(given):
    """A frame, a series and a dict of their own need no column of X; an array has numbers."""
    (found,) = subgroup_levels(given, None, 4)
    assert (found.column, found.names, found.codes.tolist()) == ("sex", ("f", "m"), [1, 0, 1, 0])
    X = np.array([[0, 1], [1, 1], [0, 2], [1, 2]])
    assert subgroup_levels([1], X, 4)[0].codes.tolist() == [0, 0, 1, 1]
    assert [one.column for one in subgroup_levels(X, None, 4)] == ["column 0", "column 1"]


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
        ({"age": np.arange(40.0)}, np.zeros((40, 1)), BadData, "has 40 levels"),
        ({"age": np.arange(40.0)}, np.zeros((40, 1)), BadData, "ranges (pandas.cut)"),
    ],
)
def test_levels_refuse_bad_columns(given, X, kind, why):
    with pytest.raises(kind) as refused:
        subgroup_levels(given, X, 4 if X is None else len(X))
    assert why in str(refused.value)


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
        (found,) = subgroup_levels(given, frame, 4)
        assert found.names == ("low", "medium", "high")
        assert found.codes.tolist() == [2, 0, 1, 0]
