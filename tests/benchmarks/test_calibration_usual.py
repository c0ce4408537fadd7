"""What others give of a score, against the formulas row by row."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from benchmarks.calibration.usual import corrected_t, cvauc, influences
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from truerisk.core import evaluation as found
from truerisk.core.family import Family
from truerisk.datasets import make_simple
from truerisk.methods import KFold
from truerisk.run.problem import pose
from truerisk.run.run import compute


@pytest.fixture(scope="module")
def computed():
    X, y = make_simple(67, random_state=1)
    posed = pose(Family.of(LogisticRegression(), {"C": [1.0]}), X, y, loss="auc")
    return compute(posed, KFold(5))


def test_the_corrected_t_of_folds(computed):
    """Nadeau and Bengio's, with K folds as J splits."""
    (tested,) = computed.evaluation.tested
    value, low, high = corrected_t(tested, computed.problem.loss)
    error = np.sqrt(tested.split_risks.var(ddof=1) * (1 / 5 + 1 / 4))
    assert (value, high) == pytest.approx(
        (tested.value, tested.value + stats.t(4).ppf(0.975) * error)
    )
    assert low == pytest.approx(max(0, 2 * value - high))
    alike = found.Tested(0.1, split_risks=np.full(5, 0.1))
    assert corrected_t(alike, computed.problem.loss) == [0.1, None, None]


def test_the_interval_of_cvauc(computed):
    """Its influence curve, a row at a time, as the R package has it."""
    (tested,) = computed.evaluation.tested
    answers, data = computed.answers, computed.problem.data
    rows, ends = answers.plan.positions[0], answers.plan.test_offsets
    y, said = data.codes_of(rows), answers.values[0]
    weight = {1: 1 / y.mean(), 0: 1 / (1 - y.mean())}
    squares = []
    for a, b in pairwise(ends):
        auc, of_fold = roc_auc_score(y[a:b], said[a:b]), []
        for i in range(a, b):
            others = said[a:b][y[a:b] != y[i]]
            right = others < said[i] if y[i] else others > said[i]
            of_fold.append(weight[y[i]] * (right.mean() - auc))
        squares.append(np.mean(np.square(of_fold)))
    half = stats.norm.ppf(0.975) * np.sqrt(np.mean(squares) / len(rows))
    value, low, high = cvauc(tested, answers, data)
    assert (value, high) == pytest.approx((tested.value, tested.value + half))
    assert low == pytest.approx(max(0, tested.value - half))


def test_influences_are_normal_on_the_logit_or_the_log(computed):
    """With the standard error of independent rows, c = 1."""
    loss = computed.problem.loss
    value, low, high = influences(found.Tested(0.2, 0.05), loss)
    logit = np.log([v / (1 - v) for v in (low, value, high)])
    assert np.diff(logit) == pytest.approx([1.959964 * 0.05 / 0.16] * 2)
    assert influences(found.Tested(0.0, 0.05), loss) == [0.0, None, None]
