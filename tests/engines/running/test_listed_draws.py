"""Drawn train sets are listed with their chances, where they are few."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from truerisk.contracts import Request, RunOptions
from truerisk.core.errors import FitFailed, FitFailedWarning, Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.running.listed_draws import drawn_sets
from truerisk.losses.rank_scores import AUC
from truerisk.losses.row_losses import ZeroOne
from truerisk.methods import Complete
from truerisk.plan.extras.laws import Law, draw_every
from truerisk.testing.toy_learners import NearestMean

X = np.arange(12.0).reshape(6, 2) ** 1.5
Y = np.array([0, 1, 0, 1, 1, 0])
DATA = Data.check(X, Y, task="classification")


def test_every_subset_once() -> None:
    """As many as n choose m, each as likely."""
    found = list(drawn_sets(Law("subsets", 3), np.array([1, 4, 5, 7, 8])))
    assert len({tuple(rows) for rows, _ in found}) == len(found) == comb(5, 3)
    assert {times for _, times in found} == {1.0}


def test_every_sample_as_often_as_it_is_drawn() -> None:
    """The multinomial number of orders, as counted over all ordered samples."""
    rows = [2, 3, 9]
    ordered = [tuple(sorted(draw)) for draw in product(rows, repeat=3)]
    drawn = drawn_sets(Law("bootstraps", 3), np.array(rows))
    found = {tuple(map(int, sample)): times for sample, times in drawn}
    assert found == {sample: ordered.count(sample) for sample in ordered}


def test_workers_and_one_candidate_alone_give_the_same() -> None:
    """Listed fits run on any executor, and `only` holds for all fits of a law."""
    plan = draw_every(6, "subsets", 4)
    family = Family.of(NearestMean(), {"rest": [0.0, 1.0]})
    request = Request.of(ZeroOne(), plan)
    here = Generic().run(family, DATA, plan, request, RunOptions())
    there = Generic().run(family, DATA, plan, request, RunOptions(executor=2))
    alone = Generic().run(family, DATA, plan, request, RunOptions(only=np.array([1])))
    np.testing.assert_array_equal(here.values, there.values)
    np.testing.assert_array_equal(here.values[1:], alone.values)
    assert (here.n_fits, alone.n_fits) == (30, 15)
    assert here.fit_seconds.shape == (2, 1)


class Touchy(ClassifierMixin, BaseEstimator):
    """Refuses training sets that hold the row it dislikes."""

    def __init__(self, dislikes=-1.0):
        self.dislikes = dislikes

    def fit(self, X, y):
        if (X[:, 0] == self.dislikes).any():
            raise ValueError("not that row")
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_one_failing_train_set_leaves_a_candidate_without_value() -> None:
    """The failure is named; other candidates keep their values."""
    grid = {"dislikes": [-1.0, float(X[2, 0])]}
    with pytest.raises(FitFailed, match="not that row"):
        tr.risk_curve(Touchy(), grid, X, Y, cv=Complete(4))
    with pytest.warns(FitFailedWarning):
        curve = tr.risk_curve(Touchy(), grid, X, Y, cv=Complete(4), engine=Generic("warn"))
    assert curve.values[0] == pytest.approx(0.5)
    assert curve[1].value is None
    assert "fits failed" in curve[1].notes[0]


def test_what_is_asked_must_be_losses_of_rows() -> None:
    """Laws are answered with expected losses, and with nothing else."""
    plan = draw_every(6, "subsets", 4)
    family = Family.of(LogisticRegression())
    for request in (Request("label"), Request("loss", loss=AUC())):
        assert "expected losses of single rows" in Generic().refuse(family, DATA, plan, request)
        with pytest.raises(Refusal):
            Generic().run(family, DATA, plan, request, RunOptions())


def test_astronomic_numbers_are_said_in_powers_of_ten() -> None:
    """The subsets of 450 of 500 rows are no list."""
    plan = draw_every(500, "subsets", 450)
    request = Request.of(ZeroOne(), plan)
    reason = Generic().refuse(Family.of(LogisticRegression()), DATA, plan, request)
    assert "are 10^69 fits for each candidate, more than 20,000" in reason


def test_drawing_all_rows_leaves_none_to_ask_about() -> None:
    """A subset of six of six rows misses no row."""
    plan = draw_every(6, "subsets", 6)
    reason = Generic().refuse(Family.of(NearestMean()), DATA, plan, Request.of(ZeroOne(), plan))
    assert reason == "6 of 6 rows leave none to ask about."
