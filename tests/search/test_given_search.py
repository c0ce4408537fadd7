"""A search in the place of a model and a grid: cloned and fitted in every outer training set."""

import pickle
from functools import cache, partial

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  scikit-learn wants it
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.linear_model import LogisticRegression, RANSACRegressor, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.searches import Climbing, Private, Remembering

import truerisk as tr
from truerisk.exceptions import MissingResult, UnknownName
from truerisk.extend import BadArgument, Refusal

KNN = KNeighborsClassifier()
GRID = {"n_neighbors": [1, 4, 7, 10, 13]}
FEW = {"n_neighbors": [1, 2, 3, 5, 7]}
FOLDS = np.arange(60) % 6
OUTER = tr.methods.KFold(folds=FOLDS)

SEARCHES = {
    "halving": HalvingGridSearchCV(KNN, FEW, cv=3, random_state=0, min_resources=20),
    "halving, drawn": HalvingRandomSearchCV(KNN, FEW, cv=3, random_state=0, min_resources=20),
    "random": RandomizedSearchCV(KNN, GRID, n_iter=4, cv=3, random_state=0),
    "grid": GridSearchCV(KNN, GRID, cv=3),
    "climbing": Climbing(KNN),
    "private": Private(KNN),
    "ours": tr.HonestSearchCV(KNN, GRID, cv="3-fold", outer=None),
}


def by_hand(search, X, y, given=()):
    """Which rows clones get wrong that were fitted in the outer training sets."""
    wrong = np.zeros(len(y))
    for fold in np.unique(FOLDS):
        train, test = fold != FOLDS, fold == FOLDS
        params = {name: value[train] for name, value in dict(given).items()}
        wrong[test] = clone(search).fit(X[train], y[train], **params).predict(X[test]) != y[test]
    return wrong


@pytest.fixture(scope="module")
def honest_of(simple):
    """Each search in ours, fitted once."""
    return cache(lambda name: tr.HonestSearchCV(SEARCHES[name], outer=OUTER).fit(*simple))


@pytest.fixture(scope="module")
def wrong_of(simple):
    """What its clones get wrong, fitted once."""
    return cache(lambda name: by_hand(SEARCHES[name], *simple))


@pytest.mark.parametrize("name", SEARCHES)
def test_given_search_risk_is_that_of_clones_fitted_by_hand(name, honest_of, wrong_of):
    search, honest = SEARCHES[name], honest_of(name)
    np.testing.assert_array_equal(honest.risk_.losses, wrong_of(name))
    assert honest.risk_.method == f"nested (K-fold (given folds), {type(search).__name__} cloned)"
    assert f"all that {type(search).__name__} does" in honest.risk_.notes[0]
    assert honest.risk_.interval.method == "beta-cv"
    assert not [name for name in vars(search) if name.endswith("_")]


@pytest.mark.parametrize("name", [name for name in SEARCHES if name not in ("private", "ours")])
def test_given_search_results_are_those_of_a_clone_fitted_on_all_rows(simple, name, honest_of):
    alone, honest = clone(SEARCHES[name]).fit(*simple), honest_of(name)
    assert honest.best_params_ == alone.best_params_
    assert honest.best_score_ == alone.best_score_
    assert honest.best_estimator_.get_params() == alone.best_estimator_.get_params()
    assert (honest.predict(simple[0]) == alone.predict(simple[0])).all()
    assert honest.selected_risk_.value == pytest.approx(1 - alone.best_score_)
    assert honest.selected_risk_.scoring == honest.risk_.scoring == "zero-one"
    assert honest.optimism_ == pytest.approx(honest.risk_.value - 1 + alone.best_score_)
    if hasattr(alone, "cv_results_"):
        assert honest.cv_results_["params"] == alone.cv_results_["params"]
        assert honest.best_index_ == alone.best_index_


