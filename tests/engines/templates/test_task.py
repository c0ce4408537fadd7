"""Rows that rounding would rank are ranked by the learner itself, so an AUC is its own."""

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
from truerisk.contracts import Request, Streams
from truerisk.core.errors import FitFailed
from truerisk.engines.choice import choose_engine
from truerisk.engines.templates.task import fits_ranked_by_rounding
from truerisk.losses.rank_scores import AUC
from truerisk.methods.kfold import KFold
from truerisk.models import FisherClassifier

SCORE = Request("score")
MODELS = {
    "least-squares": (RidgeClassifier(), {"alpha": [0, 1e-12, 1e-3, 1.0, 1e12]}),
    "without": (RidgeClassifier(fit_intercept=False), {"alpha": [0, 1.0]}),
    "scaled": (make_pipeline(StandardScaler(), RidgeClassifier()), None),
    "discriminant": (
        LinearDiscriminantAnalysis(solver="lsqr"),
        {"shrinkage": [None, 0.1, 0.5, 0.9]},
    ),
    "quadratic": (QuadraticDiscriminantAnalysis(), {"reg_param": [0.1, 0.9]}),
    "fisher": (FisherClassifier(), {"threshold": ["least-squares", "balanced"]}),
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
    for seed in range(3):
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


@pytest.mark.filterwarnings("ignore:.* rows of X .* have an exact copy")
@pytest.mark.parametrize("seed", [1, 4, 15, 16, 19])  # rounding would decide in these
@pytest.mark.parametrize(
    ("word", "weighted"),
    [
        ("least-squares", False),
        ("least-squares", True),
        ("fisher", False),
        ("fisher", True),
        ("discriminant", False),
    ],
)
def test_the_auc_of_a_curve_is_that_of_the_learner(word, weighted, seed):
    """On few different cells, where slopes are 0 but for rounding, weights or none."""
    model, grid = MODELS[word]
    rng = np.random.default_rng(seed)
    n = int(rng.integers(16, 40))
    X, y = rng.integers(-2, 3, size=(n, 1)).astype(float), np.arange(n) % 2
    weight = rng.integers(1, 3, n).astype(float) if weighted else None
    given = {"cv": "5-fold", "scoring": "auc", "sample_weight": weight}
    fast, slow = (tr.risk_curve(model, grid, X, y, engine=e, **given) for e in ("auto", "generic"))
    np.testing.assert_array_equal(fast.values, slow.values)
    assert fast.common.engine == word


@pytest.mark.parametrize(
    ("scores", "fits"),
    [
        ([0.0, 1.0, 0.0, 1.0, 0.5, 2.0], []),
        ([0.0, 1.0, 1e-17, 1.0, -1e-17, 0.0], [0, 2, 4, 5]),
        ([0.0, np.nan, 0.0, np.nan, 0.0, np.nan], []),
        ([np.nan] * 6, []),
    ],
)
def test_only_what_rounding_ranks_is_asked(scores, fits):
    """Equal scores of one class are not, nor clear ones, nor what is no number."""
    data = data_of(np.zeros((6, 1)), [0, 1, 0, 1, 0, 1])
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    assert fits_ranked_by_rounding(np.array(scores), plan, data).tolist() == fits


def test_scores_of_two_repetitions_are_not_ranked_together():
    """Only rows of two classes in one repetition tie, and then both their fits are asked."""
    data = data_of(np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    plan = KFold(2, repeats=2, stratify=False).plan(data, Streams(0))
    rows, fit = plan.positions[0], np.repeat(plan.fit, plan.test_sizes)
    scores = np.arange(len(rows), dtype=float)

    def asked():
        return fits_ranked_by_rounding(scores, plan, data).tolist()

    assert asked() == []
    other = next(at for at in range(4) if rows[at] % 2 != rows[7] % 2)
    scores[7] = scores[other]  # of the second and of the first repetition
    assert asked() == []
    twin = next(at for at in range(4) if at != other and rows[at] % 2 == rows[other] % 2)
    scores[twin] = scores[other]  # of one class
    assert asked() == []
    rival = next(at for at in range(4) if rows[at] % 2 != rows[other] % 2)
    scores[rival] = scores[other]
    assert asked() == sorted({int(fit[at]) for at in (other, twin, rival)})
