"""Weights go to the step that takes them or are refused, and no tested row ends a fit."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.estimation.fit_params import (
    add_inner_split_params,
    fit_params_with_weight,
    prepare_fit_params,
    refuse_stopping_rows,
    warn_of_split_groups,
)
from truerisk.extend import Data, Family, Refusal, TrueRiskWarning

W = np.arange(1.0, 25.0)
X = np.random.default_rng(0).normal(size=(24, 2))
Y = np.arange(24) % 2
LOGISTIC = LogisticRegression()
PIPE = make_pipeline(StandardScaler(), LOGISTIC)
PIPE_SEARCH = GridSearchCV(PIPE, {"logisticregression__C": [1, 2]}, cv=2)
SEARCH = GridSearchCV(LOGISTIC, {"C": [0.01, 9]}, cv=2)
KNN = KNeighborsClassifier()

MODELS = [
    (LOGISTIC, "sample_weight"),
    (PIPE, "logisticregression__sample_weight"),
    (Pipeline([("a", StandardScaler()), ("b", PIPE)]), "b__logisticregression__sample_weight"),
    (GridSearchCV(LOGISTIC, {"C": [1, 2]}, cv=2), "sample_weight"),
    (PIPE_SEARCH, "logisticregression__sample_weight"),
    (make_pipeline(GridSearchCV(LOGISTIC, {"C": [1]}, cv=2)), "gridsearchcv__sample_weight"),
    (BaggingClassifier(LOGISTIC, random_state=0), "sample_weight"),
    (CalibratedClassifierCV(LOGISTIC, cv=2), "sample_weight"),
    (TransformedTargetRegressor(Ridge(), transformer=StandardScaler()), "sample_weight"),
    (VotingClassifier([("a", LOGISTIC), ("b", "drop")]), "sample_weight"),
    (make_pipeline(VotingRegressor([("a", Ridge())])), "votingregressor__sample_weight"),
    (StackingClassifier([("a", SEARCH)], LOGISTIC, cv=2), "sample_weight"),
]


@pytest.mark.parametrize(
    ("model", "name"), MODELS, ids=[f"{i}-{n}" for i, (_, n) in enumerate(MODELS)]
)
def test_sample_weight_finds_the_step_that_takes_it(model, name):
    """The model's fit does take it under this name; with routing the weight keeps its own."""
    assert list(fit_params_with_weight(model, W, {"other": 1})) == ["other", name]
    assert fit_params_with_weight(model, None, {"a": 1}) == {"a": 1}
    y = Y if sklearn.base.is_classifier(model) else X[:, 0]
    risk = tr.estimate_risk(model, X, y, cv="3-fold", sample_weight=W)
    assert np.isfinite(risk.value)
    with sklearn.config_context(enable_metadata_routing=True):
        assert list(fit_params_with_weight(PIPE, W, {})) == ["sample_weight"]


def test_sample_weight_reaches_the_fits_inside_a_search():
    """With these weights everything is called 1."""
    heavy = np.where(Y == 1, 1e6, 1.0)
    risk = tr.estimate_risk(PIPE_SEARCH, X, Y, cv="3-fold", sample_weight=heavy, scoring="zero-one")
    assert risk.losses.tolist() == (Y == 0).tolist()


