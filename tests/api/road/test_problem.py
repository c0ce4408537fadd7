"""Data are checked and counted once; every family makes a problem of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.api.road.problem import pose, problem_on
from truerisk.core.family import Family
from truerisk.core.table import data as data_module
from truerisk.core.table.data import Data

X, Y = tr.datasets.make_simple(40, random_state=2)
THREE = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(), "guess": GaussianNB()}


@pytest.mark.parametrize("learners", [THREE, ["lda", "tree"], None])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_assessment_checks_and_counts_its_rows_once(learners, weighted, monkeypatch):
    """However many learners there are, and also where each has its own name for the weights."""
    calls = dict.fromkeys(("_table", "digest", "sums_of", "row_keys"), 0)
    for name in calls:
        real = getattr(data_module, name)

        def counting(*args, real=real, name=name, **kwargs):
            calls[name] += 1
            return real(*args, **kwargs)

        monkeypatch.setattr(data_module, name, counting)
    if weighted:
        learners = {"bayes": GaussianNB(), "piped": make_pipeline(StandardScaler(), GaussianNB())}
    weights = np.ones(len(Y)) if weighted else None
    tr.assess(learners, X, Y, methods=["2-fold"], outer="3-fold", sample_weight=weights)
    assert calls == dict.fromkeys(calls, 1)


def test_a_weight_has_the_name_that_each_family_has_for_it():
    """The rows and what was counted of them are shared; the parameters of fits are not."""
    data = Data.check(X, Y, task="classification", sample_weight=np.arange(1.0, 41))
    alone = problem_on(data, Family.of(GaussianNB()), sample_weight=data.sample_weight)
    piped = Family.of(make_pipeline(StandardScaler(), GaussianNB()))
    inside = problem_on(data, piped, sample_weight=data.sample_weight)
    assert list(alone.data.fit_params) == ["sample_weight"]
    assert list(inside.data.fit_params) == ["gaussiannb__sample_weight"]
    assert alone.data.X is inside.data.X
    assert alone.data.fingerprint == inside.data.fingerprint == data.fingerprint


def test_without_parameters_the_data_are_the_very_same():
    """Nothing is copied, and nothing counted, where the fits take nothing beside the rows."""
    data = Data.check(X, Y, task="classification")
    assert problem_on(data, Family.of(KNeighborsClassifier())).data is data
    assert "fingerprint" not in vars(pose(Family.of(GaussianNB()), X, Y).data)