def test_given_search_of_unknown_score_has_no_optimism(simple, honest_of):
    honest = honest_of("private")
    assert honest.selected_risk_.value == honest.best_score_
    assert honest.selected_risk_.greater_is_better
    assert "does not say" in honest.selected_risk_.notes[0]
    assert honest.optimism_ is None
    assert honest.score(*simple) == np.mean(honest.predict(simple[0]) == simple[1])


def test_given_search_has_ten_outer_folds_in_place_of_pairs(simple):
    search = tr.HonestSearchCV(SEARCHES["halving"]).fit(*simple)
    named = tr.HonestSearchCV(SEARCHES["halving"], outer="10-fold").fit(*simple)
    assert search.risk_.value == named.risk_.value
    assert "in the place of pairs" in search.risk_.notes[1]
    assert not any("pairs" in note for note in named.risk_.notes)
    assert search.risk_.n_fits == 5


@pytest.mark.parametrize("name", ["curve_", "outer_", "stability_"])
def test_given_search_lacks_results_of_a_grid(name, honest_of):
    with pytest.raises(MissingResult, match="HalvingGridSearchCV tunes inside .* a grid"):
        getattr(honest_of("halving"), name)


def test_given_search_without_outer_and_refit_has_neither_risk_nor_model(simple):
    search = tr.HonestSearchCV(SEARCHES["grid"], outer=None, refit=False).fit(*simple)
    assert search.best_params_
    for name in ("risk_", "best_estimator_", "predict"):
        assert not hasattr(search, name)


def test_given_search_scoring_is_the_loss_unless_another_is_given(simple):
    honest = partial(tr.HonestSearchCV, outer="3-fold")
    auc = honest(GridSearchCV(KNN, GRID, cv=3, scoring="roc_auc")).fit(*simple)
    assert auc.risk_.scoring == auc.selected_risk_.scoring == "roc_auc"
    assert auc.selected_risk_.value == pytest.approx(auc.best_score_)
    assert auc.optimism_ == pytest.approx(auc.selected_risk_.value - auc.risk_.value)
    several = GridSearchCV(KNN, GRID, cv=3, scoring=["roc_auc", "f1"], refit="f1")
    assert honest(several).fit(*simple).risk_.scoring == "f1"
    X, y = simple[0], simple[0][:, 0] + simple[1]
    regression = GridSearchCV(KNeighborsRegressor(), GRID, cv=3)
    found = honest(regression).fit(X, y)
    assert found.risk_.scoring == "r2"
    assert found.optimism_ == pytest.approx(found.best_score_ - found.risk_.value)
    squared = honest(regression, scoring="squared").fit(X, y)
    assert squared.risk_.scoring == "squared"
    assert squared.optimism_ is None
    brier = honest(SEARCHES["halving"], scoring=["neg_brier_score", "auc"], outer=OUTER)
    brier.fit(*simple)
    assert brier.risk_.value < 0 < brier.scores_["auc"].value < 1
    assert brier.scores_["auc"].method == brier.risk_.method
    assert brier.optimism_ is None
    own = GridSearchCV(KNN, GRID, cv=3, scoring=lambda model, X, y: model.score(X, y))
    assert honest(own).fit(*simple).risk_.value > 0


def test_given_search_receives_groups_with_and_without_routing(simple):
    X, y = simple
    groups = np.arange(60) // 2 % 12
    search = GridSearchCV(KNN, GRID, cv=GroupKFold(3))
    honest = tr.HonestSearchCV(search, outer=GroupKFold(4)).fit(X, y, groups=groups)
    wrong = np.zeros(60)
    for train, test in GroupKFold(4).split(X, y, groups):
        model = clone(search).fit(X[train], y[train], groups=groups[train])
        wrong[test] = model.predict(X[test]) != y[test]
    np.testing.assert_array_equal(honest.risk_.losses, wrong)
    assert honest.best_params_ == clone(search).fit(X, y, groups=groups).best_params_
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(honest).fit(X, y, groups=groups)
        assert routed.risk_.value == honest.risk_.value
        # A search whose own splits ask for no groups is given none.
        plain = tr.HonestSearchCV(SEARCHES["grid"], outer=GroupKFold(4))
        assert plain.fit(X, y, groups=groups).risk_.n_groups == 12