@pytest.mark.parametrize(
    ("model", "routing"),
    [
        (VotingClassifier([("a", SEARCH), ("b", LOGISTIC)]), False),
        (StackingClassifier([("a", LOGISTIC)], cv=2), False),
        (OneVsRestClassifier(LogisticRegression()), True),
        (FixedThresholdClassifier(LogisticRegression()), True),
    ],
    ids=["vote", "stack", "one against the rest", "threshold"],
)
def test_sample_weight_of_parts_is_that_of_plain_loops(model, routing):
    splits, wrong = list(StratifiedKFold(3).split(X, Y)), np.zeros(24)
    with sklearn.config_context(enable_metadata_routing=routing):
        if routing:
            model.estimator.set_fit_request(sample_weight=True)
        for train, test in splits:
            fitted = clone(model).fit(X[train], Y[train], sample_weight=W[train])
            wrong[test] = fitted.predict(X[test]) != Y[test]
        found = tr.estimate_risk(model, X, Y, cv=splits, sample_weight=W)
    assert found.value == pytest.approx(np.average(wrong, weights=W))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (KNN, "KNeighborsClassifier.fit takes no sample_weight"),
        (make_pipeline(KNN), "KNeighborsClassifier.fit takes no sample_weight"),
        (GridSearchCV(KNN, {"p": [1]}), "KNeighborsClassifier.fit takes no sample_weight"),
        (VotingClassifier([("a", KNN)]), "KNeighborsClassifier.fit takes no"),
        (StackingClassifier([("a", LOGISTIC)], KNN), "KNeighborsClassifier.fit"),
        (VotingClassifier([("a", PIPE)]), "gives its parts the weight as sample_weight"),
        (OneVsRestClassifier(LOGISTIC), "hands sample_weight on with .*metadata routing only"),
        (TunedThresholdClassifierCV(LOGISTIC), "hands sample_weight on with .*routing only"),
    ],
)
def test_sample_weight_that_a_part_ignores_is_refused_by_its_name(model, said):
    with pytest.raises(Refusal, match=said):
        tr.estimate_risk(model, X, Y, sample_weight=W)


class Doubles(BaseEstimator):
    """A step that resamples, as those of imbalanced-learn."""

    def fit_resample(self, X, y):
        return np.vstack([X, X]), np.r_[y, y]


@pytest.mark.parametrize("grid", [None, {"a": [Doubles()]}])
@pytest.mark.parametrize("name", ["sample_weight", "fit_params"])
def test_weights_do_not_pass_a_step_that_resamples(grid, name):
    steps = Pipeline([("a", Doubles() if grid is None else StandardScaler()), ("b", LOGISTIC)])
    given = {"sample_weight": W} if name == "sample_weight" else {"b__sample_weight": W}
    with pytest.raises(Refusal, match="b__sample_weight has an entry for each row, and Doubles"):
        tr.HonestSearchCV(steps, grid or {"b__C": [1]}).fit(X, Y, **given)


ROWS, LABELS = tr.datasets.make_simple(40, random_state=0)
FRAME = pd.DataFrame({"a": ROWS[:, 0], "b": np.where(LABELS, "yes", "no")})
GROUPS = np.arange(40) // 2


