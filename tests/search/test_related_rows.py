"""Searches whose own splits mix related rows: the honest risk keeps these rows apart."""

import warnings
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.exceptions import GroupLeakWarning, LeakWarning
from truerisk.extend import BadData, Refusal
from truerisk.methods import KFold as OwnKFold
from truerisk.methods import Pairs, Racing, as_method
from truerisk.methods.words import average_within_folds
from truerisk.search.related_rows import NestedWithRowsApart

RNG = np.random.default_rng(0)
N, SIZE = 120, 4
GROUPS = np.repeat(np.arange(N // SIZE), SIZE)
CENTRES = RNG.normal(size=(N // SIZE, 3))
X = CENTRES[GROUPS] + 0.01 * RNG.normal(size=(N, 3))
COINS = RNG.integers(0, 2, N // SIZE)[GROUPS]  # Groups have labels that no column predicts.
TIMES = np.arange(N)
NUMBERS = np.cumsum(RNG.normal(size=N)) + X[:, 0]
ROWS = {
    "groups": {"groups": GROUPS},
    "time": {"time": TIMES},
    "block": {"block": CENTRES[GROUPS, :2] + 1e-3 * X[:, :2]},
}
WORDS = {
    "groups": "other rows of their group",
    "time": "the rows around them in time",
    "block": "the rows beside them",
}
SHUFFLED = KFold(4, shuffle=True, random_state=0)
GRID = {"n_neighbors": [1, 3, 15]}


def search(cv=SHUFFLED, grid=GRID, **options):
    """Return a search of this package that is not fitted yet."""
    return tr.HonestSearchCV(KNeighborsClassifier(), grid, cv=cv, checks=False, **options)


def fitted(ours, y=COINS, **rows):
    """Fit a search without the warnings that its splits mix rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)
        warnings.filterwarnings("ignore", "The groups parameter is ignored")  # scikit-learn's own
        return ours.fit(X, y, **(rows or ROWS["groups"]))


def same(risk, other):
    """Compare all of two risks but the seconds that they took."""
    assert replace(risk, seconds=0.0).to_json() == replace(other, seconds=0.0).to_json()


def has_note(risk):
    return any("not pairs of folds, because" in note for note in risk.notes)


@pytest.mark.parametrize("known", list(ROWS))
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_mean_squared_error"])
def test_mixed_splits_give_the_number_and_interval_of_the_audit(known, scoring):
    """They are equal to the last bit, and the search is that of scikit-learn."""
    model, grid, y = KNeighborsClassifier(), GRID, COINS
    if scoring == "neg_mean_squared_error":
        model, grid, y = Ridge(), {"alpha": [0.1, 10.0]}, NUMBERS
    theirs = GridSearchCV(model, grid, cv=SHUFFLED, scoring=scoring).fit(X, y)
    ours = tr.HonestSearchCV(model, grid, cv=SHUFFLED, scoring=scoring, checks=False)
    risk = fitted(ours, y, **ROWS[known]).risk_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)
        honest = tr.audit(theirs, X, y, checks=False, **ROWS[known]).honest
    assert (risk.value, risk.interval) == (honest.value, honest.interval)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12
    )
    assert sum(f"models that saw {WORDS[known]}." in note for note in risk.notes) == 1


def test_risk_of_labels_that_only_the_group_predicts_is_that_of_a_coin():
    """In pairs of the folds of the search a model remembers the group, and has no error."""
    ours = fitted(search())
    assert ours.selected_risk_.value == 0
    old = fitted(search(outer=Pairs(average_within_folds(as_method(SHUFFLED)))))
    assert old.risk_.value == 0
    assert old.risk_.interval.high < 0.2
    assert ours.risk_.value > 0.35
    assert ours.risk_.interval.low < 0.5 < ours.risk_.interval.high
    assert ours.optimism_ == ours.risk_.value


def test_warning_of_mixed_splits_is_given_once_and_concerns_the_score():
    with pytest.warns(GroupLeakWarning) as caught:
        ours = search().fit(X, COINS, groups=GROUPS)
    (text,) = [str(one.message) for one in caught if issubclass(one.category, LeakWarning)]
    assert "The score of the search is too good" in text
    assert text in ours.selected_risk_.notes
    assert text not in ours.risk_.notes
    assert "best of 3" in str(ours.selected_risk_)
    assert has_note(ours.risk_)
    assert not has_note(ours.selected_risk_)


@pytest.mark.parametrize("known", list(ROWS))
def test_outer_splits_that_the_user_names_stay(known):
    for outer in ("3-fold", Pairs("3-fold"), SHUFFLED):
        ours = fitted(search(outer=outer), **ROWS[known])
        assert not has_note(ours.risk_)
        assert as_method(outer).name in ours.risk_.method


@pytest.mark.parametrize(
    ("cv", "groups"),
    [
        (SHUFFLED, np.arange(N)),
        (GroupKFold(4), GROUPS),
        ("4-fold", GROUPS),
        (OwnKFold(4), GROUPS),
    ],
    ids=["groups of one row", "GroupKFold", "word", "method"],
)
def test_splits_that_keep_groups_apart_change_no_bit(cv, groups):
    """The risk is that of pairs of the folds of the search."""
    method = as_method(cv)
    method = method if cv is method else average_within_folds(method)
    ours = fitted(search(cv), groups=groups).risk_
    same(ours, fitted(search(cv, outer=Pairs(method)), groups=groups).risk_)
    assert ours.method == f"pairs ({method.name})"
    assert not has_note(ours)


def test_average_of_pairs_is_kept():
    pooled = fitted(search(outer=Pairs(average="pooled"))).risk_
    assert has_note(pooled)
    assert pooled.value == fitted(search(outer="4-fold")).risk_.value
    assert pooled.value != fitted(search()).risk_.value


def test_two_groups_make_two_folds_and_one_is_refused():
    risk = fitted(search(), groups=np.arange(N) % 2).risk_
    assert risk.method.startswith("nested (2-fold,")
    with pytest.raises(BadData, match="groups has one group only"):
        fitted(search(), groups=np.zeros(N))


def test_splits_that_go_forward_stay_the_outer_splits():
    """Folds of groups would forget the order of the rows; the warning says what they mix."""
    ours = fitted(search(TimeSeriesSplit(3), {"n_neighbors": [1, 3]}), groups=np.arange(N) % 30)
    assert ours.risk_.method.startswith("nested (TimeSeriesSplit")
    assert any("The estimate is too good" in note for note in ours.risk_.notes)


def test_random_splits_have_no_pairs_and_are_replaced_too():
    random_splits = ShuffleSplit(3, random_state=0)
    theirs = GridSearchCV(KNeighborsClassifier(), GRID, cv=random_splits).fit(X, COINS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)
        honest = tr.audit(theirs, X, COINS, groups=GROUPS, checks=False).honest
    assert fitted(search(random_splits)).risk_.loss_value == honest.loss_value


def test_state_of_a_splitter_is_that_of_the_first_draw():
    """The choice of outer splits draws from a copy, so the search has scikit-learn's splits."""
    splitter = KFold(4, shuffle=True, random_state=np.random.RandomState(7))
    theirs = GridSearchCV(KNeighborsClassifier(), GRID, cv=deepcopy(splitter)).fit(X, COINS)
    ours = fitted(search(splitter, outer="pairs"))
    for split in range(4):
        np.testing.assert_allclose(
            ours.cv_results_[f"split{split}_test_score"],
            theirs.cv_results_[f"split{split}_test_score"],
            rtol=1e-12,
        )


@pytest.mark.parametrize(
    "options",
    [
        {"engine": "generic", "store": "fits.db"},
        {"time_limit": 600},
        {"return_train_score": True},
        {"n_iter": 3},
        {"engine": "generic"},
        {"error_score": np.nan},
    ],
    ids=lambda options: next(reversed(options)),
)
def test_options_of_a_search_keep_the_number(options, tmp_path):
    options = dict(options)
    if "store" in options:
        options["store"] = tmp_path / options["store"]
    ours, plain = fitted(search(**options)), fitted(search())
    assert ours.risk_.value == plain.risk_.value
    assert ours.risk_.interval == plain.risk_.interval
    assert has_note(ours.risk_)
    if "store" in options:
        again = fitted(search(**options))
        assert again.risk_.value == plain.risk_.value
        assert again.kept_.reused > 0


def test_further_scores_have_the_note_and_the_number_of_their_own_search():
    ours = fitted(search(scoring=["accuracy", "roc_auc"]))
    (auc,) = ours.scores_.values()
    assert has_note(auc)
    assert auc.method == ours.risk_.method


@pytest.mark.parametrize("interval", ["corrected-t", "ncv", "bbc", "wald"])
def test_requested_interval_keeps_rows_apart(interval):
    risk = fitted(search(interval=interval)).risk_
    assert risk.interval.method.startswith(interval)
    assert has_note(risk)
    assert risk.value > 0.35


def test_race_over_folds_that_mix_rows_is_refused():
    """It is tested in pairs of its own folds alone, and these are not honest."""
    race = search(Racing(SHUFFLED), engine="generic")
    with pytest.raises(Refusal, match=r"a race is tested in the pairs .* risk would be too good"):
        fitted(race)
    assert fitted(race.set_params(outer=None)).best_params_
    apart = fitted(search("racing", engine="generic"))
    assert apart.risk_.method.startswith("raced pairs")


def test_single_setting_and_given_search_keep_groups_apart():
    single = fitted(search(grid=None))
    assert has_note(single.risk_)
    assert single.risk_.value > 0.35
    theirs = GridSearchCV(KNeighborsClassifier(), GRID, cv=SHUFFLED)
    given = fitted(tr.HonestSearchCV(theirs, checks=False))
    assert given.selected_risk_.value == 0
    assert given.risk_.value > 0.35


def test_assess_and_validate_have_the_number_of_the_search():
    ours = fitted(search()).risk_
    knn = {"knn": (KNeighborsClassifier(), GRID)}
    options = {"cv": SHUFFLED, "groups": GROUPS, "checks": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)
        assessed = tr.assess(knn, X, COINS, **options)
        several = tr.assess({**knn, "one": KNeighborsClassifier(1)}, X, COINS, **options)
        named = tr.assess(knn, X, COINS, **options, interval="ncv")
        validated = tr.validate(search(), X, COINS, groups=GROUPS, replicates=2).risk
    for risk in (assessed.risks["knn"], several.risks["knn"], validated):
        assert (risk.value, risk.interval) == (ours.value, ours.interval)
        assert has_note(risk)
    assert named.risks["knn"].interval.method.startswith("ncv")
    assert has_note(named.risks["knn"])


def test_learning_curve_of_a_search_leaves_out_whole_groups():
    """A curve uses the folds that test the search, so no warning says that it is too good."""
    options = {"groups": GROUPS, "sizes": [50, 60, 70, 80]}
    curve = tr.learning_curve(search(), X, COINS, **options)
    assert curve.estimates[-1].value > 0.35
    named = tr.learning_curve(search(), X, COINS, cv="4-fold", **options)
    assert curve.estimates[-1].value == named.estimates[-1].value


@pytest.mark.parametrize("outer", ["pairs", None])
def test_audit_of_a_search_that_kept_rows_apart_attributes_nothing_to_them(outer):
    """The search has the risk of the audit already: nothing is corrected for the choice alone."""
    ours = fitted(search(outer=outer))
    found = tr.audit(ours, X, COINS, groups=GROUPS, checks=False)
    assert found.mixes == "groups"
    assert found.choosing is None
    assert found.honest.value == fitted(search()).risk_.value
    assert "more is owed" not in found.conclusion


def test_nested_with_rows_apart_keeps_its_note_for_another_interval():
    method = NestedWithRowsApart("5-fold", SHUFFLED, kind="groups", n_mixed_rows=3)
    (need,) = [basis for basis in tr.methods.as_method("ncv").gives if basis.name == "PAIRS"]
    other = method.giving(need, "ncv")
    assert (other.kind, other.n_mixed_rows) == ("groups", 3)
    assert other.outer_method.name.startswith("ncv")