def test_given_search_weights_fits_and_risk(simple):
    X, y = simple
    weight = np.linspace(0.1, 3, 60)
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=3)
    honest = tr.HonestSearchCV(search, outer=OUTER).fit(X, y, sample_weight=weight)
    wrong = by_hand(search, X, y, {"sample_weight": weight})
    assert honest.risk_.value == pytest.approx(np.average(wrong, weights=weight))
    plain = tr.HonestSearchCV(search, outer=OUTER).fit(X, y)
    assert not np.allclose(honest.best_estimator_.coef_, plain.best_estimator_.coef_)


class Counting(ClassifierMixin, BaseEstimator):
    """Weights its fits and no score, as OptunaSearchCV does."""

    def __init__(self, estimator, scoring="accuracy", cv=3):
        self.estimator, self.scoring, self.cv = estimator, scoring, cv

    def fit(self, X, y, sample_weight=None):
        self.best_score_ = cross_val_score(self.estimator, X, y, cv=self.cv).mean()
        self.best_estimator_ = clone(self.estimator).fit(X, y, sample_weight)
        self.best_params_, self.classes_ = {"C": 1.0}, self.best_estimator_.classes_
        return self

    def predict(self, X):
        return self.best_estimator_.predict(X)


def test_optimism_is_missing_if_weights_reach_the_risk_alone(simple):
    weight = np.linspace(0.1, 3, 60)
    search = tr.HonestSearchCV(Counting(LogisticRegression()), outer=OUTER)
    assert search.fit(*simple).optimism_ is not None
    assert search.fit(*simple, sample_weight=weight).optimism_ is None
    inside = tr.HonestSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, outer=None)
    ours = tr.HonestSearchCV(inside, outer=OUTER).fit(*simple, sample_weight=weight)
    assert ours.optimism_ == ours.risk_.value - ours.selected_risk_.value


class Opposite(GridSearchCV):
    """Answers the other class than its best model."""

    def predict(self, X):
        return 1 - super().predict(X)


def test_predict_is_that_of_given_search_and_not_of_its_best_estimator(simple):
    search = tr.HonestSearchCV(Opposite(KNN, GRID, cv=3), outer=OUTER).fit(*simple)
    assert search.risk_.value > 0.5
    assert (search.predict(simple[0]) == 1 - search.best_estimator_.predict(simple[0])).all()


def test_random_state_seeds_given_search_without_seed(simple):
    search = RandomizedSearchCV(KNN, GRID, n_iter=3, cv=3)
    ours = tr.HonestSearchCV(search, outer="3-fold", random_state=4)
    one, again = (clone(ours).fit(*simple) for _ in range(2))
    assert one.risk_.value == again.risk_.value
    assert one.cv_results_["params"] == again.cv_results_["params"]


def test_model_and_pipeline_with_search_have_one_setting(simple):
    for model in (KNN, make_pipeline(StandardScaler(), SEARCHES["grid"])):
        found = tr.HonestSearchCV(model, cv="3-fold", outer=OUTER).fit(*simple)
        assert found.best_params_ == {}
        assert len(found.curve_) == 1
        np.testing.assert_array_equal(found.risk_.losses, by_hand(model, *simple))


def test_given_search_can_be_cloned_pickled_and_cross_validated(simple, honest_of):
    search = tr.HonestSearchCV(SEARCHES["halving"], outer=None)
    assert cross_val_score(search, *simple, cv=3).shape == (3,)
    found = pickle.loads(pickle.dumps(clone(search).set_params(outer=OUTER).fit(*simple)))
    assert found.risk_.value == honest_of("halving").risk_.value
    found.set_params(estimator=KNN).fit(*simple)
    assert not hasattr(found, "search_")


