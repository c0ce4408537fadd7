"""Learners for stores: found by their place, also by workers and by processes that are killed."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from tests.support.cut_off import nap_or_wait

import truerisk as tr

X, Y = tr.datasets.make_difficult(40, random_state=2)
QUICK = {"cv": ["2-fold"], "outer": "3-fold", "random_state": 4}


class Napping(GaussianNB):
    """Sleeps as long as the environment says, which is no part of its key."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        nap_or_wait()
        return super().fit(X, y, sample_weight)


LEARNERS = {
    "napping": (Napping(), {"var_smoothing": np.logspace(-9, 1, 8).tolist()}),
    "forest": (RandomForestClassifier(), {"n_estimators": [2, 4], "max_depth": [1, 2]}),
}


def assessed(store=None, learners=None, X=X, y=Y, **options):
    """A small assessment of slow learners."""
    return tr.assess(learners or LEARNERS, X, y, store=store, **{**QUICK, **options})


def told(found):
    """Everything that is said of an assessment, but its seconds."""
    return _timeless(found.to_dict())


def _timeless(value):
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if k != "seconds"}
    return [_timeless(v) for v in value] if isinstance(value, list | tuple) else value
