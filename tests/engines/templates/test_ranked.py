"""Scores that rounding would rank: the learner itself is asked, so an AUC is its own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import both, data_of, family_of

import truerisk as tr
from truerisk.core.contracts import Request, Streams
from truerisk.core.errors import FitFailed
from truerisk.core.losses import AUC
from truerisk.engines.choice import choose_engine
from truerisk.engines.templates.ranking import fits_ranked_by_rounding
from truerisk.methods.kfold import KFold
from truerisk.models import FisherClassifier

SCORE = Request("score")
MODELS = {
    "ridge": (RidgeClassifier(), {"alpha": [0, 1e-12, 1e-3, 1.0, 1e12]}),
    "ridge-without": (RidgeClassifier(fit_intercept=False), {"alpha": [0, 1.0]}),
    "ridge-scaled": (make_pipeline(StandardScaler(), RidgeClassifier()), None),
    "lda": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.1, 0.9]}),
    "qda": (QuadraticDiscriminantAnalysis(), {"reg_param": [0.1, 0.9]}),
    "fisher": (FisherClassifier(), None),
}


def few_values(seed):
    """Rows of a few values, so that many scores are equal in theory."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(14, 30))
    X = rng.integers(0, 2, size=(n, int(rng.integers(1, 4)))).astype(float)
    y = rng.permutation(np.arange(n) % 2)
    return data_of(X * rng.choice([1.0, 0.1, 3.0]), y)


@pytest.mark.parametrize("method", ["3-fold", "loo", tr.methods.MonteCarlo(3)], ids=str)
@pytest.mark.parametrize("word", MODELS)
def test_auc_of_rows_that_tie_is_the_learners_own(word, method):
    """Rows of few values: every 1 - AUC, within folds and over all of them, is the generic one."""
    family = family_of(*MODELS[word])
    for seed in range(6):
        data = few_values(seed)
        plan = tr.methods.as_method(method).plan(data, Streams(seed))
        engine, _ = choose_engine("auto", family, data, plan, SCORE)
        if engine.word == "generic":
            continue
        try:
            found, expected = both(engine, family, data, plan, SCORE)
        except FitFailed:
            continue
        assert ranks(data, plan, found) == ranks(data, plan, expected), seed


def ranks(data, plan, values):
    """1 - AUC of each candidate over the answers of the first repetition."""
    first = np.repeat(plan.repeat, plan.test_sizes) == 0
    return AUC().of_set(data, plan.positions[0][first], values[:, first], None).tolist()


def test_scores_of_two_repetitions_are_not_ranked_together():
    """Only rows of two classes in one repetition tie; a score that is no number ties with none."""
    data = data_of(np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    plan = KFold(2, repeats=2, stratify=False).plan(data, Streams(0))
    rows = plan.positions[0]
    scores = np.arange(len(rows), dtype=float)

    def asked():
        return fits_ranked_by_rounding(scores, plan, data).tolist()

    assert asked() == []
    other = next(at for at in range(4) if rows[at] % 2 != rows[7] % 2)
    scores[7] = scores[other]  # of the second and of the first repetition
    assert asked() == []
    scores[1], scores[0] = scores[0], scores[0]
    assert (asked() == []) == (rows[0] % 2 == rows[1] % 2)
    scores[:] = np.nan
    assert asked() == []