def test_audit_and_assess_accept_honest_search_of_given_search(simple):
    search = tr.HonestSearchCV(SEARCHES["grid"], outer=None).fit(*simple)
    alone = clone(SEARCHES["grid"]).fit(*simple)
    assert str(tr.audit(search, *simple, level="bbc")) == str(tr.audit(alone, *simple, level="bbc"))
    found = tr.assess({"mine": search}, *simple, cv=["3-fold"], outer="3-fold")
    assert found.learners["mine"].selected.value == pytest.approx(1 - alone.best_score_)


@pytest.mark.parametrize("name", ["halving", "random", "climbing"])
def test_assess_shows_risk_and_best_score_of_given_search(simple, name, wrong_of):
    search = SEARCHES[name]
    found = tr.assess({name: search}, *simple, cv=["3-fold"], outer=OUTER)
    one = found.learners[name]
    assert one.risk.value == pytest.approx(wrong_of(name).mean())
    assert one.risk.value == tr.estimate_risk(search, *simple, cv=OUTER).value
    assert f"selected is {type(search).__name__}: best_score_" in str(found)
    assert f"selected is {type(search).__name__}: best_score_" in found.to_html()
    assert one.selected.value == pytest.approx(1 - clone(search).fit(*simple).best_score_)


RULE, LINE = LogisticRegression(), Ridge()
SEARCH = GridSearchCV(RULE, {"C": [0.1, 1.0]}, cv=2)
MODELS = [
    CalibratedClassifierCV(RULE, cv=2),
    CalibratedClassifierCV(SEARCH, cv=2),
    BaggingClassifier(RULE, 2, random_state=0),
    BaggingRegressor(LINE, 2, random_state=0),
    AdaBoostClassifier(RULE, n_estimators=2, random_state=0),
    OneVsRestClassifier(RULE),
    OneVsOneClassifier(RULE),
    OutputCodeClassifier(RULE, random_state=0),
    StackingClassifier([("rule", RULE)], cv=2),
    VotingRegressor([("line", LINE)]),
    TransformedTargetRegressor(LINE, func=np.sinh, inverse_func=np.arcsinh),
    RANSACRegressor(LINE, min_samples=0.5, max_trials=5, random_state=0),
    RFE(RULE, n_features_to_select=1),
    RFE(LINE, n_features_to_select=1),
    RFECV(RULE, cv=2),
    TunedThresholdClassifierCV(RULE, cv=2, thresholds=5),
    FixedThresholdClassifier(RULE),
    make_pipeline(SelectFromModel(RULE), RULE),
    make_pipeline(SEARCH),
]
GROUPS = np.arange(60) // 3
THIRDS = tr.methods.KFold(folds=GROUPS % 3)


