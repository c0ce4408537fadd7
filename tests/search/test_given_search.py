"""A search in the place of a model and a grid: cloned and fitted in every outer training set."""

from __future__ import annotations

import pickle
from functools import cache, partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  scikit-learn wants it
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    cross_val_score,
)
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.searches import Climbing, Private

import truerisk as tr
from truerisk.core.errors import MissingResult

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
def test_the_risk_is_that_of_clones_fitted_by_hand(name, honest_of, wrong_of):
    """Row for row; and the search is left as it was."""
    search, honest = SEARCHES[name], honest_of(name)
    np.testing.assert_array_equal(honest.risk_.losses, wrong_of(name))
    assert honest.risk_.method == f"nested (K-fold (given folds), {type(search).__name__} cloned)"
    assert f"all that {type(search).__name__} does" in honest.risk_.notes[0]
    assert honest.risk_.interval.method == "beta-cv"
    assert not [name for name in vars(search) if name.endswith("_")]


@pytest.mark.parametrize("name", [name for name in SEARCHES if name not in ("private", "ours")])
def test_what_it_found_is_what_a_clone_finds_on_all_rows(simple, name, honest_of):
    """Best setting, score and model; its score as the risk that was minimised."""
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


def test_a_score_that_nobody_names_stays_as_it_is(simple, honest_of):
    """No optimism, since it is not known what a loss of it would be."""
    honest = honest_of("private")
    assert honest.selected_risk_.value == honest.best_score_
    assert honest.selected_risk_.greater_is_better
    assert "does not say" in honest.selected_risk_.notes[0]
    assert honest.optimism_ is None
    assert honest.score(*simple) == np.mean(honest.predict(simple[0]) == simple[1])


def test_pairs_are_ten_outer_folds_and_it_is_said(simple):
    """The search splits its rows itself, so there are no fits to share."""
    search = tr.HonestSearchCV(SEARCHES["halving"]).fit(*simple)
    named = tr.HonestSearchCV(SEARCHES["halving"], outer="10-fold").fit(*simple)
    assert search.risk_.value == named.risk_.value
    assert "in the place of pairs" in search.risk_.notes[1]
    assert not any("pairs" in note for note in named.risk_.notes)
    assert search.risk_.n_fits == 5


@pytest.mark.parametrize("name", ["curve_", "outer_", "stability_"])
def test_what_only_a_grid_tells_is_not_there(name, honest_of):
    """The sentence says what to do; before the fit it says that there was none."""
    search = tr.HonestSearchCV(SEARCHES["halving"])
    with pytest.raises(MissingResult, match="before it is fitted"):
        getattr(search, name)
    with pytest.raises(MissingResult, match="HalvingGridSearchCV tunes inside .* a grid"):
        getattr(honest_of("halving"), name)


def test_without_outer_or_refit_there_is_neither_risk_nor_model(simple):
    """As where a grid is given; what the search found stays."""
    search = tr.HonestSearchCV(SEARCHES["halving"], outer=None, refit=False).fit(*simple)
    assert search.best_params_
    with pytest.raises(MissingResult, match="outer=None"):
        _ = search.risk_
    with pytest.raises(AttributeError) as caught:
        search.predict(simple[0])
    assert "refit=False" in str(caught.value.__cause__)


def test_the_score_of_the_search_is_the_loss(simple):
    """AUC, R² and the named one of several; another loss may be asked for, without optimism."""
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
    assert found.selected_risk_.value == pytest.approx(found.best_score_)
    assert found.optimism_ == pytest.approx(found.best_score_ - found.risk_.value)
    squared = honest(regression, scoring="squared").fit(X, y)
    assert squared.risk_.scoring == "squared"
    assert squared.optimism_ is None


def test_further_scores_and_a_scorer_are_told(simple):
    """`scores` of the same clones, and `scoring` for the honest risk."""
    search = tr.HonestSearchCV(SEARCHES["halving"], scoring=["zero-one", "auc"], outer=OUTER).fit(
        *simple
    )
    assert 0 < search.scores_["auc"].value < 1
    assert search.scores_["auc"].method == search.risk_.method
    brier = tr.HonestSearchCV(SEARCHES["halving"], scoring="neg_brier_score", outer="3-fold")
    brier.fit(*simple)
    assert brier.risk_.value < 0
    assert brier.optimism_ is None


def test_groups_reach_its_own_splits(simple):
    """Each clone is given the groups of its rows, and the outer folds keep them."""
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


def test_weights_reach_its_fits(simple):
    """Every fit of the search is weighted, and so is the risk."""
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


def test_a_score_that_counts_rows_is_not_compared_with_a_weighted_risk(simple):
    """Their difference would be that of two losses, and was called optimism."""
    weight = np.linspace(0.1, 3, 60)
    search = Counting(LogisticRegression())
    assert tr.HonestSearchCV(search, outer=OUTER).fit(*simple).optimism_ is not None
    honest = tr.HonestSearchCV(search, outer=OUTER).fit(*simple, sample_weight=weight)
    assert honest.optimism_ is None
    inside = tr.HonestSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, outer=None)
    ours = tr.HonestSearchCV(inside, outer=OUTER).fit(*simple, sample_weight=weight)
    assert ours.optimism_ == ours.risk_.value - ours.selected_risk_.value


