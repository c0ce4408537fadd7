"""Random splits of all rows, and of disjoint halves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadData
from truerisk.data.data import Data
from truerisk.methods import Nested, PairedHalves
from truerisk.plan.leaks import leaks_of

RNG = np.random.default_rng(1)
N = 40
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)


def test_halves_are_disjoint_and_their_tests_as_large():
    """Repetition 0 splits all rows; each pair cuts them in two, with as many test rows."""
    data = Data.check(X, Y, task="classification")
    plan = PairedHalves(3, pairs=2, test_share=0.2).plan(data, Streams(0))
    assert plan.n_questions == 3 + 2 * 2 * 3
    rows = {r: set() for r in range(5)}
    for q in range(plan.n_questions):
        train = set(plan.train_rows(int(plan.fit[q]))[0].tolist())
        test = set(plan.test_rows(q)[0].tolist())
        assert not train & test
        assert len(test) == 8
        rows[int(plan.repeat[q])] |= train | test
    assert len(rows[0]) == N
    for one, other in ((1, 2), (3, 4)):
        assert not rows[one] & rows[other]
        assert len(rows[one]) == len(rows[other]) == N // 2


def test_groups_stay_on_one_side():
    """Halves and their tests keep groups together."""
    groups = np.arange(N) // 4
    data = Data.check(X, Y, task="classification", groups=groups)
    plan = PairedHalves(3, pairs=2, test_share=0.2).plan(data, Streams(0))
    assert not len(leaks_of(data, plan, "groups")["groups"])


def test_a_tuned_model_is_tuned_in_each_split():
    """As the outer method of nested validation it has the interval of the procedure."""
    found = tr.risk_curve(
        LogisticRegression(),
        {"C": [0.1, 1.0]},
        X,
        Y,
        cv=Nested(PairedHalves(3, pairs=2), "3-fold"),
    ).procedure
    assert found.interval.method == "conservative-z"


@pytest.mark.parametrize(
    "options", [{"splits_drawn": 0}, {"pairs": 0}, {"test_share": 0.5}], ids=str
)
def test_what_cannot_be_drawn_is_refused(options):
    """No splits, no pairs, or halves without training rows."""
    with pytest.raises(BadData):
        PairedHalves(**options)


def test_too_few_rows_are_refused():
    """Halves of six rows are too small."""
    with pytest.raises(BadData, match="too small"):
        tr.estimate_risk(LogisticRegression(), X[:6], Y[:6], cv="paired-halves")
