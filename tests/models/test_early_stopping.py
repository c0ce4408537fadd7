"""EarlyStopping: rows that end a fit are rows of its own training set."""

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import has_fit_parameter

import truerisk as tr
from truerisk.models import EarlyStopping

BOOSTER = HistGradientBoostingClassifier(max_iter=60, min_samples_leaf=5, random_state=0)
TAKES_ROWS = has_fit_parameter(BOOSTER, "X_val")  # from scikit-learn 1.7 on
ended = pytest.mark.skipif(not TAKES_ROWS, reason="scikit-learn < 1.7 takes no X_val")
X, CODES = tr.datasets.make_simple(150, random_state=0)
Y = np.where(CODES == 1, "sick", "healthy")


@ended
def test_early_stopping_is_the_booster_on_the_two_parts() -> None:
    """What scikit-learn answers when it is given the same two parts, with weights."""
    weights = np.random.default_rng(0).random(150)
    model = EarlyStopping(BOOSTER, fraction=0.2, rounds=3, random_state=1)
    model.fit(X, Y, sample_weight=weights)
    aside = np.isin(np.arange(150), model.set_aside_)
    given = {"sample_weight": weights[~aside], "sample_weight_val": weights[aside]}
    plain = HistGradientBoostingClassifier(
        **{**BOOSTER.get_params(), "early_stopping": True, "n_iter_no_change": 3}
    ).fit(X[~aside], Y[~aside], X_val=X[aside], y_val=Y[aside], **given)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert np.array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.n_trees_ == plain.n_iter_ < 60
    assert model.classes_.tolist() == ["healthy", "sick"]


@ended
@pytest.mark.parametrize("booster", [BOOSTER, HistGradientBoostingRegressor(max_iter=5)])
def test_early_stopping_keeps_groups_together_and_shares_of_classes(booster) -> None:
    groups = np.random.default_rng(0).integers(0, 30, 150)
    model = EarlyStopping(booster, fraction=0.2, random_state=0)
    model.fit(X, Y if booster is BOOSTER else CODES, groups=groups)
    aside = np.isin(np.arange(150), model.set_aside_)
    assert not set(groups[aside]) & set(groups[~aside])
    assert len(set(groups[aside])) == pytest.approx(6, abs=2)
    if booster is BOOSTER:
        y = np.repeat(["a", "b", "c"], [100, 49, 1])
        names, times = np.unique(y[model.fit(X, y).set_aside_], return_counts=True)
        assert names.tolist() == ["a", "b"]
        assert times == pytest.approx([20, 9.8], abs=1)


@ended
def test_early_stopping_fits_on_the_last_rows_of_a_class() -> None:
    """They went with their group, whose commonest class was another: the model lacked theirs."""
    y, groups = np.array(["a", "b"] * 75), np.repeat(np.arange(15), 10)
    y[groups == 3] = ["a"] * 7 + ["c"] * 3
    for seed in range(20):
        model = EarlyStopping(BOOSTER, fraction=0.5, random_state=seed)
        model.fit(X, y, groups=groups)
        assert model.classes_.tolist() == ["a", "b", "c"]
        assert 4 <= len(model.set_aside_) / 10 <= 8


class Witness(EarlyStopping):
    """Writes down the fingerprints of the rows of either part, and of those it is asked about."""

    def fit(self, X, y, *, sample_weight=None, groups=None):
        super().fit(X, y, sample_weight=sample_weight, groups=groups)
        aside = np.isin(np.arange(len(y)), self.set_aside_)
        keys = X[:, -1].astype(int)
        self.parts_ = set(keys[~aside]), set(keys[aside])
        return self

    def predict(self, X):
        ASKED.append((*self.parts_, set(X[:, -1].astype(int))))
        return super().predict(X)


ASKED: list[tuple[set[int], set[int], set[int]]] = []


@ended
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("method", ["4-fold", tr.methods.Bootstrap("bootstrap", replicates=8)])
def test_early_stopping_uses_no_test_row(grouped, method) -> None:
    """Neither part of any fit holds a row it is tested on, nor shares a row or group with another.

    A bootstrap sample holds copies of a row: they are on one side, as the verbs' `groups` are,
    which reach the learner by themselves.
    """
    ASKED.clear()
    fingerprints = np.column_stack([X, np.arange(150.0)])
    groups = np.arange(150) // 3 if grouped else None
    booster = HistGradientBoostingClassifier(max_iter=4, random_state=0)
    tr.estimate_risk(Witness(booster), fingerprints, Y, cv=method, groups=groups)
    assert len(ASKED) >= 4
    for fitted, aside, asked in ASKED:
        assert fitted
        assert aside
        assert not fitted & aside
        # the bootstrap asks about the rows of its samples, too: its formula needs their answers
        assert method != "4-fold" or not (fitted | aside) & asked
        if grouped:
            assert not {row // 3 for row in fitted} & {row // 3 for row in aside}


THIRDS = np.repeat(["a", "b", "c"], 50)
LATE = pytest.mark.skipif(TAKES_ROWS, reason="this scikit-learn takes them")
NO_ROWS = "takes no rows that end its fit"
SHARE = "use a share of the rows"
LAST = "holds the last rows of a class"
FEW = X[:2], ["healthy", "sick"]
ONE_GROUP = np.zeros(150)


@pytest.mark.parametrize(
    ("booster", "fraction", "table", "groups", "message"),
    [
        (LogisticRegression(), 0.1, (X, Y), None, f"LogisticRegression {NO_ROWS}"),
        (GradientBoostingClassifier(), 0.1, (X, Y), None, f"GradientBoostingClassifier {NO_ROWS}"),
        (BOOSTER, 1.5, (X, Y), None, f"fraction=1.5: {SHARE}"),
        (BOOSTER, "a", (X, Y), None, f"fraction='a': {SHARE}"),
        pytest.param(BOOSTER, 0.1, FEW, None, f"each row {LAST}", marks=ended),
        pytest.param(BOOSTER, 0.1, (X, THIRDS), THIRDS, f"each group {LAST}", marks=ended),
        pytest.param(BOOSTER, 0.1, (X, Y), ONE_GROUP, "1 group cannot be set aside", marks=ended),
        pytest.param(BOOSTER, 0.1, (X, Y), None, r"from scikit-learn 1\.7 on", marks=LATE),
    ],
    ids=[
        *("no booster", "other booster", "large share", "text as share"),
        *("last rows", "last groups", "one group", "older scikit-learn"),
    ],
)
def test_early_stopping_refuses(booster, fraction, table, groups, message) -> None:
    with pytest.raises(ValueError, match=message):
        EarlyStopping(booster, fraction=fraction).fit(*table, groups=groups)
