"""Gradient boosting by word: its grids, levels and gaps as such, packages that are missing."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

import truerisk as tr
from truerisk.core.errors import MissingExtra
from truerisk.models.builders import TREES
from truerisk.models.learners import learner

LEVEL = np.resize(list("abcd"), 200)
TOLD = np.isin(LEVEL, ["b", "d"])


@pytest.mark.parametrize("word", ["xgboost", "lightgbm", "catboost"])
def test_a_missing_package_is_a_sentence(word, monkeypatch) -> None:
    """It names the extra; other words need no package."""
    monkeypatch.setitem(sys.modules, word, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'truerisk\[{word}\]'"):
        tr.assess([word], np.eye(20), np.arange(20) % 2)
    assert tr.models.names("regression")[-4:] == ["boosting", "xgboost", "lightgbm", "catboost"]


@pytest.mark.parametrize(
    ("word", "module"),
    [
        ("cox", "sksurv.linear_model"),
        ("cox-lasso", "sksurv.linear_model"),
        ("survival-forest", "sksurv.ensemble"),
    ],
)
def test_scikit_survival_is_an_extra(word, module, monkeypatch) -> None:
    """Its learners name the extra by its own word."""
    monkeypatch.setitem(sys.modules, module, None)
    y = np.array([(True, 1.0), (False, 2.0)] * 10, "?,f8")
    with pytest.raises(MissingExtra, match=rf"{word}' needs .* 'truerisk\[survival\]'"):
        tr.assess([word], np.eye(20), y)


def test_levels_are_split_by_level() -> None:
    """One split tells levels apart that no order does; the column stays one column."""
    pipe, grid = learner(
        "boosting", "classification", n_rows=200, n_features=1, n_classes=2, numeric=[], text=[0]
    )
    pipe.set_params(model__max_iter=1, model__max_leaf_nodes=2, model__learning_rate=1.0)
    frame = pd.DataFrame({"level": LEVEL})
    assert pipe.fit(frame, TOLD).score(frame, TOLD) == 1
    assert pipe[-1].n_features_in_ == 1
    assert grid["model__max_iter"] == TREES


def test_gaps_reach_the_learner() -> None:
    """A gap that tells the class is not filled before it."""
    x = np.where(TOLD, np.nan, np.random.default_rng(0).normal(size=200))
    pipe, _ = learner(
        "boosting", "classification", n_rows=200, n_features=1, n_classes=2, missing=True
    )
    pipe.set_params(model__max_iter=3)
    assert pipe.fit(x[:, None], TOLD).score(x[:, None], TOLD) == 1


@pytest.mark.parametrize("kind", ["pandas", "polars", "table"])
def test_frames_and_tables(kind) -> None:
    """Text of a data frame, categories, and codes of a table, with a level never seen."""
    x = np.random.default_rng(0).normal(size=200)
    columns = {"x": x, "level": LEVEL.astype(object)}
    pl = pytest.importorskip("polars")
    frames = {
        "pandas": pd.DataFrame(columns).astype({"level": "category"}),
        "polars": pl.DataFrame({"x": x, "level": LEVEL.tolist()}),
        "table": np.column_stack([x, np.searchsorted(list("abcd"), LEVEL)]),
    }
    pipe, _ = learner(
        "boosting", "classification", n_rows=200, n_features=2, n_classes=2, numeric=[0], text=[1]
    )
    pipe.set_params(model__max_iter=5)
    X = frames[kind]
    known = np.flatnonzero(LEVEL != "d")
    seen = X.iloc[known] if kind == "pandas" else X[known]
    assert np.isfinite(pipe.fit(seen, TOLD[known]).predict_proba(X)).all()
    assert pipe.score(seen, TOLD[known]) == 1


def test_all_of_its_numbers_of_trees_are_read_off_one_fit() -> None:
    """The word's grid is answered by the engine of ensembles."""
    X, y = tr.datasets.make_simple(60, random_state=0)
    pipe, grid = learner("boosting", "classification", n_rows=60, n_features=2, n_classes=2)
    grid = {**grid, "model__max_leaf_nodes": [3]}
    curve = tr.risk_curve(pipe, grid, X, y, cv="holdout")
    assert curve[0].engine == "ensemble"
    assert len(curve) == len(TREES)
