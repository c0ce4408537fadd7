"""Fits that are too many or cannot fit into memory are refused; drawn train sets are listed."""

from itertools import product
from math import comb

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.data import checked

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.engines import Generic
from truerisk.engines.running import memory
from truerisk.engines.running.doors import refuse_too_large
from truerisk.engines.running.listed_draws import possible_train_sets
from truerisk.exceptions import FitFailed, FitFailedWarning
from truerisk.extend import Data, Family, Refusal, Request
from truerisk.losses import AUC, ZeroOne
from truerisk.methods import Complete
from truerisk.plan.extras.laws import SampleDistribution, plan_all_draws
from truerisk.testing.toy_learners import NearestMean

X = np.arange(12.0).reshape(6, 2) ** 1.5
Y = np.array([0, 1, 0, 1, 1, 0])
DATA = checked(X, Y)


def test_drawn_sets_are_every_subset_once_and_every_sample_as_often_as_it_is_drawn():
    """The multinomial number of orders, as counted over all ordered samples."""
    subsets = list(possible_train_sets(SampleDistribution("subsets", 3), np.array([1, 4, 5, 7, 8])))
    assert len({tuple(rows) for rows, _ in subsets}) == len(subsets) == comb(5, 3)
    assert {times for _, times in subsets} == {1.0}
    rows = [2, 3, 9]
    ordered = [tuple(sorted(draw)) for draw in product(rows, repeat=3)]
    samples = possible_train_sets(SampleDistribution("bootstraps", 3), np.array(rows))
    found = {tuple(map(int, sample)): times for sample, times in samples}
    assert found == {sample: ordered.count(sample) for sample in ordered}


def test_listed_draws_are_the_same_on_workers_and_for_one_candidate_alone():
    """Listed fits run on any executor, and `only` holds for all fits of a law."""
    plan = plan_all_draws(6, "subsets", 4)
    given = (
        Family.from_grid(NearestMean(), {"rest": [0.0, 1.0]}),
        DATA,
        plan,
        Request.from_plan(ZeroOne(), plan),
    )
    here = Generic().run(*given, RunOptions())
    there = Generic().run(*given, RunOptions(executor=2))
    alone = Generic().run(*given, RunOptions(candidate_by_fit=np.array([1])))
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


def test_listed_draws_of_which_one_fails_leave_a_candidate_without_value():
    """The failure is named; other candidates keep their values."""
    grid = {"dislikes": [-1.0, float(X[2, 0])]}
    with pytest.raises(FitFailed, match="not that row"):
        tr.risk_curve(Touchy(), grid, X, Y, cv=Complete(4))
    with pytest.warns(FitFailedWarning):
        curve = tr.risk_curve(Touchy(), grid, X, Y, cv=Complete(4), engine=Generic("warn"))
    assert curve.values[0] == pytest.approx(0.5)
    assert curve[1].value is None
    assert "fits failed" in curve[1].notes[0]


FOUR, SIX, MANY = (plan_all_draws(n, "subsets", m) for n, m in ((6, 4), (6, 6), (500, 450)))


@pytest.mark.parametrize(
    ("plan", "request_", "reason"),
    [
        (FOUR, Request("label"), "expected losses of single rows"),
        (FOUR, Request("loss", loss=AUC()), "expected losses of single rows"),
        (MANY, None, "are 10^69 fits for each candidate, more than 20,000"),
        (SIX, None, "6 of 6 rows leave none to ask about."),
    ],
)
def test_listed_draws_are_refused_where_they_are_no_list(plan, request_, reason):
    given = (
        Family.from_grid(NearestMean()),
        DATA,
        plan,
        request_ or Request.from_plan(ZeroOne(), plan),
    )
    assert reason in Generic().refuse(*given)
    with pytest.raises(Refusal):
        Generic().run(*given, RunOptions())


# ---------------- Memory

LDA = LinearDiscriminantAnalysis
SHRUNK = {"solver": "lsqr", "shrinkage": 0.1}
OWN = tr.models.LinearDiscriminant


@pytest.mark.parametrize(
    ("model", "n", "p", "what"),
    [
        (LDA(**SHRUNK), 40, 100_000, "100,000 columns by 100,000 columns"),
        (LDA(solver="eigen"), 40, 100_000, "makes a matrix"),
        (
            make_pipeline(StandardScaler(), LDA(**SHRUNK)),
            40,
            100_000,
            "tr.models.LinearDiscriminant",
        ),
        (LDA(**SHRUNK), 40, 100_000, "with a number as shrinkage, which"),
        (OWN("auto", "auto"), 40, 100_000, "use fewer columns"),
        (OWN("lsqr"), 40, 100_000, "use fewer columns"),
        (GaussianProcessClassifier(), 200_000, 2, "200,000 rows by 200,000 rows"),
        (KernelRidge(), 200_000, 2, "use fewer rows"),
        (LDA(), 40, 100_000, None),
        (OWN(solver="auto"), 40, 100_000, None),
        (OWN(solver="auto", shrinkage=0.1), 40, 100_000, None),
        (OWN(solver="lsqr", shrinkage=0.1), 40, 100_000, None),
        (OWN(solver="svd"), 40, 100_000, None),
        (Ridge(), 40, 100_000, None),
    ],
)
def test_refuse_too_large_names_the_matrix_and_a_remedy(monkeypatch, model, n, p, what):
    """A table of zeros takes no memory of its own; some learners need no matrix of its columns."""
    wide = Data(np.broadcast_to(np.zeros((1, 1)), (n, p)), np.arange(n) % 2, "classification")
    monkeypatch.setattr(memory, "available_memory", lambda: 16 * 10**9 if what else 2**30)
    if what is None:
        refuse_too_large(Family.from_grid(model), wide)
        return
    with pytest.raises(Refusal, match="GB, and 16 GB are free: .*") as refused:
        refuse_too_large(Family.from_grid(model), wide)
    assert what in str(refused.value)


def test_refuse_too_large_stops_a_search_before_its_first_fit(monkeypatch):
    """The engine needs no such matrix, but the model that is fitted on all rows would."""
    room = memory.available_memory()
    assert room is None or room > 0
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    monkeypatch.setattr("truerisk.search.search.rate_settings", None)
    wide = np.random.default_rng(0).normal(size=(10, 8_000))
    search = tr.HonestSearchCV(LDA(**SHRUNK), {"shrinkage": [0.1, 0.5]})
    with pytest.raises(Refusal, match="makes a matrix of 8,000 columns by 8,000 columns"):
        search.fit(wide, np.arange(10) % 2)
