"""Level "pairs" of an audit: the number, the interval and the verdict of HonestSearchCV."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LassoCV, LogisticRegression, RidgeCV
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, TimeSeriesSplit

import truerisk as tr
from truerisk.extend import BadArgument

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


@pytest.mark.parametrize("scoring", [None, *SCORES, "neg_log_loss", "f1_macro"])
def test_pairs_level_has_the_number_and_interval_of_honest_search(scoring):
    """Level nested has those of the same outer splits.

    Without `scoring`, scikit-learn's search speaks of accuracy and ours of errors.
    """
    for options, outer in (({}, "pairs"), ({"level": "nested", "outer": "5-fold"}, "5-fold")):
        found, ours = tr.audit(searched(scoring), X, Y, **options), honest(scoring, outer=outer)
        theirs, interval = found.honest.loss_interval, ours.loss_interval
        assert found.honest.loss_value == pytest.approx(ours.loss_value, abs=1e-12)
        assert theirs.low == pytest.approx(interval.low, abs=1e-12)
        assert theirs.high == pytest.approx(interval.high, abs=1e-12)
        assert not any("interval=" in note for note in found.honest.notes)
    cv = GroupKFold(4)
    found = tr.audit(searched(scoring, cv, groups=GROUPS), X, Y, groups=GROUPS)
    ours = honest(scoring, cv, groups=GROUPS)
    assert found.mixes is None
    assert found.honest.loss_value == pytest.approx(ours.loss_value)
    assert found.honest.loss_interval.low == pytest.approx(ours.loss_interval.low)


SCORES += ["neg_log_loss", "f1_macro"]


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc", "f1"])
def test_pairs_level_repeats_the_search_where_its_splits_cut_groups(scoring):
    """Number and interval are those of level nested: no model that chose has seen the test rows."""
    search = searched(scoring)
    levels = ["pairs", "nested"] if scoring == "f1" else ["pairs", "nested", "bbc"]
    audits = [tr.audit(search, X, Y, groups=GROUPS, level=level) for level in levels]
    for found in audits:
        assert found.mixes == "groups"
        assert found.honest.interval is not None
        for words in ("interval=", "choice is not corrected"):
            assert not any(words in note for note in found.honest.notes)
    pairs, nested = (found.honest for found in audits[:2])
    assert (pairs.method, pairs.value, pairs.interval) == (
        nested.method,
        nested.value,
        nested.interval,
    )
    assert audits[0].choosing.method.startswith("pairs")


def test_pairs_level_spares_the_fits_of_the_search():
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
def test_pairs_level_tests_splits_without_pairs_by_outer_folds(cv, method):
    found = tr.audit(searched(cv=cv), X, Y).honest
    assert found.method.startswith(method)
    repeated = any("whole search was repeated in outer folds" in note for note in found.notes)
    assert repeated == isinstance(cv, ShuffleSplit)


@pytest.mark.parametrize("level", ["pairs", "nested"])
@pytest.mark.parametrize(
    "search",
    [LassoCV(cv=4, alphas=[0.1, 0.2]), RidgeCV([0.1, 1.0], scoring="neg_mean_squared_error")],
    ids=["LassoCV", "RidgeCV"],
)
def test_pairs_level_leaves_out_groups_of_learners_that_take_none(search, level):
    y = X[:, 0] + np.random.default_rng(0).normal(size=240)
    found = tr.audit(search.fit(X, y), X, y, groups=GROUPS, level=level)
    assert found.honest.method.endswith(f"{type(search).__name__} cloned)")
    assert found.honest.n_groups == 60
    assert found.honest.interval is not None


def test_positive_names_the_class_of_the_score():
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
