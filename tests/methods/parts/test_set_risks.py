"""A score that a test set does not have is refused with the fold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.core.errors import Refusal

X = np.random.default_rng(0).normal(size=(30, 2))
FOLDS = np.arange(30) // 6
Y = (np.arange(30) % 3 == 0).astype(int)
Y[FOLDS == 3] = 0


def no_number_of_few(model, X, y):
    """A scorer that does not exist on a test set without positive rows."""
    return np.mean(model.predict(X) == y) if y.any() else np.nan


@pytest.mark.parametrize("loss", ["auc", "average-precision", no_number_of_few])
def test_the_fold_is_named(loss):
    """The fourth of five, whatever lacks."""
    with pytest.raises(Refusal, match=r"It is fold 3\.$"):
        tr.estimate_risk(GaussianNB(), X, Y, cv=tr.methods.KFold(folds=FOLDS), scoring=loss)
    with pytest.raises(Refusal, match=r"It is fold 3\.$"):
        tr.estimate_risk(
            GaussianNB(), X, Y, cv=tr.methods.KFold(folds=FOLDS), scoring=["zero-one", loss]
        )


def test_so_is_the_repetition():
    """Of several drawings."""
    folds = np.array([np.arange(30) % 5, FOLDS])
    with pytest.raises(Refusal, match=r"It is fold 3 of repetition 1\.$"):
        tr.estimate_risk(GaussianNB(), X, Y, cv=tr.methods.KFold(folds=folds), scoring="auc")
