"""Fits that cannot fit into memory are refused before the first of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.running import memory
from truerisk.engines.running.doors import refuse_too_large
from truerisk.engines.running.memory import available_memory

SHRUNK = {"solver": "lsqr", "shrinkage": 0.1}


def wide_table(n, p):
    """A table of zeros that takes no memory of its own, with a row of numbers to tell classes."""
    return Data(np.broadcast_to(np.zeros((1, 1)), (n, p)), np.arange(n) % 2, "classification")


@pytest.mark.parametrize(
    ("model", "n", "p", "what"),
    [
        (LinearDiscriminantAnalysis(**SHRUNK), 40, 100_000, "100,000 columns by 100,000 columns"),
        (LinearDiscriminantAnalysis(solver="eigen"), 40, 100_000, "makes a matrix"),
        (
            make_pipeline(StandardScaler(), LinearDiscriminantAnalysis(**SHRUNK)),
            40,
            100_000,
            "use tr.models.LinearDiscriminant",
        ),
        (LinearDiscriminantAnalysis(**SHRUNK), 40, 100_000, "with a number as shrinkage, which"),
        (tr.models.LinearDiscriminant("auto", "auto"), 40, 100_000, "use fewer columns"),
        (tr.models.LinearDiscriminant("lsqr"), 40, 100_000, "use fewer columns"),
        (GaussianProcessClassifier(), 200_000, 2, "200,000 rows by 200,000 rows"),
        (KernelRidge(), 200_000, 2, "use fewer rows"),
    ],
)
def test_refuse_too_large_names_the_matrix_and_a_remedy(monkeypatch, model, n, p, what):
    """The refusal says what the matrix takes, what is free, and what to do."""
    monkeypatch.setattr(memory, "available_memory", lambda: 16 * 10**9)
    with pytest.raises(Refusal, match="GB, and 16 GB are free: .*") as refused:
        refuse_too_large(Family.of(model), wide_table(n, p))
    assert what in str(refused.value)


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        tr.models.LinearDiscriminant(solver="auto"),
        tr.models.LinearDiscriminant(solver="auto", shrinkage=0.1),
        tr.models.LinearDiscriminant(solver="lsqr", shrinkage=0.1),
        tr.models.LinearDiscriminant(solver="svd"),
        Ridge(),
    ],
)
def test_refuse_too_large_lets_learners_pass_that_work_by_rows(monkeypatch, model):
    """A wide table needs no matrix of columns by columns."""
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    refuse_too_large(Family.of(model), wide_table(40, 100_000))


def test_refuse_too_large_stops_a_search_before_its_first_fit(monkeypatch):
    """The engine needs no such matrix, but the model that is fitted on all rows would."""
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    monkeypatch.setattr("truerisk.search.search.rate_settings", None)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 8_000)), np.arange(10) % 2
    search = tr.HonestSearchCV(LinearDiscriminantAnalysis(**SHRUNK), {"shrinkage": [0.1, 0.5]})
    with pytest.raises(Refusal, match="makes a matrix of 8,000 columns by 8,000 columns"):
        search.fit(X, y)


def test_available_memory_is_positive_where_it_is_known():
    """The system says a number of bytes, or nothing."""
    room = available_memory()
    assert room is None or room > 0
