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
from truerisk.core.errors import BadData, UnknownName

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
    given = {"select_by": "5-fold", "scores": ("auc",)}
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
    assert [one.loss for one in found.risks] == words


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

    monkeypatch.setattr(import_module("truerisk.api.validate"), "honest_run", never)
    with pytest.raises(kind, match=why):
        tr.validate(LogisticRegression(), MODEL_X, Y, subgroups=subgroups)


@pytest.mark.parametrize("positive", [None, 0])
def test_all_rows_have_the_score_that_discrimination_has(positive):
    """One AUC on a page: the mean over folds with its interval, named by the event."""
    parts = {"half": np.arange(N) % 2}
    found = tr.validate(LogisticRegression(), MODEL_X, Y, subgroups=parts, positive=positive)
    area, honest = found.subgroups["auc"], found.discrimination.measures["auc"]
    shown = area.whole.own_scale
    assert (shown.value, shown.interval) == (pytest.approx(honest.honest), honest.interval)
    assert area.positive == (1 if positive is None else 0)