def test_metadata_are_routed_to_it(simple):
    """With routing on, a group splitter of the search asks for its groups itself."""
    import sklearn

    X, y = simple
    groups = np.arange(60) // 2 % 12
    search = GridSearchCV(KNN, GRID, cv=GroupKFold(3))
    plain = tr.HonestSearchCV(search, outer=GroupKFold(4)).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = tr.HonestSearchCV(search, outer=GroupKFold(4)).fit(X, y, groups=groups)
    assert routed.risk_.value == plain.risk_.value


def test_groups_of_the_outer_splits_alone_are_not_handed_on(simple):
    """With routing on, a search whose splits ask for no groups is given none."""
    import sklearn

    groups = np.arange(60) // 2 % 12
    with sklearn.config_context(enable_metadata_routing=True):
        search = tr.HonestSearchCV(SEARCHES["grid"], outer=GroupKFold(4))
        assert search.fit(*simple, groups=groups).risk_.n_groups == 12


class Opposite(GridSearchCV):
    """Answers the other class than its best model."""

    def predict(self, X):
        return 1 - super().predict(X)


def test_it_answers_as_the_search_that_was_tested(simple):
    """And not as `best_estimator_`, which was not."""
    search = tr.HonestSearchCV(Opposite(KNN, GRID, cv=3), outer=OUTER).fit(*simple)
    assert search.risk_.value > 0.5
    assert (search.predict(simple[0]) == 1 - search.best_estimator_.predict(simple[0])).all()


def test_a_search_without_a_seed_is_repeated_by_ours(simple):
    """`random_state` seeds what the search leaves at None, in every fit."""
    search = RandomizedSearchCV(KNN, GRID, n_iter=3, cv=3)
    ours = tr.HonestSearchCV(search, outer="3-fold", random_state=4)
    one, again = (clone(ours).fit(*simple) for _ in range(2))
    assert one.risk_.value == again.risk_.value
    assert one.cv_results_["params"] == again.cv_results_["params"]


def test_workers_search_alike(simple, honest_of):
    """Two processes give the number of one."""
    search = tr.HonestSearchCV(SEARCHES["halving"], outer=OUTER, n_jobs=2).fit(*simple)
    assert search.risk_.value == honest_of("halving").risk_.value


def test_no_search_is_tuned_from_outside(simple):
    """A model as it stands, and a pipeline that ends in a search, have one setting."""
    for model in (KNN, make_pipeline(StandardScaler(), SEARCHES["grid"])):
        found = tr.HonestSearchCV(model, cv="3-fold", outer=OUTER).fit(*simple)
        assert found.best_params_ == {}
        assert len(found.curve_) == 1
        np.testing.assert_array_equal(found.risk_.losses, by_hand(model, *simple))


def test_a_density_is_searched_by_its_own_score(simple):
    """What makes no predictions is rated by its own score."""
    search = GridSearchCV(KernelDensity(), {"bandwidth": [0.1, 1.0]}, cv=3)
    honest = tr.HonestSearchCV(search, outer="3-fold").fit(simple[0])
    assert honest.risk_.value == pytest.approx(
        np.mean([clone(search).fit(a).score(b) for a, b in _thirds(honest, simple[0])])
    )


def _thirds(honest, X):
    from truerisk.contracts import Streams
    from truerisk.data.data import Data
    from truerisk.methods.kfold import KFold

    data = Data.check(X, None, task="other")
    plan = KFold(3).plan(data, Streams(honest.risk_.seed))
    for question in range(3):
        train = plan.train_rows(int(plan.fit[question]))[0]
        yield X[train], X[plan.test_rows(question)[0]]


def test_it_can_be_cloned_pickled_and_cross_validated(simple, honest_of):
    """A meta-estimator like any other; a second fit forgets the first."""
    from sklearn.model_selection import cross_val_score

    search = tr.HonestSearchCV(SEARCHES["halving"], outer=None)
    assert cross_val_score(search, *simple, cv=3).shape == (3,)
    found = pickle.loads(pickle.dumps(clone(search).set_params(outer=OUTER).fit(*simple)))
    assert found.risk_.value == honest_of("halving").risk_.value
    found.set_params(estimator=KNN).fit(*simple)
    assert not hasattr(found, "search_")


def test_the_other_verbs_know_it(simple):
    """The audit and the assessment speak of the search that was given."""
    search = tr.HonestSearchCV(SEARCHES["grid"], outer=None).fit(*simple)
    alone = clone(SEARCHES["grid"]).fit(*simple)
    assert str(tr.audit(search, *simple, level="bbc")) == str(tr.audit(alone, *simple, level="bbc"))
    found = tr.assess({"mine": search}, *simple, cv=["3-fold"], outer="3-fold")
    assert found.learners["mine"].selected.value == pytest.approx(1 - alone.best_score_)


@pytest.mark.parametrize("name", ["halving", "random", "climbing"])
def test_an_assessment_and_an_estimate_label_it_right(simple, name, wrong_of):
    """The risk of the whole search, and its own best score beside it."""
    search = SEARCHES[name]
    found = tr.assess({name: search}, *simple, cv=["3-fold"], outer=OUTER)
    one = found.learners[name]
    assert one.risk.value == pytest.approx(wrong_of(name).mean())
    assert one.risk.value == tr.estimate_risk(search, *simple, cv=OUTER).value
    assert f"selected is {type(search).__name__}: best_score_" in str(found)
    assert f"selected is {type(search).__name__}: best_score_" in found.to_html()
    assert one.selected.value == pytest.approx(1 - clone(search).fit(*simple).best_score_)