@pytest.fixture(scope="module")
def rows():
    """60 rows of three features, with numbers to predict."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, X[:, 0] + rng.standard_normal(60)


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_model_that_holds_another_has_the_risk_of_a_grid_of_one(rows, number):
    # Every second model has groups; every fourth is compared with an empty grid and assessed.
    model, groups = MODELS[number], (None, GROUPS)[number % 2]
    X, y = rows[0], rows[1] > 0 if is_classifier(model) else rows[1]
    asked = {"outer": THIRDS, "cv": "3-fold", "refit": False}
    found = tr.HonestSearchCV(model, **asked).fit(X, y, groups=groups)
    assert not hasattr(found, "search_")
    if number % 4 < 1:
        of_one = tr.HonestSearchCV(model, {}, **asked).fit(X, y, groups=groups)
        assert found.risk_.value == of_one.risk_.value
        assessed = tr.assess({"it": model}, X, y, cv=["3-fold"], outer=THIRDS, groups=groups)
        assert assessed.learners["it"].risk.value == found.risk_.value
    assert found.risk_.value == tr.estimate_risk(model, X, y, cv=THIRDS, groups=groups).value


def test_tuned_threshold_selected_risk_is_its_own_best_score(rows):
    X, y = rows[0], rows[1] > 0
    model = TunedThresholdClassifierCV(RULE, cv=2, thresholds=5)
    selected = tr.assess({"it": model}, X, y, cv=["3-fold"], outer="3-fold").learners["it"].selected
    assert selected.value == pytest.approx(model.fit(X, y).best_score_)
    assert selected.scoring == "balanced_accuracy"


class Never(GridSearchCV):
    """A search that says so where it is fitted."""

    def fit(self, X, y=None, **params):
        raise AssertionError("it was fitted")


COMPARING = [
    {"cv": "5-fold"},
    {"cv": tr.methods.KFold(5)},
    {"cv": 5},
    {"rule": "1-se"},
    {"time_limit": 9},
    {"store": "search.db"},
    {"error_score": np.nan},
    {"return_train_score": True},
    {"verbose": 1},
    {"refit": lambda results: 0},
]


WRONG = [
    ({"outer": "apparent"}, Refusal, "'apparent' cannot be the outer method"),
    ({"outer": "10-flod"}, UnknownName, "no method '10-flod'"),
    ({"interval": "wal"}, UnknownName, "no interval 'wal'"),
    ({"scoring": "zero-on"}, UnknownName, "no scoring 'zero-on'"),
    ({"scoring": ["accuracy", "au"]}, UnknownName, "no scoring 'au'"),
    ({"random_state": -1}, UnknownName, "random_state=-1"),
    ({"n_jobs": "tomorrow"}, UnknownName, "n_jobs='tomorrow' is unknown"),
]


def with_study():
    """A search that would go on with what an earlier fit learned."""
    search = Never(KNN, GRID)
    search.study = object()
    return search


THIRD = KFold(3).split(np.zeros((60, 1)))
EITHER = Refusal, BadArgument
REFUSED = [
    *(
        (search, {"outer": None, **option}, {}, BadArgument, f"{name}=.* {type(search).__name__}")
        for search in (Never(KNN, GRID), Climbing(KNN))
        for option in COMPARING
        for name in option
    ),
    *((Never(KNN, GRID), option, {}, error, message) for option, error, message in WRONG),
    (
        Never(KNN, GRID),
        {"verbose": 1},
        {},
        EITHER,
        "tries its own: set it in Never, or give a model and a",
    ),
    (Never(KNN, GRID), {"store": "a.db"}, {}, EITHER, "tries its own: give a model and a grid"),
    (with_study(), {}, {}, EITHER, "was given a study.*study=None"),
    (Never(KNN, GRID, cv=THIRD), {}, {}, EITHER, "cv of Never is <generator.*uses up"),
    (Never(KNN, GRID, cv=[([0], [1])]), {}, {}, EITHER, "cv of Never lists splits"),
    (
        GridSearchCV(KNN, GRID, cv=Remembering()),
        {},
        {},
        EITHER,
        "GridSearchCV changed while a clone",
    ),
    (Private(KNN), {}, {"groups": np.arange(60) // 2}, EITHER, r"Private\.fit takes no groups"),
    (GridSearchCV(KNN, GRID, cv=3, refit=False), {}, {}, EITHER, "refit=False.*nothing to test"),
    (
        GridSearchCV(KNN, GRID, cv=3, scoring=["f1", "roc_auc"], refit=lambda results: 0),
        {},
        {},
        EITHER,
        "no single score is claimed",
    ),
]


@pytest.mark.parametrize(("search", "options", "params", "error", "message"), REFUSED)
def test_given_search_is_refused_with_reason(simple, search, options, params, error, message):
    """The search is refused before it is fitted: a fit of `Never` would raise another error."""
    with pytest.raises(error, match=message):
        tr.HonestSearchCV(search, **options).fit(*simple, **params)