class Ended(ClassifierMixin, BaseEstimator):
    """Takes an eval_set as boosters do."""

    def fit(self, X, y, eval_set=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def data(table=ROWS, **known):
    return Data.check(table, LABELS, task="classification", **known)


@pytest.mark.parametrize(
    ("table", "name", "given", "message"),
    [
        (ROWS, "eval_set", [(ROWS[:7], LABELS[:7])], "7 rows of eval_set are rows of X"),
        (ROWS, "eval_set", (ROWS[:7], LABELS[:7]), "7 rows of eval_set are rows of X"),
        (
            ROWS,
            "model__eval_set",
            [(ROWS + 1, LABELS), (ROWS[5:6], LABELS[5:6])],
            "1 rows of model__eval_set",
        ),
        (ROWS, "X_val", ROWS[:3], "3 rows of X_val"),
        (ROWS, "eval_X", (ROWS[:3],), "3 rows of eval_X"),
        (FRAME, "eval_set", [(FRAME[:4], LABELS[:4])], "4 rows of eval_set"),
        (
            csr_matrix(ROWS),
            "eval_set",
            [(csr_matrix(ROWS[:2]), LABELS[:2])],
            "2 rows of",
        ),
        (ROWS, "eval_set", [(object(), LABELS)], r"cannot be seen \(object\)"),
    ],
)
def test_eval_set_may_hold_no_rows_of_x(table, name, given, message):
    """Arrays, frames, sparse tables; what cannot be read is refused as well."""
    with pytest.raises(Refusal, match=message) as refused:
        refuse_stopping_rows({name: given}, data(table))
    assert "tr.models.EarlyStopping(model)" in str(refused.value)


@pytest.mark.parametrize(
    "params",
    [
        {"eval_set": [(ROWS + 0.5, LABELS)]},
        {"eval_set": [(ROWS[:, :1], LABELS)]},
        {"eval_set": None, "sample_weight": ROWS[:, 0]},
    ],
)
def test_eval_set_may_hold_other_rows(params):
    """Of another table, of other columns, and none at all. A search looks at it, too."""
    refuse_stopping_rows(params, data())
    with pytest.raises(Refusal, match="5 rows of eval_set"):
        tr.HonestSearchCV(Ended(), {}, cv=3).fit(ROWS, LABELS, eval_set=[(ROWS[:5], LABELS[:5])])


def test_groups_reach_a_learner_that_sets_rows_aside():
    """Alone or behind steps, unless it is given some; other learners get none."""
    model = tr.models.EarlyStopping(HistGradientBoostingClassifier())
    grouped = data(groups=GROUPS)
    alone, piped = Family.from_grid(model), Family.from_grid(make_pipeline(StandardScaler(), model))
    assert list(add_inner_split_params(alone, grouped, {})) == ["groups"]
    assert list(add_inner_split_params(piped, grouped, {})) == ["earlystopping__groups"]
    assert add_inner_split_params(alone, grouped, {"groups": 1}) == {"groups": 1}
    assert add_inner_split_params(alone, data(), {}) == {}
    assert add_inner_split_params(Family.from_grid(Ended()), grouped, {}) == {}


@pytest.mark.parametrize("piped", [False, True])
def test_rows_inside_a_search_get_times_places_and_groups(piped):
    """Times, places and groups, unless it is given some; labels of blocks are its groups."""
    search = tr.HonestSearchCV(Ended(), {})
    family = Family.from_grid(make_pipeline(StandardScaler(), search) if piped else search)
    before = "honestsearchcv__" if piped else ""
    times, places = np.arange(len(LABELS)), np.column_stack([np.arange(len(LABELS))] * 2)

    def handed(params=None, **known) -> list[str]:
        return sorted(add_inner_split_params(family, data(**known), params or {}))

    assert handed(time=times, groups=GROUPS) == [f"{before}groups", f"{before}time"]
    assert handed(block=places, groups=GROUPS) == [f"{before}block", f"{before}groups"]
    assert handed(block=GROUPS) == [f"{before}block"]
    assert handed({f"{before}time": 1}, time=times) == [f"{before}time"]
    assert handed() == []


@pytest.mark.parametrize("piped", [False, True])
def test_time_makes_the_inner_splits_of_a_search_go_forward(piped):
    """No warning of shuffled times, and each fit chose by forward validation."""
    search = tr.HonestSearchCV(KNeighborsRegressor(), {"n_neighbors": [1, 3]})
    model = make_pipeline(StandardScaler(), search) if piped else search
    X, y = tr.datasets.make_daily_load(300, random_state=0)
    seen = []

    class Told(tr.HonestSearchCV):
        def fit(self, X, y, **params):
            super().fit(X, y, **params)
            seen.append((self.risk_.method, len(params["time"]) == len(y)))
            return self

    search.__class__ = Told
    tr.estimate_risk(model, X, y, time=np.arange(300))
    assert set(seen) == {("nested (forward-5, inner forward-5)", True)}


@pytest.mark.parametrize(
    ("model", "warned"),
    [
        (HistGradientBoostingClassifier(early_stopping=True), True),
        (HistGradientBoostingClassifier(), False),
        (HistGradientBoostingClassifier(early_stopping=True, validation_fraction=None), False),
        (GradientBoostingClassifier(n_iter_no_change=3), True),
        (GradientBoostingClassifier(), False),
        (SGDClassifier(early_stopping=True), True),
        (SGDClassifier(), False),
    ],
)
def test_warn_of_cut_groups_names_learners_that_draw_rows_at_random(model, warned):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn_of_split_groups(Family.from_grid(model), data(groups=GROUPS))
        prepare_fit_params(Family.from_grid(model), data(), None, None)
    assert len(said) == warned
    assert all(issubclass(one.category, TrueRiskWarning) for one in said)
    assert all("tr.models.EarlyStopping(model) keeps groups" in str(one.message) for one in said)
