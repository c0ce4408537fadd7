"""The setting as the model was given is compared with the tuned one on the same fits."""

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tests.support.data import checked

import truerisk as tr
from truerisk.extend import Family
from truerisk.search.as_given import PairedDifference, find_untuned_candidate, paired_difference

KNN = KNeighborsClassifier()
GRID = {"n_neighbors": [1, 3, 5, 9, 15]}
ONE = KNeighborsClassifier(1)
HELPS = {"n_neighbors": [1, 41]}
OVERLAPPING = tr.datasets.make_simple(300, random_state=1)
SAID = "uning is not shown to help: the untuned setting"


@pytest.mark.parametrize(
    ("model", "grid", "place"),
    [
        (KNN, {"n_neighbors": [1, 5]}, 1),
        (KNN, {"n_neighbors": [1, 7]}, None),
        (KNN, {"n_neighbors": [5]}, None),  # nothing is chosen
        (SVC(C=10), {"C": [1, 10.0]}, 1),
        (SVC(), {"C": np.array([1, 10]), "gamma": ["scale", 0.1]}, 0),
        (SVC(), [{"C": [2.0]}, {"gamma": ["scale"]}], 1),
        (SVC(), {"shrinking": [1, 0]}, None),  # 1 is no flag
        (RandomForestRegressor(), {"max_features": [1, 2]}, None),  # one feature, not all of them
        (RandomForestRegressor(), {"max_features": [0.5, 1.0]}, 1),
        (RandomForestRegressor(min_samples_leaf=1), {"min_samples_leaf": [1, 5]}, 0),
        (
            make_pipeline(StandardScaler(), LogisticRegression()),
            {"logisticregression__C": [9, 1]},
            1,
        ),
    ],
    ids=str,
)
def test_number_as_given_finds_setting_by_value(model, grid, place):
    assert find_untuned_candidate(Family.from_grid(model, grid)) == place


def says_untuned_suffices(search):
    return any(SAID in note for note in search.risk_.notes)


def test_untuned_note_has_difference_of_losses_on_same_folds(simple):
    search = tr.HonestSearchCV(KNN, GRID).fit(*simple)
    given = tr.estimate_risk(KNN, *simple)
    d = given.losses - search.risk_.losses
    assert search.best_params_ != {"n_neighbors": 5}
    said = next(note for note in search.risk_.notes if SAID in note)
    error = d.std(ddof=1) / np.sqrt(len(d))
    assert f"(n_neighbors=5) has a risk of {given.value:.4f} on the same rows" in said
    assert f"({d.mean():+.4f}, paired standard error {error:.4f})" in said
    found = tr.assess({"knn": (KNN, GRID)}, *simple)
    assert f"T{SAID} (n_neighbors=5)" in found.conclusion
    assert f"T{SAID} (n_neighbors=5)" in found.to_html()
    assert found.learners["knn"].as_given.is_untuned_sufficient(0.95)


def test_untuned_note_is_missing_if_tuning_helps_at_the_level():
    search = tr.HonestSearchCV(ONE, HELPS).fit(*OVERLAPPING)
    assert search.best_params_ == {"n_neighbors": 41}
    assert not says_untuned_suffices(search)
    unsure = tr.HonestSearchCV(ONE, HELPS, confidence_level=1 - 1e-12).fit(*OVERLAPPING)
    assert says_untuned_suffices(unsure)
    chosen = tr.HonestSearchCV(KNeighborsClassifier(41), HELPS).fit(*OVERLAPPING)
    assert chosen.best_params_ == {"n_neighbors": 41}
    assert not says_untuned_suffices(chosen)
    found = tr.assess({"knn": (ONE, HELPS)}, *OVERLAPPING)
    assert found.learners["knn"].as_given.tuning_gain.exceeds_noise(0.95)
    assert SAID not in found.conclusion


def test_untuned_note_needs_row_losses_on_the_same_fits(simple, noise):
    for options in ({"outer": "4-fold"}, {"scoring": "auc"}):
        assert not says_untuned_suffices(tr.HonestSearchCV(KNN, GRID, **options).fit(*simple))
    found = tr.assess({"knn": (KNN, GRID)}, *noise)
    assert "not shown to beat" in found.conclusion
    assert SAID not in found.conclusion


DRAW = np.random.default_rng(0)
A, B = DRAW.random(30), DRAW.random(30) + 0.1
X, Y = DRAW.normal(size=(30, 1)), np.arange(30) % 2


def test_paired_difference_is_the_paired_t_test():
    found = paired_difference(A, B, np.arange(30), checked(X, Y))
    expected = ttest_rel(A, B)
    assert found.mean / found.std_error == pytest.approx(expected.statistic)
    for level in (0.5, 0.9, 0.95, 0.999):
        assert found.exceeds_noise(level) == (expected.pvalue < 1 - level)


def test_paired_difference_weights_the_mean():
    weight = 1.0 + np.arange(30) % 2
    rows = np.arange(0, 30, 3)
    found = paired_difference(A[rows], B[rows], rows, checked(X, Y, sample_weight=weight))
    assert found.mean == pytest.approx(np.average((A - B)[rows], weights=weight[rows]))


def test_paired_difference_has_groups_as_units():
    groups = np.repeat(np.arange(10), 3)
    a, b = np.repeat(A[:10], 3), np.repeat(B[:10], 3)
    found = paired_difference(a, b, np.arange(30), checked(X, Y, groups=groups))
    d = (A - B)[:10]
    assert found.n_units == 10
    assert found.std_error == pytest.approx(d.std(ddof=1) / np.sqrt(10))
    single = paired_difference(a, b, np.arange(30), checked(X, Y))
    assert single.std_error < found.std_error
    assert paired_difference(A[:1], B[:1], np.arange(1), checked(X, Y)) is None


def stretched(unit, by):
    """Return the paired difference between losses in a unit and `by` times the same losses."""
    losses = unit * np.random.default_rng(0).random(30)
    return paired_difference(losses, losses * by, np.arange(30), checked(X, Y))


@pytest.mark.parametrize(
    ("difference", "exceeds"),
    [
        pytest.param(PairedDifference(2.1, 1.0, 200), True, id="beyond the quantile"),
        pytest.param(PairedDifference(2.1, 1.0, 5), False, id="few units"),
        *(
            pytest.param(PairedDifference(mean, 0.0, 30), False, id=f"no spread, {mean}")
            for mean in (0.0, 0.3, -1.0)
        ),
        *(
            pytest.param(stretched(unit, by), by == 2, id=f"{by} times the unit {unit}")
            for unit in (1e-13, 1.0, 1e9)
            for by in (1 + 1e-15, 2)
        ),
    ],
)
def test_paired_difference_exceeds_noise_by_t_quantile_and_not_by_rounding(difference, exceeds):
    assert difference.exceeds_noise(0.95) == exceeds
