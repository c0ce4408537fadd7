"""Splits of others may test rows that their models were trained on: that is no honest risk."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold

import truerisk as tr
from truerisk.core.errors import DuplicateRowsWarning, Refusal

X, Y = tr.datasets.make_simple(60, random_state=0)
ROWS = np.arange(60)
ALL = [(ROWS, ROWS)]
SOME = [(ROWS[:32], ROWS[30:]), (ROWS[30:], ROWS[:30])]
MASKS = [(ROWS < 32, ROWS >= 30), (ROWS >= 30, ROWS < 30)]
GRID = {"C": [0.1, 1.0]}


class Overlapping(KFold):
    """A splitter whose models see their test rows."""

    def split(self, X, y=None, groups=None):
        for train, test in super().split(X, y, groups):
            yield np.concatenate([train, test[:1]]), test


def search(**more):
    return GridSearchCV(LogisticRegression(), GRID, **more)


HONEST = {
    "search": lambda outer: tr.HonestSearchCV(LogisticRegression(), GRID, outer=outer).fit(X, Y),
    "given search": lambda outer: tr.HonestSearchCV(search(), outer=outer).fit(X, Y),
    "assessment": lambda outer: tr.assess({"a": (LogisticRegression(), GRID)}, X, Y, outer=outer),
    "nested": lambda outer: tr.estimate_risk(
        LogisticRegression(), X, Y, cv=tr.methods.Nested(outer)
    ),
    "audit": lambda outer: tr.audit(search().fit(X, Y), X, Y, level="nested", outer=outer),
    "learning curve": lambda outer: tr.learning_curve(LogisticRegression(), X, Y, cv=outer),
}


@pytest.mark.parametrize(
    "outer", [ALL, SOME, MASKS, Overlapping(3)], ids=["all", "some", "masks", "own"]
)
@pytest.mark.parametrize("verb", HONEST)
def test_an_honest_risk_is_refused(verb, outer) -> None:
    """One such row is enough; the sentence names the first."""
    with pytest.raises(Refusal, match=r"trained on them, so the risk would not be honest"):
        HONEST[verb](outer)


@pytest.mark.parametrize(("splits", "n"), [(ALL, 60), (SOME, 2), (MASKS, 2), (Overlapping(3), 3)])
def test_an_estimate_warns_of_them(splits, n) -> None:
    """GridSearchCV takes such splits, too; the number stays, and is not called pessimistic."""
    with pytest.warns(DuplicateRowsWarning, match=rf"^{n} rows .* were trained on them"):
        found = tr.estimate_risk(LogisticRegression(), X, Y, cv=splits)
    if isinstance(splits, list):
        assert found.bias == "optimistic: models are tested on rows that they were trained on"
        assert tr.methods.GivenSplits([(ROWS[:30], ROWS[30:])]).bias.startswith("pessimistic")
