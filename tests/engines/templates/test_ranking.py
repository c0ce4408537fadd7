"""Rows that rounding would rank are ranked by the learner itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier

import truerisk as tr
from truerisk.core.contracts import Streams
from truerisk.core.table.data import Data
from truerisk.engines.templates.ranking import fits_ranked_by_rounding
from truerisk.models import FisherClassifier

LEARNERS = {
    "least-squares": (RidgeClassifier(), {"alpha": [0.0, 1.0]}),
    "fisher": (FisherClassifier(), {"threshold": ["least-squares", "balanced"]}),
    "discriminant": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [None, 0.5]}),
}


@pytest.mark.filterwarnings("ignore:.* rows of X .* have an exact copy")
@pytest.mark.parametrize(
    ("word", "weighted"),
    [(word, weighted) for word in LEARNERS for weighted in (False, True)][:-1],  # LDA has none
)
def test_the_auc_is_that_of_the_learner(word, weighted):
    """On few different cells, where slopes are 0 but for rounding, weights or none."""
    model, grid = LEARNERS[word]
    answered = set()
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(16, 40))
        X, y = rng.integers(-2, 3, size=(n, 1)).astype(float), np.arange(n) % 2
        weight = (
            rng.integers(1, 3, n).astype(float) if weighted and word != "discriminant" else None
        )
        given = {"method": "5-fold", "loss": "auc", "sample_weight": weight}
        fast, slow = (
            tr.risk_curve(model, grid, X, y, engine=e, **given) for e in ("auto", "generic")
        )
        np.testing.assert_array_equal(fast.values, slow.values)
        answered.add(fast.common.engine)
    assert word in answered


def test_only_what_rounding_ranks_is_asked():
    """Equal scores of one class are not, nor clear ones; those of two classes in one repetition."""
    data = Data.check(np.zeros((6, 1)), [0, 1, 0, 1, 0, 1], task="classification")
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    for scores, fits in (
        ([0.0, 1.0, 0.0, 1.0, 0.5, 2.0], []),
        ([0.0, 1.0, 1e-17, 1.0, -1e-17, 0.0], [0, 2, 4, 5]),
        ([0.0, np.nan, 0.0, np.nan, 0.0, np.nan], []),
    ):
        assert fits_ranked_by_rounding(np.array(scores), plan, data).tolist() == fits
