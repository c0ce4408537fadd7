"""Rows that end a fit: none that it is tested on, and whole groups."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.core.errors import Refusal, TrueRiskWarning
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.estimation.fit_params import (
    params_of_fits,
    refuse_stopping_rows,
    warn_of_cut_groups,
    with_rows_inside,
)

X, Y = tr.datasets.make_simple(40, random_state=0)
FRAME = pd.DataFrame({"a": X[:, 0], "b": np.where(Y, "yes", "no")})
GROUPS = np.arange(40) // 2


class Ended(ClassifierMixin, BaseEstimator):
    """Takes an eval_set as boosters do."""

    def fit(self, X, y, eval_set=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def data(table=X, **known):
    return Data.check(table, Y, task="classification", **known)


@pytest.mark.parametrize(
    ("table", "name", "given", "message"),
    [
        (X, "eval_set", [(X[:7], Y[:7])], "7 rows of eval_set are rows of X"),
        (X, "eval_set", (X[:7], Y[:7]), "7 rows of eval_set are rows of X"),
        (X, "model__eval_set", [(X + 1, Y), (X[5:6], Y[5:6])], "1 rows of model__eval_set"),
        (X, "X_val", X[:3], "3 rows of X_val"),
        (X, "eval_X", (X[:3],), "3 rows of eval_X"),
        (FRAME, "eval_set", [(FRAME[:4], Y[:4])], "4 rows of eval_set"),
        (sparse.csr_matrix(X), "eval_set", [(sparse.csr_matrix(X[:2]), Y[:2])], "2 rows of"),
        (X, "eval_set", [(object(), Y)], r"cannot be seen \(object\)"),
    ],
)
def test_rows_of_x_may_end_no_fit(table, name, given, message) -> None:
    """Arrays, frames, sparse tables; what cannot be read is refused as well."""
    with pytest.raises(Refusal, match=message) as refused:
        refuse_stopping_rows({name: given}, data(table))
    assert "tr.models.EarlyStopping(model)" in str(refused.value)


@pytest.mark.parametrize(
    "params",
    [
        {"eval_set": [(X + 0.5, Y)]},
        {"eval_set": [(X[:, :1], Y)]},
        {"eval_set": None, "sample_weight": X[:, 0]},
    ],
)
def test_other_rows_may(params) -> None:
    """Rows of another table, of other columns, and no rows at all."""
    refuse_stopping_rows(params, data())


def test_a_search_refuses_them() -> None:
    """Where fit parameters come in."""
    search = tr.HonestSearchCV(Ended(), {}, cv=3)
    with pytest.raises(Refusal, match="5 rows of eval_set"):
        search.fit(X, Y, eval_set=[(X[:5], Y[:5])])


def test_groups_reach_a_learner_that_sets_rows_aside() -> None:
    """Alone or behind steps, unless it is given some; other learners get none."""
    model = tr.models.EarlyStopping(HistGradientBoostingClassifier())
    grouped = data(groups=GROUPS)
    alone, piped = Family.of(model), Family.of(make_pipeline(StandardScaler(), model))
    assert list(with_rows_inside(alone, grouped, {})) == ["groups"]
    assert list(with_rows_inside(piped, grouped, {})) == ["earlystopping__groups"]
    assert with_rows_inside(alone, grouped, {"groups": 1}) == {"groups": 1}
    assert with_rows_inside(alone, data(), {}) == {}
    assert with_rows_inside(Family.of(Ended()), grouped, {}) == {}


@pytest.mark.parametrize("piped", [False, True])
def test_what_is_known_of_rows_reaches_a_search_that_is_a_model(piped) -> None:
    """Times, places and groups, unless it is given some; labels of blocks are its groups."""
    search = tr.HonestSearchCV(Ended(), {})
    family = Family.of(make_pipeline(StandardScaler(), search) if piped else search)
    before = "honestsearchcv__" if piped else ""
    times, places = np.arange(len(Y)), np.column_stack([np.arange(len(Y))] * 2)

    def handed(params=None, **known) -> list[str]:
        return sorted(with_rows_inside(family, data(**known), params or {}))

    assert handed(time=times, groups=GROUPS) == [f"{before}groups", f"{before}time"]
    assert handed(block=places, groups=GROUPS) == [f"{before}block", f"{before}groups"]
    assert handed(block=GROUPS) == [f"{before}block"]
    assert handed({f"{before}time": 1}, time=times) == [f"{before}time"]
    assert handed() == []


@pytest.mark.parametrize("piped", [False, True])
def test_the_inner_splits_of_a_search_go_forward(piped) -> None:
    """No warning of shuffled times, and each fit chose by forward validation."""
    search = tr.HonestSearchCV(KNeighborsRegressor(), {"n_neighbors": [1, 3]})
    model = make_pipeline(StandardScaler(), search) if piped else search
    X, y = tr.datasets.make_daily_load(300, random_state=0)
    seen = []

    class Told(tr.HonestSearchCV):
        def fit(self, X, y, **params):
            super().fit(X, y, **params)
            seen.append((self.risk_.method, len(params["time"]) == len(y)))
            return self

    search.__class__ = Told
    tr.estimate_risk(model, X, y, time=np.arange(300))
    assert set(seen) == {("nested (forward-5, inner forward-5)", True)}


@pytest.mark.parametrize(
    ("model", "warned"),
    [
        (HistGradientBoostingClassifier(early_stopping=True), True),
        (HistGradientBoostingClassifier(), False),
        (HistGradientBoostingClassifier(early_stopping=True, validation_fraction=None), False),
        (GradientBoostingClassifier(n_iter_no_change=3), True),
        (GradientBoostingClassifier(), False),
        (SGDClassifier(early_stopping=True), True),
        (SGDClassifier(), False),
    ],
)
def test_a_learner_that_cuts_groups_is_said(model, warned) -> None:
    """Where groups are given, and only where rows are drawn at random."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn_of_cut_groups(Family.of(model), data(groups=GROUPS))
        params_of_fits(Family.of(model), data(), None, None)
    assert len(said) == warned
    assert all(issubclass(one.category, TrueRiskWarning) for one in said)
    assert all("tr.models.EarlyStopping(model) keeps groups" in str(one.message) for one in said)
