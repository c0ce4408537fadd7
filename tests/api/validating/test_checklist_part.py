"""What a validation knows of its study: gaps, steps, classes, and what was computed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import truerisk as tr

N = 60
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"])
Y = np.where(X["a"] + RNG.logistic(size=N) > 0, "ill", "well")
GAPS = X.mask(RNG.random(X.shape) < 0.1)


def told(model, X=X, **given):
    checklist = tr.validate(model, X, Y, replicates=0, **given).checklist
    return {item.number: item.answer for item in checklist.items}, checklist


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(SimpleImputer(), LogisticRegression()),
        make_pipeline(
            make_column_transformer((SimpleImputer(), ["a", "b", "c"])), LogisticRegression()
        ),
    ],
    ids=["a step", "a part of a table"],
)
def test_gaps_and_who_fills_them(model):
    """Cells and rows are counted, and imputers are found wherever they stand."""
    found, _ = told(model, GAPS)
    gaps = GAPS.isna()
    cells, rows = gaps.to_numpy().sum(), gaps.any(axis=1).sum()
    assert found["11"].startswith(f"{cells} cells without a value in {rows} rows, filled by a step")


def test_classes_steps_and_selection():
    """Both classes by name, all steps in order, and that columns are selected inside."""
    found, checklist = told(make_pipeline(SelectKBest(k=2), LogisticRegression()))
    assert f"{(Y == 'ill').sum()} 'ill'" in found["20a"]
    assert "anew inside every split" in found["4.5"]
    assert "SelectKBest → LogisticRegression" in checklist.methods_text
    assert told(LogisticRegression())[0]["4.5"] is None


def test_groups_and_subgroups():
    """Groups that stayed whole, and the columns that performance was told by."""
    groups = np.arange(N) // 2
    found, _ = told(LogisticRegression(), groups=groups, subgroups={"half": np.arange(N) < 55})
    assert found["12d"].startswith("30 groups stayed whole")
    assert "by half (too few rows: half = False)" in found["23a"]


def test_samples_that_corrected_are_counted():
    """As many bootstrap samples as were drawn, and none where none were."""
    checklist = tr.validate(LogisticRegression(), X, Y, replicates=3).checklist
    found = {item.number: item.answer for item in checklist.items}
    assert "3 bootstrap samples" in found["12e"]
    assert "bootstrap" not in told(LogisticRegression())[0]["12e"]
