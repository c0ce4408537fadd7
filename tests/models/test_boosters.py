"""Gradient boosting by word: its grids, levels and gaps as such, packages that are missing."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import truerisk as tr
from truerisk.exceptions import MissingExtra
from truerisk.models.builders import TREE_COUNTS

LEVEL = np.resize(list("abcd"), 200)
TOLD = np.isin(LEVEL, ["b", "d"])


@pytest.mark.parametrize(
    ("word", "module", "said"),
    [
        ("xgboost", "xgboost", r"pip install 'truerisk\[xgboost\]'"),
        ("lightgbm", "lightgbm", r"pip install 'truerisk\[lightgbm\]'"),
        ("catboost", "catboost", r"pip install 'truerisk\[catboost\]'"),
        ("cox", "sksurv.linear_model", r"cox' needs .* 'truerisk\[survival\]'"),
        ("cox-lasso", "sksurv.linear_model", r"cox-lasso' needs .* 'truerisk\[survival\]'"),
        ("survival-forest", "sksurv.ensemble", r"forest' needs .* 'truerisk\[survival\]'"),
    ],
)
def test_learner_of_a_missing_package_names_the_extra(word, module, said, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    y = np.array([(True, 1.0), (False, 2.0)] * 10, "?,f8")
    with pytest.raises(MissingExtra, match=said):
        tr.assess([word], np.eye(20), y if "sksurv" in module else np.arange(20) % 2)


def boosting(p=1, **options):
    """The learner of the word and its grid, for 200 rows of p columns."""
    return tr.models.learner(
        "boosting", "classification", n_rows=200, n_features=p, n_classes=2, **options
    )


def test_boosting_splits_levels_and_takes_gaps() -> None:
    """One split tells levels apart that no order does; a gap that tells the class is not filled."""
    pipe, grid = boosting(numeric=[], text=[0])
    pipe.set_params(model__max_iter=1, model__max_leaf_nodes=2, model__learning_rate=1.0)
    frame = pd.DataFrame({"level": LEVEL})
    assert pipe.fit(frame, TOLD).score(frame, TOLD) == 1
    assert pipe[-1].n_features_in_ == 1
    assert grid["model__max_iter"] == TREE_COUNTS
    x = np.where(TOLD, np.nan, np.random.default_rng(0).normal(size=200))[:, None]
    pipe = boosting(missing=True)[0].set_params(model__max_iter=3)
    assert pipe.fit(x, TOLD).score(x, TOLD) == 1
    # All numbers of trees of the word's grid are read off one fit.
    X, y = tr.datasets.make_simple(60, random_state=0)
    pipe, grid = boosting(2)
    curve = tr.risk_curve(pipe, {**grid, "model__max_leaf_nodes": [3]}, X, y, cv="holdout")
    assert curve[0].engine == "ensemble"
    assert len(curve) == len(TREE_COUNTS)


@pytest.mark.parametrize("kind", ["pandas", "polars", "table"])
def test_boosting_takes_frames_and_tables(kind) -> None:
    """Text of a data frame, categories, and codes of a table, with a level never seen."""
    x = np.random.default_rng(0).normal(size=200)
    columns = {"x": x, "level": LEVEL.astype(object)}
    X = {
        "pandas": pd.DataFrame(columns).astype({"level": "category"}),
        "polars": pl.DataFrame({"x": x, "level": LEVEL.tolist()}),
        "table": np.column_stack([x, np.searchsorted(list("abcd"), LEVEL)]),
    }[kind]
    pipe = boosting(2, numeric=[0], text=[1])[0].set_params(model__max_iter=5)
    known = np.flatnonzero(LEVEL != "d")
    seen = X.iloc[known] if kind == "pandas" else X[known]
    assert np.isfinite(pipe.fit(seen, TOLD[known]).predict_proba(X)).all()
    assert pipe.score(seen, TOLD[known]) == 1
