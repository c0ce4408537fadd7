"""Level "pairs" of an audit: the number, the interval and the verdict of HonestSearchCV."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LassoCV, LogisticRegression, RidgeCV
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, TimeSeriesSplit

import truerisk as tr
from truerisk.core.errors import BadArgument, Refusal

GRID = {"C": [0.01, 0.1, 1.0]}
X, Y = make_classification(240, 8, n_informative=4, flip_y=0.3, random_state=3)
GROUPS = np.arange(240) // 4


def searched(scoring=None, cv=4, y=Y, **fit):
    """A fitted grid search."""
    return GridSearchCV(LogisticRegression(), GRID, cv=cv, scoring=scoring).fit(X, y, **fit)


def honest(scoring=None, cv=4, outer="pairs", groups=None):
    """The honest risk of the same search as one of ours."""
    search = tr.HonestSearchCV(LogisticRegression(), GRID, cv=cv, scoring=scoring, outer=outer)
    return search.fit(X, Y, groups=groups).risk_


SCORES = ["accuracy", "balanced_accuracy", "f1", "recall", "roc_auc", "average_precision"]
SCORES += ["neg_log_loss", "f1_macro"]


@pytest.mark.parametrize("scoring", [None, *SCORES])
def test_pairs_level_has_the_number_and_interval_of_honest_search(scoring):
    """By default, and so does level nested with the same outer splits.

    As losses: without `scoring`, scikit-learn's search speaks of accuracy and ours of errors.
    """
    for options, outer in (({}, "pairs"), ({"level": "nested", "outer": "5-fold"}, "5-fold")):
        found, ours = tr.audit(searched(scoring), X, Y, **options), honest(scoring, outer=outer)
        theirs, interval = found.honest.loss_interval, ours.loss_interval
        assert found.honest.loss_value == pytest.approx(ours.loss_value, abs=1e-12)
        assert theirs.low == pytest.approx(interval.low, abs=1e-12)
        assert theirs.high == pytest.approx(interval.high, abs=1e-12)
        assert not any("interval=" in note for note in found.honest.notes)


def test_pairs_level_has_the_interval_of_honest_search_with_groups():
    """Folds of groups, where the search has them."""
    cv = GroupKFold(4)
    found = tr.audit(searched("roc_auc", cv, groups=GROUPS), X, Y, groups=GROUPS)
    ours = honest("roc_auc", cv, groups=GROUPS)
    assert found.mixes is None
    assert found.honest.value == pytest.approx(ours.value)
    assert found.honest.interval.low == pytest.approx(ours.interval.low)


ALL_LEVELS = ("bbc", "pairs", "nested")
WHOLE_SETS = {"roc_auc": ALL_LEVELS, "f1": ("pairs", "nested"), "balanced_accuracy": ALL_LEVELS}


@pytest.mark.parametrize(
    ("scoring", "level"), [(word, level) for word, levels in WHOLE_SETS.items() for level in levels]
)
def test_groups_that_the_search_split_leave_an_interval(scoring, level):
    """Groups are left out whole; the score has its interval, and no note names interval=."""
    found = tr.audit(searched(scoring), X, Y, groups=GROUPS, level=level)
    assert found.mixes == "groups"
    assert found.honest.interval is not None
    assert not any("interval=" in note for note in found.honest.notes)
    assert not any("choice is not corrected" in note for note in found.honest.notes)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "f1"])
def test_pairs_level_repeats_the_search_where_its_splits_cut_groups(scoring):
    """Number and interval are those of level nested: no model that chose has seen the test rows."""
    search = searched(scoring)
    pairs, nested = (tr.audit(search, X, Y, groups=GROUPS, level=w) for w in ("pairs", "nested"))
    assert pairs.honest.method == nested.honest.method
    assert pairs.honest.value == nested.honest.value
    assert pairs.honest.interval == nested.honest.interval
    assert pairs.choosing.method.startswith("pairs")


def test_replay_of_level_pairs_spares_the_fits_of_the_search():
    """The fits without one fold are those of the replay."""
    found = tr.audit(searched("f1"), X, Y)
    assert found.honest.n_fits == 3 * (4 + 6)
    assert "replay-differs" not in found.codes
    assert "replay-differs" in tr.audit(searched("f1"), X[::-1], Y).codes


@pytest.mark.parametrize(
    ("cv", "method"),
    [
        (ShuffleSplit(4, random_state=0), "nested (5-fold, inner ShuffleSplit"),
        (TimeSeriesSplit(3), "nested (TimeSeriesSplit"),
    ],
    ids=str,
)
def test_splits_without_pairs_are_tested_by_outer_folds(cv, method):
    """The method says which; what cannot be left out in pairs is a note."""
    found = tr.audit(searched(cv=cv), X, Y).honest
    assert found.method.startswith(method)
    repeated = any("whole search was repeated in outer folds" in note for note in found.notes)
    assert repeated == isinstance(cv, ShuffleSplit)


def test_a_search_that_draws_settings_from_the_data_is_cloned():
    """The settings of LassoCV follow from the rows, so the whole search is repeated."""
    y = X[:, 0] + np.random.default_rng(0).normal(size=240)
    found = tr.audit(LassoCV(cv=4, alphas=[0.1, 0.2]).fit(X, y), X, y)
    assert found.honest.method == "nested (5-fold, LassoCV cloned)"
    assert found.honest.interval.method == "log-cv"


@pytest.mark.parametrize("level", ["pairs", "nested"])
@pytest.mark.parametrize(
    "search",
    [LassoCV(cv=4, alphas=[0.1, 0.2]), RidgeCV([0.1, 1.0], scoring="neg_mean_squared_error")],
    ids=["LassoCV", "RidgeCV"],
)
def test_pairs_level_leaves_out_groups_of_learners_that_take_none(search, level):
    """Such a learner cuts groups in its own splits; the outer folds keep them apart."""
    y = X[:, 0] + np.random.default_rng(0).normal(size=240)
    found = tr.audit(search.fit(X, y), X, y, groups=GROUPS, level=level)
    assert found.honest.method.endswith(f"{type(search).__name__} cloned)")
    assert found.honest.n_groups == 60
    assert found.honest.interval is not None


def test_positive_names_the_class_of_the_score():
    """It is checked against the scorer; another class, or a score of no class, is refused."""
    words = np.where(Y == 1, "well", "ill")
    search = searched(make_scorer(f1_score, pos_label="ill"), y=words)
    found = tr.audit(search, X, words, positive="ill")
    assert found.honest.interval is not None
    assert found.claimed.scoring == "f1"
    with pytest.raises(BadArgument, match="scores by f1 of class 'ill'"):
        tr.audit(search, X, words, positive="well")
    with pytest.raises(BadArgument, match="not of one class"):
        tr.audit(searched(), X, Y, positive=1)
    assert tr.audit(searched("f1"), X, Y, positive=1).honest.value is not None
    assert tr.audit(searched("roc_auc"), X, Y, positive=0).honest.value is not None


def test_outer_belongs_to_level_nested():
    """The default level has no outer splits of its own."""
    with pytest.raises(BadArgument, match="Use level='nested'"):
        tr.audit(searched(), X, Y, outer="5-fold")
    with pytest.raises(Refusal, match="level 'pairs' fits again"):
        tr.audit(searched())
